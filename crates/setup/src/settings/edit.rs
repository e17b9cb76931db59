//! The entries as `install` writes them, and their way into a text and out of it.

use hookexec::Event;
use hookexec_agents::{Agent, EntryMember, EntryShape, HookSettings, NativeEvent};
use hookexec_files::json::parse_json;
use jsonc_parser::cst::CstInputValue as Json;
use serde_json::Value;

use super::call::{Call, CallOptions};
use super::inspect::AgentFile;
use super::{SettingsError, events, text, toml};
use crate::waits::limits;

/// The members of an object, in order.
pub(super) type Members = Vec<(String, Json)>;

/// The entry to write for one event.
pub struct PlannedEntry {
    /// The event.
    pub native: &'static NativeEvent,
    /// The program and its arguments, for a shell.
    pub command: String,
    /// How long the agent waits, in seconds.
    pub timeout: u64,
}

/// Returns the entries for `agent`, which waits `timeout` seconds.
pub fn planned(
    agent: Agent,
    options: &CallOptions,
    timeout: u64,
    configured: &[Event],
) -> Vec<PlannedEntry> {
    let mut entries = Vec::new();
    for native in events(agent, configured) {
        let (timeout, within) = limits(agent, native, timeout);
        let call = Call { options: options.clone(), agent, native, within };
        entries.push(PlannedEntry { native, command: call.command(), timeout });
    }
    entries
}

impl PlannedEntry {
    /// Returns the members of the hook.
    pub(super) fn hook(&self, layout: &HookSettings) -> Members {
        let decides = self.native.is_deciding();
        let is_strict = decides || self.native.event == Some(Event::PostToolUse);
        let mut hook = Members::new();
        for member in &layout.members {
            let (key, value): (&str, Json) = match member {
                EntryMember::Type => ("type", "command".into()),
                EntryMember::Name => ("name", "hookexec".into()),
                EntryMember::NameOfEvent => ("name", self.name().into()),
                EntryMember::Event(key) => (key, self.native.name.into()),
                EntryMember::Command => ("command", self.command.as_str().into()),
                EntryMember::Seconds => ("timeout", self.timeout.into()),
                EntryMember::Milliseconds => ("timeout", (self.timeout * 1000).into()),
                EntryMember::OnFailure if decides => ("onFailure", "block".into()),
                EntryMember::FailClosed if decides => ("failClosed", true.into()),
                EntryMember::Strict if is_strict => ("strict", true.into()),
                _ => continue,
            };
            hook.push((key.to_owned(), value));
        }
        hook
    }

    /// Returns the element of a list that holds the hook.
    fn element(&self, layout: &HookSettings) -> Json {
        let hook = Json::Object(self.hook(layout));
        Json::Object(match layout.shape {
            EntryShape::Groups => vec![("hooks".to_owned(), vec![hook].into())],
            EntryShape::Triggers => vec![
                ("name".to_owned(), self.name().into()),
                ("trigger".to_owned(), self.native.name.into()),
                ("timeout".to_owned(), self.timeout.into()),
                ("enabled".to_owned(), true.into()),
                ("action".to_owned(), hook),
            ],
            _ => return hook,
        })
    }

    fn name(&self) -> String {
        format!("hookexec {}", self.native.name)
    }
}

impl AgentFile {
    /// Returns `text` with the entries in it, and without those of an earlier installation. An
    /// entry that the user changed by hand stays, and no second one is added for its event.
    pub fn with(&self, text: &str, entries: &[PlannedEntry]) -> Result<String, SettingsError> {
        let left = self.without(text)?;
        let Some(layout) = self.agent.settings() else { return Ok(left) };
        let mut missing: Vec<&PlannedEntry> = entries.iter().collect();
        for changed in self.changed_by_hand() {
            missing.retain(|entry| entry.native.name != changed.event);
        }
        if self.is_toml() {
            let hooks: Vec<Members> = missing.iter().map(|entry| entry.hook(layout)).collect();
            return toml::with(&left, &hooks);
        }
        let text = if left.trim().is_empty() { "{}\n" } else { &left };
        let tree = text::tree(text)?;
        let object = tree.object_value().ok_or(SettingsError::NotAnObject)?;
        if let Some(version) = &layout.version
            && object.get("version").is_none()
        {
            object.append("version", Json::Number(version.to_string()));
        }
        for entry in missing {
            let is_one_list = layout.shape == EntryShape::Triggers;
            let list = if is_one_list { "hooks" } else { entry.native.name };
            text::append(&object, self.root(), list, entry.element(layout))?;
        }
        Ok(tree.to_string())
    }

