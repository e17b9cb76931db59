//! A terminal, with `hookexec` in it and a person before it.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use super::support::{Sandbox, needs, until, wait};

/// Runs a command in a terminal, copies its own input and output there, and exits as it does. At the
/// end of its input it types Ctrl-D.
const SCRIPT: &str = r"
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.write(2, str(pid).encode() + b'\n')
sources = [terminal, 0]
while True:
    ready = select.select(sources, [], [])[0]
    if 0 in ready:
        typed = os.read(0, 4096)
        os.write(terminal, typed or b'\x04')
        if not typed:
            sources.remove(0)
    if terminal in ready:
        try:
            shown = os.read(terminal, 4096)
        except OSError:
            break
        if not shown:
            break
        os.write(1, shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
";

pub(crate) struct Terminal {
    /// `None` once it has ended.
    child: Option<Child>,
    shown: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    pid: String,
}

impl Terminal {
    /// Starts `hookexec` with its arguments.
    pub(crate) fn open(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        needs("python3");
        let mut command = Command::new("python3");
        sandbox.dress(&mut command).args(["-c", SCRIPT, env!("CARGO_BIN_EXE_hookexec")]);
        let pipes = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let screen = Arc::clone(&shown);
        let reader = thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut piece) {
                bytes.extend_from_slice(&piece[..count]);
                *screen.lock().unwrap() = String::from_utf8_lossy(&bytes).replace('\r', "");
            }
        });
        let mut pid = Vec::new();
        let stderr = child.stderr.as_mut().unwrap();
        let mut byte = [0];
        while stderr.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            pid.push(byte[0]);
        }
        let (child, reader) = (Some(child), Some(reader));
        Self { child, shown, reader, pid: String::from_utf8(pid).unwrap() }
    }

    /// Returns what it shows.
    pub(crate) fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// Waits until it shows `text`, or until the command has ended; returns whether it shows it.
    pub(crate) fn shows_or_ends(&self, text: &str) -> bool {
        let shows = || self.shown().contains(text);
        until(text, || shows() || self.reader.as_ref().is_none_or(JoinHandle::is_finished));
        shows()
    }

    /// Waits until it shows `text`.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        assert!(self.shows_or_ends(text), "{text:?} is missing:\n{}", self.shown());
    }

    /// Types a line.
    pub(crate) fn types(&mut self, line: &str) {
        let keyboard = self.child.as_mut().unwrap().stdin.as_mut().unwrap();
        // The command may have ended.
        let _ = keyboard.write_all(format!("{line}\n").as_bytes());
    }

    /// Sends a signal to the command.
    pub(crate) fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.pid]).status().unwrap().success());
    }

    /// Types Ctrl-D, waits for the end, and returns the exit code and what the terminal showed.
    pub(crate) fn ends(mut self) -> (i32, String) {
        let mut child = self.child.take().unwrap();
        drop(child.stdin.take());
        let status = wait(child).status;
        self.reader.take().unwrap().join().unwrap();
        (status.code().unwrap(), self.shown.lock().unwrap().clone())
    }
}

impl Drop for Terminal {
    /// Ends a command that the test left open: it would run on without a terminal.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = Command::new("kill").args(["-KILL", &self.pid]).status();
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
