//! One question as a person reads it: the call in its final form, and where it comes from.

use std::time::{Duration, Instant};

use hookexec::Input;
use hookexec::wire::{ApprovalReason, JsonObject, call_digest, parse_strict};
use jiff::Timestamp;
use serde_json::Value;

/// A call that waits for a person.
///
/// It keeps texts and no JSON: a small document can take much memory.
#[derive(Debug)]
pub(super) struct Question {
    /// The digest of what will run.
    pub(super) digest: String,
    /// Who wants to run it where: an approval for a session counts for these.
    pub(super) session: Session,
    pub(super) tool: String,
    pub(super) arguments: Vec<Argument>,
    /// Which hooks asked, and why.
    pub(super) reasons: Vec<String>,
    pub(super) cwd: String,
    deadline: Instant,
}

/// The session of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) agent: String,
    pub(super) id: String,
}

/// An argument of the tool, in its final form or as it was before.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) text: String,
    /// What hooks did to it, behind its name.
    pub(super) note: &'static str,
    pub(super) is_old: bool,
}

impl Question {
    /// Reads the line that a caller sent. The digest must be that of the call which is shown.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let input = parse_strict(text).map_err(|error| error.to_string())?;
        let Value::Object(input) = input else { return Err("it is not an object".to_owned()) };
        let input = Input::from_json(input).map_err(|error| error.to_string())?;
        let digest = call_digest(&input);
        let tool = input.tool().to_owned();
        let Input { session_id, cwd, agent_name, tool_input, approval, .. } = input;
        let asked = approval.ok_or("`approval` is missing")?;
        if asked.digest != digest {
            return Err("its digest is that of another call".to_owned());
        }
        let expires: Timestamp =
            asked.expires.parse().map_err(|error| format!("`expires`: {error}"))?;
        // A duration that is negative is over.
        let left = Duration::try_from(expires.duration_since(Timestamp::now())).unwrap_or_default();
        Ok(Self {
            digest,
            session: Session { agent: agent_name.unwrap_or_default(), id: session_id },
            tool,
            arguments: compared(&tool_input.unwrap_or_default(), asked.original_input.as_ref()),
            reasons: asked.reasons.iter().map(reason).collect(),
            cwd,
            deadline: Instant::now().checked_add(left).ok_or("`expires` is too far away")?,
        })
    }

    /// Returns how long an answer still counts.
    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the first part of its digest, for people to compare.
    pub(super) fn short_digest(&self) -> &str {
        let digest = self.digest.strip_prefix("sha256:").unwrap_or(&self.digest);
        digest.get(..12).unwrap_or(digest)
    }

    /// Returns the call in one line; what may be long comes last.
    pub(super) fn call(&self) -> String {
        let arguments = self.arguments.iter().filter(|argument| !argument.is_old);
        let arguments = arguments.map(|Argument { name, text, .. }| format!(", `{name}`: {text}"));
        format!("{}, digest {}{}", self.tool, self.short_digest(), arguments.collect::<String>())
    }

    /// Returns the agent, its session and its directory in one line.
    pub(super) fn origin(&self) -> String {
        let Session { agent, id } = &self.session;
        let agent = if agent.is_empty() { "an agent" } else { agent };
        let session = if id.is_empty() { String::new() } else { format!(", session {id}") };
        format!("{agent}{session}, in {}", self.cwd)
    }
}

fn reason(asked: &ApprovalReason) -> String {
    let ApprovalReason { hook, event, reason, .. } = asked;
    let hook = hook.as_deref().unwrap_or("the agent");
    let event = event.map(|event| format!(" ({event})")).unwrap_or_default();
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    format!("{hook}{event}: {reason}")
}

/// Returns the arguments as they will be, each with what it was if hooks changed it.
fn compared(now: &JsonObject, before: Option<&JsonObject>) -> Vec<Argument> {
    let argument = |name: &str, value: &Value, note, is_old| Argument {
        name: name.to_owned(),
        text: shown(value),
        note,
        is_old,
    };
    let mut arguments = Vec::new();
    for (name, value) in now {
        let old = before.map(|before| before.get(name));
        let note = if old == Some(None) { ", added by hooks" } else { "" };
        arguments.push(argument(name, value, note, false));
        if let Some(Some(old)) = old
            && old != value
        {
            arguments.push(argument(name, old, " before hooks changed it", true));
        }
    }
    let removed = before.into_iter().flatten().filter(|(name, _)| !now.contains_key(*name));
    arguments
        .extend(removed.map(|(name, value)| argument(name, value, ", removed by hooks", true)));
    arguments
}

/// Returns a value as text: a text as it is, anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
