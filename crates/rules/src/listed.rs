//! Whether a command is a pattern of an allow, word for word.

use super::arguments::{Arguments, GivenOption};
use super::pattern::{Alternative, Pattern, PatternWord};
use super::table::{Row, may_be_code};
use hookexec_calls::Word;
use hookexec_calls::shell::SUBSTITUTED;
use hookexec_files::glob::glob;

impl Pattern {
    /// Returns whether a command is the pattern, word for word; `Err` says what a `*` does not take.
    /// `wrapped` are the words of commands that it runs, which must be listed, too.
    pub(super) fn lists(&self, given: &Arguments<'_>, wrapped: &[&Word]) -> Result<bool, String> {
        let Some(program) = given.command.words.first() else { return Ok(false) };
        if self.is_written_as(&given.command.words) {
            return Ok(true);
        }
        if !self.lists_program(&program.text, given) {
            return Ok(false);
        }
        for word in &self.without {
            if given.is_expanded() || self.excludes(word, given) {
                return Ok(false);
            }
        }
        let mut words = Vec::new();
        // How many operands stand before the next option, if no `*` does, and must stand before `-*`.
        let (mut before, mut any_from) = (Some(0), None);
        for (at, word) in self.words.iter().enumerate() {
            let mut behind = self.words[at + 1..].iter();
            let next = behind.find(|next| !next.is_any_option());
            if word.is_any_option() {
                any_from = any_from.or(Some(words.len()));
            } else if !word.alternatives.iter().any(Alternative::is_option) {
                words.push(word);
            } else if !has_only(word, next, before, given) {
                return Ok(false);
            }
            if word.is_any() {
                before = None;
            } else if let Some(count) = &mut before
                && word.is_operand()
            {
                *count += 1;
            }
        }
        if !operands_fit(&words, &given.operands) {
            return Ok(false);
        }
        let named = words.iter().position(|word| word.is_any()).unwrap_or(words.len());
        let is_open = matches!(words.last(), Some(word) if word.is_any());
        for option in &given.options {
            let is_any = matches!(any_from, Some(from) if option.operands_before >= from);
            if is_any || self.names_option(option, &given.row) {
                if !is_any && self.is_hazard(option, &given.row) {
                    return Err(option.word.text.clone());
                }
                continue;
            }
            // The table must tell whether an option takes the word behind it for its value.
            let is_known = option.operands_before >= named || given.row.names(&option.name);
            if !is_open || !is_known {
                return Ok(false);
            }
            let is_wrapped = wrapped.iter().any(|word| std::ptr::eq(*word, option.word));
            if !is_wrapped && !is_taken(option, given) {
                return Err(option.word.text.clone());
            }
            if let Some((word, value)) = option.value
                && (given.row.is_hazardous(word, value, true)
                    || !is_wrapped && !given.row.is_known && may_be_code(value))
            {
                return Err(word.text.clone());
            }
        }
        match refused_operand(named, any_from.is_some(), given, wrapped) {
            Some(word) => Err(word.text.clone()),
            None => Ok(true),
        }
    }

    /// Returns whether the table refuses the value of an option, which the pattern does not write out.
    fn is_hazard(&self, option: &GivenOption<'_>, row: &Row) -> bool {
        let Some((word, value)) = option.value else { return false };
        let mut written = self.written.split([' ', '=', '|']);
        row.is_hazardous(word, value, true) && !written.any(|part| part == value)
    }

