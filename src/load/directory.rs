//! Which files of a directory are hooks files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::acceptance::check_directory;
use super::loading::Loading;
use crate::config::{Diagnostic, Layer, Location};
use crate::directories::{DROP_INS, DropIn};

/// The name of a configuration file in each of the directories.
pub(super) const FILE: &str = "hooks.yaml";
/// Names that are nearly that, and are not read.
const NEARLY: [&str; 3] = ["hooks.yml", "Hooks.yaml", "Hooks.yml"];
/// How many entries the `hooks.d` of one layer may have together, files of other names included.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// How many files of a `hooks.d` are named that are not read for their names.
const MAX_MISNAMED: usize = 20;

impl Loading {
    /// Returns the hooks files in a directory of a layer and in its `hooks.d`, and reports what is there
    /// and can't be read.
    pub(super) fn directory_files(&mut self, layer: Layer, directory: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if let Err(problem) = check_directory(layer, directory) {
            self.assembly.fail(layer, directory, [problem]);
            return found;
        }
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
        let allowed = check_directory(layer, &drop_ins);
        let entries = allowed.and_then(|()| entries(&drop_ins));
        match entries.and_then(|entries| sort_drop_ins(&drop_ins, entries, left)) {
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

    /// Reports a file that is named nearly as the one that is missing in `directory`.
    pub(super) fn nearly_named(&mut self, layer: Layer, directory: &Path) {
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

/// Returns the path when something is there, also a dangling link: a configuration that can't be
/// read is an error, never one that does not exist.
pub(super) fn present(path: PathBuf) -> Option<PathBuf> {
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

/// Returns the YAML files of a `hooks.d`, in the order of their names, and what may be meant to be
/// one.
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
        match DropIn::of(path.file_name().unwrap_or_default()) {
            DropIn::HooksFile => paths.push(path),
            DropIn::Misnamed => others.push(path),
            DropIn::Other => {}
        }
    }
    paths.sort();
    others.sort();
    Ok((paths, others))
}
