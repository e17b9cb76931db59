//! Writing to stdout, where a reader that went away is no error.

use std::io::{self, Write};

use super::error::CommandError;

/// How the tables of the documentation are shown.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Format {
    /// Aligned, for people
    Text,
    /// JSON, for programs
    Json,
    /// Markdown, for documents
    Markdown,
}

/// Writes `text` to stdout.
///
/// A closed pipe is not an error: whoever reads has seen enough, and the exit code says the rest.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::internal(format!("can't write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes `value` to stdout as JSON for people and programs.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| not_json(&error))?;
    print(&(text + "\n"))
}

/// Writes `value` to stdout as one line of JSON.
pub(crate) fn print_json_line(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string(value).map_err(|error| not_json(&error))?;
    print(&(text + "\n"))
}

/// Writes `text` to stderr, coloured where the terminal wants it.
///
/// There is nowhere left to report a failure to.
pub(crate) fn talk(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

fn not_json(error: &serde_json::Error) -> CommandError {
    CommandError::internal(format!("can't write JSON: {error}"))
}
