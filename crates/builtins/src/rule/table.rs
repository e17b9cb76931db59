//! The table of options: twins, options that take a value, and the files that a program touches.
//!
//! The data is `options.txt`, whose head describes the rows. The build makes a table of it, and a
//! command joins the lines of its program.

use std::sync::LazyLock;

use super::glob::{glob, glob_any_case};
use super::uses::{Touch, Use, Which};

include!(concat!(env!("OUT_DIR"), "/options.rs"));

/// The table of options, one program a row.
pub const OPTIONS: &str = include_str!("../../data/options.txt");

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
static OTHERS: LazyLock<Row> = LazyLock::new(|| Row::of("*", None));

/// Returns the numbers of the lines of a program.
fn lines_of(program: &str) -> Option<&'static [usize]> {
    let at = PROGRAMS.binary_search_by_key(&program, |(name, _)| name).ok()?;
    Some(PROGRAMS[at].1)
}

impl Row {
    /// Returns what the table says of a program, and of its subcommand. A version may stand behind its
    /// name.
    pub(super) fn of(program: &str, subcommand: Option<&str>) -> Self {
        let mut row = Self::default();
        let plain =
            program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let lines = lines_of(program).or_else(|| lines_of(plain.trim_end_matches('-')));
        for at in lines.unwrap_or_default() {
            let line = &LINES[*at];
            row.is_known = true;
            row.has_subcommands |= !line.subcommands.is_empty();
            let is_here = subcommand.is_some_and(|name| line.subcommands.contains(&name));
            if line.subcommands.is_empty() || is_here {
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
            self.hazards.extend(Self::of(program, None).hazards);
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
        let twins = self.twins.iter().find(|twins| twins.contains(&option));
        twins.map_or(option, |twins| twins[0])
    }

    /// Returns the other forms of an option: `-d+-f` for both together, `+*` for an operand.
    pub(super) fn forms(&self, first_name: &str) -> &[&'static str] {
        let twins = self.twins.iter().find(|twins| twins[0] == first_name);
        twins.map(|twins| &twins[1..]).unwrap_or_default()
    }

    /// Returns whether an option takes a word.
    pub(super) fn takes_value(&self, option: &str) -> bool {
        let name = self.first_name(option);
        let mut flags = self.values.iter().filter_map(|valued| valued.strip_prefix('!'));
        !flags.any(|flag| glob(flag, option))
            && self
                .values
                .iter()
                .any(|valued| glob(valued, option) || self.first_name(valued) == name)
    }

    /// Returns whether a row says something of an option.
    pub(super) fn names(&self, option: &str) -> bool {
        let mut names = self.twins.iter().copied().flatten().chain(&self.values);
        names.any(|name| glob(name, option))
    }

    /// Returns the only long option that begins with `beginning`, if there is only one.
    pub(super) fn completed(&self, beginning: &str) -> Option<&'static str> {
        let names = self.twins.iter().copied().flatten().chain(&self.values).copied();
        let mut found = names.filter(|name| name.starts_with("--") && name.starts_with(beginning));
        let first = found.next()?;
        let name = self.first_name(first);
        if found.all(|other| self.first_name(other) == name) { Some(first) } else { None }
    }

    /// Returns whether the final `*` of an allow does not take an option; `is_before`: whether it stands
    /// before the first operand.
    pub(super) fn is_hazard(&self, option: &str, value: Option<&str>, is_before: bool) -> bool {
        // Some programs take any number of dashes for two.
        if option.starts_with("---") || self.is_general_hazard(option) {
            return true;
        }
        for hazard in &self.hazards {
            let hazard = match hazard.strip_prefix('^') {
                Some(hazard) if is_before => hazard,
                _ => hazard,
            };
            let (hazard, wanted) = hazard.split_once('=').unwrap_or((hazard, "*"));
            if hazard.starts_with('-')
                && self.may_be_option(hazard, option)
                && value.is_none_or(|value| glob(wanted, value))
            {
                return true;
            }
        }
        false
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
        let names = self.forms(first);
        hazard.starts_with(option) || names.iter().any(|name| name.starts_with(option))
    }

    /// Returns whether an option is named like one that runs or writes something, and no row of the
    /// program knows better.
    fn is_general_hazard(&self, option: &str) -> bool {
        let is_off = ["--no-", "--ignore-", "--skip-"].iter().any(|off| option.starts_with(off));
        if is_off || self.names(option) {
            return false;
        }
        let option = option.to_ascii_lowercase();
        // A short option of a program in the table is known; in another, several letters may be a name.
        let is_long = option.starts_with("--") || option.len() < 3;
        let long = if is_long { option.clone() } else { format!("-{option}") };
        OTHERS.hazards.iter().any(|hazard| {
            let may_be = hazard.starts_with("--") || !self.is_known;
            may_be && (glob(hazard, &option) || glob(hazard, &long))
        })
    }

    /// Returns whether a word is written like an option that the final `*` of an allow does not take.
    pub(super) fn is_like_hazard(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        let letters = if name.starts_with("--") || self.long { "" } else { &name[1..] };
        self.is_hazard(name, None, false)
            || letters.chars().any(|letter| self.is_hazard(&format!("-{letter}"), None, false))
    }

    /// Returns whether the final `*` of an allow does not take a word where the table says that it is
    /// the value of an option; `is_first`: whether it stands before the first operand.
    pub(super) fn is_hazardous_value(&self, value: &str, is_first: bool) -> bool {
        self.hazards.iter().any(|hazard| match hazard.strip_prefix('^') {
            Some(hazard) => is_first && is_like(hazard, value),
            None if hazard.starts_with('-') || *hazard == "*" => false,
            None => self.is_hazard_of_operand(hazard, value),
        })
    }

    /// Returns whether the final `*` of an allow does not take an operand.
    pub(super) fn is_hazardous_operand(&self, operand: &str, is_first: bool) -> bool {
        self.hazards.iter().any(|hazard| match hazard.strip_prefix('^') {
            Some(hazard) => is_first && is_like(hazard, operand),
            None => self.is_hazard_of_operand(hazard, operand),
        })
    }

    /// Returns whether some operand is a hazard; `is_first`: also those that are one only at the beginning.
    pub(super) fn has_hazards(&self, is_first: bool) -> bool {
        self.hazards
            .iter()
            .any(|hazard| !hazard.starts_with('-') && (is_first || !hazard.starts_with('^')))
    }

    fn is_hazard_of_operand(&self, hazard: &str, operand: &str) -> bool {
        match hazard {
            "all" => true,
            "=" => operand.split_once('=').is_some_and(|(_, value)| !is_plain(value)),
            // The option may be written as an operand: `+x`.
            _ if hazard.starts_with('-') => {
                let forms = self.forms(self.first_name(hazard));
                forms.iter().any(|form| !form.starts_with('-') && glob(form, operand))
            }
            _ => is_like(hazard, operand),
        }
    }
}

/// Returns whether a word is like a hazard. Case counts only in short options.
fn is_like(hazard: &str, word: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    if is_short { glob(hazard, word) } else { glob_any_case(hazard, word) }
}

/// Returns whether a shell takes a value for one word with nothing to expand in it.
fn is_plain(value: &str) -> bool {
    value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.,:@%+".contains(letter))
}
