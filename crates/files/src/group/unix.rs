//! Process groups, and pipes that can be asked without waiting.

use std::io;
use std::os::fd::AsFd;
use std::process::ExitStatus;

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, Command};

use super::Pipes;

/// The leader of a process group.
#[derive(Debug)]
pub(super) struct Leader {
    child: Child,
    id: Option<Pid>,
}

impl Leader {
    /// Starts `command` as the leader of a new process group.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Self { child, id })
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.id.map(|id| id.as_raw_nonzero().get().cast_unsigned())
    }

    pub(super) fn take_pipes(&mut self) -> Pipes {
        let child = &mut self.child;
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    }

    /// Waits until the leader ends, and reaps it.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Returns whether the leader has ended, without reaping it.
    pub(super) fn has_exited(&mut self) -> bool {
        let Some(id) = self.id else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that the child is gone.
        !matches!(waitid(WaitId::Pid(id), options), Ok(None))
    }

    /// Asks every process of the group to end (SIGTERM).
    pub(super) fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Ends every process of the group (SIGKILL).
    pub(super) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // It fails when no process is left, or when the hook changed its user: no way further.
            let _ = kill_process_group(id, signal);
        }
    }
}

/// Returns whether a program could not be started because it is being written to.
pub(super) fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::TXTBSY.raw_os_error())
}

/// Adds an argument: a program gets its arguments one by one, and not as a line.
pub fn add_raw(command: &mut Command, text: &str) {
    command.arg(text);
}

/// Writes what an empty pipe takes at once, and returns how much that was. The reactor would learn
/// that the pipe is ready only after every other hook of the event was started, and this child would
/// wait.
pub fn write_at_once(pipe: &ChildStdin, input: &[u8]) -> usize {
    rustix::io::write(pipe, input).unwrap_or(0)
}

/// An output stream of a child.
pub trait Output: AsyncRead + AsFd + Unpin {}

impl<T: AsyncRead + AsFd + Unpin> Output for T {}

/// Reads what the child left in a pipe, without waiting; 0 at the end of it. Asks the
/// system itself, because the reactor may not have heard of the last bytes when it hears of the
/// child's exit.
pub(super) async fn read_left(pipe: &mut impl Output, buffer: &mut [u8]) -> usize {
    retry_on_intr(|| rustix::io::read(&*pipe, &mut *buffer)).unwrap_or(0)
}
