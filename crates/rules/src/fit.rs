//! Whether a command fits a pattern.

use super::arguments::{Arguments, GivenOption};
use super::pattern::{Alternative, Pattern, PatternWord, base};
use super::table::Row;
use hookexec_calls::shell::{UNKNOWN, hidden, unquoted, without_outputs};
use hookexec_calls::wildcard::simplified;
use hookexec_calls::{Certainty, Hidden, Word, line_of};
use hookexec_files::glob::{glob, glob_any_case};
use hookexec_files::plain::line;
use hookexec_files::text::shortened;

/// Whether something fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does; the text says how, for a person.
    Yes(String),
    No,
    /// It would, but an exception takes it away; the text says which.
    Excepted(String),
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
            (_, other @ (Self::No | Self::Excepted(_))) | (Self::Yes(_), other) => other,
            (own, _) => own,
        }
    }

    /// Returns what holds for one of two conditions.
    pub(super) fn or(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }

    /// Returns how much it counts beside another one.
    fn weight(&self) -> u8 {
        match self {
            Self::No => 0,
            Self::Excepted(_) => 1,
            Self::Hidden(_) => 2,
            Self::Unknown(_) => 3,
            Self::Yes(_) => 4,
        }
    }

    pub(super) fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

impl Pattern {
    /// Returns whether a command has the words of the pattern, in whatever order.
    pub(super) fn finds(&self, given: &Arguments<'_>) -> Fit {
        let first = given.command.words.first();
        let own = match (&given.program, first) {
            (Some(program), _) if self.is_for(program) => self.finds_words(given, false),
            (Some(_), _) | (None, None) => Fit::No,
            (None, Some(word)) => self.may_be_program(word, given),
        };
        let may_hide = match &given.command.hidden {
            Hidden::Anything => true,
            Hidden::Words(words) => self.stands_in(words),
            Hidden::Nothing => false,
        };
        if own == Fit::No && may_hide { Fit::Hidden(shown(given)) } else { own }
    }

    /// Returns whether a command certainly has the words of the pattern, for an exception.
    pub(super) fn certainly_finds(&self, given: &Arguments<'_>) -> bool {
        let Some(program) = &given.program else { return false };
        if given.command.hidden != Hidden::Nothing || given.command.frame.more {
            return false;
        }
        self.is_for(program)
            && self.words.iter().all(|word| word.is_certainly_in(given))
            && self.without.iter().all(|word| self.is_certainly_without(word, given))
            && self.finds_words(given, true).is_yes()
    }

    /// Returns whether a command certainly has no word that the pattern must not find.
    fn is_certainly_without(&self, word: &PatternWord, given: &Arguments<'_>) -> bool {
        let are_options = word.alternatives.iter().all(Alternative::is_option);
        for word in &given.command.words {
            let may_be = !word.is_known() && !is_below_host(word);
            if may_be && (!are_options || word.may_be_option()) {
                return false;
            }
        }
        !self.excludes(word, given)
    }

    /// Returns whether a command has a word that the pattern must not find. `!*` is about the operands
    /// beside those that the pattern names.
    pub(super) fn excludes(&self, word: &PatternWord, given: &Arguments<'_>) -> bool {
        if !word.is_any() {
            return word.is_in(given);
        }
        let mut named = 0;
        for word in &self.words {
            named += usize::from(word.is_operand());
        }
        given.operands.len() > named
    }

    /// Returns whether a command certainly has a word that the pattern must not find.
    fn certainly_excludes(&self, word: &PatternWord, given: &Arguments<'_>) -> bool {
        if word.alternatives.iter().all(Alternative::is_option) {
            return word.is_certainly_in(given);
        }
        self.excludes(word, given) && word.is_certainly_in(given)
    }

