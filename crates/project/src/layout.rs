//! The names of hookexec's own files and directories in a project.

use std::ffi::OsStr;
use std::path::Path;

use hookexec_files::directories::{DROP_INS, PROJECT_DIRECTORY};

/// The kind of a file in a `hooks.d`, by its name.
pub(crate) enum DropIn {
    /// A hooks file.
    HooksFile,
    /// It may be meant to be one.
    Misnamed,
    /// Any other file, such as a hidden one or a backup that an editor left behind.
    Other,
}

impl DropIn {
    /// Returns what the file `name` is.
    pub(crate) fn of(name: &OsStr) -> Self {
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(b".") || bytes.ends_with(b"~") || bytes == b"README" {
            return Self::Other;
        }
        let Some(extension) = Path::new(name).extension() else { return Self::Misnamed };
        if extension == "yaml" || extension == "yml" {
            return Self::HooksFile;
        }
        let is_near =
            ["yaml", "yml", "json"].iter().any(|near| extension.eq_ignore_ascii_case(near));
        if is_near { Self::Misnamed } else { Self::Other }
    }
}

/// Returns the directories that only hold hooks files of a project and that the one at `path` is in,
/// the outermost first: `.hookexec`, and `hooks.d` in it.
pub(crate) fn own_directories(path: &Path) -> Vec<&Path> {
    match path.parent() {
        Some(own) if own.ends_with(PROJECT_DIRECTORY) => vec![own],
        Some(drop_ins) if drop_ins.ends_with(DROP_INS) => match drop_ins.parent() {
            Some(own) if own.ends_with(PROJECT_DIRECTORY) => vec![own, drop_ins],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Returns the first symbolic link on the way from a project to `path`, its hooks file or a directory
/// for some: one of its [`own_directories`], or `path` itself. Follows none.
pub(crate) fn link_to(path: &Path) -> Option<&Path> {
    own_directories(path).into_iter().chain([path]).find(|place| place.is_symlink())
}
