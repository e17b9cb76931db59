//! The settings files of each coding agent, and the entries that `install` writes to them.

pub(crate) mod backup;
pub(crate) mod call;
pub(crate) mod live;
pub(crate) mod plugin;
pub(crate) mod store;
pub(crate) mod text;

use std::path::{Path, PathBuf};

use hookexec::Event;
use hookexec::agents::{Agent, NativeEvent};

use call::Call;
use jsonc_parser::cst::CstInputValue as Json;
use live::Live;
use text::EditError;

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

/// How an agent writes its hooks down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Groups with a matcher, each with a list of hooks; the members of one hook.
    Groups(&'static [Member]),
    /// A list of hooks for each event.
    List(&'static [Member]),
    /// One list of hooks, each with its event.
    Triggers,
}

/// A member of a hook's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    /// `"type": "command"`.
    Type,
    /// `"name": "hookexec"`.
    Name,
    /// `"command"`.
    Command,
    /// `"timeout"` in seconds.
    Seconds,
    /// `"timeout"` in milliseconds.
    Milliseconds,
    /// `"failClosed"` on events that decide.
    FailClosed,
    /// `"onFailure": "block"` on events that decide.
    OnFailure,
}

/// One agent's settings.
struct Layout {
    agent: Agent,
    /// The variable that moves the agent's directory, and where it is without.
    directory: (Option<&'static str>, &'static str),
    /// The file in that directory.
    file: &'static str,
    /// The file in a project.
    project: &'static str,
    /// The keys that lead to the events.
    root: &'static [&'static str],
    shape: Shape,
    /// Whether the agent reads comments and trailing commas (true for agents that were never measured). Other
    /// agents silently read no hook of such a file.
    lenient: bool,
    /// The version that the file must name.
    version: Option<Version>,
    /// What the user does next.
    then: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Version {
    Number(u64),
    Text(&'static str),
}

static LAYOUTS: [Layout; 9] = {
    use Member::{Command, FailClosed, Milliseconds, Name, OnFailure, Seconds, Type};
    const CLAUDE: Shape = Shape::Groups(&[Type, Command, Seconds]);
    [
        Layout {
            agent: Agent::ClaudeCode,
            directory: (Some("CLAUDE_CONFIG_DIR"), ".claude"),
            file: "settings.json",
            project: ".claude/settings.json",
            root: &["hooks"],
            // Versions before 2.1.295 ignore `onFailure`.
            shape: Shape::Groups(&[Type, Command, Seconds, OnFailure]),
            lenient: false,
            version: None,
            then: "Claude Code reads the change at once; `/hooks` shows it.",
        },
        Layout {
            agent: Agent::Codex,
            directory: (Some("CODEX_HOME"), ".codex"),
            file: "hooks.json",
            project: ".codex/hooks.json",
            root: &["hooks"],
            shape: CLAUDE,
            lenient: false,
            version: None,
            then: "NOT ACTIVE YET: start `codex` and approve the hooks in `/hooks`. Until then Codex skips \
                   them silently, also in `codex exec`.",
        },
        Layout {
            agent: Agent::Gemini,
            directory: (None, ".gemini"),
            file: "settings.json",
            project: ".gemini/settings.json",
            root: &["hooks"],
            shape: Shape::Groups(&[Type, Name, Command, Milliseconds]),
            lenient: true,
            version: None,
            then: "Restart Gemini CLI. In a project its hooks run only when the folder is trusted.",
        },
        Layout {
            agent: Agent::Qwen,
            directory: (None, ".qwen"),
            file: "settings.json",
            project: ".qwen/settings.json",
            root: &["hooks"],
            shape: Shape::Groups(&[Type, Name, Command, Seconds]),
            lenient: true,
            version: None,
            then: "Restart Qwen Code. The last hook of the settings wins there: keep hookexec last.",
        },
        Layout {
            agent: Agent::Copilot,
            directory: (Some("COPILOT_HOME"), ".copilot"),
            file: "hooks/hookexec.json",
            project: ".github/hooks/hookexec.json",
            root: &["hooks"],
            shape: Shape::List(&[Type, Command, Seconds]),
            lenient: false,
            version: Some(Version::Number(1)),
            then: "Restart Copilot CLI. In a project its hooks run only when the folder is trusted.",
        },
        Layout {
            agent: Agent::Cursor,
            directory: (None, ".cursor"),
            file: "hooks.json",
            project: ".cursor/hooks.json",
            root: &["hooks"],
            shape: Shape::List(&[Command, Seconds, FailClosed]),
            lenient: true,
            version: Some(Version::Number(1)),
            then: "Cursor reads the change at once. With `-p` it fires no prompt and no stop event.",
        },
        Layout {
            agent: Agent::Droid,
            directory: (None, ".factory"),
            file: "hooks.json",
            project: ".factory/hooks.json",
            root: &[],
            shape: CLAUDE,
            lenient: true,
            version: None,
            then: "Restart Droid and review the hooks in `/hooks`.",
        },
        Layout {
            agent: Agent::Windsurf,
            directory: (None, ".codeium/windsurf"),
            file: "hooks.json",
            project: ".windsurf/hooks.json",
            root: &["hooks"],
            shape: Shape::List(&[Command]),
            lenient: true,
            version: None,
            then: "Restart Windsurf.",
        },
        Layout {
            agent: Agent::Kiro,
            directory: (None, ".kiro"),
            file: "hooks/hookexec.json",
            project: ".kiro/hooks/hookexec.json",
            root: &[],
            shape: Shape::Triggers,
            lenient: true,
            version: Some(Version::Text("v1")),
            then: "Kiro reads the change at once. Agents with a file of their own have hooks of their own: \
                   add the same commands there.",
        },
    ]
};

/// The settings of one agent in one scope.
pub(crate) struct Settings {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    root: &'static [&'static str],
    layout: &'static Layout,
}

