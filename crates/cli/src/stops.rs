//! How often in a row hooks kept an agent's model at work.
//!
//! A `stop` hook that always blocks never ends: Droid made 322 model calls in a minute. Claude Code
//! counts itself. For the other agents the count of a session stands in a file of the state
//! directory.

use std::path::{Path, PathBuf};
use std::{fs, io};

use hookexec::event::MAX_CONTINUES;
use hookexec::internal::{files, state_directory};
use hookexec::{Decision, Event, Verdict};
use hookexec_agents::{Agent, NativeCall};

/// Counts a verdict that keeps the model at work, for the highest layer that denies, and lets the
/// model stop after [`MAX_CONTINUES`] in a row. A prompt of the user, and a stop that goes through,
/// begin new counts.
pub(super) fn limit(call: &NativeCall, verdict: &mut Verdict) {
    if call.agent == Agent::ClaudeCode {
        return;
    }
    let stops = match call.event {
        Some(Event::Stop | Event::SubagentStop) => true,
        Some(Event::UserPromptSubmit | Event::SessionEnd) => false,
        _ => return,
    };
    let counts = counts_of(call);
    if !stops || verdict.decision != Some(Decision::Deny) {
        let _ = counts.map(fs::remove_file);
        return;
    }
    let rank = verdict.rank_of(Decision::Deny).unwrap_or_default();
    let added = counts.map_or_else(|| Err(io::ErrorKind::NotFound.into()), |it| add(&it, rank));
    let told = match added {
        Ok(true) => return,
        Ok(false) => format!("hooks kept the model at work {MAX_CONTINUES} times in a row"),
        Err(error) => format!("can't count how often hooks kept the model at work: {error}"),
    };
    let reason = verdict.message.take().unwrap_or_default();
    let told = format!("hookexec: {told}, it may stop now; the last reason was: {reason}");
    let said = verdict.system_message.take();
    verdict.system_message = Some(said.into_iter().chain([told]).collect::<Vec<_>>().join("\n"));
    verdict.decision = None;
    verdict.allowed = true;
}

/// Returns the file with the counts of a session, or of one of its subagents: a number for each
/// rank of layers.
fn counts_of(call: &NativeCall) -> Option<PathBuf> {
    let subagent = call.input.extra.get("agent_id").and_then(|id| id.as_str());
    let subagent = subagent.filter(|_| call.event == Some(Event::SubagentStop));
    let parts = [call.agent.name(), &call.input.session_id, subagent.unwrap_or_default()];
    let name = &files::digest(parts.map(|part| format!("{part}\0")).concat().as_bytes())[..32];
    Some(state_directory()?.join("hookexec/stops").join(name))
}

/// Counts one more for the layers of `rank`, and returns whether it is within the bound.
fn add(path: &Path, rank: usize) -> io::Result<bool> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    let count = |number: &str| number.parse().unwrap_or(MAX_CONTINUES);
    let mut counts: Vec<u32> = text.split_whitespace().map(count).collect();
    counts.resize(counts.len().max(rank + 1), 0);
    if counts[rank] >= MAX_CONTINUES {
        let _ = fs::remove_file(path);
        return Ok(false);
    }
    counts[rank] += 1;
    let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
    files::replace_private(path, format!("{}\n", counts.join(" ")).as_bytes())?;
    Ok(true)
}
