//! What each dispatch is, what its hooks are told to say, and the hooks that say it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use hookexec::registry::BuiltinError;
use hookexec::{Builtin, Event, Input, Output, Registry};
use serde_json::json;

use crate::random::Random;

/// The hooks: of every type, alone and together, at an event of each kind.
pub(crate) const HOOKS: &str = r"
processes:
  one: { command: [./process.sh] }
  two: { command: [./process.sh] }
hooks:
  pre_tool_use: &hooks
    - { matcher: shell, hooks: [{ type: command, name: shell, command: ./command.sh, timeout: 2m }] }
    - { matcher: argv, hooks: [{ type: command, name: argv, command: [./command.sh], timeout: 2m }] }
    - { matcher: one, hooks: [{ type: process, name: one, command: one, timeout: 2m }] }
    - { matcher: two, hooks: [{ type: process, name: two, command: two, timeout: 2m }] }
    - { matcher: inline, hooks: [{ type: builtin, name: inline, command: inline, timeout: 2m }] }
    - { matcher: plain, hooks: [{ type: builtin, name: plain, command: plain, timeout: 2m }] }
    - { matcher: async, hooks: [{ type: builtin, name: async, command: async, timeout: 2m }] }
    - matcher: all
      hooks:
        - { type: command, name: all-command, command: [./command.sh], timeout: 2m }
        - { type: process, name: all-process, command: one, timeout: 2m }
        - { type: builtin, name: all-builtin, command: plain, timeout: 2m }
  permission_request: *hooks
  post_tool_use: *hooks
  tool_response_transform: *hooks
";

/// An event of each kind: one that fails closed, one that fails to ask, one that may be blocked and
/// one that only observes.
const EVENTS: [Event; 4] =
    [Event::PreToolUse, Event::PermissionRequest, Event::PostToolUse, Event::ToolResponseTransform];

/// The tools, by which hooks are chosen.
const TOOLS: [&str; 10] =
    ["shell", "argv", "one", "two", "one", "two", "inline", "plain", "async", "all"];

/// What a hook is told to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    Allow,
    Ask,
    Deny,
    /// Nothing.
    Silence,
    /// It kills itself.
    Die,
}

/// One dispatch.
#[derive(Debug)]
pub(crate) struct Plan {
    number: usize,
    event: Event,
    tool: &'static str,
    pub(crate) say: Say,
}

impl Plan {
    pub(crate) fn new(seed: u64, number: usize) -> Self {
        let mut random = Random::new(seed, number, 1);
        let (event, tool) = (random.one_of(&EVENTS), random.one_of(&TOOLS));
        let say = random.one_of(&[Say::Allow, Say::Ask, Say::Deny, Say::Silence]);
        // A process that dies takes its open calls with it, and rests.
        let seldom = if matches!(tool, "one" | "two" | "all") { 100 } else { 10 };
        let say = if random.below(seldom) == 0 { Say::Die } else { say };
        // An approval says yes or no.
        let approves = event == Event::PermissionRequest;
        let say = if approves && say == Say::Silence { Say::Allow } else { say };
        Self { number, event, tool, say }
    }

    pub(crate) const fn event(&self) -> Event {
        self.event
    }

    /// Returns whether hooks of all types run.
    pub(crate) fn runs_all(&self) -> bool {
        self.tool == "all"
    }

    /// Returns a word that is this dispatch's own, which is the reason of its hooks.
    pub(crate) fn word(&self) -> String {
        format!("because-{}", self.number)
    }

    pub(crate) fn input(&self) -> Input {
        let arguments = json!({ "say": format!("{:?}", self.say), "word": self.word() });
        let mut input = Input::for_tool(self.tool, arguments.as_object().unwrap().clone());
        input.tool_response = Some(json!("done"));
        input
    }
}

/// Writes the programs.
pub(crate) fn write_scripts(project: &Path) {
    let answer = r#"
answer() {
    word=${line#*\"word\":\"}
    word=${word%%\"*}
    case $line in
        *'"say":"Allow"'*) said='{"decision":"allow"}' ;;
        *'"say":"Ask"'*) said='{"decision":"ask","reason":"'$word'"}' ;;
        *'"say":"Deny"'*) said='{"decision":"deny","reason":"'$word'"}' ;;
        *'"say":"Die"'*) kill -KILL $$ ;;
        *) said=$1 ;;
    esac
}
"#;
    // `cat` is a child of its own, which a killed shell leaves behind.
    let command = r#"line=$(cat); answer ""; echo "$said""#;
    let process = r#"
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
        *'"hook.hello"'*) said='{}' ;;
        *) answer '{}' ;;
    esac
    echo '{"jsonrpc":"2.0","id":'$id',"result":'$said'}'
done
"#;
    for (name, text) in [("command.sh", command), ("process.sh", process)] {
        let path = project.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{answer}{text}")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
}

/// Registers the builtins.
pub(crate) fn register_builtins(registry: &mut Registry) {
    registry
        .register_builtin("inline", Builtin::inline(|input: &Input, _: &[String]| answer(input)))
        .register_builtin("plain", Builtin::blocking(|input: &Input, _: &[String]| answer(input)))
        .register_builtin(
            "async",
            Builtin::future(|input: Arc<Input>, _: Arc<[String]>| async move {
                tokio::task::yield_now().await;
                answer(&input)
            }),
        );
}

fn answer(input: &Input) -> Result<Option<Output>, BuiltinError> {
    let word = |key: &str| {
        let arguments = input.tool_input.as_ref();
        arguments.and_then(|arguments| arguments[key].as_str()).unwrap_or_default().to_owned()
    };
    Ok(match word("say").as_str() {
        "Allow" => Some(Output::allow()),
        "Ask" => Some(Output::ask(word("word"))),
        "Deny" => Some(Output::deny(word("word"))),
        "Die" => return Err("it died".into()),
        _ => None,
    })
}
