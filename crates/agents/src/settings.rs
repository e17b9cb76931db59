//! Where an agent keeps its hook settings, and how it writes them.
//!
//! `install`, `doctor` and `init` read these rows, which are in `data/settings.jsonc`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::LazyLock;

use hookexec_files::directories::{base_directory, home_directory};
use serde::Deserialize;
use serde_json::Value;

use super::native::NativeEvent;
use super::{Agent, Measured, Transcripts};

/// The facts of an agent that no event needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Facts {
    /// The version that was measured; `None` for an agent of which only the documentation was read.
    pub measured: Option<Measured>,
    /// The variables that it sets for the commands that a model runs, beside that of the project's directory.
    #[serde(default)]
    pub variables: Vec<&'static str>,
    /// How to see that the agent's own package of hookexec, from `plugins/`, is installed.
    pub package: Option<PackageMark>,
    /// The switches that turn its hooks or its plugin off.
    #[serde(default)]
    pub off_switches: Vec<OffSwitch>,
    /// Its transcripts, if they can be read.
    pub transcripts: Option<Transcripts>,
    /// Where it looks for its settings, or for a plugin of one file.
    pub place: Option<FilePlace>,
    /// Its hook settings; `None` for an agent that a plugin calls hookexec for.
    pub settings: Option<HookSettings>,
    /// The directory of its plugin in hookexec's repository, for an agent that has no settings for hooks.
    pub plugin: Option<&'static str>,
}

impl Agent {
    /// Returns the facts of an agent.
    pub fn facts(self) -> &'static Facts {
        static TEXT: LazyLock<String> = LazyLock::new(|| {
            let mut lines: Vec<&str> = include_str!("../data/settings.jsonc").lines().collect();
            lines.retain(|line| !line.trim_start().starts_with("//"));
            lines.concat()
        });
        #[expect(clippy::expect_used, reason = "the tests of each agent read its row")]
        static ROWS: LazyLock<BTreeMap<&str, Facts>> =
            LazyLock::new(|| serde_json::from_str(&TEXT).expect("`data/settings.jsonc` is valid"));
        &ROWS[self.name()]
    }
}

/// Where an agent looks for a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FilePlace {
    /// Whether the agent's directory is in the user's directory of settings, and not in their home.
    #[serde(default)]
    is_in_config: bool,
    /// The agent's directory there.
    directory: &'static str,
    /// The variable that moves this directory.
    directory_variable: Option<&'static str>,
    /// The variable that names another home directory to the agent.
    home_variable: Option<&'static str>,
    /// The file in this directory.
    pub file: &'static str,
    /// The directory and the file in a project; `None` if they have the same names there.
    project: Option<(&'static str, &'static str)>,
}

impl FilePlace {
    /// Returns the agent's directory for the user.
    pub fn user_directory(&self) -> Option<PathBuf> {
        if let Some(directory) = named_by(self.directory_variable) {
            return Some(directory);
        }
        let above = if self.is_in_config {
            base_directory("XDG_CONFIG_HOME", ".config")?
        } else {
            named_by(self.home_variable).or_else(home_directory)?
        };
        Some(above.join(self.directory))
    }

    /// Returns the directory in a project, and the file in it.
    pub fn in_project(&self) -> (&'static str, &'static str) {
        self.project.unwrap_or((self.directory, self.file))
    }
}

