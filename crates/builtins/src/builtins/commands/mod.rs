//! `allow_commands`, `deny_commands`, `ask_commands`: lists of commands, by their words.

use std::sync::Arc;

mod hazards;
mod patterns;
mod unlisted;

use std::borrow::Cow;

use super::arguments::{DECISIONS, Decide, options};
use super::{Surroundings, Work};
use crate::calls::{KnownTools, kinds};
use hookexec::describe::{Command, DescribeCall as _};
use hookexec::wire::{Input, Output};
use hookexec_files::text::shortened;
use patterns::{Match, Pattern};
use unlisted::unlisted;

pub(super) fn prepare_allow(_: &Surroundings, args: &[String]) -> Result<Work, String> {
    let (options, texts) = options(args, &["otherwise"])?;
    let otherwise = options.word("otherwise", &DECISIONS)?;
    let patterns = Pattern::list(&texts)?;
    Ok(Arc::new(move |asked| {
        if !is_shell(asked) {
            return Ok(None);
        }
        Ok(match unlisted(asked.call.description(), &patterns) {
            None => Some(Output::allow()),
            Some(reason) => otherwise.map(|decide| decide(reason)),
        })
    }))
}

/// Returns why `allow_commands` with these arguments has no opinion on a call.
pub(super) fn why_not_allowed(args: &[String], input: &Input) -> Option<String> {
    if !is_shell(input) {
        return Some(format!("`{}` is not a tool that runs commands", input.tool()));
    }
    let (_, texts) = options(args, &["otherwise"]).ok()?;
    unlisted(&KnownTools.describe(input), &Pattern::list(&texts).ok()?)
}

fn is_shell(input: &Input) -> bool {
    kinds(input).iter().any(|kind| kind == "shell")
}

pub(super) fn prepare_deny(_: &Surroundings, args: &[String]) -> Result<Work, String> {
    prepare_list(args, "denied", Output::deny)
}

pub(super) fn prepare_ask(_: &Surroundings, args: &[String]) -> Result<Work, String> {
    prepare_list(args, "listed", Output::ask)
}

fn prepare_list(args: &[String], is: &'static str, decide: Decide) -> Result<Work, String> {
    let (options, texts) = options(args, &["uncertain"])?;
    let if_uncertain = options.word("uncertain", &DECISIONS)?.unwrap_or(Output::ask);
    let patterns = Pattern::list(&texts)?;
    Ok(Arc::new(move |asked| {
        let mut uncertain = None;
        for command in &asked.call.description().commands {
            for pattern in &patterns {
                match pattern.finds(command) {
                    Match::Yes => {
                        let reason = format!("`{}` is {is}: `{pattern}`", shown(command));
                        return Ok(Some(decide(reason)));
                    }
                    Match::Unknown => uncertain = uncertain.or(Some((command, pattern))),
                    Match::No => {}
                }
            }
        }
        Ok(uncertain.map(|(command, pattern)| {
            if_uncertain(format!(
                "it can't be known whether {} runs `{pattern}`; write it without substitutions, \
                 variables and wildcards",
                name_of(command)
            ))
        }))
    }))
}

/// Returns what a message calls a command of which not everything is known.
fn name_of(command: &Command) -> String {
    let line = shown(command);
    if line.is_empty() { "the command".to_owned() } else { format!("`{line}`") }
}

/// Returns the words of a command for a message, cut.
fn shown(command: &Command) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let line = words.filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>().join(" ");
    cut(&line).into_owned()
}

/// Returns a part of a call for a message.
fn cut(text: &str) -> Cow<'_, str> {
    shortened(text, 200)
}
