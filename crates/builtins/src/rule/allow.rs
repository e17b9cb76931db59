//! Whether an allow lists all of a call.

use std::borrow::Cow;
use std::path::PathBuf;

use super::arguments::{Arguments, GivenOption};
use super::call::CallReading;
use super::fit::{Fit, shown, word_fits};
use super::glob::glob;
use super::judge::{Conditions, Rule};
use super::keys::Otherwise;
use super::mentions::Mention;
use super::paths::PathPattern;
use super::pattern::{Alternative, Pattern, PatternWord};
use super::uses::Touch;
use crate::calls::{Hidden, Word};
use hookexec::wire::Output;
use hookexec_files::text::shortened;

impl Rule {
    pub(super) fn allowed(&self, read: &CallReading<'_>) -> Option<Output> {
        let sets: Vec<Vec<&Conditions>> = if self.any.is_empty() {
            vec![vec![&self.base]]
        } else {
            self.any.iter().map(|set| vec![&self.base, set]).collect()
        };
        match self.refusal(read, &sets) {
            Ok(()) => Some(Output::allow()),
            Err(None) => None,
            Err(Some(reason)) => Some(match self.otherwise {
                Some(Otherwise::Ask) => Output::ask(reason),
                Some(Otherwise::Deny) => Output::deny(reason),
                // It has no opinion, and `explain` says why.
                None => {
                    let mut output = Output::default();
                    output.reason = Some(reason);
                    output
                }
            }),
        }
    }

    /// Returns why a call is not allowed; nothing if the rule does not concern it.
    fn refusal(
        &self,
        read: &CallReading<'_>,
        sets: &[Vec<&Conditions>],
    ) -> Result<(), Option<String>> {
        let all = || sets.iter().flatten();
        let has_commands = all().any(|set| !set.commands.is_empty());
        let has_files = all().any(|set| set.names_files());
        let lists_tools = !self.base.tools.is_empty();
        let is_listed = !lists_tools || read.tool.is_certainly_one_of(&self.base.tools);
        if has_commands || has_files {
            let concerns = !lists_tools || read.tool.is_one_of(&self.base.tools);
            if !concerns || has_commands && !read.tool.is("shell") {
                return Err(None);
            }
        }
        if !is_listed {
            return Err(Some("the tool is not on the list of allowed tools".to_owned()));
        }
        if has_commands {
            return self.commands_refused(read, sets).map_or(Ok(()), |reason| Err(Some(reason)));
        }
        if has_files {
            return self.files_refused(read, sets).map_or(Ok(()), |reason| Err(Some(reason)));
        }
        if !lists_tools {
            return Err(None);
        }
        Ok(())
    }

    fn files_refused(&self, read: &CallReading<'_>, sets: &[Vec<&Conditions>]) -> Option<String> {
        if !read.tool.is_of_files() {
            return Some("the tool may do more than use files".to_owned());
        }
        if read.mentions.is_empty() {
            return Some("the call names no file".to_owned());
        }
        self.unlisted(read, sets, read.mentions.iter())
    }

