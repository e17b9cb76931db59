//! PicoClaw's shorthand: processes that say themselves what they intercept and observe.
//!
//! An intercepted stage becomes a hook of the event it corresponds to, so that everything else
//! here (fail-closed events, `explain`, reports) is true of it too. Unlike in PicoClaw, a process
//! is called for the stages it names and not for the other one of a pair.

use std::collections::BTreeSet;
use std::time::Duration;

use super::defaults::Defaults;
use super::diagnostic::Diagnostic;
use super::document::Document;
use super::model::{Command, Hook, OnError, Process};
use super::node::{Node, Value};
use super::reader::{Fields, Reader};
use crate::event::Event;
use crate::suggest;

/// The keys of PicoClaw's `hooks` block.
pub(super) const KEYS: [&str; 4] = ["enabled", "defaults", "builtins", "processes"];
/// Keys at the top of PicoClaw's whole configuration.
pub(super) const NEIGHBOURS: [&str; 8] = [
    "agents",
    "model_list",
    "channel_list",
    "channels",
    "gateway",
    "tools",
    "session",
    "heartbeat",
];

/// The stages that may be intercepted, the event each corresponds to, and whether it may rewrite.
pub(crate) const STAGES: [(&str, (Event, bool)); 5] = [
    ("before_llm", (Event::BeforeLlmCall, true)),
    ("after_llm", (Event::AfterLlmCall, true)),
    ("before_tool", (Event::PreToolUse, true)),
    ("after_tool", (Event::PostToolUse, true)),
    ("approve_tool", (Event::PermissionRequest, false)),
];

/// The runtime events that have one of ours, under both of their names.
pub(crate) const KINDS: [(&str, &str, Event); 12] = [
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
    ("agent.subturn.end", "subturn_end", Event::SubagentStop),
    ("agent.error", "error", Event::OnError),
];

/// The runtime events that nothing here corresponds to, under both of their names.
const OTHER_KINDS: [&str; 14] = [
    "agent.llm.delta",
    "llm_delta",
    "agent.llm.retry",
    "llm_retry",
    "agent.tool.exec_skipped",
    "tool_exec_skipped",
    "agent.interrupt.received",
    "interrupt_received",
    "agent.subturn.spawn",
    "subturn_spawn",
    "agent.subturn.result_delivered",
    "subturn_result_delivered",
    "agent.subturn.orphan",
    "subturn_orphan",
];
/// The families of runtime events that nothing here corresponds to.
const OTHER_FAMILIES: [&str; 4] = ["channel.", "bus.", "gateway.", "mcp."];

/// What a process says about the hooks it wants to be.
pub(super) struct Shorthand {
    pub(super) enabled: bool,
    priority: i64,
    stages: BTreeSet<Event>,
    observed: BTreeSet<Event>,
}

/// The hooks of one process, and its place among them all.
pub(super) struct Link {
    priority: i64,
    name: String,
    hooks: Vec<Hook>,
}

/// How long calls may take.
#[derive(Clone, Copy)]
pub(super) struct Timeouts {
    interceptor: Duration,
    approval: Duration,
    observer: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            interceptor: Duration::from_secs(5),
            approval: Duration::from_mins(1),
            observer: Duration::from_millis(500),
        }
    }
}

/// Returns whether a file is PicoClaw's whole configuration, of which only `hooks` is ours.
pub(super) fn is_whole_config(fields: &Fields<'_>) -> bool {
    let hooks = fields.get("hooks").and_then(Node::as_map).unwrap_or_default();
    !hooks.is_empty()
        && hooks.iter().all(|(key, _)| key.as_text().is_some_and(|name| KEYS.contains(&name)))
        && fields.iter().any(|(name, ..)| NEIGHBOURS.contains(&name))
}

