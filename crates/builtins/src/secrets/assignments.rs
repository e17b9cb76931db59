//! Secrets that are known by the name before them: `password: ...`, `"api_key": "..."`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Match, Regex};

use super::Finding;
use super::shapes::{is_no_placeholder, is_repeated};
use crate::names::{DESCRIPTIONS, HARMLESS_TOKENS, NO_SECRETS, QUALIFIERS};

// Names of secrets by their kind: `secrets.txt` says how they are written.
include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

/// Appends every value in `text` that is given to a name of a secret.
#[expect(clippy::unwrap_used, reason = "a test compiles the pattern")]
pub(super) fn find(text: &str, findings: &mut Vec<Finding>) {
    static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(PATTERN).unwrap());
    let mut from = 0;
    // How much may be looked at twice: this keeps the whole linear.
    let mut twice = text.len();
    while let Some(captures) = ASSIGNMENT.captures_at(text, from) {
        let Some(whole) = captures.get(0) else { return };
        from = whole.end();
        let Some((name, value, secret)) = judge(text, &captures) else { continue };
        if secret {
            findings.push(Finding { range: value.range(), kind: Cow::Borrowed(marker_word(name)) });
        } else if value.len() <= twice {
            // A value that is not a secret itself may contain one: `token: login(password="...")`.
            twice -= value.len();
            from = value.start();
        }
    }
}

/// Returns the name, the value, and whether the value is a secret.
fn judge<'t>(text: &'t str, captures: &Captures<'t>) -> Option<(&'t str, Match<'t>, bool)> {
    let found = captures.name("name")?;
    let (name, before) = (found.as_str(), &text[..found.start()]);
    let separator = captures.name("separator")?.as_str();
    let quoted = captures.name("double").or(captures.name("single"));
    let value = quoted.or(captures.name("bare"))?;
    let content = value.as_str();
    let secret = match (separator, quoted) {
        // In a URL the part before the host is not an assignment.
        _ if before.ends_with("://") => false,
        // A blank joins only an option and its value.
        (blank, _) if blank.trim().is_empty() && !name.starts_with("--") => false,
        // `withPassword("...")`: an identifier there is a field's label.
        ("(", Some(_)) => is_secret(name, content) && !is_identifier(content),
        ("(", None) => false,
        // XML.
        (">", _) => {
            before.ends_with('<')
                && text[value.end()..].starts_with("</")
                && is_bare_secret(name, content, false)
        }
        (_, Some(_)) => is_secret(name, content),
        ("=", None) => is_bare_secret(name, content, is_variable(name)),
        (_, None) => is_bare_secret(name, content, false),
    };
    Some((name, value, secret))
}

/// A name with one of the words, what joins it to its value, and the value.
const PATTERN: &str = concat!(
    r"(?i-u)(?P<name>[A-Za-z0-9_.-]*",
    r"(?:passw(?:or)?d|pass[ _-]?phrase|[_.-]pass|pwd|secret|token|credential|_key|-key|api ?key",
    r"|(?:access|account|private|signing|encryption|master|auth|client)key)[A-Za-z0-9_-]*)",
    r#"\\?["'`]?(?P<separator>[ \t]*(?:=>|:=|[:=])[ \t]*|[ \t]+is:?[ \t]+|[ \t]+|[(>])(?u)"#,
    r#"(?:\\?"(?P<double>[^"\n\\]*)|'(?P<single>[^'\n]*)|(?P<bare>[^\s"'`,;&)}\]<>]+))"#,
);

/// Returns whether a quoted or structured `value` under `name` is a secret.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    let Some(kind) = kind_of(name) else { return false };
    if !is_value(value) {
        return false;
    }
    match kind {
        "password" => {
            value.len() >= 4
                && (!value.contains(' ') || words(name).concat().ends_with("passphrase"))
        }
        _ => value.len() >= 8 && !value.contains(' ') && !is_identifier(value),
    }
}

