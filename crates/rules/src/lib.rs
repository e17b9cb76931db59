//! `type: rule`: denies, asks about or allows tool calls by what they run and touch.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "packages of this workspace use it"
)]

mod allow;
mod arguments;
mod call;
mod code;
mod fit;
mod groups;
mod implied;
mod judge;
mod keys;
mod listed;
mod load;
mod mentions;
mod paths;
mod pattern;
mod table;
mod texts;
mod tool_files;
mod tools;
mod unread;
mod uses;

pub use groups::GROUPS;
pub use implied::names_a_command;
pub use load::doubts;
pub use table::OPTIONS;

/// Examples of the two, for tests and readers: what fits and what does not.
pub const EXAMPLES: &str = include_str!("../data/examples.txt");

use std::sync::Arc;

use hookexec::config::Hook;
use hookexec::describe::DescribeCall as _;
use hookexec::registry::BuildResult;
use hookexec::{
    BoxFuture, BuildError, Call, Event, Failure, Handler, HandlerEnv, HandlerError, HandlerFactory,
    HandlerResult, Input, Registry,
};
use hookexec_calls::{KnownTools, Reading};
use hookexec_files::section::Kind as _;
use judge::Rule;
use keys::{Items, RuleKeys};

/// Names that rules know; `names.txt` says what each list is.
mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

/// Registers the type `rule`, and the reader of tool calls.
pub fn register(registry: &mut Registry) {
    let refused = &[
        "command", "args", "env", "inherit_env", "working_dir", "shell", "max_output",
        "strict_output", "scripts", "with",
    ];
    let hint =
        "a rule takes `deny`, `ask` or `allow` and its conditions (see `hookexec docs rules`)";
    let factory = HandlerFactory::new(build).refusing(refused, hint).taking(RuleKeys::KEYS);
    registry.register("rule", factory);
    registry.describe_calls_by(&KnownTools);
}

fn build(env: &HandlerEnv, hook: &Hook) -> BuildResult {
    let (Event::PreToolUse | Event::ToolGuard | Event::PermissionRequest) = hook.event else {
        let message =
            format!("a rule is about tool calls that can be stopped, not `{}`", hook.event);
        return Err(BuildError::new(message).at("type").hint("move it to `pre_tool_use`"));
    };
    let rule = load::rule(env, hook)?;
    Ok(Arc::new(RuleHandler(Arc::new(rule))))
}

/// Returns what the keys of a rule say; nothing of another hook.
fn read_keys<T: Default>(hook: &Hook, say: fn(RuleKeys<'_>) -> T) -> T {
    if hook.kind != "rule" {
        return T::default();
    }
    let said =
        hook.read_own_keys(|reader, node| Some(say(RuleKeys::read(reader, node, "a rule")?)));
    said.unwrap_or_default()
}

/// Returns whether a hook is a rule that answers every command that it does not allow.
pub fn answers_other_commands(hook: &Hook) -> bool {
    read_keys(hook, |keys| {
        let is_for_tools = keys.commands.is_none() && keys.files.is_some() && keys.tools.is_some();
        // Without `allow`, `otherwise` is an error of its own.
        keys.allow.is_some() && keys.otherwise.is_some() && !is_for_tools
    })
}

/// The names of tools that a rule lists, as they are written.
#[derive(Debug, Default)]
pub struct ListedTools {
    /// One of these is needed.
    pub needed: Vec<String>,
    /// The conditions of `any` and `except`.
    pub others: Vec<String>,
}

/// Returns the names of tools that a rule lists; none of another hook.
pub fn listed_tools(hook: &Hook) -> ListedTools {
    read_keys(hook, |keys| {
        let mut listed = ListedTools::default();
        for (at, set) in keys.sets().into_iter().enumerate() {
            let list = if at == 0 { &mut listed.needed } else { &mut listed.others };
            list.extend(names(set.tools));
        }
        listed
    })
}

fn names(items: Option<Items<'_>>) -> Vec<String> {
    let mut names = Vec::new();
    for item in items.unwrap_or_default().0 {
        if item.value.starts_with('!') {
            // It is a mistake of its own.
            continue;
        }
        for name in item.value.split('|') {
            names.push(name.trim().to_owned());
        }
    }
    names
}

/// Returns whether a call runs a command that fits one of `patterns`, or one that can't be known.
pub fn may_run(input: &Input, patterns: &[String]) -> bool {
    let Some(reading) = KnownTools.describe(input).reading else { return false };
    let Ok(reading) = reading.downcast::<Reading>() else { return true };
    let Ok(rule) = load::rule_of_commands(patterns) else { return true };
    // What can't be judged is not known.
    !matches!(rule.answer_to(input, &reading), Ok(None))
}

struct RuleHandler(Arc<Rule>);

impl Handler for RuleHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        let rule = Arc::clone(&self.0);
        Box::pin(async move {
            // It looks for files.
            match call.blocking(move |call| rule.judge(call)).await? {
                Ok(answer) => Ok(HandlerResult::from(answer)),
                Err(error) => Err(HandlerError::new(Failure::Other, error.to_string())),
            }
        })
    }
}
