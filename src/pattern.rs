//! Regular expressions out of a configuration: checked when read, compiled when first needed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The most memory one compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 1 << 20;
/// Up to how many states a pattern is known to stay far below [`SIZE_LIMIT`].
const SMALL: usize = 8_000;

/// A regular expression that was checked and may not be compiled yet.
///
/// Parsing costs a few microseconds and finds every mistake of an author; compiling costs a
/// hundred, and most patterns of a configuration are never asked during one event.
#[derive(Clone)]
pub(crate) struct Pattern {
    text: Arc<str>,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    /// Returns the pattern, or what is wrong with it, on one line.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let parsed = ParserBuilder::new().utf8(false).build().parse(text);
        let hir = parsed.map_err(|error| last_line(&error.to_string()))?;
        let compiled = OnceLock::new();
        if states(&hir) > SMALL {
            let regex = compile(text, SIZE_LIMIT);
            let regex = regex.map_err(|_| "it needs more than 1 MiB when compiled".to_owned())?;
            compiled.get_or_init(|| Some(regex));
        }
        Ok(Self { text: text.into(), compiled: Arc::new(compiled) })
    }

    /// Returns whether the pattern is found in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.compiled
            .get_or_init(|| compile(&self.text, 16 * SIZE_LIMIT).ok())
            .as_ref()
            // It parses and is small, so it compiles; should it ever not, a guard runs too often
            // and not never.
            .is_none_or(|regex| regex.is_match(text.as_bytes()))
    }

    /// Returns the pattern as written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, formatter)
    }
}

fn compile(text: &str, limit: usize) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(limit).build()
}

/// Returns a number that the states of the compiled pattern do not exceed.
fn states(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        // A range of characters takes up to four bytes, and few ranges need more than two ways.
        HirKind::Class(Class::Unicode(class)) => class.ranges().len().saturating_mul(8),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            states(&repetition.sub).saturating_add(2).saturating_mul(times)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(states).fold(1, usize::saturating_add)
        }
    }
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or(text).trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_searches() {
        assert!(Pattern::new(r"^(rm|dd)\b").unwrap().is_match("rm -rf /"));
        assert!(!Pattern::new(r"^(rm|dd)\b").unwrap().is_match("grep rm"));
        assert!(Pattern::new("é+$").unwrap().is_match("caféé"));
    }

    #[test]
    fn what_is_wrong_fits_on_a_line() {
        assert_eq!(Pattern::new("a(").unwrap_err(), "unclosed group");
        assert_eq!(
            Pattern::new("(a{1000}){1000}").unwrap_err(),
            "it needs more than 1 MiB when compiled"
        );
        let nested = "(".repeat(100_000);
        assert!(Pattern::new(&nested).is_err());
    }

    #[test]
    fn small_is_well_below_the_limit() {
        let mut small = 0;
        for unit in [r"\w", "a", "[a-cx-z]", "a?", ".", r"[\x00-\u{10ffff}]", "[é-ö]", "(?s-u:.)"]
        {
            for times in [1, 100, 300, 1_000, 2_600, 8_000] {
                let text = unit.repeat(times);
                let hir = ParserBuilder::new().utf8(false).build().parse(&text).unwrap();
                if states(&hir) <= SMALL {
                    assert!(compile(&text, SIZE_LIMIT).is_ok(), "{times} times {unit}");
                    small += 1;
                }
            }
        }
        assert!(small > 20, "{small}");
    }
}
