//! Reads a configuration file, if it is one.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use crate::config::{Diagnostic, Diagnostics, Layer, Location, SourceFile};
use crate::files;
use crate::trust::{check_permissions, check_project_file};

/// The largest file that is read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Reads a file that a person or a program named.
///
/// # Errors
/// All mistakes of the file.
pub fn read_named(path: &Path) -> Result<String, Diagnostics> {
    read(path, Layer::Program).map_err(Diagnostics::from)
}

/// Checks that the file at `path` may count: only the user and root can have written it, and a
/// project's is not reached through a link.
pub(super) fn check_file(path: &Path, layer: Layer) -> Result<(), Diagnostic> {
    match layer {
        Layer::Program | Layer::CommandLine => {}
        Layer::Project => check_project_file(path)?,
        Layer::Managed | Layer::User => check_permissions(path)?,
    }
    Ok(())
}

/// Returns the text of a file of `layer` that may count, without its byte order mark.
pub(super) fn read(path: &Path, layer: Layer) -> Result<String, Diagnostic> {
    check_file(path, layer)?;
    let bytes = read_bytes(path, layer).map_err(|error| cannot_read(path, &error))?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bad = error.as_bytes().get(at).copied().unwrap_or_default();
            // What is shown has a replacement character of three bytes in its place.
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let file = Arc::new(SourceFile::new(path, text));
            let problem = Diagnostic::error(format!("byte 0x{bad:02x} is not UTF-8"))
                .hint("save the file as UTF-8");
            return Err(problem.at(Location::new(file, at..at + '\u{fffd}'.len_utf8())));
        }
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

fn read_bytes(path: &Path, layer: Layer) -> io::Result<Vec<u8>> {
    match layer {
        // A file that was named may be a pipe, as in `--config <(generate)`.
        Layer::CommandLine | Layer::Program => files::read_to_end(File::open(path)?, MAX_SIZE),
        // Reading a pipe in the place of a file that was found might never end.
        Layer::Managed | Layer::User | Layer::Project => files::read_regular(path, MAX_SIZE),
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> Diagnostic {
    let (message, hint) = match error.kind() {
        ErrorKind::NotFound => ("the file does not exist".to_owned(), None),
        ErrorKind::FileTooLarge => (
            "the file is larger than 1 MiB".to_owned(),
            Some("a configuration is small; is this the right file?"),
        ),
        ErrorKind::IsADirectory => {
            ("this is a directory, not a file".to_owned(), Some("name the file in it"))
        }
        ErrorKind::PermissionDenied => {
            ("no permission to read this file".to_owned(), Some("check its mode and owner"))
        }
        _ => (format!("can't read the file: {error}"), None),
    };
    let mut problem = Diagnostic::error(message);
    problem.hint = hint.map(str::to_owned);
    problem.at(Location::of_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_says_what_to_do() {
        // The administrator may read everything, so that no file can show this one to every test.
        let denied = cannot_read(Path::new("x"), &ErrorKind::PermissionDenied.into());
        assert_eq!(denied.message, "no permission to read this file");
        assert!(denied.hint.is_some() && denied.location.is_some());
        let other = cannot_read(Path::new("x"), &io::Error::other("disk on fire"));
        assert_eq!(other.message, "can't read the file: disk on fire");
    }
}
