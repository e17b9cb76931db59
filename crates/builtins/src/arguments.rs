//! Reading a builtin's arguments, with the same words for the same mistakes.

use std::fmt::Display;
use std::str::FromStr;

use super::BuiltinError;
use hookexec::Output;

/// Refuses arguments of a builtin that takes none.
pub(super) fn none(args: &[String]) -> Result<(), BuiltinError> {
    match args {
        [] => Ok(()),
        [first, ..] => Err(format!("it takes no arguments, found `{first}`").into()),
    }
}

/// Returns the only argument, or `None` when there is none.
pub(super) fn at_most_one<A: AsRef<str>>(args: &[A]) -> Result<Option<&str>, BuiltinError> {
    match args {
        [] => Ok(None),
        [only] => Ok(Some(only.as_ref())),
        [_, second, ..] => {
            Err(format!("it takes one argument, found a second: `{}`", second.as_ref()).into())
        }
    }
}

/// Reads a number of at least `least`.
pub(super) fn at_least<N>(least: N, name: &str, text: &str) -> Result<N, BuiltinError>
where
    N: Copy + FromStr + PartialOrd + Display,
{
    match text.parse() {
        Ok(number) if number >= least => Ok(number),
        _ => {
            Err(format!("{name} must be a whole number of at least {least}, found `{text}`").into())
        }
    }
}

/// Makes a decision with a reason.
pub(super) type Decide = fn(String) -> Output;

/// The words for a decision.
pub(super) const DECISIONS: [(&str, Decide); 2] = [("ask", Output::ask), ("deny", Output::deny)];

/// The options that are given: names and values.
pub(super) struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        Some(self.0.iter().find(|(known, _)| *known == name)?.1)
    }

    /// Reads an option whose value is a number of at least `least`.
    pub(super) fn number<N>(&self, name: &str, least: N) -> Result<Option<N>, BuiltinError>
    where
        N: Copy + FromStr + PartialOrd + Display,
    {
        let Some(value) = self.get(name) else { return Ok(None) };
        Ok(Some(at_least(least, &format!("--{name}"), value)?))
    }

    /// Reads an option whose value is one of `words`.
    pub(super) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, BuiltinError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == value) {
            return Ok(Some(*meant));
        }
        let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        Err(format!("`--{name}` must be {}, found `{value}`", words.join(" or ")).into())
    }
}

/// Splits `--name=value` options, each of which must be one of `known`, from the other arguments.
pub(super) fn options<'a>(
    args: &'a [String],
    known: &[&str],
) -> Result<(Options<'a>, Vec<&'a str>), BuiltinError> {
    let mut options = Options(Vec::new());
    let mut others = Vec::new();
    for arg in args {
        let Some(option) = arg.strip_prefix("--") else {
            others.push(arg.as_str());
            continue;
        };
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        if !known.contains(&name) {
            let names = known.iter().map(|name| format!("`--{name}`")).collect::<Vec<_>>();
            return Err(format!("unknown option `--{name}`; it knows {}", names.join(", ")).into());
        }
        if options.get(name).is_some() {
            return Err(format!("option `--{name}` is given twice").into());
        }
        options.0.push((name, value));
    }
    Ok((options, others))
}
