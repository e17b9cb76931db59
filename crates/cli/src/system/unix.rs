//! The parts of the command that only a Unix system has.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use tokio::signal::unix::{self, SignalKind, signal};

/// Opens the terminal for reading and writing, whatever stdin is.
pub(crate) fn terminal() -> io::Result<(File, File)> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    Ok((terminal.try_clone()?, terminal))
}

/// The signals that end a command.
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
}

impl Signals {
    /// Takes the signals over; until then they end the process.
    pub(crate) fn listen() -> io::Result<Self> {
        // A limit on the size of files is an error of the write that meets it, and not the end.
        let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next of them and returns its name and number.
    pub(crate) async fn next(&mut self) -> (&'static str, u8) {
        tokio::select! {
            _ = self.interrupt.recv() => ("SIGINT", 2),
            _ = self.terminate.recv() => ("SIGTERM", 15),
            _ = self.hangup.recv() => ("SIGHUP", 1),
        }
    }
}

/// Returns whether stdout was closed when this process started: the standard library has put the null
/// device in its place.
pub(crate) fn stdout_is_closed() -> io::Result<bool> {
    let stdout = rustix::fs::fstat(io::stdout())?;
    Ok(stdout.st_rdev == rustix::fs::stat("/dev/null")?.st_rdev)
}

/// Writes all of `text` to stderr, which may take up to `patience` each time it is not ready.
pub(crate) fn write_hurried(text: &[u8], patience: Duration) -> io::Result<()> {
    // What POSIX lets no pipe that is ready block on.
    let wait = Timespec {
        tv_sec: patience.as_secs().try_into().unwrap_or_default(),
        tv_nsec: patience.subsec_nanos().into(),
    };
    let mut stderr = io::stderr().lock();
    for part in text.chunks(512) {
        if poll(&mut [PollFd::new(&io::stderr(), PollFlags::OUT)], Some(&wait))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stderr.write_all(part)?;
    }
    Ok(())
}

/// Returns once the reader of stdout has closed it.
pub(crate) fn wait_until_stdout_is_closed() {
    let stdout = io::stdout();
    // Without a wish, errors and hang-ups are all that is reported.
    let mut stdout = [PollFd::new(&stdout, PollFlags::empty())];
    while poll(&mut stdout, None) == Err(Errno::INTR) {}
}

/// Makes a child that a signal to this process's group does not reach.
pub(crate) fn detach(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Raises the limit of open files where it is low, as on macOS, as far as the system lets it.
pub(crate) fn raise_open_files() {
    // The hooks of a project open some 300: 32 processes, 32 hooks that run and 32 in the background,
    // with three pipes each.
    let wanted = 1024;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let current = limit.maximum.unwrap_or(wanted).min(wanted);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    }
}