    /// Returns what is said of the first file that no set lists.
    fn unlisted<'m>(
        &self,
        read: &CallReading<'_>,
        sets: &[Vec<&Conditions>],
        mut mentions: impl Iterator<Item = &'m Mention>,
    ) -> Option<String> {
        let is_unlisted =
            |one: &&Mention| !sets.iter().any(|set| self.file_is_listed(read, set, one));
        let found = mentions.find(is_unlisted)?;
        Some(format!("`{}` is not on the list of allowed files", found.shown))
    }

    fn file_is_listed(
        &self,
        read: &CallReading<'_>,
        sets: &[&Conditions],
        mention: &Mention,
    ) -> bool {
        if mention.open.is_some() || mention.paths.is_empty() {
            return false;
        }
        let names: Vec<PathBuf> =
            mention.paths.iter().flat_map(|path| read.real_names(path)).collect();
        let holds = |patterns: &[PathPattern]| {
            names.iter().all(|name| patterns.iter().any(|pattern| pattern.holds(name)))
        };
        sets.iter().all(|set| {
            let touches = set.touched == Touch::NONE || set.touched.covers(mention.touch);
            touches && (set.files.is_empty() || holds(&set.files))
        }) && !(self
            .except
            .files
            .iter()
            .any(|pattern| names.iter().any(|name| pattern.holds(name))))
    }

    fn commands_refused(
        &self,
        read: &CallReading<'_>,
        sets: &[Vec<&Conditions>],
    ) -> Option<String> {
        if read.commands.is_empty() {
            return Some("the call names no command".to_owned());
        }
        for (at, given) in read.commands.iter().enumerate() {
            if let Some(reason) = doubt(given) {
                return Some(reason);
            }
            let mut refused = None;
            let mut is_listed = false;
            for set in sets {
                for pattern in set.iter().flat_map(|set| &set.commands) {
                    match pattern.lists(given) {
                        Ok(true) => is_listed = true,
                        Ok(false) => {}
                        Err(word) => refused = refused.or(Some((word, &pattern.written))),
                    }
                }
            }
            let name = name_of(given);
            if self.is_excepted_from_allow(given) {
                return Some(format!("{name} is excepted"));
            }
            if !is_listed {
                return Some(match refused {
                    Some((word, pattern)) => {
                        format!(
                            "{name} is not listed: `*` in `{pattern}` does not stand for `{}`",
                            cut(&word)
                        )
                    }
                    None => format!("{name} is not listed"),
                });
            }
            if let Some(reason) = uncertain(given, read) {
                return Some(reason);
            }
            let files = sets.iter().flatten().any(|set| !set.files.is_empty());
            if files {
                let mentions = read.mentions.iter().filter(|mention| mention.command == Some(at));
                if let Some(reason) = self.unlisted(read, sets, mentions) {
                    return Some(reason);
                }
            }
        }
        None
    }

    fn is_excepted_from_allow(&self, given: &Arguments<'_>) -> bool {
        self.except.commands.iter().any(|pattern| pattern.finds(given) != Fit::No)
    }
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
    let has = |what: String| {
        if command.words.is_empty() { what } else { format!("{} has {what}", name_of(given)) }
    };
    if !command.sets.is_empty() {
        let assignment = command.assignments.first().map(|word| word.text.clone());
        let assignment = assignment.unwrap_or_else(|| command.sets.join(", "));
        return Some(has(format!("an assignment: `{}`", cut(&assignment))));
    }
    for redirection in command.redirections.iter().filter(|redirection| redirection.is_file()) {
        let is_known = redirection.word.is_known();
        let reads = matches!(&*redirection.operator, "<" | "<&");
        if is_known && redirection.word.text == "/dev/null" {
            continue;
        }
        let direction = if reads { "from" } else { "to" };
        return Some(has(format!("a redirection {direction} `{}`", cut(&redirection.word.text))));
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

/// Why an allow does not fit a command.
pub(super) type Refusal = String;

impl Pattern {
    /// Returns whether a command is the pattern, word for word; `Err` says what a `*` does not take.
    pub(super) fn lists(&self, given: &Arguments<'_>) -> Result<bool, Refusal> {
        let Some(program) = given.command.words.first() else { return Ok(false) };
        let is_it = |name: &str| {
            glob(name, &program.text) && (name.contains('/') || !program.text.contains('/'))
        };
        if !self.programs.iter().any(|name| is_it(name)) {
            return Ok(false);
        }
        let is_option = |one: &Alternative| matches!(one, Alternative::Option(..));
        let wanted = self.words.iter().filter(|word| word.alternatives.iter().any(is_option));
        let wanted: Vec<&PatternWord> = wanted.collect();
        if !wanted
            .iter()
            .all(|word| given.options.iter().any(|option| is_listed(word, option, given)))
        {
            return Ok(false);
        }
        let words = self.words.iter().filter(|word| !word.alternatives.iter().any(is_option));
        let words: Vec<&PatternWord> = words.collect();
        let is_open = words.last().is_some_and(|word| word.is_any());
        let named = words.iter().take_while(|word| !word.is_any()).count();
        if !operands_fit(&words, &given.operands) {
            return Ok(false);
        }
        for option in &given.options {
            if wanted.iter().any(|word| is_listed(word, option, given)) {
                continue;
            }
            if !is_open || option.operands_before == 0 && named > 0 {
                return Ok(false);
            }
            let value = option.value.map(|(_, value)| value);
            if given.row.is_hazard(&option.name, value) {
                return Err(option.word.text.clone());
            }
        }
        let taken = given.operands.iter().enumerate().skip(named);
        for (at, operand) in taken {
            if given.row.is_hazardous_operand(&operand.text, at == 0) {
                return Err(operand.text.clone());
            }
        }
        if is_open && given.row.hazards.contains(&"all") {
            return Err(program.text.clone());
        }
        Ok(true)
    }
}

/// Returns whether an option of the command is one that a word of an allow names.
fn is_listed(word: &PatternWord, option: &GivenOption<'_>, given: &Arguments<'_>) -> bool {
    word.alternatives.iter().any(|one| match one {
        Alternative::Option(name, None) => given.row.first_name(name) == option.name,
        Alternative::Option(name, Some(wanted)) => {
            let fits = option.value.is_some_and(|(_, value)| glob(wanted, value));
            given.row.first_name(name) == option.name && fits
        }
        _ => false,
    })
}

/// Returns whether operands are those of a pattern, in their order.
fn operands_fit(words: &[&PatternWord], operands: &[&Word]) -> bool {
    let Some((word, rest)) = words.split_first() else { return operands.is_empty() };
    if word.is_any() {
        return (0..=operands.len()).any(|taken| operands_fit(rest, &operands[taken..]));
    }
    let Some((operand, behind)) = operands.split_first() else { return false };
    word_fits(word, operand) && operands_fit(rest, behind)
}