/// Returns whether an item of a list under `name`, such as `passwords`, is a secret.
pub(super) fn is_secret_item(name: &str, value: &str) -> bool {
    is_secret(name, value) || is_secret(name.strip_suffix('s').unwrap_or(name), value)
}

/// Returns whether an unquoted `value` after `name` is a secret; `is_in_shell` when it stands as
/// `NAME=value`, where a word is a value and not a variable's name.
fn is_bare_secret(name: &str, value: &str, is_in_shell: bool) -> bool {
    if kind_of(name).is_none() || value.len() < 6 || !is_value(value) {
        return false;
    }
    let is_code = value.contains(['(', '[']) || value.starts_with('-');
    !is_code && (is_in_shell || !is_identifier(value))
}

/// Returns whether a variable of the environment holds a secret, and `value` can be one.
pub(super) fn is_secret_variable(name: &str, value: &str) -> bool {
    // Shorter ones stand in too many other words.
    if value.len() < 8 || !names_a_secret(name) {
        return false;
    }
    // Values that people set where no secret is needed; they are words of every other text.
    if NO_SECRETS.contains(&value) || is_repeated(value) {
        return false;
    }
    let is_number = !value.contains(|letter: char| !letter.is_ascii_digit());
    // It says where a secret can be read.
    let is_path = value.starts_with(['/', '~']) && value.matches('/').count() > 1;
    !is_path && (!is_number || value.len() >= 12)
}

/// Returns whether `name` ends in a word for a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    kind_of(name).is_some() || matches!(words(name).pop().as_deref(), Some("key" | "pat"))
}

/// Returns what a secret of that name is called in the marker.
pub(super) fn marker_word(name: &str) -> &'static str {
    kind_of(name).unwrap_or("secret")
}

/// Returns the kind of secret that a name ends with, by the table of nouns.
fn kind_of(name: &str) -> Option<&'static str> {
    let mut words = words(name);
    while words.len() > 1 && QUALIFIERS.contains(&&*words[words.len() - 1]) {
        words.pop();
    }
    let joined = words.join(" ");
    for (kind, nouns) in NOUNS {
        for noun in *nouns {
            if ends_with_noun(&joined, noun) {
                let is_harmless = *noun == "token"
                    && words.len() > 1
                    && HARMLESS_TOKENS.contains(&&*words[words.len() - 2]);
                return if is_harmless { None } else { Some(kind) };
            }
        }
    }
    None
}

/// Returns whether words are or end with those of a noun. Its words may be joined by anything.
fn ends_with_noun(words: &str, noun: &str) -> bool {
    if let Some(end) = noun.strip_prefix('*') {
        return words.ends_with(end);
    }
    match words.strip_suffix(noun) {
        Some(before) if before.is_empty() || before.ends_with(' ') => true,
        _ => words.replace(' ', "") == noun.replace(' ', ""),
    }
}

/// Splits a name at punctuation and at the humps of camelCase, in lower case, digits at its end
/// left out.
fn words(name: &str) -> Vec<String> {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let mut words: Vec<String> = Vec::new();
    let mut previous = '_';
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            previous = '_';
            continue;
        }
        let hump = letter.is_uppercase() && previous.is_lowercase();
        match words.last_mut() {
            Some(word) if previous != '_' && !hump => word.extend(letter.to_lowercase()),
            _ => words.push(letter.to_lowercase().collect()),
        }
        previous = letter;
    }
    words
}

fn is_variable(name: &str) -> bool {
    !name.contains(|letter| !matches!(letter, 'A'..='Z' | '0'..='9' | '_'))
}

/// Returns whether `value` is a value and not a description of one or something in its place.
fn is_value(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_description = DESCRIPTIONS.contains(&lower.trim_end_matches([';', '.', ':']));
    if is_description || lower.starts_with("your") || lower.starts_with('/') {
        return false;
    }
    is_no_placeholder(value)
}

/// Returns whether `value` is made of words alone, as names in code and in prose are.
fn is_identifier(value: &str) -> bool {
    !value.contains(|letter: char| !letter.is_alphabetic() && !"_-.:|?!*".contains(letter))
}
