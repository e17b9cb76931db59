//! Regular expressions out of a configuration: checked when read, compiled when first needed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// The most memory one compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 1 << 20;
/// Up to how many states a pattern is known to stay far below [`SIZE_LIMIT`].
const SMALL: usize = 8_000;
/// Up to how many bytes a simple pattern is known to be small.
const SIMPLE: usize = 400;

/// A regular expression that was checked and may not be compiled yet.
///
/// Parsing costs a few microseconds and finds every mistake of an author; compiling costs a
/// hundred, and most patterns of a configuration are never asked during one event.
#[derive(Clone)]
pub(crate) struct Pattern {
    text: Arc<str>,
    /// What every match begins with, one of these, at the start of the text; `None` when the
    /// pattern does not say. Most texts fail here, and the pattern need not be compiled.
    beginnings: Option<Arc<[Box<[u8]>]>>,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    /// Returns the pattern, or what is wrong with it, on one line.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        Self::of(&parse(text)?, text.into())
    }

    /// Returns the pattern that matches only the whole of a text, or what is wrong with it. In it
    /// `.` is any character, a line's end as well: `.*` is every text.
    pub(crate) fn whole(text: &str) -> Result<Self, String> {
        let whole = format!("^(?s:{text})$");
        if let Some(beginnings) = simple_beginnings(text) {
            let (text, compiled) = (whole.into(), Arc::default());
            return Ok(Self { text, beginnings: Some(beginnings), compiled });
        }
        // The pattern alone first: `a)|(b` must not become valid by the parentheses around it.
        parse(text)?;
        let text = whole;
        Self::of(&parse(&text)?, text.into())
    }

    fn of(hir: &Hir, text: Arc<str>) -> Result<Self, String> {
        let compiled = OnceLock::new();
        if states(hir) > SMALL {
            let regex = compile(&text, SIZE_LIMIT);
            let regex = regex.map_err(|_| "it needs more than 1 MiB when compiled".to_owned())?;
            compiled.get_or_init(|| Some(regex));
        }
        Ok(Self { text, beginnings: beginnings(hir), compiled: Arc::new(compiled) })
    }

    /// Returns whether the pattern is found in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let begins = |beginning: &[u8]| text.as_bytes().starts_with(beginning);
        if self.beginnings.as_ref().is_some_and(|all| !all.iter().any(|one| begins(one))) {
            return false;
        }
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

fn parse(text: &str) -> Result<Hir, String> {
    let parsed = ParserBuilder::new().utf8(false).build().parse(text);
    parsed.map_err(|error| last_line(&error.to_string()))
}

/// Returns the texts one of which every match begins with, when it can only be at the start.
fn beginnings(hir: &Hir) -> Option<Arc<[Box<[u8]>]>> {
    if !hir.properties().look_set_prefix().contains(Look::Start) {
        return None;
    }
    let prefixes = Extractor::new().extract(hir);
    Some(prefixes.literals()?.iter().map(|literal| literal.as_bytes().into()).collect())
}

/// Returns what every match of a simple pattern begins with, one of these: one of words, `.`, `.*`,
/// `.+` and `|`, as most matchers are. It is valid and small, which no parser has to find out.
fn simple_beginnings(text: &str) -> Option<Arc<[Box<[u8]>]>> {
    let bytes = text.as_bytes();
    let simple = text.len() <= SIMPLE
        && bytes.iter().enumerate().all(|(at, byte)| match byte {
            b'*' | b'+' => at > 0 && bytes[at - 1] == b'.',
            byte => byte.is_ascii_alphanumeric() || b"_-.|".contains(byte),
        });
    let word =
        |alternative: &str| alternative.split('.').next().unwrap_or_default().as_bytes().into();
    simple.then(|| text.split('|').map(word).collect())
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
    fn a_pattern_is_compiled_only_when_a_text_begins_as_it_demands() {
        for pattern in [Pattern::whole("mcp__(git|hub)__.*|x.*"), Pattern::new("^mcp__git__")] {
            let pattern = pattern.unwrap();
            assert!(!pattern.is_match("shell"));
            assert!(!pattern.is_match(" mcp__git__push"));
            assert!(!pattern.is_match("mcp__"));
            assert!(pattern.compiled.get().is_none());
            assert!(pattern.is_match("mcp__git__push"));
            assert!(!pattern.is_match("mcp__github"));
            assert!(pattern.compiled.get().is_some());
        }
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
        for unit in [".", ".*", ".+", "a", "|", ".|"] {
            let text = unit.repeat(SIMPLE / unit.len());
            assert!(simple_beginnings(&text).is_some());
            let hir = ParserBuilder::new().utf8(false).build().parse(&text).unwrap();
            assert!(states(&hir) <= SMALL, "{unit}");
            assert!(simple_beginnings(&format!("{text}aa")).is_none());
        }
    }
}

#[cfg(test)]
mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Patterns of everything that changes how a match may begin.
    fn pattern() -> impl Strategy<Value = String> {
        let letters = "[ab]{1,3}".boxed();
        let others = prop::sample::select(vec![".", "[a-c]", r"\b", "^", "$", "(?m:^)"]);
        let leaf = prop_oneof![letters, others.prop_map(str::to_owned)];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let times = prop::sample::select(vec!["*", "+", "?", "{0}", "{2}", "{1,3}"]);
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
                (inner.clone(), times).prop_map(|(a, times)| format!("(?:{a}){times}")),
                inner.prop_map(|a| format!("(?i:{a})")),
            ]
        })
    }

    proptest! {
        #[test]
        fn looking_at_the_beginning_never_changes_the_answer(
            pattern in pattern(),
            text in "[abcAB\n]{0,5}",
        ) {
            let found = compile(&pattern, SIZE_LIMIT).unwrap().is_match(text.as_bytes());
            prop_assert_eq!(Pattern::new(&pattern).unwrap().is_match(&text), found);
            let whole = compile(&format!("^(?s:{pattern})$"), SIZE_LIMIT).unwrap();
            let found = whole.is_match(text.as_bytes());
            prop_assert_eq!(Pattern::whole(&pattern).unwrap().is_match(&text), found);
        }

        #[test]
        fn a_simple_pattern_is_valid_and_means_the_same(
            pattern in r"[ab_-]{0,2}([ab.*+|_-]{0,7}|\PC{0,5})",
            text in r"[ab_\n-]{0,5}|\PC{0,3}",
        ) {
            if simple_beginnings(&pattern).is_some() {
                let whole = compile(&format!("^(?s:{pattern})$"), SIZE_LIMIT).unwrap();
                prop_assert!(compile(&pattern, SIZE_LIMIT).is_ok());
                let found = whole.is_match(text.as_bytes());
                prop_assert_eq!(Pattern::whole(&pattern).unwrap().is_match(&text), found);
            }
        }
    }
}