    /// Returns whether the pattern names an option, with whatever value.
    fn names_option(&self, option: &GivenOption<'_>, row: &Row) -> bool {
        for word in &self.words {
            for one in &word.alternatives {
                if let Alternative::Option(name, _) = one
                    && !word.is_any_option()
                    && means(name, option, row)
                {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether the pattern lists the program of a command.
    fn lists_program(&self, program: &str, given: &Arguments<'_>) -> bool {
        let is_path = program.contains('/');
        // For all programs but some, a path leads to an unknown one.
        if self.other {
            return !is_path && matches!(&given.program, Some(name) if !self.is_named(name));
        }
        for name in &self.programs {
            // In quotes `~` is a directory, and without them it is not known.
            let may_be = !name.starts_with('~') && (name.contains('/') || !is_path);
            if may_be && is_text(name, program) {
                return true;
            }
        }
        false
    }
}

impl PatternWord {
    /// Returns whether an operand is one of the alternatives.
    fn lists(&self, operand: &Word) -> bool {
        for one in &self.alternatives {
            let is_text = match one {
                Alternative::Word(text) => is_text(text, &operand.text),
                _ => true,
            };
            if is_text && one.fits(operand) {
                return true;
            }
        }
        false
    }
}

/// Returns the words of the first command that belong to the commands which it runs.
pub(super) fn wrapped_words<'c>(commands: &[Arguments<'c>]) -> Vec<&'c Word> {
    let mut wrapped = Vec::new();
    let outer = commands[0].command;
    for inner in &commands[1..] {
        let inner = inner.command;
        if inner.frame.wrappers.len() <= outer.frame.wrappers.len() {
            break;
        }
        let windows = outer.words.windows(inner.words.len().max(1)).skip(1);
        let mut runs = windows.filter(|words| is_run_as(words, &inner.words));
        // Equal words may be words of the wrapper.
        if let (Some(run), None) = (runs.next(), runs.next()) {
            wrapped.extend(run);
        }
    }
    wrapped
}

/// Returns whether words are those of a command, in which each `{}` may have become another word.
pub(super) fn is_run_as(words: &[Word], command: &[Word]) -> bool {
    for (word, run) in words.iter().zip(command) {
        if word.text != run.text && run.text != SUBSTITUTED {
            return false;
        }
    }
    words.len() == command.len()
}

/// Returns whether a pattern means an option by this name, in which `*` stands for any letters.
fn means(name: &str, option: &GivenOption<'_>, row: &Row) -> bool {
    row.first_name(name) == option.name || name.contains('*') && glob(name, option.before_value())
}

/// Returns whether the final `*` takes an option: its whole name must be harmless, as programs differ in the
/// names that they complete.
fn is_taken(option: &GivenOption<'_>, given: &Arguments<'_>) -> bool {
    let written = option.before_value();
    let name = if written.starts_with("--") { written } else { &option.name };
    match name {
        "--" => !given.row.takes_no_operand(),
        name => given.row.is_harmless(name, option.is_behind),
    }
}

/// Returns whether a command has one of the options that a word of the pattern names, where the pattern has
/// it and before the next word of the pattern, and has it in no other way.
fn has_only(
    word: &PatternWord,
    next: Option<&PatternWord>,
    before: Option<usize>,
    given: &Arguments<'_>,
) -> bool {
    let mut found: Option<&str> = None;
    for option in &given.options {
        let (mut is_named, mut is_listed) = (false, false);
        for one in &word.alternatives {
            if let Alternative::Option(name, wanted) = one
                && means(name, option, &given.row)
            {
                is_named = true;
                if matches!(&word.cluster, Some(text) if !is_text(text, &option.word.text)) {
                    continue;
                }
                is_listed |= match (wanted, option.value) {
                    (None, _) => is_followed_by(option, next),
                    (Some(wanted), Some((_, value))) => is_text(wanted, value),
                    (Some(_), None) => false,
                };
            }
        }
        // The table may be wrong about which options take the word behind them.
        let is_elsewhere = matches!(before, Some(count) if option.operands_before != count);
        let is_unsure = is_elsewhere || option.is_before_off();
        if !is_named {
            continue;
        }
        let is_other = matches!(found, Some(name) if name != option.name);
        if !is_listed || is_unsure || is_other {
            return false;
        }
        found = Some(&option.name);
    }
    found.is_some() && word.is_certainly_in(given)
}

/// Returns whether the next word of a pattern is the value of an option, or stands behind it: only the
/// program knows which of the two it is.
fn is_followed_by(option: &GivenOption<'_>, next: Option<&PatternWord>) -> bool {
    let Some(next) = next else { return true };
    if next.is_any() || next.alternatives.iter().all(Alternative::is_option) {
        return true;
    }
    match (option.value, option.behind) {
        (Some((word, value)), _) => next.lists(&word.ending(value)),
        (None, Some(behind)) => next.lists(behind),
        (None, None) => false,
    }
}

/// Returns the operand for which a `*` does not stand, behind those that the pattern names.
fn refused_operand<'c>(
    named: usize,
    takes_any: bool,
    given: &Arguments<'c>,
    wrapped: &[&Word],
) -> Option<&'c Word> {
    let row = &given.row;
    let first = usize::from(row.has_subcommands);
    let is_behind_dashes = wrapped.is_empty() && given.has("--");
    // A long option that the table does not know may have taken the first operand.
    let mut shift = 0;
    for option in &given.options {
        shift += usize::from(option.value.is_none() && option.word.text.starts_with("--"));
    }
    for (at, operand) in given.operands.iter().enumerate().skip(named) {
        let text = operand.text.as_str();
        let is_unknown = !row.subcommands.is_empty() && !row.subcommands.contains(&text);
        if at == 0 && is_unknown || row.one && (at > named.max(first) || !operand.is_literal()) {
            return Some(operand);
        }
        // Behind `--` it is an option of another program, or of this one if `--` was a value.
        let name = text.split('=').next().unwrap_or_default();
        let is_option = text.len() > 1 && text.starts_with('-');
        if is_option && !takes_any && !row.is_harmless(name, true) {
            return Some(operand);
        }
        let is_hazardous = row.is_hazardous(operand, text, at <= shift);
        let is_own = !wrapped.iter().any(|word| std::ptr::eq(*word, *operand));
        let may_run = !row.is_known && is_own && (is_behind_dashes || may_be_code(text))
            || row.may_run(text, at.saturating_sub(shift));
        if is_hazardous || may_run || row.takes_no_operand() {
            return Some(operand);
        }
    }
    None
}

/// Returns whether operands are those of a pattern, in their order.
fn operands_fit(words: &[&PatternWord], operands: &[&Word]) -> bool {
    let (mut word_at, mut operand_at) = (0, 0);
    // Where the last `*` stands, and how far it reaches: only that one ever needs to take more.
    let mut any = None;
    while operand_at < operands.len() {
        match words.get(word_at) {
            Some(word) if word.is_any() => {
                any = Some((word_at, operand_at));
                word_at += 1;
            }
            Some(word) if word.lists(operands[operand_at]) => {
                word_at += 1;
                operand_at += 1;
            }
            _ => {
                let Some((at, reached)) = any else { return false };
                any = Some((at, reached + 1));
                (word_at, operand_at) = (at + 1, reached + 1);
            }
        }
    }
    words[word_at..].iter().all(|word| word.is_any())
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
