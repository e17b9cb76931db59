//! One adapter for each coding agent: its payload becomes an [`Input`], a verdict its answer.
//!
//! The effects of each answer were measured on the real clients; `data/events.txt` has them. [`read`]
//! turns what an agent writes into an event of ours, [`Moment`] runs the hooks of that moment,
//! [`answer`] turns the verdict into exactly that agent's dialect, and [`failure`] says what to answer
//! in the place of a missing verdict.

mod answer;
mod claude_code;
mod claude_dialect;
mod dialect;
mod dispatch;
mod fields;
mod native;
mod own_commands;
mod own_dialects;
mod payload;
mod plan;
mod read;
mod settings;
mod stops;
mod tool_kinds;
mod transcript;

use std::fmt;
use std::str::FromStr;

pub use answer::{Answer, answer, failure, failure_of};
pub use dialect::ClaudeCode;
pub use dispatch::{Moment, Subject, explain, unanswered, without_server};
pub use fields::field_names;
pub use native::{Ask, Deny, NativeEvent, Response, Rewrite};
pub use own_commands::{FOR_A_PERSON, agent_variable, is_own_program};
pub use read::{AgentInputError, NativeCall, read};
pub use settings::{
    EntryMember, EntryShape, Facts, FilePlace, HookSettings, ImportFormat, Intolerance, OffSwitch,
    OffValue, PackageMark, ProjectPlace, TrustedFolders,
};
pub use stops::limit_stops;
pub use tool_kinds::{add_tool_kinds, unknown_tool};
pub use transcript::{Found, SeenCalls, Transcript, Transcripts};

use hookexec::lifecycle::DeclaredEvents;
use hookexec::wire::JsonObject;
use hookexec::{Event, Input, Registry};
pub use hookexec_calls::tools;
use hookexec_calls::tools::Toolset;
use hookexec_files::suggest;

use answer::members;
use payload::PayloadError;
use plan::Plan;
use serde::Deserialize;

/// Registers the words of Claude Code, for hooks that were written for it.
pub fn register(registry: &mut Registry) {
    registry.register_dialect(&ClaudeCode);
}

