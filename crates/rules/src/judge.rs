//! A rule, and what it says of a call.

use std::cell::{Cell, OnceCell};
use std::path::Path;
use std::sync::Arc;

use super::arguments::Arguments;
use super::call::CallReading;
use super::fit::{Fit, shown};
use super::implied::with_implied;
use super::keys::{Otherwise, Uncertain};
use super::mentions::Mention;
use super::paths::{Here, Machine, PathList, holder, names, take_away};
use super::pattern::{ListedPattern, Pattern};
use super::tools::ToolName;
use super::uses::Touch;
use hookexec::registry::BuiltinError;
use hookexec::{Call, Input, Output};
use hookexec_calls::expand::with_values;
use hookexec_calls::place::{Scene, rooted};
use hookexec_calls::shell::{UNKNOWN, hidden};
use hookexec_calls::{Certainty, Hidden, Reading};
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
    pub(super) machine: Arc<Machine>,
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
    pub(super) commands: Vec<ListedPattern>,
    pub(super) targets: PathList,
    pub(super) files: PathList,
    pub(super) touched: Touch,
    pub(super) tools: Vec<ToolName>,
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

/// The reason for a text of which nothing is known.
const UNKNOWN_TEXT: &str = "what the text runs can't be known; write plain commands of a POSIX \
     shell, without functions and `case`";
/// Why a call can't be checked by a rule that says nothing about what it can't read.
const TOO_LONG: &str = "the text of the call is too long to be checked: write it in shorter calls";

/// A result of looking at a call, which fails if there is too much to look at.
pub(super) type Checked<T> = Result<T, BuiltinError>;

impl Rule {
    /// Returns the rule's answer to a call.
    pub(super) fn judge(&self, call: &Call<'_>) -> Checked<Option<Output>> {
        self.answer_to(call.input, &Reading::of(call))
    }

    pub(super) fn answer_to(&self, input: &Input, reading: &Reading) -> Checked<Option<Output>> {
        let scene = Scene::of(input, &self.machine.surroundings)?;
        let commands = match self.answer {
            Answer::Allow => &reading.commands,
            _ => reading
                .implied
                .get_or_init(|| with_implied(input, with_values(&reading.commands, &scene))),
        };
        let read = CallReading::of(input, commands, reading, &scene);
        let case = Case { rule: self, read: &read, exceptions: OnceCell::new() };
        match &self.answer {
            Answer::Allow => case.allowed(),
            Answer::Deny(reason) => case.stopped(reason, Output::deny),
            Answer::Ask(reason) => case.stopped(reason, Output::ask),
        }
    }
}

/// A rule, and a call that it judges.
pub(super) struct Case<'c> {
    pub(super) rule: &'c Rule,
    pub(super) read: &'c CallReading<'c>,
    /// The pattern that takes each command away.
    exceptions: OnceCell<Vec<Option<&'c Pattern>>>,
}

impl<'c> Case<'c> {
    fn stopped(&self, reason: &str, decide: fn(String) -> Output) -> Checked<Option<Output>> {
        let mut best = Fit::No;
        for set in &self.rule.sets {
            best = best.or(self.set(set)?);
        }
        // Several rules say the same of a command that hides something, which is then said once.
        let reason = match best {
            Fit::No => return Ok(None),
            Fit::Excepted(text) => return Ok(Some(no_opinion(text))),
            Fit::Yes(text) => return Ok(Some(decide(format!("{reason}: {text}")))),
            Fit::Unknown(part) => {
                format!("{} can't be known before it runs; write it out ({reason})", quoted(&part))
            }
            Fit::Hidden(command) if command.is_empty() => UNKNOWN_TEXT.to_owned(),
            Fit::Hidden(command) => {
                format!("{} runs what can't be known; write that out", quoted(&command))
            }
        };
        Ok(match self.rule.uncertain {
            Uncertain::None if self.read.is_too_long() => return Err(TOO_LONG.into()),
            Uncertain::None => None,
            Uncertain::Ask => Some(Output::ask(reason)),
            Uncertain::Deny => Some(Output::deny(reason)),
        })
    }

