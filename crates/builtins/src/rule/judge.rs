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
use hookexec_files::plain;
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

/// Why a rule applies, or may: for people.
struct Finding {
    fit: Fit,
    text: String,
}

const NOTHING: Finding = Finding { fit: Fit::No, text: String::new() };

impl Finding {
    fn better(self, other: Self) -> Self {
        match (&self.fit, &other.fit) {
            (Fit::Yes, _) | (Fit::Unknown(_), Fit::No | Fit::Unknown(_)) => self,
            _ => other,
        }
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
        let mut best = NOTHING;
        for set in &self.sets {
            best = best.better(self.finding(read, set)?);
        }
        Ok(match best.fit {
            Fit::No => None,
            Fit::Yes => Some(decide(format!("{reason}: {}", best.text))),
            Fit::Unknown(part) => {
                let part = shortened(&part, 200);
                let unknown = if part.is_empty() {
                    "what the text runs can't be known; write plain commands of a POSIX shell"
                        .to_owned()
                } else {
                    format!("`{part}` can't be known before it runs; write it out")
                };
                let reason = format!("{unknown} ({reason})");
                match self.uncertain {
                    Uncertain::None => None,
                    Uncertain::Ask => Some(Output::ask(reason)),
                    Uncertain::Deny => Some(Output::deny(reason)),
                }
            }
        })
    }

    /// Returns whether all conditions of a set hold together.
    fn finding(&self, read: &CallReading<'_>, set: &Conditions) -> Result<Finding, BuiltinError> {
        let excepted =
            !self.except.tools.is_empty() && read.tool.is_certainly_one_of(&self.except.tools);
        if excepted || !set.tools.is_empty() && !read.tool.is_one_of(&set.tools) {
            return Ok(NOTHING);
        }
        if !set.commands.is_empty() || !set.targets.is_empty() {
            let mut best = NOTHING;
            for at in 0..read.commands.len() {
                best = best.better(self.command(read, set, at)?);
                if best.fit == Fit::Yes {
                    break;
                }
            }
            return Ok(best);
        }
        if set.names_files() {
            return self.files(read, set, None);
        }
        Ok(Finding { fit: Fit::Yes, text: "the tool".to_owned() })
    }

    /// Returns whether the conditions hold for one command.
    fn command(
        &self,
        read: &CallReading<'_>,
        set: &Conditions,
        at: usize,
    ) -> Result<Finding, BuiltinError> {
        let given = &read.commands[at];
        let mut fit = if set.commands.is_empty() { Fit::Yes } else { Fit::No };
        let mut notes = vec![quoted(&shown(given))];
        for pattern in &set.commands {
            let found = pattern.finds(given);
            if found == Fit::Yes {
                notes.push(format!("fits `{}`", shortened(&plain::line(&pattern.written), 100)));
            }
            fit = fit.or(found);
            if fit == Fit::Yes {
                break;
            }
        }
        if fit == Fit::No || self.is_excepted(given) {
            return Ok(NOTHING);
        }
        let mentions: Vec<&Mention> =
            self.mentions(read)?.iter().filter(|mention| mention.command == Some(at)).collect();
        if !set.targets.is_empty() {
            let mut best = if given.command.more { Fit::Unknown(shown(given)) } else { Fit::No };
            if given.command.hidden != Hidden::Nothing && fit != Fit::Yes {
                best = Fit::Unknown(shown(given));
            }
            for mention in &mentions {
                if !mention.is_target || !mention.touch.meets(set.touches()) {
                    continue;
                }
                let (found, written) = read.target(mention, &set.targets);
                if found == Fit::Yes {
                    notes.push(format!("and {} is in `{written}`", quoted(&mention.shown)));
                }
                best = best.or(found);
            }
            fit = fit.and(best);
        }
        if fit == Fit::No {
            return Ok(NOTHING);
        }
        if set.names_files() {
            let found = self.files(read, set, Some(at))?;
            if found.fit == Fit::No {
                return Ok(NOTHING);
            }
            fit = fit.and(found.fit);
            notes.push(format!("and {}", found.text));
        } else if !self.except.files.is_empty() || !self.except.targets.is_empty() {
            match self.lies_in_exceptions(given, &mentions) {
                Fit::Yes => return Ok(NOTHING),
                Fit::Unknown(part) if fit == Fit::Yes => fit = Fit::Unknown(part),
                _ => {}
            }
        }
        Ok(Finding { fit, text: notes.join(" ") })
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
        unknown.map_or(Fit::Yes, Fit::Unknown)
    }

    /// Returns whether a file of the call, or of one command, fits.
    fn files(
        &self,
        read: &CallReading<'_>,
        set: &Conditions,
        command: Option<usize>,
    ) -> Result<Finding, BuiltinError> {
        let mut mentions: Vec<&Mention> = read.mentions()?.iter().collect();
        mentions.retain(|one| command.is_none() || one.command == command);
        mentions.retain(|one| one.touch.meets(set.touches()));
        let asked = match command {
            Some(at) => &read.commands[at..=at],
            None => &read.commands,
        };
        // A text that can't be read may name any file.
        let mut best = NOTHING;
        if let Some(given) = asked.iter().rfind(|given| is_unreadable(given)) {
            best = Finding { fit: Fit::Unknown(shown(given)), text: String::new() };
        }
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
            let fit = if mention.unsure { Fit::Unknown(mention.shown.clone()) } else { Fit::Yes };
            let mut text = quoted(&mention.shown);
            if let Some(how) = found {
                text = format!("{text} {how}");
            }
            best = best.better(Finding { fit, text });
            if best.fit == Fit::Yes {
                break;
            }
        }
        Ok(best)
    }
}

/// Returns a part of a call in backticks, which it can't end itself.
fn quoted(text: &str) -> String {
    format!("`{}`", shortened(&text.replace('`', "'"), 200))
}

/// Returns whether a command is a text that can't be read, and may be anything.
fn is_unreadable(given: &Arguments<'_>) -> bool {
    given.command.words.is_empty() && given.command.hidden == Hidden::Anything
}