impl Document<'_> {
    /// Reads the `hooks` of PicoClaw's whole configuration; everything else in it is not ours to judge.
    pub(super) fn whole_picoclaw(&mut self, fields: &Fields<'_>) {
        for (name, key, value) in fields.iter() {
            if name == "hooks" {
                self.hooks_block(value, &Defaults::default());
            } else if super::document::is_own_key(name) {
                let message = format!("`{name}` in what looks like PicoClaw's configuration");
                let hint = "move it into a hooks file of its own, without PicoClaw's keys";
                self.reader.error_with_hint(key, message, hint);
            }
        }
    }

    /// Reads what PicoClaw has in its `hooks` block.
    pub(super) fn picoclaw(&mut self, fields: &Fields<'_>, defaults: &Defaults) {
        let enabled = fields.get("enabled").map(|node| self.reader.boolean(node, "`enabled`"));
        let timeouts = fields.get("defaults").map(|node| self.reader.timeouts(node));
        if enabled.flatten() == Some(false) {
            return;
        }
        if let Some(node) = fields.get("builtins") {
            self.reader.picoclaw_builtins(node);
        }
        if let Some(node) = fields.get("processes") {
            self.processes(node, defaults, Some(timeouts.unwrap_or_default()));
        }
    }

    /// Reads `processes`, and adds the hooks that they say they are.
    pub(super) fn processes(
        &mut self,
        node: &Node,
        defaults: &Defaults,
        timeouts: Option<Timeouts>,
    ) {
        let Some(fields) = self.reader.open_fields(node, "`processes`") else { return };
        for (name, key, value) in fields.iter() {
            let Some((process, shorthand)) = self.reader.process(name, key, value, defaults) else {
                self.broken_processes.push(name.to_owned());
                continue;
            };
            if !shorthand.enabled {
                continue;
            }
            if timeouts.is_some() && shorthand.stages.is_empty() && shorthand.observed.is_empty() {
                let hint = "add `intercept: [before_tool]` or `observe: [\"*\"]`";
                let message = format!("process `{name}` intercepts and observes nothing");
                self.reader.report(key, Diagnostic::warning(message).hint(hint));
            }
            let hooks = shorthand.hooks(&process, defaults, timeouts.unwrap_or_default());
            self.chain.push(Link {
                priority: shorthand.priority,
                name: process.name.clone(),
                hooks,
            });
            self.config.processes.insert(name.to_owned(), process);
        }
    }

    /// Puts the hooks of all processes behind the others of the file, lower priority first.
    pub(super) fn close_chain(&mut self) {
        let mut chain = std::mem::take(&mut self.chain);
        chain
            .sort_by(|left, right| (left.priority, &left.name).cmp(&(right.priority, &right.name)));
        self.config.hooks.extend(chain.into_iter().flat_map(|link| link.hooks));
    }
}

impl Shorthand {
    fn hooks(&self, process: &Process, defaults: &Defaults, timeouts: Timeouts) -> Vec<Hook> {
        let hook = |event: Event, timeout: Duration| Hook {
            timeout: process.timeout.or(defaults.timeout).unwrap_or(timeout),
            location: process.location.clone(),
            ..Hook::new(event, "process", Command::Text(process.name.clone()))
        };
        let intercepting = STAGES.into_iter().filter(|(_, (event, _))| self.stages.contains(event));
        let intercepting = intercepting.map(|(_, (event, mutates))| {
            let timeout = if mutates { timeouts.interceptor } else { timeouts.approval };
            let mut hook = Hook { mutates, ..hook(event, timeout) };
            if event == Event::PermissionRequest {
                // A broken approver denies, as in PicoClaw.
                hook.on_error = Some(OnError::Block);
            } else if let Some(wanted) = defaults.on_error {
                hook.default_on_error(wanted);
            }
            hook
        });
        let observing = self.observed.iter().map(|event| {
            // Nobody waits for an observer, and its death is no reason to stop anything.
            let on_error = Some(OnError::Ignore);
            Hook { observe: true, on_error, ..hook(*event, timeouts.observer) }
        });
        intercepting.chain(observing).collect()
    }
}

impl Reader {
    /// Reads the keys of a process entry that make hooks of it.
    pub(super) fn process_shorthand(&mut self, fields: &Fields<'_>) -> Shorthand {
        let mut shorthand = Shorthand {
            enabled: true,
            priority: 0,
            stages: BTreeSet::new(),
            observed: BTreeSet::new(),
        };
        for (name, _, value) in fields.iter() {
            match name {
                "enabled" => {
                    shorthand.enabled = self.boolean(value, "`enabled`").unwrap_or_default();
                }
                "priority" => shorthand.priority = self.priority(value).unwrap_or_default(),
                "transport" => self.transport(value),
                "intercept" => shorthand.stages = self.stages(value),
                "observe" => shorthand.observed = self.observed(value),
                _ => {}
            }
        }
        shorthand
    }

