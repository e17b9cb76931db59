//! Regular expressions and globs of a configuration: checked when read, compiled when first needed.
//!
//! A file is read before it is known whether a person approved it. So every pattern is bounded before
//! a recursive parser sees it, and none is compiled while reading.

use std::fmt;
use std::sync::{Arc, OnceLock};

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The longest regular expression, in bytes.
const MAX_REGEX: usize = 16 << 10;
/// The longest glob, in bytes: no path is longer.
const MAX_GLOB: usize = 4 << 10;
/// How many braces a glob may open: a parser goes one level deeper at each.
const MAX_BRACES: usize = 64;
/// How many positions a pattern may have, by [`size`].
const MAX_SIZE: usize = 160_000;
/// How much memory a compiled pattern may take, in bytes.
const SIZE_LIMIT: usize = 16 << 20;
/// How much a pattern may remember of the texts it has seen, in bytes.
const MEMORY: usize = 256 << 10;
/// How much work one pass over the conditions of an event may be, in positions of patterns times
/// bytes of text: about a second in the worst case, measured with `.{7000}` on 60 KB.
const MAX_WORK: u64 = 150_000_000;
/// How much of it may be done where other hooks wait meanwhile: about 20 ms in the worst case.
const MAX_WORK_HERE: u64 = 3_000_000;
/// As how many bytes of text the compiling of a pattern counts, measured with patterns of the largest
/// size. It counts each time, so that an answer does not depend on what ran before.
const COMPILING: usize = 250;
/// How many ranges of a class take as long to compile as a position. `\w` has some 700.
const RANGES: usize = 6;
/// How many positions a pattern has at least, for what a match costs beside them.
const LEAST_SIZE: usize = 200;
/// How many bytes of text are looked at as fast as one match begins.
const PAGE: usize = 4096;
/// How many positions of a class of characters one byte concerns: it is in one character.
const CLASS_SIZE: usize = 4;

/// A regular expression that was checked and may not be compiled yet.
///
/// Parsing costs a few microseconds and finds the mistakes of an author; compiling costs a
/// hundred, and most patterns of a configuration are not needed during one event.
#[derive(Clone)]
pub(crate) struct Pattern(Arc<Inner>);

struct Inner {
    text: Box<str>,
    form: Form,
    size: Size,
    compiled: OnceLock<Option<Regex>>,
}

/// The size of a pattern, in positions.
#[derive(Clone, Copy)]
struct Size {
    /// Those that concern one byte of a text, at worst.
    matching: usize,
    /// Those that are compiled.
    compiling: usize,
}

/// What a text must be for the pattern.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// It contains a match.
    Contains,
    /// It is a match.
    Whole,
    /// It is a match of a [simple](simple_beginnings) pattern. Most tool names begin otherwise, and
    /// the pattern need not be compiled.
    SimpleWhole,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (&self.0.text, self.0.form) == (&other.0.text, other.0.form)
    }
}

