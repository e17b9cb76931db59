//! The parts of the command that only Windows has.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

/// The end of a program's file name.
pub(crate) const PROGRAM_ENDING: &str = ".exe";

/// The child has no console, and Ctrl-C in the one of this process does not reach it.
const DETACHED_PROCESS: u32 = 0x0000_0008;
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Whether the shell of every agent starts `/bin/sh`: some use PowerShell or cmd.
pub(crate) const HAS_SH: bool = false;

/// Opens the terminal for reading and writing, whatever stdin is.
pub(crate) fn terminal() -> io::Result<(File, File)> {
    let keyboard = File::options().read(true).write(true).open("CONIN$")?;
    Ok((keyboard, File::options().read(true).write(true).open("CONOUT$")?))
}

/// Punctuation that Git Bash, PowerShell and cmd leave alone, beside ASCII letters and digits.
const PLAIN_LETTERS: &str = "/._-+:~";

/// Returns a path as it is written into settings, or why it can't be.
///
/// Git Bash, PowerShell and cmd all take `C:/x/y.exe` for a program. Each of them quotes in another
/// way, and some agents escape the quotes once more. So a path with a space is written by its short
/// name, such as `C:/Users/JODOE~1/y.exe`. Other letters, such as `&`, stay in short names as well.
pub(crate) fn settings_path(path: &Path) -> Result<String, &'static str> {
    plain(path)
        .or_else(|| plain(&with_short_names(path)?))
        .ok_or("needs quotes, which Git Bash, PowerShell and cmd read in different ways,")
}

/// Returns `path` with slashes, if no shell needs quotes for it.
fn plain(path: &Path) -> Option<String> {
    let text = path.to_str()?.replace('\\', "/");
    for letter in text.chars() {
        if !letter.is_ascii_alphanumeric() && !PLAIN_LETTERS.contains(letter) {
            return None;
        }
    }
    Some(text)
}

/// Returns `path` with short names for the parts that need quotes, if the disk keeps such names. No
/// safe call tells them, but `dir` does: its lines end with the short name and the name.
fn with_short_names(path: &Path) -> Option<PathBuf> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Some(path.to_owned());
    };
    let above = with_short_names(above)?;
    if plain(Path::new(name)).is_some() {
        return Some(above.join(name));
    }
    let listed = Command::new("cmd")
        .raw_arg(r#"/d /v:off /u /c dir /x /a "%HOOKEXEC_PATH%*""#)
        .env("HOOKEXEC_PATH", path)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let pairs = listed.stdout.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let text = String::from_utf16_lossy(&pairs.collect::<Vec<_>>());
    let (name, real) = (name.to_str()?, dunce::canonicalize(path).ok()?);
    for line in text.lines() {
        if let Some(before) = line.trim_end().strip_suffix(name)
            && let Some(word) = before.split_whitespace().next_back()
            && dunce::canonicalize(above.join(word)).is_ok_and(|found| found == real)
        {
            return Some(above.join(word));
        }
    }
    None
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
    command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP)
}

/// Does nothing: Windows has no such limit.
pub(crate) fn raise_open_files() {}

/// Does nothing: see [`detach`].
pub(crate) fn leave_session() {}

/// Does nothing: a file inherits the rights of its directory.
pub(crate) fn with_mode(options: &mut OpenOptions, _mode: u32) -> &mut OpenOptions {
    options
}

/// Returns whether Windows starts the program at `path`.
pub(crate) fn is_for_everyone(path: &Path) -> bool {
    path.is_file()
}

/// Does nothing: the name makes a program.
#[expect(clippy::unnecessary_wraps, reason = "the other system may fail")]
pub(crate) fn make_program(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Copies nothing: a file inherits the rights of its directory.
#[expect(clippy::unnecessary_wraps, reason = "the other system may fail")]
pub(crate) fn keep_attributes(_old: &File, _new: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_space_is_written_by_its_short_name() {
        let directory = tempfile::tempdir().unwrap();
        let directory = dunce::canonicalize(directory.path()).unwrap();
        let odd = directory.join("Jo Doe").join("My Tools");
        std::fs::create_dir_all(&odd).unwrap();
        for rest in ["hookexec.exe", "not/there/yet/hookexec-1.0.0.exe"] {
            let path = odd.join(rest);
            let written = settings_path(&path).unwrap();
            assert!(written.ends_with(&format!("/{rest}")), "{written}");
            assert!(!written.contains([' ', '\\']), "{written}");
            let real = Path::new(written.strip_suffix(rest).unwrap());
            assert_eq!(dunce::canonicalize(real).unwrap(), odd, "{written}");
        }
        for odd in ["not there", "it's"] {
            assert!(settings_path(&directory.join(odd).join("hookexec.exe")).is_err(), "{odd}");
        }
        assert_eq!(settings_path(Path::new(r"C:\x\y.exe")).as_deref(), Ok("C:/x/y.exe"));
    }
}
