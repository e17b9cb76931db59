//! What the parser found wrong, in words for the author of the file.
//!
//! The parser stops where it can't go on, which is often behind the mistake: this finds the
//! mistake.

use std::ops::Range;

use granit_parser::{ErrorKind as E, ScanError};

use super::SyntaxError;

/// What looks like a space and is not one for YAML.
const ODD_SPACES: [char; 6] =
    ['\u{a0}', '\u{2007}', '\u{202f}', '\u{3000}', '\u{200b}', '\u{feff}'];

/// Returns the mistake that made the parser stop. `open` are the brackets that it has seen so far, and
/// `read` is the end of the last value.
pub(super) fn explain(error: &ScanError, text: &str, open: &[usize], read: usize) -> SyntaxError {
    let at = error.marker().byte_offset().unwrap_or(0).min(text.len());
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (mistake, kind) = (Mistake { text, at, open, read }, error.kind());
    let found = mistake.tab(kind).or_else(|| mistake.missing_space(kind));
    let found = found.or_else(|| mistake.quote(kind)).or_else(|| mistake.bracket(kind));
    let found = found.or_else(|| mistake.indentation(kind)).or_else(|| mistake.other(kind));
    found.unwrap_or_else(|| SyntaxError::new(kind.to_string(), mistake.here()))
}

/// Returns a mistake, and what to do about it.
#[expect(clippy::unnecessary_wraps, reason = "every caller may find nothing")]
fn found(
    message: impl Into<String>,
    place: Range<usize>,
    hint: impl Into<String>,
) -> Option<SyntaxError> {
    Some(SyntaxError::new(message, place).hint(hint))
}

/// Returns a description of the first character that looks like a space and is not one.
pub(in super::super) fn odd_space(text: &str) -> Option<(usize, String)> {
    let (at, odd) = text.char_indices().find(|(_, letter)| ODD_SPACES.contains(letter))?;
    let name = if odd == '\u{a0}' { "a no-break space" } else { "an unusual space" };
    Some((at, format!("{name} (U+{:04X})", u32::from(odd))))
}

struct Mistake<'t> {
    text: &'t str,
    /// Where the parser stopped.
    at: usize,
    /// Where the brackets that are open began.
    open: &'t [usize],
    /// Where the last value ended.
    read: usize,
}

impl<'t> Mistake<'t> {
    fn tab(&self, kind: &E) -> Option<SyntaxError> {
        let is_tab = matches!(
            kind,
            E::TabNotAllowed
                | E::TabInBlockIndentation
                | E::TabAtBlockScalarStart
                | E::TabInIndentation
                | E::TabInPlainScalar
        );
        let mut lines = self.lines_from(self.line_start(self.at)).filter(|_| is_tab);
        let tab = lines.find_map(|(start, line)| {
            let indentation = &line[..line.len() - line.trim_start().len()];
            Some(start + indentation.find('\t')?)
        })?;
        let hint = "indent with spaces only: YAML does not allow tabs there";
        found("a tab in the indentation", tab..tab + 1, hint)
    }

    /// Finds a `-` or a `:` without the space behind it, on the line or on the one before.
    fn missing_space(&self, kind: &E) -> Option<SyntaxError> {
        if !matches!(
            kind,
            E::MappingValueNotAllowed
                | E::SimpleKeyExpected
                | E::ExpectedBlockMappingKey
                | E::ExpectedBlockSequenceEntry
                | E::BomInsideDocument
        ) {
            return None;
        }
        let line = self.line_start(self.at);
        let before = self.text[..line].trim_end().len();
        [line, self.line_start(before)].into_iter().find_map(|start| {
            let (_, line) = self.lines_from(start).next()?;
            missing_space(start, line)
        })
    }

