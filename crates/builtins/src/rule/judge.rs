//! A rule, and what it says of a call.

use std::path::Path;

use super::arguments::Arguments;
use super::call::{CallReading, real_names};
use super::fit::{Fit, shown};
use super::implied::with_implied;
use super::keys::{Otherwise, Uncertain};
use super::mentions::Mention;
use super::paths::{Here, Machine, PathPattern, hold};
use super::pattern::Pattern;
use super::place::Scene;
use super::uses::Touch;
use super::values::with_values;
use crate::calls::{Hidden, Reading};
use hookexec::handler::Call;
use hookexec::registry::BuiltinError;
use hookexec::wire::{Input, Output};
use hookexec_files::text::shortened;

/// A rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) answer: Answer,
    /// Sets of conditions, of which one is enough.
    pub(super) sets: Vec<Conditions>,
    pub(super) except: Conditions,
    pub(super) uncertain: Uncertain,
    pub(super) otherwise: Option<Otherwise>,
    pub(super) machine: Machine,
}

/// The answer of a rule that applies.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Deny(String),
    Ask(String),
    Allow,
}

/// Conditions that hold together; an empty list says nothing.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) commands: Vec<Pattern>,
    pub(super) targets: Vec<PathPattern>,
    pub(super) files: Vec<PathPattern>,
    pub(super) touched: Touch,
    pub(super) tools: Vec<String>,
}

impl Conditions {
    /// Returns whether they are about files.
    pub(super) fn names_files(&self) -> bool {
        !self.files.is_empty() || self.touched != Touch::NONE && self.targets.is_empty()
    }

    fn touches(&self) -> Touch {
        if self.touched == Touch::NONE { Touch::ANY } else { self.touched }
    }
}

impl Rule {
    /// Returns the rule's answer to a call.
    pub(super) fn judge(&self, call: &Call<'_>) -> Result<Option<Output>, BuiltinError> {
        self.answer_to(call.input, &Reading::of(call))
    }

    pub(super) fn answer_to(
        &self,
        input: &Input,
        reading: &Reading,
    ) -> Result<Option<Output>, BuiltinError> {
        let scene = Scene::of(input, &self.machine.surroundings)?;
        let commands = match self.answer {
            Answer::Allow => &reading.commands,
            _ => reading
                .implied
                .get_or_init(|| with_implied(input, with_values(&reading.commands, &scene))),
        };
        let read = CallReading::of(input, commands, reading, &self.machine, scene);
        match &self.answer {
            Answer::Allow => self.allowed(&read),
            Answer::Deny(reason) => self.stopped(&read, reason, Output::deny),
            Answer::Ask(reason) => self.stopped(&read, reason, Output::ask),
        }
    }

    fn stopped(
        &self,
        read: &CallReading<'_>,
        reason: &str,
        decide: fn(String) -> Output,
    ) -> Result<Option<Output>, BuiltinError> {
        let mut best = Fit::No;
        for set in &self.sets {
            best = best.or(self.set(read, set)?);
        }
        let part = match best {
            Fit::No => return Ok(None),
            Fit::Yes(text) => return Ok(Some(decide(format!("{reason}: {text}")))),
            Fit::Unknown(part) => part,
        };
        let unknown = if part.is_empty() {
            "what the text runs can't be known; write plain commands of a POSIX shell".to_owned()
        } else {
            format!("`{}` can't be known before it runs; write it out", shortened(&part, 200))
        };
        let reason = format!("{unknown} ({reason})");
        Ok(match self.uncertain {
            Uncertain::None => None,
            Uncertain::Ask => Some(Output::ask(reason)),
            Uncertain::Deny => Some(Output::deny(reason)),
        })
    }

    /// Returns whether all conditions of a set hold together.
    fn set(&self, read: &CallReading<'_>, set: &Conditions) -> Result<Fit, BuiltinError> {
        let excepted =
            !self.except.tools.is_empty() && read.tool.is_certainly_one_of(&self.except.tools);
        if excepted || !set.tools.is_empty() && !read.tool.is_one_of(&set.tools) {
            return Ok(Fit::No);
        }
        if set.commands.is_empty() && set.targets.is_empty() {
            if set.names_files() {
                return self.files(read, set, None);
            }
            return Ok(Fit::Yes("the tool".to_owned()));
        }
        let mut best = Fit::No;
        for at in 0..read.commands.len() {
            best = best.or(self.command(read, set, at)?);
            if best.is_yes() {
                break;
            }
        }
        Ok(best)
    }