/// The hook settings of an agent.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HookSettings {
    /// Whether the agent reads hooks of the user only, and none of a project.
    pub only_of_user: bool,
    /// Where in a repository the agent looks for the project's file.
    pub project_place: ProjectPlace,
    /// A file beside the settings that the agent ignores once these exist, with its hooks under `hooks`.
    pub older_file: Option<&'static str>,
    /// The files that may turn hooks off as well, from the directory of the settings. Those of a project count
    /// from the working directory up to the repository's root. A path with `..` is of a project only.
    pub switch_files: Vec<&'static str>,
    /// The keys that lead to the events.
    pub root: Vec<&'static str>,
    /// How entries are arranged.
    pub shape: EntryShape,
    /// The members of one hook, in order.
    pub members: Vec<EntryMember>,
    /// Whether the agent silently reads no hook of a file with comments or trailing commas. Others read
    /// these, as far as they were measured.
    pub without_comments: bool,
    /// The effect that an entry which the agent can't read has on the file.
    pub intolerance: Intolerance,
    /// The `version` that the file must have.
    pub version: Option<Value>,
    /// Where the agent keeps the folders that its user trusts, if it runs the hooks of no other
    /// project and the file is known.
    pub trusted_folders: Option<TrustedFolders>,
    /// Whether a later hook that allows overrides the denial of an earlier one.
    pub last_hook_wins: bool,
    /// The files of the machine's administrator, whose switches count for everyone. A directory
    /// stands for the JSON files in it, and `$NAME` for the file that this variable names.
    pub managed_files: Vec<&'static str>,
    /// Events at which the agent waits only this many seconds, whatever the entry says.
    pub short_waits: Vec<(&'static str, u64)>,
    /// The longest `timeout` in seconds that an entry may have, if there is one.
    pub longest_wait: Option<u64>,
    /// The next step of the user after installing.
    pub next_step: &'static str,
    /// How to import hooks from these settings.
    pub import: Option<ImportFormat>,
}

/// The directories of a repository in which an agent looks for a project's file, each measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProjectPlace {
    /// The working directory. So it is for agents that were not measured.
    #[default]
    WorkingDirectory,
    /// This one, and those above it up to the repository's root.
    EveryDirectory,
    /// The repository's root.
    Root,
}

/// The mistakes in one entry for which an agent reads no hook beside it, each measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Intolerance {
    /// None: it reads the other entries. So it is for agents that were not measured.
    #[default]
    None,
    /// A `matcher` that is not a text: no hook of that event is read.
    Matchers,
    /// A member of another kind, or a hook without its command.
    Members,
    /// These, and a group without a list of hooks.
    Entries,
}

/// A setting that turns hooks off.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OffSwitch {
    /// The keys that lead to it.
    #[serde(borrow)]
    pub keys: Vec<&'static str>,
    /// Which of its values do.
    pub off: OffValue,
    /// The name of the only file in which it counts, if there is one.
    pub file: Option<&'static str>,
}

/// The values of a setting that turn hooks off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OffValue {
    /// This value turns every hook off, and so may any other than the opposite one: agents take texts
    /// and numbers for a switch.
    Is(bool),
    /// A variable, of the process or in the user's settings, turns every hook off unless it is empty,
    /// `0`, `false`, `no` or `off`.
    Variable,
    /// Every value but an object turns all hooks off.
    NoObject,
    /// A list that names `hookexec` turns its hooks off.
    NamesUs,
    /// A list that does not name `hookexec` turns its plugin off.
    LacksUs,
    /// A list with a pattern that excludes the file of the plugin.
    Excludes,
    /// In a file of the administrator, `true` or a list that names `hooks` leaves no hook but the
    /// administrator's.
    ManagedOnly,
}

impl fmt::Display for OffSwitch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys.join(".");
        match self.off {
            OffValue::Is(value) => write!(formatter, "`{keys}: {value}`")?,
            OffValue::Variable => write!(formatter, "the variable `{}`", self.name())?,
            OffValue::NoObject => write!(formatter, "`{keys}` that is not an object")?,
            OffValue::NamesUs => write!(formatter, "`{keys}` with `hookexec`")?,
            OffValue::LacksUs => write!(formatter, "`{keys}` without `hookexec`")?,
            OffValue::Excludes => write!(formatter, "`{keys}` with a pattern that excludes it")?,
            OffValue::ManagedOnly => write!(formatter, "the administrator's `{keys}`")?,
        }
        match self.file {
            Some(file) => write!(formatter, " in `{file}`"),
            None => Ok(()),
        }
    }
}

