//! The settings files of each coding agent, and the entries that `install` writes to them.

pub mod backup;
pub mod call;
pub mod edit;
pub mod entry;
pub mod inspect;
pub mod store;
pub(crate) mod text;
pub(crate) mod toml;

use std::path::{Path, PathBuf};

use hookexec::Event;
use hookexec::wire::WireError;
use hookexec_agents::{Agent, NativeEvent};
use hookexec_files::paths::lexical;
use serde_json::Value;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The settings of the user, for every project.
    User,
    /// The settings of the project, for everybody who works on it.
    Project,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(if *self == Self::User { "user" } else { "project" })
    }
}

/// Why a settings file can't be read or edited.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The system refuses.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// Some agents can't read it.
    #[error("it begins with a byte order mark (BOM): save it as UTF-8 without one")]
    ByteOrderMark,
    /// It is not JSON, or a key stands twice in it.
    #[error("it is not valid JSON: {0}")]
    Json(#[from] WireError),
    /// It is not JSON.
    #[error("it is not valid JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    /// It is not JSON with comments.
    #[error("it is not valid JSON: {0}")]
    Jsonc(#[from] jsonc_parser::errors::ParseError),
    /// It is not TOML.
    #[error("it is not valid TOML: {0}")]
    Toml(#[from] toml_edit::TomlError),
    /// The agent takes JSON without comments alone.
    #[error("{0} ignores all hooks in a file with comments or trailing commas")]
    Comments(&'static str),
    /// The agent can't read an entry, and then takes none beside it.
    #[error("{0}; mend or remove it")]
    Entry(String),
    /// It is another kind of JSON.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A key has another value than one of this kind.
    #[error("`{0}` is not {1}")]
    OtherKind(String, &'static str),
}

/// Returns the value of a TOML file, or of a JSON file with comments; null if it can't be read.
///
/// If a key appears twice in JSON, its last value counts.
pub fn value_of(path: &Path) -> Value {
    let text = store::text(path);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if path.extension() == Some("toml".as_ref()) {
        return toml::value(text).unwrap_or_default();
    }
    let json = text::plain_json(text).unwrap_or_default();
    serde_json::from_str(&json).unwrap_or_default()
}

/// Returns the value that `keys` lead to; null if there is none.
pub(crate) fn value_at<'v>(value: &'v Value, keys: &[&str]) -> &'v Value {
    keys.iter().fold(value, |value, key| &value[key])
}

/// Returns the path `name`, from the directory of `file`.
pub(crate) fn beside(file: &Path, name: &str) -> PathBuf {
    lexical(&file.with_file_name(name))
}

/// Returns the events to install: all but those that fire often or twice, unless hooks are
/// configured that no other event fires.
pub fn events(agent: Agent, configured: &[Event]) -> Vec<&'static NativeEvent> {
    let mut usual = Vec::new();
    for native in agent.events() {
        if !native.on_demand {
            usual.extend(native.fires(agent));
        }
    }
    let mut events = Vec::new();
    for native in agent.events() {
        let mut fires = native.fires(agent);
        fires.retain(|event| configured.contains(event) && !usual.contains(event));
        let is_wanted = !native.on_demand || !fires.is_empty();
        if native.event.is_some() && is_wanted {
            events.push(native);
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::call::CallOptions;
    use super::edit::PlannedEntry;
    use super::inspect::AgentFile;
    use super::*;
    use crate::settings::edit::planned;

    fn entries(agent: Agent) -> Vec<PlannedEntry> {
        let options = CallOptions { program: "hookexec".to_owned(), ..CallOptions::default() };
        planned(agent, &options, 60, &[])
    }

    #[test]
    fn every_agent_has_its_settings_and_its_entries() {
        for agent in Agent::all().filter(|agent| agent.settings().is_some()) {
            let of = |scope| AgentFile::inspect(agent, scope, Path::new("/project"));
            let settings = of(Scope::Project).or_else(|| of(Scope::User)).unwrap();
            let text = settings.with("", &entries(agent)).unwrap();
            let found = settings.read_entries(&text).unwrap();
            assert_eq!(found.len(), entries(agent).len(), "{text}");
            for (live, planned) in found.iter().zip(entries(agent)) {
                assert_eq!(live.call.as_ref().unwrap().command(), live.command);
                let waits = live.timeout.is_none_or(|seconds| seconds <= 60.0);
                assert!(waits && found.iter().any(|live| live.event == planned.native.name));
            }
            assert_eq!(settings.with(&text, &entries(agent)).unwrap(), text);
            assert!(settings.is_bare(&settings.without(&text).unwrap()), "{text}");
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
        for agent in Agent::all().filter(|agent| agent.settings().is_some()) {
            let before: Vec<_> = events(agent, &Event::all().collect::<Vec<_>>())
                .into_iter()
                .filter(|native| native.event == Some(Event::PreToolUse) && native.tool.is_none())
                .collect();
            let expected = usize::from(agent != Agent::Windsurf);
            assert_eq!(before.len(), expected, "{agent}: {before:?}");
        }
    }
}
