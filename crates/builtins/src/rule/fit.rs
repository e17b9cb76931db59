//! Whether a command fits a pattern.

use super::arguments::{Arguments, GivenOption};
use super::glob::glob;
use super::mentions::without_substitutions;
use super::pattern::{Alternative, Pattern, PatternWord, base};
use crate::builtins::protect_paths::words::UNKNOWN;
use crate::calls::{Certainty, Hidden, Word};
use crate::shell::unquoted;
use hookexec_files::text::name_length;

/// Whether something fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// It can't be known, because of this part of the call.
    Unknown(String),
}

impl Fit {
    /// Returns what holds for both of two conditions.
    pub(super) fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No => Self::No,
            Self::Yes => other(),
            Self::Unknown(part) => match other() {
                Self::No => Self::No,
                _ => Self::Unknown(part),
            },
        }
    }

    /// Returns the best of several.
    pub(super) fn best(all: impl IntoIterator<Item = Self>) -> Self {
        let mut best = Self::No;
        for fit in all {
            match fit {
                Self::Yes => return Self::Yes,
                Self::Unknown(_) if best == Self::No => best = fit,
                _ => {}
            }
        }
        best
    }
}

/// The text for a part of a command that no shell reads alike.
const UNREADABLE: &str = "the command";

impl Pattern {
    /// Returns whether a command has the words of the pattern, in whatever order.
    pub(super) fn finds(&self, given: &Arguments<'_>) -> Fit {
        let command = given.command;
        let own = match (&given.program, command.words.first()) {
            (Some(program), _) if self.is_for(program) => self.finds_words(given),
            (Some(_), _) | (None, None) => Fit::No,
            (None, Some(word)) => self.may_be_program(word, given),
        };
        if own == Fit::Yes {
            return own;
        }
        let hidden = match &command.hidden {
            // A program that is not known was looked at.
            Hidden::Anything if command.words.first().is_some_and(|word| !word.is_known()) => {
                Fit::No
            }
            Hidden::Anything => Fit::Unknown(shown(given)),
            Hidden::Words(words) if self.stands_in(words) => Fit::Unknown(shown(given)),
            Hidden::Nothing | Hidden::Words(_) => Fit::No,
        };
        if own == Fit::No { hidden } else { own }
    }

    /// Returns whether a command certainly has the words of the pattern, for an exception.
    pub(super) fn certainly_finds(&self, given: &Arguments<'_>) -> bool {
        let command = given.command;
        let is_known = command.hidden == Hidden::Nothing && !command.more;
        is_known
            && given.program.as_ref().is_some_and(|program| self.is_for(program))
            && self.words.iter().all(|word| certainly_has(word, given))
            && self.finds_words(given) == Fit::Yes
    }

    fn finds_words(&self, given: &Arguments<'_>) -> Fit {
        let mut unknown = None;
        let mut next = 0;
        for (at, word) in self.words.iter().enumerate() {
            if word.negated {
                if has_any(word, given) {
                    return Fit::No;
                }
                continue;
            }
            if word.is_any() {
                next = next.max(1);
                continue;
            }
            if !word.is_operand() {
                if !has_any(word, given) {
                    return Fit::No;
                }
                continue;
            }
            let is_first = self.words[..at].iter().all(|word| !word.is_operand() && !word.is_any());
            if is_first {
                let is_for_every = self.programs.iter().any(|name| name == "*");
                match first_operand(word, given) {
                    Fit::Unknown(_) if is_for_every => return Fit::No,
                    Fit::No => return Fit::No,
                    Fit::Yes => {}
                    Fit::Unknown(part) => unknown = Some(part),
                }
                next = 1;
                continue;
            }
            // Behind a `*` the first operand counts, too.
            let from = if self.words[..at].iter().any(PatternWord::is_any) && next == 1 {
                usize::from(self.words[..at].iter().any(PatternWord::is_operand))
            } else {
                next
            };
            let rest = given.operands.get(from..).unwrap_or_default();
            if given.command.assignments.iter().any(|assignment| word_fits(word, assignment)) {
                continue;
            }
            let Some(found) = rest.iter().position(|operand| word_fits(word, operand)) else {
                return Fit::No;
            };
            next = from + found + 1;
        }
        unknown.map_or(Fit::Yes, Fit::Unknown)
    }

