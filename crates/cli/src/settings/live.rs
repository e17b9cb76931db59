//! The entries of hookexec where the agent looks for hooks, and what stands beside them.

use hookexec_agents::{EntryMember, EntryShape, HookSettings};
use serde_json::Value;

use super::call::Call;

/// An entry that the agent reads as a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    /// The agent's event that it is under.
    pub(crate) event: String,
    pub(crate) command: String,
    /// The command, if it is as `install` writes it.
    pub(crate) call: Option<Call>,
    /// The `timeout` beside it, in seconds.
    pub(crate) timeout: Option<f64>,
    /// Whether the entry tells the agent to take its failure for a denial, where that is possible.
    pub(crate) fails_closed: bool,
    /// The members around it that could keep it from being called or heard.
    pub(crate) odd: Vec<String>,
}

/// Returns the entries of hooks under `root` whose commands are `ours`, each yet without its call.
pub(super) fn entries(
    layout: &HookSettings,
    root: &[&str],
    settings: &Value,
    ours: &dyn Fn(&str) -> bool,
) -> Vec<Live> {
    let Value::Object(events) = root.iter().fold(settings, |value, key| &value[key]) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if matches!(layout.shape, EntryShape::Triggers | EntryShape::Tables) {
        for entry in elements(events.get("hooks")) {
            let live = match layout.event_key() {
                Some(key) => hook(layout, entry[key].as_str().unwrap_or_default(), entry),
                None => trigger(layout, entry),
            };
            found.extend(live.filter(|live| ours(&live.command)));
        }
        return found;
    }
    for (event, entries) in events {
        for element in elements(Some(entries)) {
            let is_group = layout.shape == EntryShape::Groups;
            let hooks = if is_group {
                elements(element.get("hooks"))
            } else {
                std::slice::from_ref(element)
            };
            for mut live in hooks.iter().filter_map(|entry| hook(layout, event, entry)) {
                if is_group {
                    live.odd.extend(odd(element, &["hooks"], is_for_every_tool));
                }
                found.push(live);
            }
        }
    }
    found.retain(|live| ours(&live.command));
    found
}

/// Returns whether a member is a matcher that leaves no tool out.
fn is_for_every_tool(key: &str, value: &Value) -> bool {
    let every = ["", "*", ".*"];
    key == "matcher" && (value.is_null() || every.iter().any(|it| value == it))
}

fn elements(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn hook(layout: &HookSettings, event: &str, entry: &Value) -> Option<Live> {
    let has = |member| layout.members.contains(&member);
    let known = ["command", "timeout", "failClosed", "onFailure", "strict"];
    let mut odd = odd(entry, &known, |key, value| {
        layout.event_key() == Some(key)
            || key == "type" && value == "command"
            || layout.shape == EntryShape::Tables && is_for_every_tool(key, value)
    });
    if has(EntryMember::Type) && entry.get("type").is_none() {
        odd.insert(0, "no `type`".to_owned());
    }
    let unit = if layout.counts_milliseconds() { 1000.0 } else { 1.0 };
    Some(Live {
        event: event.to_owned(),
        command: entry["command"].as_str()?.to_owned(),
        call: None,
        timeout: entry["timeout"].as_f64().map(|timeout| timeout / unit),
        fails_closed: (!has(EntryMember::FailClosed) || entry["failClosed"] == true)
            && (!has(EntryMember::OnFailure) || entry["onFailure"] == "block")
            && (!has(EntryMember::Strict) || entry["strict"] == true),
        odd,
    })
}

fn trigger(layout: &HookSettings, entry: &Value) -> Option<Live> {
    let event = entry["trigger"].as_str().unwrap_or_default();
    let mut live = hook(layout, event, &entry["action"])?;
    live.timeout = entry["timeout"].as_f64();
    live.odd.extend(odd(entry, &["action", "trigger", "timeout"], |key, value| {
        key == "enabled" && value == true
    }));
    Some(live)
}

/// Returns the members that are neither known nor `fine`.
fn odd(object: &Value, known: &[&str], fine: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    // These say nothing about whether a hook is called.
    const LABELS: [&str; 4] = ["name", "description", "statusMessage", "sequential"];
    let is_odd = |(key, value): &(&String, &Value)| {
        let key = key.as_str();
        !known.contains(&key) && !LABELS.contains(&key) && !fine(key, value)
    };
    let members = object.as_object().into_iter().flatten().filter(is_odd);
    members.map(|(key, value)| format!("`{key}: {value}`")).collect()
}
