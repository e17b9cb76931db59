//! Whether an allow lists all of a call.

use std::borrow::Cow;

use super::arguments::Arguments;
use super::call::{CallReading, real_names};
use super::fit::{Fit, shown};
use super::judge::{Conditions, Rule};
use super::keys::Otherwise;
use super::mentions::Mention;
use super::paths::{Here, PathPattern, hold};
use super::pattern::PatternWord;
use super::uses::Touch;
use crate::calls::{Hidden, SimpleCommand};
use hookexec::registry::BuiltinError;
use hookexec::wire::Output;
use hookexec_files::text::shortened;

impl Rule {
    pub(super) fn allowed(&self, read: &CallReading<'_>) -> Result<Option<Output>, BuiltinError> {
        let reason = match self.refusal(read)? {
            Refusal::Allowed => return Ok(Some(Output::allow())),
            Refusal::Unconcerned => return Ok(None),
            Refusal::Refused(reason) => reason,
        };
        Ok(Some(match self.otherwise {
            Some(Otherwise::Ask) => Output::ask(reason),
            Some(Otherwise::Deny) => Output::deny(reason),
            // It has no opinion, and `explain` says why.
            None => {
                let mut output = Output::default();
                output.reason = Some(reason);
                output
            }
        }))
    }

    fn refusal(&self, read: &CallReading<'_>) -> Result<Refusal, BuiltinError> {
        let mut sets: Vec<&Conditions> = self.sets.iter().collect();
        sets.retain(|set| concerns(set, read));
        if sets.is_empty() {
            return Ok(Refusal::Unconcerned);
        }
        if !self.except.tools.is_empty() && read.tool.is_one_of(&self.except.tools) {
            return Ok(Refusal::Refused("the tool is excepted".to_owned()));
        }
        sets.retain(|set| set.tools.is_empty() || read.tool.is_certainly_one_of(&set.tools));
        if sets.is_empty() {
            let reason = "the tool is not on the list of allowed tools";
            return Ok(Refusal::Refused(reason.to_owned()));
        }
        if sets.iter().any(|set| set.commands.is_empty() && !set.names_files()) {
            return self.excepted_parts(read);
        }
        let reason = if sets.iter().all(|set| set.commands.is_empty()) {
            self.files_refused(read, &sets)?
        } else {
            sets.retain(|set| !set.commands.is_empty());
            self.commands_refused(read, &sets)?
        };
        Ok(reason.map_or(Refusal::Allowed, Refusal::Refused))
    }

    /// Returns whether a part of a call whose tool is allowed is excepted.
    fn excepted_parts(&self, read: &CallReading<'_>) -> Result<Refusal, BuiltinError> {
        for given in &read.commands {
            if self.is_excepted_from_allow(given) {
                return Ok(Refusal::Refused(format!("{} is excepted", name_of(given))));
            }
        }
        let reason = self.excepted_file(read, self.mentions(read)?.iter())?;
        Ok(reason.map_or(Refusal::Allowed, Refusal::Refused))
    }

    fn files_refused(
        &self,
        read: &CallReading<'_>,
        sets: &[&Conditions],
    ) -> Result<Option<String>, BuiltinError> {
        if !read.tool.is_of_files() {
            return Ok(Some("the tool may do more than use files".to_owned()));
        }
        let mentions = self.mentions(read)?;
        if mentions.is_empty() {
            return Ok(Some("the call names no file".to_owned()));
        }
        if let Some(reason) = self.excepted_file(read, mentions.iter())? {
            return Ok(Some(reason));
        }
        for mention in mentions {
            if !sets.iter().any(|set| file_is_listed(read, set, mention)) {
                return Ok(Some(unlisted(mention)));
            }
        }
        Ok(None)
    }

