//! Which variables of the environment hold a secret.

use super::assignments;
use super::shapes::is_repeated;

/// Values that people set where no secret is needed; they are words of every other text.
const NO_SECRETS: [&str; 8] = [
    "password", "changeme", "postgres", "disabled", "required", "anonymous", "undefined",
    "minioadmin",
];

/// Returns whether `name` says that `value` is a secret, and `value` can be one.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    // Shorter ones stand in too many other words.
    value.len() >= 8
        && assignments::names_a_secret(name)
        && !NO_SECRETS.contains(&value)
        && !is_path(value)
        && !value.bytes().all(|byte| byte.is_ascii_digit() && value.len() < 12)
        && !is_repeated(value)
}

/// Returns whether `value` is where a secret can be read, not the secret.
fn is_path(value: &str) -> bool {
    value.starts_with(['/', '~']) && value.bytes().filter(|byte| *byte == b'/').count() > 1
}
