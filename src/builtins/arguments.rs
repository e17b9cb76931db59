//! Reading a builtin's arguments, with the same words for the same mistakes.

use std::fmt::Display;
use std::str::FromStr;

/// Refuses arguments of a builtin that takes none.
pub(super) fn none(args: &[String]) -> Result<(), String> {
    match args {
        [] => Ok(()),
        [first, ..] => Err(format!("it takes no arguments, found `{first}`")),
    }
}

/// Returns the only argument, or `None` when there is none.
pub(super) fn at_most_one(args: &[String]) -> Result<Option<&str>, String> {
    match args {
        [] => Ok(None),
        [only] => Ok(Some(only)),
        [_, second, ..] => Err(format!("it takes one argument, found a second: `{second}`")),
    }
}

/// Reads a number of at least 1.
pub(super) fn positive<N>(name: &str, text: &str) -> Result<N, String>
where
    N: FromStr + PartialOrd + From<u8> + Display,
{
    text.parse()
        .ok()
        .filter(|number| *number >= N::from(1))
        .ok_or_else(|| format!("{name} must be a whole number of at least 1, found `{text}`"))
}

/// The name and the value of an option.
type Named<'a> = (&'a str, &'a str);

/// Splits `--name=value` options from the other arguments.
pub(super) fn options(args: &[String]) -> Result<(Vec<Named<'_>>, Vec<&str>), String> {
    let mut options: Vec<Named<'_>> = Vec::new();
    let mut others = Vec::new();
    for arg in args {
        let Some(option) = arg.strip_prefix("--") else {
            others.push(arg.as_str());
            continue;
        };
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if options.iter().any(|(known, _)| *known == name) {
            return Err(format!("option `--{name}` is given twice"));
        }
        options.push((name, value));
    }
    Ok((options, others))
}

/// The error about an option that a builtin does not know.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    let names = known.iter().map(|name| format!("`--{name}`")).collect::<Vec<_>>().join(", ");
    format!("unknown option `--{name}`; it knows {names}")
}