/// The entry for one event.
pub(crate) struct Entry {
    pub(crate) native: &'static NativeEvent,
    /// The program and its arguments, for a shell.
    pub(crate) command: String,
    /// How long the agent waits, in seconds.
    pub(crate) timeout: u64,
}

impl Settings {
    /// Returns where `agent` keeps its hooks, or `None` without a home directory.
    pub(crate) fn of(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        let layout = LAYOUTS.iter().find(|layout| layout.agent == agent)?;
        let path = match scope {
            Scope::Project => project.join(layout.project),
            Scope::User => directory(layout)?.join(layout.file),
        };
        let mut settings = Self { agent, path, root: layout.root, layout };
        // Droid reads hooks from settings.json only if there is no hooks.json: a new hooks.json would switch
        // them off.
        if agent == Agent::Droid && !settings.path.exists() {
            let other = settings.path.with_file_name("settings.json");
            let text = store::read(&other).ok().flatten().unwrap_or_default();
            if text::has(&text, "hooks") {
                settings.path = other;
                settings.root = &["hooks"];
            }
        }
        Some(settings)
    }

    /// Returns whether the agent seems to be used here: its directory is there.
    pub(crate) fn is_found(&self) -> bool {
        directory(self.layout).is_some_and(|directory| directory.is_dir()) || self.path.exists()
    }

