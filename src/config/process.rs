//! `processes:`: the long-lived children that hooks of type `process` call, and PicoClaw's shorthand:
//! processes that say themselves what they intercept and observe.
//!
//! An intercepted stage becomes a hook of the event it corresponds to, so that everything else
//! here (fail-closed events, `explain`, reports) is true of it too. Unlike in PicoClaw, a process
//! is called for the stages it names and not for the other one of a pair.

use std::collections::BTreeSet;
use std::time::Duration;

use hookexec_files::diagnostic::Diagnostic;
use hookexec_files::kinds::Words;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;

use super::document::Document;
use super::hook::read_argv;
use super::keys::{Defaults, PicoclawDefaults, PicoclawKeys, ProcessKeys};
use super::model::{Command, Hook, OnError, Phase, Process};
use crate::event::Event;
use crate::suggest;

/// Whether a process starts with the program, and not at its first call.
#[derive(Clone, Copy)]
pub(crate) struct Start(pub(super) bool);

/// A program and its arguments.
pub(crate) struct Argv(Vec<String>);

impl Kind<'_> for Argv {
    const SCHEMA: &'static str = r##"{
        "type": "array",
        "minItems": 1,
        "items": [{ "type": "string", "pattern": "\\S" }],
        "additionalItems": { "$ref": "#/definitions/text" }
    }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if !matches!(node.value, Value::List(_)) {
            let message =
                format!("the {what} of a process must be a list: it runs without a shell");
            let hint = "write `[python3, weather.py]`, or `[sh, -c, \"...\"]` for a shell";
            return reader.refuse_with_hint(node, message, hint);
        }
        Some(Self(read_argv(reader, node)?))
    }
}

/// An event that PicoClaw has a method of its own for, under the name by which a process intercepts it.
/// Every other event is `hook.<event>`, with the input as params and an answer of ours as result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage {
    pub(crate) event: Event,
    pub(crate) method: &'static str,
    /// The mode that the handshake announces it with.
    pub(crate) mode: &'static str,
    pub(crate) trace_path: &'static str,
    /// The keys of its answer; the last one names the part that may be changed.
    pub(crate) keys: &'static [&'static str],
    /// The actions that a process may answer with.
    pub(crate) actions: &'static [&'static str],
}

/// Declares the stages: each has its name, its event, its mode, its path in a trace, and what an
/// answer may have: keys and actions.
macro_rules! stages {
    ($($name:literal $event:ident $mode:literal $trace:literal: $keys:expr, $actions:expr;)*) => {
        pub(crate) const STAGES: [(&str, Stage); 5] = [$(($name, Stage {
            event: Event::$event,
            method: concat!("hook.", $name),
            mode: $mode,
            trace_path: $trace,
            keys: &$keys,
            actions: &$actions,
        })),*];
    };
}

const CHANGES: [&str; 4] = ["continue", "modify", "abort_turn", "hard_abort"];
const DECISIONS: [&str; 6] =
    ["continue", "modify", "respond", "deny_tool", "abort_turn", "hard_abort"];

stages! {
    "before_llm" BeforeLlmCall "llm" "turn.llm.request": ["action", "reason", "request"], CHANGES;
    "after_llm" AfterLlmCall "llm" "turn.llm.response": ["action", "reason", "response"], CHANGES;
    "before_tool" PreToolUse "tool" "turn.tool.before":
        ["action", "reason", "result", "call"], DECISIONS;
    "after_tool" PostToolUse "tool" "turn.tool.after": ["action", "reason", "result"], CHANGES;
    "approve_tool" PermissionRequest "approve" "turn.tool.approve": ["approved", "reason"], [];
}

impl Stage {
    /// Returns PicoClaw's stage for `event`, if it has one.
    pub(crate) fn of(event: Event) -> Option<Self> {
        STAGES.into_iter().map(|(_, stage)| stage).find(|stage| stage.event == event)
    }

    /// Returns whether it is the one at which a process answers in the user's place.
    pub(crate) fn approves(self) -> bool {
        self.event == Event::PermissionRequest
    }
}

