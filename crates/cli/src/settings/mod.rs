//! The settings files of each coding agent, and the entries that `install` writes to them.

pub(crate) mod backup;
pub(crate) mod call;
pub(crate) mod edit;
pub(crate) mod entry;
pub(crate) mod inspect;
pub(crate) mod package;
pub(crate) mod store;
pub(crate) mod text;
pub(crate) mod toml;

use std::path::{Path, PathBuf};

use hookexec::Event;
use hookexec_agents::{Agent, HookSettings, NativeEvent};
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

/// Returns the value of a TOML file, or of a JSON file with comments; null if it can't be read.
pub(crate) fn value_of(path: &Path) -> Value {
    let text = store::text(path);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if path.extension().is_some_and(|extension| extension == "toml") {
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
    let mut events: Vec<&NativeEvent> = mapped().collect();
    events.retain(|native| {
        let fires = native.fires(agent);
        let needed = |event: &Event| configured.contains(event) && !usual.contains(event);
        !native.on_demand || fires.iter().any(needed)
    });
    events
}
#[cfg(test)]
mod tests {
    use super::call::Call;
    use super::edit::PlannedEntry;
    use super::inspect::AgentFile;
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
            let of = |scope| AgentFile::inspect(agent, scope, Path::new("/project"));
            let settings = of(Scope::Project).or_else(|| of(Scope::User)).unwrap();
            let text = settings.with("", &entries(agent)).unwrap();
            let found = settings.read_entries(&text).unwrap();
            assert_eq!(found.len(), entries(agent).len(), "{text}");
            for live in found {
                assert!(live.differences.is_empty(), "{live:?}");
                let waits = live.timeout.is_none_or(|seconds| (seconds - 60.0).abs() < 0.1);
                assert!(waits, "{live:?}");
                let native = agent.native_event(&live.event).unwrap();
                assert_eq!(Call::of(agent, &live.command).unwrap().native, native, "{live:?}");
            }
            assert_eq!(settings.with(&text, &entries(agent)).unwrap(), text);
            assert!(settings.is_bare(&settings.without(&text, "").unwrap()), "{text}");
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