    /// Returns what the user does after installing.
    pub(crate) fn then(&self) -> &'static str {
        self.layout.then
    }

    /// Returns `text` with the entries in it, and without those of an earlier installation. An entry that the
    /// user changed by hand stays, and no second one is added for its event.
    pub(crate) fn with(&self, text: Option<&str>, entries: &[Entry]) -> Result<String, EditError> {
        let text = text.unwrap_or_default();
        let by_hand = self.by_hand(text)?;
        let (mark, text) = self.split_mark(text);
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let mut text = self.without(text, None)?;
        match self.layout.version {
            Some(Version::Number(number)) => {
                text = text::set_default(&text, "version", number.into())?;
            }
            Some(Version::Text(version)) => {
                text = text::set_default(&text, "version", version.into())?;
            }
            None => {}
        }
        for entry in entries {
            if by_hand.iter().any(|live| live.event == entry.native.name) {
                continue;
            }
            let mut path = self.root.to_vec();
            path.push(match self.layout.shape {
                Shape::Triggers => "hooks",
                _ => entry.native.name,
            });
            text = text::append(&text, &path, self.element(entry))?;
        }
        Ok([mark, &text].concat())
    }

    /// Returns `text` without the entries. Lists and objects that were empty `before` stay, and entries that
    /// the user changed by hand.
    pub(crate) fn without(&self, text: &str, before: Option<&str>) -> Result<String, EditError> {
        let (mark, text) = self.split_mark(text);
        let before = self.split_mark(before.unwrap_or_default()).1;
        let left = text::remove(text, |command| Call::of(self.agent, command).is_some(), before)?;
        Ok([mark, &left].concat())
    }

    /// Splits a text into its byte order mark and the rest, if the agent was seen to read past such a mark.
    fn split_mark<'t>(&self, text: &'t str) -> (&'static str, &'t str) {
        const MARK: &str = "\u{feff}";
        match text.strip_prefix(MARK) {
            Some(rest) if matches!(self.agent, Agent::ClaudeCode | Agent::Qwen) => (MARK, rest),
            _ => ("", text),
        }
    }

    /// Returns the entries that call hookexec where the agent looks for hooks.
    ///
    /// # Errors
    /// When the agent can't read the text.
    pub(crate) fn live(&self, text: &str) -> Result<Vec<Live>, EditError> {
        let (_, text) = self.split_mark(text);
        let tree = text::parse_with(text, self.layout.lenient).map_err(|error| {
            let strict = !self.layout.lenient && text::parse(text).is_ok();
            let why = format!(
                "{} ignores all hooks in a file with comments or trailing commas",
                self.agent.title()
            );
            if strict { EditError(why) } else { error }
        })?;
        let Some(tree) = tree else { return Ok(Vec::new()) };
        live::entries(self.layout, self.root, text, &tree, &|command| self.is_ours(command))
    }

    /// Returns the entries that call hookexec, but are not as `install` writes them.
    pub(crate) fn by_hand(&self, text: &str) -> Result<Vec<Live>, EditError> {
        let mut live = self.live(text)?;
        live.retain(|live| Call::of(self.agent, &live.command).is_none());
        Ok(live)
    }

    /// Returns the commands in `text` that are hookexec's.
    pub(crate) fn installed(&self, text: &str) -> Result<Vec<String>, EditError> {
        text::commands(self.split_mark(text).1, |command| self.is_ours(command))
    }

    /// Returns the switch in `text` that turns hooks off, if one does.
    pub(crate) fn switched_off(&self, text: &str) -> Option<&'static str> {
        let (_, text) = self.split_mark(text);
        // Qwen Code has `hooksConfig.enabled` from Gemini CLI, and ignores it.
        let gemini = self.agent == Agent::Gemini;
        if gemini && text::switch_is(text, &["hooksConfig", "enabled"], false) {
            return Some("hooksConfig.enabled: false");
        }
        // What `/hooks disable hookexec` writes; the entries have that name.
        let disabled = || text::strings(text, &["hooksConfig", "disabled"]);
        if gemini && disabled().iter().any(|name| name == "hookexec") {
            return Some("hooksConfig.disabled: [\"hookexec\"]");
        }
        text::switch_is(text, &["disableAllHooks"], true).then_some("disableAllHooks: true")
    }

    /// Returns the agent's directory in the user's home.
    pub(crate) fn user_directory(&self) -> Option<PathBuf> {
        directory(self.layout)
    }

    /// Returns whether `text` holds nothing but what `install` adds to an empty file.
    pub(crate) fn is_bare(text: &str) -> bool {
        let bare: String = text.split_whitespace().collect();
        ["{}", r#"{"version":1}"#, r#"{"version":"v1"}"#].contains(&bare.as_str())
    }

    fn is_ours(&self, command: &str) -> bool {
        let words = [" run --from ", self.agent.name(), " --event "].concat();
        command.contains(&words)
    }

    fn element(&self, entry: &Entry) -> Json {
        let decides = entry.native.is_deciding();
        let hook = |members: &[Member]| {
            let member = |member: &Member| match member {
                Member::Type => Some(("type", "command".into())),
                Member::Name => Some(("name", "hookexec".into())),
                Member::Command => Some(("command", entry.command.clone().into())),
                Member::Seconds => Some(("timeout", entry.timeout.into())),
                Member::Milliseconds => Some(("timeout", (entry.timeout * 1000).into())),
                Member::OnFailure => decides.then(|| ("onFailure", "block".into())),
                Member::FailClosed => decides.then(|| ("failClosed", true.into())),
            };
            object(members.iter().filter_map(member))
        };
        match self.layout.shape {
            Shape::Groups(members) => object([("hooks", Json::Array(vec![hook(members)]))]),
            Shape::List(members) => hook(members),
            Shape::Triggers => object([
                ("name", format!("hookexec {}", entry.native.name).into()),
                ("trigger", entry.native.name.into()),
                ("action", hook(&[Member::Type, Member::Command])),
                ("timeout", entry.timeout.into()),
                ("enabled", true.into()),
            ]),
        }
    }
}

fn object(members: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn directory(layout: &Layout) -> Option<PathBuf> {
    let (variable, default) = layout.directory;
    let moved = variable.and_then(std::env::var_os).filter(|path| !path.is_empty());
    moved.map_or_else(
        || Some(hookexec::config::home_directory()?.join(default)),
        |path| Some(path.into()),
    )
}

/// Returns the events to install: all but those that fire often or twice, unless hooks are configured that no
/// other event fires.
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

    fn entries(agent: Agent) -> Vec<Entry> {
        let entry = |native: &'static NativeEvent| Entry {
            native,
            command: format!("hookexec run --from {agent} --event {} --within 54", native.name),
            timeout: 60,
        };
        events(agent, &[]).into_iter().map(entry).collect()
    }

    #[test]
    fn every_agent_has_its_settings_and_its_entries() {
        for agent in Agent::with_settings() {
            let settings = Settings::of(agent, Scope::Project, Path::new("/project")).unwrap();
            let text = settings.with(None, &entries(agent)).unwrap();
            assert_eq!(settings.installed(&text).unwrap().len(), entries(agent).len(), "{text}");
            let live = settings.live(&text).unwrap();
            assert_eq!(live.len(), entries(agent).len(), "{text}");
            for live in live {
                assert!(
                    live.odd.is_empty()
                        && live.timeout.is_none_or(|seconds| (seconds - 60.0).abs() < 0.1),
                    "{live:?}"
                );
                let native = agent.native_event(&live.event).unwrap();
                assert!(live.fails_closed || !native.is_deciding(), "{live:?}");
                assert_eq!(Call::of(agent, &live.command).unwrap().native, native, "{live:?}");
            }
            assert_eq!(settings.with(Some(&text), &entries(agent)).unwrap(), text);
            assert!(Settings::is_bare(&settings.without(&text, None).unwrap()), "{text}");
            insta::assert_snapshot!(agent.name(), text);
        }
    }

    #[test]
    fn an_event_that_fires_often_is_installed_for_those_who_ask_for_it() {
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
