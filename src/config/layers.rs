//! Where configuration files are looked for, and in which order they add up.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use serde::Serialize;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::file;
use super::load::Loading;
use super::model::Config;

/// The name of a configuration file in each of the directories.
pub(super) const FILE: &str = "hooks.yaml";
/// Names that are nearly that, and are not read.
const NEARLY: [&str; 3] = ["hooks.yml", "Hooks.yaml", "Hooks.yml"];
/// The directory beside it, each file of which adds to it.
pub(super) const DROP_INS: &str = "hooks.d";
/// The directory of a project's configuration.
pub(super) const PROJECT_DIRECTORY: &str = ".hookexec";
/// The directory of the managed layer.
const MANAGED_DIRECTORY: &str = "/etc/hookexec";

/// Who brought a configuration file in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// The machine's administrator: `/etc/hookexec`.
    Managed,
    /// The user: `$XDG_CONFIG_HOME/hookexec`.
    User,
    /// The project that is worked on.
    Project,
    /// Whoever named the file on the command line.
    CommandLine,
    /// The program itself.
    #[default]
    Program,
}

impl Layer {
    /// Returns its name as written in `layers:`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::CommandLine => "command_line",
            Self::Program => "program",
        }
    }
}

/// What to load.
///
/// ```no_run
/// let mut options = hookexec::config::LoadOptions::default();
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
    /// The agent of a whole docker-agent file whose hooks are meant.
    pub agent: Option<String>,
    /// Whether only the managed layer and the files named are read.
    pub isolated: bool,
    /// The home directory, above which no project is looked for; the user's own when `None`.
    pub home: Option<PathBuf>,
    /// The directory of the user's files; `$XDG_CONFIG_HOME/hookexec` when `None`.
    pub user_dir: Option<PathBuf>,
    /// The directory of the managed files; `/etc/hookexec` when `None`.
    ///
    /// No environment variable sets it: what the administrator demands is not for a project or a
    /// user to move.
    pub managed_dir: Option<PathBuf>,
    /// Where approvals of projects' files are kept; `$XDG_STATE_HOME/hookexec/trust` when `None`.
    pub trust_dir: Option<PathBuf>,
    /// Whether the program vouches for the project's files, so that no approval is needed.
    pub trust_projects: bool,
}

impl LoadOptions {
    /// Returns whether the administrator has hooks here.
    ///
    /// Whoever is not sure to heed them, such as a server at a path that somebody named, must not
    /// answer then.
    #[must_use]
    pub fn has_managed_files(&self) -> bool {
        let directory = managed_directory(self);
        [FILE, DROP_INS].into_iter().any(|name| present(directory.join(name)).is_some())
    }
}

impl Config {
    /// Reads the files of all layers: managed, user, project, the `hooks.d` directories of these
    /// three, and the files named. They add up, in this order.
    ///
    /// # Errors
    /// All problems of all files, when one of them is an error.
    pub fn load(options: &LoadOptions) -> Result<Self, Diagnostics> {
        Loading::layers(options).finish()
    }
}