    fn quote(&self, kind: &E) -> Option<SyntaxError> {
        let (message, place, hint) = match kind {
            E::UnclosedQuotedScalar
            | E::InvalidQuotedScalarIndent
            | E::DocumentIndicatorInQuotedScalar => {
                let opened = match kind {
                    E::UnclosedQuotedScalar => self.at,
                    _ => self.open_quote().unwrap_or(self.at),
                };
                let hint = "close it, or put the whole text in the other kind of quotes";
                ("this quote is never closed", opened..opened + 1, hint)
            }
            E::InvalidTrailingSingleQuotedScalar => {
                let hint = "in single quotes write `''` for a `'`";
                ("text after the closing quote", self.here(), hint)
            }
            E::InvalidTrailingDoubleQuotedScalar => {
                let hint = "in double quotes write `\\\"` for a `\"`, or use single quotes";
                ("text after the closing quote", self.here(), hint)
            }
            E::UnknownQuotedScalarEscape => {
                let hint = "in double quotes `\\` begins an escape; \
                            use single quotes for a regular expression";
                ("unknown escape", self.here(), hint)
            }
            _ => return None,
        };
        found(message, place, hint)
    }

    fn open_quote(&self) -> Option<usize> {
        let text = self.text.get(self.read..self.at)?;
        Some(self.read + text.find(['"', '\''])?)
    }

    fn bracket(&self, kind: &E) -> Option<SyntaxError> {
        let closer = |opener| if opener == '[' { ']' } else { '}' };
        match kind {
            E::UnclosedFlowCollection { open } => {
                let hint = format!("add the `{}`", closer(*open));
                return found(format!("this `{open}` is never closed"), self.here(), hint);
            }
            E::MismatchedFlowCollectionEnd { open, close } => {
                let message = format!("this `{open}` is closed by a `{close}`");
                return Some(SyntaxError::new(message, self.here()));
            }
            E::RecursionLimitExceeded
            | E::UnexpectedCharacter { .. }
            | E::UnknownAnchor
            | E::MissingAnchorOrAliasName => return None,
            _ => {}
        }
        let opened = self.open.last().copied()?;
        let bracket = self.text[opened..].chars().next().filter(|it| matches!(it, '[' | '{'))?;
        let closer = closer(bracket);
        let on_another_line = self.line_start(opened) != self.line_start(self.at);
        let first_of_its_line = self.line(opened).trim_start().starts_with(bracket);
        let deeper = self.indentation_of(self.at) > self.indentation_of(opened);
        if on_another_line && !first_of_its_line && !deeper {
            let line = self.line_number(self.at);
            let message = format!("this `{bracket}` is still open on line {line}");
            let hint = format!("add the `{closer}` before that line");
            return found(message, opened..opened + 1, hint);
        }
        let message = match kind {
            E::BlockEntryInFlowCollection => format!("a `-` between `{bracket}` and `{closer}`"),
            _ => format!("expected `,` or `{closer}` before this"),
        };
        let hint = format!("the `{bracket}` is on line {}", self.line_number(opened));
        found(message, self.here(), hint)
    }

    /// Finds a line that does not belong to any of those above it.
    fn indentation(&self, kind: &E) -> Option<SyntaxError> {
        let start = self.line_start(self.at);
        let indentation = self.indentation_of(start);
        let place = start + indentation..start + self.line(start).trim_end().len();
        let fits = || self.text[..start].lines().any(|line| columns(line).contains(&indentation));
        let hint = "align it with the lines that it belongs to";
        match kind {
            E::ExpectedBlockMappingKey
            | E::ExpectedBlockSequenceEntry
            | E::InvalidIndentation
            | E::InvalidBlockScalarIndent
                if !fits() =>
            {
                found("the indentation of this line fits no line above it", place, hint)
            }
            E::ExpectedBlockMappingKey => {
                found("expected a key, such as `name: value`", place, hint)
            }
            E::ExpectedBlockSequenceEntry => {
                found("expected a list item, such as `- value`", place, hint)
            }
            E::MappingValueNotAllowed if self.text[start..self.at].contains(": ") => {
                let hint = "put quotes around the text";
                found("a `: ` in a text without quotes", self.here(), hint)
            }
            E::MappingValueNotAllowed => {
                let hint = "align it with the keys that it belongs to; a key ends with a `:`";
                found("this line continues the text of the line above it", place, hint)
            }
            _ => None,
        }
    }

