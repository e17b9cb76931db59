//! One session of a transcript: its calls, each with its result, and each once.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::Found;
use crate::Agent;
use crate::read::{AgentInputError, NativeCall, call};
use hookexec_files::locks::locked;

/// The calls that were seen. A session that is resumed repeats those of the one before.
#[derive(Debug, Default)]
pub struct SeenCalls(Mutex<HashSet<u64>>);

/// A session while its transcript is read.
pub(super) struct Session {
    agent: Agent,
    before: &'static str,
    /// The transcript.
    pub(super) path: PathBuf,
    pub(super) id: String,
    /// The working directory of the line.
    pub(super) cwd: String,
    /// The directory in which the session began.
    pub(super) project: String,
    /// The time of the line, as RFC 3339 in UTC.
    pub(super) time: String,
    pub(super) version: Option<String>,
    pub(super) is_known: bool,
    /// Each with its time.
    steps: Vec<(String, Step)>,
    /// Calls under names that may be none of the tool's, until a line says more.
    held: HashMap<String, (String, Value)>,
    /// Each call that has no result yet.
    waiting: HashMap<String, Waiting>,
    waiting_bytes: usize,
}

/// A call that has no result yet.
struct Waiting {
    tool: String,
    arguments: Value,
    /// How much memory it counts for.
    bytes: usize,
}

enum Step {
    Call { id: String, tool: String, arguments: Value },
    Result { id: String, event: &'static str, key: &'static str, value: Value },
}

impl Session {
    pub(super) fn new(agent: Agent, before: &'static str, path: &Path) -> Self {
        Self {
            agent,
            before,
            path: path.to_owned(),
            id: String::new(),
            cwd: String::new(),
            project: String::new(),
            time: String::new(),
            version: None,
            is_known: false,
            steps: Vec::new(),
            held: HashMap::new(),
            waiting: HashMap::new(),
            waiting_bytes: 0,
        }
    }

    /// Sets the working directory; the first one is the project.
    pub(super) fn work_in(&mut self, directory: &str) {
        directory.clone_into(&mut self.cwd);
        if self.project.is_empty() {
            directory.clone_into(&mut self.project);
        }
    }

    /// Adds a call of a tool.
    pub(super) fn call(&mut self, id: &str, tool: &str, arguments: Value) {
        self.held.remove(id);
        let step = Step::Call { id: id.to_owned(), tool: tool.to_owned(), arguments };
        self.steps.push((self.time.clone(), step));
    }

    /// Adds a call that counts under this name only if its result comes first.
    pub(super) fn hold(&mut self, id: &str, tool: &str, arguments: Value) {
        if self.held.len() < 10_000 {
            self.held.insert(id.to_owned(), (tool.to_owned(), arguments));
        }
    }

    /// Adds the result of a call: the agent's event, and a member of its payload.
    pub(super) fn result(
        &mut self,
        id: &str,
        event: &'static str,
        key: &'static str,
        value: &Value,
    ) {
        if let Some((tool, arguments)) = self.held.remove(id) {
            self.call(id, &tool, arguments);
        }
        let step = Step::Result { id: id.to_owned(), event, key, value: value.clone() };
        self.steps.push((self.time.clone(), step));
    }

    /// Gives what was added since the last time to `each`.
    pub(super) fn give(&mut self, since: &str, seen: &SeenCalls, each: &mut impl FnMut(Found)) {
        for (time, step) in std::mem::take(&mut self.steps) {
            if time.as_str() < since {
                continue;
            }
            let call = match step {
                Step::Call { id, tool, arguments } => {
                    let text = arguments.to_string();
                    if self.waiting.contains_key(&id) || !seen.add(&id, &tool, &text) {
                        continue;
                    }
                    let call = self.read(self.before, &id, &tool, &arguments, None);
                    // As text, and what a call takes beside it.
                    let bytes = text.len() + 1024;
                    if self.waiting_bytes + bytes <= 64 << 20 {
                        self.waiting_bytes += bytes;
                        self.waiting.insert(id, Waiting { tool, arguments, bytes });
                    }
                    call
                }
                Step::Result { id, event, key, value } => {
                    let Some(call) = self.waiting.remove(&id) else { continue };
                    let Waiting { tool, arguments, bytes } = call;
                    self.waiting_bytes -= bytes;
                    self.read(event, &id, &tool, &arguments, Some((key, value)))
                }
            };
            each(Found::Call { time, call: call.map(Box::new) });
        }
    }

    /// Reads the payload that the agent would have written at `event`.
    fn read(
        &self,
        event: &'static str,
        id: &str,
        tool: &str,
        arguments: &Value,
        result: Option<(&str, Value)>,
    ) -> Result<NativeCall, AgentInputError> {
        let mut payload = json!({
            "hook_event_name": event,
            "session_id": self.id,
            "cwd": self.cwd,
            "tool_name": tool,
            "tool_input": arguments,
            "tool_use_id": id,
        });
        if let Some((key, value)) = result {
            payload[key] = value;
        }
        let (Value::Object(payload), Some(native)) = (payload, self.agent.native_event(event))
        else {
            unreachable!("the events of transcripts are in the tables of the agents");
        };
        let found = call(self.agent, native, payload, |_| None);
        let mut found = found.map_err(|cause| AgentInputError {
            agent: self.agent,
            native: Some(native.name),
            cause: cause.to_string(),
        })?;
        found.project.clone_from(&self.project);
        Ok(found)
    }
}

impl SeenCalls {
    /// Adds a call, and returns whether it is new.
    fn add(&self, id: &str, tool: &str, arguments: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (id, tool, arguments).hash(&mut hasher);
        locked(&self.0).insert(hasher.finish())
    }
}
