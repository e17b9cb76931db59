//! The entries as `install` writes them, and their way into a text and out of it.

use hookexec::Event;
use hookexec_agents::{EntryMember, EntryShape, HookSettings, NativeEvent};
use jsonc_parser::cst::CstInputValue as Json;

use super::call::Call;
use super::inspect::AgentFile;
use super::{text, toml};

/// The members of an object, in order.
pub(super) type Members = Vec<(String, Json)>;

/// The entry to write for one event.
pub(crate) struct PlannedEntry {
    pub(crate) native: &'static NativeEvent,
    /// The program and its arguments, for a shell.
    pub(crate) command: String,
    /// How long the agent waits, in seconds.
    pub(crate) timeout: u64,
}

impl PlannedEntry {
    /// Returns the members of the hook.
    pub(super) fn hook(&self, layout: &HookSettings) -> Members {
        let decides = self.native.is_deciding();
        let is_strict = decides || self.native.event == Some(Event::PostToolUse);
        let mut hook = Members::new();
        for member in layout.members {
            let (key, value): (&str, Json) = match member {
                EntryMember::Type => ("type", "command".into()),
                EntryMember::Name => ("name", "hookexec".into()),
                EntryMember::NameOfEvent => ("name", self.name()),
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

    /// Returns the members around the hook, where it is an `action`.
    pub(super) fn around(&self, layout: &HookSettings) -> Members {
        if layout.shape != EntryShape::Triggers {
            return Members::new();
        }
        vec![
            ("name".to_owned(), self.name()),
            ("trigger".to_owned(), self.native.name.into()),
            ("timeout".to_owned(), self.timeout.into()),
            ("enabled".to_owned(), true.into()),
        ]
    }

    fn name(&self) -> Json {
        format!("hookexec {}", self.native.name).into()
    }
}

impl AgentFile {
    /// Returns `text` with the entries in it, and without those of an earlier installation. An
    /// entry that the user changed by hand stays, and no second one is added for its event.
    pub(crate) fn with(&self, text: &str, entries: &[PlannedEntry]) -> Result<String, String> {
        let layout = self.agent.settings().ok_or("the agent has no settings")?;
        let changed = self.changed_by_hand();
        let is_kept =
            |entry: &&PlannedEntry| changed.iter().all(|known| known.event != entry.native.name);
        let entries = entries.iter().filter(is_kept);
        let left = self.without(text, "")?;
        if self.is_toml() {
            return toml::with(&left, entries.map(|entry| entry.hook(layout)));
        }
        let text = if left.trim().is_empty() { "{}\n" } else { &left };
        text::edited(text, |object| {
            if let Some(version) = layout.version.filter(|_| object.get("version").is_none()) {
                object.append("version", Json::Number(version.to_owned()));
            }
            for entry in entries {
                let (list, hook) = (entry.native.name, Json::Object(entry.hook(layout)));
                let (list, element) = match layout.shape {
                    EntryShape::Triggers => {
                        ("hooks", object_of(entry.around(layout), "action", hook))
                    }
                    EntryShape::Groups => {
                        (list, object_of(Members::new(), "hooks", Json::Array(vec![hook])))
                    }
                    _ => (list, hook),
                };
                text::append(object, self.root, list, element)?;
            }
            Ok(())
        })
    }

    /// Returns `text` without the entries. Lists and objects that were empty `before` stay, and
    /// entries that the user changed by hand.
    pub(crate) fn without(&self, text: &str, before: &str) -> Result<String, String> {
        let ours = |command: &str| Call::of(self.agent, command).is_some();
        if self.is_toml() { toml::remove(text, ours) } else { text::remove(text, ours, before) }
    }

    /// Returns whether `text` holds nothing but what `install` adds to an empty file.
    pub(crate) fn is_bare(&self, text: &str) -> bool {
        let bare: String = text.split_whitespace().collect();
        let version = self.agent.settings().and_then(|layout| layout.version);
        let version = version.map(|version| format!("{{\"version\":{version}}}"));
        bare.is_empty() || bare == "{}" || version.is_some_and(|version| bare == version)
    }

    /// Returns the plugin that calls `program` and waits `within` seconds.
    pub(crate) fn plugin_text(&self, text: &str, program: &str, within: u64) -> String {
        let program = serde_json::Value::from(program);
        let program = format!("process.env.HOOKEXEC ?? {program}");
        let seconds = format!("process.env.HOOKEXEC_SECONDS ?? {within}");
        let text = text.replace(PROGRAM, &program).replace(SECONDS, &seconds);
        text.replace(FROM, &self.from())
    }

    /// Returns whether a file holds the plugin, of whatever version.
    pub(crate) fn is_plugin(&self, text: &str) -> bool {
        text.starts_with("// hookexec ") && text.contains(&self.from())
    }

    fn from(&self) -> String {
        format!("\"--from\", \"{}\"", self.agent)
    }
}

fn object_of(mut members: Members, key: &str, value: Json) -> Json {
    members.push((key.to_owned(), value));
    Json::Object(members)
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
            let Some(plugin) = file.plugin() else { continue };
            let text = file.plugin_text(plugin.text, "/a \"b\"/hookexec", 54);
            assert!(text.contains(r#"process.env.HOOKEXEC ?? "/a \"b\"/hookexec""#), "{text}");
            assert!(text.contains("HOOKEXEC_SECONDS ?? 54"), "{text}");
            assert!(file.is_plugin(&text) && !file.is_plugin("// mine"));
            count += 1;
        }
        assert!(count > 2);
    }
}