    /// Returns whether a program that is not known may be one of the pattern, with its other words.
    fn may_be_program(&self, word: &Word, given: &Arguments<'_>) -> Fit {
        // A pattern for every program is about its words.
        if self.programs.iter().any(|name| name == "*") {
            return self.finds_words(given);
        }
        let known = &word.text[..word.known];
        let beginning = known.rsplit(['/', '\\']).next().unwrap_or(known).to_lowercase();
        let begins = |name: &str| base(name).starts_with(&beginning) || name.contains('*');
        if !self.programs.iter().any(|name| begins(name)) {
            return Fit::No;
        }
        // Without quotes it may be several words.
        let is_one = word.certainty != Certainty::Unknown || word.quoted;
        if is_one && self.finds_words(given) == Fit::No {
            return Fit::No;
        }
        Fit::Unknown(word.text.clone())
    }

    /// Returns whether one alternative of each word stands among words that can't be read.
    fn stands_in(&self, words: &[String]) -> bool {
        let stands = |text: &str| words.iter().any(|word| glob(text, word));
        let program = self.programs.iter().any(|name| {
            let name = base(name);
            name == "*"
                || words.iter().any(|word| glob(name, word.rsplit('/').next().unwrap_or(word)))
        });
        program
            && self.words.iter().filter(|word| !word.negated).all(|word| {
                word.alternatives.iter().any(|one| match one {
                    Alternative::Any | Alternative::Variable(_) => true,
                    Alternative::Word(text) => stands(text),
                    Alternative::Option(name, None) => {
                        stands(name) || words.iter().any(|word| is_cluster_with(word, name))
                    }
                    Alternative::Option(name, Some(value)) => stands(name) || stands(value),
                })
            })
    }
}

/// Returns the words of a command for people.
pub(super) fn shown(given: &Arguments<'_>) -> String {
    let words: Vec<&str> = given.command.words.iter().map(|word| word.text.as_str()).collect();
    if words.is_empty() { UNREADABLE.to_owned() } else { words.join(" ") }
}

/// Returns whether the first operand is a word of the pattern.
fn first_operand(word: &PatternWord, given: &Arguments<'_>) -> Fit {
    let Some(first) = given.operands.first() else {
        // Words that another program adds come at the end.
        let is_plain =
            |one: &Alternative| matches!(one, Alternative::Word(text) if !text.contains('*'));
        let may_come = given.command.more && word.alternatives.iter().any(is_plain);
        return if may_come { Fit::Unknown(shown(given)) } else { Fit::No };
    };
    if word_fits(word, first) {
        return Fit::Yes;
    }
    let known = known_parts(&first.text);
    let may_be = |one: &Alternative| match one {
        Alternative::Word(text) => !text.contains('*') && glob(&known, text),
        _ => false,
    };
    if !first.is_known() && word.alternatives.iter().any(may_be) {
        return Fit::Unknown(first.text.clone());
    }
    Fit::No
}

/// Returns the pattern of the texts that a word may become: `*` for each part that is not known.
fn known_parts(text: &str) -> String {
    let text = without_substitutions(&unquoted(text));
    let mut parts = text.split('$');
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        known.push('*');
        let rest = match part.strip_prefix('{') {
            Some(inside) => inside.split_once('}').map_or("", |(_, rest)| rest),
            None => &part[name_length(part)..],
        };
        known.push_str(rest);
    }
    known.replace([UNKNOWN, '?', '{'], "*")
}

/// Returns whether one alternative fits some word of the command.
fn has_any(word: &PatternWord, given: &Arguments<'_>) -> bool {
    word.alternatives.iter().any(|one| match one {
        Alternative::Any => !given.operands.is_empty(),
        Alternative::Word(_) => {
            let mut words = given.operands.iter().copied().chain(&given.command.assignments);
            words.any(|operand| fits(one, operand))
        }
        Alternative::Variable(_) => given.command.words.iter().any(|operand| fits(one, operand)),
        Alternative::Option(name, value) => has_option(name, value.as_deref(), given),
    })
}

