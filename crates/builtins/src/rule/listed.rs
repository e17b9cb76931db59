//! Whether a command is a pattern of an allow, word for word.

use super::arguments::{Arguments, GivenOption};
use super::fit::{certainly_has, fits};
use super::glob::glob;
use super::pattern::{Alternative, Pattern, PatternWord};
use crate::calls::Word;

impl Pattern {
    /// Returns whether a command is the pattern, word for word; `Err` says what a `*` does not take.
    pub(super) fn lists(&self, given: &Arguments<'_>) -> Result<bool, String> {
        let Some(program) = given.command.words.first() else { return Ok(false) };
        if !self.lists_program(&program.text, given) {
            return Ok(false);
        }
        // A word that the shell expands may become any other.
        let may_be_any = given.command.words.iter().any(Word::is_expanded);
        let (mut wanted, mut words) = (Vec::new(), Vec::new());
        for word in &self.words {
            if word.negated {
                if may_be_any || self.excludes(word, given) {
                    return Ok(false);
                }
            } else if word.alternatives.iter().any(Alternative::is_option) {
                wanted.push(word);
            } else {
                words.push(word);
            }
        }
        if !wanted.iter().all(|word| self.has_only(word, given) && certainly_has(word, given)) {
            return Ok(false);
        }
        let is_open = words.last().is_some_and(|word| word.is_any());
        let named = words.iter().take_while(|word| !word.is_any()).count();
        if !operands_fit(&words, &given.operands) {
            return Ok(false);
        }
        let takes_no_task = given.row.tasks && named > 0;
        for option in &given.options {
            if wanted.iter().any(|word| is_listed(word, option, given)) {
                continue;
            }
            if !is_open || option.operands_before < named {
                return Ok(false);
            }
            let value = option.value.map(|(_, value)| value);
            if given.row.is_hazard(&option.name, value, option.operands_before == 0) {
                return Err(option.word.text.clone());
            }
            // The table may be wrong about which options of this program take a value.
            if let Some((word, value)) = option.value
                && (word.is_expanded() && given.row.has_hazards(false)
                    || given.row.is_hazardous_value(value, option.operands_before == 0)
                    || takes_no_task
                        && !std::ptr::eq(word, option.word)
                        && !value.starts_with('-')
                        && value.parse::<f64>().is_err())
            {
                return Err(word.text.clone());
            }
        }
        if is_open
            && named == 0
            && !given.row.subcommands.is_empty()
            && let Some(first) = given.operands.first()
            && !given.row.subcommands.contains(&first.text.as_str())
        {
            return Err(first.text.clone());
        }
        // A long option that the table does not know may have taken the first operand.
        let alone = given.options.iter().filter(|option| option.value.is_none());
        let shift = alone.filter(|option| option.word.text.starts_with("--")).count();
        let taken = given.operands.iter().enumerate().skip(named);
        for (at, operand) in taken {
            // Behind `--` it is none, unless that was the value of an option.
            let is_number = operand.text.bytes().all(|byte| byte.is_ascii_digit());
            let is_more = takes_no_task && !is_number || given.row.one && at > named.max(1);
            let is_like_option =
                operand.text.starts_with('-') && given.row.is_like_hazard(&operand.text);
            let may_be_hazard = operand.is_expanded() && given.row.has_hazards(at <= shift);
            if is_like_option
                || is_more
                || may_be_hazard
                || given.row.is_hazardous_operand(&operand.text, at <= shift)
            {
                return Err(operand.text.clone());
            }
        }
        if is_open && given.row.hazards.contains(&"all") {
            return Err(program.text.clone());
        }
        Ok(true)
    }

    /// Returns whether the pattern lists the program of a command.
    fn lists_program(&self, program: &str, given: &Arguments<'_>) -> bool {
        let is_path = program.contains('/');
        // For all programs but some, a path leads to an unknown one.
        if self.other {
            let name = given.program.as_deref();
            return !is_path && name.is_some_and(|name| !self.is_named(name));
        }
        for name in &self.programs {
            if is_text(name, program) && (name.contains('/') || !is_path) {
                return true;
            }
        }
        false
    }

    /// Returns whether a command has an option that the pattern names, where the pattern has it, and has
    /// it in no other way.
    fn has_only(&self, word: &PatternWord, given: &Arguments<'_>) -> bool {
        let before = self.words.iter().take_while(|other| !std::ptr::eq(*other, word));
        let is_open = before.clone().any(PatternWord::is_any);
        let named = before.filter(|other| other.is_operand()).count();
        let mut is_there = false;
        for option in given.options.iter().filter(|option| is_named(word, option, given)) {
            if !is_listed(word, option, given) || !is_open && option.operands_before > named {
                return false;
            }
            is_there = true;
        }
        is_there
    }
}

/// Returns whether an option of the command has a name that a word of an allow has.
fn is_named(word: &PatternWord, option: &GivenOption<'_>, given: &Arguments<'_>) -> bool {
    word.alternatives.iter().any(|one| match one {
        Alternative::Option(name, _) => given.row.first_name(name) == option.name,
        _ => false,
    })
}

/// Returns whether an option of the command is one that a word of an allow names.
fn is_listed(word: &PatternWord, option: &GivenOption<'_>, given: &Arguments<'_>) -> bool {
    word.alternatives.iter().any(|one| match one {
        Alternative::Option(name, None) => given.row.first_name(name) == option.name,
        Alternative::Option(name, Some(wanted)) => {
            let fits = option.value.is_some_and(|(_, value)| is_text(wanted, value));
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
    is_listed_word(word, operand) && operands_fit(rest, behind)
}

fn is_listed_word(word: &PatternWord, operand: &Word) -> bool {
    word.alternatives.iter().any(|one| match one {
        Alternative::Word(text) => fits(one, operand) && is_text(text, &operand.text),
        _ => fits(one, operand),
    })
}

/// Returns whether a text fits a word of an allow. A `*` does not stand for `..`, for a wildcard that the
/// shell may read as `..`, nor for `:` or `@`, behind which another place may be named: `src/../../x`,
/// `src/.?/x`, `feature/x:main`, `host@other`.
fn is_text(pattern: &str, text: &str) -> bool {
    for part in ["..", ".?", ".*", ".[", "[[", "{", ":", "@", "=", "!", "$", "`", ";"] {
        if pattern.contains('*') && text.contains(part) && !pattern.contains(part) {
            return false;
        }
    }
    glob(pattern, text)
}
