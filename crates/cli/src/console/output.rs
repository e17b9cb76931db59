//! Writes to stdout and stderr. A reader that closed its end is not an error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::OrCommandError as _;
use crate::plain::coloured;
use crate::{CommandError, system};

/// How results are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlainFormat {
    /// For people
    #[default]
    Text,
    /// JSON, for programs
    Json,
}

impl PlainFormat {
    /// Writes `value` as JSON, or its text.
    pub(crate) fn show(
        self,
        value: &impl serde::Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), CommandError> {
        match self {
            Self::Json => print_json(value),
            Self::Text => print(&text()),
        }
    }
}

/// Writes `text`, which is for people, to stdout: without what a terminal would obey.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    print_data(&coloured(text))
}

/// Writes `text` to stdout as it is.
///
/// A closed pipe is not an error: the reader has seen enough, and the exit code says the rest.
pub(crate) fn print_data(text: &str) -> Result<(), CommandError> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandError::internal(format!("can't write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes an answer to stdout that the caller waits for.
///
/// Unlike with [`print`], a closed pipe is an error, and so is a closed stdout: the standard
/// library has put the null device in its place.
pub(crate) fn answer(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    if system::stdout_is_closed()? {
        return Err(io::Error::other("standard output is closed"));
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes `value` to stdout as JSON for people and programs.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string_pretty(value).or_internal("can't write JSON")?;
    print_data(&(text + "\n"))
}

/// Whether what a reader of stderr does not take at once is dropped.
static IS_HURRIED: AtomicBool = AtomicBool::new(false);
/// Whether it has let something be dropped; from then on it is not waited for at all.
static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// Makes stderr non-blocking from now on: what its reader does not take is dropped.
pub(crate) fn never_block_on_stderr() {
    IS_HURRIED.store(true, Ordering::Relaxed);
}

/// Writes `text` to stderr, coloured where the terminal wants it, without what else it would obey.
///
/// There is nowhere left to report a failure to.
pub(crate) fn talk(text: &str) {
    let text = coloured(text);
    if !IS_HURRIED.load(Ordering::Relaxed) {
        let mut stderr = anstream::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
        return;
    }
    let choice = anstream::AutoStream::choice(&io::stderr());
    let mut shown = anstream::AutoStream::new(Vec::new(), choice);
    let _ = shown.write_all(text.as_bytes());
    let is_stuck = IS_STUCK.load(Ordering::Relaxed);
    let patience = if is_stuck { Duration::ZERO } else { Duration::from_millis(100) };
    if system::write_hurried(&shown.into_inner(), patience).is_err() {
        IS_STUCK.store(true, Ordering::Relaxed);
    }
}
