//! The table of options: twins, options that take a value, and the files that a program touches.
//!
//! The data is `options.txt`, whose head describes the rows. The build makes a table of it, and a
//! command joins the lines of its program.

use std::sync::LazyLock;

use super::arguments::Value;
use super::glob::{glob, glob_any_case, one_fits};
use super::uses::{Touch, Use, Which};
use hookexec_calls::Word;

include!(concat!(env!("OUT_DIR"), "/options.rs"));

/// The table of options, one program a row.
pub const OPTIONS: &str = include_str!("../data/options.txt");

/// One line of the table.
struct Line {
    /// The subcommands that it is for; all if there are none.
    subcommands: &'static [&'static str],
    flags: &'static [&'static str],
    twins: &'static [&'static [&'static str]],
    values: &'static [&'static str],
    uses: &'static [Use],
    hazards: &'static [&'static str],
    /// Programs whose hazards count, too.
    like: &'static [&'static str],
    known_subcommands: &'static [&'static str],
}

/// The rows of one program and subcommand, joined.
#[derive(Debug, Default, Clone)]
pub(super) struct Row {
    /// The names of one option each; the first one stands for all of them.
    twins: Vec<&'static [&'static str]>,
    /// Whether one dash with several letters is one option.
    pub(super) long: bool,
    /// Whether the program goes through the directories that it names.
    pub(super) deep: bool,
    /// Whether each operand is a task of its own.
    pub(super) tasks: bool,
    /// Whether the program runs commands of its input.
    pub(super) input: bool,
    /// Whether an allow takes one operand at most behind those that it names.
    pub(super) one: bool,
    values: Vec<&'static str>,
    pub(super) uses: Vec<&'static Use>,
    /// The words that the final `*` of an allow does not take.
    pub(super) hazards: Vec<&'static str>,
    /// Subcommands for which a misspelled one is probably meant.
    pub(super) subcommands: Vec<&'static str>,
    /// Whether the program stands in the table.
    pub(super) is_known: bool,
    /// Whether some rows are for a subcommand of the program.
    pub(super) has_subcommands: bool,
}

/// The row for all programs. It counts for an option that no row of the program names.
static OTHERS: LazyLock<Row> = LazyLock::new(|| Row::of("*", ""));

/// Returns the numbers of the lines of a program.
fn lines_of(program: &str) -> &'static [usize] {
    match PROGRAMS.binary_search_by_key(&program, |(name, _)| name) {
        Ok(at) => PROGRAMS[at].1,
        Err(_) => &[],
    }
}

impl Row {
    /// Returns what the table says of a program, and of its subcommand, which may be empty. A version may
    /// stand behind its name.
    pub(super) fn of(program: &str, subcommand: &str) -> Self {
        let mut lines = lines_of(program);
        if lines.is_empty() {
            let plain =
                program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
            lines = lines_of(plain.trim_end_matches('-'));
        }
        let mut row = Self::default();
        for at in lines {
            let line = &LINES[*at];
            row.is_known = true;
            row.has_subcommands |= !line.subcommands.is_empty();
            if line.subcommands.is_empty() || line.subcommands.contains(&subcommand) {
                row.add(line);
            }
        }
        row
    }

    fn add(&mut self, line: &'static Line) {
        self.long |= line.flags.contains(&"long");
        self.deep |= line.flags.contains(&"deep");
        self.tasks |= line.flags.contains(&"tasks");
        self.input |= line.flags.contains(&"input");
        self.one |= line.flags.contains(&"one");
        self.twins.extend(line.twins);
        self.values.extend(line.values);
        self.uses.extend(line.uses);
        self.hazards.extend(line.hazards);
        for program in line.like {
            self.hazards.extend(Self::of(program, "").hazards);
        }
        self.subcommands.extend(line.known_subcommands);
    }

