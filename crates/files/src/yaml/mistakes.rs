//! Finds the mistake that made the parser stop, and says it in words for the author of the file.
//!
//! The parser stops where it can't go on, which is often behind the mistake.

use std::ops::Range;

use granit_parser::{ErrorKind as E, ScanError};

use super::super::diagnostic::Diagnostic;
use super::Problem;
use crate::text::{indentation, line_number, line_start};

/// The characters that look like a space and are not one for YAML.
const ODD_SPACES: [char; 6] =
    ['\u{a0}', '\u{2007}', '\u{202f}', '\u{3000}', '\u{200b}', '\u{feff}'];

/// Returns the mistake that made the parser stop. `open` are the lists and mappings that are open there, and
/// `read` is the end of the last value.
pub(super) fn explain(error: &ScanError, text: &str, open: &[usize], read: usize) -> Problem {
    let at = text.floor_char_boundary(error.marker().byte_offset().unwrap_or(0));
    let (mistake, kind) = (Mistake { text, at, read }, error.kind());
    if let Some(problem) = mistake.of_space(kind).or_else(|| mistake.of_value(kind)) {
        return problem;
    }
    // A pair such as `a: b` in a list is a mapping without brackets.
    let found = match open.iter().rfind(|opened| text[**opened..].starts_with(['[', '{'])) {
        Some(opened) => mistake.in_brackets(kind, *opened),
        None => mistake.of_structure(kind),
    };
    found.unwrap_or_else(|| (Diagnostic::error(kind.to_string()), mistake.here()))
}

/// Returns a description of the first character that looks like a space and is not one.
pub(in super::super) fn odd_space(text: &str) -> Option<(usize, String)> {
    let (at, odd) = text.char_indices().find(|(_, letter)| ODD_SPACES.contains(letter))?;
    let name = if odd == '\u{a0}' { "a no-break space" } else { "an unusual space" };
    Some((at, format!("{name} (U+{:04X})", u32::from(odd))))
}

/// Returns a mistake at a place, and what to do about it.
#[expect(clippy::unnecessary_wraps, reason = "every caller may find nothing")]
fn problem(
    message: impl Into<String>,
    place: Range<usize>,
    hint: impl Into<String>,
) -> Option<Problem> {
    Some((Diagnostic::error(message).hint(hint), place))
}

struct Mistake<'t> {
    text: &'t str,
    /// Where the parser stopped.
    at: usize,
    /// Where the last value ended.
    read: usize,
}

impl<'t> Mistake<'t> {
    /// Finds a tab in the indentation, or a `-` or a `:` without the space behind it, which may be
    /// on the line before.
    fn of_space(&self, kind: &E) -> Option<Problem> {
        let start = line_start(self.text, self.at);
        match kind {
            E::TabNotAllowed
            | E::TabInBlockIndentation
            | E::TabAtBlockScalarStart
            | E::TabInIndentation
            | E::TabInPlainScalar => {
                let tab = start + indented_tab(&self.text[start..])?;
                let hint = "indent with spaces only: YAML does not allow tabs there";
                problem("a tab in the indentation", tab..tab + 1, hint)
            }
            E::MappingValueNotAllowed
            | E::SimpleKeyExpected
            | E::ExpectedBlockMappingKey
            | E::ExpectedBlockSequenceEntry
            | E::BomInsideDocument => {
                let before = line_start(self.text, self.text[..start].trim_end().len());
                let here = missing_space(start, self.line(start));
                here.or_else(|| missing_space(before, self.line(before)))
            }
            _ => None,
        }
    }