    /// Looks for the words of the pattern. With `is_certain`, `--env=prod` does not count as `--env prod`.
    fn finds_words(&self, given: &Arguments<'_>, is_certain: bool) -> Fit {
        let mut unknown = None;
        // Where the next operand may stand, and whether it must be the first.
        let (mut next, mut is_first) = (0, true);
        if self.without.iter().any(|word| self.certainly_excludes(word, given)) {
            return Fit::No;
        }
        let mut before = None;
        for word in &self.words {
            // `--env prod` of the pattern is also `--env=prod`.
            let option = before.replace(word);
            if word.is_any() {
                is_first = false;
            } else if matches!(option, Some(option) if !is_certain && option.has_value(word, given))
            {
                // It is found.
            } else if !word.is_operand() {
                if !word.is_in(given) {
                    return Fit::No;
                }
            } else if is_first {
                let Some((at, part)) = first_operand(word, given) else { return Fit::No };
                if part.is_some() && self.is_for_many() {
                    return Fit::No;
                }
                (next, unknown, is_first) = (at + 1, part, false);
            } else if given.command.assignments.iter().any(|one| word.fits(one)) {
                // Behind an assignment the first operand is none of the pattern's.
                next = next.max(1);
            } else {
                let rest = given.operands.get(next..).unwrap_or_default();
                let Some(found) = rest.iter().position(|one| word.fits(one)) else {
                    return Fit::No;
                };
                next += found + 1;
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
            return self.finds_words(given, false);
        }
        let known = &word.text[..word.known];
        let beginning = known.rsplit(['/', '\\']).next().unwrap_or(known).to_lowercase();
        let mut names = self.programs.iter();
        if !names.any(|name| base(name).starts_with(&beginning) || name.contains('*')) {
            return Fit::No;
        }
        // If it may be several words, it may have those of the pattern, too.
        if word.certainty != Certainty::Unknown && self.finds_words(given, false) == Fit::No {
            return Fit::No;
        }
        Fit::Hidden(shown(given))
    }
}

impl PatternWord {
    /// Returns whether it is an option that a command has with one of these words for its value.
    fn has_value(&self, words: &Self, given: &Arguments<'_>) -> bool {
        for one in &self.alternatives {
            let Alternative::Option(name, None) = one else { return false };
            for word in &words.alternatives {
                if let Alternative::Word(value) = word
                    && has_option(name, Some(value), given)
                {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether an operand or an assignment fits one of the alternatives. To `git push`, `+main`
    /// is `main`, too.
    fn fits(&self, word: &Word) -> bool {
        self.alternatives.iter().any(|one| one.fits_with_sign(word))
    }

    /// Returns whether a command has a word like one of the alternatives.
    fn is_in(&self, given: &Arguments<'_>) -> bool {
        self.alternatives.iter().any(|one| one.is_in(given))
    }

    /// Returns whether a command has a word like one of the alternatives, whatever is not known in it.
    pub(super) fn is_certainly_in(&self, given: &Arguments<'_>) -> bool {
        self.alternatives.iter().any(|one| one.is_certainly_in(given))
    }

    /// Returns whether a word of which these parts are known may become one of the alternatives.
    fn may_become(&self, known: &str) -> bool {
        self.alternatives.iter().any(|one| match one {
            Alternative::Word(text) => !text.contains('*') && glob_any_case(known, text),
            _ => false,
        })
    }
}

/// Returns whether a word is one address, of which only a part behind the host is not known.
fn is_below_host(word: &Word) -> bool {
    let known = &word.text[..word.known];
    let is_one = word.certainty == Certainty::OneWord;
    is_one && matches!(known.split_once("://"), Some((_, behind)) if behind.contains('/'))
}

/// Returns the words of a command for people.
pub(super) fn shown(given: &Arguments<'_>) -> String {
    line_of(&given.command.words)
}

/// Returns which operand is the first word of the pattern, and the part of it that is not known.
fn first_operand(word: &PatternWord, given: &Arguments<'_>) -> Option<(usize, Option<String>)> {
    let firsts = given.first_operands();
    // Words that another program adds come at the end.
    if firsts.is_empty() && given.command.frame.more && word.may_become("*") {
        return Some((0, Some(shown(given))));
    }
    for (at, first) in firsts.iter().enumerate() {
        if word.fits(first) {
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

impl Alternative {
    /// Returns whether a command has a word like it.
    fn is_in(&self, given: &Arguments<'_>) -> bool {
        match self {
            Self::Any => !given.operands.is_empty(),
            // `xargs` adds words that are not known.
            Self::Variable(name) if name == "*" && given.command.frame.more => true,
            Self::Word(_) | Self::Variable(_) => {
                let mut words = given.operands.iter().copied().chain(&given.command.assignments);
                words.any(|word| self.fits_with_sign(word))
            }
            Self::Option(name, value) => has_option(name, value.as_deref(), given),
        }
    }

    /// Returns whether a command has a word like it, whatever is not known in the command.
    fn is_certainly_in(&self, given: &Arguments<'_>) -> bool {
        match self {
            Self::Option(name, value) => certainly_has_option(name, value.as_deref(), given),
            // The words before SQL name its database.
            Self::Word(_) if given.program.as_deref() == Some("sql") => {
                let assignments = given.command.assignments.iter();
                let mut words = assignments.chain(given.operands.iter().copied());
                words.any(|word| word.is_known() && self.fits(word))
            }
            Self::Word(text) if text.contains('=') => certainly_has_assignment(text, given),
            Self::Word(_) => given.operands.iter().any(|operand| self.fits(operand)),
            Self::Any | Self::Variable(_) => true,
        }
    }

    /// Returns whether an operand fits, or what stands behind its `+`.
    fn fits_with_sign(&self, operand: &Word) -> bool {
        match operand.text.strip_prefix('+') {
            Some(plain) => self.fits(operand) || self.fits(&Word::known(plain)),
            None => self.fits(operand),
        }
    }

    /// Returns whether an operand fits, in any case: many programs and systems take it so.
    pub(super) fn fits(&self, operand: &Word) -> bool {
        match self {
            Self::Any => true,
            // What is not known fits a pattern that is about how it is written, such as `*$(*`.
            Self::Word(text) if operand.is_known() => glob_any_case(text, &operand.text),
            // So does one whose known beginning fits up to a final `*`.
            Self::Word(text) => {
                let known = &operand.text[..operand.known];
                let begins = text.ends_with('*') && !known.is_empty() && glob_any_case(text, known);
                let is_path = operand.certainty == Certainty::Paths;
                begins || (is_path || text.contains('$')) && glob_any_case(text, &operand.text)
            }
            Self::Variable(name) if name == "*" => {
                matches!(operand.certainty, Certainty::OneWord | Certainty::Unknown)
            }
            // A variable in a substitution is a word of another command.
            Self::Variable(name) => {
                !operand.is_known() && holds_variable(&without_outputs(&operand.text), name)
            }
            Self::Option(..) => false,
        }
    }
}

/// Returns whether a command has an assignment, and none to the same name that does not fit. Letter case
/// counts: `rails_env` is another variable.
fn certainly_has_assignment(text: &str, given: &Arguments<'_>) -> bool {
    let mut words: Vec<&Word> = given.command.assignments.iter().collect();
    words.extend(&given.operands);
    let mut name = None;
    for word in &words {
        if word.is_known() && glob(text, &word.text) {
            name = word.text.split('=').next();
        }
    }
    let Some(name) = name else { return false };
    for word in words {
        let own_name = word.text.split('=').next().unwrap_or_default();
        let fits = word.is_known() && glob(text, &word.text);
        if own_name.eq_ignore_ascii_case(name) && !fits {
            return false;
        }
    }
    true
}

/// Returns whether a command has an option that no other one takes for its value or takes back, and has
/// it each time with the value.
fn certainly_has_option(name: &str, wanted: Option<&str>, given: &Arguments<'_>) -> bool {
    let first = given.row.first_name(name);
    let mut is_there = false;
    for option in &given.options {
        if takes_back(option, name, &given.row) {
            return false;
        }
        if option.name != first && !glob(name, option.before_value()) {
            continue;
        }
        if given.may_be_value(option.word) || !is_certain(option, wanted, given) {
            return false;
        }
        is_there = true;
    }
    is_there
}

/// Returns whether an option takes back the one with this name: `--no-x` takes back `--x`, and `-x` takes
/// back `--nox`.
fn takes_back(option: &GivenOption<'_>, name: &str, row: &Row) -> bool {
    match (option.name.strip_prefix("--no-"), name.strip_prefix("--no")) {
        (Some(rest), _) if row.begins(&format!("--{rest}"), name) => true,
        (_, Some(rest)) => option.name.strip_prefix('-') == Some(rest),
        _ => false,
    }
}

/// Returns whether an option has the wanted value, or is not switched off: by a value, or by the word
/// behind it if that may be its value.
fn is_certain(option: &GivenOption<'_>, wanted: Option<&str>, given: &Arguments<'_>) -> bool {
    match (wanted, option.value) {
        (None, Some((_, value))) => !is_off(value),
        (None, None) => !option.is_before_off() || !given.may_take_behind(option),
        (Some(wanted), Some((word, given))) => word.is_known() && glob(wanted, given),
        // The pattern says that it takes one.
        (Some(wanted), None) => {
            let behind = option.behind.filter(|word| word.is_known() && glob(wanted, &word.text));
            behind.is_some() && given.may_take_behind(option)
        }
    }
}

impl GivenOption<'_> {
    /// Returns whether a word behind the option would switch it off if it were its value.
    pub(super) fn is_before_off(&self) -> bool {
        matches!(self.behind, Some(behind) if is_off(&behind.text))
    }
}

/// Returns whether a value switches an option off.
fn is_off(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(&*value, "" | "false" | "f" | "none" | "no" | "null") || value.parse() == Ok(0.0)
}

/// Returns whether a text has `$NAME` in it, with a name like the pattern.
fn holds_variable(text: &str, pattern: &str) -> bool {
    for part in text.split('$').skip(1) {
        let name = part.trim_start_matches(['{', '!']);
        let rest =
            name.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        // `${NAME:+set}` is another text.
        let is_other = part.starts_with('{') && (rest.starts_with(":+") || rest.starts_with('+'));
        let name = &name[..name.len() - rest.len()];
        if !name.is_empty() && !is_other && glob(pattern, name) {
            return true;
        }
    }
    false
}

/// Returns whether a command has an option, however it is written.
fn has_option(name: &str, value: Option<&str>, given: &Arguments<'_>) -> bool {
    let row = &given.row;
    for option in &given.options {
        let fits_value = match (value, option.value) {
            (None, _) => true,
            (Some(wanted), Some((_, value))) => glob_any_case(wanted, value),
            (Some(_), None) => false,
        };
        if fits_value && may_be(name, option, row) {
            return true;
        }
    }
    if let Some(wanted) = value {
        return !row.takes_value(name) && stands_before(name, wanted, given);
    }
    for form in row.forms(row.first_name(name)) {
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
    let letters = name.strip_prefix('-').unwrap_or_default();
    if letters.starts_with('-') || letters.len() < 2 || row.long {
        return false;
    }
    letters.chars().all(|letter| has_option(&format!("-{letter}"), None, given))
}

/// Returns whether an option stands before a value in a command: where the table does not know that the
/// option takes a value, the pattern does.
fn stands_before(name: &str, wanted: &str, given: &Arguments<'_>) -> bool {
    let joined = format!("{name}{wanted}");
    let mut is_behind = false;
    for word in &given.command.words {
        let is_joined = name.len() == 2 && word.text.starts_with(name);
        if is_behind && glob_any_case(wanted, &word.text)
            || is_joined && glob_any_case(&joined, &word.text)
        {
            return true;
        }
        let option = given.row.first_name(&word.text);
        is_behind = option == given.row.first_name(name) || glob(name, option);
    }
    false
}

/// Returns whether an option of the command is the one that a pattern names, or the beginning of it.
fn may_be(name: &str, option: &GivenOption<'_>, row: &Row) -> bool {
    let written = &*option.name;
    if name.contains('*') {
        return glob(name, written) || glob(name, option.before_value());
    }
    if written == row.first_name(name) || !row.is_known && is_cluster_with(written, name) {
        return true;
    }
    // The whole name of another option is not a beginning.
    written.starts_with("--")
        && written.len() > 3
        && !row.names(written)
        && row.begins(written, name)
}

/// Returns whether a word is a cluster of letters with that of an option.
pub(super) fn is_cluster_with(word: &str, option: &str) -> bool {
    let (Some(letter), Some(letters)) = (option.strip_prefix('-'), word.strip_prefix('-')) else {
        return false;
    };
    letter.len() == 1 && !letters.starts_with('-') && letters.contains(letter)
}
