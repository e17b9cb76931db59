//! A hook in a directory of its own, run through its handler.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookexec::config::{Command, Hook};
use hookexec::{BuildError, Call, Event, Handler, HandlerEnv, HandlerError, Input, Registry};

/// Longer than any hook of these tests takes, on whatever machine.
pub(crate) const HANG: Duration = Duration::from_mins(1);

/// A project directory and the environment that hooks inherit in it.
pub(crate) struct Project {
    directory: tempfile::TempDir,
    pub(crate) env: BTreeMap<OsString, OsString>,
}

impl Project {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let home = directory.path().as_os_str().to_owned();
        let env = [("PATH".into(), path), ("HOME".into(), home)].into();
        Self { directory, env }
    }

    /// The directory, without symbolic links.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.into(), value.into());
    }

    /// Writes a file with a mode.
    pub(crate) fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    pub(crate) fn build(&self, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
        let env = HandlerEnv::new(self.path(), self.env.clone());
        Registry::new().factory("command").unwrap().build(&env, hook)
    }

    /// Runs a hook on `input`, within the hook's timeout.
    pub(crate) async fn run(&self, hook: &Hook, input: &Input) -> Result<Ended, HandlerError> {
        call(&*self.build(hook).unwrap(), hook, input).await
    }

    /// Runs a shell string without much input.
    pub(crate) async fn sh(&self, text: &str) -> Result<Ended, HandlerError> {
        self.run(&shell(text), &Input::default()).await
    }
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit_code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) warnings: Vec<String>,
}

/// Runs a handler once.
pub(crate) async fn call(
    handler: &dyn Handler,
    hook: &Hook,
    input: &Input,
) -> Result<Ended, HandlerError> {
    let call = Call::new(hook.event, input, Instant::now() + hook.timeout);
    let call = call.described_by(&hookexec_calls::KnownTools);
    let result = handler.run(&call).await?;
    let Some((exit_code, stdout, stderr)) = result.program() else {
        panic!("a command answers as a program: {result:?}");
    };
    let (stdout, stderr) = (stdout.to_vec(), stderr.to_vec());
    Ok(Ended { exit_code, stdout, stderr, warnings: result.warnings })
}

/// A hook that a shell runs.
pub(crate) fn shell(text: &str) -> Hook {
    hook(Command::Text(text.to_owned()))
}

/// A hook that runs a program.
pub(crate) fn argv<const N: usize>(words: [&str; N]) -> Hook {
    hook(Command::Argv(words.map(str::to_owned).to_vec()))
}

fn hook(command: Command) -> Hook {
    let mut hook = Hook::new(Event::PreToolUse, "command", command);
    hook.timeout = HANG;
    hook
}

/// Returns the number that a hook wrote into a file.
pub(crate) fn read_number(path: &Path) -> i32 {
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// Returns the text of an output stream.
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
