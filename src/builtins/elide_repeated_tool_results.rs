//! `elide_repeated_tool_results`: says "unchanged" where the model has the same response already.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Argument, Prepared, Shipped, Surroundings, tool};
use crate::event::{Event, Rewrite};
use crate::matcher::Matcher;
use crate::wire::{Input, Output};

pub(super) const ELIDE_REPEATED_TOOL_RESULTS: Shipped = Shipped {
    name: "elide_repeated_tool_results",
    about: "Replaces a response that the model has already by one line",
    arguments: &[Argument {
        usage: "PATTERN...",
        optional: true,
        about: "Tools whose responses may be elided, as in `matcher`; when left out, those that are \
                known to only read.",
    }],
    details: include_str!("details/elide_repeated_tool_results.md"),
    example: "tool_response_transform:\n  - hooks:\n      - { type: builtin, command: elide_repeated_tool_results }\nafter_compaction:\n  - { type: builtin, command: elide_repeated_tool_results }",
    suits: |contract| {
        contract.rewrite == Rewrite::ToolResponse || FORGETTING.contains(&contract.event)
    },
    rewrites: true,
    prepare,
    ..Shipped::DEFAULT
};

/// The events after which the model has not everything that it was told.
const FORGETTING: [Event; 7] = [
    Event::SessionStart,
    Event::SessionEnd,
    Event::OnSessionResume,
    Event::OnAgentSwitch,
    Event::PreCompact,
    Event::BeforeCompaction,
    Event::AfterCompaction,
];
/// The shortest response that is worth a line in its place, in bytes.
const SHORTEST: usize = 200;
const MOST_SESSIONS: usize = 64;
const MOST_CALLS: usize = 1024;

fn prepare(_: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    let tools: Vec<Matcher> = args
        .iter()
        .map(|arg| Matcher::new(arg).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    let memory = Mutex::new(Memory::default());
    Ok(Box::new(move |input| {
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        if input.hook_event_name.is_some_and(|event| FORGETTING.contains(&event)) {
            memory.forget(&input.session_id);
            return Ok(None);
        }
        let may_be_elided = match &*tools {
            [] => tool::only_reads(input),
            tools => tools.iter().any(|matcher| matcher.matches(input.tool())),
        };
        let Some(response) = input.tool_response.as_ref().filter(|_| may_be_elided) else {
            return Ok(None);
        };
        let answer = serde_json::to_string(response)?;
        if input.tool_error == Some(true) || answer.len() < SHORTEST {
            return Ok(None);
        }
        let repeated = memory.repeats(input, hash(&[&answer]));
        Ok(repeated.then(|| {
            Output::tool_response(Value::String(
                "[unchanged: the response is the same as that to the identical call before]".into(),
            ))
        }))
    }))
}

/// What each session was told.
#[derive(Debug, Default)]
struct Memory {
    sessions: HashMap<String, Session>,
    /// Counts the calls, to tell what was used last.
    clock: u64,
}

#[derive(Debug, Default)]
struct Session {
    used: u64,
    calls: HashMap<[u8; 32], Call>,
}

#[derive(Debug)]
struct Call {
    used: u64,
    id: Option<String>,
    answer: [u8; 32],
    elided: bool,
}

impl Memory {
    /// Remembers an answer, and returns whether the model has it already.
    fn repeats(&mut self, input: &Input, answer: [u8; 32]) -> bool {
        self.clock += 1;
        let now = self.clock;
        if !self.sessions.contains_key(&input.session_id) {
            make_room(&mut self.sessions, MOST_SESSIONS, |session| session.used);
        }
        let session = self.sessions.entry(input.session_id.clone()).or_default();
        session.used = now;
        let arguments =
            input.tool_input.as_ref().map(|input| Value::Object(input.clone()).to_string());
        let agent = input.agent_name.as_deref().unwrap_or_default();
        let key = hash(&[agent, input.tool(), arguments.as_deref().unwrap_or_default()]);
        if !session.calls.contains_key(&key) {
            make_room(&mut session.calls, MOST_CALLS, |call| call.used);
        }
        let known = session.calls.get(&key);
        // The same call may pass twice, before and after another hook's rewrite.
        let same_call = known.is_some_and(|call| call.id.is_some() && call.id == input.tool_use_id);
        let elided = known.is_some_and(|call| call.answer == answer && !call.elided && !same_call);
        let id = input.tool_use_id.clone();
        session.calls.insert(key, Call { used: now, id, answer, elided });
        elided
    }

    fn forget(&mut self, session: &str) {
        self.sessions.remove(session);
    }
}

/// Removes what was used longest ago when there is no room for one more.
fn make_room<K: Clone + Eq + std::hash::Hash, V>(
    entries: &mut HashMap<K, V>,
    most: usize,
    used: impl Fn(&V) -> u64,
) {
    if entries.len() < most {
        return;
    }
    let oldest = entries.iter().min_by_key(|(_, entry)| used(entry)).map(|(key, _)| key.clone());
    if let Some(oldest) = oldest {
        entries.remove(&oldest);
    }
}

fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
