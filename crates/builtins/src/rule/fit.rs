//! Whether a command fits a pattern.

use super::arguments::{Arguments, GivenOption};
use super::expand::{UNKNOWN, hidden, without_outputs};
use super::glob::{glob, glob_any_case};
use super::part::simplified;
use super::pattern::{Alternative, Pattern, PatternWord, base};
use super::table::Row;
use crate::calls::{Certainty, Hidden, Word, line_of};
use crate::shell::unquoted;
use hookexec_files::plain::line;
use hookexec_files::text::shortened;

/// Whether something fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does; the text says how, for a person.
    Yes(String),
    No,
    /// It can't be known, because of this part of the call.
    Unknown(String),
    /// It can't be known, because this command runs what can't be read; empty for a whole text.
    Hidden(String),
}

impl Fit {
    /// Returns what holds for both of two conditions.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes(one), Self::Yes(two)) => Self::Yes(format!("{one} and {two}")),
            (_, Self::No) => Self::No,
            (Self::Yes(_), other) => other,
            (own, _) => own,
        }
    }

    /// Returns what holds for one of two conditions.
    pub(super) fn or(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::No, _)
            | (Self::Unknown(_), Self::Yes(_))
            | (Self::Hidden(_), Self::Yes(_) | Self::Unknown(_)) => other,
            _ => self,
        }
    }

    pub(super) fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

impl Pattern {
    /// Returns whether a command has the words of the pattern, in whatever order.
    pub(super) fn finds(&self, given: &Arguments<'_>) -> Fit {
        let command = given.command;
        let own = match (&given.program, command.words.first()) {
            (Some(program), _) if self.is_for(program) => self.finds_words(given),
            (Some(_), _) | (None, None) => Fit::No,
            (None, Some(word)) => self.may_be_program(word, given),
        };
        let may_hide = match &command.hidden {
            // A program that is not known was looked at.
            Hidden::Anything => command.words.first().is_none_or(Word::is_known),
            Hidden::Words(words) => self.stands_in(words),
            Hidden::Nothing => false,
        };
        if own == Fit::No && may_hide { Fit::Hidden(shown(given)) } else { own }
    }

    /// Returns whether a command certainly has the words of the pattern, for an exception.
    pub(super) fn certainly_finds(&self, given: &Arguments<'_>) -> bool {
        let command = given.command;
        let is_known = command.hidden == Hidden::Nothing && !command.frame.more;
        is_known
            && given.program.as_ref().is_some_and(|program| self.is_for(program))
            && self.words.iter().all(|word| certainly_has(word, given))
            && !self.words.iter().any(|word| word.negated && self.excludes(word, given))
            && self.finds_words(given).is_yes()
    }

    /// Returns whether a command has a word that the pattern must not find. `!*` is about the operands
    /// beside those that the pattern names.
    pub(super) fn excludes(&self, word: &PatternWord, given: &Arguments<'_>) -> bool {
        if matches!(word.alternatives[..], [Alternative::Any]) {
            let named = self.words.iter().filter(|word| word.is_operand()).count();
            return given.operands.len() > named;
        }
        has_any(word, given)
    }

    /// Returns whether a command certainly has a word that the pattern must not find.
    fn certainly_excludes(&self, word: &PatternWord, given: &Arguments<'_>) -> bool {
        if !word.alternatives.iter().all(Alternative::is_option) {
            return self.excludes(word, given);
        }
        word.alternatives.iter().any(|one| match one {
            Alternative::Option(name, value) => certainly_has_option(name, value.as_deref(), given),
            _ => false,
        })
    }

    fn finds_words(&self, given: &Arguments<'_>) -> Fit {
        let mut unknown = None;
        // Where the next operand may stand, and which words of the pattern came before.
        let (mut next, mut seen_any, mut seen_operand) = (0, false, false);
        for word in &self.words {
            if word.negated && self.certainly_excludes(word, given) {
                return Fit::No;
            } else if word.is_any() {
                seen_any = true;
                next = next.max(1);
            } else if !word.is_operand() {
                if !word.negated && !has_any(word, given) {
                    return Fit::No;
                }
            } else if !seen_any && !seen_operand {
                let Some((at, part)) = first_operand(word, given) else { return Fit::No };
                if part.is_some() && self.is_for_many() {
                    return Fit::No;
                }
                (next, unknown, seen_operand) = (at + 1, part, true);
            } else {
                // Behind a `*` the first operand counts, too.
                let from = if seen_any && next == 1 { usize::from(seen_operand) } else { next };
                seen_operand = true;
                let rest = given.operands.get(from..).unwrap_or_default();
                if given.command.assignments.iter().any(|one| word_fits(word, one)) {
                    continue;
                }
                let Some(found) = rest.iter().position(|one| word_fits(word, one)) else {
                    return Fit::No;
                };
                next = from + found + 1;
            }
        }
        match unknown {
            Some(part) => Fit::Unknown(part),
            None => Fit::Yes(format!("fits `{}`", shortened(&line(&self.written), 100))),
        }
    }