/// The runtime events that have one of ours, under both of their names.
pub(crate) const KINDS: [(&str, &str, Event); 13] = [
    ("agent.turn.start", "turn_start", Event::TurnStart),
    ("agent.turn.end", "turn_end", Event::TurnEnd),
    ("agent.llm.request", "llm_request", Event::BeforeLlmCall),
    ("agent.llm.response", "llm_response", Event::AfterLlmCall),
    ("agent.tool.exec_start", "tool_exec_start", Event::PreToolUse),
    ("agent.tool.exec_end", "tool_exec_end", Event::PostToolUse),
    ("agent.context.compress", "context_compress", Event::AfterCompaction),
    ("agent.session.summarize", "session_summarize", Event::AfterCompaction),
    ("agent.steering.injected", "steering_injected", Event::UserSteeringMessagesSubmit),
    ("agent.follow_up.queued", "follow_up_queued", Event::UserFollowupSubmit),
    ("agent.subturn.spawn", "subturn_spawn", Event::SubagentStart),
    ("agent.subturn.end", "subturn_end", Event::SubagentStop),
    ("agent.error", "error", Event::OnError),
];

/// The events that a process observes.
#[derive(Default)]
pub(crate) struct Observed(pub(crate) BTreeSet<Event>);

impl Document {
    /// Reads the keys of PicoClaw's `hooks` block.
    pub(super) fn picoclaw(&mut self, keys: PicoclawKeys<'_>, defaults: &Defaults<'_>) {
        if keys.enabled == Some(false) {
            return;
        }
        if let Some(builtins) = keys.builtins {
            refuse_builtins(&mut self.reader, builtins.0);
        }
        if let Some(processes) = keys.processes {
            let timeouts = keys.defaults.unwrap_or_default();
            self.processes(processes.0, defaults, &timeouts);
        }
    }

    /// Reads `processes`, and adds the hooks that they say they are.
    pub(super) fn processes(
        &mut self,
        node: &Node,
        defaults: &Defaults<'_>,
        timeouts: &PicoclawDefaults<'_>,
    ) {
        let Some(fields) = self.reader.open_fields(node, "`processes`") else { return };
        for (name, key, value) in fields.iter() {
            self.process(name, key, value, defaults, timeouts);
        }
    }

    /// Reads one entry. A broken process is entered as far as it is sound: that it does not exist would be
    /// one mistake told twice.
    fn process(
        &mut self,
        name: &str,
        key: &Node,
        node: &Node,
        defaults: &Defaults<'_>,
        timeouts: &PicoclawDefaults<'_>,
    ) {
        let reader = &mut self.reader;
        if name.trim().is_empty() {
            reader.error(key, "a process needs a name");
        }
        let read = reader.value::<ProcessKeys<'_>>(node, "");
        let is_mapping = read.is_some();
        let keys = read.unwrap_or_default();
        if is_mapping && keys.fields.lacks("command") {
            let message = format!("process `{name}` needs a `command`");
            let hint = "add the program and its arguments: `command: [python3, weather.py]`";
            reader.error_with_hint(key, message, hint);
        }
        if let Some(transport) = &keys.transport
            && !["", "stdio"].contains(&transport.as_str())
        {
            let node = keys.fields.get("transport").unwrap_or(key);
            let message = format!("unknown transport `{transport}`");
            reader.error_with_hint(node, message, "the only one is `stdio`");
        }
        if keys.enabled == Some(false) {
            return;
        }
        let inherit_env = keys.inherit_env.or_else(|| defaults.inherit_env.clone());
        let process = Process {
            name: name.to_owned(),
            // The name in its place is never started: the file is broken.
            command: keys.command.unwrap_or_else(|| Argv(vec![name.to_owned()])).0,
            working_dir: keys.working_dir.or(keys.dir).map(|text| text.0),
            env: keys.env.unwrap_or_default(),
            inherit_env: inherit_env.unwrap_or_default(),
            eager: matches!(keys.start, Some(Start(true))),
            start_timeout: keys.start_timeout.unwrap_or(Duration::from_secs(5)),
            timeout: keys.timeout,
            max_line: keys.max_line.map_or(8 << 20, |size| size.0),
            provides: keys.provides.unwrap_or_default(),
            protocol: keys.protocol.unwrap_or_default(),
            event_method: keys.event_method.unwrap_or_default(),
            untrusted: false,
            location: reader.location(key),
        };
        let stated = process.timeout.or(defaults.timeout);
        let intercepted = keys.intercept.unwrap_or_default();
        let Observed(observed) = keys.observe.unwrap_or_default();
        // The hooks of all processes follow the others of the file, lower priority first.
        let place = (keys.priority.unwrap_or_default(), name.to_owned());
        let hooks = self.chain.entry(place).or_default();
        for (_, stage) in STAGES {
            if intercepted.iter().any(|one| one.event == stage.event) {
                hooks.push(interceptor(&process, stage, stated, defaults, timeouts));
            }
        }
        for event in observed {
            let mut hook = process_hook(&process, event);
            hook.phase = Phase::Observe;
            // The event does not wait for an observer, so its failure stops nothing.
            hook.on_error = Some(OnError::Ignore);
            hook.timeout = stated.unwrap_or(or_milliseconds(timeouts.observer, 500));
            hooks.push(hook);
        }
        self.config.processes.insert(name.to_owned(), process);
    }
}

