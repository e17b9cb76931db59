//! Answers that stand among other text.
//!
//! A hook is to print its JSON and nothing else. What it denies counts all the same when a log line, a
//! progress bar or a colour stands around it, and what begins like an answer and is none is not taken
//! for silence.

use serde_json::value::RawValue;

use crate::wire::{Decision, Output, UnknownKey, denial_within};

/// How many broken objects are looked at: each costs the length of all that follows.
const MAX_BROKEN: usize = 32;

/// What was found in a text.
pub(super) enum Within {
    /// An answer stricter than nothing, or one that was probably meant to be; the last one.
    Stricter(Box<Output>),
    /// Something that begins like an answer and can't be read: why, and the denial in it.
    Unreadable(String, Option<Box<Output>>),
    Nothing,
}

/// Looks for JSON answers in `text`: objects at the beginning of a line, or behind its first words.
pub(super) fn answer_within(text: &str) -> Within {
    let (mut stricter, mut denial, mut unreadable) = (None, None, None);
    let (mut at, mut broken) = (0, 0);
    while let Some(beginning) = next_beginning(text, at) {
        let rest = &text[beginning.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let problem = if let Some(Ok(object)) = values.next() {
            let object = object.get();
            // What stands inside of it is its own affair.
            at = beginning.at + object.len();
            match Output::parse(object) {
                Ok(output) => {
                    let misspelt = output.unknown_keys.iter().any(UnknownKey::may_be_a_decision);
                    if output.decision > Some(Decision::Allow) || misspelt {
                        stricter = Some(output);
                    }
                    continue;
                }
                Err(error) => {
                    denial = denial_within(object).or(denial);
                    error.to_string()
                }
            }
        } else {
            broken += 1;
            at = beginning.at + 1;
            if broken == MAX_BROKEN {
                // The last line is the likeliest of what is left.
                at = at.max(text.rfind(['\n', '\r']).unwrap_or(0));
            } else if broken > MAX_BROKEN {
                unreadable = Some("its output is full of broken JSON".to_owned());
                break;
            }
            denial = denial_within(rest).or(denial);
            "a line of its output begins like a JSON answer and is none".to_owned()
        };
        if beginning.of_line || denial.is_some() {
            unreadable = Some(format!("{problem}; print nothing but the JSON to stdout"));
        }
    }
    match (stricter, unreadable) {
        (Some(output), _) => Within::Stricter(Box::new(output)),
        (None, Some(problem)) => Within::Unreadable(problem, denial.map(Box::new)),
        (None, None) => Within::Nothing,
    }
}

/// Where an answer may begin.
struct Beginning {
    /// The place of its brace.
    at: usize,
    /// Whether nothing that means anything stands before it on its line.
    of_line: bool,
}

/// Returns the first brace of each line that may begin an answer, from `from` on.
fn next_beginning(text: &str, from: usize) -> Option<Beginning> {
    let mut line_start = from;
    for line in text[from..].split_inclusive(['\n', '\r']) {
        if let Some(brace) = line.find('{') {
            let before = &line[..brace];
            let blank = |letter: char| {
                letter.is_whitespace() || letter.is_control() || matches!(letter, '\u{feff}' | '[')
            };
            // An escape sequence, such as one that resets the colour, begins nothing either.
            let of_line = before.contains('\x1b') || before.trim_matches(blank).is_empty();
            let of_json = line[brace + 1..].trim_start().starts_with(['"', '}'])
                || line[brace + 1..].trim().is_empty();
            if of_line || of_json {
                return Some(Beginning { at: line_start + brace, of_line });
            }
        }
        line_start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENIAL: &str = r#"{"decision":"deny","reason":"no"}"#;

    #[test]
    fn a_denial_is_found_behind_and_before_anything() {
        let logs = "{\"level\":\"info\"}\n".repeat(1000);
        let texts = [
            format!("log\n{DENIAL}"),
            format!("loading...\r{DENIAL}"),
            format!("\x1b[0m{DENIAL}"),
            format!("\u{a0}{DENIAL}"),
            format!("x\n\u{feff}{DENIAL}"),
            format!("[{DENIAL}]"),
            format!("INFO {DENIAL}"),
            format!("log\n{DENIAL}\n{logs}"),
            format!("{logs}{DENIAL} done"),
            format!("{{ not json\n{DENIAL}"),
            "log\n{\"decision\":\"deny\"".to_owned(),
            "log\n{\n  \"hookSpecificOutput\": {\n    \"permissionDecision\": \"deny\",\n  }\n}"
                .to_owned(),
        ];
        for text in texts {
            let decision = match answer_within(&text) {
                Within::Stricter(output) => output.decision,
                Within::Unreadable(_, denial) => denial.and_then(|output| output.decision),
                Within::Nothing => None,
            };
            assert_eq!(decision, Some(Decision::Deny), "{text}");
        }
    }

    #[test]
    fn what_begins_like_an_answer_and_is_none_is_said() {
        let flood = "{\"a\":\n".repeat(100);
        for text in ["log\n{\"decision\":\"maybe\"}", "log\n{decision: no}", "log\n{", &flood] {
            assert!(matches!(answer_within(text), Within::Unreadable(_, None)), "{text}");
        }
    }

    #[test]
    fn logs_and_code_are_no_answers() {
        for text in [
            "all is well",
            "checked {name}",
            "if (x) { return; }",
            "{\"level\":\"info\",\"tool_input\":{\"decision\":\"deny\"}}",
            "INFO {\"msg\":\"ok\"}",
            "[info] nothing",
        ] {
            assert!(matches!(answer_within(text), Within::Nothing), "{text}");
        }
    }
}
