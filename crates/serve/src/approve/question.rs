//! One question as a person reads it: the call in its final form, and where it comes from.

use std::time::{Duration, Instant};

use hookexec::Input;
use hookexec::wire::{ApprovalReason, JsonObject, WireError, call_digest, parse_strict};
use hookexec_files::plain::{visible, visible_line};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

/// A call that waits for a person.
///
/// It keeps texts and no JSON: a small document can take much memory. Every character that an eye
/// would miss is an escape in them.
#[derive(Debug)]
pub struct Question {
    /// The digest of what will run.
    pub digest: String,
    /// The name of the tool.
    pub tool: String,
    /// The reasons, the origin and the arguments.
    pub parts: Vec<Part>,
    deadline: Instant,
}

/// A part of a question: a reason, the origin, an argument of the tool.
#[derive(Debug, Serialize)]
pub struct Part {
    /// The name of the part.
    pub title: String,
    /// The text of the part.
    pub text: String,
    /// Whether it is an argument as it was before hooks changed it.
    is_old: bool,
}

/// Why a line is not a question.
#[derive(Debug, thiserror::Error)]
pub(super) enum QuestionError {
    #[error(transparent)]
    Text(#[from] std::str::Utf8Error),
    #[error(transparent)]
    Json(#[from] WireError),
    #[error("it is not an object")]
    NotAnObject,
    #[error("`approval` is missing")]
    NoApproval,
    #[error("its digest is that of another call")]
    OtherCall,
    #[error("`expires`: {0}")]
    Expires(#[from] jiff::Error),
    #[error("`expires` is too far away")]
    TooFar,
}

impl Question {
    /// Reads the line that a caller sent. The digest must be that of the call which is shown.
    pub(super) fn read(line: &[u8]) -> Result<Self, QuestionError> {
        let input = parse_strict(std::str::from_utf8(line)?)?;
        let Value::Object(input) = input else { return Err(QuestionError::NotAnObject) };
        let input = Input::from_json(input)?;
        let digest = call_digest(&input);
        let tool = visible_line(input.tool());
        let Input { session_id, cwd, agent_name, tool_input, approval, .. } = input;
        let asked = approval.ok_or(QuestionError::NoApproval)?;
        if asked.digest != digest {
            return Err(QuestionError::OtherCall);
        }
        let expires: Timestamp = asked.expires.parse()?;
        // A duration that is negative is over.
        let left = Duration::try_from(expires.duration_since(Timestamp::now())).unwrap_or_default();
        let deadline = Instant::now().checked_add(left).ok_or(QuestionError::TooFar)?;
        let mut parts: Vec<Part> = asked.reasons.iter().map(reason).collect();
        let agent = agent_name.as_deref().filter(|name| !name.is_empty()).unwrap_or("an agent");
        let session = if session_id.is_empty() { "" } else { ", session " };
        let origin = visible_line(&format!("{agent}{session}{session_id}, in {cwd}"));
        parts.push(part("from", origin, false));
        compare(&mut parts, &tool_input.unwrap_or_default(), asked.original_input.as_ref());
        Ok(Self { digest, tool, parts, deadline })
    }

    /// Returns the question for the script of the page.
    pub(super) fn for_page(&self, id: &str) -> Value {
        let Self { tool, digest, parts, .. } = self;
        let seconds = self.left().as_secs();
        json!({ "id": id, "tool": tool, "digest": digest, "seconds": seconds, "parts": parts })
    }

    /// Returns how long an answer still counts.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

fn part(title: &str, text: String, is_old: bool) -> Part {
    Part { title: visible_line(title), text, is_old }
}

fn reason(asked: &ApprovalReason) -> Part {
    let ApprovalReason { hook, event, reason, .. } = asked;
    let hook = hook.as_deref().unwrap_or("the agent");
    let event = event.map(|event| format!(" ({event})")).unwrap_or_default();
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    part("asked by", visible_line(&format!("{hook}{event}: {reason}")), false)
}

/// Adds the arguments as they will be, each with what it was if hooks changed it.
fn compare(parts: &mut Vec<Part>, now: &JsonObject, before: Option<&JsonObject>) {
    for (name, value) in now {
        let old = before.map(|before| before.get(name));
        let note = if old == Some(None) { ", added by hooks" } else { "" };
        parts.push(part(&format!("`{name}`{note}"), text_of(value), false));
        if let Some(Some(old)) = old
            && old != value
        {
            parts.push(part(&format!("`{name}` before hooks changed it"), text_of(old), true));
        }
    }
    for (name, value) in before.into_iter().flatten() {
        if !now.contains_key(name) {
            parts.push(part(&format!("`{name}`, removed by hooks"), text_of(value), true));
        }
    }
}

/// Returns a text as it is, and anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => visible(text),
        other => visible(&serde_json::to_string_pretty(other).unwrap_or_default()),
    }
}
