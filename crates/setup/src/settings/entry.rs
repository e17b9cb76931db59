//! The entries of an agent's settings that run commands, as they are written there.

use hookexec_agents::{EntryShape, HookSettings};
use serde_json::Value;

use super::call::Call;
use super::inspect::AgentFile;

/// One entry that runs a command.
#[derive(Debug, Default, PartialEq)]
pub struct Entry {
    /// The agent's event that it is under.
    pub event: String,
    /// The program and its arguments, for a shell.
    pub command: String,
    /// Whether it calls hookexec.
    pub is_ours: bool,
    /// The command, if it is as `install` writes it.
    pub call: Option<Call>,
    /// The `timeout` beside it, in seconds.
    pub timeout: Option<f64>,
    /// The object that has the command.
    hook: Value,
    /// The other members of the object around it, but for a matcher of every tool.
    around: Value,
}

impl Entry {
    /// Returns the entry that a plugin or a package of hookexec stands for.
    pub(super) fn of_package() -> Self {
        Self { is_ours: true, ..Self::default() }
    }
}

impl AgentFile {
    /// Returns the entries in `events` that are written as hooks.
    pub(super) fn entries_in(&self, layout: &HookSettings, events: &Value) -> Vec<Entry> {
        let mut found = Vec::new();
        if matches!(layout.shape, EntryShape::Tables | EntryShape::Triggers) {
            for element in elements(&events["hooks"]) {
                let (event, hook, around) = match layout.event_key() {
                    Some(key) => (&element[key], element, &Value::Null),
                    None => (&element["trigger"], &element["action"], element),
                };
                let event = event.as_str().unwrap_or_default();
                found.extend(self.entry(layout, event, hook, around));
            }
            return found;
        }
        for (event, list) in events.as_object().into_iter().flatten() {
            for element in elements(list) {
                if layout.shape == EntryShape::List {
                    found.extend(self.entry(layout, event, element, &Value::Null));
                }
                for hook in elements(&element["hooks"]) {
                    found.extend(self.entry(layout, event, hook, element));
                }
            }
        }
        found
    }

    /// Returns the entry of a hook and of what stands `around` it.
    fn entry(
        &self,
        layout: &HookSettings,
        event: &str,
        hook: &Value,
        around: &Value,
    ) -> Option<Entry> {
        let command = hook["command"].as_str()?;
        let mut around = around.clone();
        if let Some(around) = around.as_object_mut() {
            around.remove("hooks");
            if let Some("" | "*" | ".*") = around.get("matcher").and_then(Value::as_str) {
                around.remove("matcher");
            }
        }
        let unit = if layout.counts_milliseconds() { 1000.0 } else { 1.0 };
        let timeout = hook["timeout"].as_f64().or(around["timeout"].as_f64());
        Some(Entry {
            event: event.to_owned(),
            command: command.to_owned(),
            is_ours: command.contains(&format!(" run --from {} --event ", self.agent)),
            call: Call::of(self.agent, command),
            timeout: timeout.map(|timeout| timeout / unit),
            hook: hook.clone(),
            around,
        })
    }

    /// Returns the names of entries that have a name of hookexec's but call another program. An agent
    /// that runs one entry for each name may run these instead.
    pub fn namesakes(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for entry in self.entries.as_deref().unwrap_or_default() {
            let name = entry.hook["name"].as_str().unwrap_or_default();
            let is_named = self.agent.settings().is_some_and(HookSettings::names_events);
            if is_named && !entry.is_ours && name.starts_with("hookexec ") {
                names.push(name);
            }
        }
        names
    }
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}
