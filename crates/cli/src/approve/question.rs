//! One question as a person reads it: the call in its final form, and where it comes from.

use std::time::{Duration, Instant};

use hookexec::Input;
use hookexec::wire::{ApprovalReason, JsonObject, call_digest, parse_strict};
use jiff::Timestamp;
use serde_json::Value;

use crate::plain::{visible, visible_line};

/// How many rows of one text are shown, how many characters a row has, and how many arguments and
/// reasons are shown.
const ROWS: usize = 40;
const ROW: usize = 80;
pub(super) const ENTRIES: usize = 30;

/// A call that waits for a person.
///
/// It keeps texts and no JSON: a small document can take much memory. Every character that an eye
/// would miss is an escape in them.
#[derive(Debug)]
pub(super) struct Question {
    /// The digest of what will run.
    pub(super) digest: String,
    pub(super) tool: String,
    pub(super) arguments: Vec<Argument>,
    /// Which hooks asked, and why.
    pub(super) reasons: Vec<String>,
    /// The agent, its session and its directory.
    pub(super) origin: String,
    deadline: Instant,
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
        let agent = agent_name.filter(|agent| !agent.is_empty());
        Ok(Self {
            digest,
            tool,
            arguments: compared(&tool_input.unwrap_or_default(), asked.original_input.as_ref()),
            reasons: asked.reasons.iter().map(reason).collect(),
            origin: origin(agent.as_deref().unwrap_or("an agent"), &session_id, &cwd),
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

    /// Returns whether a person sees less than all of it.
    pub(super) fn is_cut(&self) -> bool {
        let is_long = |text: &String| cut(text).1 > 0;
        self.arguments.len() > ENTRIES
            || self.reasons.len() > ENTRIES
            || self.arguments.iter().any(|given| is_long(&given.name) || is_long(&given.text))
            || self.reasons.iter().any(is_long)
            || is_long(&self.tool)
            || is_long(&self.origin)
    }
}

/// Returns the rows of a text that are shown, and how many characters are left out.
pub(super) fn cut(text: &str) -> (&str, usize) {
    let (mut row, mut column) = (1, 0);
    for (at, letter) in text.char_indices() {
        if letter == '\n' || column == ROW {
            if row == ROWS {
                return (&text[..at], text[at..].chars().count());
            }
            (row, column) = (row + 1, 0);
        }
        if letter != '\n' {
            column += 1;
        }
    }
    (text, 0)
}

fn origin(agent: &str, session: &str, directory: &str) -> String {
    let session = if session.is_empty() { String::new() } else { format!(", session {session}") };
    visible_line(&format!("{agent}{session}, in {directory}"))
}

fn reason(asked: &ApprovalReason) -> String {
    let ApprovalReason { hook, event, reason, .. } = asked;
    let hook = hook.as_deref().unwrap_or("the agent");
    let event = event.map(|event| format!(" ({event})")).unwrap_or_default();
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    visible_line(&format!("{hook}{event}: {reason}"))
}

/// Returns the arguments as they will be, each with what it was if hooks changed it.
fn compared(now: &JsonObject, before: Option<&JsonObject>) -> Vec<Argument> {
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
    for (name, value) in before.into_iter().flatten() {
        if !now.contains_key(name) {
            arguments.push(argument(name, value, ", removed by hooks", true));
        }
    }
    arguments
}

/// Returns an argument whose text is shown as it is, and anything else as JSON.
fn argument(name: &str, value: &Value, note: &'static str, is_old: bool) -> Argument {
    let text = match value {
        Value::String(text) => visible(text),
        other => visible(&serde_json::to_string_pretty(other).unwrap_or_default()),
    };
    Argument { name: visible_line(name), text, note, is_old }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_its_last_row() {
        let rows = |count: usize| vec!["x"; count].join("\n");
        assert_eq!(cut(&rows(ROWS)), (&*rows(ROWS), 0));
        assert_eq!(cut(&rows(ROWS + 2)), (&*rows(ROWS), 4));
        let row = "é".repeat(ROW);
        assert_eq!(cut(&row.repeat(ROWS)), (&*row.repeat(ROWS), 0));
        assert_eq!(cut(&(row.repeat(ROWS) + "ab")), (&*row.repeat(ROWS), 2));
    }
}
