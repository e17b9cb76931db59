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

/// Reads a number of at least `least`.
pub(super) fn at_least<N>(least: N, name: &str, text: &str) -> Result<N, String>
where
    N: Copy + FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| *number >= least);
    number
        .ok_or_else(|| format!("{name} must be a whole number of at least {least}, found `{text}`"))
}

/// The name and the value of an option.
type Named<'a> = (&'a str, &'a str);

/// Splits `--name=value` options, each of which must be one of `known`, from the other arguments.
pub(super) fn options<'a>(
    args: &'a [String],
    known: &[&str],
) -> Result<(Vec<Named<'a>>, Vec<&'a str>), String> {
    let mut options: Vec<Named<'_>> = Vec::new();
    let mut others = Vec::new();
    for arg in args {
        let Some(option) = arg.strip_prefix("--") else {
            others.push(arg.as_str());
            continue;
        };
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if !known.contains(&name) {
            let names = known.iter().map(|name| format!("`--{name}`")).collect::<Vec<_>>();
            return Err(format!("unknown option `--{name}`; it knows {}", names.join(", ")));
        }
        if options.iter().any(|(known, _)| *known == name) {
            return Err(format!("option `--{name}` is given twice"));
        }
        options.push((name, value));
    }
    Ok((options, others))
}
