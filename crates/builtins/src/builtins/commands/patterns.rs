//! Patterns over the words of a command.

use std::fmt;

use super::hazards::is_hazard;
use crate::calls::base_name;
use hookexec::describe::Command;

/// Words of a command.
#[derive(Debug)]
pub(super) struct Pattern {
    written: String,
    program: String,
    args: Vec<String>,
    /// Whether further arguments may follow.
    open: bool,
}

/// Whether a command has the words of a pattern, and no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed<'c> {
    Yes,
    No,
    /// It would have, but `*` does not stand for this argument.
    Hazard(&'c str),
}

/// Whether a command is one that a pattern names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    /// It can't be known.
    Unknown,
}

impl Pattern {
    /// Reads a list of patterns, which must not be empty.
    pub(super) fn list(texts: &[&str]) -> Result<Vec<Self>, String> {
        if texts.is_empty() {
            return Err("it needs at least one command, such as `git status`".to_owned());
        }
        texts.iter().map(|text| Self::parse(text)).collect()
    }

    fn parse(written: &str) -> Result<Self, String> {
        let words = words_of_rule(written)?;
        let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let open = words.last().is_some_and(|word| word == "*");
        if open {
            words.pop();
        }
        if words.is_empty() {
            return Err(format!("`{written}` names no program; write one, such as `git log *`"));
        }
        if words.iter().any(|word| word.contains('*')) {
            return Err(format!("`{written}`: `*` can only be the last word"));
        }
        if written.contains(['"', '\'', '\\', '$', '`', '|', '&', ';', '<', '>']) {
            return Err(format!(
                "`{written}`: a pattern is plain words, without quotes and operators"
            ));
        }
        let program = words.remove(0);
        Ok(Self { written: written.to_owned(), program, args: words, open })
    }

    /// Returns whether the words of a command are exactly those of the pattern.
    pub(super) fn lists<'c>(&self, command: &'c Command) -> Listed<'c> {
        let Some((args, rest)) = command.args.split_at_checked(self.args.len()) else {
            return Listed::No;
        };
        let begins = command.program == self.program && args == self.args;
        if !begins || !rest.is_empty() && !self.open {
            return Listed::No;
        }
        let hazard = rest.iter().find(|arg| is_hazard(&self.program, arg));
        hazard.map_or(Listed::Yes, |arg| Listed::Hazard(arg))
    }

    /// Returns whether a command has the words of the pattern in their order. A program is known by
    /// its name in any directory.
    pub(super) fn finds(&self, command: &Command) -> Match {
        if base_name(&command.program) == base_name(&self.program) {
            let mut args = command.args.iter();
            let found = self.args.iter().all(|wanted| {
                let is_here = has_letters(wanted, &command.args);
                is_here || args.any(|arg| is_word(wanted, arg))
            });
            if found {
                return Match::Yes;
            }
            if command.uncertain {
                return Match::Unknown;
            }
        }
        if command.hides { Match::Unknown } else { Match::No }
    }
}

/// Returns whether an argument is the word of a pattern; `--forc` and `--force=x` are `--force`.
fn is_word(wanted: &str, arg: &str) -> bool {
    let name = |option: &str| {
        let name = option.strip_prefix("--")?.split('=').next()?.to_owned();
        Some(name).filter(|name| !name.is_empty())
    };
    match (name(wanted), name(arg)) {
        (Some(wanted), Some(arg)) => wanted.starts_with(&arg),
        _ => wanted == arg,
    }
}

/// Returns whether all options of one letter are there: `-rf` is in `-fr`, and in `-r -v -f`.
fn has_letters(wanted: &str, args: &[String]) -> bool {
    let letters = |word: &str| {
        word.strip_prefix('-').filter(|option| !option.starts_with('-')).map(str::to_owned)
    };
    let Some(wanted) = letters(wanted).filter(|wanted| !wanted.is_empty()) else { return false };
    let given: String = args.iter().filter_map(|arg| letters(arg)).collect();
    wanted.chars().all(|letter| given.contains(letter))
}

/// Returns the words of a permission rule: `git log *` for `Bash(git log:*)`.
fn words_of_rule(written: &str) -> Result<String, String> {
    let Some((tool, rule)) = written.split_once('(') else { return Ok(written.to_owned()) };
    let rule = rule.strip_suffix(')').filter(|_| tool == "Bash");
    let Some(rule) = rule else {
        return Err(format!(
            "`{written}`: of permission rules, only `Bash(...)` is about commands"
        ));
    };
    Ok(rule.strip_suffix(":*").map_or_else(|| rule.to_owned(), |prefix| format!("{prefix} *")))
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_plain_words() {
        for (written, problem) in [
            ("*", "names no program"),
            ("", "names no program"),
            ("Bash(*)", "names no program"),
            ("git * log", "`*` can only be the last word"),
            ("npm run test:*", "`*` can only be the last word"),
            ("a | b", "plain words"),
            ("echo \"x\"", "plain words"),
            ("a $x", "plain words"),
            ("Read(./x)", "only `Bash(...)` is about commands"),
        ] {
            let error = Pattern::parse(written).unwrap_err();
            assert!(error.contains(problem), "{written}: {error}");
        }
        for (written, args, open) in [
            ("git", 0, false),
            ("git log *", 1, true),
            ("Bash(git log:*)", 1, true),
            ("Bash(git log)", 1, false),
            ("Bash(git log *)", 1, true),
        ] {
            let pattern = Pattern::parse(written).unwrap();
            assert_eq!((pattern.args.len(), pattern.open), (args, open), "{written}");
        }
    }
}
