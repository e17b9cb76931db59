//! How often in a row hooks kept an agent's model at work.
//!
//! A `stop` hook that always blocks never ends: Droid made 322 model calls in a minute. Claude Code
//! counts itself. For the other agents the count of a session stands in a file of the state
//! directory.

use std::io;
use std::path::PathBuf;

use etcetera::BaseStrategy as _;
use hookexec::event::MAX_CONTINUES;
use hookexec::internal::files;
use hookexec::{Decision, Event, Verdict};
use hookexec_agents::{Agent, NativeCall};

/// Counts a verdict that keeps the model at work, and lets the model stop after [`MAX_CONTINUES`]
/// in a row. A prompt of the user, and a stop that goes through, begin a new count.
pub(super) fn limit(call: &NativeCall, verdict: &mut Verdict) {
    if call.agent == Agent::ClaudeCode {
        return;
    }
    let stops = match call.event {
        Some(Event::Stop | Event::SubagentStop) => true,
        Some(Event::UserPromptSubmit | Event::SessionEnd) => false,
        _ => return,
    };
    let count = Count::of(call);
    if !stops || verdict.decision != Some(Decision::Deny) {
        if let Some(count) = count {
            count.reset();
        }
        return;
    }
    let told = match count.map_or_else(|| Err(io::ErrorKind::NotFound.into()), |it| it.add()) {
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

/// The count of one session, or of one of its subagents.
struct Count(PathBuf);

impl Count {
    fn of(call: &NativeCall) -> Option<Self> {
        let base = etcetera::base_strategy::Xdg::new().ok()?;
        let subagent = call.input.extra.get("agent_id").and_then(|id| id.as_str());
        let subagent = subagent.filter(|_| call.event == Some(Event::SubagentStop));
        let parts = [call.agent.name(), &call.input.session_id, subagent.unwrap_or_default()];
        let name = &files::digest(parts.map(|part| format!("{part}\0")).concat().as_bytes())[..32];
        Some(Self(base.state_dir()?.join("hookexec/stops").join(name)))
    }

    /// Counts one more and returns whether it is within the bound.
    fn add(&self) -> io::Result<bool> {
        let count = match std::fs::read_to_string(&self.0) {
            Ok(text) => text.trim().parse().unwrap_or(MAX_CONTINUES),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        if count >= MAX_CONTINUES {
            self.reset();
            return Ok(false);
        }
        files::replace_private(&self.0, format!("{}\n", count + 1).as_bytes())?;
        Ok(true)
    }

    fn reset(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