impl Loading {
    /// Reads the files of all layers as far as they can be read.
    pub(crate) fn layers(options: &LoadOptions) -> Self {
        let mut loading = Self::of(options);
        let mut files = Vec::new();
        let mut directories = vec![(Layer::Managed, managed_directory(options))];
        if !options.isolated {
            match user_directory(options) {
                Some(directory) => directories.push((Layer::User, directory)),
                None => loading.problems.push(
                    Diagnostic::warning(
                        "there is no home directory: the user's hooks are not read",
                    )
                    .hint("set HOME to a whole path"),
                ),
            }
        }
        for (layer, directory) in &directories {
            files.extend(present(directory.join(FILE)).map(|path| (*layer, path)));
            loading.nearly_named(*layer, directory);
        }
        let mut search = project_search(options);
        loading.acceptance.working_dir = search.first().cloned();
        if options.isolated {
            search.clear();
        }
        for directory in &search {
            loading.nearly_named(Layer::Project, directory);
            loading.nearly_named(Layer::Project, &directory.join(PROJECT_DIRECTORY));
        }
        let projects = project_directories(search);
        loading.acceptance.project = projects.first().cloned();
        for project in projects {
            let directory = project.join(PROJECT_DIRECTORY);
            let found = [directory.join(FILE), project.join(FILE)].into_iter().filter_map(present);
            files.extend(found.map(|path| (Layer::Project, path)));
            directories.push((Layer::Project, directory));
        }
        for (layer, directory) in &directories {
            let directory = directory.join(DROP_INS);
            match drop_ins(&directory) {
                Ok((paths, others)) => {
                    files.extend(paths.into_iter().map(|path| (*layer, path)));
                    for path in others {
                        let hint = "let its name end in `.yaml`, or begin with a dot";
                        loading.misnamed(*layer, &path, hint);
                    }
                }
                Err(error) => loading.problems.push(
                    Diagnostic::error(format!("can't read the directory: {error}"))
                        .at(file::whole_file(&directory)),
                ),
            }
        }
        files.extend(options.files.iter().map(|path| (Layer::CommandLine, path.clone())));

        // The administrator's first, all of them: they say which of the others count.
        let (managed, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(layer, _)| *layer == Layer::Managed);
        let mut seen = HashSet::new();
        for (layer, path) in managed {
            if seen.insert(identity(&path)) {
                loading.file(layer, &path);
            }
        }
        let may_name = loading.acceptance.allows(Layer::CommandLine);
        for (layer, path) in each_once(others, seen, may_name) {
            loading.file(layer, &path);
        }
        loading.check_agent();
        loading
    }
}

impl Loading {
    /// Reports a file that is named nearly as the one that is missing in `directory`.
    fn nearly_named(&mut self, layer: Layer, directory: &Path) {
        if directory.is_dir()
            && present(directory.join(FILE)).is_none()
            && let Some(path) = NEARLY.iter().find_map(|name| present(directory.join(name)))
        {
            self.misnamed(layer, &path, "rename it to `hooks.yaml`");
        }
    }

    /// Reports a file that is not read for its name: in silence its guards would seem to be there.
    fn misnamed(&mut self, layer: Layer, path: &Path, hint: &str) {
        let problem = match layer {
            Layer::Managed => Diagnostic::error("a file of this name is not read"),
            _ => Diagnostic::warning("a file of this name is not read"),
        };
        self.leave_out(problem.hint(hint).at(file::whole_file(path)));
    }
}

pub(super) fn managed_directory(options: &LoadOptions) -> PathBuf {
    options.managed_dir.clone().unwrap_or_else(|| MANAGED_DIRECTORY.into())
}

pub(super) fn user_directory(options: &LoadOptions) -> Option<PathBuf> {
    if let Some(directory) = &options.user_dir {
        return Some(directory.clone());
    }
    if let Some(home) = &options.home {
        return Some(home.join(".config/hookexec"));
    }
    // The same place on every system, so that one page of documentation is true everywhere.
    let strategy = etcetera::base_strategy::Xdg::new().ok()?;
    let directory = strategy.config_dir().join("hookexec");
    // A relative one would be wherever the command runs: the project would speak for the user.
    directory.is_absolute().then_some(directory)
}

/// Returns those of the directories searched that hold configuration of the project, the outermost
/// first.
///
/// The search goes from the working directory up to the root of the repository, or to the home
/// directory. All that is found counts: a `hooks.yaml` put into a directory below must not be able
/// to hide the guards of the one above.
fn project_directories(search: Vec<PathBuf>) -> Vec<PathBuf> {
    let holds_any = |directory: &PathBuf| {
        let own = directory.join(PROJECT_DIRECTORY);
        let candidates = [own.join(FILE), own.join(DROP_INS), directory.join(FILE)];
        candidates.into_iter().any(|path| present(path).is_some())
    };
    search.into_iter().rev().filter(holds_any).collect()
}

