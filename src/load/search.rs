//! In which directories hooks files are looked for.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use super::layers::LoadOptions;
use crate::directories::{
    self, DROP_INS, PROJECT_DIRECTORY, base_directory, is_repository, resolve,
};
use crate::platform::MANAGED_DIRECTORY;

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

/// Returns the directories of the administrator's and the user's files, with links followed. One of
/// them may be the working directory, or above it. Its files are not a project's.
pub(super) fn directories_of_higher_layers(options: &LoadOptions) -> Vec<PathBuf> {
    let directories = [Some(managed_directory(options)), user_directory(options)];
    let mut found = Vec::new();
    for directory in directories.into_iter().flatten() {
        let directory = resolve(&directory);
        found.push(directory.join(DROP_INS));
        found.push(directory);
    }
    found
}

/// Returns the directories that may hold hooks files of the project, the innermost first.
pub(super) fn project_search(options: &LoadOptions) -> Vec<PathBuf> {
    let mut directories = working_dir_and_above(options);
    // No repository and not at home: nothing says where the project ends, and above it may lie files
    // of other users, as in /tmp.
    let end = if options.without_project { None } else { project_end(&directories, options) };
    let length = end.unwrap_or(1);
    directories.truncate(length);
    directories
}

/// Returns the directories of [`project_search`], or, when nothing says where the project ends, all up
/// to the root: a `.git` made in one of them would change what is loaded.
pub(super) fn watched_search(options: &LoadOptions) -> Vec<PathBuf> {
    let mut directories = working_dir_and_above(options);
    let length = project_end(&directories, options).unwrap_or(directories.len());
    directories.truncate(length);
    directories
}

/// Returns the directories above those of `search`, up to the one below the home directory.
pub(super) fn above_project(options: &LoadOptions, search: &[PathBuf]) -> Vec<PathBuf> {
    let home = home_directory(options);
    let directories = working_dir_and_above(options).into_iter();
    directories.take_while(|it| Some(it) != home.as_ref()).skip(search.len()).collect()
}

/// Returns the places for hooks files in each of `projects`.
pub(super) fn hooks_directories(projects: &[PathBuf]) -> Vec<PathBuf> {
    let each = |project: &PathBuf| {
        let own = project.join(PROJECT_DIRECTORY);
        [project.clone(), own.join(DROP_INS), own]
    };
    projects.iter().flat_map(each).collect()
}

fn working_dir_and_above(options: &LoadOptions) -> Vec<PathBuf> {
    let working_dir = options.working_dir.clone().or_else(|| std::env::current_dir().ok());
    let Some(start) = working_dir else { return Vec::new() };
    // As the system follows it: the home directory and the root of a repository are met on that way. What
    // could not be read in time is not looked at once more.
    let followed = (!options.without_project).then(|| dunce::canonicalize(&start).ok()).flatten();
    let start = followed.or_else(|| std::path::absolute(&start).ok()).unwrap_or(start);
    start.ancestors().map(Path::to_owned).collect()
}

/// Returns how many of `directories` belong to the project: up to the root of a repository, or to the
/// home directory. `None` when neither is among them.
fn project_end(directories: &[PathBuf], options: &LoadOptions) -> Option<usize> {
    let home = LazyCell::new(|| home_directory(options));
    let is_end = |it: &PathBuf| is_repository(it) || home.as_ref() == Some(it);
    directories.iter().position(is_end).map(|last| last + 1)
}

fn home_directory(options: &LoadOptions) -> Option<PathBuf> {
    let home = options.home.clone().or_else(directories::home_directory)?;
    Some(dunce::canonicalize(&home).unwrap_or(home))
}
