//! Which files of all layers are read, and in which order.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::directory::{FILE, present};
use super::loading::Loading;
use super::search::{
    above_project, directories_of_higher_layers, hooks_directories, managed_directory,
    project_search, user_directory,
};
use crate::config::{Diagnostic, Layer, Location};
use crate::directories::{DROP_INS, PROJECT_DIRECTORY};
use crate::files::real;
use crate::trust::TrustStore;

/// How deep a working directory may be. A project's files are looked for in the directories around it at
/// every event, before it is known whether a person approved them.
const MAX_LEVELS: usize = 100;

/// What to load.
///
/// ```no_run
/// let mut options = hookexec::load::LoadOptions::default();
/// options.files.push("extra.yaml".into());
/// let config = hookexec::Config::load(&options)?;
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
    /// The directory of the user's files; `$XDG_CONFIG_HOME/hookexec` when `None`.
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

impl LoadOptions {
    /// Returns whether the administrator has hooks here.
    ///
    /// A server at a path that the user named may not have them, and must not answer then.
    pub fn has_managed_files(&self) -> bool {
        let directory = managed_directory(self);
        [FILE, DROP_INS].into_iter().any(|name| present(directory.join(name)).is_some())
    }

    /// Returns the store of approvals; `None` when no home is known.
    pub(super) fn trust_store(&self) -> Option<TrustStore> {
        self.trust_dir.clone().map(TrustStore::at).or_else(TrustStore::of_user)
    }
}

impl Loading {
    /// Reads the files of all layers as far as they can be read.
    pub(crate) fn layers(options: &LoadOptions) -> Self {
        let mut loading = Self::with_options(options);
        let search = project_search(options);
        loading.acceptance.working_dir = search.first().cloned();

        // The administrator's first, all of them: they say which of the others count.
        let managed = loading.directory_files(Layer::Managed, &managed_directory(options));
        let mut seen = HashSet::new();
        for path in managed {
            if seen.insert(real(&path)) {
                loading.file(Layer::Managed, &path);
            }
        }
        let mut files = Vec::new();
        if !options.isolated {
            if let Some(directory) = loading.user_directory(options) {
                let found = loading.directory_files(Layer::User, &directory);
                files.extend(found.into_iter().map(|path| (Layer::User, path)));
            }
            let found = loading.project_files(&search, options);
            files.extend(found.into_iter().map(|path| (Layer::Project, path)));
        }
        files.extend(options.files.iter().map(|path| (Layer::CommandLine, path.clone())));
        let may_name = loading.acceptance.allows(Layer::CommandLine);
        for (layer, path) in each_once(files, seen, may_name) {
            loading.file(layer, &path);
        }
        if !options.isolated && !options.without_project {
            let directories = hooks_directories(&search);
            let mut above = hooks_directories(&above_project(options, &search));
            above.retain(|directory| !directories.contains(directory));
            loading.report_gone(&directories, &above);
        }
        loading
    }

    /// Returns the directory of the user's files. One that is not known is a failure.
    fn user_directory(&mut self, options: &LoadOptions) -> Option<PathBuf> {
        let directory = user_directory(options);
        if directory.is_none() {
            let problem =
                Diagnostic::error("no home directory is known, so the user's hooks can't be found");
            let hint = "set HOME or XDG_CONFIG_HOME to an absolute path";
            self.assembly.fail(Layer::User, Path::new("~/.config/hookexec"), [problem.hint(hint)]);
        }
        directory
    }

    /// Returns the hooks files of the project, the outermost first.
    ///
    /// The search goes from the working directory up to the root of the repository, or to the home
    /// directory. All that is found counts: a `hooks.yaml` put into a directory below must not be able
    /// to hide the guards of the one above. The user's own directory may be among them; its files are
    /// the user's alone.
    fn project_files(&mut self, search: &[PathBuf], options: &LoadOptions) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let levels = search.first().map_or(0, |directory| directory.ancestors().count());
        let problem = if options.without_project {
            let problem = "the project's hooks files could not be read in time";
            Some((problem.to_owned(), "work in a smaller project"))
        } else if levels > MAX_LEVELS {
            let problem = format!("the working directory is more than {MAX_LEVELS} levels deep");
            Some((problem, "work in a directory that is less deep"))
        } else {
            None
        };
        if let Some((problem, hint)) = problem {
            let place = search.first().map_or(Path::new("."), PathBuf::as_path).join(FILE);
            let problem = Diagnostic::error(problem).at(Location::of_file(&place));
            self.assembly.fail(Layer::Project, &place, [problem.hint(hint)]);
            return found;
        }
        let others = directories_of_higher_layers(options);
        for project in search.iter().rev() {
            let own = project.join(PROJECT_DIRECTORY);
            if !others.contains(&own) {
                found.extend(self.directory_files(Layer::Project, &own));
            }
            if !others.contains(project) {
                self.nearly_named(Layer::Project, project);
                found.extend(present(project.join(FILE)));
            }
        }
        found
    }
}

/// Keeps each file once, without those in `seen`. A file that is both found and named counts as
/// named, where the administrator lets files be named.
fn each_once(
    files: Vec<(Layer, PathBuf)>,
    mut seen: HashSet<PathBuf>,
    may_name: bool,
) -> Vec<(Layer, PathBuf)> {
    let files: Vec<(PathBuf, Layer, PathBuf)> =
        files.into_iter().map(|(layer, path)| (identity_in(layer, &path), layer, path)).collect();
    let named = files.iter().filter(|(_, layer, _)| may_name && *layer == Layer::CommandLine);
    let named: HashSet<PathBuf> = named.map(|(identity, ..)| identity.clone()).collect();
    let mut once = Vec::new();
    for (identity, layer, path) in files {
        let counts = match layer {
            // Reported as left out when it is read; until then it replaces no other file.
            Layer::CommandLine if !may_name => true,
            Layer::Project if named.contains(&identity) => false,
            _ => seen.insert(identity),
        };
        if counts {
            once.push((layer, path));
        }
    }
    once
}

/// Returns what tells a file from another, however it is named.
///
/// A link in a project is a file of its own, which is refused. It must not be taken for a file that
/// was read before.
fn identity_in(layer: Layer, path: &Path) -> PathBuf {
    if layer == Layer::Project { path.to_owned() } else { real(path) }
}