    fn priority(&mut self, node: &Node) -> Option<i64> {
        let number = match &node.value {
            Value::Number(number) => number.as_i64(),
            _ => None,
        };
        if number.is_none() {
            self.error(node, "`priority` must be a whole number");
        }
        number
    }

    fn transport(&mut self, node: &Node) {
        if let Some(transport) = self.text(node, "`transport`")
            && !transport.is_empty()
            && transport != "stdio"
        {
            self.error_with_hint(
                node,
                format!("unknown transport `{transport}`"),
                "the only one is `stdio`",
            );
        }
    }

    fn stages(&mut self, node: &Node) -> BTreeSet<Event> {
        let mut stages = BTreeSet::new();
        if !matches!(node.value, Value::List(_)) {
            self.error(node, format!("`intercept` must be a list, not {}", node.kind()));
            return stages;
        }
        for item in node.one_or_many() {
            // PicoClaw skips empty ones.
            if item.as_text() != Some("") {
                stages.extend(self.choice(item, "`intercept`", &STAGES).map(|(event, _)| event));
            }
        }
        stages
    }

    fn observed(&mut self, node: &Node) -> BTreeSet<Event> {
        let mut events = BTreeSet::new();
        for item in self.texts(node, "`observe`").into_iter().flatten() {
            if item.is_empty() || item == "*" || item == "all" {
                events.extend(Event::all());
            } else if let Some((.., event)) =
                KINDS.iter().find(|(kind, legacy, _)| *kind == item || *legacy == item)
            {
                events.insert(*event);
            } else if OTHER_KINDS.contains(&&*item)
                || OTHER_FAMILIES.iter().any(|family| item.starts_with(family))
            {
                let message = format!("nothing here corresponds to `{item}`: it is never told");
                self.report(node, Diagnostic::warning(message));
            } else {
                let names = KINDS.iter().flat_map(|(kind, legacy, _)| [*kind, *legacy]);
                let hint = match suggest::closest(&item, names) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "`\"*\"` observes everything".to_owned(),
                };
                self.error_with_hint(node, format!("unknown event `{item}` in `observe`"), hint);
            }
        }
        events
    }

    fn timeouts(&mut self, node: &Node) -> Timeouts {
        let mut timeouts = Timeouts::default();
        let keys = ["observer_timeout_ms", "interceptor_timeout_ms", "approval_timeout_ms"];
        let Some(fields) = self.fields(node, "`hooks.defaults`", &keys) else { return timeouts };
        for (name, _, value) in fields.iter() {
            let Value::Number(number) = &value.value else {
                self.error(value, format!("`{name}` must be a number, not {}", value.kind()));
                continue;
            };
            let Some(milliseconds) = number.as_u64().filter(|number| *number > 0) else {
                let warning = format!("`{name}: {number}` changes nothing: the default stays");
                self.report(value, Diagnostic::warning(warning));
                continue;
            };
            let duration = Duration::from_millis(milliseconds.min(86_400_000));
            match name {
                "observer_timeout_ms" => timeouts.observer = duration,
                "interceptor_timeout_ms" => timeouts.interceptor = duration,
                _ => timeouts.approval = duration,
            }
        }
        timeouts
    }

    /// Reads PicoClaw's compiled-in hooks, none of which exist here.
    fn picoclaw_builtins(&mut self, node: &Node) {
        let Some(fields) = self.open_fields(node, "`builtins`") else { return };
        for (name, key, value) in fields.iter() {
            let Some(entry) = self.fields(value, "a builtin", &["enabled", "priority", "config"])
            else {
                continue;
            };
            let enabled = entry.get("enabled").map(|node| self.boolean(node, "`enabled`"));
            if enabled.is_none_or(|enabled| enabled == Some(true)) {
                self.error_with_hint(
                    key,
                    format!("`{name}` is compiled into PicoClaw and does not exist here"),
                    "set `enabled: false`, or write a hook of `type: builtin` below its event",
                );
            }
        }
    }
}
