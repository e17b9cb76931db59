//! One inspection of the files in which an agent looks for hooks. `install`, `uninstall` and
//! `doctor` read its result, and no other code reads these files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hookexec_agents::{Agent, EntryShape, HookSettings, ProjectPlace};
use hookexec_files::directories::is_repository;
use hookexec_files::files;
use serde_json::{Value, json};

use super::entry::Entry;
use super::{Scope, SettingsError, beside, store, text, toml, value_at, value_of};

/// One file in which an agent looks for hooks, as it is on the disk: its settings, the plugin of an
/// agent that has no settings for hooks, or the file that names the agent's own package of hookexec.
pub struct AgentFile {
    /// The agent.
    pub agent: Agent,
    /// Whose file it is.
    pub scope: Scope,
    /// Where it is.
    pub path: PathBuf,
    /// Whether the agent itself installed hookexec, as a package.
    pub is_package: bool,
    /// The text; `None` if the file is missing or can't be read.
    pub text: Option<String>,
    /// The entries in it, or why the agent or hookexec can't read it. A plugin and a package count as
    /// one entry.
    pub entries: Result<Vec<Entry>, SettingsError>,
}

/// Looks at the files of an agent in each scope, the user's first, and at its package. In the home
/// directory the project's file is the same: it counts once, as the user's.
pub fn inspect(agent: Agent, project: &Path) -> Vec<AgentFile> {
    let mut found = Vec::new();
    found.extend(AgentFile::inspect(agent, Scope::User, project));
    let directories = match agent.settings() {
        Some(layout) if layout.project_place == ProjectPlace::EveryDirectory => {
            up_to_repository(project)
        }
        _ => vec![project],
    };
    for directory in directories {
        let Some(file) = AgentFile::inspect(agent, Scope::Project, directory) else { break };
        if directory == project || file.path.exists() {
            found.push(file);
        }
    }
    let mut known = BTreeSet::new();
    found.retain(|file| known.insert(files::real(&file.path)));
    let package = package(agent, &found);
    found.extend(package);
    found
}

impl AgentFile {
    /// Looks at the file of one scope; `None` without a home directory, or if the agent has no such
    /// file.
    pub fn inspect(agent: Agent, scope: Scope, project: &Path) -> Option<Self> {
        let path = path_in(agent, scope, project)?;
        let (text, entries) = match store::read(&path) {
            Ok(text) => (text, Ok(Vec::new())),
            Err(error) => (None, Err(error.into())),
        };
        let mut file = Self { agent, scope, path, is_package: false, text, entries };
        if file.entries.is_ok() {
            file.entries = file.read_entries(file.text.as_deref().unwrap_or_default());
        }
        Some(file)
    }

    /// Returns the entries that call hookexec.
    pub fn ours(&self) -> Vec<&Entry> {
        let entries = self.entries.as_deref().unwrap_or_default();
        entries.iter().filter(|entry| entry.is_ours).collect()
    }

    /// Returns the entries that call hookexec and are not as `install` writes them.
    pub fn changed_by_hand(&self) -> Vec<&Entry> {
        let mut changed = self.ours();
        changed.retain(|entry| entry.call.is_none());
        changed
    }

    /// Returns whether the agent calls hookexec because of this file.
    pub fn is_installed(&self) -> bool {
        !self.ours().is_empty()
    }

    /// Returns the servers that the entries ask, each with how many entries ask it.
    pub fn sockets(&self) -> BTreeMap<&str, usize> {
        let mut sockets = BTreeMap::new();
        for entry in self.ours() {
            if let Some(call) = &entry.call
                && let Some(socket) = &call.options.socket
            {
                *sockets.entry(socket.as_str()).or_default() += 1;
            }
        }
        sockets
    }

    /// Returns what is in it, for programs.
    pub fn summary(&self) -> Value {
        json!({
            "agent": self.agent.name(),
            "scope": self.scope.to_string(),
            "settings": self.path,
            // 1 for a plugin or a package.
            "hooks": self.ours().len(),
            "sockets": self.sockets().keys().collect::<Vec<_>>(),
            "error": self.entries.as_ref().err().map(ToString::to_string),
        })
    }

    /// Returns whether the agent seems to be used here.
    pub fn is_found(&self) -> bool {
        let directory = match (self.agent.settings(), self.agent.place()) {
            (Some(_), Some(place)) => place.user_directory(),
            _ => self.path.ancestors().nth(2).map(Path::to_owned),
        };
        self.path.exists() || directory.is_some_and(|directory| directory.is_dir())
    }