    /// Returns whether a program that is not known may be one of the pattern, with its other words.
    fn may_be_program(&self, word: &Word, given: &Arguments<'_>) -> Fit {
        // A pattern for many programs is about its words.
        if self.is_for_many() {
            return self.finds_words(given);
        }
        let known = &word.text[..word.known];
        let beginning = known.rsplit(['/', '\\']).next().unwrap_or(known).to_lowercase();
        let mut names = self.programs.iter();
        if !names.any(|name| base(name).starts_with(&beginning) || name.contains('*')) {
            return Fit::No;
        }
        // It may be several words.
        let is_one = word.certainty != Certainty::Unknown;
        if is_one && self.finds_words(given) == Fit::No {
            return Fit::No;
        }
        Fit::Hidden(shown(given))
    }
}

impl Alternative {
    /// Returns whether it is one word without a `*`.
    fn is_plain(&self) -> bool {
        matches!(self, Self::Word(text) if !text.contains('*'))
    }
}

impl PatternWord {
    /// Returns whether a word of which these parts are known may become one of the alternatives.
    fn may_become(&self, known: &str) -> bool {
        self.alternatives.iter().any(|one| match one {
            Alternative::Word(text) => one.is_plain() && glob_any_case(known, text),
            _ => false,
        })
    }
}

/// Returns the words of a command for people.
pub(super) fn shown(given: &Arguments<'_>) -> String {
    line_of(&given.command.words)
}

/// Returns which operand is the first word of the pattern, and the part of it that is not known.
fn first_operand(word: &PatternWord, given: &Arguments<'_>) -> Option<(usize, Option<String>)> {
    let firsts = given.first_operands();
    // Words that another program adds come at the end.
    let may_come = given.command.frame.more && word.alternatives.iter().any(Alternative::is_plain);
    if firsts.is_empty() && may_come {
        return Some((0, Some(shown(given))));
    }
    for (at, first) in firsts.iter().enumerate() {
        if word_fits(word, first) {
            return Some((at, None));
        }
        if !first.is_known() && word.may_become(&known_parts(&first.text)) {
            return Some((at, Some(first.text.clone())));
        }
    }
    None
}

/// Returns the pattern of the texts that a word may become: `*` for each part that is not known.
fn known_parts(text: &str) -> String {
    // Shells differ in what stands for a letter in `$'..'`.
    if text.contains("$'") && text.contains('\\') {
        return "*".to_owned();
    }
    let text = simplified(&hidden(&unquoted(text)));
    let (before, behind) = match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => (&text[..=start], &text[end + 1..]),
        _ => (&*text, ""),
    };
    format!("{before}{behind}").replace([UNKNOWN, '?', '{'], "*")
}

/// Returns whether one alternative fits some word of the command.
fn has_any(word: &PatternWord, given: &Arguments<'_>) -> bool {
    word.alternatives.iter().any(|one| match one {
        Alternative::Any => !given.operands.is_empty(),
        // `xargs` adds words that are not known.
        Alternative::Variable(name) if name == "*" && given.command.frame.more => true,
        Alternative::Word(_) | Alternative::Variable(_) => {
            let mut words = given.operands.iter().copied().chain(&given.command.assignments);
            words.any(|word| fits_operand(one, word))
        }
        Alternative::Option(name, value) => has_option(name, value.as_deref(), given),
    })
}

/// Returns whether a word of the pattern can be judged without what is not known in the command.
pub(super) fn certainly_has(word: &PatternWord, given: &Arguments<'_>) -> bool {
    if word.negated {
        let are_options = word.alternatives.iter().all(Alternative::is_option);
        let mut words = given.command.words.iter();
        return words.all(|word| word.is_known() || are_options && !word.may_be_option());
    }
    word.alternatives.iter().any(|one| match one {
        Alternative::Option(name, value) => certainly_has_option(name, value.as_deref(), given),
        // An assignment is one only for a pattern of it, or where it names the database of SQL.
        Alternative::Word(text) if !text.contains('=') => {
            given.program.as_deref() == Some("sql")
                || given.operands.iter().any(|operand| fits(one, operand))
        }
        Alternative::Any | Alternative::Word(_) | Alternative::Variable(_) => true,
    })
}

/// Returns whether a command has an option that no other one takes for its value or takes back, and has
/// it each time with the value.
fn certainly_has_option(name: &str, wanted: Option<&str>, given: &Arguments<'_>) -> bool {
    let first = given.row.first_name(name);
    let mut is_there = false;
    for option in &given.options {
        if let Some(rest) = option.name.strip_prefix("--no-") {
            let off = format!("--{rest}");
            let mut forms = given.row.forms(first).iter();
            if name.starts_with(&off) || forms.any(|form| form.starts_with(&off)) {
                return false;
            }
        }
        if name.strip_prefix("--no").is_some_and(|rest| option.name.strip_prefix('-') == Some(rest))
        {
            return false;
        }
        if option.name != first && !glob(name, option.before_value()) {
            continue;
        }
        if given.may_be_value_of_unknown(option.word) {
            return false;
        }
        let is_switched_off = given.word_behind(option.word).is_some_and(|word| is_off(&word.text));
        if given.is_value(option.word) || is_switched_off || !is_certain(option, wanted) {
            return false;
        }
        is_there = true;
    }
    is_there
}

