//! A project whose hooks are given as JSON, which is YAML, too.

use std::path::PathBuf;
use std::time::Duration;

use hookexec::{Config, Event, Executor, Input, Verdict};
use serde_json::{Value, json};

/// Longer than any of these tests takes, on whatever machine.
pub(crate) const HANG: Duration = Duration::from_mins(1);

/// A directory with an executor of its own.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    /// Writes a file with a mode.
    pub(crate) fn file(&self, name: &str, text: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Returns an executor of command hooks, all for one event.
    pub(crate) fn executor(&self, event: Event, hooks: &[Value]) -> Executor {
        let hooks: Vec<Value> = hooks
            .iter()
            .map(|hook| {
                let mut hook = hook.clone();
                hook["type"] = json!("command");
                hook
            })
            .collect();
        let hooks = if event.contract().tool_matched {
            json!([{ "matcher": "shell", "hooks": hooks }])
        } else {
            json!(hooks)
        };
        let text = json!({ "hooks": { event.name(): hooks } }).to_string();
        let config = Config::from_yaml(&text, "hooks.yaml").unwrap();
        Executor::builder(config).working_dir(self.path()).build().unwrap()
    }

    pub(crate) async fn verdict(&self, event: Event, hooks: &[Value]) -> Verdict {
        self.executor(event, hooks).dispatch(event, &input()).await
    }
}

/// A tool call; events that are matched by no tool don't mind.
pub(crate) fn input() -> Input {
    let arguments = json!({ "cmd": "ls", "cwd": "/tmp" });
    Input::for_tool("shell", arguments.as_object().unwrap().clone())
}
