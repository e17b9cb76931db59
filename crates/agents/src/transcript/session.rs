//! One session of a transcript: its calls, each with its result, and each once.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Found, Transcript};
use crate::Agent;
use crate::read::{AgentInputError, NativeCall, read_call};
use hookexec_files::locks::locked;

/// The calls that were seen. A session that is resumed repeats those of the one before.
#[derive(Debug, Default)]
pub struct SeenCalls(Mutex<HashSet<u64>>);

/// A session while its transcript is read.
pub(super) struct Session<'s> {
    pub(super) agent: Agent,
    pub(super) before: &'static str,
    /// The transcript.
    pub(super) path: &'s Path,
    /// Calls before this time don't count, as RFC 3339 in UTC.
    pub(super) since: &'s str,
    pub(super) seen: &'s SeenCalls,
    /// Gets what is found.
    pub(super) each: &'s mut dyn FnMut(Found),
    pub(super) id: String,
    /// The working directory of the line.
    pub(super) cwd: String,
    /// The directory in which the session began.
    pub(super) project: String,
    /// The time of the line, as RFC 3339 in UTC.
    pub(super) time: String,
    pub(super) transcript: Transcript,
    /// Calls under names that may be none of the tool's, until a line says more.
    pub(super) held: HashMap<String, (String, Value)>,
    /// The payload of each call that has no result yet.
    pub(super) waiting: HashMap<String, Value>,
}

impl Session<'_> {
    /// Sets the working directory; the first one is the project.
    pub(super) fn work_in(&mut self, directory: &str) {
        directory.clone_into(&mut self.cwd);
        if self.project.is_empty() {
            directory.clone_into(&mut self.project);
        }
    }

    /// Gives a call of a tool, if it is new.
    pub(super) fn call(&mut self, id: &str, tool: &str, arguments: &Value) {
        self.held.remove(id);
        let text = arguments.to_string();
        if self.is_past() || self.waiting.contains_key(id) || !self.seen.add(id, tool, &text) {
            return;
        }
        let payload = json!({ "tool_name": tool, "tool_input": arguments, "tool_use_id": id });
        self.give(self.before, payload.clone());
        // How many calls may wait for their results.
        if self.waiting.len() < 10_000 {
            self.waiting.insert(id.to_owned(), payload);
        }
    }

    /// Keeps a call that counts under this name only if its result comes first.
    pub(super) fn hold(&mut self, id: &str, tool: &str, arguments: Value) {
        if self.held.len() < 10_000 {
            self.held.insert(id.to_owned(), (tool.to_owned(), arguments));
        }
    }

    /// Gives the result of a call: the agent's event, and a member of its payload.
    pub(super) fn result(
        &mut self,
        id: &str,
        event: &'static str,
        key: &'static str,
        value: &Value,
    ) {
        if let Some((tool, arguments)) = self.held.remove(id) {
            self.call(id, &tool, &arguments);
        }
        if self.is_past() {
            return;
        }
        let Some(mut payload) = self.waiting.remove(id) else { return };
        payload[key] = value.clone();
        self.give(event, payload);
    }

    /// Returns whether the line is older than what counts.
    fn is_past(&self) -> bool {
        self.time.as_str() < self.since
    }

    /// Gives the call of a payload that the agent would have written at `event`.
    fn give(&mut self, event: &'static str, mut payload: Value) {
        payload["hook_event_name"] = event.into();
        payload["session_id"] = self.id.as_str().into();
        payload["cwd"] = self.cwd.as_str().into();
        let (Value::Object(payload), Some(native)) = (payload, self.agent.native_event(event))
        else {
            unreachable!("the events of transcripts are in the tables of the agents");
        };
        let call = match read_call(self.agent, native, payload, |_| None) {
            Ok(call) => Ok(Box::new(NativeCall { project: self.project.clone(), ..call })),
            Err(cause) => Err(AgentInputError::new(self.agent, Some(native), &cause)),
        };
        (self.each)(Found::Call { time: self.time.clone(), call });
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
