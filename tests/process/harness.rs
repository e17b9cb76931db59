//! A project with scripted hooks in it, and an executor that calls them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hookexec::executor::{DispatchOptions, ProcessStatistics};
use hookexec::{Config, Event, Executor, Input, Verdict};
use serde_json::{Value, json};

use crate::state::until;

/// Longer than anything of these tests takes, on whatever machine.
pub(crate) const HANG: Duration = Duration::from_mins(1);

/// A directory in which hooks run.
pub(crate) struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self { directory: tempfile::tempdir().unwrap() };
        project.write("hook.py", include_str!("hook.py"));
        project
    }

    /// Returns a project with one scripted hook, `p.py`.
    pub(crate) fn with(script: &str) -> Self {
        let project = Self::new();
        project.script("p.py", script);
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Writes a hook in Python.
    pub(crate) fn script(&self, name: &str, text: &str) {
        self.write(name, &format!("from hook import *\n{text}"));
    }

    /// Returns what a hook noted, once it has.
    pub(crate) async fn noted(&self, name: &str) -> String {
        until(name, || self.path(name).exists()).await;
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns an executor for a whole configuration.
    pub(crate) fn executor(&self, yaml: &str) -> Executor {
        let config = Config::from_yaml(yaml, self.path("hooks.yaml"))
            .unwrap_or_else(|problems| panic!("{problems}\n{yaml}"));
        // The system's own programs first: a version manager's stand-ins take longer than the hooks.
        let mut path = OsString::from("/usr/local/bin:/usr/bin:/bin:");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let env = [("PATH", path), ("HOME", self.directory.path().into())];
        let env: BTreeMap<_, _> = env.map(|(name, value)| (OsString::from(name), value)).into();
        Executor::builder(config)
            .working_dir(self.directory.path())
            .env(env)
            .build()
            .unwrap_or_else(|problems| panic!("{problems}\n{yaml}"))
    }

    /// Returns an executor that calls `p.py` at `events`; `options` are keys of its entry.
    pub(crate) fn one(&self, events: &[Event], options: &str) -> Executor {
        self.executor(&one(events, options))
    }
}

/// Returns a configuration that calls `p.py` at `events`.
pub(crate) fn one(events: &[Event], options: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|place| place.join("python3").is_file());
    assert!(found, "this test needs `python3`, which is not on the PATH: install it");
    let mut yaml = format!("processes:\n  p: {{ command: [python3, p.py]{options} }}\nhooks:\n");
    for event in events {
        writeln!(yaml, "  {event}:\n    - hooks: [{{ type: process, command: p, timeout: 60 }}]")
            .unwrap();
    }
    // Events without tools take the hooks directly.
    for event in events.iter().filter(|event| !event.contract().tool_matched) {
        yaml = yaml.replace(
            &format!("  {event}:\n    - hooks: [{{ type: process, command: p, timeout: 60 }}]"),
            &format!("  {event}:\n    - {{ type: process, command: p, timeout: 60 }}"),
        );
    }
    yaml
}

/// Returns a call of a shell tool.
pub(crate) fn shell(command: &str) -> Input {
    tool("shell", json!({ "cmd": command }))
}

/// Returns a call of a tool.
pub(crate) fn tool(name: &str, arguments: Value) -> Input {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    Input::for_tool(name, arguments).with_session("s")
}

/// Asks the guard of a shell command; fails when there is no verdict in time.
pub(crate) async fn ask(executor: &Executor, command: &str) -> Verdict {
    dispatch(executor, Event::PreToolUse, &shell(command)).await
}

/// Dispatches an event; fails when there is no verdict in time.
pub(crate) async fn dispatch(executor: &Executor, event: Event, input: &Input) -> Verdict {
    let verdict = tokio::time::timeout(2 * HANG, executor.dispatch(event, input)).await;
    verdict.expect("the dispatch never ended")
}

/// Asks about the call of a shell, and needs the answer by `deadline`.
pub(crate) async fn ask_until(executor: &Executor, deadline: Instant) -> Verdict {
    let options = DispatchOptions { until: Some(deadline), ..DispatchOptions::default() };
    executor.run(Event::PreToolUse, &shell("ls"), options).await
}

/// Shuts an executor down; fails when that never ends.
pub(crate) async fn shutdown(executor: &Executor) {
    let shutdown = tokio::time::timeout(HANG, executor.shutdown(HANG)).await;
    shutdown.expect("the shutdown never ended");
}

/// Returns the error of the only hook.
pub(crate) fn error(verdict: &Verdict) -> &str {
    let [hook] = &verdict.hooks[..] else { panic!("{verdict:#?}") };
    hook.error.as_deref().unwrap_or_else(|| panic!("no error: {verdict:#?}"))
}

/// Returns what was counted about the only process.
pub(crate) fn statistics(executor: &Executor) -> ProcessStatistics {
    let [statistics] = &executor.process_statistics()[..] else { panic!() };
    statistics.clone()
}

/// Returns whether a process lives; a zombie does not.
pub(crate) fn lives(pid: u32) -> bool {
    crate::state::lives(pid)
}
