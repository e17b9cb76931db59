//! Which tools a hook is for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hookexec_files::pattern::{Pattern, underscored};

/// A pattern over a whole tool name, case-sensitive.
///
/// `""` and `*` match everything. A pattern of plain names joined by `|` is compared as text; any
/// other is a regular expression, compiled when it is first needed and anchored at both ends. In it
/// `.` matches every character, newlines included.
///
/// In the name of an MCP server's tool (`mcp__server__tool`) the characters `-`, `.` and `_` count as
/// the same: agents write one tool as `mcp__my-kit__do-it` and as `mcp__my_kit__do_it`.
#[derive(Clone)]
pub struct Matcher(Arc<Inner>);

struct Inner {
    pattern: Box<str>,
    kind: Kind,
    /// A copy with `_` instead of `-` and `.`, made when it is first needed.
    underscored: OnceLock<Option<Matcher>>,
}

enum Kind {
    Everything,
    /// Names joined by `|`.
    Names,
    Pattern(Pattern),
}

/// A matcher that is not a valid regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("matcher `{pattern}` is not a valid regular expression: {cause}")]
#[non_exhaustive]
pub struct MatcherError {
    /// The pattern.
    pub pattern: String,
    /// The message of the regular expression engine, on one line.
    pub cause: String,
}

impl Matcher {
    /// Returns the matcher that matches every name.
    pub fn everything() -> Self {
        Self::of("", Kind::Everything)
    }

    /// Returns the matcher for `pattern`, checked but not yet compiled.
    ///
    /// # Errors
    /// When `pattern` is not a valid regular expression, or is too large.
    pub fn new(pattern: &str) -> Result<Self, MatcherError> {
        let is_plain = pattern
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'|'));
        let kind = if pattern.is_empty() || pattern == "*" {
            Kind::Everything
        } else if is_plain && pattern.split('|').all(|name| !name.is_empty()) {
            Kind::Names
        } else {
            match Pattern::whole(pattern) {
                Ok(compiled) => Kind::Pattern(compiled),
                Err(cause) => {
                    let cause = cause.to_string();
                    return Err(MatcherError { pattern: pattern.to_owned(), cause });
                }
            }
        };
        Ok(Self::of(pattern, kind))
    }

    fn of(pattern: &str, kind: Kind) -> Self {
        Self(Arc::new(Inner { pattern: pattern.into(), kind, underscored: OnceLock::new() }))
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0.pattern
    }

    /// Returns the names, if the pattern is a list of plain names.
    pub fn names(&self) -> Option<impl Iterator<Item = &str>> {
        if matches!(self.0.kind, Kind::Names) { Some(self.as_str().split('|')) } else { None }
    }

    /// Returns whether the matcher matches every name.
    pub fn is_everything(&self) -> bool {
        matches!(self.0.kind, Kind::Everything)
    }

    /// Returns whether the whole of `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        self.matches_as_written(name) || name.starts_with("mcp__") && self.matches_underscored(name)
    }

    fn matches_as_written(&self, name: &str) -> bool {
        match &self.0.kind {
            Kind::Everything => true,
            Kind::Names => self.as_str().split('|').any(|known| known == name),
            Kind::Pattern(pattern) => pattern.is_match(name),
        }
    }

    fn matches_underscored(&self, name: &str) -> bool {
        let underscored = self.0.underscored.get_or_init(|| match self.0.kind {
            Kind::Everything => None,
            Kind::Names => Some(Self::of(&self.as_str().replace('-', "_"), Kind::Names)),
            Kind::Pattern(_) => Self::new(&underscored(self.as_str())).ok(),
        });
        let Some(matcher) = underscored else { return false };
        let other = name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        matcher.matches_as_written(&other)
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Matcher({:?})", self.as_str())
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(if self.is_everything() { "*" } else { self.as_str() })
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
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
    fn dashes_dots_and_underscores_are_the_same_in_the_names_of_mcp_tools() {
        for (pattern, name, expected) in [
            ("mcp__my-kit__do-it", "mcp__my_kit__do_it", true),
            ("mcp__my_kit__do_it", "mcp__my-kit__do-it", true),
            ("mcp__my-kit__do-it|Bash", "mcp__my_kit__do-it", true),
            ("mcp__my-kit__.*", "mcp__my_kit__say", true),
            ("mcp__my-kit\\.v2__.*", "mcp__my-kit_v2__say", true),
            ("mcp__my-kit_v2__say", "mcp__my-kit.v2__say", true),
            ("mcp__kit__[a-z-]+", "mcp__kit__do_it", true),
            ("mcp__kit__[a-z]+", "mcp__kit__do_it", false),
            ("mcp__kit__[^-]+", "mcp__kit__do", true),
            ("(?i-s:MCP__my-kit)__say", "mcp__my_kit__say", true),
            ("(?P<a>mcp__my-kit)__say", "mcp__my_kit__say", true),
            ("mcp__(a-b|c-d)__[]-]?x", "mcp__c_d__x", true),
            ("mcp__my-kit__say", "mcp__mykit__say", false),
            ("mcp__my-kit__say", "mcp__other__say", false),
            // Other names are compared as they are.
            ("do-it", "do_it", false),
            ("run.*-it", "run_it", false),
        ] {
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
