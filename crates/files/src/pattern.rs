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

/// Why a text is not a valid pattern, on one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It has more bytes than this.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// It could overflow the stack of a parser.
    #[error("it opens more than 64 braces")]
    Braces,
    /// A parser refuses it.
    #[error("{0}")]
    Syntax(String),
    /// It would take too much memory.
    #[error("it is too large: it repeats too much, too often")]
    TooLarge,
}

/// A regular expression that was checked and may not be compiled yet.
///
/// Parsing costs a few microseconds and finds the mistakes of an author; compiling costs a
/// hundred, and most patterns of a configuration are not needed during one event.
#[derive(Clone)]
pub struct Pattern(Arc<Inner>);

struct Inner {
    text: Box<str>,
    /// Whether the whole of a text must match, and not only a part of it.
    is_whole: bool,
    compiled: OnceLock<Option<Regex>>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (&self.0.text, self.0.is_whole) == (&other.0.text, other.0.is_whole)
    }
}

impl Pattern {
    /// Returns the pattern, or what is wrong with it, on one line.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        check_size(bounded(text, MAX_REGEX)?)?;
        Ok(Self::of(text, false))
    }

    /// Returns the pattern that matches only the whole of a text, or what is wrong with it. In it
    /// `.` is any character, newlines included: `.*` is every text.
    pub fn whole(text: &str) -> Result<Self, PatternError> {
        if simple_beginnings(bounded(text, MAX_REGEX)?).is_none() {
            // The pattern alone first: `a)|(b` must not become valid by the parentheses around it.
            check_size(text)?;
            check_size(&whole(text))?;
        }
        Ok(Self::of(text, true))
    }

    /// Returns the pattern of a glob, in which only `**` goes across a `/`, or what is wrong with it.
    pub fn glob(text: &str, any_case: bool) -> Result<Self, PatternError> {
        // A parser goes one level deeper at each.
        if text.matches('{').count() > 64 {
            return Err(PatternError::Braces);
        }
        // The longest glob, in bytes: no path is longer.
        let mut glob = GlobBuilder::new(bounded(text, 4 << 10)?);
        let glob = glob.literal_separator(true).backslash_escape(true).empty_alternates(true);
        let glob = glob.case_insensitive(any_case).build();
        let glob = glob.map_err(|error| PatternError::Syntax(error.kind().to_string()))?;
        // `**` goes across every character; globset sets this beside its expression, not in it.
        let text = format!("(?s){}", glob.regex());
        check_size(&text)?;
        Ok(Self::of(&text, false))
    }

    fn of(text: &str, is_whole: bool) -> Self {
        Self(Arc::new(Inner { text: text.into(), is_whole, compiled: OnceLock::new() }))
    }

    /// Returns whether the pattern is found in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        // Most tool names begin otherwise, and the pattern need not be compiled.
        if self.0.is_whole
            && let Some(mut beginnings) = simple_beginnings(&self.0.text)
            && !beginnings.any(|beginning| text.starts_with(beginning))
        {
            return false;
        }
        self.regex().is_none_or(|regex| regex.is_match(text.as_bytes()))
    }

    fn regex(&self) -> Option<&Regex> {
        let Inner { text, is_whole, compiled } = &*self.0;
        let compiled = compiled.get_or_init(|| {
            if *is_whole { compile(&whole(text)).ok() } else { compile(text).ok() }
        });
        compiled.as_ref()
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.text, formatter)
    }
}

fn bounded(text: &str, limit: usize) -> Result<&str, PatternError> {
    if text.len() <= limit { Ok(text) } else { Err(PatternError::TooLong(limit)) }
}

/// Returns what every match of a simple pattern begins with, one of these: a pattern of words, `.`,
/// `.*`, `.+` and `|`, as most matchers are. It is valid and small, so it needs no parser.
fn simple_beginnings(text: &str) -> Option<impl Iterator<Item = &str>> {
    let bytes = text.as_bytes();
    let simple = bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'*' | b'+' => at > 0 && bytes[at - 1] == b'.',
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'|'),
    });
    let alternatives = text.split('|').filter_map(|alternative| alternative.split('.').next());
    if simple { Some(alternatives) } else { None }
}

/// Returns the expression that is found in a text when `text` matches all of it.
fn whole(text: &str) -> String {
    format!("^(?s:{text})$")
}

