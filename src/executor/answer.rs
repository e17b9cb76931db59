//! Answers that stand among other text.
//!
//! A hook is to print its JSON and nothing else. What it denies counts all the same when a log line, a
//! progress bar or a colour stands around it, and what begins like an answer and is none is not taken
//! for silence.

use serde_json::value::RawValue;

use crate::wire::{Decision, Output, UnknownKey, denial_within};

/// How many broken objects are looked at: each costs the length of all that follows.
const MAX_BROKEN: usize = 32;

/// How many objects are read at all.
const MAX_OBJECTS: usize = 10_000;

/// What was found in a text.
pub(super) enum Within {
    /// An answer stricter than nothing, or one that was probably meant to be; the strictest.
    Stricter(Box<Output>),
    /// Something that begins like an answer and can't be read: why, and the denial in it.
    Unreadable(String, Option<Box<Output>>),
    Nothing,
}

/// Looks for JSON answers in `text`: objects anywhere, but for those inside of others.
pub(super) fn answer_within(text: &str) -> Within {
    if text.starts_with('"')
        && let Ok(inner) = serde_json::from_str::<String>(text)
    {
        return answer_within(&inner);
    }
    let mut found = Found::default();
    let (mut braces, mut objects) = (Braces { text, at: 0, line: 0 }, 0);
    while let Some(brace) = braces.next() {
        objects += 1;
        if found.broken == MAX_BROKEN || objects > MAX_OBJECTS {
            found.give_up(text);
            break;
        }
        let rest = &text[brace.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        if let Some(Ok(object)) = values.next() {
            // What stands inside of it is its own affair.
            braces.at = brace.at + object.get().len();
            found.whole(object.get());
        } else {
            found.broken(rest, brace.begins_line);
        }
    }
    found.sum_up()
}

#[derive(Default)]
struct Found {
    /// The strictest of the answers that can be read.
    answer: Option<Output>,
    /// A denial in something that can't.
    denial: Option<Output>,
    /// Why something can't be read.
    problem: Option<String>,
    broken: usize,
}

impl Found {
    /// Takes an object that is JSON.
    fn whole(&mut self, object: &str) {
        match Output::parse(object) {
            Ok(output) => {
                let misspelt = output.unknown_keys.iter().any(UnknownKey::may_be_a_decision);
                let strict = output.decision > Some(Decision::Allow);
                let best = self.answer.as_ref().map(|answer| answer.decision);
                if (strict || misspelt) && best.is_none_or(|best| output.decision > best) {
                    self.answer = Some(output);
                }
            }
            Err(error) => {
                self.denial = self.denial.take().or_else(|| denial_within(object));
                self.problem = Some(error.to_string());
            }
        }
    }

    /// Takes an object that is none.
    fn broken(&mut self, rest: &str, begins_line: bool) {
        self.broken += 1;
        self.denial = self.denial.take().or_else(|| denial_within(rest));
        if begins_line || self.denial.is_some() {
            self.problem =
                Some("its output has what begins like a JSON answer and is none".to_owned());
        }
    }

    /// There is more than can be looked at; the end is the likeliest place of an answer.
    fn give_up(&mut self, text: &str) {
        self.problem = Some("its output is full of JSON that is no answer".to_owned());
        let last = || text.rmatch_indices('{').take(MAX_BROKEN);
        self.denial =
            self.denial.take().or_else(|| last().find_map(|(at, _)| denial_within(&text[at..])));
    }

    fn sum_up(self) -> Within {
        let Self { answer, denial, problem, .. } = self;
        let denied = |output: &Output| output.decision == Some(Decision::Deny);
        match (answer, problem) {
            (Some(answer), _) if denied(&answer) || denial.is_none() => {
                Within::Stricter(Box::new(answer))
            }
            (_, Some(problem)) => {
                let problem = format!("{problem}; print nothing but the JSON to stdout");
                Within::Unreadable(problem, denial.map(Box::new))
            }
            (answer, None) => answer.map_or(Within::Nothing, |it| Within::Stricter(Box::new(it))),
        }
    }
}

/// The braces of a text at which an answer may begin.
struct Braces<'t> {
    text: &'t str,
    /// From where on it is looked for.
    at: usize,
    /// Where the line begins that is being looked at.
    line: usize,
}

/// Where an answer may begin.
struct Brace {
    at: usize,
    /// Whether nothing that means anything stands before it on its line.
    begins_line: bool,
}

impl Braces<'_> {
    /// Returns the next brace that begins a line, or what looks like a JSON object with a key.
    fn next(&mut self) -> Option<Brace> {
        loop {
            let text = self.text;
            let at = self.at + text[self.at..].find('{')?;
            if let Some(end) = text[self.at..at].rfind(['\n', '\r']) {
                self.line = self.at + end + 1;
            }
            self.at = at + 1;
            let blank = |letter: char| {
                letter.is_whitespace() || letter.is_control() || matches!(letter, '\u{feff}' | '[')
            };
            // An escape sequence, such as one that resets the colour, begins nothing either.
            let before = &text[self.line..at];
            let begins_line = before.len() < 64
                && (before.contains('\x1b') || before.trim_matches(blank).is_empty());
            let after = text[at + 1..].trim_start_matches([' ', '\t', '\r', '\n']);
            // An empty object says nothing.
            let empty = after.starts_with('}');
            if !empty && (begins_line || after.starts_with('"')) {
                return Some(Brace { at, begins_line });
            }
        }
    }
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
            format!("checked {{name}}: {DENIAL}"),
            format!("rule ${{HOME}} {DENIAL}"),
            format!("log\n{DENIAL}\n{{\"decision\":\"ask\"}}"),
            format!("log\n{DENIAL}\n{{\"decison\":\"none\"}}"),
            "{\"decision\":\"deny\",}\n{\"contineu\":true}".to_owned(),
            format!("# {}{{\n \"decision\": \"deny\"\n}}\n", "x {\"\n".repeat(33)),
            "{\"reason\":\"\\ud83d\",\"decision\":\"deny\"}".to_owned(),
            "\"{\\\"decision\\\":\\\"deny\\\"}\"".to_owned(),
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
