//! Secrets that are known by the name before them: `password: ...`, `"api_key": "..."`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Match, Regex};

use super::Finding;
use super::shapes::is_no_placeholder;

/// A name that ends in one of these words is a name of a secret of that kind. A space is where the
/// words may be joined by anything.
const NOUNS: [(&str, &[&str]); 9] = [
    ("password", &["password", "passwd", "passphrase", "pass phrase", "pwd"]),
    ("secret", &["secret", "secret key base"]),
    ("token", &["token"]),
    ("api-key", &["api key", "apikey"]),
    ("access-key", &["access key", "account key", "storage key"]),
    (
        "secret-key",
        &["secret key", "signing key", "encryption key", "master key", "auth key", "client key"],
    ),
    ("private-key", &["private key", "client key data"]),
    ("credential", &["credential", "credentials"]),
    ("authorization", &["authorization"]),
];

/// The ends of single words that name a secret of that kind.
const FUSED: [(&str, &[&str]); 3] = [
    ("password", &["password", "passwd", "passphrase"]),
    ("secret", &["secret"]),
    ("token", &["accesstoken", "authtoken", "refreshtoken", "sessiontoken", "bearertoken"]),
];

/// Words before `token` that make it a place in a list, a part of a text, or public.
const HARMLESS_TOKENS: [&str; 10] =
    ["next", "page", "continuation", "sync", "continue", "eos", "bos", "pad", "unk", "design"];

/// Words at the end of a name that only say where or which.
const QUALIFIERS: [&str; 8] = ["value", "prod", "dev", "test", "live", "staging", "old", "new"];

/// Values that describe a value.
const DESCRIPTIONS: &str = "string str null none nil true false undefined required optional password passwd \
    secret token apikey api_key bearer basic hidden masked";

/// Appends every value in `text` that is given to a name of a secret.
pub(super) fn find(text: &str, findings: &mut Vec<Finding>) {
    static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());
    let Some(regex) = &*ASSIGNMENT else { return };
    let mut from = 0;
    // How much may be looked at twice: this keeps the whole linear.
    let mut twice = text.len();
    while let Some(captures) = regex.captures_at(text, from) {
        let Some(whole) = captures.get(0) else { return };
        from = whole.end();
        let Some((name, value, secret)) = judge(text, &captures) else { continue };
        if secret {
            findings.push(Finding { range: value.range(), kind: Cow::Borrowed(kind(name)) });
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
    let quoted = captures.name("double").or_else(|| captures.name("single"));
    let value = quoted.or_else(|| captures.name("bare"))?;
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
    let Some(kind) = noun(name) else { return false };
    if !is_value(value) {
        return false;
    }
    match kind {
        "password" => value.len() >= 4 && (!value.contains(' ') || is_phrase(name)),
        _ => value.len() >= 8 && !value.contains(' ') && !is_identifier(value),
    }
}

/// Returns whether an item of a list under `name`, such as `passwords`, is a secret.
pub(super) fn is_secret_item(name: &str, value: &str) -> bool {
    is_secret(name, value) || name.strip_suffix('s').is_some_and(|name| is_secret(name, value))
}

/// Returns whether an unquoted `value` after `name` is a secret; `shell` when it stands as
/// `NAME=value`, where a word is a value and not a variable's name.
fn is_bare_secret(name: &str, value: &str, shell: bool) -> bool {
    noun(name).is_some()
        && value.len() >= 6
        && is_value(value)
        && (shell || !is_identifier(value))
        && !value.contains(['(', '['])
        && !value.starts_with('-')
}

/// Returns whether `name` ends in a word for a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    noun(name).is_some() || words(name).last().is_some_and(|word| word == "key" || word == "pat")
}

/// Returns what a secret of that name is called in the marker.
pub(super) fn kind(name: &str) -> &'static str {
    noun(name).unwrap_or("secret")
}

fn noun(name: &str) -> Option<&'static str> {
    let mut words = words(name);
    while words.len() > 1 && words.last().is_some_and(|word| QUALIFIERS.contains(&word.as_str())) {
        words.pop();
    }
    let joined = words.join(" ");
    let mut nouns = NOUNS.iter().flat_map(|(kind, nouns)| nouns.iter().map(|noun| (*noun, *kind)));
    let found = nouns.find(|(noun, _)| {
        joined.strip_suffix(noun).is_some_and(|rest| rest.is_empty() || rest.ends_with(' '))
            || joined.replace(' ', "") == noun.replace(' ', "")
    });
    let Some((noun, kind)) = found else {
        let last = words.last()?;
        let mut fused = FUSED.iter().filter(|(_, ends)| ends.iter().any(|end| last.ends_with(end)));
        let fused = fused.next().map(|(kind, _)| *kind);
        return fused.or(if words.len() > 1 && last == "pass" { Some("password") } else { None });
    };
    let before = words.len().checked_sub(noun.split(' ').count() + 1).map(|at| &*words[at]);
    let harmless = noun == "token" && before.is_some_and(|word| HARMLESS_TOKENS.contains(&word));
    if harmless { None } else { Some(kind) }
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
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_phrase(name: &str) -> bool {
    words(name).join("").ends_with("passphrase")
}

/// Returns whether `value` is a value and not a description of one or something in its place.
fn is_value(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_no_placeholder(value)
        && !DESCRIPTIONS.split(' ').any(|word| word == lower.trim_end_matches([';', '.', ':']))
        && !lower.starts_with("your")
        && !value.starts_with('/')
}

/// Returns whether `value` is made of words alone, as names in code and in prose are.
fn is_identifier(value: &str) -> bool {
    value.chars().all(|letter| {
        letter.is_alphabetic() || matches!(letter, '_' | '-' | '.' | ':' | '|' | '?' | '!' | '*')
    })
}
