//! How deep calls of `hookexec` are nested: a hook that calls it again must not do so without end.

use std::ffi::{OsStr, OsString};

/// The variable that tells a hook's children how deep they are.
pub const VARIABLE: &str = "HOOKEXEC_DEPTH";

/// The deepest call that still runs hooks: room for a hook that starts an agent with hooks of its own.
const DEEPEST: u32 = 3;

/// A call of `hookexec` that hooks have made too deep. It holds the value of the variable.
#[derive(Debug, thiserror::Error)]
#[error(
    "a hook calls `hookexec` again, which runs the hook again: {VARIABLE} is `{0}`, and at most {DEEPEST} \
     calls may be nested; remove the hook that runs `hookexec`, or unset the variable"
)]
pub struct TooDeep(String);

/// Checks that this process may run hooks, given the value of `HOOKEXEC_DEPTH` in its environment.
///
/// # Errors
/// When more than three calls are nested, or the value is not a number.
pub fn check(value: Option<&OsStr>) -> Result<(), TooDeep> {
    if matches!(depth(value), Some(0..=DEEPEST)) {
        return Ok(());
    }
    Err(TooDeep(value.unwrap_or_default().display().to_string()))
}

/// Returns the value of the variable for the children of a process that has `value`.
pub fn below(value: Option<&OsStr>) -> OsString {
    depth(value).unwrap_or(DEEPEST).saturating_add(1).to_string().into()
}

fn depth(value: Option<&OsStr>) -> Option<u32> {
    value.map_or(Some(0), |text| text.to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_nested_calls_run_and_the_fourth_does_not() {
        let mut value: Option<OsString> = None;
        let mut allowed = Vec::new();
        for _ in 0..6 {
            allowed.push(check(value.as_deref()).is_ok());
            value = Some(below(value.as_deref()));
        }
        assert_eq!(allowed, [true, true, true, true, false, false]);
        assert!(check(Some(OsStr::new("x"))).is_err());
        assert_eq!(below(Some(OsStr::new("x"))), "4");
    }
}
