//! Reads the stdout of a program: an answer, plain text, or a failed attempt at an answer.

use serde_json::Value;

use crate::text::{LINE_ENDS, is_invisible};
use crate::wire::{Output, WireError, parse_strict, repair_lone_surrogates};
use hookexec_files::json::trimmed;

/// The stdout of a program.
pub(crate) enum Stdout {
    Empty,
    /// One JSON object.
    Answer(Box<Output>),
    /// `{"async": true}` as its first line.
    Background,
    /// Neither one clean answer nor plain text; holds the reason.
    Malformed(String),
    /// Plain text, trimmed.
    Text(String),
}

impl Stdout {
    /// Reads output that starts with `{` as exactly one answer, and all other output as text. With
    /// `fails_closed`, text that was probably meant as an answer is a failed one.
    pub(crate) fn read(bytes: &[u8], fails_closed: bool) -> Self {
        let bytes = trimmed(bytes);
        if bytes.is_empty() {
            return Self::Empty;
        }
        if asks_for_background(bytes) {
            return Self::Background;
        }
        if bytes.starts_with(b"{") {
            return match answer(bytes) {
                Ok(output) => Self::Answer(Box::new(output)),
                Err(error) => Self::Malformed(error.to_string()),
            };
        }
        if bytes.contains(&0) {
            let problem = "its output has zero bytes; write UTF-8, not UTF-16";
            return Self::Malformed(problem.to_owned());
        }
        let text = String::from_utf8_lossy(bytes);
        // A log line before the JSON must not turn a denial into silence.
        if fails_closed && text.split(LINE_ENDS).any(begins_an_object) {
            let problem = "its output is text with a line that starts with `{`; print the JSON answer \
                           alone, and everything else to stderr";
            return Self::Malformed(problem.to_owned());
        }
        if fails_closed && text.starts_with(['[', '"']) && parse_strict(&text).is_ok() {
            let problem = "its output is JSON but not an object; print the answer as one object";
            return Self::Malformed(problem.to_owned());
        }
        Self::Text(text.trim().to_owned())
    }
}

/// The longest line that asks for the background.
pub(crate) const MAX_ASYNC_LINE: usize = 256;

/// Returns whether the first line of an output is complete and asks to go on in the background:
/// `{"async": true}`.
pub(crate) fn asks_for_background(output: &[u8]) -> bool {
    let line = trimmed(output).split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"{")
        && line.len() <= MAX_ASYNC_LINE
        && std::str::from_utf8(line)
            .ok()
            .and_then(|line| parse_strict(line).ok())
            .is_some_and(|line| line.get("async") == Some(&Value::Bool(true)))
}

fn answer(bytes: &[u8]) -> Result<Output, WireError> {
    // JavaScript writes a lone surrogate where it cut a text.
    let mut bytes = bytes.to_vec();
    repair_lone_surrogates(&mut bytes);
    match String::from_utf8(bytes) {
        Ok(text) => Output::parse(&text),
        Err(_) => Err(WireError::new("its JSON output is not valid UTF-8")),
    }
}

/// Returns whether the first thing to see in a line is a `{`. `jq -C` colours it.
fn begins_an_object(line: &str) -> bool {
    let Some((before, _)) = line.split_once('{') else { return false };
    let mut parts = before.split('\u{1b}');
    let start = parts.next().unwrap_or_default();
    is_hidden(start) && parts.all(|part| is_hidden(without_colour(part)))
}

/// Returns the text behind an escape character without the colour that it sets.
fn without_colour(text: &str) -> &str {
    let Some(rest) = text.strip_prefix('[') else { return text };
    let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
    rest.strip_prefix('m').unwrap_or(text)
}

fn is_hidden(text: &str) -> bool {
    text.chars().all(|letter| letter.is_whitespace() || is_invisible(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_asks_for_the_background_is_exact() {
        for (text, expected) in [
            ("{\"async\":true}", true),
            ("\n{\"async\": true, \"asyncTimeout\": 5000}\nlog\n{\"decision\":\"deny\"}", true),
            ("{\"async\":\"true\"}", false),
            ("{\"async\":false}", false),
            ("log\n{\"async\":true}", false),
            ("{\n\"async\":true}", false),
            ("{\"async\":true", false),
        ] {
            assert_eq!(asks_for_background(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_was_meant_as_an_answer_is_not_text_where_failures_deny() {
        for text in [
            r#"[{"decision":"deny"}]"#,
            r#""{\"decision\":\"deny\"}""#,
            "\u{200b}{\"decision\":\"deny\"}",
            "\u{1b}[1;39m{\n  \u{1b}[0m\"decision\": \"deny\"}",
            "log\n\u{7}\u{8}\u{7f}{\"decision\":\"deny\"}",
        ] {
            assert!(matches!(Stdout::read(text.as_bytes(), true), Stdout::Malformed(_)), "{text}");
            assert!(matches!(Stdout::read(text.as_bytes(), false), Stdout::Text(_)), "{text}");
        }
        for text in ["[ok] checked", "\"quoted\" words", "a {b}", "17"] {
            assert!(matches!(Stdout::read(text.as_bytes(), true), Stdout::Text(_)), "{text}");
        }
    }

    #[test]
    fn half_a_character_of_javascript_loses_no_answer() {
        let text = br#"{"reason":"\ud83d","decision":"deny"}"#;
        let Stdout::Answer(output) = Stdout::read(text, false) else { panic!() };
        assert_eq!(output.reason.as_deref(), Some("\u{fffd}"));
    }
}
