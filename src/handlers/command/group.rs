//! A child that leads its own process group, and the one place that signals it.
//!
//! Invariant: the group is signalled only until its leader is reaped, since its number may then be
//! given away. The one exception is [`Group::wait_and_sweep`]. Background jobs of a hook that ended on
//! its own are therefore never signalled.

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::time::sleep;

/// How often a program that is being written to is tried again, and how long apart.
const BUSY_TRIES: u32 = 20;
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// A running child and everything it started that stayed in its group.
///
/// * **Order**: [`terminate`](Self::terminate), a kill timeout, [`kill`](Self::kill), then
///   [`wait`](Self::wait). Signals come before `wait`: once the leader is reaped they do nothing.
/// * **Cancellation**: dropping any future of this type loses nothing; call again.
/// * **Drop** before `wait` has returned: SIGKILL to the group at once; the leader is reaped in the
///   background. After it: nothing is signalled.
/// * **Panic**: unwinding drops it.
/// * **Descendants** are reached unless they left the group (`setsid`); those live on.
#[derive(Debug)]
pub(crate) struct Group {
    /// `None` only while dropping.
    child: Option<Child>,
    /// `None` once the leader was reaped.
    id: Option<Pid>,
}

impl Group {
    /// Starts `command` as the leader of a new process group.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Self { child: Some(child), id })
    }

    /// Starts `command` like [`spawn`](Self::spawn), and again and again while its program is being
    /// written to.
    ///
    /// A script that another thread of this process has just written stays busy for as long as a
    /// child started meanwhile holds a copy of the descriptor: until it has become another program.
    pub(crate) async fn spawn_patiently(
        command: &mut Command,
        deadline: Instant,
    ) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            match Self::spawn(command) {
                Err(error)
                    if error.raw_os_error() == Some(Errno::TXTBSY.raw_os_error())
                        && tries < BUSY_TRIES
                        && Instant::now() < deadline => {}
                ended => return ended,
            }
            tries += 1;
            sleep(BUSY_PAUSE).await;
        }
    }

    /// Hands over the child's end of stdin, once, when it is a pipe.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.as_mut()?.stdin.take()
    }

    /// Hands over the child's end of stdout, once, when it is a pipe.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.as_mut()?.stdout.take()
    }

    /// Hands over the child's end of stderr, once, when it is a pipe.
    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.as_mut()?.stderr.take()
    }

    /// Waits until the leader ends, and reaps it. From then on the group is not signalled any more.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.reap().await;
        // Also after an error: who reaped the child then is not known, only that it may be reaped.
        self.id = None;
        status
    }

    /// Waits like [`wait`](Self::wait), and when the leader has ended on its own kills what is
    /// left of its group (SIGKILL): a child that served for long leaves nothing behind.
    ///
    /// This is the one exception to the rule that a reaped leader's group is not signalled. The number
    /// is still taken while any member lives. If none does, it became free only now, and the system
    /// gives numbers out in turn: this one comes up again only after all others.
    pub(crate) async fn wait_and_sweep(&mut self) -> io::Result<ExitStatus> {
        let status = self.reap().await;
        if status.is_ok() {
            self.kill();
        }
        self.id = None;
        status
    }

    async fn reap(&mut self) -> io::Result<ExitStatus> {
        match &mut self.child {
            Some(child) => child.wait().await,
            None => Err(io::Error::other("the child is gone")),
        }
    }

    /// Lets the group run on: it is not signalled any more, and the system reaps its leader.
    pub(crate) fn leave(mut self) {
        self.id = None;
    }

    /// Returns the leader's process id, until it is reaped.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.id.map(|id| id.as_raw_nonzero().get().cast_unsigned())
    }

    /// Waits until the leader has ended, without reaping it, so that the rest of its group can
    /// still be signalled. It looks again and again: for the short time of a kill timeout only.
    pub(crate) async fn exited(&self) {
        let mut pause = Duration::from_millis(1);
        while !self.has_exited() {
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Asks every process of the group to end (SIGTERM).
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends every process of the group (SIGKILL).
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn has_exited(&self) -> bool {
        let Some(id) = self.id else { return true };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that the child is gone.
        !matches!(waitid(WaitId::Pid(id), options), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // It fails when no process is left, or when the hook changed its user: no way further.
            let _ = kill_process_group(id, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.id.is_none() {
            return;
        }
        self.kill();
        // A task of its own leaves no zombie and needs no SIGCHLD handler in the host's program.
        // Without a runtime Tokio's queue of orphans takes the child when it is dropped.
        if let (Some(mut child), Ok(runtime)) = (self.child.take(), Handle::try_current()) {
            runtime.spawn(async move { child.wait().await });
        }
    }
}