impl Pattern {
    /// Returns the pattern, or what is wrong with it, on one line.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        Ok(Self::of(text, size_of(bounded(text, MAX_REGEX)?)?, Form::Contains))
    }

    /// Returns the pattern that matches only the whole of a text, or what is wrong with it. In it
    /// `.` is any character, newlines included: `.*` is every text.
    pub(crate) fn whole(text: &str) -> Result<Self, String> {
        if simple_beginnings(bounded(text, MAX_REGEX)?).is_some() {
            let size = Size { matching: text.len(), compiling: text.len() };
            return Ok(Self::of(text, size, Form::SimpleWhole));
        }
        // The pattern alone first: `a)|(b` must not become valid by the parentheses around it.
        size_of(text)?;
        Ok(Self::of(text, size_of(&whole(text))?, Form::Whole))
    }

    /// Returns the pattern of a glob, in which only `**` goes across a `/`, or what is wrong with it.
    pub(crate) fn glob(text: &str, any_case: bool) -> Result<Self, String> {
        let mut glob = GlobBuilder::new(check_glob(text)?);
        let glob = glob.literal_separator(true).backslash_escape(true);
        let glob = glob.case_insensitive(any_case).build();
        let glob = glob.map_err(|error| error.kind().to_string())?;
        // `**` goes across every character; globset sets this beside its expression, not in it.
        let text = format!("(?s){}", glob.regex());
        Ok(Self::of(&text, size_of(&text)?, Form::Contains))
    }

    fn of(text: &str, size: Size, form: Form) -> Self {
        Self(Arc::new(Inner { text: text.into(), form, size, compiled: OnceLock::new() }))
    }

    /// Returns whether the pattern is found in `text`, and takes the work from `budget`.
    ///
    /// # Errors
    /// When the work is more than the budget has left, or the pattern is too large to compile.
    pub(crate) fn is_match_within(
        &self,
        text: &str,
        budget: &mut Budget,
    ) -> Result<bool, TooMuchWork> {
        budget.take(self.0.size.compiling, COMPILING)?;
        budget.take(self.0.size.matching.max(LEAST_SIZE), text.len())?;
        self.regex().map(|regex| regex.is_match(text.as_bytes())).ok_or(TooMuchWork)
    }

    /// Returns whether the pattern is found in `text`. One that is too large to compile is found in
    /// every text: a guard runs too often, and not never.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let mut beginnings = match self.0.form {
            Form::SimpleWhole => simple_beginnings(&self.0.text),
            Form::Whole | Form::Contains => None,
        };
        beginnings.as_mut().is_none_or(|all| all.any(|one| text.starts_with(one)))
            && self.regex().is_none_or(|regex| regex.is_match(text.as_bytes()))
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = || match self.0.form {
            Form::Contains => compile(&self.0.text).ok(),
            Form::Whole | Form::SimpleWhole => compile(&whole(&self.0.text)).ok(),
        };
        self.0.compiled.get_or_init(compiled).as_ref()
    }

    /// Returns the pattern as written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.text, formatter)
    }
}

/// The work that conditions may still do. It counts positions and bytes, not time, so that the same
/// input always gets the same answer.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    left: u64,
}

/// A pattern would do more work than its budget has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuchWork;

impl Budget {
    /// Returns the budget of one condition.
    pub(crate) const fn new() -> Self {
        Self { left: MAX_WORK }
    }

    /// Returns the budget of all conditions of a layer where other hooks wait meanwhile.
    pub(crate) const fn here() -> Self {
        Self { left: MAX_WORK_HERE }
    }

    /// Returns a budget without an end.
    pub(crate) const fn unlimited() -> Self {
        Self { left: u64::MAX }
    }

    /// Takes the work of looking at a text of `bytes` without a pattern, which may copy it.
    ///
    /// # Errors
    /// When it is more than the budget has left.
    pub(crate) fn look(&mut self, bytes: usize) -> Result<(), TooMuchWork> {
        self.take(LEAST_SIZE, 1 + bytes / PAGE)
    }

    fn take(&mut self, size: usize, bytes: usize) -> Result<(), TooMuchWork> {
        let work = u64::try_from(size.saturating_mul(bytes)).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(work).ok_or(TooMuchWork)?;
        Ok(())
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

/// Returns what every match of a simple pattern begins with, one of these: a pattern of words, `.`,
/// `.*`, `.+` and `|`, as most matchers are. It is valid and small, so it needs no parser.
fn simple_beginnings(text: &str) -> Option<impl Iterator<Item = &str>> {
    let bytes = text.as_bytes();
    let simple = bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'*' | b'+' => at > 0 && bytes[at - 1] == b'.',
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'|'),
    });
    simple.then(|| text.split('|').filter_map(|alternative| alternative.split('.').next()))
}

/// Returns the expression that is found in a text when `text` matches all of it.
fn whole(text: &str) -> String {
    format!("^(?s:{text})$")
}

fn compile(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(SIZE_LIMIT).dfa_size_limit(MEMORY).build()
}

/// Returns the size of the pattern `text`, or what is wrong with it, on one line.
fn size_of(text: &str) -> Result<Size, String> {
    let last_line = |error: regex_syntax::Error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    let hir = ParserBuilder::new().utf8(false).build().parse(text).map_err(last_line)?;
    let matching = positions(&hir, |_| CLASS_SIZE);
    if matching > MAX_SIZE {
        return Err("it is too large: it repeats too much, too often".to_owned());
    }
    let ranges = |class: &Class| match class {
        Class::Unicode(class) => class.ranges().len(),
        Class::Bytes(class) => class.ranges().len(),
    };
    let compiling = positions(&hir, |class| CLASS_SIZE.max(ranges(class) / RANGES));
    Ok(Size { matching, compiling })
}

