//! The same work inside of processes of different size: this benchmark starts itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{self, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::command::{COMMAND, Hooks, hook};
use crate::support;

/// Says how many bytes the process is to hold.
const VARIABLE: &str = "BENCH_BALLAST";

/// Returns whether this process was started by [`Child::start`].
pub(crate) fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Dispatches one event for each line on stdin, and says how many nanoseconds it took.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn serve() {
    let bytes = std::env::var(VARIABLE).unwrap().parse().unwrap();
    // Every byte is written, so that all of it is resident.
    let ballast = vec![1_u8; bytes];
    let mut hooks = Hooks::new(&hook(COMMAND), 1);
    let input = support::input(2_000);
    for _ in std::io::stdin().lines() {
        println!("{}", hooks.dispatch(&input).as_nanos());
    }
    assert!(std::hint::black_box(ballast).iter().all(|byte| *byte == 1));
}

/// A process of a certain size that runs hooks on demand.
pub(crate) struct Child {
    process: process::Child,
    /// `None` once it was told to end.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Child {
    pub(crate) fn start(bytes: usize) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .env(VARIABLE, bytes.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Self { stdin: process.stdin.take(), stdout, process }
    }

    pub(crate) fn dispatch(&mut self) -> Duration {
        self.stdin.as_ref().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        Duration::from_nanos(line.trim().parse().unwrap())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.process.wait();
    }
}