    /// Returns whether the conditions hold for one command.
    fn command(
        &self,
        read: &CallReading<'_>,
        set: &Conditions,
        at: usize,
    ) -> Result<Fit, BuiltinError> {
        let given = &read.commands[at];
        let mut fit = fitting_pattern(set, given);
        if fit == Fit::No || self.is_excepted(given) {
            return Ok(Fit::No);
        }
        let mut mentions: Vec<&Mention> = self.mentions(read)?.iter().collect();
        mentions.retain(|mention| mention.command == Some(at));
        if !set.targets.is_empty() {
            let may_be =
                given.command.more || given.command.hidden != Hidden::Nothing && !fit.is_yes();
            let mut best = if may_be { Fit::Unknown(shown(given)) } else { Fit::No };
            for mention in &mentions {
                if mention.is_target && mention.touch.meets(set.touches()) {
                    best = best.or(read.target(mention, &set.targets));
                }
            }
            fit = fit.and(best);
        }
        if fit == Fit::No {
            return Ok(Fit::No);
        }
        if set.names_files() {
            return Ok(fit.and(self.files(read, set, Some(at))?));
        }
        if self.except.files.is_empty() && self.except.targets.is_empty() {
            return Ok(fit);
        }
        Ok(match self.lies_in_exceptions(given, &mentions) {
            Fit::Yes(_) => Fit::No,
            Fit::Unknown(part) if fit.is_yes() => Fit::Unknown(part),
            _ => fit,
        })
    }

    /// Returns the files of a call, or none if no condition is about files.
    pub(super) fn mentions<'r>(
        &self,
        read: &'r CallReading<'_>,
    ) -> Result<&'r [Mention], BuiltinError> {
        let mut sets = self.sets.iter().chain([&self.except]);
        if sets.any(|set| set.names_files() || !set.targets.is_empty()) {
            return read.mentions();
        }
        Ok(&[])
    }

    fn is_excepted(&self, given: &Arguments<'_>) -> bool {
        self.except.commands.iter().any(|pattern| pattern.certainly_finds(given))
    }

    /// Returns whether all targets of a command are excepted. What else it touches says nothing of what
    /// it does: `git push -f 2>/tmp/x`.
    fn lies_in_exceptions(&self, given: &Arguments<'_>, mentions: &[&Mention]) -> Fit {
        let mut targets = mentions.iter().filter(|mention| mention.is_target).peekable();
        if targets.peek().is_none() || given.command.more {
            return Fit::No;
        }
        let mut unknown = None;
        for mention in targets {
            if mention.paths.is_empty() && mention.open.is_none() {
                return Fit::No;
            }
            let names = mention.paths.iter().flat_map(|path| real_names(path));
            for name in names {
                if !hold(&self.except.files, &name) && !hold(&self.except.targets, &name) {
                    return Fit::No;
                }
            }
            if let Some(last) = &mention.open {
                let mut patterns = self.except.files.iter().chain(&self.except.targets);
                if !patterns.any(|pattern| pattern.may_be_at_stake(last)) {
                    return Fit::No;
                }
                unknown = Some(mention.shown.clone());
            }
        }
        unknown.map_or(Fit::Yes(String::new()), Fit::Unknown)
    }

    /// Returns whether a file of the call, or of one command, fits.
    fn files(
        &self,
        read: &CallReading<'_>,
        set: &Conditions,
        command: Option<usize>,
    ) -> Result<Fit, BuiltinError> {
        let asked = match command {
            Some(at) => &read.commands[at..=at],
            None => &read.commands,
        };
        // A text that can't be read may name any file.
        let unreadable = asked.iter().rfind(|given| is_unreadable(given));
        let mut best = unreadable.map_or(Fit::No, |given| Fit::Unknown(shown(given)));
        let mut mentions: Vec<&Mention> = read.mentions()?.iter().collect();
        mentions.retain(|one| command.is_none() || one.command == command);
        mentions.retain(|one| one.touch.meets(set.touches()));
        if mentions.is_empty() {
            return Ok(best);
        }
        let excepted: &dyn Fn(&Path) -> bool = &|path| hold(&self.except.files, path);
        let here = Here::of(&set.files, read);
        for mention in mentions {
            if command.is_none()
                && let Some(at) = mention.command
                && self.is_excepted(&read.commands[at])
            {
                continue;
            }
            let found = read.fits(mention, &here, excepted)?;
            if found.is_none() && !set.files.is_empty() {
                continue;
            }
            if mention.unsure {
                best = best.or(Fit::Unknown(mention.shown.clone()));
                continue;
            }
            let how = found.map(|how| format!(" {how}")).unwrap_or_default();
            return Ok(Fit::Yes(quoted(&mention.shown) + &how));
        }
        Ok(best)
    }
}

/// Returns whether a command fits one of the patterns of a set, if it has some.
fn fitting_pattern(set: &Conditions, given: &Arguments<'_>) -> Fit {
    if set.commands.is_empty() {
        return Fit::Yes(quoted(&shown(given)));
    }
    let mut best = Fit::No;
    for pattern in &set.commands {
        match pattern.finds(given) {
            Fit::Yes(how) => return Fit::Yes(format!("{} {how}", quoted(&shown(given)))),
            other => best = best.or(other),
        }
    }
    best
}

/// Returns a part of a call in backticks, which it can't end itself.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(&text.replace('`', "'"), 200))
}

/// Returns whether a command is a text that can't be read, and may be anything.
fn is_unreadable(given: &Arguments<'_>) -> bool {
    given.command.words.is_empty() && given.command.hidden == Hidden::Anything
}
