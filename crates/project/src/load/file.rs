//! Reads a hooks file, if it may count.

use std::path::Path;

use hookexec::config::{Diagnostic, Layer};
use hookexec_files::hooks_file::{read_found, read_named};

use crate::trust::{check_permissions, check_project_file};

/// Checks that the file at `path` may count: only the user and root can have written it, and a
/// project's is not reached through a link.
pub(super) fn check_file(path: &Path, layer: Layer) -> Result<(), Diagnostic> {
    match layer {
        Layer::Managed | Layer::User => check_permissions(path),
        Layer::Project => check_project_file(path),
        _ => Ok(()),
    }
}

/// Returns the text of a file of `layer` that may count.
pub(super) fn read(path: &Path, layer: Layer) -> Result<String, Diagnostic> {
    check_file(path, layer)?;
    match layer {
        Layer::Managed | Layer::User | Layer::Project => read_found(path),
        _ => read_named(path),
    }
}
