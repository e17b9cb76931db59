//! Where configuration files are looked for, and in which order they add up.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::loading::Loading;
use crate::config::{Diagnostic, Layer, Location};
use crate::directories::{self, DROP_INS, PROJECT_DIRECTORY, base_directory, project_around};
use crate::platform::MANAGED_DIRECTORY;

/// The name of a configuration file in each of the directories.
pub(super) const FILE: &str = "hooks.yaml";
/// Names that are nearly that, and are not read.
const NEARLY: [&str; 3] = ["hooks.yml", "Hooks.yaml", "Hooks.yml"];

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
    /// Whether the configuration is only to be shown. Then the hooks of files that do not count are
    /// kept beside their failure, as far as they can be read.
    pub only_show: bool,
}

impl LoadOptions {
    /// Returns whether the administrator has hooks here.
    ///
    /// A server at a path that the user named may not have them, and must not answer then.
    #[must_use]
    pub fn has_managed_files(&self) -> bool {
        let directory = managed_directory(self);
        [FILE, DROP_INS].into_iter().any(|name| present(directory.join(name)).is_some())
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
            if seen.insert(identity(&path)) {
                loading.file(Layer::Managed, &path);
            }
        }
        let mut files = Vec::new();
        if !options.isolated {
            if let Some(directory) = loading.user_directory(options, search.first()) {
                let found = loading.directory_files(Layer::User, &directory);
                files.extend(found.into_iter().map(|path| (Layer::User, path)));
            }
            let found = loading.project_files(&search, options.without_project);
            files.extend(found.into_iter().map(|path| (Layer::Project, path)));
        }
        files.extend(options.files.iter().map(|path| (Layer::CommandLine, path.clone())));
        let may_name = loading.acceptance.allows(Layer::CommandLine);
        for (layer, path) in each_once(files, seen, may_name) {
            loading.file(layer, &path);
        }
        if !options.isolated {
            let above: Vec<PathBuf> =
                upwards(options, false).0.into_iter().skip(search.len()).collect();
            loading.report_gone(&hooks_directories(&search), &hooks_directories(&above));
        }
        loading
    }

    /// Returns the directory of the user's files. One that is not known, or that the project provides,
    /// is a failure.
    fn user_directory(
        &mut self,
        options: &LoadOptions,
        working_dir: Option<&PathBuf>,
    ) -> Option<PathBuf> {
        let Some(directory) = user_directory(options) else {
            let problem =
                Diagnostic::error("no home directory is known, so the user's hooks can't be found");
            let hint = "set HOME or XDG_CONFIG_HOME to an absolute path";
            self.assembly.fail(Layer::User, Path::new("~/.config/hookexec"), [problem.hint(hint)]);
            return None;
        };
        let is_given = options.user_dir.is_some() || options.home.is_some();
        let project = working_dir
            .filter(|_| !is_given)
            .and_then(|working_dir| project_around(&directory, working_dir));
        if let Some(project) = project {
            let message = format!("the user's hooks are inside the project {}", project.display());
            let outside = "set XDG_CONFIG_HOME to a directory outside of it";
            let hint = if project.join(".git").exists() {
                format!(
                    "its `.git` makes {} a project: {outside}, or move the `.git` elsewhere, as to a \
                     bare repository that is used with `git --work-tree`",
                    project.display()
                )
            } else {
                format!("{outside}, or set HOME to one")
            };
            let problem = Diagnostic::error(message).hint(hint).at(Location::of_file(&directory));
            self.assembly.fail(Layer::User, &directory, [problem]);
            return None;
        }
        Some(directory)
    }

    /// Returns the hooks files in a directory of a layer and in its `hooks.d`, and reports what is there
    /// and can't be read.
    fn directory_files(&mut self, layer: Layer, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if directory.symlink_metadata().is_err_and(|error| is_absent(&error)) {
            return found;
        }
        let is_directory = directory.metadata().and_then(|metadata| {
            if metadata.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
        });
        if let Err(error) = is_directory {
            self.assembly.fail(layer, directory, [cannot_read(directory, &error)]);
            return found;
        }
        found.extend(present(directory.join(FILE)));
        self.nearly_named(layer, directory);
        let drop_ins = directory.join(DROP_INS);
        let mut own = MAX_ENTRIES;
        let left = if layer == Layer::Project { &mut self.project_entries } else { &mut own };
        match entries(&drop_ins).and_then(|entries| sort_drop_ins(&drop_ins, entries, left)) {
            Ok((paths, others)) => {
                found.extend(paths);
                let hint = "let its name end in `.yaml`, or begin with a dot";
                others.iter().take(MAX_MISNAMED).for_each(|path| self.misnamed(layer, path, hint));
                if others.len() > MAX_MISNAMED {
                    let more = others.len() - MAX_MISNAMED;
                    let message = format!("{more} more files of other names are not read here");
                    let problem = Diagnostic::warning(message).hint(hint);
                    self.leave_out(problem.at(Location::of_file(&drop_ins)));
                }
            }
            Err(problem) => self.assembly.fail(layer, &drop_ins, [problem]),
        }
        found
    }

    /// Returns the hooks files of the project, the outermost first.
    ///
    /// The search goes from the working directory up to the root of the repository, or to the home
    /// directory. All that is found counts: a `hooks.yaml` put into a directory below must not be able
    /// to hide the guards of the one above.
    fn project_files(&mut self, search: &[PathBuf], late: bool) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let problem = if late {
            "the project's hooks files could not be read in time"
        } else if search.len() > MAX_LEVELS {
            "the working directory is more than 100 levels below the root of its project"
        } else {
            ""
        };
        if !problem.is_empty() {
            let place = search.first().map_or(Path::new("."), PathBuf::as_path).join(FILE);
            let problem = Diagnostic::error(problem).at(Location::of_file(&place));
            self.assembly.fail(Layer::Project, &place, [problem.hint("work in a smaller project")]);
            return found;
        }
        for project in search.iter().rev() {
            let before = found.len();
            let own = self.directory_files(Layer::Project, &project.join(PROJECT_DIRECTORY));
            found.extend(own);
            self.nearly_named(Layer::Project, project);
            found.extend(present(project.join(FILE)));
            if self.acceptance.project.is_none() && found.len() > before {
                self.acceptance.project = Some(project.clone());
            }
        }
        found
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
        let message = "a file of this name is not read";
        let place = Location::of_file(path);
        if layer == Layer::Managed {
            self.assembly.fail(layer, path, [Diagnostic::error(message).hint(hint).at(place)]);
        } else {
            self.leave_out(Diagnostic::warning(message).hint(hint).at(place));
        }
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
    Some(base_directory("XDG_CONFIG_HOME", ".config")?.join("hookexec"))
}