/// Defines the agents: the name, the title, the events, what writes an answer, and further fields of the
/// adapter.
macro_rules! agents {
    ($(
        $(#[$about:meta])+
        $agent:ident = $name:literal, $title:literal, $events:path, $write:path
            $(, $field:ident: $value:expr)*;
    )+) => {
        /// A coding agent that calls hookexec at its events: by its own hook settings, or by a plugin.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Agent {
            $($(#[$about])+ $agent),+
        }

        static ADAPTERS: [Adapter; [$($name),+].len()] = [$(Adapter {
            agent: Agent::$agent,
            name: $name,
            title: $title,
            events: $events,
            write: $write,
            $($field: $value,)*
            ..Adapter::BASE
        }),+];
    };
}

agents! {
    /// Claude Code.
    ClaudeCode = "claude-code", "Claude Code", native::CLAUDE_CODE, claude_code::write,
        project: Some("CLAUDE_PROJECT_DIR");
    /// Codex CLI.
    Codex = "codex", "Codex", native::CODEX, claude_dialect::write_codex,
        starts_in_project: true;
    /// Gemini CLI.
    Gemini = "gemini", "Gemini CLI", native::GEMINI, claude_dialect::write_gemini,
        project: Some("GEMINI_PROJECT_DIR"),
        refine: claude_dialect::refine_gemini;
    /// Qwen Code, which has Gemini's tools.
    Qwen = "qwen", "Qwen Code", native::QWEN, claude_dialect::write,
        project: Some("QWEN_PROJECT_DIR"),
        refine: claude_dialect::refine_qwen;
    /// GitHub Copilot CLI.
    Copilot = "copilot", "Copilot CLI", native::COPILOT, own_dialects::write_copilot,
        project: Some("CLAUDE_PROJECT_DIR");
    /// Cursor, the editor and its command line.
    Cursor = "cursor", "Cursor", native::CURSOR, own_dialects::write_cursor,
        project: Some("CURSOR_PROJECT_DIR"),
        refine: own_dialects::refine_cursor;
    /// Droid. It has two forms of a denial; exit code 2 needs no parsing.
    Droid = "droid", "Droid", native::DROID, claude_dialect::write,
        project: Some("FACTORY_PROJECT_DIR"),
        denies_by_exit_code: true;
    /// Windsurf's Cascade.
    Windsurf = "windsurf", "Windsurf", native::WINDSURF, own_dialects::write_text,
        refine: own_dialects::refine_windsurf,
        starts_in_project: true,
        denies_by_exit_code: true;
    /// Kiro, its command line and editor.
    Kiro = "kiro", "Kiro", native::KIRO, own_dialects::write_text, denies_by_exit_code: true;
    /// OpenCode, by a plugin.
    OpenCode = "opencode", "OpenCode", native::OPENCODE, own_dialects::write_plugin;
    /// OpenClaw, by a plugin.
    OpenClaw = "openclaw", "OpenClaw", native::OPENCLAW, own_dialects::write_plugin;
    /// Kimi Code, which has Claude Code's events.
    Kimi = "kimi", "Kimi Code", native::KIMI, own_dialects::write_kimi,
        refine: own_dialects::refine_kimi,
        denies_by_exit_code: true;
    /// Mistral Vibe.
    Vibe = "vibe", "Mistral Vibe", native::VIBE, own_dialects::write_vibe,
        refine: own_dialects::refine_vibe;
    /// Kilo CLI, which grew out of OpenCode and loads its plugin.
    Kilo = "kilo", "Kilo CLI", native::OPENCODE, own_dialects::write_plugin;
    /// Pi, by an extension.
    Pi = "pi", "Pi", native::PI, own_dialects::write_plugin;
}

/// On which version of an agent its answers were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Measured {
    /// The agent's program, which prints its version with `--version`.
    pub program: &'static str,
    /// The version.
    pub version: &'static str,
}

/// Whether any hook is to run, or why the payload can't be used.
type Refined = Result<bool, PayloadError>;

/// All that is particular to one agent, but for its settings.
struct Adapter {
    agent: Agent,
    name: &'static str,
    title: &'static str,
    events: &'static [NativeEvent],
    /// The variable that holds the project's directory.
    project: Option<&'static str>,
    /// Whether it starts hooks in the project, while `cwd` may be the directory of one command.
    starts_in_project: bool,
    /// Whether exit code 2 is the denial that it heeds, with the reason on standard error.
    denies_by_exit_code: bool,
    /// Reads what only this agent says, and returns whether any hook is to run.
    refine: fn(&NativeEvent, &JsonObject, &mut Input) -> Refined,
    write: fn(&Plan<'_>) -> Answer,
}

impl Adapter {
    /// The base of every adapter.
    const BASE: Self = Self {
        agent: Agent::ClaudeCode,
        name: "",
        title: "",
        events: &[],
        project: None,
        starts_in_project: false,
        denies_by_exit_code: false,
        refine: |_, _, _| Ok(true),
        write: claude_dialect::write,
    };
}

fn adapter(agent: Agent) -> &'static Adapter {
    &ADAPTERS[agent as usize]
}

impl Agent {
    /// Returns every agent.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ADAPTERS.iter().map(|adapter| adapter.agent)
    }

    /// Returns the agent's name on the command line, such as `claude-code`.
    pub fn name(self) -> &'static str {
        adapter(self).name
    }

    /// Returns the agent's name in text, such as `Claude Code`.
    pub fn title(self) -> &'static str {
        adapter(self).title
    }

    /// Returns whether its calls say in which turn they are.
    pub fn tells_turns(self) -> bool {
        !matches!(self, Self::Gemini | Self::Copilot | Self::Droid)
    }

    /// Returns the agent's hook settings; `None` for an agent that a plugin calls hookexec for.
    pub fn settings(self) -> Option<&'static HookSettings> {
        self.facts().settings.as_ref()
    }

    /// Returns the variable that holds the project's directory, for an agent that sets one.
    pub fn project_variable(self) -> Option<&'static str> {
        adapter(self).project
    }

    /// Returns where the agent looks for its settings, or for a plugin of one file.
    pub fn place(self) -> Option<&'static FilePlace> {
        self.facts().place.as_ref()
    }

    /// Returns the text of the agent's plugin, if that is one file.
    pub fn plugin_text(self) -> Option<&'static str> {
        match self {
            Self::OpenCode | Self::Kilo => Some(include_str!("../plugins/opencode/hookexec.js")),
            Self::Pi => Some(include_str!("../plugins/pi/hookexec.ts")),
            _ => None,
        }
    }

    /// Returns whether `install` can write something for it. For the others it says what to do instead.
    pub fn is_installable(self) -> bool {
        self.place().is_some()
    }

    /// Returns the agent's events, those first that stand for an event of ours.
    pub fn events(self) -> &'static [NativeEvent] {
        adapter(self).events
    }

    /// Returns the agent's events that fire an event of ours.
    pub fn firing(self, event: Event) -> Vec<&'static NativeEvent> {
        let mut firing = Vec::from_iter(self.events());
        firing.retain(|native| native.fires(self).contains(&event));
        firing
    }

    /// Returns the agent's event of that name: its own spelling, another case of it, or ours.
    pub fn native_event(self, name: &str) -> Option<&'static NativeEvent> {
        let mut found = None;
        for row in self.events() {
            if row.name == name {
                return Some(row);
            }
            if row.name.eq_ignore_ascii_case(name)
                || row.event.is_some_and(|event| event.name() == name)
            {
                found = found.or(Some(row));
            }
        }
        found
    }

    /// Returns what is known of the agent's tools.
    pub fn toolset(self) -> Toolset {
        tools::of_agent(self.name())
    }

    /// Returns the neutral kinds of the agent's tool `name`, such as `shell` for `Bash`.
    pub fn tool_kinds(self, name: &str) -> Vec<String> {
        self.toolset().kinds(name, &JsonObject::new())
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that no agent, or no host, has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownName(String);

impl UnknownName {
    fn new(kind: &str, name: &str, known: impl IntoIterator<Item = &'static str>) -> Self {
        let hint = suggest::hint_or_list(name, known, &format!("known {kind}s:"));
        Self(format!("unknown {kind} `{name}`; {hint}"))
    }
}

impl FromStr for Agent {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if let Some(agent) = Self::all().find(|agent| agent.name() == name) {
            return Ok(agent);
        }
        Err(UnknownName::new("agent", name, Self::all().map(Self::name)))
    }
}

