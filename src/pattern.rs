//! Regular expressions and globs out of a configuration: checked when read, compiled when first
//! needed.
//!
//! A file is read before anybody knows whether its owner approved it. So every pattern is held
//! against bounds before a parser that calls itself sees it, and none is compiled while reading.

use std::fmt;
use std::sync::{Arc, OnceLock};

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// The longest regular expression, in bytes.
const MAX_REGEX: usize = 16 << 10;
/// The longest glob, in bytes: no path is longer.
const MAX_GLOB: usize = 4 << 10;
/// How many braces a glob may open: a parser goes one level deeper at each.
const MAX_BRACES: usize = 64;
/// How many states a pattern may have, by the estimate of [`states`].
const MAX_STATES: usize = 160_000;
/// What a pattern of so many states certainly fits into once it is compiled, in bytes.
const SIZE_LIMIT: usize = 16 << 20;
/// How much a pattern may remember of the texts it has seen, in bytes.
const MEMORY: usize = 256 << 10;
/// How much work one pass over the conditions of an event may be, in positions of patterns times
/// bytes of text: about a second in the worst case, measured with `.{7000}` on 60 KB.
const MAX_WORK: u64 = 150_000_000;
/// How many texts are kept that a match may begin with.
const MAX_BEGINNINGS: usize = 64;
/// How many states a pattern has at least, for what it costs beside them.
const LEAST_STATES: usize = 200;
/// How many states of a class of characters are looked at for one byte: it is in one character.
const CLASS_WIDTH: usize = 4;
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
    /// About how many states it has, compiled.
    states: usize,
    /// About how many of them are looked at for one byte of a text, at worst.
    width: usize,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    /// Returns the pattern, or what is wrong with it, on one line.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        Self::of(&parse(bounded(text, MAX_REGEX)?)?, text.into())
    }

    /// Returns the pattern that matches only the whole of a text, or what is wrong with it. In it
    /// `.` is any character, a line's end as well: `.*` is every text.
    pub(crate) fn whole(text: &str) -> Result<Self, String> {
        let whole = format!("^(?s:{text})$");
        if let Some(beginnings) = simple_beginnings(text) {
            // The most that a byte of it can take, half of a `.+`.
            let states = (10 * whole.len()).max(LEAST_STATES);
            let (text, beginnings) = (whole.into(), Some(beginnings));
            let width = states;
            return Ok(Self { text, beginnings, states, width, compiled: Arc::default() });
        }
        // The pattern alone first: `a)|(b` must not become valid by the parentheses around it.
        parse(bounded(text, MAX_REGEX)?)?;
        let text = whole;
        Self::of(&parse(&text)?, text.into())
    }

    /// Returns the pattern of a glob, in which only `**` goes across a `/`, or what is wrong with it.
    pub(crate) fn glob(text: &str) -> Result<Self, String> {
        let mut glob = GlobBuilder::new(check_glob(text)?);
        let glob = glob.literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|error| error.kind().to_string())?;
        // `**` goes across every character; globset sets this beside its expression, not in it.
        let text = format!("(?s){}", glob.regex());
        Self::of(&parse(&text)?, text.into())
    }

    fn of(hir: &Hir, text: Arc<str>) -> Result<Self, String> {
        let states = states(hir).max(LEAST_STATES);
        if states > MAX_STATES {
            return Err("it is too large: it repeats too much, too often".to_owned());
        }
        let (beginnings, width) = (beginnings(hir), size(hir, &|_| CLASS_WIDTH));
        Ok(Self { text, beginnings, states, width, compiled: Arc::default() })
    }

    /// Returns about how many states it has once it is compiled, whether it is or not.
    pub(crate) fn states(&self) -> usize {
        self.states
    }

    /// Returns whether the pattern is found in `text`, and takes the work from `budget`.
    pub(crate) fn is_match_within(
        &self,
        text: &str,
        budget: &mut Budget,
    ) -> Result<bool, TooMuchWork> {
        if !self.may_begin(text) {
            return Ok(false);
        }
        budget.take(self.width, text.len())?;
        Ok(self.is_match(text))
    }

    /// Returns whether `text` begins as every match does.
    fn may_begin(&self, text: &str) -> bool {
        let begins = |beginning: &[u8]| text.as_bytes().starts_with(beginning);
        self.beginnings.as_ref().is_none_or(|all| all.iter().any(|one| begins(one)))
    }

    /// Returns whether the pattern is found in `text`.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        if !self.may_begin(text) {
            return false;
        }
        self.compiled
            .get_or_init(|| compile(&self.text).ok())
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

/// The work that patterns may still do. It counts positions and bytes, not time, so that the same
/// input always gets the same answer.
#[derive(Debug)]
pub(crate) struct Budget(u64);

/// A pattern would do more work than its budget has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuchWork;

impl Budget {
    /// Returns the budget for one pass over the conditions of an event.
    pub(crate) const fn new() -> Self {
        Self(MAX_WORK)
    }

    /// Returns a budget without an end.
    pub(crate) const fn unlimited() -> Self {
        Self(u64::MAX)
    }

