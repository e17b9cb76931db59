//! How each coding agent writes its hooks down, as far as an import has to know.

use hookexec::Event;
use hookexec_agents::{Agent, NativeEvent};

/// One agent's settings.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) agent: Agent,
    /// Whether hooks stand in groups that share a matcher.
    pub(super) groups: bool,
    pub(super) matching: Matching,
    /// How long a hook may take when it does not say, in words of hooks.yaml.
    pub(super) timeout: &'static str,
    /// Whether `timeout` counts milliseconds.
    pub(super) milliseconds: bool,
    /// The shell that runs the commands, where it is not `/bin/sh`.
    pub(super) shell: Option<&'static str>,
}

/// What a matcher of an agent means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matching {
    /// A list of names, or else an expression that is searched for.
    NamesOrSearch,
    /// An expression that is searched for.
    Search,
    /// An expression for the whole name.
    Whole,
}

const FORMATS: [Format; 6] = {
    use Matching::{NamesOrSearch, Search, Whole};
    [
        Format {
            agent: Agent::ClaudeCode,
            groups: true,
            matching: NamesOrSearch,
            timeout: "10m",
            milliseconds: false,
            shell: None,
        },
        Format {
            agent: Agent::Cursor,
            groups: false,
            matching: Search,
            timeout: "60s",
            milliseconds: false,
            shell: None,
        },
        Format {
            agent: Agent::Copilot,
            groups: false,
            matching: Whole,
            timeout: "30s",
            milliseconds: false,
            shell: Some("bash"),
        },
        Format {
            agent: Agent::Codex,
            groups: true,
            matching: NamesOrSearch,
            timeout: "10m",
            milliseconds: false,
            shell: None,
        },
        Format {
            agent: Agent::Gemini,
            groups: true,
            matching: Search,
            timeout: "60s",
            milliseconds: true,
            shell: Some("bash"),
        },
        Format {
            agent: Agent::Windsurf,
            groups: false,
            matching: Whole,
            timeout: "60s",
            milliseconds: false,
            shell: Some("bash"),
        },
    ]
};

/// What hooks of one event of an agent become here.
pub(super) struct Target {
    pub(super) event: Event,
    /// The dialect of the script, when hookexec speaks it.
    pub(super) dialect: Option<&'static str>,
    /// Whether the script reads and answers words that hookexec does not speak.
    pub(super) foreign: bool,
    /// The kinds of tools that the event is about.
    pub(super) kinds: Option<String>,
    /// Tells the event from another of the agent that stands for the same event of ours.
    pub(super) condition: Option<&'static str>,
}

impl Format {
    pub(super) fn of(agent: Agent) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.agent == agent)
    }

    /// Returns what hooks of the agent's event become, or why they can't be imported.
    pub(super) fn target(&self, native: &'static NativeEvent) -> Result<Target, String> {
        let event =
            native.event.ok_or_else(|| format!("hookexec has no event for `{}`", native.name))?;
        if let Some(reason) = self.unspeakable(native.name) {
            return Err(format!("hooks of `{}` can't be imported: {reason}", native.name));
        }
        Ok(Target {
            event,
            dialect: self.dialect(native),
            foreign: self.is_foreign(native),
            kinds: self.kinds(native, event),
            condition: self.condition(native, event),
        })
    }

    /// Returns why the scripts of an event could not read what they need.
    fn unspeakable(&self, name: &str) -> Option<&'static str> {
        match (self.agent, name) {
            (Agent::Cursor, "beforeReadFile" | "beforeTabFileRead") => {
                Some("they are given the file's content, which no other event has")
            }
            (Agent::Gemini, "BeforeModel" | "AfterModel") => {
                Some("they are given `llm_request`, which only Gemini CLI has")
            }
            _ => None,
        }
    }

    fn dialect(&self, native: &NativeEvent) -> Option<&'static str> {
        match self.agent {
            Agent::ClaudeCode => Some("claude-code"),
            // The spelling of VS Code comes with a payload like Claude Code's.
            Agent::Copilot if native.name.starts_with(char::is_uppercase) => Some("claude-code"),
            // What Codex and Gemini CLI say of a tool is what hookexec says of it, under their names.
            _ => None,
        }
    }

    /// Returns whether a script of the event would find nothing where it looks, and not be understood:
    /// a guard that runs and never denies is worse than one that is switched off.
    fn is_foreign(&self, native: &NativeEvent) -> bool {
        match self.agent {
            Agent::Cursor | Agent::Windsurf => true,
            Agent::Copilot => native.name.starts_with(char::is_lowercase),
            _ => false,
        }
    }

    /// Returns the kinds of the tools that the event's name says it is about.
    fn kinds(&self, native: &NativeEvent, event: Event) -> Option<String> {
        if !event.contract().tool_matched {
            return None;
        }
        let known = native.tool.map(|tool| self.agent.tool_kinds(tool).join("|"));
        known
            .filter(|kinds| !kinds.is_empty())
            .or_else(|| native.name.to_lowercase().contains("mcp").then(|| "mcp".to_owned()))
    }

    fn condition(&self, native: &NativeEvent, event: Event) -> Option<&'static str> {
        let other = |row: &NativeEvent| row.event == Some(event) && row.failed_tool;
        match event {
            Event::PostToolUse if native.failed_tool => Some("{ field: tool_error, equals: true }"),
            Event::PostToolUse if self.agent.events().iter().any(other) => {
                Some("{ not: { field: tool_error, equals: true } }")
            }
            Event::OnToolApprovalDecision => Some("{ field: approval_decision, equals: deny }"),
            _ => None,
        }
    }

    /// Returns what the agent takes for a denial beside exit code 2 and JSON: any other failure.
    pub(super) fn any_failure_denies(&self, event: Event) -> bool {
        event == Event::PreToolUse && self.agent == Agent::Copilot
    }
}
