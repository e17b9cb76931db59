//! Whether an allow lists all of a call.

use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::call::CallReading;
use super::fit::{Fit, shown};
use super::implied::runs;
use super::judge::{Case, Checked, Conditions, no_opinion, quoted};
use super::keys::Otherwise;
use super::listed::wrapped_words;
use super::mentions::Mention;
use super::paths::{Here, holder, names};
use super::pattern::{Pattern, PatternWord};
use super::uses::Touch;
use hookexec::Output;
use hookexec::registry::BuiltinError;
use hookexec_calls::expand::is_rest_of_path;
use hookexec_calls::place::{is_dir, rooted};
use hookexec_calls::{Certainty, Redirection, SimpleCommand, Word};

/// The reason for a text that can't be read.
const UNREADABLE: &str = "the command can't be read: it has a function, `case`, an array or a \
     syntax error, is too long or is not for a POSIX shell";

/// Why an allow does not allow a call.
enum Refusal {
    /// It is not on the list, or is excepted, for this reason.
    Refused(String),
    Failed(BuiltinError),
}

impl From<BuiltinError> for Refusal {
    fn from(error: BuiltinError) -> Self {
        Self::Failed(error)
    }
}

fn refused(reason: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal::Refused(reason.into()))
}

impl Case<'_> {
    pub(super) fn allowed(&self) -> Checked<Option<Output>> {
        let mut sets: Vec<&Conditions> = self.rule.sets.iter().collect();
        sets.retain(|set| concerns(set, self.read));
        if sets.is_empty() {
            return Ok(None);
        }
        let reason = match self.check(sets) {
            Ok(()) => return Ok(Some(Output::allow())),
            Err(Refusal::Failed(error)) => return Err(error),
            Err(Refusal::Refused(reason)) => reason,
        };
        Ok(Some(match self.rule.otherwise {
            Some(Otherwise::Ask) => Output::ask(reason),
            Some(Otherwise::Deny) => Output::deny(reason),
            None => no_opinion(reason),
        }))
    }

    fn check(&self, mut sets: Vec<&Conditions>) -> Result<(), Refusal> {
        let (read, except) = (self.read, &self.rule.except);
        if !except.tools.is_empty() && read.tool.is_one_of(&except.tools) {
            return refused("the tool is excepted");
        }
        sets.retain(|set| set.tools.is_empty() || read.tool.is_certainly_one_of(&set.tools));
        if sets.is_empty() {
            return refused("the tool is not on the list of allowed tools");
        }
        if sets.iter().any(|set| set.commands.is_empty() && !set.names_files()) {
            for given in &read.commands {
                self.check_exceptions(given)?;
            }
            return self.check_excepted_files(&self.mentions(None)?);
        }
        let (sets, of_files): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|set| !set.commands.is_empty());
        if sets.is_empty() {
            return self.check_files(&of_files);
        }
        if read.commands.is_empty() {
            return refused("the call names no command");
        }
        if !matches!(read.scene.start(), Some(start) if self.is_in_project(start)) {
            return refused("the call may run outside of the project");
        }
        for at in 0..read.commands.len() {
            self.check_command(&sets, at)?;
        }
        Ok(())
    }

    fn check_files(&self, sets: &[&Conditions]) -> Result<(), Refusal> {
        if !self.read.tool.is_of_files() {
            return refused("the rule is for tools that only use files, and this one may do more");
        }
        let mentions = self.mentions(None)?;
        if mentions.is_empty() {
            return refused("the call names no file");
        }
        self.check_excepted_files(&mentions)?;
        for mention in mentions {
            if !sets.iter().any(|set| file_is_listed(self.read, set, mention)) {
                return refused(unlisted(mention));
            }
        }
        Ok(())
    }

    fn check_command(&self, sets: &[&Conditions], at: usize) -> Result<(), Refusal> {
        let given = &self.read.commands[at];
        if let Some(reason) = doubt(given) {
            return refused(reason);
        }
        // A relative path is another program in another directory.
        if let Some(program) = given.command.words.first()
            && program.text.contains('/')
            && !program.text.starts_with(['/', '~'])
            && (!self.starts_in_root() || given.command.history.has_moved())
        {
            return refused(format!("{} is another program elsewhere", name_of(given)));
        }
        self.check_exceptions(given)?;
        let mentions = self.mentions(Some(at))?;
        if !needs_no_pattern(given) {
            self.check_listed(sets, at, &mentions)?;
        }
        if let Some(reason) = uncertain(given, self.read) {
            return refused(reason);
        }
        if let Some("cd" | "chdir" | "pushd") = given.program.as_deref()
            && !names_directory(sets, given)
            && self.leaves_project(at)?
        {
            return refused(format!("{} leaves the project", name_of(given)));
        }
        self.check_excepted_files(&mentions)
    }

    /// Checks that one set lists a command and its files.
    fn check_listed(
        &self,
        sets: &[&Conditions],
        at: usize,
        mentions: &[&Mention],
    ) -> Result<(), Refusal> {
        let commands = &self.read.commands;
        let given = &commands[at];
        let wrapped = wrapped_words(&commands[at..]);
        let name = name_of(given);
        let mut reason = format!("{name} is not listed");
        let has_moved = !self.starts_in_root() || given.command.history.has_moved();
        for set in sets {
            // The message names the first pattern that nearly fits.
            for pattern in set.commands.iter().rev() {
                let Some(pattern) = pattern.for_command(given) else { continue };
                if has_moved && pattern.names_file() {
                    reason = format!("{name} names another file elsewhere");
                    continue;
                }
                match pattern.lists(given, &wrapped) {
                    Ok(is_listed) if is_listed || lists_behind(pattern, commands, at) => {
                        match mentions.iter().find(|one| !file_is_listed(self.read, set, one)) {
                            None => return Ok(()),
                            Some(file) => reason = unlisted(file),
                        }
                        // The files are the same for each pattern of the set.
                        break;
                    }
                    Ok(_) => {}
                    Err(word) => {
                        let (written, shown) = (&pattern.written, quoted(&word));
                        reason = format!(
                            "{name} is not listed: `*` in `{written}` does not stand for {shown}"
                        );
                        if word.starts_with('-') {
                            reason.push_str("; `-*` stands for any option");
                        }
                    }
                }
            }
        }
        refused(reason)
    }

    /// Returns whether a command may go to a directory outside of the project: programs that run there
    /// read the settings of another one.
    fn leaves_project(&self, at: usize) -> Checked<bool> {
        for directory in self.read.directories_behind(at)? {
            let Some(directory) = directory else { return Ok(true) };
            // What the call makes may be a link.
            if !is_dir(&directory) && self.read.commands.iter().any(may_link) {
                return Ok(true);
            }
            if !self.is_in_project(&directory) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the names of the project's directory.
    fn project(&self) -> Vec<PathBuf> {
        names(&rooted(&self.rule.machine.project))
    }

    /// Returns whether a directory lies in the project by all its names.
    fn is_in_project(&self, directory: &Path) -> bool {
        let projects = self.project();
        let mut names = names(directory).into_iter();
        names.all(|name| projects.iter().any(|project| name.starts_with(project)))
    }

    fn starts_in_root(&self) -> bool {
        let Some(start) = self.read.scene.start() else { return false };
        let own = names(start);
        self.project().iter().any(|place| own.contains(place))
    }

    /// Returns whether a call names files, and `except` names all of them.
    pub(super) fn has_only_excepted_files(&self) -> Checked<bool> {
        let except = &self.rule.except;
        if !except.names_files() {
            return Ok(false);
        }
        let mentions = self.mentions(None)?;
        for mention in &mentions {
            if !file_is_listed(self.read, except, mention) {
                return Ok(false);
            }
        }
        Ok(!mentions.is_empty())
    }

    fn check_exceptions(&self, given: &Arguments<'_>) -> Result<(), Refusal> {
        let (program, is_open) =
            (given.program.as_deref().unwrap_or_default(), given.is_expanded());
        for pattern in &self.rule.except.commands {
            let Some(pattern) = pattern.for_command(given) else { continue };
            if is_open && pattern.is_for(program) || pattern.finds(given) != Fit::No {
                return refused(format!("{} is or may be excepted", name_of(given)));
            }
        }
        Ok(())
    }

    /// Refuses the first file that is or may be excepted. What is only listed is not touched.
    fn check_excepted_files(&self, mentions: &[&Mention]) -> Result<(), Refusal> {
        let excepted = &self.rule.except.files;
        if excepted.is_empty() {
            return Ok(());
        }
        let here = Here::of(excepted, self.read);
        for mention in mentions {
            if mention.touch == Touch::NONE {
                continue;
            }
            if mention.open.is_some() || self.read.fits(mention, &here, &|_| false)?.is_some() {
                return refused(format!("{} is or may be excepted", quoted(&mention.shown)));
            }
        }
        Ok(())
    }
}

/// Returns whether a pattern lists a command at the end of the words of a program that runs it.
fn lists_behind(pattern: &Pattern, commands: &[Arguments<'_>], at: usize) -> bool {
    let given = &commands[at];
    let mut depth = given.command.frame.wrappers.len();
    for runner in commands[..at].iter().rev() {
        let outer = runner.command;
        if outer.frame.wrappers.len() >= depth || !runs(outer, given.command) {
            continue;
        }
        depth = outer.frame.wrappers.len();
        let Some(tail) = pattern.behind(&outer.words, &given.command.words) else { continue };
        if tail.lists(given, &wrapped_words(&commands[at..])) == Ok(true) {
            return true;
        }
    }
    false
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
    names.iter().all(|name| holder(&set.files, name).is_some())
}

/// Returns whether a command only goes to another directory of the project, does nothing, or begins a
/// loop over words.
fn needs_no_pattern(given: &Arguments<'_>) -> bool {
    match given.command.words.first() {
        Some(name) => matches!(&*name.text, "cd" | "true" | ":"),
        None => given.command.sets.is_empty() && given.command.redirections.is_empty(),
    }
}

/// Returns whether a pattern that lists a command names the directory that it goes to.
fn names_directory(sets: &[&Conditions], given: &Arguments<'_>) -> bool {
    for set in sets {
        for pattern in &set.commands {
            let Some(pattern) = pattern.for_command(given) else { continue };
            if !pattern.words.iter().all(PatternWord::is_any)
                && pattern.lists(given, &[]) == Ok(true)
            {
                return true;
            }
        }
    }
    false
}

/// Returns whether a command may put a link at the place of a directory.
fn may_link(given: &Arguments<'_>) -> bool {
    match given.program.as_deref() {
        Some("ln" | "mv" | "cp" | "tar" | "unzip" | "rsync") => true,
        Some("git" | "gh") => given.operands.iter().any(|word| word.text == "clone"),
        _ => false,
    }
}

fn unlisted(mention: &Mention) -> String {
    format!("{} is not on the list of allowed files", quoted(&mention.shown))
}

/// Returns what no pattern lists.
fn doubt(given: &Arguments<'_>) -> Option<String> {
    let command = given.command;
    let (name, hides) = (name_of(given), command.runs_unknown());
    let has_input = command.frame.piped || command.redirections.iter().any(Redirection::is_input);
    if given.row.input && has_input {
        return Some(format!("{name} runs commands of its input"));
    }
    match (hides, command.words.is_empty()) {
        (true, true) => Some(UNREADABLE.to_owned()),
        (true, false) => Some(format!("{name} runs what can't be known")),
        (false, true) => addition(command),
        (false, false) => Some(format!("{name} has {}", addition(command)?)),
    }
}

/// Returns an assignment or a redirection that no pattern lists.
fn addition(command: &SimpleCommand) -> Option<String> {
    if !command.sets.is_empty() {
        let assignment = match command.assignments.first() {
            Some(word) => word.text.clone(),
            None => command.sets.join(", "),
        };
        return Some(format!("an assignment: {}", quoted(&assignment)));
    }
    for redirection in &command.redirections {
        let word = &redirection.word;
        // A shell may connect to a host to read a file below `/dev`.
        let is_read = redirection.operator == "<" && !word.text.starts_with("/dev/");
        let is_harmless = word.is_known() && (is_read || word.text == "/dev/null");
        if redirection.is_file() && !is_harmless {
            let reads = matches!(&*redirection.operator, "<" | "<&");
            let direction = if reads { "from" } else { "to" };
            return Some(format!("a redirection {direction} {}", quoted(&word.text)));
        }
    }
    None
}

fn uncertain(given: &Arguments<'_>, read: &CallReading<'_>) -> Option<String> {
    let command = given.command;
    let unknown = format!("{} can't be known before it runs", name_of(given));
    for word in command.words.iter().chain(&command.assignments).chain(command.documents()) {
        let may_vary = word.may_vary() && !(given.row.takes_any_option() && is_seen(word));
        if may_vary || finds_hidden(word) {
            return Some(format!("{unknown}: {}", quoted(&word.text)));
        }
    }
    if let Some(argument) = &read.reading.unknown_argument {
        return Some(format!("the argument {} of the call is not known", quoted(argument)));
    }
    if command.frame.more || !command.is_certain { Some(unknown) } else { None }
}

/// Returns whether rules that deny see all that a word may become: wildcards find files, and no other part
/// is unknown than the home, the directory and `$?`.
fn is_seen(word: &Word) -> bool {
    let mut text = word.text.replace("$?", "");
    for directory in ["$HOME", "$PWD"] {
        if let Some(rest) = text.strip_prefix(directory)
            && is_rest_of_path(rest)
        {
            text = rest.to_owned();
        }
    }
    let is_other = text.starts_with('=') || text.contains(['$', '`', '{', '(', '~', '[']);
    !is_other && word.certainty != Certainty::Invisible
}

/// Returns whether a wildcard finds files whose names begin with a dot, which the call may make before.
fn finds_hidden(word: &Word) -> bool {
    let mut parts = word.text.split('/');
    !word.is_literal() && parts.any(|part| part.starts_with('.') && part.contains(['*', '?', '[']))
}

/// Returns what a message calls a command of which not everything is known.
fn name_of(given: &Arguments<'_>) -> String {
    if given.command.words.is_empty() {
        return "the command".to_owned();
    }
    quoted(&shown(given))
}
