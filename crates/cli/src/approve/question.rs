//! One question as a person reads it: the call in its final form, and where it comes from.

use std::time::{Duration, Instant};

use hookexec::Input;
use hookexec::wire::{ApprovalReason, JsonObject, call_digest, parse_strict};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::plain::{visible, visible_line};

/// How many parts of a question are shown, how many rows of one, and how many characters in a row.
const PARTS: usize = 30;
const ROWS: usize = 40;
const ROW: usize = 80;

/// A call that waits for a person.
///
/// It keeps texts and no JSON: a small document can take much memory. Every character that an eye
/// would miss is an escape in them.
#[derive(Debug)]
pub(super) struct Question {
    /// The digest of what will run.
    pub(super) digest: String,
    pub(super) tool: String,
    parts: Vec<Part>,
    deadline: Instant,
}

/// A part of a question: a reason, the origin, an argument of the tool.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Part {
    pub(super) title: String,
    pub(super) text: String,
    /// Whether it is an argument as it was before hooks changed it.
    pub(super) is_old: bool,
    /// How many characters are left out.
    pub(super) left: usize,
}

/// A question as it is shown: all of it, or the beginnings of its parts.
#[derive(Serialize)]
pub(super) struct Shown {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) digest: String,
    /// How many seconds an answer still counts.
    pub(super) seconds: u64,
    pub(super) parts: Vec<Part>,
    /// How many parts are left out.
    pub(super) more: usize,
    pub(super) is_cut: bool,
}

impl Question {
    /// Reads the line that a caller sent. The digest must be that of the call which is shown.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let input = parse_strict(text).map_err(|error| error.to_string())?;
        let Value::Object(input) = input else { return Err("it is not an object".to_owned()) };
        let input = Input::from_json(input).map_err(|error| error.to_string())?;
        let digest = call_digest(&input);
        let tool = visible_line(input.tool());
        let Input { session_id, cwd, agent_name, tool_input, approval, .. } = input;
        let asked = approval.ok_or("`approval` is missing")?;
        if asked.digest != digest {
            return Err("its digest is that of another call".to_owned());
        }
        let expires: Timestamp =
            asked.expires.parse().map_err(|error| format!("`expires`: {error}"))?;
        // A duration that is negative is over.
        let left = Duration::try_from(expires.duration_since(Timestamp::now())).unwrap_or_default();
        let deadline = Instant::now().checked_add(left).ok_or("`expires` is too far away")?;
        let mut parts: Vec<Part> = asked.reasons.iter().map(reason).collect();
        parts.push(origin(&agent_name.unwrap_or_default(), &session_id, &cwd));
        compare(&mut parts, &tool_input.unwrap_or_default(), asked.original_input.as_ref());
        Ok(Self { digest, tool, parts, deadline })
    }

    /// Returns how long an answer still counts.
    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the question as it is shown.
    pub(super) fn shown(&self, id: &str, is_whole: bool) -> Shown {
        let most = if is_whole { usize::MAX } else { PARTS };
        let mut parts: Vec<Part> = self.parts.iter().take(most).cloned().collect();
        let (mut tool, more) = (self.tool.clone(), self.parts.len() - parts.len());
        let mut is_cut = more > 0;
        if !is_whole {
            is_cut |= cut(&mut tool) > 0;
            for part in &mut parts {
                part.left = cut(&mut part.text) + cut(&mut part.title);
                is_cut |= part.left > 0;
            }
        }
        let (id, digest, seconds) = (id.to_owned(), self.digest.clone(), self.left().as_secs());
        Shown { id, tool, digest, seconds, parts, more, is_cut }
    }
}

/// Cuts a text behind the rows that are shown, and returns how many characters are left out.
fn cut(text: &mut String) -> usize {
    let (mut row, mut column) = (1, 0);
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        if letter == '\n' || column == ROW {
            if row == ROWS {
                end = at;
                break;
            }
            (row, column) = (row + 1, 0);
        }
        if letter != '\n' {
            column += 1;
        }
    }
    let left = text[end..].chars().count();
    text.truncate(end);
    left
}

fn part(title: &str, text: String, is_old: bool) -> Part {
    Part { title: visible_line(title), text, is_old, left: 0 }
}

fn reason(asked: &ApprovalReason) -> Part {
    let ApprovalReason { hook, event, reason, .. } = asked;
    let hook = hook.as_deref().unwrap_or("the agent");
    let event = event.map(|event| format!(" ({event})")).unwrap_or_default();
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    part("asked by", visible_line(&format!("{hook}{event}: {reason}")), false)
}

fn origin(agent: &str, session: &str, directory: &str) -> Part {
    let agent = if agent.is_empty() { "an agent" } else { agent };
    let session = if session.is_empty() { String::new() } else { format!(", session {session}") };
    part("from", visible_line(&format!("{agent}{session}, in {directory}")), false)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_its_last_row() {
        let lines = |count: usize| vec!["x"; count].join("\n");
        let row = "é".repeat(ROW);
        for (text, expected, left) in [
            (lines(ROWS), lines(ROWS), 0),
            (lines(ROWS + 2), lines(ROWS), 4),
            (row.repeat(ROWS), row.repeat(ROWS), 0),
            (row.repeat(ROWS) + "ab", row.repeat(ROWS), 2),
        ] {
            let mut text = text;
            assert_eq!(cut(&mut text), left);
            assert_eq!(text, expected);
        }
    }
}