    /// Returns whether all conditions of a set hold together.
    fn set(&self, set: &Conditions) -> Checked<Fit> {
        let (tool, excepted) = (&self.read.tool, &self.rule.except.tools);
        if !set.tools.is_empty() && !tool.is_one_of(&set.tools) {
            return Ok(Fit::No);
        }
        if !excepted.is_empty() && tool.is_certainly_one_of(excepted) {
            return Ok(Fit::Excepted("the tool is excepted".to_owned()));
        }
        if set.commands.is_empty() && set.targets.is_empty() {
            if set.names_files() {
                return self.files(set, None);
            }
            if self.has_only_excepted_files()? {
                return Ok(Fit::Excepted("its files are excepted".to_owned()));
            }
            return Ok(Fit::Yes("the tool".to_owned()));
        }
        let mut best = Fit::No;
        for at in 0..self.read.commands.len() {
            best = best.or(self.command(set, at)?);
            if best.is_yes() {
                break;
            }
        }
        Ok(best)
    }

    /// Returns whether the conditions hold for one command.
    fn command(&self, set: &Conditions, at: usize) -> Checked<Fit> {
        let given = &self.read.commands[at];
        let mut fit = fitting_pattern(set, given);
        if fit == Fit::No {
            return Ok(Fit::No);
        }
        if let Some(pattern) = self.exception(at) {
            return Ok(excepted(&shown(given), &pattern.written));
        }
        let mentions = self.mentions(Some(at))?;
        if !set.targets.is_empty() {
            // A program that is not known may delete each file that it names, and one that may be several words
            // may name more.
            let may_delete = given.program.is_none() && !fit.is_yes();
            let may_name_more = matches!(given.command.words.first(), Some(program) if program.certainty == Certainty::Unknown);
            let may_be = given.command.frame.more && given.may_have_targets()
                || may_delete && may_name_more
                || given.command.hidden != Hidden::Nothing && !fit.is_yes();
            let mut best = if may_be { Fit::Unknown(shown(given)) } else { Fit::No };
            for mention in &mentions {
                if may_delete || mention.is_target && mention.touch.meets(set.touches()) {
                    best = best.or(self.read.target(mention, &set.targets));
                }
            }
            fit = fit.and(best);
        }
        if set.names_files() && fit != Fit::No {
            return Ok(fit.and(self.files(set, Some(at))?));
        }
        Ok(match self.lies_in_exceptions(given, &mentions) {
            excepted @ Fit::Excepted(_) => excepted,
            Fit::Unknown(part) if fit.is_yes() => Fit::Unknown(part),
            _ => fit,
        })
    }

