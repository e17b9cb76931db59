//! `elide_repeated_tool_results`: says "unchanged" where the model has the same response already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::{BuiltinError, Surroundings, Work};
use hookexec::matcher::Matcher;
use hookexec::{Contract, Event, Input, Output, Rewrite};
use hookexec_calls::only_reads;
use hookexec_files::files::digest;
use hookexec_files::locks::locked;

/// The events after which the model may have lost a response.
const FORGETTING: [Event; 7] = [
    Event::SessionStart,
    Event::SessionEnd,
    Event::OnSessionResume,
    Event::OnAgentSwitch,
    Event::PreCompact,
    Event::BeforeCompaction,
    Event::AfterCompaction,
];

pub(super) fn suits(contract: &Contract) -> bool {
    contract.rewrite == Rewrite::ToolResponse || FORGETTING.contains(&contract.event)
}

pub(super) fn prepare(_: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let tools: Vec<Matcher> = args.iter().map(|arg| Matcher::new(arg)).collect::<Result<_, _>>()?;
    let memory = Mutex::new(Memory::default());
    Ok(Arc::new(move |input| {
        let mut memory = locked(&memory);
        if matches!(input.hook_event_name, Some(event) if FORGETTING.contains(&event)) {
            memory.remove(&input.session_id);
            return Ok(None);
        }
        let may_be_elided = match &*tools {
            [] => only_reads(input),
            tools => tools.iter().any(|matcher| matcher.matches(input.tool())),
        };
        let Some(response) = &input.tool_response else { return Ok(None) };
        if !may_be_elided || input.tool_error == Some(true) {
            return Ok(None);
        }
        let answer = serde_json::to_string(response)?;
        // A shorter response is not worth a line in its place.
        if answer.len() < 200 || !repeats(&mut memory, input, digest(answer.as_bytes())) {
            return Ok(None);
        }
        let unchanged =
            "[unchanged: the response is the same as that to the identical call before]";
        Ok(Some(Output::tool_response(Value::String(unchanged.to_owned()))))
    }))
}

/// The calls of each session.
type Memory = HashMap<String, HashMap<String, Call>>;

#[derive(Debug, Default)]
struct Call {
    id: Option<String>,
    answer: Option<String>,
    elided: bool,
}

/// Returns the entry of `key`. All entries are forgotten once there are `most`: a response is then given
/// once more.
fn entry<V: Default>(entries: &mut HashMap<String, V>, key: String, most: usize) -> &mut V {
    if entries.len() == most && !entries.contains_key(&key) {
        entries.clear();
    }
    entries.entry(key).or_default()
}

/// Remembers an answer, and returns whether the model has it already.
fn repeats(memory: &mut Memory, input: &Input, answer: String) -> bool {
    let key = format!("{:?} {:?} {:?}", input.agent_name, input.tool(), input.tool_input);
    let key = digest(key.as_bytes());
    let calls = entry(memory, input.session_id.clone(), 64);
    let call = entry(calls, key, 1024);
    // The same call may pass twice, before and after another hook's rewrite.
    let same_call = call.id.is_some() && call.id == input.tool_use_id;
    let elided = call.answer.as_ref() == Some(&answer) && !call.elided && !same_call;
    *call = Call { id: input.tool_use_id.clone(), answer: Some(answer), elided };
    elided
}