    fn commands_refused(
        &self,
        read: &CallReading<'_>,
        sets: &[&Conditions],
    ) -> Result<Option<String>, BuiltinError> {
        if read.commands.is_empty() {
            return Ok(Some("the call names no command".to_owned()));
        }
        let all = self.mentions(read)?;
        for (at, given) in read.commands.iter().enumerate() {
            if let Some(reason) = doubt(given) {
                return Ok(Some(reason));
            }
            if self.is_excepted_from_allow(given) {
                return Ok(Some(format!("{} is excepted", name_of(given))));
            }
            let mentions: Vec<&Mention> =
                all.iter().filter(|mention| mention.command == Some(at)).collect();
            let mut reason = format!("{} is not listed", name_of(given));
            let mut is_listed = false;
            for set in sets {
                let refused = match command_is_listed(set, given) {
                    Ok(true) => {
                        let file = mentions.iter().find(|one| !file_is_listed(read, set, one));
                        file.map(|file| unlisted(file))
                    }
                    Ok(false) => continue,
                    Err(reason) => Some(reason),
                };
                match refused {
                    None => is_listed = true,
                    Some(refused) => reason = refused,
                }
            }
            if !is_listed {
                return Ok(Some(reason));
            }
            if let Some(reason) = uncertain(given, read) {
                return Ok(Some(reason));
            }
            if goes_anywhere(sets, given) && self.leaves_project(read, at)? {
                return Ok(Some(format!("{} leaves the project", name_of(given))));
            }
            if let Some(reason) = self.excepted_file(read, mentions.into_iter())? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Returns whether a command may go to a directory outside of the project: programs that run there
    /// read the settings of another one.
    fn leaves_project(&self, read: &CallReading<'_>, at: usize) -> Result<bool, BuiltinError> {
        let project = PathPattern::parse("$PROJECT", "$PROJECT", &self.machine)
            .map_err(|(message, _)| BuiltinError::from(message))?;
        for directory in read.directories_behind(at)? {
            let names = directory.map(|directory| real_names(&directory));
            if !names.is_some_and(|names| names.iter().all(|name| hold(&project, name))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_excepted_from_allow(&self, given: &Arguments<'_>) -> bool {
        self.except.commands.iter().any(|pattern| pattern.finds(given) != Fit::No)
    }

    /// Returns what is said of the first file that is or may be excepted.
    fn excepted_file<'m>(
        &self,
        read: &CallReading<'_>,
        mentions: impl Iterator<Item = &'m Mention>,
    ) -> Result<Option<String>, BuiltinError> {
        if self.except.files.is_empty() {
            return Ok(None);
        }
        let here = Here::of(&self.except.files, read);
        for mention in mentions {
            // What is only listed is not touched.
            if mention.touch == Touch::NONE {
                continue;
            }
            if mention.open.is_some() || read.fits(mention, &here, &|_| false)?.is_some() {
                return Ok(Some(format!("`{}` is or may be excepted", cut(&mention.shown))));
            }
        }
        Ok(None)
    }
}

/// Whether a rule allows a call.
enum Refusal {
    Allowed,
    /// The call is none of those that the rule is about.
    Unconcerned,
    /// It does not allow it, for this reason.
    Refused(String),
}

/// Returns whether a set is about the tool of a call: a list of tools alone is about all, commands are
/// about shells, and files about the tools beside them.
fn concerns(set: &Conditions, read: &CallReading<'_>) -> bool {
    let is_for_tools = !set.tools.is_empty();
    if set.commands.is_empty() && !set.names_files() {
        return is_for_tools;
    }
    let fits_tool = !is_for_tools || read.tool.is_one_of(&set.tools);
    fits_tool && (set.commands.is_empty() || read.tool.is("shell"))
}

/// Returns whether a pattern of a set is the command; `Err` says what a `*` does not stand for.
fn command_is_listed(set: &Conditions, given: &Arguments<'_>) -> Result<bool, String> {
    let mut refused = None;
    for pattern in &set.commands {
        match pattern.lists(given) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(word) => refused = refused.or(Some((word, &pattern.written))),
        }
    }
    let Some((word, pattern)) = refused else { return Ok(false) };
    let (name, word) = (name_of(given), cut(&word));
    Err(format!("{name} is not listed: `*` in `{pattern}` does not stand for `{word}`"))
}

/// Returns whether a file fits the conditions of a set that are about files.
fn file_is_listed(read: &CallReading<'_>, set: &Conditions, mention: &Mention) -> bool {
    if !set.names_files() {
        return true;
    }
    if mention.open.is_some()
        || mention.paths.is_empty()
        || set.touched != Touch::NONE && !set.touched.covers(mention.touch)
    {
        return false;
    }
    if set.files.is_empty() {
        return true;
    }
    let Some(names) = read.all_names(mention) else { return false };
    names.iter().all(|name| hold(&set.files, name))
}

/// Returns whether a command goes to a directory that no pattern names.
fn goes_anywhere(sets: &[&Conditions], given: &Arguments<'_>) -> bool {
    if !matches!(given.program.as_deref(), Some("cd" | "chdir" | "pushd")) {
        return false;
    }
    let patterns = sets.iter().flat_map(|one| &one.commands);
    let mut listing = patterns.filter(|pattern| pattern.lists(given) == Ok(true));
    listing.all(|pattern| pattern.words.iter().all(PatternWord::is_any))
}

fn unlisted(mention: &Mention) -> String {
    format!("`{}` is not on the list of allowed files", cut(&mention.shown))
}

/// Returns what no pattern lists.
fn doubt(given: &Arguments<'_>) -> Option<String> {
    let command = given.command;
    if command.words.is_empty() && command.hidden != Hidden::Nothing {
        return Some(
            "the command can't be read: it has a syntax error, is too long or is not for a POSIX \
             shell"
                .to_owned(),
        );
    }
    if command.hidden != Hidden::Nothing {
        return Some(format!("{} runs what can't be known", name_of(given)));
    }
    let what = addition(command)?;
    Some(if command.words.is_empty() { what } else { format!("{} has {what}", name_of(given)) })
}

/// Returns an assignment or a redirection that no pattern lists.
fn addition(command: &SimpleCommand) -> Option<String> {
    if !command.sets.is_empty() {
        let assignment = command.assignments.first().map(|word| word.text.clone());
        let assignment = assignment.unwrap_or_else(|| command.sets.join(", "));
        return Some(format!("an assignment: `{}`", cut(&assignment)));
    }
    for redirection in command.redirections.iter().filter(|redirection| redirection.is_file()) {
        let is_known = redirection.word.is_known();
        let reads = matches!(&*redirection.operator, "<" | "<&");
        if is_known && redirection.word.text == "/dev/null" {
            continue;
        }
        let direction = if reads { "from" } else { "to" };
        return Some(format!("a redirection {direction} `{}`", cut(&redirection.word.text)));
    }
    None
}

fn uncertain(given: &Arguments<'_>, read: &CallReading<'_>) -> Option<String> {
    let command = given.command;
    let unknown = format!("{} can't be known before it runs", name_of(given));
    let words = command.words.iter().chain(&command.assignments);
    let texts = command.redirections.iter().map(|redirection| &redirection.word);
    let word = words.chain(texts).find(|word| word.may_vary());
    if let Some(word) = word {
        return Some(format!("{unknown}: `{}`", cut(&word.text)));
    }
    if let Some(argument) = read.unknown_argument {
        return Some(format!("the argument `{}` of the call is not known", cut(argument)));
    }
    if command.more || !command.is_certain { Some(unknown) } else { None }
}

/// Returns what a message calls a command of which not everything is known.
fn name_of(given: &Arguments<'_>) -> String {
    if given.command.words.is_empty() {
        return "the command".to_owned();
    }
    format!("`{}`", cut(&shown(given)))
}

/// Returns a part of a call for a message.
fn cut(text: &str) -> Cow<'_, str> {
    shortened(text, 200)
}