impl OffSwitch {
    /// Returns the last of its keys.
    pub fn name(&self) -> &'static str {
        self.keys.last().copied().unwrap_or_default()
    }
}

/// The folders in which an agent runs the hooks of a project.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrustedFolders {
    /// The file in the agent's directory, and the keys that the list in it may have.
    pub list: (&'static str, Vec<&'static str>),
    /// The variable that makes the agent run them in every folder if it is `true`.
    pub variable: &'static str,
    /// The program that runs no hooks elsewhere.
    pub program: &'static str,
}

/// The sign that an agent's own package of hookexec is installed: a file beside the settings or the
/// plugin, or in the home directory for a plugin of more than one file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PackageMark {
    /// The file.
    pub file: &'static str,
    /// The keys that lead to the plugins or packages, one of which must be hookexec; none if the file is
    /// enough.
    #[serde(default)]
    pub keys: Vec<&'static str>,
}

/// How an agent arranges the entries of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryShape {
    /// For each event a list of groups, each with a matcher and a list of hooks.
    #[default]
    Groups,
    /// For each event a list of hooks.
    List,
    /// One list of hooks, each with its event.
    Triggers,
    /// The list `hooks` of a TOML file, each hook with its event: `[[hooks]]`.
    Tables,
}

/// A member of a hook's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryMember {
    /// `"type": "command"`.
    Type,
    /// `"name": "hookexec"`.
    Name,
    /// `"name": "hookexec EVENT"`, for agents that want another name for each hook.
    NameOfEvent,
    /// The event, under this key.
    Event(&'static str),
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
    /// `"strict": true` on events that decide, and on the one whose denial withholds a response.
    Strict,
}

impl HookSettings {
    /// Returns the key that holds the event of a hook, where it is a member of the hook.
    pub fn event_key(&self) -> Option<&'static str> {
        for member in &self.members {
            if let EntryMember::Event(key) = member {
                return Some(key);
            }
        }
        None
    }

    /// Returns whether the agent takes one entry for each name.
    pub fn names_events(&self) -> bool {
        self.members.contains(&EntryMember::NameOfEvent)
    }

    /// Returns whether `timeout` counts milliseconds.
    pub fn counts_milliseconds(&self) -> bool {
        self.members.contains(&EntryMember::Milliseconds)
    }
}

/// Returns the path in a variable, if it is set.
fn named_by(variable: Option<&str>) -> Option<PathBuf> {
    let path = std::env::var_os(variable?)?;
    if path.is_empty() { None } else { Some(path.into()) }
}

/// Facts about an agent's hooks that `init --from` needs beyond their settings file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ImportFormat {
    /// Whether each matcher is an expression that is searched for, also a list of names.
    pub searches: bool,
    /// How long a hook may take without a `timeout`, as `hooks.yaml` has it.
    pub timeout: &'static str,
    /// How many seconds a hook of the user's prompt may take without a `timeout`, where that differs.
    pub prompt_timeout: Option<u64>,
    /// The shell that runs the commands, where it is not `/bin/sh`.
    pub shell: Option<&'static str>,
    /// Whether the scripts read and answer the words of Claude Code. Other scripts read hookexec's own
    /// input, with the agent's names for tools. An agent whose words hookexec does not speak has no such
    /// format: its guards would run here and never deny.
    pub speaks_claude: bool,
    /// The events whose scripts read hookexec's own input all the same.
    pub own_events: Vec<&'static str>,
    /// The tools whose scripts do.
    pub own_tools: Vec<&'static str>,
    /// Events whose hooks can't be imported, and why.
    pub not_importable: Vec<(&'static str, &'static str)>,
}

impl ImportFormat {
    /// Returns whether the scripts of an event, with a matcher, read and answer the words of Claude Code.
    pub fn speaks_claude(&self, native: &NativeEvent, matcher: &str) -> bool {
        let is_own = self.own_events.contains(&native.name)
            || self.own_tools.iter().any(|tool| matcher.contains(tool));
        self.speaks_claude && !is_own
    }
}