    /// Returns `text` without the entries, but with those that the user changed by hand.
    pub fn without(&self, text: &str) -> Result<String, SettingsError> {
        if self.is_toml() {
            return toml::remove(text, |command| Call::of(self.agent, command).is_some());
        }
        text::remove(text, |command| Call::of(self.agent, command).is_some())
    }

    /// Returns whether `text` holds nothing but what `install` adds to an empty file.
    pub fn is_bare(&self, text: &str) -> bool {
        let bare: String = text.split_whitespace().collect();
        let mut of_version = String::new();
        if let Some(HookSettings { version: Some(version), .. }) = self.agent.settings() {
            of_version = format!("{{\"version\":{version}}}");
        }
        ["", "{}", &of_version].contains(&bare.as_str())
    }

    /// Returns the plugin that calls `program` and waits `within` seconds.
    pub fn plugin_text(&self, text: &str, program: &str, within: u64) -> String {
        let program = Value::from(program);
        let program = format!("process.env.HOOKEXEC ?? {program}");
        let seconds = format!("process.env.HOOKEXEC_SECONDS ?? {within}");
        let text = text.replace(PROGRAM, &program).replace(SECONDS, &seconds);
        text.replace(FROM, &self.from())
    }

    /// Returns the program that the plugin calls, if its text is as `install` writes it.
    pub fn plugin_program(&self) -> Option<String> {
        let (plugin, text) = (self.agent.plugin_text()?, self.text.as_deref()?);
        let (_, program) = text.split_once("process.env.HOOKEXEC ?? ")?;
        let (_, within) = text.split_once("process.env.HOOKEXEC_SECONDS ?? ")?;
        let program = parse_json(program.lines().next()?).ok()?.as_str()?.to_owned();
        let within = within.split_once(')')?.0.parse().ok()?;
        let is_same = self.plugin_text(plugin, &program, within) == text;
        if is_same { Some(program) } else { None }
    }

    /// Returns whether a file holds the plugin, of whatever version.
    pub fn is_plugin(&self, text: &str) -> bool {
        text.starts_with("// hookexec ") && text.contains(&self.from())
    }

    fn from(&self) -> String {
        format!("\"--from\", \"{}\"", self.agent)
    }
}

/// The parts of a plugin's text that name the program, the seconds that it waits, and the agent. An agent
/// may share the plugin of another one.
const PROGRAM: &str = r#"process.env.HOOKEXEC ?? "hookexec""#;
const SECONDS: &str = "process.env.HOOKEXEC_SECONDS ?? 60";
const FROM: &str = r#""--from", "opencode""#;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hookexec_agents::Agent;

    use super::*;
    use crate::settings::Scope;

    #[test]
    fn the_plugin_calls_the_program_that_installed_it() {
        let mut count = 0;
        for agent in Agent::all() {
            let Some(file) = AgentFile::inspect(agent, Scope::Project, Path::new("/p")) else {
                continue;
            };
            let Some(plugin) = file.agent.plugin_text() else { continue };
            let text = file.plugin_text(plugin, "/a \"b\"/hookexec", 54);
            assert!(text.contains(r#"process.env.HOOKEXEC ?? "/a \"b\"/hookexec""#), "{text}");
            assert!(text.contains("HOOKEXEC_SECONDS ?? 54"), "{text}");
            assert!(file.is_plugin(&text) && !file.is_plugin("// mine"));
            count += 1;
        }
        assert!(count > 2);
    }
}
