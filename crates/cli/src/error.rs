//! The exit codes, which for `run` are the answer itself, and errors of the command with their hints.

use std::fmt::{self, Display};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use anstyle::{AnsiColor, Style};
use hookexec::config::Diagnostics;
use hookexec::{Decision, Verdict};
use hookexec_files::locks::locked;
use hookexec_files::platform::MANAGED_DIRECTORY;
use hookexec_files::text::shortened;
use hookexec_project::policy::PolicyFailure;
use hookexec_serve::server::ListenError;
use hookexec_setup::program::KeepError;

use crate::console::output;
use crate::console::report::{BAD, DOUBTFUL};

const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// The text for the case that no layer has a file.
pub(crate) const NO_FILES: &str = "no hooks file was found";

/// Writes a warning to stderr.
pub(crate) fn warn(message: &str) {
    output::talk(&format!("{DOUBTFUL}warning{DOUBTFUL:#}: {message}\n"));
}

/// Writes the first 20 warnings about hooks files to stderr, each of at most 4,000 characters: a
/// project can cause any number, of any length.
pub(crate) fn warn_all(warnings: impl IntoIterator<Item = String>) {
    let mut warnings = warnings.into_iter();
    for warning in warnings.by_ref().take(20) {
        warn(&shortened(&warning, 4_000));
    }
    match warnings.count() {
        0 => {}
        more => warn(&format!("... and {more} more; `hookexec check` shows all")),
    }
}

/// The exit code of the process.
///
/// 2 is a denial and nothing else: the argument parser's own 2 is mapped to [`Exit::USAGE`]. The
/// codes from 64 on are those of `sysexits.h`. Only 0 means "go on".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit(pub(crate) u8);

impl Exit {
    /// Done; of `run`: it may go on.
    pub(crate) const SUCCESS: Self = Self(0);
    /// The answer is no: a file is not approved, a test failed.
    pub(crate) const NEGATIVE: Self = Self(1);
    /// Denied.
    pub(crate) const DENIED: Self = Self(2);
    /// A person must approve it first.
    pub(crate) const ASK: Self = Self(3);
    /// Wrong arguments, for example an unknown event.
    pub(crate) const USAGE: Self = Self(64);
    /// Stdin holds no usable input.
    pub(crate) const DATA: Self = Self(65);
    /// The program itself is at fault, or could not write its answer.
    pub(crate) const INTERNAL: Self = Self(70);
    /// The configuration is broken, or not there.
    pub(crate) const CONFIG: Self = Self(78);

    /// Returns the exit code that stands for a verdict.
    pub(crate) fn of(verdict: &Verdict) -> Self {
        match (verdict.allowed, verdict.decision) {
            (true, _) => Self::SUCCESS,
            (false, Some(Decision::Ask)) => Self::ASK,
            (false, _) => Self::DENIED,
        }
    }

    /// Returns the exit code that says that a signal ended it before there was an answer.
    pub(crate) fn interrupted(signal: u8) -> Self {
        Self(128_u8.saturating_add(signal))
    }
}

/// The exit of a subcommand that has done its work and has no answer of its own.
impl From<()> for Exit {
    fn from((): ()) -> Self {
        Self::SUCCESS
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.0)
    }
}

/// Why a command failed.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    exit: Exit,
    /// The problem, without colours.
    cause: String,
    /// The problem as a person sees it.
    shown: String,
    hints: Vec<String>,
}

impl CommandError {
    fn new(exit: Exit, message: impl Into<String>) -> Self {
        let cause = message.into();
        let shown = format!("{BAD}error{BAD:#}: {cause}\n");
        Self { exit, cause, shown, hints: Vec::new() }
    }

    /// Returns an error in the arguments.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::USAGE, message)
    }

    /// Returns an error in the data that the command reads, such as stdin, a log or transcripts.
    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::new(Exit::DATA, message)
    }

    /// Returns the error that there is nothing to look at.
    pub(crate) fn no_files() -> Self {
        Self::new(Exit::CONFIG, NO_FILES).hint(format!(
            "they are looked for at hooks.yaml, .hookexec/hooks.yaml and .hookexec/hooks.d/*.yaml in the project, \
             at hooks.yaml and hooks.d/*.yaml in ~/.config/hookexec and in {MANAGED_DIRECTORY}, and where \
             `--config FILE` says",
        ))
    }

    /// Returns the error of a command that did its work, with a negative result.
    pub(crate) fn negative(message: impl Into<String>) -> Self {
        Self::new(Exit::NEGATIVE, message)
    }

    /// Returns the end by a signal, before there was an answer.
    pub(crate) fn interrupted(signal: &str, number: u8) -> Self {
        let message =
            format!("ended by {signal} before there was an answer; the hooks are stopped");
        Self::new(Exit::interrupted(number), message)
    }

    /// Returns an error of the program itself.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Exit::INTERNAL, message)
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Writes the error to stderr and returns the exit code that stands for it.
    pub(crate) fn report(&self) -> Exit {
        output::talk(&self.shown);
        for hint in &self.hints {
            output::talk(&format!("\n{HINT}hint{HINT:#}: {hint}\n"));
        }
        self.exit
    }
}