    /// Returns the entries in a text.
    ///
    /// # Errors
    /// The agent reads no hook of the text, or it can't be understood.
    pub fn read_entries(&self, text: &str) -> Result<Vec<Entry>, SettingsError> {
        let Some(layout) = self.agent.settings() else {
            return Ok(if self.is_plugin(text) { vec![Entry::of_package()] } else { Vec::new() });
        };
        let value = self.value(text)?;
        if layout.without_comments && text::value(text, false).is_err() {
            return Err(SettingsError::Comments(self.agent.title()));
        }
        self.check(layout, &value)?;
        Ok(self.entries_in(layout, value_at(&value, self.root())))
    }

    /// Returns the file with the entries as they are written, also if the agent reads none of them:
    /// they can be taken out.
    #[must_use]
    pub fn with_unread_entries(mut self) -> Self {
        if let Err(SettingsError::Comments(_) | SettingsError::Entry(_)) = self.entries
            && let (Some(layout), Some(text)) = (self.agent.settings(), &self.text)
            && let Ok(value) = self.value(text)
        {
            self.entries = Ok(self.entries_in(layout, value_at(&value, self.root())));
        }
        self
    }

    /// Returns the keys that lead to the events.
    pub(super) fn root(&self) -> &'static [&'static str] {
        let Some(layout) = self.agent.settings() else { return &[] };
        let is_older = layout.older_file.is_some_and(|older| self.path.ends_with(older));
        if is_older { &["hooks"] } else { &layout.root }
    }

    fn value(&self, text: &str) -> Result<Value, SettingsError> {
        if self.is_toml() { toml::value(text) } else { text::value(text, true) }
    }

    /// Returns whether the settings are TOML.
    pub(super) fn is_toml(&self) -> bool {
        matches!(self.agent.settings(), Some(HookSettings { shape: EntryShape::Tables, .. }))
    }
}

/// Returns the working directory and those above it, up to the root of its repository. Without a repository
/// it is alone.
pub(crate) fn up_to_repository(project: &Path) -> Vec<&Path> {
    let mut found = Vec::new();
    for directory in project.ancestors() {
        found.push(directory);
        if is_repository(directory) {
            return found;
        }
    }
    vec![project]
}

/// Returns the file of settings or of a plugin; `None` without a home directory, or if the agent has no such
/// file.
fn path_in(agent: Agent, scope: Scope, project: &Path) -> Option<PathBuf> {
    let (place, layout) = (agent.place()?, agent.settings());
    let (directory, file) = place.in_project();
    let path = match (scope, layout) {
        (Scope::User, _) => place.user_directory()?.join(place.file),
        (_, Some(HookSettings { only_of_user: true, .. })) => return None,
        (_, Some(HookSettings { project_place: ProjectPlace::Root, .. })) => {
            let root = up_to_repository(project).pop().unwrap_or(project);
            root.join(directory).join(file)
        }
        _ => project.join(directory).join(file),
    };
    // A new file would switch the hooks in the older one off.
    if let Some(HookSettings { older_file: Some(older), .. }) = layout
        && !path.exists()
        && let older = path.with_file_name(older)
        && value_of(&older).get("hooks").is_some()
    {
        return Some(older);
    }
    Some(path)
}

/// Returns the package of hookexec that the agent says it has installed. Its sign is a file beside
/// one of `files`, or in the home directory for an agent that has none.
fn package(agent: Agent, files: &[AgentFile]) -> Option<AgentFile> {
    let mark = agent.facts().package.as_ref()?;
    let mut places = Vec::new();
    for file in files {
        places.push((file.scope, beside(&file.path, mark.file)));
    }
    if places.is_empty() {
        places.push((Scope::User, hookexec::home_directory()?.join(mark.file)));
    }
    for (scope, path) in places {
        let is_installed = match mark.keys.as_slice() {
            [] => path.is_file(),
            keys => has_enabled_plugin(value_at(&value_of(&path), keys)),
        };
        if is_installed {
            let entries = Ok(vec![Entry::of_package()]);
            return Some(AgentFile { agent, scope, path, is_package: true, text: None, entries });
        }
    }
    None
}

/// Returns whether hookexec, of any marketplace or registry, is one of the plugins that are enabled.
fn has_enabled_plugin(plugins: &Value) -> bool {
    for plugin in plugins.as_array().into_iter().flatten() {
        if is_our_package(plugin.as_str().or(plugin["source"].as_str()).unwrap_or_default()) {
            return true;
        }
    }
    for (name, plugin) in plugins.as_object().into_iter().flatten() {
        if is_our_package(name) && (*plugin == true || plugin["enabled"] == true) {
            return true;
        }
    }
    false
}

/// Returns whether a package of this name, or in this directory, is ours.
fn is_our_package(name: &str) -> bool {
    let name = name.strip_prefix("npm:").unwrap_or(name);
    name == "hookexec"
        || ["hookexec@", "@hookexec/"].iter().any(|ours| name.starts_with(ours))
        || name.ends_with("plugins/pi")
}