/// Returns whether a word of the pattern can be judged without what is not known in the command.
fn certainly_has(word: &PatternWord, given: &Arguments<'_>) -> bool {
    if word.negated {
        return given.command.words.iter().all(Word::is_known);
    }
    word.alternatives.iter().any(|one| match one {
        Alternative::Any => true,
        Alternative::Option(name, value) => given.options.iter().any(|option| {
            let is_off = |value: &str| matches!(value, "false" | "none" | "no" | "0");
            let fits_value = match (value.as_deref(), option.value) {
                (None, Some((_, given))) => !is_off(given),
                (None, None) => true,
                (Some(wanted), Some((word, given))) => word.is_known() && glob(wanted, given),
                (Some(_), None) => false,
            };
            let word = option.word.text.split('=').next().unwrap_or_default();
            let is_it = option.name == given.row.first_name(name) || glob(name, word);
            is_it && fits_value
        }),
        _ => given.operands.iter().any(|operand| fits(one, operand)),
    })
}

fn word_fits(word: &PatternWord, operand: &Word) -> bool {
    word.alternatives.iter().any(|one| fits(one, operand))
}

/// Returns whether an operand fits an alternative.
fn fits(one: &Alternative, operand: &Word) -> bool {
    match one {
        Alternative::Any => true,
        // What is not known fits a pattern that is about how it is written, such as `*$(*`.
        Alternative::Word(text) if operand.is_known() => glob(text, &operand.text),
        Alternative::Word(text) => {
            let is_path = operand.certainty == Certainty::Paths && !text.contains('$');
            (is_path || text.contains('$')) && glob(text, &operand.text)
        }
        Alternative::Variable(name) => !operand.is_known() && holds_variable(&operand.text, name),
        Alternative::Option(..) => false,
    }
}

/// Returns whether a text has `$NAME` in it, with a name like the pattern.
fn holds_variable(text: &str, pattern: &str) -> bool {
    let mut parts = text.split('$').skip(1);
    parts.any(|part| {
        let part = part.trim_start_matches(['{', '!', '#']);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = part.find(|letter| !is_name(letter)).unwrap_or(part.len());
        end > 0 && glob(pattern, &part[..end])
    })
}

/// Returns whether a command has an option, however it is written.
fn has_option(name: &str, value: Option<&str>, given: &Arguments<'_>) -> bool {
    let row = &given.row;
    let first = row.first_name(name);
    let fits_value = |option: &GivenOption<'_>| match value {
        None => true,
        Some(wanted) => option.value.is_some_and(|(_, value)| glob(wanted, value)),
    };
    let is_it = |option: &GivenOption<'_>| {
        let written = &*option.name;
        if name.contains('*') {
            let word = option.word.text.split('=').next().unwrap_or_default();
            return glob(name, written) || glob(name, word);
        }
        let is_beginning = || {
            written.len() > 3 && written.starts_with("--") && name.starts_with(written)
                || row.completed(written).is_some_and(|whole| row.first_name(whole) == first)
        };
        let is_cluster = || !row.is_known && is_cluster_with(written, name);
        written == first || written.starts_with("--") && is_beginning() || is_cluster()
    };
    if given.options.iter().any(|option| is_it(option) && fits_value(option)) {
        return true;
    }
    // For a program outside of the table, the next word may be the value.
    if let Some(wanted) = value {
        return !row.is_known
            && given
                .command
                .words
                .windows(2)
                .any(|pair| pair[0].text == name && glob(wanted, &pair[1].text));
    }
    let has_form = |form: &&str| {
        if form.contains('+') && form.starts_with('-') {
            return form.split('+').all(|part| given.has(part));
        }
        !form.starts_with('-') && given.operands.iter().any(|word| glob(form, &word.text))
    };
    if row.forms(first).iter().any(has_form) {
        return true;
    }
    // `-rf` stands for both letters.
    let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() > 1);
    letters.filter(|_| !row.long).is_some_and(|letters| {
        letters.chars().all(|letter| has_option(&format!("-{letter}"), None, given))
    })
}

/// Returns whether a word is a cluster of letters with that of an option.
fn is_cluster_with(word: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    matches!((letter, letters), (Some(letter), Some(letters)) if letters.contains(letter))
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