    fn other(&self, kind: &E) -> Option<SyntaxError> {
        let (message, hint) = match kind {
            E::UnknownAnchor => (
                "unknown alias",
                "a leading `*` refers to an `&anchor` in YAML; put quotes around a plain text",
            ),
            E::MissingAnchorOrAliasName => (
                "`*` and `&` begin an alias and an anchor",
                "put quotes around a plain text: `\"*\"`",
            ),
            E::UnexpectedCharacter { character } if character.is_control() => {
                let message = format!("the control character U+{:04X}", u32::from(*character));
                let hint = "remove it; in double quotes it can be written as an escape";
                return found(message, self.here(), hint);
            }
            E::UnexpectedCharacter { character } => {
                let message = format!("a text can't begin with `{character}` here");
                return found(message, self.here(), "put quotes around the text");
            }
            E::BlockSequenceEntryNotAllowed => {
                ("a list can't begin on the line of its key", "move the `-` to the next line")
            }
            E::SimpleKeyExpected => ("expected a `:` after this key", "write `key: value`"),
            E::InvalidBlockScalarHeader => (
                "text behind a `|` or `>`",
                "begin the text on the next line, or put quotes around it",
            ),
            E::RecursionLimitExceeded => return Some(super::too_deep(&self.here())),
            _ => return None,
        };
        found(message, self.here(), hint)
    }

    /// Returns the word where the parser stopped.
    fn here(&self) -> Range<usize> {
        let rest = &self.text[self.at..];
        let ends = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ']' | '}');
        let first = rest.chars().next().filter(|letter| *letter != '\n').map_or(0, char::len_utf8);
        let word = rest.find(ends).unwrap_or(rest.len());
        self.at..self.at + if rest.starts_with(['*', '&']) { word.max(first) } else { first }
    }

    fn line_number(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Returns the line that contains `at`.
    fn line(&self, at: usize) -> &'t str {
        self.text[self.line_start(at)..].lines().next().unwrap_or_default()
    }

    fn indentation_of(&self, at: usize) -> usize {
        let line = self.line(at);
        line.len() - line.trim_start_matches(' ').len()
    }

    /// Returns the lines from the one that begins at `start`, each with the place where it begins.
    fn lines_from(&self, start: usize) -> impl Iterator<Item = (usize, &'t str)> {
        let text = self.text;
        text[start..]
            .lines()
            .map(move |line| (line.as_ptr() as usize - text.as_ptr() as usize, line))
    }
}

/// Returns the columns at which something begins in a line: its text, and what follows each `- `.
fn columns(line: &str) -> Vec<usize> {
    let mut columns = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(' ');
        columns.push(line.len() - rest.len());
        match rest.strip_prefix("- ") {
            Some(item) => rest = item,
            None => return columns,
        }
    }
}

fn missing_space(start: usize, line: &str) -> Option<SyntaxError> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let item = line.trim_start_matches([' ', '-']);
    let before = &line[..line.len() - item.len()];
    if let Some((at, odd)) = odd_space(line)
        && (item.starts_with(ODD_SPACES) || line[..at].ends_with(':'))
    {
        let length = line[at..].chars().next().map_or(0, char::len_utf8);
        return found(odd, start + at..start + at + length, "replace it with a normal space");
    }
    let word = item.find(|letter| !is_word(letter)).map_or(item, |end| &item[..end]);
    let key = start + before.len();
    let rest = item[word.len()..].strip_prefix(':').filter(|_| !word.is_empty())?;
    if before.ends_with('-') {
        let place = key - 1..key + word.len();
        return found("a `-` without a space behind it", place, format!("write `- {word}:`"));
    }
    let colon = key + word.len();
    let is_value = rest.starts_with(|first: char| !first.is_whitespace() && first != '/');
    let hint = format!("write `{word}: ` and then the value");
    found("a `:` without a space behind it", colon..colon + 1, hint).filter(|_| is_value)
}