/// Returns whether a value switches an option off.
fn is_off(value: &str) -> bool {
    ["false", "f", "none", "no", "0"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

/// Returns whether an option has the wanted value, or is not switched off.
fn is_certain(option: &GivenOption<'_>, wanted: Option<&str>) -> bool {
    match (wanted, option.value) {
        (None, Some((_, given))) => !is_off(given),
        (None, None) => true,
        (Some(wanted), Some((word, given))) => word.is_known() && glob(wanted, given),
        (Some(_), None) => false,
    }
}

pub(super) fn word_fits(word: &PatternWord, operand: &Word) -> bool {
    word.alternatives.iter().any(|one| fits_operand(one, operand))
}

/// Returns whether an operand fits an alternative. To `git push`, `+main` is `main`, too.
fn fits_operand(one: &Alternative, operand: &Word) -> bool {
    let plain = operand.text.strip_prefix('+').map(Word::known);
    fits(one, operand) || plain.is_some_and(|plain| fits(one, &plain))
}

/// Returns whether an operand fits an alternative, in any case: many programs and systems take it so.
pub(super) fn fits(one: &Alternative, operand: &Word) -> bool {
    match one {
        Alternative::Any => true,
        // What is not known fits a pattern that is about how it is written, such as `*$(*`.
        Alternative::Word(text) if operand.is_known() => glob_any_case(text, &operand.text),
        // So does one whose known beginning fits up to a final `*`.
        Alternative::Word(text) => {
            let known = &operand.text[..operand.known];
            let begins = text.ends_with('*') && !known.is_empty() && glob_any_case(text, known);
            let is_path = operand.certainty == Certainty::Paths;
            begins || (is_path || text.contains('$')) && glob_any_case(text, &operand.text)
        }
        Alternative::Variable(name) => {
            let is_open = matches!(operand.certainty, Certainty::OneWord | Certainty::Unknown);
            if name == "*" {
                return is_open;
            }
            // A variable in a substitution is a word of another command.
            let text = without_outputs(&operand.text);
            !operand.is_known() && holds_variable(&text, name)
        }
        Alternative::Option(..) => false,
    }
}

/// Returns whether a text has `$NAME` in it, with a name like the pattern.
fn holds_variable(text: &str, pattern: &str) -> bool {
    let mut parts = text.split('$').skip(1);
    parts.any(|part| {
        let name = part.trim_start_matches(['{', '!']);
        let rest =
            name.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        // `${NAME:+set}` is another text.
        let is_other = part.starts_with('{') && (rest.starts_with(":+") || rest.starts_with('+'));
        let name = &name[..name.len() - rest.len()];
        !name.is_empty() && !is_other && glob(pattern, name)
    })
}

/// Returns whether a command has an option, however it is written.
fn has_option(name: &str, value: Option<&str>, given: &Arguments<'_>) -> bool {
    let row = &given.row;
    let first = row.first_name(name);
    for option in &given.options {
        let fits_value = match value {
            None => true,
            Some(wanted) => option.value.is_some_and(|(_, value)| glob(wanted, value)),
        };
        if fits_value && may_be(name, option, row) {
            return true;
        }
    }
    // Where the table does not know that the option takes a value, the pattern does.
    if let Some(wanted) = value {
        if row.takes_value(name) {
            return false;
        }
        let words = &given.command.words;
        if name.len() == 2 && words.iter().any(|word| glob(&format!("{name}{wanted}"), &word.text))
        {
            return true;
        }
        return words.windows(2).any(|pair| {
            let option = row.first_name(&pair[0].text);
            (option == first || glob(name, option)) && glob(wanted, &pair[1].text)
        });
    }
    for form in row.forms(first) {
        let has_form = if form.starts_with('-') {
            form.contains('+') && form.split('+').all(|part| given.has(part))
        } else {
            given.operands.iter().any(|word| glob(form, &word.text))
        };
        if has_form {
            return true;
        }
    }
    // `-rf` stands for both letters.
    let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() > 1);
    letters.filter(|_| !row.long).is_some_and(|letters| {
        letters.chars().all(|letter| has_option(&format!("-{letter}"), None, given))
    })
}

/// Returns whether an option of the command is the one that a pattern names, or the beginning of it.
fn may_be(name: &str, option: &GivenOption<'_>, row: &Row) -> bool {
    let written = &*option.name;
    if name.contains('*') {
        return glob(name, written) || glob(name, option.before_value());
    }
    let first = row.first_name(name);
    if written == first || !row.is_known && is_cluster_with(written, name) {
        return true;
    }
    if !written.starts_with("--") || written.len() <= 3 {
        return false;
    }
    name.starts_with(written) || row.forms(first).iter().any(|form| form.starts_with(written))
}

/// Returns whether a word is a cluster of letters with that of an option.
pub(super) fn is_cluster_with(word: &str, option: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    matches!((letter, letters), (Some(letter), Some(letters)) if letters.contains(letter))
}