/// Returns about how many positions a pattern has, if a class of characters has `of_class`.
fn positions(hir: &Hir, of_class: impl Fn(&Class) -> usize + Copy) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(class) => of_class(class),
        HirKind::Capture(capture) => positions(&capture.sub, of_class).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            positions(&repetition.sub, of_class).saturating_add(2).saturating_mul(times)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            let sizes = parts.iter().map(|part| positions(part, of_class));
            sizes.fold(1, usize::saturating_add)
        }
    }
}

/// Returns whether a character is invisible: a name with it looks like another name without it.
pub(crate) fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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
        let pattern = Pattern::whole("mcp__git__.*|x.*").unwrap();
        assert!(!pattern.is_match("shell"));
        assert!(!pattern.is_match(" mcp__git__push"));
        assert!(!pattern.is_match("mcp__"));
        assert!(pattern.0.compiled.get().is_none());
        assert!(pattern.is_match("mcp__git__push"));
        assert!(!pattern.is_match("mcp__github"));
        assert!(pattern.0.compiled.get().is_some());
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
            Pattern::glob(&"?".repeat(900_000), false).unwrap_err(),
            "it is longer than 4096 bytes"
        );
        let braces = Pattern::glob(&"{a,".repeat(20_000), false).unwrap_err();
        assert_eq!(braces, "it opens more than 64 braces");
    }

    #[test]
    fn what_is_within_the_bounds_needs_little_stack() {
        let nested = |unit: &str, end: &str, times| unit.repeat(times) + &end.repeat(times);
        let patterns = move || {
            for depth in [1, 64] {
                let glob = Pattern::glob(&nested("{a,", "}", depth), false).unwrap();
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
    fn a_pattern_that_is_too_large_to_compile_never_answers_no() {
        let pattern = Pattern::new(r"\w{3000}").unwrap();
        assert!(compile(pattern.as_str()).is_err());
        assert!(pattern.is_match("a"));
        assert_eq!(pattern.is_match_within("a", &mut Budget::new()), Err(TooMuchWork));
    }

    /// Each takes some 70 ms.
    #[test]
    fn the_letters_of_unicode_count_when_they_are_compiled() {
        let passed = |class: &str| {
            let pattern = Pattern::new(&format!("{class}{{400}}")).unwrap();
            let (text, mut budget) = ("", Budget::new());
            (0..100)
                .take_while(|_| {
                    budget.take(pattern.0.size.compiling, COMPILING).is_ok()
                        && budget.take(pattern.0.size.matching, text.len()).is_ok()
                })
                .count()
        };
        assert_eq!(passed("[0-9A-Za-z_]"), 100);
        assert!((5..20).contains(&passed(r"\w")), "{}", passed(r"\w"));
    }

    #[test]
    fn a_simple_pattern_of_any_length_compiles() {
        for unit in [".", ".*", ".+", "a", "|", ".|"] {
            let text = unit.repeat(MAX_REGEX / unit.len());
            assert!(simple_beginnings(&text).is_some());
            assert!(Pattern::whole(&text).unwrap().regex().is_some(), "{unit}");
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
            let whole = compile(&whole(&pattern)).unwrap();
            let found = whole.is_match(text.as_bytes());
            prop_assert_eq!(Pattern::whole(&pattern).unwrap().is_match(&text), found);
        }

        #[test]
        fn a_simple_pattern_is_valid_and_means_the_same(
            pattern in r"[ab_-]{0,2}([ab.*+|_-]{0,7}|\PC{0,5})",
            text in r"[ab_\n-]{0,5}|\PC{0,3}",
        ) {
            if simple_beginnings(&pattern).is_some() {
                let whole = compile(&whole(&pattern)).unwrap();
                prop_assert!(compile(&pattern).is_ok());
                let found = whole.is_match(text.as_bytes());
                prop_assert_eq!(Pattern::whole(&pattern).unwrap().is_match(&text), found);
            }
        }
    }
}