/// The errors of a configuration.
impl From<Diagnostics> for CommandError {
    fn from(problems: Diagnostics) -> Self {
        let (cause, shown) = (problems.to_string(), problems.render(true));
        Self { exit: Exit::CONFIG, cause, shown, hints: Vec::new() }
    }
}

impl From<ListenError> for CommandError {
    fn from(error: ListenError) -> Self {
        let mut failed = Self::usage(error.to_string());
        failed.hints.extend(error.hint);
        failed
    }
}

impl From<PolicyFailure> for CommandError {
    fn from(failure: PolicyFailure) -> Self {
        match failure {
            PolicyFailure::Hooks(problems) => problems.into(),
            PolicyFailure::Refused(cause) => Self::usage(cause),
        }
    }
}

impl From<KeepError> for CommandError {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::NoHome => Self::usage(error.to_string()),
            _ => Self::internal(error.to_string()),
        }
    }
}

/// Turns a failure into an error of the command, as `what: failure`.
pub(crate) trait OrCommandError<T>: Sized {
    /// Returns an error with this exit code.
    fn or_exit(self, exit: Exit, what: impl Display) -> Result<T, CommandError>;

    /// Returns an error in the arguments, or in a file that they name.
    fn or_usage(self, what: impl Display) -> Result<T, CommandError> {
        self.or_exit(Exit::USAGE, what)
    }

    /// Returns an error in the data that the command reads.
    fn or_data(self, what: impl Display) -> Result<T, CommandError> {
        self.or_exit(Exit::DATA, what)
    }

    /// Returns an error of the program itself.
    fn or_internal(self, what: impl Display) -> Result<T, CommandError> {
        self.or_exit(Exit::INTERNAL, what)
    }
}

impl<T, E: Display> OrCommandError<T> for Result<T, E> {
    fn or_exit(self, exit: Exit, what: impl Display) -> Result<T, CommandError> {
        self.map_err(|error| CommandError::new(exit, format!("{what}: {error}")))
    }
}

/// Says that a file can't be read, for [`OrCommandError`].
pub(crate) fn unreadable(path: &Path) -> String {
    format!("can't read {}", path.display())
}

/// Says that a file can't be written, for [`OrCommandError`].
pub(crate) fn unwritable(path: &Path) -> String {
    format!("can't write {}", path.display())
}

/// Writes the problem and the remedies, without colours.
impl Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.cause)?;
        self.hints.iter().try_for_each(|hint| write!(formatter, "\n{hint}"))
    }
}

/// Shows what the argument parser has to say, and returns the exit code for it.
pub(crate) fn report_arguments(error: &clap::Error) -> Exit {
    // Help and version come this way, too; they go to stdout.
    let _ = error.print();
    if error.use_stderr() { Exit::USAGE } else { Exit::SUCCESS }
}

/// Where and why the last panic happened.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps a panic for [`panicked`]; a hook's own panic is caught by the executor, which reports it.
pub(crate) fn remember_panic(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("no message");
    let cause = match info.location() {
        Some(place) => format!("{message} at {}:{}", place.file(), place.line()),
        None => message.to_owned(),
    };
    *locked(&PANIC) = Some(cause);
}

/// Returns the error that the last panic is.
pub(crate) fn panicked() -> CommandError {
    let cause = locked(&PANIC).take().unwrap_or_default();
    CommandError::internal(format!("internal error: {cause}"))
        .hint("this is a defect of hookexec, and no answer to the event; please report it")
}

#[cfg(test)]
mod tests {
    use hookexec::Event;

    use super::*;

    #[test]
    fn only_an_allowed_verdict_is_a_success() {
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        assert_eq!(Exit::of(&verdict), Exit::SUCCESS);
        verdict.decision = Some(Decision::Allow);
        assert_eq!(Exit::of(&verdict), Exit::SUCCESS);
        verdict.allowed = false;
        assert_eq!(Exit::of(&verdict), Exit::DENIED);
        verdict.decision = Some(Decision::Ask);
        assert_eq!(Exit::of(&verdict), Exit::ASK);
        verdict.decision = None;
        assert_eq!(Exit::of(&verdict), Exit::DENIED);
    }
}
