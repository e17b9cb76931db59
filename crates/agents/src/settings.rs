//! Where an agent keeps its hook settings, and how it writes them.
//!
//! `install`, `doctor` and `init` read these rows; each agent's file has its own.

use super::native::NativeEvent;

/// The hook settings of an agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct HookSettings {
    /// The agent's directory in the user's home directory.
    pub directory: &'static str,
    /// The variable that moves this directory.
    pub directory_variable: Option<&'static str>,
    /// The file in this directory.
    pub file: &'static str,
    /// The directory and the file in a project; `None` if they have the same names there.
    pub project: Option<(&'static str, &'static str)>,
    /// Whether the agent reads hooks of the user only, and none of a project.
    pub only_of_user: bool,
    /// A file beside `file` that the agent ignores once `file` exists, with its hooks under
    /// `hooks`.
    pub older_file: Option<&'static str>,
    /// A file beside the project's that may turn hooks off as well.
    pub local_file: Option<&'static str>,
    /// A file beside `file` that may turn hooks off as well.
    pub config_file: Option<&'static str>,
    /// The keys that lead to the events.
    pub root: &'static [&'static str],
    /// How entries are arranged.
    pub shape: EntryShape,
    /// The members of one hook, in order.
    pub members: &'static [EntryMember],
    /// Whether the agent reads comments and trailing commas (true for agents that were not
    /// measured). Other agents silently read no hook of such a file.
    pub lenient: bool,
    /// The `version` that the file must have, as JSON.
    pub version: Option<&'static str>,
    /// The switches that turn all hooks off, each with the value that does.
    pub off_switches: &'static [(&'static [&'static str], bool)],
    /// The list of the names of disabled hooks.
    pub disabled_names: Option<&'static [&'static str]>,
    /// The files of the machine's administrator, whose switches count for everyone. A directory
    /// stands for the JSON files in it.
    pub managed_files: &'static [&'static str],
    /// The switches that leave no hook but the administrator's, if they stand in such a file: `true`,
    /// or a list that names `hooks`.
    pub managed_only: &'static [&'static str],
    /// How to see that the agent's own package of hookexec, from `plugins/`, is installed.
    pub package: Option<PackageMark>,
    /// Events at which the agent waits only this many seconds, whatever the entry says.
    pub short_waits: &'static [(&'static str, u64)],
    /// The longest `timeout` in seconds that an entry may have.
    pub longest_wait: u64,
    /// What the user does after installing.
    pub next_step: &'static str,
    /// How to import hooks from these settings.
    pub import: Option<ImportFormat>,
}

/// What shows that an agent's own package of hookexec is installed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum PackageMark {
    /// In a settings file, under this key, a member `hookexec@MARKETPLACE` that is `true`.
    Enabled(&'static str),
    /// In this TOML file of the agent's directory, a table `plugins."hookexec@MARKETPLACE"` with
    /// `enabled = true`.
    EnabledTable(&'static str),
    /// This file in the agent's directory.
    File(&'static str),
}

/// How an agent arranges the entries of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryShape {
    /// For each event a list of groups, each with a matcher and a list of hooks.
    Groups,
    /// For each event a list of hooks.
    List,
    /// One list of hooks, each with its event.
    Triggers,
    /// The list `hooks` of a TOML file, each hook with its event: `[[hooks]]`.
    Tables,
}

/// A member of a hook's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Groups of hooks in a file that the agent may read with comments.
    pub(super) const GROUPS: Self = Self {
        directory: "",
        directory_variable: None,
        file: "settings.json",
        project: None,
        only_of_user: false,
        older_file: None,
        local_file: None,
        config_file: None,
        root: &["hooks"],
        shape: EntryShape::Groups,
        members: &[EntryMember::Type, EntryMember::Command, EntryMember::Seconds],
        lenient: true,
        version: None,
        off_switches: &[(&["disableAllHooks"], true)],
        disabled_names: None,
        managed_files: &[],
        managed_only: &[],
        package: None,
        short_waits: &[],
        longest_wait: u64::MAX,
        next_step: "",
        import: None,
    };

    /// Tables of hooks in a TOML file.
    pub(super) const TABLES: Self =
        Self { root: &[], shape: EntryShape::Tables, off_switches: &[], ..Self::GROUPS };

    /// Lists of hooks in a `hooks.json`.
    pub(super) const LISTS: Self =
        Self { file: "hooks.json", shape: EntryShape::List, ..Self::GROUPS };

    /// Returns the directory in a project, and the file in it.
    pub fn in_project(&self) -> (&'static str, &'static str) {
        self.project.unwrap_or((self.directory, self.file))
    }

    /// Returns the key that holds the event of a hook, where it is a member of the hook.
    pub fn event_key(&self) -> Option<&'static str> {
        self.members.iter().find_map(|member| match member {
            EntryMember::Event(key) => Some(*key),
            _ => None,
        })
    }

    /// Returns whether `timeout` counts milliseconds.
    pub fn counts_milliseconds(&self) -> bool {
        self.members.contains(&EntryMember::Milliseconds)
    }
}

/// Facts about an agent's hooks that `init --from` needs beyond their settings file.
#[derive(Debug)]
#[non_exhaustive]
pub struct ImportFormat {
    /// What a matcher means.
    pub matching: Matching,
    /// How long a hook may take without a `timeout`, as `hooks.yaml` has it.
    pub timeout: &'static str,
    /// How many seconds a hook of the user's prompt may take without a `timeout`, where that differs.
    pub prompt_timeout: Option<u64>,
    /// The shell that runs the commands, where it is not `/bin/sh`.
    pub shell: Option<&'static str>,
    /// Which words the scripts of an event read and answer.
    pub words: fn(&NativeEvent) -> ScriptWords,
    /// Events whose hooks can't be imported, and why.
    pub not_importable: &'static [(&'static str, &'static str)],
}

impl ImportFormat {
    /// A format with names or expressions as matchers.
    pub(super) const BASE: Self = Self {
        matching: Matching::NamesOrSearch,
        timeout: "60s",
        prompt_timeout: None,
        shell: None,
        words: |_| ScriptWords::ClaudeCode,
        not_importable: &[],
    };
}

/// What a matcher of an agent means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Matching {
    /// A list of names, or else an expression that is searched for.
    NamesOrSearch,
    /// An expression that is searched for.
    Search,
}

/// The words that a script of an agent reads and answers. An agent whose words hookexec does not
/// speak has no [`ImportFormat`]: its guards would run here and never deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptWords {
    /// Those of Claude Code.
    ClaudeCode,
    /// Those of Claude Code, except for patches, which stand in hookexec's own input as they are.
    ClaudeCodeExceptPatches,
    /// Those of hookexec's own input, with the agent's names for tools.
    Own,
}