fn compile(text: &str) -> Result<Regex, regex::Error> {
    // How much memory a compiled pattern may take, and how much it may remember of the texts it has seen,
    // in bytes.
    RegexBuilder::new(text).size_limit(16 << 20).dfa_size_limit(256 << 10).build()
}

/// Returns what is wrong with the expression `text`, on one line.
fn check_size(text: &str) -> Result<(), PatternError> {
    let hir = match ParserBuilder::new().utf8(false).build().parse(text) {
        Ok(hir) => hir,
        Err(error) => {
            let text = error.to_string();
            let last_line = text.lines().last().unwrap_or_default();
            return Err(PatternError::Syntax(last_line.trim_start_matches("error: ").to_owned()));
        }
    };
    // What has fewer can be compiled in the memory there is.
    if positions(&hir) > 40_000 {
        return Err(PatternError::TooLarge);
    }
    Ok(())
}

/// Returns about how many positions a pattern has.
fn positions(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) if !class.is_ascii() => {
            // How many positions a class of characters has at least if some are not ASCII.
            // How many ranges of such a class take as much memory as a position. `\w` has some 700.
            4_usize.max(class.ranges().len() / 6)
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Capture(capture) => positions(&capture.sub).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            positions(&repetition.sub).saturating_add(2).saturating_mul(times)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(positions).fold(1, usize::saturating_add)
        }
    }
}

/// Returns a regular expression with `_` for every literal `-` and `.`. A set that contains one of
/// them also matches `_`.
pub fn underscored(pattern: &str) -> String {
    let mut whole = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    // Flags or a name are between `(?` and `:`.
    let mut flags = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('-' | '.') => whole.push('_'),
                escaped => whole.extend(std::iter::once('\\').chain(escaped)),
            },
            '[' => underscored_set(&mut letters, &mut whole),
            '-' if !flags => whole.push('_'),
            _ => {
                flags = letter == '(' && letters.peek() == Some(&'?')
                    || flags && !matches!(letter, ':' | ')' | '>');
                whole.push(letter);
            }
        }
    }
    whole
}

fn underscored_set(letters: &mut impl Iterator<Item = char>, whole: &mut String) {
    let (mut inside, mut depth) = (String::new(), 1);
    for letter in letters.by_ref() {
        let escaped = inside.ends_with('\\') && !inside.ends_with("\\\\");
        match letter {
            '[' if !escaped => depth += 1,
            // A `]` right at the start is a literal.
            ']' if !escaped && !inside.is_empty() && inside != "^" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        inside.push(letter);
    }
    let has_one = inside.contains(['.'])
        || inside.contains("\\-")
        || inside.starts_with('-')
        || inside.ends_with('-');
    let extra = if has_one && !inside.starts_with(['^', ']']) { "_" } else { "" };
    whole.extend(["[", extra, inside.as_str(), "]"]);
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
        assert_eq!(Pattern::new("a(").unwrap_err().to_string(), "unclosed group");
        assert_eq!(
            Pattern::new("(a{1000}){1000}").unwrap_err().to_string(),
            "it is too large: it repeats too much, too often"
        );
        assert_eq!(
            Pattern::new(&"(".repeat(100_000)).unwrap_err().to_string(),
            "it is longer than 16384 bytes"
        );
        assert_eq!(
            Pattern::glob(&"?".repeat(900_000), false).unwrap_err().to_string(),
            "it is longer than 4096 bytes"
        );
        let braces = Pattern::glob(&"{a,".repeat(20_000), false).unwrap_err().to_string();
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
    fn what_is_not_refused_compiles() {
        let units = [
            r"\w", r"\W", ".", "(?s:.)", r"\d", r"\p{L}", r"\P{L}", r"\p{Cn}", r"\pM", "[^a]",
            "(?i:k)", "(?i:s)", "[a-z]", "é", r"\b", "a?", "(a|b)", "(?:.|é)", r"[\w&&[^a-q]]",
            "(?i:ß)", r"\p{Greek}", r"(?:\w*\d)", "(?i:ab)",
        ];
        for unit in units {
            let mut times = 40_000;
            while Pattern::whole(&format!("(?:{unit}){{0,{times}}}")).is_err() {
                times = times * 19 / 20;
            }
            assert!(times > 100, "{unit}: {times}");
            for largest in [format!("(?:{unit}){{{times}}}"), format!("(?:{unit}){{0,{times}}}")] {
                assert!(Pattern::whole(&largest).unwrap().regex().is_some(), "{largest}");
            }
        }
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
