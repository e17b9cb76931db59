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

/// Counts a verdict that keeps the model at work, and lets the model stop after [`MAX_CONTINUES`] in a
/// row. A prompt of the user, and a stop that goes through, begin a new count.
pub(super) fn limit(call: &NativeCall, verdict: &mut Verdict) {
    if call.agent == Agent::ClaudeCode {
        return;
    }
    let stops = match call.event {
        Some(Event::Stop | Event::SubagentStop) => true,
        Some(Event::UserPromptSubmit | Event::SessionEnd) => false,
        _ => return,
    };
    let count = count_of(call);
    if !stops || verdict.decision != Some(Decision::Deny) {
        let _ = count.map(fs::remove_file);
        return;
    }
    let added = count.ok_or_else(|| io::ErrorKind::NotFound.into()).and_then(|path| add_one(&path));
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

/// Returns the file with the count of a session, or of one of its subagents.
fn count_of(call: &NativeCall) -> Option<PathBuf> {
    let subagent = call.input.extra.get("agent_id").and_then(|id| id.as_str());
    let subagent = subagent.filter(|_| call.event == Some(Event::SubagentStop));
    let parts = [call.agent.name(), &call.input.session_id, subagent.unwrap_or_default()];
    let name = &files::digest(parts.map(|part| format!("{part}\0")).concat().as_bytes())[..32];
    Some(state_directory()?.join("hookexec/stops").join(name))
}

/// Counts one more, and returns whether it is within the bound. A file that is not a number counts as
/// full: the model may stop.
fn add_one(path: &Path) -> io::Result<bool> {
    let count = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        read => read?.trim().parse().unwrap_or(MAX_CONTINUES),
    };
    if count >= MAX_CONTINUES {
        let _ = fs::remove_file(path);
        return Ok(false);
    }
    files::replace_private(path, format!("{}\n", count + 1).as_bytes())?;
    Ok(true)
}