/// Returns the directories in which a project's hooks files are looked for.
fn hooks_directories(search: &[PathBuf]) -> Vec<PathBuf> {
    let each = |project: &PathBuf| {
        let own = project.join(PROJECT_DIRECTORY);
        [project.clone(), own.join(DROP_INS), own]
    };
    search.iter().flat_map(each).collect()
}

/// Returns the directories that may hold configuration of the project, the innermost first.
fn project_search(options: &LoadOptions) -> Vec<PathBuf> {
    let (mut directories, bounded) = upwards(options, true);
    if !bounded {
        // No repository and not at home: nothing says where the project ends, and above it may lie
        // files of other users, as in /tmp.
        directories.truncate(1);
    }
    directories
}

/// Returns the directories in which a project's configuration is looked for, the innermost first.
pub(super) fn search_path(options: &LoadOptions) -> Vec<PathBuf> {
    upwards(options, true).0
}

/// Returns the working directory and those above it, and whether something says where the project
/// ends. `within_project` it goes to that end, otherwise to the directory below the home directory.
fn upwards(options: &LoadOptions, within_project: bool) -> (Vec<PathBuf>, bool) {
    let working_dir = options.working_dir.clone().or_else(|| std::env::current_dir().ok());
    let Some(start) = working_dir else { return (Vec::new(), false) };
    // As the system follows it: the home directory and the root of a repository are met on that way.
    let start = start.canonicalize().or_else(|_| std::path::absolute(&start)).unwrap_or(start);
    let home = LazyCell::new(|| {
        let home = options.home.clone().or_else(directories::home_directory)?;
        Some(home.canonicalize().unwrap_or(home))
    });
    let mut path = Vec::new();
    for directory in start.ancestors() {
        if !within_project && home.as_deref() == Some(directory) {
            break;
        }
        path.push(directory.to_owned());
        if !within_project {
            continue;
        }
        if directory.join(".git").exists() || home.as_deref() == Some(directory) {
            return (path, true);
        }
    }
    (path, false)
}

/// Returns the path when something is there, also a dangling link: a configuration that can't be
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

/// Returns the entries of a directory, or `None` when nothing is there. A dangling link, a file and
/// a directory that can't be read are problems: hooks may be meant to be there.
fn entries(directory: &Path) -> Result<Option<fs::ReadDir>, Diagnostic> {
    if directory.symlink_metadata().is_err_and(|error| is_absent(&error)) {
        return Ok(None);
    }
    directory.read_dir().map(Some).map_err(|error| cannot_read(directory, &error))
}

fn cannot_read(directory: &Path, error: &io::Error) -> Diagnostic {
    let (message, hint) = match error.kind() {
        io::ErrorKind::NotFound => {
            ("this is a link to nothing".to_owned(), "make it lead to a directory, or remove it")
        }
        io::ErrorKind::NotADirectory => {
            ("this is a file, not a directory".to_owned(), "make it a directory, or remove it")
        }
        _ => (format!("can't read the directory: {error}"), "check its mode and owner"),
    };
    Diagnostic::error(message).hint(hint).at(Location::of_file(directory))
}

/// How many directories a project's files are looked for in. They are looked for at every event,
/// before it is known whether a person approved them.
const MAX_LEVELS: usize = 100;
/// How many entries the `hooks.d` of one layer may have together, files of other names included.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// How many files of a `hooks.d` are named that are not read for their names.
const MAX_MISNAMED: usize = 20;

/// Returns the YAML files of a `hooks.d`, in the order of their names, and what may be meant to be
/// one; hidden files and backups, as editors leave them behind, are in neither.
fn sort_drop_ins(
    directory: &Path,
    entries: Option<fs::ReadDir>,
    left: &mut usize,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Diagnostic> {
    let (mut paths, mut others) = (Vec::new(), Vec::new());
    for entry in entries.into_iter().flatten() {
        if *left == 0 {
            let message = "the `hooks.d` of this layer have more than 10,000 entries together";
            let problem = Diagnostic::error(message);
            let problem = problem.hint("remove what is not a hooks file");
            return Err(problem.at(Location::of_file(directory)));
        }
        *left -= 1;
        let path = entry.map_err(|error| cannot_read(directory, &error))?.path();
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
    let identities: Vec<PathBuf> =
        files.iter().map(|(layer, path)| identity_in(*layer, path)).collect();
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
///
/// A link in a project counts as a file of its own. Otherwise an approved file could be switched off
/// by a link to a file that was read before.
fn identity_in(layer: Layer, path: &Path) -> PathBuf {
    if layer == Layer::Project { path.to_owned() } else { identity(path) }
}

fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
