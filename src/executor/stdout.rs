//! What a program wrote to stdout: an answer, plain text, or something that was meant to be an answer.

use super::answer::{Within, answer_within};
use crate::event::{Contract, FailureMode};
use crate::wire::Output;

/// What a program wrote to stdout.
pub(super) enum Stdout {
    Empty,
    /// One JSON object.
    Answer(Output),
    /// Text, and a JSON answer at its end that is stricter than nothing.
    Noisy(Output),
    /// Something that starts like JSON and is none: why, and the denial in it.
    Malformed(String, Option<Box<Output>>),
    /// Plain text, trimmed.
    Text(String),
}

impl Stdout {
    pub(super) fn read(bytes: &[u8], may_block: bool, contract: &Contract) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
        if bytes.is_empty() {
            return Self::Empty;
        }
        let text = String::from_utf8_lossy(bytes);
        if bytes.first() == Some(&b'{') {
            let problem = match std::str::from_utf8(bytes).map(Output::parse) {
                Ok(Ok(output)) => return Self::Answer(output),
                Ok(Err(error)) => error.to_string(),
                Err(_) => "its JSON output is not valid UTF-8".to_owned(),
            };
            return match answer_within(&text) {
                Within::Stricter(output) => Self::Noisy(*output),
                Within::Unreadable(_, denial) => Self::Malformed(problem, denial),
                Within::Nothing => Self::Malformed(problem, None),
            };
        }
        // A log line before the JSON is the commonest way for a denial to get lost.
        let guarded = contract.failure != FailureMode::Open;
        match answer_within(&text) {
            Within::Stricter(output) if may_block => Self::Noisy(*output),
            Within::Unreadable(problem, denial) if guarded || (may_block && denial.is_some()) => {
                Self::Malformed(problem, denial)
            }
            _ if (guarded || may_block) && bytes.contains(&0) => {
                let problem = "its output holds zero bytes; write UTF-8, not UTF-16";
                Self::Malformed(problem.to_owned(), None)
            }
            _ => Self::Text(text.trim().to_owned()),
        }
    }
}
