//! Options of a load, and the directories in which hooks files are looked for.

use std::path::PathBuf;

use super::layers::{FILE, is_present};
use crate::trust::TrustStore;
use hookexec_files::directories::{
    self, DROP_INS, PROJECT_DIRECTORY, base_directory, directory_in_home, is_repository,
};
use hookexec_files::files::real;
use hookexec_files::platform::{MANAGED_DIRECTORY, Platform, resolve};

/// Options of a load.
///
/// ```no_run
/// let mut options = hookexec_project::LoadOptions::default();
/// options.files.push("extra.yaml".into());
/// let config = hookexec_project::load(&options)?.config;
/// # Ok::<(), hookexec::config::Diagnostics>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Where the search for the project's files begins; the process's own when `None`.
    pub working_dir: Option<PathBuf>,
    /// Files that were named, in order; they come last.
    pub files: Vec<PathBuf>,
    /// Whether only the managed layer and the files named are read.
    pub isolated: bool,
    /// The home directory, above which no project is looked for; the user's own when `None`.
    pub home: Option<PathBuf>,
    /// The directory of the user's files; `~/.config/hookexec` and `$XDG_CONFIG_HOME/hookexec` when
    /// `None`.
    pub user_dir: Option<PathBuf>,
    /// The directory of the managed files; the system's own when `None`: `/etc/hookexec`, on macOS
    /// `/Library/Application Support/hookexec`.
    ///
    /// No environment variable sets it: what the administrator demands is not for a project or a
    /// user to move.
    pub managed_dir: Option<PathBuf>,
    /// Where approvals of projects' files are kept; `$XDG_STATE_HOME/hookexec/trust` when `None`.
    pub trust_dir: Option<PathBuf>,
    /// Whether the program vouches for the project's files, so that no approval is needed.
    pub trust_projects: bool,
    /// Whether the project's files are not read, and count as one file that can't be loaded: for a
    /// caller that has no more time to wait for them.
    pub without_project: bool,
    /// Whether a file that was named and can't be loaded fails like one that was found, and the others
    /// count: for a caller that must judge in any case.
    pub named_may_fail: bool,
    /// Whether the configuration is only to be shown. Then the hooks of files that do not count are
    /// kept beside their failure, as far as they can be read.
    pub only_show: bool,
}

/// The working directory and those above it, the innermost first.
#[derive(Default)]
pub(super) struct Surroundings {
    /// Directories that may hold hooks files of the project.
    pub(super) project: Vec<PathBuf>,
    /// Directories above these, up to the one below the home directory.
    pub(super) above: Vec<PathBuf>,
    /// Whether a repository or the home directory says where the project ends. If not, the project is
    /// the working directory alone: above it may lie files of other users, as in /tmp.
    pub(super) has_end: bool,
}

impl LoadOptions {
    /// Returns whether the administrator has hooks here.
    ///
    /// A server at a path that the user named may not have them, and must not answer then.
    pub fn has_managed_files(&self) -> bool {
        let directory = self.managed_directory();
        is_present(&directory.join(FILE)) || is_present(&directory.join(DROP_INS))
    }

    /// Returns the store of approvals; `None` when no home is known.
    pub(crate) fn trust_store(&self) -> Option<TrustStore> {
        match &self.trust_dir {
            Some(directory) => Some(TrustStore::at(directory)),
            None => TrustStore::of_user(),
        }
    }

    pub(super) fn managed_directory(&self) -> PathBuf {
        self.managed_dir.clone().unwrap_or_else(|| MANAGED_DIRECTORY.into())
    }

    /// Returns the directories of the user's files; none when no home is known.
    ///
    /// The variable adds one, and never takes away that of the home directory: Gemini CLI gives hooks
    /// the variables of a project's `.env`.
    pub(super) fn user_directories(&self) -> Vec<PathBuf> {
        // The same place on every system, so that one page of documentation is true everywhere.
        const BELOW_HOME: &str = ".config/hookexec";
        if let Some(directory) = &self.user_dir {
            return vec![directory.clone()];
        }
        if let Some(home) = &self.home {
            return vec![home.join(BELOW_HOME)];
        }
        let mut found = Vec::from_iter(directory_in_home(BELOW_HOME));
        if let Some(chosen) = base_directory("XDG_CONFIG_HOME", ".config") {
            found.push(chosen.join("hookexec"));
        }
        found.dedup();
        found
    }

    /// Returns whether the program or a variable says where the user's files are.
    pub(super) fn is_home_told(&self) -> bool {
        let mut is_told = self.user_dir.is_some() || self.home.is_some();
        for variable in [Platform::HERE.home_variable, "XDG_CONFIG_HOME"] {
            is_told |= std::env::var_os(variable).is_some_and(|value| !value.is_empty());
        }
        is_told
    }

    /// Returns the directories of the administrator's and the user's files, with links followed. One of
    /// them may be the working directory, or above it. Its files are not a project's.
    pub(super) fn directories_of_higher_layers(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut directories = vec![self.managed_directory()];
        directories.extend(self.user_directories());
        for directory in directories {
            let directory = resolve(&directory);
            found.push(directory.join(DROP_INS));
            found.push(directory);
        }
        found
    }

    /// Returns where the project is, in which hooks files are looked for: from the working directory up to
    /// the root of the repository, or to the home directory.
    pub(super) fn surroundings(&self) -> Surroundings {
        let working_dir = self.working_dir.clone().or_else(|| std::env::current_dir().ok());
        let Some(start) = working_dir else { return Surroundings::default() };
        let absolute = std::path::absolute(&start).unwrap_or(start);
        if self.without_project {
            // What could not be read in time is not looked at once more.
            return Surroundings { project: vec![absolute], ..Surroundings::default() };
        }
        // As the system follows it: the home directory and the root of a repository are met on that way.
        let start = real(&absolute);
        let mut home = None;
        // Where the working directory is a repository, the home directory only ends what lies above it,
        // and an isolated run does not look there.
        if !self.isolated || !is_repository(&start) {
            home = self.home.clone().or_else(directories::home_directory);
        }
        let home = home.map(|home| real(&home));
        let mut found = Surroundings::default();
        for directory in start.ancestors() {
            let is_home = home.as_deref() == Some(directory);
            if !found.has_end {
                found.project.push(directory.to_owned());
                found.has_end = is_home || is_repository(directory);
            } else if !is_home {
                found.above.push(directory.to_owned());
            }
            if is_home {
                break;
            }
        }
        if !found.has_end {
            found.above = found.project.split_off(1);
        }
        found
    }
}

/// Returns the places for hooks files in each of `projects`.
pub(super) fn hooks_directories(projects: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for project in projects {
        let own = project.join(PROJECT_DIRECTORY);
        found.extend([project.clone(), own.join(DROP_INS), own]);
    }
    found
}
