//! The parts of the command that only Windows has.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::windows::process::CommandExt as _;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

/// Opens the terminal for reading and writing, whatever stdin is.
pub(crate) fn terminal() -> io::Result<(File, File)> {
    let keyboard = File::options().read(true).write(true).open("CONIN$")?;
    Ok((keyboard, File::options().read(true).write(true).open("CONOUT$")?))
}

/// The events of a console that end a command.
pub(crate) struct Signals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    /// Takes the events over; until then they end the process.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, terminate: ctrl_break()?, close: ctrl_close()? })
    }

    /// Waits for the next of them and returns its name, and the number that Unix has for it.
    pub(crate) async fn next(&mut self) -> (&'static str, u8) {
        tokio::select! {
            _ = self.interrupt.recv() => ("Ctrl-C", 2),
            _ = self.terminate.recv() => ("Ctrl-Break", 15),
            _ = self.close.recv() => ("the closing of the console", 1),
        }
    }
}

/// Returns whether stdout is missing: the standard library drops what is written to it.
#[expect(clippy::unnecessary_wraps, reason = "the other system may fail")]
pub(crate) fn stdout_is_closed() -> io::Result<bool> {
    let kind = winapi_util::file::typ(io::stdout());
    Ok(kind.map_or(true, |kind| kind.is_unknown()))
}

/// Writes all of `text` to stderr on a thread of its own, which may take up to `patience`.
pub(crate) fn write_hurried(text: &[u8], patience: Duration) -> io::Result<()> {
    let (done, written) = mpsc::channel();
    let text = text.to_owned();
    std::thread::spawn(move || done.send(io::stderr().write_all(&text)));
    written.recv_timeout(patience).map_err(|_| io::ErrorKind::TimedOut)?
}

/// Waits for ever: a write fails once the reader of stdout has closed it.
pub(crate) fn wait_until_stdout_is_closed() {
    loop {
        std::thread::park();
    }
}

/// Makes a child that Ctrl-C in this process's console does not reach.
pub(crate) fn detach(command: &mut Command) -> &mut Command {
    // DETACHED_PROCESS: the child has no console. CREATE_NEW_PROCESS_GROUP: Ctrl-C does not reach it.
    command.creation_flags(0x0000_0008 | 0x0000_0200)
}

/// Does nothing: Windows has no such limit.
pub(crate) fn raise_open_files() {}