    /// Returns the files of a call, or of one command; none if no condition is about files.
    pub(super) fn mentions(&self, command: Option<usize>) -> Checked<Vec<&'c Mention>> {
        for set in self.rule.sets.iter().chain([&self.rule.except]) {
            if set.names_files() || !set.targets.is_empty() {
                return Ok(self.read.mentions(command)?.iter().collect());
            }
        }
        Ok(Vec::new())
    }

    /// Returns the pattern that takes a command away.
    fn exception(&self, command: usize) -> Option<&'c Pattern> {
        let exceptions = self.exceptions.get_or_init(|| {
            let patterns = &self.rule.except.commands;
            let mut exceptions = Vec::new();
            for given in &self.read.commands {
                let mut fitting = patterns.iter().filter_map(|one| one.for_command(given));
                exceptions.push(fitting.find(|pattern| pattern.certainly_finds(given)));
            }
            exceptions
        });
        exceptions[command]
    }

    /// Returns whether all targets of a command are excepted. What else it touches says nothing of what
    /// it does: `git push -f 2>/tmp/x`.
    fn lies_in_exceptions(&self, given: &Arguments<'_>, mentions: &[&Mention]) -> Fit {
        let Conditions { files, targets, .. } = &self.rule.except;
        if files.is_empty() && targets.is_empty() {
            return Fit::No;
        }
        let mut fit = Fit::No;
        let are_added = mentions.iter().any(|mention| mention.is_added);
        if given.command.frame.more && given.may_have_targets() && !are_added {
            fit = Fit::Unknown(shown(given));
        }
        for mention in mentions {
            if !mention.is_target {
                continue;
            }
            if mention.paths.is_empty() && mention.open.is_none() {
                return Fit::No;
            }
            for path in &mention.paths {
                for name in &*self.read.names(path) {
                    match holder(files, name).or_else(|| holder(targets, name)) {
                        Some(pattern) if fit == Fit::No => {
                            fit = excepted(&mention.shown, &pattern.written);
                        }
                        Some(_) => {}
                        None => return Fit::No,
                    }
                }
            }
            if let Some(last) = &mention.open {
                if !files.iter().chain(&**targets).any(|pattern| pattern.may_be_at_stake(last)) {
                    return Fit::No;
                }
                fit = Fit::Unknown(mention.shown.clone());
            }
        }
        fit
    }

    /// Returns whether a file of the call, or of one command, fits.
    fn files(&self, set: &Conditions, command: Option<usize>) -> Checked<Fit> {
        let read = self.read;
        let asked = match command {
            Some(at) => &read.commands[at..=at],
            None => &read.commands,
        };
        let mut best = Fit::No;
        for given in asked {
            // A text that can't be read may name any file; what a program runs that can't be known counts
            // only for a command that is asked about alone.
            let counts = command.is_some() || given.command.words.is_empty();
            if counts && given.command.hidden == Hidden::Anything {
                best = Fit::Hidden(shown(given));
            }
        }
        let taken_by = Cell::new(None);
        let is_excepted: &dyn Fn(&Path) -> bool = &|path| {
            let holder = holder(&self.rule.except.files, path);
            taken_by.set(holder.or(taken_by.get()));
            holder.is_some()
        };
        // Most calls have no file that a rule looks at.
        let here = OnceCell::new();
        // A command touches the directory that it runs in, if that is not the project.
        if let Some(at) = command
            && set.touches().meets(Touch::READ)
        {
            let project = rooted(&self.rule.machine.project);
            for directory in read.runs_in(at)? {
                if directory != project
                    && let Some(pattern) = here
                        .get_or_init(|| Here::of(&set.files, read))
                        .fitting(&names(&directory), is_excepted)
                {
                    return Ok(Fit::Yes(format!("runs in `{}`", pattern.written)));
                }
            }
        }
        for mention in read.mentions(command)? {
            if !mention.touch.meets(set.touches()) {
                continue;
            }
            if command.is_none()
                && let Some(at) = mention.command
                && self.exception(at).is_some()
            {
                continue;
            }
            let shown = quoted(&mention.shown);
            let here = here.get_or_init(|| Here::of(&set.files, read));
            let how = match (read.fits(mention, here, is_excepted)?, taken_by.take()) {
                (Some(how), _) => format!("{shown} {how}"),
                (None, _) if set.files.is_empty() => shown,
                (None, Some(pattern)) => {
                    best = best.or(excepted(&mention.shown, &pattern.written));
                    continue;
                }
                (None, None) => continue,
            };
            // A `!` may take an address away of which not all is known: `http://localhost:$PORT`.
            let address = hidden(&mention.shown);
            let may_be_taken = address.contains(UNKNOWN)
                && address.contains("://")
                && take_away(&set.files, Path::new(&address));
            if !mention.unsure && !may_be_taken {
                return Ok(Fit::Yes(how));
            }
            best = best.or(Fit::Unknown(mention.shown.clone()));
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
        let Some(pattern) = pattern.for_command(given) else { continue };
        match pattern.finds(given) {
            Fit::Yes(how) => return Fit::Yes(format!("{} {how}", quoted(&shown(given)))),
            other => best = best.or(other),
        }
    }
    best
}

/// Returns that an item of `except` takes a part of a call away.
fn excepted(part: &str, item: &str) -> Fit {
    Fit::Excepted(format!("{} is excepted by `{item}`", quoted(part)))
}

/// Returns the answer of a rule that says why it has no opinion, for `explain`.
pub(super) fn no_opinion(reason: String) -> Output {
    let mut output = Output::default();
    output.reason = Some(reason);
    output
}

/// Returns a part of a call in backticks, which it can't end itself.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(&text.replace('`', "'"), 200))
}
