//! Reads the stdout of a program: an answer, plain text, or a failed attempt at an answer.

use hookexec_files::json::trimmed;
use serde_json::Value;

use crate::text::{LINE_ENDS, is_invisible, without_colours};
use crate::wire::{Output, WireError, parse_strict, repair_lone_surrogates};

/// The meaning of a program's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// The answer is on stdout.
    Success,
    /// The hook blocks.
    Blocks,
    /// A shell can't run or find the program.
    NotRun,
    /// A shell reports the signal that ended its program: 128 and the signal's number, 1 to 64 with the
    /// real-time signals.
    Signal(i32),
    /// The hook has an error of its own.
    Error,
}

impl ExitCode {
    pub(crate) fn of(code: i32) -> Self {
        match code {
            0 => Self::Success,
            2 => Self::Blocks,
            126 | 127 => Self::NotRun,
            129..=192 => Self::Signal(code - 128),
            _ => Self::Error,
        }
    }
}

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

/// Which text was probably meant as an answer, and is a failed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspect {
    /// None.
    Nothing,
    /// Text with a line at which a denial begins.
    Denial,
    /// Text with a line that begins with `{`, and all JSON.
    Json,
}

impl Stdout {
    /// Reads output that starts with `{` as exactly one answer, and all other output as text, or as a
    /// failed answer when it is `suspect`.
    pub(crate) fn read(bytes: &[u8], suspect: Suspect) -> Self {
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
        if suspect == Suspect::Nothing {
            return Self::Text(text.trim().to_owned());
        }
        // A log line before the JSON must not turn a denial into silence.
        if has_suspect_line(&text, suspect) {
            let problem = "its output is text with a line that starts with `{`; print the JSON answer \
                           alone, and everything else to stderr";
            return Self::Malformed(problem.to_owned());
        }
        if is_suspect_json(&text, suspect) {
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
    if !line.starts_with(b"{") || line.len() > MAX_ASYNC_LINE {
        return false;
    }
    let line = std::str::from_utf8(line).unwrap_or_default();
    matches!(parse_strict(line), Ok(line) if line["async"] == true)
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

/// Returns whether a line of a text begins with a `{` that makes the text suspect. `jq -C` colours it.
fn has_suspect_line(text: &str, suspect: Suspect) -> bool {
    let plain = without_colours(text);
    let mut rest = &*plain;
    for line in plain.split_inclusive(LINE_ENDS) {
        let begins_an_object = line.trim_start_matches(is_hidden).starts_with('{');
        if begins_an_object && (suspect == Suspect::Json || denies(rest)) {
            return true;
        }
        rest = &rest[line.len()..];
    }
    false
}

/// Returns whether a text is JSON other than an object that the text is suspect for: any JSON, or an
/// array that holds a denial.
fn is_suspect_json(text: &str, suspect: Suspect) -> bool {
    match serde_json::from_str(text) {
        Ok(value) => suspect == Suspect::Json || holds_denial(&value),
        Err(_) => false,
    }
}

/// Returns whether JSON other than an object holds an answer that denies: `[{"decision": "deny"}]`.
fn holds_denial(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            items.iter().any(|item| item.is_object() && denies(&item.to_string()))
        }
        Value::String(text) => text.starts_with('{') && denies(text),
        _ => false,
    }
}

/// Returns whether a text begins with an answer that denies, asks or stops, or that has an error.
fn denies(text: &str) -> bool {
    let text = text.trim_start_matches(is_hidden);
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    let Some(Ok(value)) = values.next() else { return false };
    Output::from_value(value).map_or(true, |output| output.denies_or_asks())
}

fn is_hidden(letter: char) -> bool {
    letter.is_whitespace() || is_invisible(letter)
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
            let read = |suspect| Stdout::read(text.as_bytes(), suspect);
            assert!(matches!(read(Suspect::Json), Stdout::Malformed(_)), "{text}");
            assert!(matches!(read(Suspect::Nothing), Stdout::Text(_)), "{text}");
        }
        for text in ["false", "null", "42", "\"text\"", "[]", " true \n"] {
            let read = Stdout::read(text.as_bytes(), Suspect::Json);
            assert!(matches!(read, Stdout::Malformed(_)), "{text}");
            let read = Stdout::read(text.as_bytes(), Suspect::Denial);
            assert!(matches!(read, Stdout::Text(_)), "{text}");
        }
        for text in ["[ok] checked", "\"quoted\" words", "a {b}", "17 files", "nullified"] {
            let read = Stdout::read(text.as_bytes(), Suspect::Json);
            assert!(matches!(read, Stdout::Text(_)), "{text}");
        }
    }

    #[test]
    fn a_denial_behind_other_text_is_not_text_where_it_has_an_effect() {
        for text in [
            "Shell ready\n{\"decision\":\"block\",\"reason\":\"tests fail\"}",
            "a\r\n\u{feff} {\n  \"hookSpecificOutput\": {\"permissionDecision\": \"deny\"}\n}\nb",
            "a\n{\"continue\":false} b",
            "a\n{\"decision\":\"blok\"}",
            "\u{1b}[1;39m{\u{1b}[0m\"decision\": \"deny\"}",
            "{a}\n{\"decision\":\"deny\"}".trim_start_matches('{'),
            r#"[{"a":1},{"decision":"deny"}]"#,
            r#""{\"decision\":\"deny\"}""#,
        ] {
            let read = Stdout::read(text.as_bytes(), Suspect::Denial);
            assert!(matches!(read, Stdout::Malformed(_)), "{text}");
        }
        for text in [
            "the file:\n{\n  \"name\": \"x\",\n  \"version\": 1\n}",
            "a\n{\"decision\":\"approve\"}",
            "a\n{\"additionalContext\":\"b\"}",
            "a\n{ if x { y } }",
            "a {\"decision\":\"deny\"}",
        ] {
            let read = Stdout::read(text.as_bytes(), Suspect::Denial);
            assert!(matches!(read, Stdout::Text(_)), "{text}");
        }
    }

    #[test]
    fn half_a_character_of_javascript_loses_no_answer() {
        let text = br#"{"reason":"\ud83d","decision":"deny"}"#;
        let Stdout::Answer(output) = Stdout::read(text, Suspect::Nothing) else { panic!() };
        assert_eq!(output.reason.as_deref(), Some("\u{fffd}"));
    }
}
