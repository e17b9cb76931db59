//! Which tools a hook is for.

use std::fmt;
use std::sync::Arc;

use crate::pattern::Pattern;

/// A pattern over a whole tool name, case-sensitive.
///
/// `""` and `*` match everything. A pattern of plain names joined by `|` is compared as text; any
/// other is a regular expression, compiled when it is first needed and anchored at both ends. In it
/// `.` matches every character, a line's end as well.
#[derive(Clone)]
pub struct Matcher {
    pattern: Arc<str>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Everything,
    Names(Arc<[Box<str>]>),
    Pattern(Pattern),
}

/// A matcher that is no regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("matcher `{pattern}` is not a valid regular expression: {cause}")]
#[non_exhaustive]
pub struct MatcherError {
    /// The pattern.
    pub pattern: String,
    /// What the regular expression engine says, on one line.
    pub cause: String,
}

impl Matcher {
    /// Returns the matcher of everything.
    #[must_use]
    pub fn everything() -> Self {
        Self { pattern: "".into(), kind: Kind::Everything }
    }

    /// Returns the matcher of `pattern`, checked and not yet compiled.
    ///
    /// # Errors
    /// When `pattern` is not a regular expression, or one that is too large.
    pub fn new(pattern: &str) -> Result<Self, MatcherError> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let kind = if pattern.is_empty() || pattern == "*" {
            Kind::Everything
        } else if pattern.split('|').all(|name| !name.is_empty() && name.chars().all(plain)) {
            Kind::Names(pattern.split('|').map(Box::from).collect())
        } else {
            Pattern::whole(pattern)
                .map(Kind::Pattern)
                .map_err(|cause| MatcherError { pattern: pattern.to_owned(), cause })?
        };
        Ok(Self { pattern: pattern.into(), kind })
    }

    /// Returns the pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// Returns whether the matcher matches every name.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(self.kind, Kind::Everything)
    }

    /// Returns about how many states its pattern has.
    pub(crate) fn states(&self) -> usize {
        match &self.kind {
            Kind::Pattern(pattern) => pattern.states(),
            Kind::Everything | Kind::Names(_) => 0,
        }
    }

    /// Returns whether the whole of `name` matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match &self.kind {
            Kind::Everything => true,
            Kind::Names(names) => names.iter().any(|known| **known == *name),
            Kind::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

/// Returns whether nothing is seen of a letter: a name with one looks like another without it.
pub(crate) fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

impl fmt::Debug for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Matcher({:?})", self.pattern)
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(if self.is_everything() { "*" } else { &self.pattern })
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for Matcher {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matcher_is_over_the_whole_name() {
        let cases: [(&str, &str, bool); 15] = [
            (".*", "a\nb", true),
            ("mcp__.*", "mcp__git__push\n", true),
            ("(?-s:.*)", "a\nb", false),
            ("", "shell", true),
            ("*", "shell", true),
            (".*", "", true),
            ("shell|edit_file", "edit_file", true),
            ("shell|edit_file", "shell2", false),
            ("shell|edit_file", "Shell", false),
            ("mcp__.*", "mcp__git__push", true),
            ("mcp__.*", "x_mcp__git", false),
            ("a|b.*", "xa", false),
            ("a|b.*", "bx", true),
            ("she.l", "shell\n", false),
            ("(?i)SHELL", "shell", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(Matcher::new(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["shell|*", "a(", "*.sh", "a)|(b", "(a{1000}){1000}"] {
            assert!(Matcher::new(pattern).is_err(), "{pattern}");
        }
    }
}
