//! How often in a row hooks kept an agent's model at work.
//!
//! A `stop` hook that always blocks never ends: Droid made 322 model calls in a minute. Claude Code
//! counts itself. For the other agents the count of a session stands in a file of the state
//! directory, above the last reason: Gemini CLI gives the reason back as if a user had written it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use hookexec::{Decision, Event, MAX_CONTINUES, Verdict};
use hookexec_files::directories::state_directory;
use hookexec_files::files;
use serde_json::Value;

use crate::{Agent, NativeCall};

/// Counts a verdict that keeps the model at work, and lets the model stop after [`MAX_CONTINUES`] in a
/// row. A prompt of the user, and a stop that goes through, begin a new count.
pub fn limit_stops(call: &NativeCall, verdict: &mut Verdict) {
    if call.agent == Agent::ClaudeCode {
        return;
    }
    let stops = match call.event {
        Some(Event::Stop | Event::SubagentStop) => true,
        Some(Event::UserPromptSubmit | Event::SessionEnd) => false,
        _ => return,
    };
    let count = count_of(call);
    if !stops && count.as_deref().is_some_and(|path| is_own_prompt(call, path)) {
        return;
    }
    if !stops || verdict.decision != Some(Decision::Deny) {
        if let Some(path) = count {
            let _ = fs::remove_file(path);
        }
        return;
    }
    let added = match count {
        Some(path) => add_one(&path, verdict.message.as_deref().unwrap_or_default()),
        None => Err(io::ErrorKind::NotFound.into()),
    };
    let told = match added {
        Ok(true) => return,
        Ok(false) => format!("hooks kept the model at work {MAX_CONTINUES} times in a row"),
        Err(error) => format!("can't count how often hooks kept the model at work: {error}"),
    };
    let reason = verdict.message.take().unwrap_or_default();
    verdict.tell(&format!("hookexec: {told}, it may stop now; the last reason was: {reason}"));
    verdict.decision = None;
    verdict.allowed = true;
}

/// Returns the file with the count of a session, or of one of its subagents.
fn count_of(call: &NativeCall) -> Option<PathBuf> {
    let mut subagent = "";
    if call.event == Some(Event::SubagentStop)
        && let Some(Value::String(id)) = call.input.extra.get("agent_id")
    {
        subagent = id;
    }
    let (agent, session) = (call.agent.name(), &call.input.session_id);
    let key = format!("{agent}\0{session}\0{subagent}\0");
    let name = &files::digest(key.as_bytes())[..32];
    Some(state_directory()?.join("hookexec/stops").join(name))
}

/// Returns whether a prompt is the reason for which the model was kept at work.
fn is_own_prompt(call: &NativeCall, path: &Path) -> bool {
    let Some(prompt) = &call.input.prompt else { return false };
    let text = fs::read_to_string(path).unwrap_or_default();
    let (_, reason) = text.split_once('\n').unwrap_or_default();
    !reason.trim().is_empty() && prompt.contains(reason.trim())
}

/// Counts one more, and returns whether it is within the bound. A file that does not begin with a number
/// counts as full: the model may stop.
fn add_one(path: &Path, reason: &str) -> io::Result<bool> {
    let count = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        read => read?.lines().next().and_then(|line| line.parse().ok()).unwrap_or(MAX_CONTINUES),
    };
    if count >= MAX_CONTINUES {
        let _ = fs::remove_file(path);
        return Ok(false);
    }
    files::replace_private(path, format!("{}\n{reason}\n", count + 1).as_bytes())?;
    Ok(true)
}
