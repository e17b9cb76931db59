//! Tokens that are known by their shape.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use super::Finding;

/// The shape of one kind of token.
struct Shape {
    kind: &'static str,
    pattern: String,
    /// A further condition on a match.
    accept: fn(&str) -> bool,
    regex: OnceLock<Regex>,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let rows = include_str!("shapes.txt").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(shape).collect()
});

/// Reads a row such as `npm-token value npm_[A-Za-z0-9]{36}\b`.
fn shape(row: &'static str) -> Option<Shape> {
    let (kind, row) = row.split_once(' ')?;
    let (accept, pattern) = row.trim_start().split_once(' ')?;
    let accept: fn(&str) -> bool = match accept {
        "value" => is_no_placeholder,
        "mixed" => is_mixed,
        "digit" => |secret| is_no_placeholder(secret) && has_digit_or_padding(secret),
        _ => |_| true,
    };
    // Word boundaries in ASCII: Unicode's take most of the time to compile.
    let pattern = pattern.replace(r"\b", r"(?-u:\b)");
    Some(Shape { kind, pattern, accept, regex: OnceLock::new() })
}

/// Appends every token of `text` that has a known shape.
#[expect(clippy::unwrap_used, reason = "a test compiles every pattern")]
pub(super) fn find(text: &str, findings: &mut Vec<Finding>) {
    static SET: LazyLock<RegexSet> =
        LazyLock::new(|| RegexSet::new(SHAPES.iter().map(|shape| &shape.pattern)).unwrap());
    for index in SET.matches(text) {
        let shape = &SHAPES[index];
        let regex = shape.regex.get_or_init(|| Regex::new(&shape.pattern).unwrap());
        for captures in regex.captures_iter(text) {
            let whole = captures.get(0);
            if let Some(secret) = captures.name("secret").or(whole)
                && (shape.accept)(secret.as_str())
            {
                findings.push(Finding { range: secret.range(), kind: Cow::Borrowed(shape.kind) });
            }
        }
    }
}

/// Returns whether `secret` is a value and not something that stands for one.
pub(super) fn is_no_placeholder(secret: &str) -> bool {
    const STANDS_FOR_ONE: [char; 6] = ['$', '<', '{', '%', '[', '('];
    let body = secret.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    let body = body.trim_start_matches(['_', '-']);
    if secret.starts_with(STANDS_FOR_ONE) || secret.starts_with("\\(") {
        return false;
    }
    if secret.contains(super::MARKER) || is_repeated(secret) {
        return false;
    }
    body.is_empty() || body.len() < 8 || !is_repeated(body)
}

/// Returns whether a text is one letter, any number of times.
pub(super) fn is_repeated(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    text.trim_start_matches(first).is_empty()
}

/// Returns whether `secret` has letters and digits, as random tokens do and words do not.
fn is_mixed(secret: &str) -> bool {
    is_no_placeholder(secret)
        && secret.contains(|letter: char| letter.is_ascii_digit())
        && secret.contains(|letter: char| letter.is_ascii_alphabetic())
}

fn has_digit_or_padding(secret: &str) -> bool {
    secret.ends_with('=') || secret.contains(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        let rows = include_str!("shapes.txt").lines();
        let rows = rows.filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(SHAPES.len(), rows.count());
        for shape in SHAPES.iter() {
            assert!(Regex::new(&shape.pattern).is_ok(), "{}", shape.pattern);
        }
        assert!(RegexSet::new(SHAPES.iter().map(|shape| &shape.pattern)).is_ok());
    }
}
