//! Job objects, and pipes that can't be asked without waiting.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;
use std::{io, mem};

use process_wrap::tokio::{ChildWrapper, CommandWrap, CommandWrapper, JobObject};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStdin, Command};
use tokio::time::timeout;

use super::Pipes;

/// A child in a job object, with everything that it starts.
#[derive(Debug)]
pub(super) struct Leader {
    child: Box<dyn ChildWrapper>,
}

/// Adds our flags to those of [`JobObject`], which resumes the child.
#[derive(Debug)]
struct WithoutWindow;

impl CommandWrapper for WithoutWindow {
    fn pre_spawn(&mut self, command: &mut Command, _core: &CommandWrap) -> io::Result<()> {
        // CREATE_NO_WINDOW: no console window appears, and Ctrl-C in the agent's console does not reach
        // the hook. CREATE_SUSPENDED: the child runs once it is in its job, so that nothing it starts is
        // outside.
        command.creation_flags(0x0800_0000 | 0x0000_0004);
        Ok(())
    }
}

impl Leader {
    /// Starts `command` in a new job object.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        check_name(command.as_std().get_program().as_ref())?;
        let mut wrap = CommandWrap::from(mem::replace(command, Command::new("")));
        // In this order: flags that are set later replace those before.
        let child = wrap.wrap(JobObject).wrap(WithoutWindow).spawn();
        *command = wrap.into_command();
        Ok(Self { child: child? })
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    pub(super) fn take_pipes(&mut self) -> Pipes {
        let child = &mut self.child;
        (child.stdin().take(), child.stdout().take(), child.stderr().take())
    }

    /// Waits until the child itself ends; the job may go on.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.inner_mut().wait().await
    }

    /// Returns whether the child itself has ended.
    pub(super) fn has_exited(&mut self) -> bool {
        !matches!(self.child.inner_mut().try_wait(), Ok(None))
    }

    /// Ends every process of the job: Windows can't ask a process to end.
    pub(super) fn terminate(&mut self) {
        self.kill();
    }

    /// Ends every process of the job.
    pub(super) fn kill(&mut self) {
        // It fails when no process is left.
        let _ = self.child.start_kill();
    }
}

/// Checks that the file `program` is what the standard library starts: it prefers `check.cmd.exe` to
/// `check.cmd`, and an approval covers the file of the name that is written.
fn check_name(program: &Path) -> io::Result<()> {
    if program.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("exe")) {
        return Ok(());
    }
    let other = program.with_added_extension("exe");
    if !other.exists() {
        return Ok(());
    }
    let other = other.display();
    Err(io::Error::other(format!("Windows would start `{other}`: name that file, or remove it")))
}

/// Returns whether a program could not be started because it is being written to.
pub(super) fn is_busy(error: &io::Error) -> bool {
    // ERROR_SHARING_VIOLATION: a program that another process is writing can't be opened.
    error.raw_os_error() == Some(32)
}

/// Adds text to the command line as it is.
pub fn add_raw(command: &mut Command, text: &str) {
    command.raw_arg(text);
}

/// Writes nothing: a thread of Tokio's writes to the pipe.
pub fn write_at_once(_pipe: &ChildStdin, _input: &[u8]) -> usize {
    0
}

/// An output stream of a child.
pub trait Output: AsyncRead + Unpin {}

impl<T: AsyncRead + Unpin> Output for T {}

/// Reads what the child left in a pipe, and waits for it for a moment; 0 at the end of it.
pub(super) async fn read_left(pipe: &mut impl Output, buffer: &mut [u8]) -> usize {
    let patience = Duration::from_millis(100);
    timeout(patience, pipe.read(buffer)).await.map_or(0, Result::unwrap_or_default)
}
