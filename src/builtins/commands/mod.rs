//! `allow_commands`, `deny_commands`, `ask_commands`: lists of commands, by their words.

mod hazards;
mod patterns;
mod unlisted;

use super::arguments::options;
use super::{Shipped, Surroundings, Work, guards_tools};
use crate::calls::{Command, Deeds, kinds};
use crate::wire::{Input, Output};
use patterns::{Match, Pattern};
use unlisted::unlisted;

pub(super) const ALLOW_COMMANDS: Shipped = Shipped {
    name: "allow_commands",
    page: include_str!("../pages/allow_commands.md"),
    suits: guards_tools,
    prepare: prepare_allow,
    why_silent: why_not_allowed,
    ..Shipped::LOOKS
};

pub(super) const DENY_COMMANDS: Shipped = Shipped {
    name: "deny_commands",
    page: include_str!("../pages/deny_commands.md"),
    suits: guards_tools,
    prepare: |_, args| prepare_list(args, "denied", Output::deny),
    ..Shipped::LOOKS
};

pub(super) const ASK_COMMANDS: Shipped = Shipped {
    name: "ask_commands",
    page: include_str!("../pages/ask_commands.md"),
    suits: guards_tools,
    prepare: |_, args| prepare_list(args, "listed", Output::ask),
    ..Shipped::LOOKS
};

fn prepare_allow(_: &Surroundings, args: &[String]) -> Result<Work, String> {
    let (options, texts) = options(args, &["otherwise"])?;
    let otherwise = ask_or_deny(&options)?;
    let patterns = Pattern::list(&texts)?;
    Ok(Box::new(move |asked| {
        if !is_shell(asked) {
            return Ok(None);
        }
        Ok(match unlisted(asked.deeds(), &patterns) {
            None => Some(Output::allow()),
            Some(reason) => otherwise.map(|decide| decide(reason)),
        })
    }))
}

/// Returns why `allow_commands` with these arguments has no opinion on a call.
fn why_not_allowed(args: &[String], input: &Input) -> Option<String> {
    if !is_shell(input) {
        return Some(format!("`{}` is not a tool that runs commands", input.tool()));
    }
    let (_, texts) = options(args, &["otherwise"]).ok()?;
    unlisted(&Deeds::of(input), &Pattern::list(&texts).ok()?)
}

fn is_shell(input: &Input) -> bool {
    kinds(input).iter().any(|kind| kind == "shell")
}

type Decide = fn(String) -> Output;

/// Reads the only option, whose value is `ask` or `deny`.
fn ask_or_deny(options: &[(&str, &str)]) -> Result<Option<Decide>, String> {
    match options.first() {
        None => Ok(None),
        Some((_, "ask")) => Ok(Some(Output::ask)),
        Some((_, "deny")) => Ok(Some(Output::deny)),
        Some((name, other)) => Err(format!("`--{name}` must be `ask` or `deny`, found `{other}`")),
    }
}

fn prepare_list(args: &[String], is: &'static str, decide: Decide) -> Result<Work, String> {
    let (options, texts) = options(args, &["uncertain"])?;
    let if_uncertain = ask_or_deny(&options)?.unwrap_or(Output::ask);
    let patterns = Pattern::list(&texts)?;
    Ok(Box::new(move |asked| {
        let mut uncertain = None;
        for command in &asked.deeds().commands {
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
    cut(&line)
}

fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
