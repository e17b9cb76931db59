//! Variables in the values of `env` and `working_dir`, as docker-agent expands them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::is_separator;

use crate::platform::Platform;
use crate::text::name_length;

/// The variables that a text may refer to.
pub type Variables = BTreeMap<OsString, OsString>;

/// Expands `${env.NAME}` and nothing else: a value of `env` may be full of dollars.
///
/// A variable that is not set is empty, as in a shell.
pub fn env_references(text: &str, variables: &Variables) -> OsString {
    expand(text, variables, false).0
}

/// A variable that is not set to a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{0}` is not set to a text")]
pub struct MissingVariable(pub String);

/// Expands `${env.NAME}`, each of which must be set to a text, such as a secret.
///
/// # Errors
/// When a variable is not.
pub fn required_env_references(
    text: &str,
    variables: &Variables,
) -> Result<String, MissingVariable> {
    match expand(text, variables, false) {
        (_, Some(missing)) => Err(MissingVariable(missing)),
        // Each part of it is a text.
        (expanded, None) => Ok(expanded.to_string_lossy().into_owned()),
    }
}

/// Expands a leading `~`, `$NAME`, `${NAME}` and `${env.NAME}`; `None` when `~` is meant and the
/// home directory is not known.
pub fn path(text: &str, variables: &Variables) -> Option<OsString> {
    let rest = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with(is_separator) => rest,
        _ => return Some(expand(text, variables, true).0),
    };
    let mut whole = match value_of(Platform::HERE.home_variable, variables) {
        Some(home) if !home.is_empty() => home.to_owned(),
        _ => std::env::home_dir()?.into_os_string(),
    };
    whole.push(expand(rest, variables, true).0);
    Some(whole)
}

fn value_of<'v>(name: &str, variables: &'v Variables) -> Option<&'v OsStr> {
    let (_, value) = Platform::HERE.variable(variables, OsStr::new(name))?;
    Some(value)
}

/// Replaces each reference by the value of its variable. Returns also the first variable that is not
/// set to a text.
fn expand(text: &str, variables: &Variables, shell_style: bool) -> (OsString, Option<String>) {
    let mut expanded = OsString::with_capacity(text.len());
    let (mut rest, mut missing) = (text, None);
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        expanded.push(before);
        let Some((name, after)) = reference(from, shell_style) else {
            expanded.push("$");
            rest = &from[1..];
            continue;
        };
        let value = value_of(name, variables);
        if missing.is_none() && value.and_then(OsStr::to_str).is_none() {
            missing = Some(name.to_owned());
        }
        expanded.push(value.unwrap_or_default());
        rest = after;
    }
    expanded.push(rest);
    (expanded, missing)
}

/// Splits a text that begins with a reference into the name it refers to and what follows it.
fn reference(text: &str, shell_style: bool) -> Option<(&str, &str)> {
    let (name, after) = if let Some(braced) = text.strip_prefix("${") {
        let (inner, after) = braced.split_once('}')?;
        let name = match inner.strip_prefix("env.") {
            Some(name) => name,
            None if shell_style => inner,
            None => return None,
        };
        (name, after)
    } else if shell_style {
        let bare = text.strip_prefix('$')?;
        bare.split_at(name_length(bare))
    } else {
        return None;
    };
    if name.is_empty() || name_length(name) != name.len() { None } else { Some((name, after)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        [("HOME", "/home/me"), ("TOKEN", "s3cret"), ("A_1", "x y"), ("EMPTY", "")]
            .map(|(name, value)| (name.into(), value.into()))
            .into()
    }

    #[test]
    fn env_values_expand_only_what_is_written_with_env() {
        for (text, expected) in [
            ("plain", "plain"),
            ("${env.TOKEN}", "s3cret"),
            ("Bearer ${env.TOKEN}!", "Bearer s3cret!"),
            ("${env.A_1}${env.TOKEN}", "x ys3cret"),
            ("[${env.MISSING}]", "[]"),
            ("[${env.EMPTY}]", "[]"),
            ("$TOKEN ${TOKEN} ~ $$ $", "$TOKEN ${TOKEN} ~ $$ $"),
            ("${env.TOKEN", "${env.TOKEN"),
            ("${env.}", "${env.}"),
            ("${env.A B}", "${env.A B}"),
            ("ä${env.TOKEN}ö", "äs3cretö"),
        ] {
            assert_eq!(env_references(text, &variables()), expected, "{text}");
        }
    }

    // The paths are those of Unix.
    #[cfg(unix)]
    #[test]
    fn paths_expand_like_a_shell() {
        for (text, expected) in [
            ("~", "/home/me"),
            ("~/bin", "/home/me/bin"),
            ("~other/bin", "~other/bin"),
            ("a/~", "a/~"),
            ("$HOME/x", "/home/me/x"),
            ("${HOME}x", "/home/mex"),
            ("$HOMEx", ""),
            ("${env.HOME}/$A_1", "/home/me/x y"),
            ("a$", "a$"),
            ("$1", "$1"),
            ("${HOME", "${HOME"),
            ("${}", "${}"),
        ] {
            assert_eq!(path(text, &variables()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_value_is_not_expanded_again() {
        let variables = [("A".into(), "${env.B}$B".into()), ("B".into(), "b".into())].into();
        assert_eq!(env_references("${env.A}", &variables), "${env.B}$B");
        assert_eq!(path("$A", &variables).unwrap(), "${env.B}$B");
    }
}
