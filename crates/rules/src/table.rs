//! The table of options: twins, options that take a value, and the files that a program touches.
//!
//! The data is `options.txt`, whose head describes the rows. The build makes a table of it, and a
//! command joins the lines of its program.

use std::sync::LazyLock;

use super::uses::{Touch, Use, Which};
use hookexec_calls::{Word, base_name, runs_commands};
use hookexec_files::glob::{glob, glob_any_case, one_fits};
use hookexec_files::suggest;

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
    harmless: &'static [&'static str],
    hazards: &'static [&'static str],
    /// Programs whose harmless options count, too.
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
    /// Whether the program runs commands of its input.
    pub(super) input: bool,
    /// Whether an allow takes one operand at most behind those that it names.
    pub(super) one: bool,
    values: Vec<&'static str>,
    pub(super) uses: Vec<&'static Use>,
    /// The options that the final `*` of an allow takes.
    harmless: Vec<&'static str>,
    /// The options that it takes only behind the subcommand.
    harmless_behind: Vec<&'static str>,
    /// The operands and values that it does not take.
    hazards: Vec<&'static str>,
    /// Subcommands for which a misspelled one is probably meant.
    pub(super) subcommands: Vec<&'static str>,
    /// Whether the program stands in the table.
    pub(super) is_known: bool,
    /// Whether some rows are for a subcommand of the program.
    pub(super) has_subcommands: bool,
}

/// The row for all programs.
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
            // Homebrew puts a `g` before the names of GNU.
            if let (Some(plain), []) = (program.strip_prefix('g'), lines)
                && !runs_commands(plain)
            {
                lines = lines_of(plain);
            }
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
        self.input |= line.flags.contains(&"input");
        self.one |= line.flags.contains(&"one");
        self.twins.extend(line.twins);
        self.values.extend(line.values);
        self.uses.extend(line.uses);
        self.hazards.extend(line.hazards);
        let harmless = if line.subcommands.is_empty() {
            &mut self.harmless
        } else {
            &mut self.harmless_behind
        };
        harmless.extend(line.harmless);
        for program in line.like {
            harmless.extend(Self::of(program, "").harmless);
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

    /// Returns whether a row of the program, or of all, says something of an option: `!-x` says that it takes
    /// no value.
    pub(super) fn names(&self, option: &str) -> bool {
        let mut values = self.values.iter().chain(&OTHERS.values);
        one_fits(self.known_names(), option)
            || values.any(|value| value.strip_prefix('!') == Some(option))
    }

    /// Returns the known long option that a name is nearly equal to. A beginning of one is not a mistake.
    pub(super) fn nearly(&self, option: &str) -> Option<&'static str> {
        let mut names: Vec<&'static str> = self.known_names().collect();
        names.extend(self.harmless.iter().chain(&self.harmless_behind));
        if names.iter().any(|name| name.starts_with(option) || glob(name, option)) {
            return None;
        }
        names.retain(|name| name.starts_with("--"));
        suggest::closest(option, names)
    }

    /// Returns the only long option that begins with `beginning`, if there is only one.
    pub(super) fn completed(&self, beginning: &str) -> Option<&'static str> {
        let mut names: Vec<_> = self.known_names().collect();
        names.retain(|name| name.starts_with("--") && name.starts_with(beginning));
        let first = *names.first()?;
        names.retain(|name| self.first_name(name) != self.first_name(first));
        if names.is_empty() { Some(first) } else { None }
    }

    /// Adds what the final `*` of an allow takes of a module: `python -m mypy` has the options of `mypy`.
    pub(super) fn add_module(&mut self, module: &str) {
        let row = Self::of(module, "");
        self.one |= row.one;
        self.harmless_behind.extend(row.harmless);
        self.hazards.extend(row.hazards);
    }

    /// Returns whether the final `*` of an allow takes an option, by one of its whole names.
    pub(super) fn is_harmless(&self, option: &str, is_behind: bool) -> bool {
        let behind = if is_behind { &*self.harmless_behind } else { &[] };
        let name = self.first_name(option);
        for known in [&self.harmless, behind, &OTHERS.harmless].into_iter().flatten() {
            if self.first_name(known) == name || glob(known, option) {
                return true;
            }
        }
        false
    }

    /// Returns whether the final `*` of an allow takes every word.
    pub(super) fn takes_any_option(&self) -> bool {
        self.harmless.contains(&"-*") && self.hazards.is_empty()
    }

    /// Returns whether the operand at this place may be a subcommand that runs what follows.
    pub(super) fn may_run(&self, operand: &str, at: usize) -> bool {
        let may_be_subcommand = !self.is_known || self.has_subcommands && at < 2;
        may_be_subcommand && OTHERS.hazards.iter().any(|hazard| glob_any_case(hazard, operand))
    }

    /// Returns whether the final `*` of an allow takes no operand.
    pub(super) fn takes_no_operand(&self) -> bool {
        self.hazards.contains(&"*")
    }

    /// Returns whether the final `*` of an allow does not take a word, as an operand or as the value of an
    /// option, where the table may be wrong; `is_first`: whether it may be the first operand.
    pub(super) fn is_hazardous(&self, word: &Word, text: &str, is_first: bool) -> bool {
        for hazard in &self.hazards {
            if *hazard == "*" || !is_first && hazard.starts_with('^') {
                continue;
            }
            let hazard = hazard.trim_start_matches('^');
            // The shell may make any operand of it that begins so.
            let may_become =
                word.is_expanded() || !word.is_literal() && may_begin(hazard, word, text);
            if may_become || glob_any_case(hazard, text) {
                return true;
            }
        }
        // An option that is written as an operand: `+x`.
        for twins in &self.twins {
            if one_fits(&twins[1..], text) && !self.is_harmless(twins[0], true) {
                return true;
            }
        }
        false
    }
}

/// Returns whether a word may be code for a program that no table knows, or the name of another program.
pub(super) fn may_be_code(text: &str) -> bool {
    // A file of the project may have the name of a program.
    let is_own = text.contains('/') && !text.starts_with(['/', '~']) && !text.contains("bin/");
    let name = if is_own { text.to_ascii_lowercase() } else { base_name(text) };
    let first = name.split('/').next().unwrap_or_default();
    text.starts_with('+')
        || text.contains(|one: char| !one.is_alphanumeric() && !"_-./:@%+=,~*?[]".contains(one))
        || first.contains(['*', '?', '['])
        || !matches!(&*name, "." | "ls" | "test")
            && (Row::of(&name, "").is_known || runs_commands(&name))
}

/// Returns whether a text of which only the beginning is known may become like a pattern.
fn may_begin(pattern: &str, word: &Word, text: &str) -> bool {
    let own = word.ending(text);
    let known = &own.text[..own.known];
    let literal = pattern.split('*').next().unwrap_or_default();
    literal.starts_with(known) || known.starts_with(literal)
}
