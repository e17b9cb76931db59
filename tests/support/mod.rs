//! A hermetic place to run the command in: own home, own project, own environment.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The root of the repository.
#[allow(dead_code, reason = "not every suite reads files of the repository")]
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// How long a run may take before the test gives up on it; no test waits this long for success.
const HANG: Duration = Duration::from_mins(2);

/// A temporary home and project, and nothing of the machine's own configuration.
pub(crate) struct Sandbox {
    root: TempDir,
}

impl Sandbox {
    /// Returns a sandbox whose project is empty.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sandbox = Self { root };
        // A repository's root, beyond which no hooks file is looked for.
        let repository = sandbox.project().join(".git");
        for directory in [sandbox.home(), repository, sandbox.root.path().join("tmp")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        sandbox
    }

    /// Returns the home directory.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Returns the project: where the command runs.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Writes a file of the project and returns its path.
    #[track_caller]
    pub(crate) fn write(&self, path: impl AsRef<Path>, text: &str) -> PathBuf {
        needs_programs_of(text);
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes the user's own hooks file and returns its path.
    #[track_caller]
    pub(crate) fn write_users_hooks(&self, text: &str) -> PathBuf {
        self.write(self.home().join(".config/hookexec/hooks.yaml"), text)
    }

    /// Writes a file of the project that can be run.
    #[track_caller]
    pub(crate) fn script(&self, path: impl AsRef<Path>, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(path, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Returns a file of the project, as text.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Returns `text` with the sandbox's own path written as `[SANDBOX]`.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(self.root.path().to_str().unwrap(), "[SANDBOX]")
    }

    /// Gives `command` the sandbox's environment: `PATH` and nothing else of the caller's.
    pub(crate) fn dress<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let home = self.home();
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("TMPDIR", self.root.path().join("tmp"))
            .current_dir(self.project())
    }

    /// Approves the hooks files of the project as they are.
    pub(crate) fn trust(&self) {
        let _ = self.hookexec(["trust", "add", "--yes"]).run().exits(0);
    }

    /// Returns a run of `hookexec` with the given arguments and an empty stdin.
    pub(crate) fn hookexec<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Run<'_> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookexec"));
        self.dress(&mut command).args(args);
        Run { sandbox: self, command, stdin: Vec::new() }
    }
}

/// A command about to run.
#[must_use = "call `run`"]
pub(crate) struct Run<'s> {
    sandbox: &'s Sandbox,
    command: Command,
    stdin: Vec<u8>,
}

impl Run<'_> {
    /// Sets what it reads.
    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets where it runs.
    pub(crate) fn current_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.command.current_dir(path);
        self
    }

    /// Starts it with pipes on all three streams, for tests that do more than wait.
    pub(crate) fn spawn(mut self) -> Child {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Runs it to its end.
    #[track_caller]
    pub(crate) fn run(self) -> Done {
        let sandbox = self.sandbox;
        let stdin = self.stdin.clone();
        let mut child = self.spawn();
        let mut pipe = child.stdin.take().unwrap();
        thread::spawn(move || {
            // A command that does not read is not this test's concern.
            let _ = pipe.write_all(&stdin);
        });
        let output = wait(child);
        Done {
            status: output.status,
            stdout: sandbox.plain(&String::from_utf8(output.stdout).unwrap()),
            stderr: sandbox.plain(&String::from_utf8_lossy(&output.stderr)),
        }
    }
}

/// Programs that tests run, and that are not part of every system.
const PROGRAMS: [&str; 3] = ["python3", "node", "jq"];

/// Fails with the name of the program that is missing: a hook without its program only says "denied".
#[track_caller]
pub(crate) fn needs(program: &str) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    assert!(found, "this test needs `{program}`, which is not on the PATH: install it");
}

/// Fails like [`needs`] for each program that a hooks file or a script names.
#[track_caller]
fn needs_programs_of(text: &str) {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    for word in words.filter(|word| PROGRAMS.contains(word)) {
        needs(word);
    }
}

/// Waits until `condition` holds, and gives up after a long while rather than hang.
#[track_caller]
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < HANG, "never happened: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal, such as `-TERM`, to a child.
pub(crate) fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

/// Waits for the end of `child`, and gives up after a long while rather than hang.
#[track_caller]
pub(crate) fn wait(child: Child) -> Output {
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(HANG) else {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        panic!("still running after {HANG:?}");
    };
    output.unwrap()
}

/// How a run ended.
#[derive(Debug)]
#[must_use = "assert the exit code with `exits`"]
pub(crate) struct Done {
    status: ExitStatus,
    /// Its stdout, the sandbox's path as `[SANDBOX]`.
    pub(crate) stdout: String,
    /// Its stderr, the sandbox's path as `[SANDBOX]`.
    pub(crate) stderr: String,
}

impl Done {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self:#?}");
        self
    }

    /// Returns the exit code, or `None` after a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Returns stdout as JSON: exactly one line.
    #[track_caller]
    pub(crate) fn json_line(&self) -> serde_json::Value {
        let line = self.stdout.strip_suffix('\n').expect("stdout ends its line");
        assert!(!line.contains('\n'), "one line: {self:#?}");
        serde_json::from_str(line).unwrap()
    }

    /// Returns everything that is said: exit code, stdout, stderr; for snapshots.
    pub(crate) fn whole(&self) -> String {
        let code = self.status.code().map_or("signal".to_owned(), |code| code.to_string());
        format!("exit {code}\n-- stdout\n{}-- stderr\n{}", self.stdout, self.stderr)
    }
}

/// Compares a generated file of the repository with what it should be; `UPDATE=1` writes it.
#[track_caller]
pub(crate) fn assert_generated(path: &str, expected: &str) {
    let file = Path::new(ROOT).join(path);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, expected).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    if found != expected {
        let line = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count() + 1;
        panic!(
            "{path} is out of date from line {line} on; regenerate it: UPDATE=1 cargo test --test {}",
            env!("CARGO_CRATE_NAME")
        );
    }
}