/// Returns the hook of a stage that a process decides on.
fn interceptor(
    process: &Process,
    stage: Stage,
    stated: Option<Duration>,
    defaults: &Defaults<'_>,
    timeouts: &PicoclawDefaults<'_>,
) -> Hook {
    let mut hook = process_hook(process, stage.event);
    if stage.approves() {
        hook.timeout = stated.unwrap_or(or_milliseconds(timeouts.approval, 60_000));
        // A broken approver denies, as in PicoClaw.
        hook.on_error = Some(OnError::Block);
        return hook;
    }
    hook.phase = Phase::Mutate;
    hook.timeout = stated.unwrap_or(or_milliseconds(timeouts.interceptor, 5_000));
    if let Some(wanted) = &defaults.on_error {
        hook.default_on_error(wanted.0);
    }
    hook
}

/// Returns a timeout of PicoClaw: with 0 and less its default stays, too.
fn or_milliseconds(stated: Option<i64>, otherwise: u64) -> Duration {
    let stated = stated.and_then(|stated| u64::try_from(stated).ok()).unwrap_or_default();
    Duration::from_millis(if stated == 0 { otherwise } else { stated.min(86_400_000) })
}

fn process_hook(process: &Process, event: Event) -> Hook {
    let hook = Hook::new(event, "process", Command::Text(process.name.clone()));
    Hook { location: process.location.clone(), ..hook }
}

/// Refuses PicoClaw's compiled-in hooks, none of which exist here, unless they are disabled.
fn refuse_builtins(reader: &mut Reader, node: &Node) {
    let Some(fields) = reader.open_fields(node, "`builtins`") else { return };
    for (name, key, value) in fields.iter() {
        let Some(entry) = reader.open_fields(value, "a builtin") else { continue };
        let is_disabled =
            entry.get("enabled").is_some_and(|node| matches!(node.value, Value::Bool(false)));
        if !is_disabled {
            let message = format!("`{name}` is compiled into PicoClaw and does not exist here");
            let hint = "set `enabled: false`, or write a hook of `type: builtin` below its event";
            reader.error_with_hint(key, message, hint);
        }
    }
}

impl Words for Stage {
    const WORDS: &'static [(&'static str, Self)] = &STAGES;
}

impl Kind<'_> for Observed {
    const SCHEMA: &'static str = r#"{ "type": "array", "items": { "type": "string" } }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut events = BTreeSet::new();
        for item in Vec::<String>::read(reader, node, what)? {
            if ["", "*", "all"].contains(&&*item) {
                events.extend(Event::all());
            } else if let Some((.., event)) =
                KINDS.iter().find(|(kind, legacy, _)| *kind == item || *legacy == item)
            {
                events.insert(*event);
            } else {
                let message =
                    format!("nothing here corresponds to `{item}`: the process never gets it");
                let names = KINDS.iter().flat_map(|(kind, legacy, _)| [*kind, *legacy]);
                let mut warning = Diagnostic::warning(message);
                warning.hint = suggest::hint(&item, names);
                reader.report(node, warning);
            }
        }
        Some(Self(events))
    }
}
