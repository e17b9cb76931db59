//! The settings files of each coding agent, and the entries that `install` writes to them.

pub(crate) mod backup;
pub(crate) mod call;
pub(crate) mod inspect;
pub(crate) mod others;
pub(crate) mod plugin;
pub(crate) mod store;
pub(crate) mod text;
pub(crate) mod toml;

use std::path::{Path, PathBuf};

use hookexec::Event;
use hookexec_agents::{Agent, EntryMember, EntryShape, HookSettings, NativeEvent};

use call::Call;
use inspect::Entry;
use jsonc_parser::cst::CstInputValue as Json;
use serde_json::Value;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// Those of the user, for every project
    User,
    /// Those of the project, for everybody who works on it
    Project,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(if *self == Self::User { "user" } else { "project" })
    }
}

/// The settings of one agent in one scope.
pub(crate) struct Settings {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    /// The keys that lead to the events.
    root: &'static [&'static str],
    pub(crate) layout: &'static HookSettings,
}

/// The entry to write for one event.
pub(crate) struct PlannedEntry {
    pub(crate) native: &'static NativeEvent,
    /// The program and its arguments, for a shell.
    pub(crate) command: String,
    /// How long the agent waits, in seconds.
    pub(crate) timeout: u64,
}

impl Settings {
    /// Returns where `agent` keeps its hooks, or `None` without a home directory, or if it reads no
    /// hooks of a project.
    pub(crate) fn of(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        let layout = agent.settings()?;
        let (directory, file) = match scope {
            Scope::Project if layout.only_of_user => return None,
            Scope::Project => {
                let (directory, file) = layout.in_project();
                (project.join(directory), file)
            }
            Scope::User => (user_directory(layout)?, layout.file),
        };
        let (path, root) = (directory.join(file), layout.root);
        let mut settings = Self { agent, path, root, layout };
        // A new file would switch the hooks in the older one off.
        if let Some(older) = layout.older_file.filter(|_| !settings.path.exists()) {
            let older = settings.path.with_file_name(older);
            if value_of(&older).get("hooks").is_some() {
                settings.path = older;
                settings.root = &["hooks"];
            }
        }
        Some(settings)
    }

    /// Returns `text` with the entries in it, and without those of an earlier installation. An
    /// entry that the user changed by hand stays, and no second one is added for its event.
    pub(crate) fn with(
        &self,
        text: Option<&str>,
        entries: &[PlannedEntry],
    ) -> Result<String, String> {
        let text = text.unwrap_or_default();
        if let Some(reason) = self.ignored(text) {
            return Err(reason);
        }
        let there = self.entries(text)?;
        let (mark, text) = self.split_mark(text);
        let is_blank = text.trim().is_empty() && !self.is_toml();
        let mut text = self.without(if is_blank { "{}\n" } else { text }, None)?;
        if let Some(version) = self.layout.version {
            text = text::set_default(&text, "version", Json::Number(version.to_owned()))?;
        }
        for entry in entries {
            let is_same = |known: &&Entry| known.is_ours() && known.event == entry.native.name;
            if there.iter().filter(is_same).any(|known| known.written().is_none()) {
                continue;
            }
            if self.is_toml() {
                text = toml::append(&text, self.element(entry))?;
                continue;
            }
            let mut path = self.root.to_vec();
            path.push(match self.layout.shape {
                EntryShape::Triggers => "hooks",
                _ => entry.native.name,
            });
            text = text::append(&text, &path, self.element(entry))?;
        }
        Ok([mark, &text].concat())
    }

    /// Returns `text` without the entries. Lists and objects that were empty `before` stay, and
    /// entries that the user changed by hand.
    pub(crate) fn without(&self, text: &str, before: Option<&str>) -> Result<String, String> {
        let (mark, text) = self.split_mark(text);
        let before = self.split_mark(before.unwrap_or_default()).1;
        let ours = |command: &str| Call::of(self.agent, command).is_some();
        let left = if self.is_toml() {
            toml::remove(text, ours)?
        } else {
            text::remove(text, ours, before)?
        };
        Ok([mark, &left].concat())
    }

    fn is_toml(&self) -> bool {
        self.layout.shape == EntryShape::Tables
    }