    /// Finds a mistake in the value itself: its quotes, its first character, its anchor.
    fn of_value(&self, kind: &E) -> Option<Problem> {
        let here = self.here();
        match kind {
            E::UnclosedQuotedScalar
            | E::InvalidQuotedScalarIndent
            | E::DocumentIndicatorInQuotedScalar => {
                let opened = match kind {
                    E::UnclosedQuotedScalar => self.at,
                    _ => self.open_quote().unwrap_or(self.at),
                };
                let hint = "close it, or put the whole text in the other kind of quotes";
                problem("this quote is never closed", opened..opened + 1, hint)
            }
            E::InvalidTrailingSingleQuotedScalar => {
                let hint = "in single quotes write `''` for a `'`";
                problem("text after the closing quote", here, hint)
            }
            E::InvalidTrailingDoubleQuotedScalar => {
                let hint = "in double quotes write `\\\"` for a `\"`, or use single quotes";
                problem("text after the closing quote", here, hint)
            }
            E::UnknownQuotedScalarEscape => {
                let hint = "in double quotes `\\` begins an escape; \
                            use single quotes for a regular expression";
                problem("unknown escape", here, hint)
            }
            E::UnclosedFlowCollection { open } => {
                let closer = closer(*open);
                let mut hint = format!("add the `{closer}`");
                if let Some((_, comment)) = self.text[self.at..].split_once(" #")
                    && comment.lines().next().is_some_and(|line| line.contains(closer))
                {
                    hint += ", or put quotes around the text with ` #`, which begins a comment";
                }
                problem(format!("this `{open}` is never closed"), here, hint)
            }
            E::MismatchedFlowCollectionEnd { open, close } => {
                let message = format!("this `{open}` is closed by a `{close}`");
                Some((Diagnostic::error(message), here))
            }
            E::UnknownAnchor => {
                let hint = "a leading `*` refers to an `&anchor` in YAML; put quotes around a \
                            plain text";
                problem("unknown alias", here, hint)
            }
            E::MissingAnchorOrAliasName => {
                let hint = "put quotes around a plain text: `\"*\"`";
                problem("`*` and `&` begin an alias and an anchor", here, hint)
            }
            E::UnexpectedCharacter { character } if character.is_control() => {
                let message = format!("the control character U+{:04X}", u32::from(*character));
                let hint = "remove it; in double quotes it can be written as an escape";
                problem(message, here, hint)
            }
            E::UnexpectedCharacter { character } => {
                let message = format!("a text can't begin with `{character}` here");
                problem(message, here, "put quotes around the text")
            }
            E::RecursionLimitExceeded => Some(super::too_deep(here)),
            _ => None,
        }
    }

    /// Returns a mistake behind the bracket at `opened`: it was not closed, or a comma is missing.
    fn in_brackets(&self, kind: &E, opened: usize) -> Option<Problem> {
        let bracket = self.text[opened..].chars().next()?;
        let closer = closer(bracket);
        let on_another_line = line_start(self.text, opened) != line_start(self.text, self.at);
        let first_of_its_line = self.line(opened).trim_start().starts_with(bracket);
        let deeper = self.indentation_of(self.at) > self.indentation_of(opened);
        if on_another_line && !first_of_its_line && !deeper {
            let line = line_number(self.text, self.at);
            let message = format!("this `{bracket}` is still open on line {line}");
            let hint = format!("add the `{closer}` before that line");
            return problem(message, opened..opened + 1, hint);
        }
        let hint = format!("the `{bracket}` is on line {}", line_number(self.text, opened));
        if matches!(kind, E::BlockEntryInFlowCollection) {
            let message = format!("a `-` between `{bracket}` and `{closer}`");
            return problem(message, self.here(), hint);
        }
        let hint = format!("a text with `: `, ` #`, `[` or `{{` in it needs quotes; {hint}");
        problem(format!("expected `,` or `{closer}` before this"), self.here(), hint)
    }

