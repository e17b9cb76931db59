//! What can go wrong, each with its exit code and its way out.

use std::panic::PanicHookInfo;
use std::sync::Mutex;

use anstyle::{AnsiColor, Style};

use super::exit::Exit;
use super::output;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CommandError {
    exit: Exit,
    message: String,
    hints: Vec<String>,
}

impl CommandError {
    fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hints: Vec::new() }
    }

    /// Returns an error of the program itself.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Exit::Internal, message)
    }

    /// Adds a way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Writes the error to stderr and returns the exit code that stands for it.
    pub(crate) fn report(&self) -> Exit {
        output::talk(&format!("{ERROR}error{ERROR:#}: {}\n", self.message));
        for hint in &self.hints {
            output::talk(&format!("\n{HINT}hint{HINT:#}: {hint}\n"));
        }
        self.exit
    }
}

/// Shows what the argument parser has to say, and returns the exit code for it.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    // Help and version come this way, too; they go to stdout.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Success }
}

/// Where and why the last panic happened.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps a panic for [`panicked`]; a hook's own panic is caught by the executor, which reports it.
pub(crate) fn remember_panic(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
    if let Ok(mut last) = PANIC.lock() {
        *last = Some(format!("{message}{}", place.unwrap_or_default()));
    }
}

/// Returns the error that the last panic is.
pub(crate) fn panicked() -> CommandError {
    let cause = PANIC.lock().ok().and_then(|mut last| last.take()).unwrap_or_default();
    CommandError::internal(format!("internal error: {cause}"))
        .hint("this is a defect of hookexec, and no answer to the event; please report it")
}
