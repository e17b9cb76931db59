//! The entries of an agent's settings that run commands, as they are written there, and those for which an
//! agent reads no hook of the whole file or event.

use hookexec_agents::{Agent, EntryShape, HookSettings, Intolerance};
use serde_json::Value;

use super::call::Call;
use super::inspect::AgentFile;
use super::{SettingsError, value_at};

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
                found.extend(self.entry(event, hook, around));
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
        let command = hook["command"].as_str()?;
        let mut around = around.clone();
        if let Some(around) = around.as_object_mut() {
            around.remove("hooks");
            if let Some("" | "*" | ".*") = around.get("matcher").and_then(Value::as_str) {
                around.remove("matcher");
            }
        }
        let settings = self.agent.settings();
        let is_milliseconds = settings.is_some_and(HookSettings::counts_milliseconds);
        let unit = if is_milliseconds { 1000.0 } else { 1.0 };
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

    /// Looks in the value of the settings for another version than the agent reads, and for an entry for which
    /// it reads no hook beside it.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn check(&self, layout: &HookSettings, value: &Value) -> Result<(), SettingsError> {
        let (events, title) = (value_at(value, self.root()), self.agent.title());
        let found = match (layout.intolerance, layout.shape) {
            (Intolerance::None, _) => version(layout, value),
            (_, EntryShape::Tables) => tables(self.agent, layout, &events["hooks"]),
            _ => groups(layout.intolerance, &layout.root, events),
        };
        let Err((place, wrong)) = found else { return Ok(()) };
        let lost = if layout.intolerance == Intolerance::Matchers { "event" } else { "file" };
        let message = format!("`{place}` {wrong}: {title} then reads no hook of this {lost}");
        Err(SettingsError::Entry(message))
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

/// A place in a settings file, and what is wrong there.
type Mistake = (String, &'static str);

/// Checks the version of the file, which may be missing.
fn version(layout: &HookSettings, settings: &Value) -> Result<(), Mistake> {
    let Some(version) = settings.get("version") else { return Ok(()) };
    if layout.version.as_ref().is_none_or(|known| known == version) {
        return Ok(());
    }
    Err(("version".to_owned(), "is not the one that it knows"))
}

/// Checks the groups of each event.
fn groups(intolerance: Intolerance, root: &[&str], events: &Value) -> Result<(), Mistake> {
    for (event, list) in events.as_object().into_iter().flatten() {
        for (index, group) in list.as_array().into_iter().flatten().enumerate() {
            let place = format!("{}[{index}]", [root, &[event]].concat().join("."));
            if !matches!(group.get("matcher"), None | Some(Value::String(_))) {
                return Err((format!("{place}.matcher"), "is not a text"));
            }
            let may_lack = intolerance == Intolerance::Members && group.is_object();
            if intolerance == Intolerance::Matchers || may_lack && group.get("hooks").is_none() {
                continue;
            }
            let Some(hooks) = group["hooks"].as_array() else {
                return Err((place, "is not an object with a list `hooks`"));
            };
            for (index, hook) in hooks.iter().enumerate() {
                member(&format!("{place}.hooks[{index}]"), hook, u64::MAX)?;
                if !hook["type"].is_string() {
                    return Err((format!("{place}.hooks[{index}].type"), "is not a text"));
                }
            }
        }
    }
    Ok(())
}

/// Checks the tables of a TOML file. They have no member but those that the agent knows.
fn tables(agent: Agent, layout: &HookSettings, hooks: &Value) -> Result<(), Mistake> {
    let event = layout.event_key().unwrap_or_default();
    for (index, hook) in hooks.as_array().into_iter().flatten().enumerate() {
        let place = format!("hooks[{index}]");
        for (key, value) in hook.as_object().into_iter().flatten() {
            let is_fine = match key.as_str() {
                "command" | "timeout" => true,
                "matcher" => value.is_string(),
                _ if key == event => agent.events().iter().any(|native| *value == native.name),
                _ => return Err((format!("{place}.{key}"), "is a key that it does not know")),
            };
            if !is_fine {
                return Err((format!("{place}.{key}"), "is not a text that it knows"));
            }
        }
        member(&place, hook, layout.longest_wait.unwrap_or(u64::MAX))?;
        if hook.get("command").is_none() || hook.get(event).is_none() {
            return Err((place, "is not a table with `command` and its event"));
        }
    }
    Ok(())
}

/// Checks the command of a hook and how long it may take.
fn member(place: &str, hook: &Value, longest: u64) -> Result<(), Mistake> {
    let is_command = hook["type"] == "command" || hook.get("command").is_some();
    if is_command && !hook["command"].is_string() {
        return Err((format!("{place}.command"), "is not a text"));
    }
    let Some(timeout) = hook.get("timeout") else { return Ok(()) };
    // `None` is less than every number.
    if timeout.as_u64() <= Some(longest) && timeout.as_f64() > Some(0.0) {
        Ok(())
    } else {
        Err((format!("{place}.timeout"), "is not a number that it takes"))
    }
}
