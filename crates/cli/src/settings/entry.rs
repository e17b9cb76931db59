//! The entries of an agent's settings that run commands, as they stand there.

use hookexec_agents::EntryShape;
use jsonc_parser::cst::CstInputValue as Json;
use serde_json::Value;

use super::call::Call;
use super::edit::{Members, PlannedEntry};
use super::inspect::AgentFile;
use super::text;

/// One entry that runs a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The agent's event that it is under; empty where the agent looks for no hooks.
    pub(crate) event: String,
    pub(crate) command: String,
    /// The arguments beside the command.
    pub(crate) args: Vec<String>,
    pub(crate) owner: Owner,
    /// Whether it stands where the agent looks for hooks.
    pub(crate) is_live: bool,
    /// The `timeout` beside it, in seconds.
    pub(crate) timeout: Option<f64>,
    /// How it differs from the entry that `install` writes, beside the command: the agent may not call
    /// it, or not hear its answer.
    pub(crate) differences: Vec<String>,
}

/// Whose command it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Owner {
    /// It is as `install` writes it.
    Written(Call),
    /// Another program, such as `timeout 30`, runs what `install` writes.
    Wrapped(Call),
    /// It calls hookexec in another way.
    ByHand,
    Foreign,
}

impl Entry {
    /// Returns an entry of hookexec that the agent does not read as a hook.
    pub(super) fn dead(command: String) -> Self {
        Self {
            event: String::new(),
            command,
            args: Vec::new(),
            owner: Owner::ByHand,
            is_live: false,
            timeout: None,
            differences: Vec::new(),
        }
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.owner != Owner::Foreign
    }

    /// Returns the command, if it is as `install` writes it.
    pub(crate) fn written(&self) -> Option<&Call> {
        match &self.owner {
            Owner::Written(call) => Some(call),
            _ => None,
        }
    }

    /// Returns the command, if at least another program runs it as `install` writes it.
    pub(crate) fn call(&self) -> Option<&Call> {
        match &self.owner {
            Owner::Written(call) | Owner::Wrapped(call) => Some(call),
            Owner::ByHand | Owner::Foreign => None,
        }
    }

    /// Returns the server that the command asks.
    pub(crate) fn socket(&self) -> Option<&str> {
        self.call()?.socket.as_deref()
    }
}

impl AgentFile {
    /// Returns the entries in the value of a file: those that the agent reads as hooks, and those of
    /// hookexec that stand elsewhere.
    pub(super) fn entries_in(&self, value: &Value) -> Vec<Entry> {
        let mark = self.mark();
        let mut elsewhere = text::commands(value);
        elsewhere.retain(|command| command.contains(&mark));
        let mut found = self.live(value);
        for entry in &found {
            if let Some(place) = elsewhere.iter().position(|command| *command == entry.command) {
                elsewhere.remove(place);
            }
        }
        found.extend(elsewhere.into_iter().map(Entry::dead));
        found
    }

    /// Returns the entries that the agent reads as hooks.
    fn live(&self, value: &Value) -> Vec<Entry> {
        let Some(layout) = self.agent.settings() else { return Vec::new() };
        let events = self.root.iter().fold(value, |value, key| &value[key]);
        let mut found = Vec::new();
        match layout.shape {
            EntryShape::Tables => {
                for hook in elements(&events["hooks"]) {
                    let event = layout.event_key().map_or(&Value::Null, |key| &hook[key]);
                    found.extend(self.entry(event.as_str().unwrap_or_default(), hook, None));
                }
            }
            EntryShape::Triggers => {
                for trigger in elements(&events["hooks"]) {
                    let event = trigger["trigger"].as_str().unwrap_or_default();
                    found.extend(self.entry(event, &trigger["action"], Some(trigger)));
                }
            }
            shape => {
                for (event, entries) in events.as_object().into_iter().flatten() {
                    for element in elements(entries) {
                        if shape != EntryShape::Groups {
                            found.extend(self.entry(event, element, None));
                            continue;
                        }
                        for hook in elements(&element["hooks"]) {
                            found.extend(self.entry(event, hook, Some(element)));
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns the entry of a hook and of what stands `around` it.
    fn entry(&self, event: &str, hook: &Value, around: Option<&Value>) -> Option<Entry> {
        let layout = self.agent.settings()?;
        let around = around.unwrap_or(&Value::Null);
        let command = hook["command"].as_str()?.to_owned();
        let owner = self.owner(&command);
        let mut differences = Vec::new();
        if owner != Owner::Foreign
            && let Some(native) = self.agent.native_event(event)
        {
            let written = PlannedEntry { native, command: String::new(), timeout: 0 };
            compare(hook, &written.hook(layout), &mut differences);
            compare(around, &written.around(layout), &mut differences);
        }
        let unit = if layout.counts_milliseconds() { 1000.0 } else { 1.0 };
        let timeout = hook["timeout"].as_f64().or(around["timeout"].as_f64());
        let args = elements(&hook["args"]).iter().filter_map(Value::as_str);
        Some(Entry {
            event: event.to_owned(),
            command,
            args: args.map(str::to_owned).collect(),
            owner,
            is_live: true,
            timeout: timeout.map(|timeout| timeout / unit),
            differences,
        })
    }

    fn owner(&self, command: &str) -> Owner {
        if !command.contains(&self.mark()) {
            return Owner::Foreign;
        }
        if let Some(call) = Call::of(self.agent, command) {
            return Owner::Written(call);
        }
        for (blank, _) in command.match_indices(' ') {
            let (wrapper, inner) = command.split_at(blank + 1);
            // Shell syntax before the call could change its exit code or output.
            if wrapper.contains(['|', '&', ';', '<', '>', '!', '\n', '(', '`']) {
                break;
            }
            if let Some(call) = Call::of(self.agent, inner) {
                return Owner::Wrapped(call);
            }
        }
        Owner::ByHand
    }

    /// Returns the words by which a call of hookexec is known.
    fn mark(&self) -> String {
        format!(" run --from {} --event ", self.agent)
    }
}

/// Adds how the members of an entry differ from those that `install` writes.
fn compare(found: &Value, written: &Members, differences: &mut Vec<String>) {
    // Other findings are about the first four. The others do not matter to whether a hook is called.
    const FREE: [&str; 8] = [
        "command", "timeout", "hooks", "action", "name", "description", "statusMessage",
        "sequential",
    ];
    let has_every_tool =
        |value: &Value| value.is_null() || value == "" || value == "*" || value == ".*";
    for (key, value) in found.as_object().into_iter().flatten() {
        let is_free = FREE.contains(&key.as_str()) || key == "matcher" && has_every_tool(value);
        let is_written = |(name, member): &(String, Json)| name == key && is_equal(member, value);
        if !is_free && !written.iter().any(is_written) {
            differences.push(format!("`{key}: {value}`"));
        }
    }
    for (key, _) in written {
        if !FREE.contains(&key.as_str()) && found.get(key).is_none() {
            differences.push(format!("no `{key}`"));
        }
    }
}

fn is_equal(written: &Json, found: &Value) -> bool {
    match written {
        Json::Bool(written) => found == written,
        Json::String(written) => found == written,
        _ => false,
    }
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
