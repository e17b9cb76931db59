//! A child that leads its own process group, and the one place that signals it. On Windows a job
//! object is the group.
//!
//! Invariant: the group is signalled only until its leader is reaped, since its number may then be
//! given away. The one exception is [`Group::wait_and_sweep`]. Background jobs of a hook that ended on
//! its own are therefore never signalled.

mod output;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

use std::io;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::time::sleep;

pub use output::{Capture, Stream};
use system::{Leader, is_busy};
pub use system::{Output, add_raw, write_at_once};

/// Our ends of a child's stdin, stdout and stderr.
type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

/// A running child and everything it started that stayed in its group.
///
/// * **Order**: [`terminate`](Self::terminate), a kill timeout, [`kill`](Self::kill), then
///   `wait`. Signals come before `wait`: once the leader is reaped they do nothing.
/// * **Cancellation**: dropping any future of this type loses nothing; call again.
/// * **Drop** before `wait` has returned: SIGKILL to the group at once; the leader is reaped in the
///   background. After it: nothing is signalled.
/// * **Panic**: unwinding drops it.
/// * **Descendants** are reached unless they left the group (`setsid`); those live on.
#[derive(Debug)]
pub struct Group {
    /// `None` only while dropping.
    leader: Option<Leader>,
    /// `None` once the leader was reaped.
    id: Option<u32>,
}

impl Group {
    /// Starts `command` as the leader of a new process group.
    ///
    /// # Errors
    /// When the system can't start it.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let leader = Leader::spawn(command)?;
        Ok(Self { id: leader.id(), leader: Some(leader) })
    }

    /// Starts `command` like [`spawn`](Self::spawn), and again and again while its program is being
    /// written to.
    ///
    /// A script that another thread of this process has just written stays busy for as long as a
    /// child started meanwhile holds a copy of the descriptor: until it has become another program.
    pub async fn spawn_patiently(command: &mut Command, deadline: Instant) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            match Self::spawn(command) {
                Err(error)
                    // How often a program that is being written to is tried again, and how long apart.
                    if is_busy(&error) && tries < 20 && Instant::now() < deadline => {}
                ended => return ended,
            }
            tries += 1;
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Hands over our ends of the child's stdin, stdout and stderr, once, where they are pipes.
    pub fn take_pipes(&mut self) -> Pipes {
        self.leader.as_mut().map(Leader::take_pipes).unwrap_or_default()
    }

    /// Waits until the leader ends, and reaps it. From then on the group is not signalled any more.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.reap().await;
        // Also after an error: who reaped the child then is not known, only that it may be reaped.
        self.id = None;
        status
    }

    /// Waits like `wait`, and when the leader has ended on its own kills what is
    /// left of its group (SIGKILL): a child that served for long leaves nothing behind.
    ///
    /// This is the one exception to the rule that a reaped leader's group is not signalled. The number
    /// is still taken while any member lives. If none does, it became free only now, and the system
    /// gives numbers out in turn: this one comes up again only after all others.
    ///
    /// # Errors
    /// When another part of the program has reaped the leader.
    pub async fn wait_and_sweep(&mut self) -> io::Result<ExitStatus> {
        let status = self.reap().await;
        if status.is_ok() {
            self.kill();
        }
        self.id = None;
        status
    }

    async fn reap(&mut self) -> io::Result<ExitStatus> {
        match &mut self.leader {
            Some(leader) => leader.wait().await,
            None => Err(io::Error::other("the child is gone")),
        }
    }

    /// Lets the group run on: it is not signalled any more, and the system reaps its leader.
    pub fn leave(mut self) {
        self.id = None;
    }

    /// Returns the leader's process id, until it is reaped.
    pub fn pid(&self) -> Option<u32> {
        self.id
    }

    /// Waits until the leader has ended, without reaping it, so that the rest of its group can
    /// still be signalled. It looks again and again: for the short time of a kill timeout only.
    pub async fn exited(&mut self) {
        let mut pause = Duration::from_millis(1);
        while self.running().is_some_and(|leader| !leader.has_exited()) {
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Asks every process of the group to end (SIGTERM). Windows can't ask: it ends them at once.
    pub fn terminate(&mut self) {
        if let Some(leader) = self.running() {
            leader.terminate();
        }
    }

    /// Ends every process of the group (SIGKILL).
    pub fn kill(&mut self) {
        if let Some(leader) = self.running() {
            leader.kill();
        }
    }

    /// Returns the leader until it is reaped.
    fn running(&mut self) -> Option<&mut Leader> {
        self.leader.as_mut().filter(|_| self.id.is_some())
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
        if let (Some(mut leader), Ok(runtime)) = (self.leader.take(), Handle::try_current()) {
            runtime.spawn(async move { leader.wait().await });
        }
    }
}
