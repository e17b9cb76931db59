//! The entries of an agent's settings that run commands, as they stand there.

use hookexec_agents::EntryShape;
use jsonc_parser::cst::CstInputValue as Json;
use serde_json::Value;

use super::call::Call;
use super::edit::{Members, PlannedEntry};
use super::inspect::AgentFile;

/// One entry that runs a command.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// The agent's event that it is under.
    pub(crate) event: String,
    pub(crate) command: String,
    /// The arguments beside the command.
    pub(crate) args: Vec<String>,
    /// Whether it calls hookexec.
    pub(crate) is_ours: bool,
    /// The command, if it is as `install` writes it.
    pub(crate) call: Option<Call>,
    /// The `timeout` beside it, in seconds.
    pub(crate) timeout: Option<f64>,
    /// How it differs from the entry that `install` writes, beside the command: the agent may not call
    /// it, or not hear its answer.
    pub(crate) differences: Vec<String>,
}

impl AgentFile {
    /// Returns the entries that the agent reads as hooks.
    pub(super) fn entries_in(&self, value: &Value) -> Vec<Entry> {
        let Some(layout) = self.agent.settings() else { return Vec::new() };
        let events = self.root.iter().fold(value, |value, key| &value[key]);
        let mut found = Vec::new();
        if matches!(layout.shape, EntryShape::Tables | EntryShape::Triggers) {
            for element in elements(&events["hooks"]) {
                let (event, hook, around) = match layout.event_key() {
                    Some(key) => (&element[key], element, &Value::Null),
                    None => (&element["trigger"], &element["action"], element),
                };
                found.extend(self.entry(event.as_str().unwrap_or_default(), hook, around));
            }
            return found;
        }
        for (event, list) in events.as_object().into_iter().flatten() {
            for element in elements(list) {
                if layout.shape == EntryShape::List {
                    found.extend(self.entry(event, element, &Value::Null));
                }
                for hook in elements(&element["hooks"]) {
                    found.extend(self.entry(event, hook, element));
                }
            }
        }
        found
    }

    /// Returns the entry of a hook and of what stands `around` it.
    fn entry(&self, event: &str, hook: &Value, around: &Value) -> Option<Entry> {
        let layout = self.agent.settings()?;
        let command = hook["command"].as_str()?.to_owned();
        let call = Call::of(self.agent, &command);
        let mut differences = Vec::new();
        if let Some(Call { native, .. }) = &call {
            let written = PlannedEntry { native, command: String::new(), timeout: 0 };
            compare(hook, &written.hook(layout), &mut differences);
            compare(around, &written.around(layout), &mut differences);
        }
        let unit = if layout.counts_milliseconds() { 1000.0 } else { 1.0 };
        let timeout = hook["timeout"].as_f64().or(around["timeout"].as_f64());
        let args = elements(&hook["args"]).iter().filter_map(Value::as_str);
        Some(Entry {
            event: event.to_owned(),
            is_ours: command.contains(&format!(" run --from {} --event ", self.agent)),
            command,
            args: args.map(str::to_owned).collect(),
            call,
            timeout: timeout.map(|timeout| timeout / unit),
            differences,
        })
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