/// Returns the directories that may hold configuration of the project, the innermost first.
fn project_search(options: &LoadOptions) -> Vec<PathBuf> {
    let (mut directories, bounded) = upwards(options);
    if !bounded {
        // No repository and not at home: nothing says where the project ends, and above it may lie
        // what anybody put there, as in /tmp.
        directories.truncate(1);
    }
    directories
}

/// Returns the directories in which a project's configuration is looked for, the innermost first.
pub(super) fn search_path(options: &LoadOptions) -> Vec<PathBuf> {
    upwards(options).0
}

/// Returns the working directory and those above it, as far as a project can reach, and whether
/// something says where that is.
fn upwards(options: &LoadOptions) -> (Vec<PathBuf>, bool) {
    let working_dir = options.working_dir.clone().or_else(|| std::env::current_dir().ok());
    let Some(start) = working_dir else { return (Vec::new(), false) };
    // As the system follows it: the home directory and the root of a repository are met on that way.
    let start = start.canonicalize().or_else(|_| std::path::absolute(&start)).unwrap_or(start);
    let home = LazyCell::new(|| {
        let home = options.home.clone().or_else(super::home::home_directory)?;
        Some(home.canonicalize().unwrap_or(home))
    });
    let mut path = Vec::new();
    for directory in start.ancestors() {
        path.push(directory.to_owned());
        if directory.join(".git").exists() || home.as_deref() == Some(directory) {
            return (path, true);
        }
    }
    (path, false)
}

/// Returns the path when something is there, be it a dangling link: a configuration that can't be
/// read is an error, never one that does not exist.
fn present(path: PathBuf) -> Option<PathBuf> {
    match path.symlink_metadata() {
        Err(error) if is_absent(&error) => None,
        _ => Some(path),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the YAML files of a `hooks.d`, in the order of their names, and what may be meant to be
/// one; hidden files and backups, as editors leave them behind, are in neither.
fn drop_ins(directory: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut paths, mut others) = (Vec::new(), Vec::new());
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok((paths, others)),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if name.starts_with(b".") {
            continue;
        }
        let backup = name.ends_with(b"~") || name == b"README";
        match path.extension() {
            Some(extension) if extension == "yaml" || extension == "yml" => paths.push(path),
            Some(extension) => {
                let nearly = ["yaml", "yml", "json"];
                if nearly.iter().any(|name| extension.eq_ignore_ascii_case(name)) {
                    others.push(path);
                }
            }
            None if !backup => others.push(path),
            None => {}
        }
    }
    paths.sort();
    others.sort();
    Ok((paths, others))
}

/// Leaves each file in once, and none that was `seen`. One that was named, where files may be named
/// at all, counts as named, also when it would have been found.
fn each_once(
    files: Vec<(Layer, PathBuf)>,
    mut seen: HashSet<PathBuf>,
    may_name: bool,
) -> Vec<(Layer, PathBuf)> {
    let identities: Vec<PathBuf> = files.iter().map(|(_, path)| identity(path)).collect();
    let is_named = |layer: Layer| may_name && layer == Layer::CommandLine;
    let each = files.iter().zip(&identities);
    let named = each.filter(|((layer, _), _)| is_named(*layer)).map(|(_, identity)| identity);
    let named: HashSet<PathBuf> = named.cloned().collect();
    let mut once = Vec::new();
    for ((layer, path), identity) in files.into_iter().zip(identities) {
        let named_later = layer == Layer::Project && named.contains(&identity);
        let refused = layer == Layer::CommandLine && !may_name;
        if !named_later && (refused || seen.insert(identity)) {
            once.push((layer, path));
        }
    }
    once
}

/// Returns what tells a file from another, however it is named.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