/// Hosts that call hooks themselves; the coding agents are in [`Agent`].
const HOSTS: [&str; 2] = ["docker-agent", "picoclaw"];

/// The stages at which PicoClaw's hooks are asked.
const PICOCLAW: [Event; 5] = [
    Event::BeforeLlmCall,
    Event::AfterLlmCall,
    Event::PreToolUse,
    Event::PermissionRequest,
    Event::PostToolUse,
];

/// Returns the names of all hosts whose events are known.
fn known_hosts() -> impl Iterator<Item = &'static str> {
    HOSTS.into_iter().chain(Agent::all().map(Agent::name))
}

/// Returns what the host of that name fires: a coding agent's name, `docker-agent` or `picoclaw`.
///
/// # Errors
/// When the host is not known.
pub fn events_of_host(name: &str) -> Result<DeclaredEvents, UnknownName> {
    match name {
        "docker-agent" => return Ok(DeclaredEvents::new("docker-agent", Event::all())),
        "picoclaw" => return Ok(DeclaredEvents::new("PicoClaw", PICOCLAW)),
        _ => {}
    }
    if let Ok(agent) = name.parse::<Agent>() {
        let events = agent.events().iter().flat_map(|native| native.fires(agent));
        return Ok(DeclaredEvents::new(agent.title(), events));
    }
    Err(UnknownName::new("host", name, known_hosts()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_enum_and_the_adapters_share_one_order() {
        for (index, adapter) in ADAPTERS.iter().enumerate() {
            assert_eq!(adapter.agent as usize, index, "{}", adapter.name);
            assert_eq!(adapter.name.parse(), Ok(adapter.agent));
        }
    }

    #[test]
    fn no_two_events_of_an_agent_share_a_name() {
        for agent in Agent::all() {
            let mut names: Vec<&str> = agent.events().iter().map(|row| row.name).collect();
            names.sort_unstable();
            let before = names.len();
            names.dedup();
            assert_eq!(names.len(), before, "{agent}");
        }
    }

    #[test]
    fn a_misspelt_agent_names_the_one_meant() {
        let error = "claude_code".parse::<Agent>().unwrap_err();
        assert_eq!(error.to_string(), "unknown agent `claude_code`; did you mean `claude-code`?");
    }

    #[test]
    fn every_known_host_declares_its_events() {
        for host in known_hosts() {
            let declared = events_of_host(host).unwrap();
            assert!(declared.fires(Event::PreToolUse), "{host}");
        }
        assert!(!events_of_host("claude-code").unwrap().fires(Event::BeforeLlmCall));
    }

    #[test]
    fn a_misspelt_host_names_the_one_meant() {
        let error = events_of_host("claude_code").unwrap_err().to_string();
        assert_eq!(error, "unknown host `claude_code`; did you mean `claude-code`?");
    }
}
