//! Reads the text of a hooks file.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::files;
use crate::source::{Location, SourceFile};

/// The largest file that is read or whose change is shown, and the most of all files of a project
/// together, in bytes.
pub const MAX_SIZE: u64 = 1 << 20;

/// Returns the text of a file that a person or a program named, without its byte order mark. It may be
/// a pipe, as in `--config <(generate)`.
///
/// # Errors
/// When it can't be read, or is not UTF-8.
pub fn read_named(path: &Path) -> Result<String, Diagnostic> {
    let bytes = File::open(path).and_then(|file| files::read_to_end(file, MAX_SIZE));
    text_of(path, bytes)
}

/// Returns the text of a file that was found, without its byte order mark. Reading a pipe in its place
/// might never end.
///
/// # Errors
/// When it can't be read, is not a regular file, or is not UTF-8.
pub fn read_found(path: &Path) -> Result<String, Diagnostic> {
    text_of(path, files::read_regular(path, MAX_SIZE))
}

fn text_of(path: &Path, bytes: io::Result<Vec<u8>>) -> Result<String, Diagnostic> {
    let bytes = bytes.map_err(|error| cannot_read(path, &error))?;
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

fn cannot_read(path: &Path, error: &io::Error) -> Diagnostic {
    let problem = match error.kind() {
        ErrorKind::NotFound => Diagnostic::error("the file does not exist"),
        ErrorKind::FileTooLarge => Diagnostic::error("the file is larger than 1 MiB")
            .hint("a configuration is small; is this the right file?"),
        ErrorKind::IsADirectory => {
            Diagnostic::error("this is a directory, not a file").hint("name the file in it")
        }
        ErrorKind::PermissionDenied => {
            Diagnostic::error("no permission to read this file").hint("check its mode and owner")
        }
        _ => Diagnostic::error(format!("can't read the file: {error}")),
    };
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