    /// Returns the first name of an option.
    pub(super) fn first_name<'n>(&self, option: &'n str) -> &'n str
    where
        'static: 'n,
    {
        // Where one dash is enough, two mean the same.
        let option = match option.strip_prefix('-') {
            Some(short) if self.long && short.starts_with('-') && short.len() > 1 => short,
            _ => option,
        };
        match self.twins.iter().find(|twins| twins.contains(&option)) {
            Some(twins) => twins[0],
            None => option,
        }
    }

    /// Returns whether an option, or another form of it, begins like this.
    pub(super) fn begins(&self, beginning: &str, option: &str) -> bool {
        let mut forms = self.forms(self.first_name(option)).iter();
        option.starts_with(beginning) || forms.any(|form| form.starts_with(beginning))
    }

    /// Returns the other forms of an option: `-d+-f` for both together, `+*` for an operand.
    pub(super) fn forms(&self, first_name: &str) -> &[&'static str] {
        match self.twins.iter().find(|twins| twins[0] == first_name) {
            Some(twins) => &twins[1..],
            None => &[],
        }
    }

    /// Returns whether an option takes a word.
    pub(super) fn takes_value(&self, option: &str) -> bool {
        let name = self.first_name(option);
        let mut takes_value = false;
        for valued in &self.values {
            match valued.strip_prefix('!') {
                Some(flag) if glob(flag, option) => return false,
                Some(_) => {}
                None => takes_value |= glob(valued, option) || self.first_name(valued) == name,
            }
        }
        takes_value
    }

    /// Returns the names of the options of which a row says something.
    fn known_names(&self) -> impl Iterator<Item = &'static str> {
        self.twins.iter().copied().flatten().chain(&self.values).copied()
    }

    /// Returns whether a row says something of an option.
    pub(super) fn names(&self, option: &str) -> bool {
        one_fits(self.known_names(), option)
    }

    /// Returns the only long option that begins with `beginning`, if there is only one.
    pub(super) fn completed(&self, beginning: &str) -> Option<&'static str> {
        let mut names: Vec<_> = self.known_names().collect();
        names.retain(|name| name.starts_with("--") && name.starts_with(beginning));
        let first = *names.first()?;
        names.retain(|name| self.first_name(name) != self.first_name(first));
        if names.is_empty() { Some(first) } else { None }
    }

    /// Returns whether the final `*` of an allow does not take an option; `is_first`: whether it stands
    /// before the first operand.
    pub(super) fn is_hazard(&self, option: &str, value: Value<'_>, is_first: bool) -> bool {
        // Some programs take any number of dashes for two.
        if option.starts_with("---") || self.is_general_hazard(option) {
            return true;
        }
        for hazard in self.hazards_at(is_first) {
            let (hazard, wanted) = hazard.split_once('=').unwrap_or((hazard, "*"));
            // Without a value that is known it may have any.
            let has_other = matches!(value, Some((_, value)) if !glob(wanted, value));
            if hazard.starts_with('-') && !has_other && self.may_be_option(hazard, option) {
                return true;
            }
        }
        false
    }

    /// Returns whether a word is written like an option that the final `*` of an allow does not take.
    pub(super) fn is_like_hazard(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        let letters = if name.starts_with("--") || self.long { "" } else { &name[1..] };
        self.is_hazard(name, None, false)
            || letters.chars().any(|letter| self.is_hazard(&format!("-{letter}"), None, false))
    }

    /// Returns the hazards; those with a `^` only at the beginning of a command.
    fn hazards_at(&self, is_first: bool) -> Vec<&'static str> {
        let mut hazards = self.hazards.clone();
        hazards.retain(|hazard| is_first || !hazard.starts_with('^'));
        for hazard in &mut hazards {
            *hazard = hazard.trim_start_matches('^');
        }
        hazards
    }

    /// Returns whether an option is a hazard by one of its names, or the beginning of a long one.
    fn may_be_option(&self, hazard: &str, option: &str) -> bool {
        let first = self.first_name(hazard);
        if is_like(hazard, option) || first == self.first_name(option) {
            return true;
        }
        if option.len() <= 2 || !option.starts_with("--") || self.names(option) {
            return false;
        }
        self.begins(option, hazard)
    }

    /// Returns whether an option is named like one that runs or writes something, and no row of the
    /// program knows better.
    fn is_general_hazard(&self, option: &str) -> bool {
        let switches_off = option.starts_with("--no-")
            || option.starts_with("--ignore-")
            || option.starts_with("--skip-");
        if switches_off || self.names(option) {
            return false;
        }
        let option = option.to_ascii_lowercase();
        // A short option of a program in the table is known; in another, several letters may be a name.
        let long = if option.starts_with("--") { option.clone() } else { format!("-{option}") };
        for hazard in &OTHERS.hazards {
            let may_be = hazard.starts_with("--") || !self.is_known;
            if may_be && (glob(hazard, &option) || glob(hazard, &long)) {
                return true;
            }
        }
        false
    }

    /// Returns whether the final `*` of an allow does not take an operand; `is_first`: whether it may be
    /// the first.
    pub(super) fn is_hazardous_operand(&self, operand: &Word, is_first: bool) -> bool {
        self.hazards_at(is_first).contains(&"*")
            || self.is_hazardous_value(operand, &operand.text, is_first)
    }

    /// Returns whether the final `*` of an allow does not take what is the value of an option, but may be an
    /// operand, as the table may be wrong about this program.
    pub(super) fn is_hazardous_value(&self, word: &Word, text: &str, is_first: bool) -> bool {
        for hazard in self.hazards_at(is_first) {
            let is_option = hazard.starts_with('-');
            // The shell may make any operand of it.
            if word.is_expanded() && !is_option {
                return true;
            }
            let fits = match hazard {
                "*" => false,
                "all" => true,
                "=" => has_odd_value(text),
                // The option may be written as an operand: `+x`.
                _ if is_option => one_fits(self.forms(self.first_name(hazard)), text),
                _ => is_like(hazard, text),
            };
            if fits {
                return true;
            }
        }
        false
    }
}

/// Returns whether a word is like a hazard. Case counts only in short options.
fn is_like(hazard: &str, word: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    if is_short { glob(hazard, word) } else { glob_any_case(hazard, word) }
}

/// Returns whether a text is an assignment of a value that is not one plain word for a shell.
fn has_odd_value(text: &str) -> bool {
    let Some((_, value)) = text.split_once('=') else { return false };
    value.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"_-.,:@%+".contains(letter))
}