    fn take(&mut self, width: usize, bytes: usize) -> Result<(), TooMuchWork> {
        let work = u64::try_from(width.saturating_mul(bytes)).unwrap_or(u64::MAX);
        self.0 = self.0.checked_sub(work).ok_or(TooMuchWork)?;
        Ok(())
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, formatter)
    }
}

/// Returns the glob `text` when it is safe to give to a parser, or what is wrong with it.
pub(crate) fn check_glob(text: &str) -> Result<&str, String> {
    if text.bytes().filter(|byte| *byte == b'{').count() > MAX_BRACES {
        return Err(format!("it opens more than {MAX_BRACES} braces"));
    }
    bounded(text, MAX_GLOB)
}

fn bounded(text: &str, limit: usize) -> Result<&str, String> {
    if text.len() <= limit { Ok(text) } else { Err(format!("it is longer than {limit} bytes")) }
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
    let literals = prefixes.literals().filter(|literals| literals.len() <= MAX_BEGINNINGS)?;
    Some(literals.iter().map(|literal| literal.as_bytes().into()).collect())
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

fn compile(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(SIZE_LIMIT).dfa_size_limit(MEMORY).build()
}

/// Returns a number that the states of the compiled pattern do not exceed.
fn states(hir: &Hir) -> usize {
    // A range of characters takes up to four bytes, and few ranges need more than two ways.
    size(hir, &|class| match class {
        Class::Unicode(class) => class.ranges().len().saturating_mul(8),
        Class::Bytes(class) => class.ranges().len(),
    })
}

/// Returns how large a pattern is, given how large a class of characters is.
fn size(hir: &Hir, of_class: &dyn Fn(&Class) -> usize) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(class) => of_class(class),
        HirKind::Capture(capture) => size(&capture.sub, of_class).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            size(&repetition.sub, of_class).saturating_add(2).saturating_mul(times)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(|part| size(part, of_class)).fold(1, usize::saturating_add)
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
            "it is too large: it repeats too much, too often"
        );
        assert_eq!(
            Pattern::new(&"(".repeat(100_000)).unwrap_err(),
            "it is longer than 16384 bytes"
        );
        assert_eq!(
            Pattern::glob(&"?".repeat(900_000)).unwrap_err(),
            "it is longer than 4096 bytes"
        );
        let braces = Pattern::glob(&"{a,".repeat(20_000)).unwrap_err();
        assert_eq!(braces, "it opens more than 64 braces");
    }

    #[test]
    fn what_is_within_the_bounds_needs_little_stack() {
        let nested = |unit: &str, end: &str, times| unit.repeat(times) + &end.repeat(times);
        let patterns = move || {
            for depth in [1, 64] {
                let glob = Pattern::glob(&nested("{a,", "}", depth)).unwrap();
                assert!(glob.is_match("a"), "{depth}");
            }
            for (unit, end) in [("(", ")"), ("(?:a|", ")"), ("(?i:a", ")?"), ("[a&&", "]")] {
                for depth in [20, 80, 249, 5_000] {
                    if let Ok(pattern) = Pattern::whole(&nested(unit, end, depth)) {
                        pattern.is_match("aaaa");
                    }
                }
            }
            "done"
        };
        let small = std::thread::Builder::new().stack_size(1 << 20);
        assert_eq!(small.spawn(patterns).unwrap().join().unwrap(), "done");
    }

    #[test]
    fn what_is_accepted_fits_into_the_limit() {
        for (unit, times) in [(r"\w", 25), (r"[\x00-\u{10ffff}]", 5_000), ("[é-ö]", 2_500)] {
            let text = unit.repeat(times);
            let hir = ParserBuilder::new().utf8(false).build().parse(&text).unwrap();
            assert!((20_000..MAX_STATES).contains(&states(&hir)), "{unit}");
            assert!(compile(&text).is_ok(), "{times} times {unit}");
        }
        for unit in [".", ".*", ".+", "a", "|", ".|"] {
            let text = unit.repeat(SIMPLE / unit.len());
            assert!(simple_beginnings(&text).is_some());
            let pattern = Pattern::whole(&text).unwrap();
            assert!(states(&parse(&pattern.text).unwrap()) <= pattern.states, "{unit}");
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
            let found = compile(&pattern).unwrap().is_match(text.as_bytes());
            prop_assert_eq!(Pattern::new(&pattern).unwrap().is_match(&text), found);
            let whole = compile(&format!("^(?s:{pattern})$")).unwrap();
            let found = whole.is_match(text.as_bytes());
            prop_assert_eq!(Pattern::whole(&pattern).unwrap().is_match(&text), found);
        }

        #[test]
        fn a_simple_pattern_is_valid_and_means_the_same(
            pattern in r"[ab_-]{0,2}([ab.*+|_-]{0,7}|\PC{0,5})",
            text in r"[ab_\n-]{0,5}|\PC{0,3}",
        ) {
            if simple_beginnings(&pattern).is_some() {
                let whole = compile(&format!("^(?s:{pattern})$")).unwrap();
                prop_assert!(compile(&pattern).is_ok());
                let found = whole.is_match(text.as_bytes());
                prop_assert_eq!(Pattern::whole(&pattern).unwrap().is_match(&text), found);
            }
        }
    }
}