    /// Splits a text into its byte order mark and the rest, if the agent was seen to read past such
    /// a mark.
    fn split_mark<'t>(&self, text: &'t str) -> (&'static str, &'t str) {
        const MARK: &str = "\u{feff}";
        match text.strip_prefix(MARK) {
            Some(rest) if self.layout.byte_order_mark => (MARK, rest),
            _ => ("", text),
        }
    }

    /// Returns the entries in a text, and reads past what only some agents accept.
    ///
    /// # Errors
    /// The text can't be understood.
    pub(crate) fn entries(&self, text: &str) -> Result<Vec<Entry>, String> {
        let text = self.split_mark(text).1;
        let value = if self.is_toml() { toml::value(text) } else { text::unambiguous(text, true) };
        let value = value?;
        Ok(inspect::entries(self, &value, text::commands(&value)))
    }

    /// Returns why the agent reads no hook of a text that can be understood.
    fn ignored(&self, text: &str) -> Option<String> {
        let text = self.split_mark(text).1;
        if self.is_toml() || self.layout.lenient || text::unambiguous(text, false).is_ok() {
            return None;
        }
        let _ = text::parse(text).ok()?;
        let title = self.agent.title();
        Some(format!("{title} ignores all hooks in a file with comments or trailing commas"))
    }

    /// Returns whether `text` holds nothing but what `install` adds to an empty file.
    pub(crate) fn is_bare(&self, text: &str) -> bool {
        let bare: String = text.split_whitespace().collect();
        let version = self.layout.version.map(|version| format!("{{\"version\":{version}}}"));
        bare.is_empty() || bare == "{}" || version.is_some_and(|version| bare == version)
    }

    fn is_ours(&self, command: &str) -> bool {
        let words = [" run --from ", self.agent.name(), " --event "].concat();
        command.contains(&words)
    }

    fn element(&self, entry: &PlannedEntry) -> Json {
        let decides = entry.native.is_deciding();
        let name = format!("hookexec {}", entry.native.name);
        let member = |member: &EntryMember| match member {
            EntryMember::Type => Some(("type", "command".into())),
            EntryMember::Name => Some(("name", "hookexec".into())),
            EntryMember::NameOfEvent => Some(("name", name.clone().into())),
            EntryMember::Event(key) => Some((*key, entry.native.name.into())),
            EntryMember::Command => Some(("command", entry.command.clone().into())),
            EntryMember::Seconds => Some(("timeout", entry.timeout.into())),
            EntryMember::Milliseconds => Some(("timeout", (entry.timeout * 1000).into())),
            EntryMember::OnFailure => decides.then(|| ("onFailure", "block".into())),
            EntryMember::FailClosed => decides.then(|| ("failClosed", true.into())),
            EntryMember::Strict => {
                let redacts = entry.native.event == Some(Event::PostToolUse);
                (decides || redacts).then(|| ("strict", true.into()))
            }
            _ => None,
        };
        let hook = object(self.layout.members.iter().filter_map(member));
        match self.layout.shape {
            EntryShape::Groups => object([("hooks", Json::Array(vec![hook]))]),
            EntryShape::Triggers => object([
                ("name", name.into()),
                ("trigger", entry.native.name.into()),
                ("action", hook),
                ("timeout", entry.timeout.into()),
                ("enabled", true.into()),
            ]),
            _ => hook,
        }
    }
}

fn object(members: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Returns the value of a TOML file, or of a JSON file with comments; null if it can't be read.
pub(crate) fn value_of(path: &Path) -> Value {
    value_in(path, &store::text(path))
}

/// Returns the value of the text of such a file.
fn value_in(path: &Path, text: &str) -> Value {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if path.extension().is_some_and(|it| it == "toml") {
        return toml::value(text).unwrap_or_default();
    }
    text::parse(text).ok().flatten().map(Value::from).unwrap_or_default()
}

/// Returns an agent's directory in the user's home.
pub(crate) fn user_directory(layout: &HookSettings) -> Option<PathBuf> {
    let moved = layout.directory_variable.and_then(std::env::var_os);
    match moved.filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None => Some(hookexec::home_directory()?.join(layout.directory)),
    }
}

/// Returns the events to install: all but those that fire often or twice, unless hooks are
/// configured that no other event fires.
pub(crate) fn events(agent: Agent, configured: &[Event]) -> Vec<&'static NativeEvent> {
    let mapped = || agent.events().iter().filter(|native| native.event.is_some());
    let usual: Vec<Event> = mapped()
        .filter(|native| !native.on_demand)
        .flat_map(|native| native.fires(agent))
        .collect();
    let wanted = |native: &&NativeEvent| {
        let needed = |event: &Event| configured.contains(event) && !usual.contains(event);
        !native.on_demand || native.fires(agent).iter().any(needed)
    };
    mapped().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(agent: Agent) -> Vec<PlannedEntry> {
        let entry = |native: &'static NativeEvent| PlannedEntry {
            native,
            command: format!("hookexec run --from {agent} --event {} --within 54", native.name),
            timeout: 60,
        };
        events(agent, &[]).into_iter().map(entry).collect()
    }

    #[test]
    fn every_agent_has_its_settings_and_its_entries() {
        for agent in Agent::with_settings() {
            let of = |scope| Settings::of(agent, scope, Path::new("/project"));
            let settings = of(Scope::Project).or_else(|| of(Scope::User)).unwrap();
            let text = settings.with(None, &entries(agent)).unwrap();
            let found = settings.entries(&text).unwrap();
            assert_eq!(found.len(), entries(agent).len(), "{text}");
            assert_eq!(settings.ignored(&text), None, "{text}");
            for live in found {
                assert!(live.is_live && live.odd.is_empty(), "{live:?}");
                let waits = live.timeout.is_none_or(|seconds| (seconds - 60.0).abs() < 0.1);
                assert!(waits, "{live:?}");
                let native = agent.native_event(&live.event).unwrap();
                assert!(live.fails_closed || !native.is_deciding(), "{live:?}");
                assert_eq!(Call::of(agent, &live.command).unwrap().native, native, "{live:?}");
            }
            assert_eq!(settings.with(Some(&text), &entries(agent)).unwrap(), text);
            assert!(settings.is_bare(&settings.without(&text, None).unwrap()), "{text}");
            insta::assert_snapshot!(agent.name(), text);
        }
    }

    #[test]
    fn an_event_that_fires_often_is_installed_for_hooks_that_need_it() {
        let names = |configured: &[Event]| -> Vec<&str> {
            events(Agent::Gemini, configured).iter().map(|native| native.name).collect()
        };
        assert!(!names(&[Event::PreToolUse]).contains(&"BeforeModel"));
        assert!(names(&[Event::BeforeLlmCall]).contains(&"BeforeModel"));
    }

    #[test]
    fn every_decision_before_a_tool_is_installed_once() {
        for agent in Agent::with_settings() {
            let before: Vec<_> = events(agent, &Event::all().collect::<Vec<_>>())
                .into_iter()
                .filter(|native| native.event == Some(Event::PreToolUse) && native.tool.is_none())
                .collect();
            let expected = usize::from(agent != Agent::Windsurf);
            assert_eq!(before.len(), expected, "{agent}: {before:?}");
        }
    }
}
