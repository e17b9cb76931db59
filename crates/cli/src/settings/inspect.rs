//! One inspection of the files in which an agent looks for hooks. `install`, `uninstall` and
//! `doctor` read its result, and no other code reads these files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use hookexec::internal::{base_directory, files};
use hookexec_agents::{Agent, EntryShape, HookSettings, PluginFile};

use super::entry::Entry;
use super::{Scope, store, text, toml, user_directory, value_of};

/// One file in which an agent looks for hooks, as it is on the disk: its settings, or the plugin of an
/// agent that has no settings for hooks.
pub(crate) struct AgentFile {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    /// The keys that lead to the events.
    pub(super) root: &'static [&'static str],
    /// The text; `None` if there is no file.
    pub(crate) text: Result<Option<String>, String>,
    /// The entries in it, or why the agent or hookexec can't understand it.
    pub(crate) entries: Result<Vec<Entry>, String>,
}

/// Looks at the files of an agent in each scope, the user's first. In the home directory the
/// project's file is the same: it counts once, as the user's.
pub(crate) fn inspect(agent: Agent, project: &Path) -> Vec<AgentFile> {
    let mut found = Vec::new();
    for scope in Scope::value_variants() {
        found.extend(AgentFile::inspect(agent, *scope, project));
    }
    found.dedup_by_key(|file| files::real(&file.path));
    found
}

impl AgentFile {
    /// Looks at the file of one scope; `None` without a home directory, or if the agent has no such
    /// file.
    pub(crate) fn inspect(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        let (path, root) = match agent.settings() {
            Some(layout) => settings_path(layout, scope, project)?,
            None => (plugin_path(&agent.plugin()?.file?, scope, project)?, &[][..]),
        };
        let text = store::read(&path).map_err(|error| error.to_string());
        let mut file = Self { agent, scope, path, root, text, entries: Ok(Vec::new()) };
        file.entries = match &file.text {
            Ok(text) => file.read_entries(text.as_deref().unwrap_or_default()),
            Err(error) => Err(error.clone()),
        };
        Some(file)
    }

    /// Returns the agent's plugin, if this is the file of one.
    pub(crate) fn plugin(&self) -> Option<PluginFile> {
        self.agent.plugin()?.file
    }

    /// Returns the entries that call hookexec.
    pub(crate) fn ours(&self) -> Vec<&Entry> {
        let entries = self.entries.as_deref().unwrap_or_default();
        entries.iter().filter(|entry| entry.is_ours).collect()
    }

    /// Returns those that the user changed by hand.
    pub(crate) fn changed_by_hand(&self) -> Vec<&Entry> {
        self.ours().into_iter().filter(|entry| entry.call.is_none()).collect()
    }

    /// Returns the servers that the entries ask, each with how many entries ask it.
    pub(crate) fn sockets(&self) -> BTreeMap<&str, usize> {
        let mut sockets = BTreeMap::new();
        for call in self.ours().into_iter().filter_map(|entry| entry.call.as_ref()) {
            if let Some(socket) = &call.socket {
                *sockets.entry(socket.as_str()).or_default() += 1;
            }
        }
        sockets
    }

    /// Returns whether the agent seems to be used here.
    pub(crate) fn is_found(&self) -> bool {
        let Some(layout) = self.agent.settings() else {
            return self.path.ancestors().nth(2).is_some_and(Path::is_dir);
        };
        user_directory(layout).is_some_and(|directory| directory.is_dir()) || self.path.exists()
    }

    /// Returns the entries in a text.
    ///
    /// # Errors
    /// The agent reads no hook of the text, or it can't be understood.
    pub(crate) fn read_entries(&self, text: &str) -> Result<Vec<Entry>, String> {
        let Some(layout) = self.agent.settings() else {
            let entry = Entry { is_ours: true, ..Entry::default() };
            return Ok(if self.is_plugin(text) { vec![entry] } else { Vec::new() });
        };
        if self.is_toml() {
            return Ok(self.entries_in(&toml::value(text)?));
        }
        let value = text::unambiguous(text, true)?;
        if !layout.lenient && text::unambiguous(text, false).is_err() {
            let title = self.agent.title();
            return Err(format!(
                "{title} ignores all hooks in a file with comments or trailing commas"
            ));
        }
        Ok(self.entries_in(&value))
    }

    /// Returns whether the settings are TOML.
    pub(super) fn is_toml(&self) -> bool {
        self.agent.settings().is_some_and(|layout| layout.shape == EntryShape::Tables)
    }
}

/// Returns the settings file and the keys that lead to its events; `None` without a home directory, or
/// if the agent reads no hooks of a project.
fn settings_path(
    layout: &HookSettings,
    scope: Scope,
    project: &Path,
) -> Option<(PathBuf, &'static [&'static str])> {
    let path = match scope {
        Scope::Project if layout.only_of_user => return None,
        Scope::Project => {
            let (directory, file) = layout.in_project();
            project.join(directory).join(file)
        }
        Scope::User => user_directory(layout)?.join(layout.file),
    };
    // A new file would switch the hooks in the older one off.
    if let Some(older) = layout.older_file.filter(|_| !path.exists()) {
        let older = path.with_file_name(older);
        if value_of(&older).get("hooks").is_some() {
            return Some((older, &["hooks"]));
        }
    }
    Some((path, layout.root))
}

fn plugin_path(file: &PluginFile, scope: Scope, project: &Path) -> Option<PathBuf> {
    let directory = match scope {
        Scope::Project => project.join(file.project),
        Scope::User if file.is_in_config => {
            base_directory("XDG_CONFIG_HOME", ".config")?.join(file.directory)
        }
        Scope::User => hookexec::home_directory()?.join(file.directory),
    };
    Some(directory.join(file.file))
}