    /// Finds a line that does not belong to any of those above it, and what can't stand in its line.
    fn of_structure(&self, kind: &E) -> Option<Problem> {
        let start = line_start(self.text, self.at);
        let indentation = self.indentation_of(start);
        let line = start + indentation..start + self.line(start).trim_end().len();
        let align = "align it with the lines that it belongs to";
        match kind {
            E::ExpectedBlockMappingKey
            | E::ExpectedBlockSequenceEntry
            | E::InvalidIndentation
            | E::InvalidBlockScalarIndent
                if !has_column(&self.text[..start], indentation) =>
            {
                problem("the indentation of this line fits no line above it", line, align)
            }
            E::ExpectedBlockMappingKey => {
                problem("expected a key, such as `name: value`", line, align)
            }
            E::ExpectedBlockSequenceEntry => {
                let hint = "align it with the text behind that `-`";
                problem("this line begins in the column of the `-` above it", line, hint)
            }
            E::MappingValueNotAllowed if self.text[start..self.at].contains(": ") => {
                let hint = "put quotes around the text";
                problem("a `: ` in a text without quotes", self.here(), hint)
            }
            E::MappingValueNotAllowed => {
                let hint = "align it with the keys that it belongs to; a key ends with a `:`";
                problem("this line continues the text of the line above it", line, hint)
            }
            E::BlockSequenceEntryNotAllowed => {
                let hint = "move the `-` to the next line";
                problem("a list can't begin on the line of its key", self.here(), hint)
            }
            E::SimpleKeyExpected => {
                problem("expected a `:` after this key", self.here(), "write `key: value`")
            }
            E::InvalidBlockScalarHeader => {
                let hint = "begin the text on the next line, or put quotes around it";
                problem("text behind a `|` or `>`", self.here(), hint)
            }
            _ => None,
        }
    }

    fn open_quote(&self) -> Option<usize> {
        let text = self.text.get(self.read..self.at)?;
        Some(self.read + text.find(['"', '\''])?)
    }

    /// Returns the word where the parser stopped.
    fn here(&self) -> Range<usize> {
        let rest = &self.text[self.at..];
        let first = match rest.chars().next() {
            Some('\n') | None => 0,
            Some(letter) => letter.len_utf8(),
        };
        if !rest.starts_with(['*', '&']) {
            return self.at..self.at + first;
        }
        let end = rest
            .find(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ']' | '}'))
            .unwrap_or(rest.len());
        self.at..self.at + end
    }

    /// Returns the line that contains `at`.
    fn line(&self, at: usize) -> &'t str {
        self.text[line_start(self.text, at)..].lines().next().unwrap_or_default()
    }

    fn indentation_of(&self, at: usize) -> usize {
        indentation(self.line(at))
    }
}

fn closer(bracket: char) -> char {
    if bracket == '[' { ']' } else { '}' }
}

/// Returns where the first tab is that indents a line.
fn indented_tab(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indentation = &line[..line.len() - line.trim_start().len()];
        if let Some(tab) = indentation.find('\t') {
            return Some(start + tab);
        }
        start += line.len();
    }
    None
}

/// Returns whether something begins in `column` of a line: its text, or what follows a `- `.
fn has_column(text: &str, column: usize) -> bool {
    for line in text.lines() {
        let mut rest = line.trim_start_matches(' ');
        while line.len() - rest.len() < column
            && let Some(item) = rest.strip_prefix("- ")
        {
            rest = item.trim_start_matches(' ');
        }
        if line.len() - rest.len() == column {
            return true;
        }
    }
    false
}

/// Finds a `-` or a `:` without the space behind it in the line that begins at `start`.
fn missing_space(start: usize, line: &str) -> Option<Problem> {
    let item = line.trim_start_matches([' ', '-']);
    let before = &line[..line.len() - item.len()];
    if let Some((at, odd)) = odd_space(line)
        && (item.starts_with(ODD_SPACES) || line[..at].ends_with(':'))
    {
        let end = line.ceil_char_boundary(at + 1);
        return problem(odd, start + at..start + end, "replace it with a normal space");
    }
    let (word, rest) = item.split_once(':')?;
    let is_word = word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if word.is_empty() || !is_word {
        return None;
    }
    let key = start + before.len();
    if before.ends_with('-') {
        let place = key - 1..key + word.len();
        return problem("a `-` without a space behind it", place, format!("write `- {word}:`"));
    }
    if rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with('/') {
        return None;
    }
    let colon = key + word.len();
    let hint = format!("write `{word}: ` and then the value");
    problem("a `:` without a space behind it", colon..colon + 1, hint)
}
