//! Programs that run the command in their arguments, by the one table of them.

use super::base_name;
use super::command::{Certainty, Word, are_known};
use super::shells::{has_code, joined, takes_code, text_of_c};
use crate::shell::{SUBSTITUTED, quoted};

include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));

/// The code or the commands that a program runs beside itself.
pub(super) enum Inner<'w> {
    Nothing,
    /// The commands in its input.
    Input,
    /// Something that is not known.
    Unknown,
    /// The commands in this file.
    File(&'w Word),
    /// The commands in this file, or in its input if that is none.
    FileOrInput(&'w Word),
    /// The commands in this text.
    Text {
        text: String,
        /// Whether all of it is known.
        is_known: bool,
    },
    /// Commands of its words or of its input, in a way that is not read.
    Unread,
    /// These words are or hold a command that can't be found.
    Shown(&'w [Word]),
    Commands(Vec<Run>),
}

/// One command in the words of another.
#[derive(Default)]
pub(super) struct Run {
    pub(super) assignments: Vec<Word>,
    pub(super) words: Vec<Word>,
    /// The directory that it runs in, if the program goes to one.
    pub(super) directory: Option<Word>,
    /// Whether words that are not known are added to it.
    pub(super) more: bool,
    /// The texts in whose place `xargs -I` puts a word.
    pub(super) marks: Vec<Word>,
}

impl Run {
    /// Returns whether words that come later may name the program, or be code that it runs.
    pub(super) fn is_open(&self, more: bool) -> bool {
        let [program, arguments @ ..] = &*self.words else { return more };
        let name = base_name(&program.text);
        let mut put = arguments.iter().filter(|word| self.replaces(&word.text));
        let is_changed = more && !has_code(&name, arguments) || put.any(|word| word.text != "{}");
        self.replaces(&program.text) || takes_code(&name) && is_changed
    }

    /// Returns whether another word may be put into a text: `find` puts it in the place of `{}`.
    fn replaces(&self, text: &str) -> bool {
        let mut marks = self.marks.iter();
        text.contains("{}") || marks.any(|mark| !mark.is_known() || text.contains(&mark.text))
    }

    /// Returns its words; one in whose place `xargs -I` puts another is not known.
    pub(super) fn given_words(&self) -> Vec<Word> {
        let mut words = self.words.clone();
        for word in words.iter_mut().skip(1) {
            if self.more && self.replaces(&word.text) {
                *word = Word::unknown(SUBSTITUTED);
            }
        }
        words
    }
}

/// One row of the table; the head of its file describes the form.
struct Row {
    programs: &'static [&'static str],
    /// The words before the command, each with its alternatives.
    subcommands: &'static [&'static [&'static str]],
    begin: Begin,
    /// The options behind which a shell text stands, or those behind which a search has a command.
    text: &'static [&'static str],
    /// How many words stand between the options and the command.
    skip: usize,
    flags: &'static [&'static str],
    value: &'static [&'static str],
    shows: &'static [&'static str],
    moves: &'static [&'static str],
    marks: &'static [&'static str],
    /// The options with which it runs its input; without one, it always does.
    starts: Option<&'static [&'static str]>,
}

/// How the command of a row begins.
#[derive(PartialEq)]
enum Begin {
    Next,
    Quoted,
    Assigns,
    Adds,
    Dashes,
    Joined,
    Search,
    Unread,
    /// Only behind `--`, else the next row counts.
    Nowhere,
}

/// Returns the commands that a call of the program `name` runs, by the first row that says it.
pub(super) fn inner<'w>(name: &str, words: &'w [Word]) -> Inner<'w> {
    for row in ROWS {
        if !row.programs.contains(&name) {
            continue;
        }
        let Some(behind) = behind_subcommands(row, name, words) else { continue };
        let (Ok(found) | Err(found)) = match row.begin {
            Begin::Unread => Ok(Inner::Unread),
            Begin::Search => Ok(searched(row, behind)),
            _ => by_row(row, behind),
        };
        if row.begin != Begin::Nowhere || !matches!(found, Inner::Nothing) {
            return found;
        }
    }
    Inner::Nothing
}

/// Returns whether a program runs its words or a text, by the tables of wrappers, shells and interpreters.
pub fn runs_commands(program: &str) -> bool {
    takes_code(program) || ROWS.iter().any(|row| row.programs.contains(&program))
}

/// Returns how many words stand before the subcommand of a program, if `first` is the first of them:
/// `docker container run` is `docker run`, and `yarn workspace x run` is `yarn run`.
pub fn before_subcommand(program: &str, first: &str) -> usize {
    match (program, first) {
        ("docker" | "podman" | "nerdctl", "container") | ("yarn" | "composer", "global") => 1,
        ("yarn", "workspace") => 2,
        _ => 0,
    }
}

/// Returns the words behind the subcommands of a row, before which options may stand.
fn behind_subcommands<'w>(row: &Row, name: &str, mut words: &'w [Word]) -> Option<&'w [Word]> {
    if let Some(first) = words.first()
        && !row.subcommands.is_empty()
    {
        words = words.get(before_subcommand(name, &first.text)..).unwrap_or_default();
    }
    for names in row.subcommands {
        // `runuser -u bob`: the row is for calls with this option.
        if names[0].starts_with('-') {
            if row.has_option(names, words) {
                continue;
            }
            return None;
        }
        let place = words.iter().position(|word| names.contains(&&*word.text))?;
        if place > 0 && !words[0].text.starts_with('-') {
            return None;
        }
        words = &words[place + 1..];
    }
    Some(words)
}

/// Returns the commands by one row; as a failure, what is run if an option decides it.
fn by_row<'w>(row: &Row, all: &'w [Word]) -> Result<Inner<'w>, Inner<'w>> {
    let mut words = behind_options(row, all)?.get(row.skip..).unwrap_or_default();
    // Options may stand behind the host of `ssh` and the file of `flock`, too, or `--`.
    if row.begin == Begin::Joined || row.skip > 0 {
        words = behind_options(row, words)?;
    }
    let before = &all[..all.len() - words.len()];
    // Without `--` the words behind a name may be the command: `aws-vault exec NAME make`.
    let named = all.iter().filter(|word| !word.text.starts_with('-')).count();
    let may_be_command = row.begin == Begin::Dashes && named > 1;
    if words.is_empty() && row.runs_input(before) && !may_be_command {
        return Ok(Inner::Input);
    }
    match row.begin {
        Begin::Nowhere if words.is_empty() => return Ok(Inner::Nothing),
        Begin::Dashes if words.is_empty() => return Ok(Inner::Shown(all)),
        Begin::Quoted if words.len() == 1 => return Ok(joined(words)),
        Begin::Joined => return Ok(joined(words)),
        _ => {}
    }
    let mut assigned = 0;
    while row.begin == Begin::Assigns
        && matches!(words.get(assigned), Some(word) if matches!(word.text.find('='), Some(1..)))
    {
        assigned += 1;
    }
    let (assignments, words) = words.split_at(assigned);
    let assignments = assignments.to_vec();
    let (words, more) = (words.to_vec(), row.begin == Begin::Adds);
    let (marks, directory) = (row.values(row.marks, before), row.values(row.moves, before).pop());
    Ok(Inner::Commands(vec![Run { assignments, words, directory, more, marks }]))
}

fn searched<'w>(row: &Row, words: &'w [Word]) -> Inner<'w> {
    let mut runs = Vec::new();
    // The paths begin with what the search begins with.
    let more = matches!(words.first(), Some(word) if word.may_be_option());
    for (place, word) in words.iter().enumerate() {
        for (option, value) in row.options_in(&word.text) {
            if !row.text.contains(&&*option) {
                continue;
            }
            // The words of each are copied.
            if runs.len() == 32 {
                return Inner::Unread;
            }
            let words = words_of_search(word, value, &words[place + 1..]);
            // `-execdir` runs the command where the file lies.
            let moves = option.ends_with("dir");
            let directory = if moves { Some(Word::unknown(SUBSTITUTED)) } else { None };
            runs.push(Run { words, directory, more, ..Run::default() });
        }
    }
    match runs.is_empty() {
        false => Inner::Commands(runs),
        true if row.runs_input(words) => Inner::Input,
        true => Inner::Nothing,
    }
}

/// Returns the command that begins with the value of an option, or behind it.
fn words_of_search(option: &Word, value: Option<&str>, behind: &[Word]) -> Vec<Word> {
    let mut words = Vec::new();
    if let Some(value) = value {
        words.push(option.ending(value));
    }
    for word in behind {
        let is_list = word.text == "+" && matches!(&*words, [.., last] if last.text == "{}");
        if word.text == ";" || is_list {
            break;
        }
        let mut word = word.clone();
        // The search puts the path of a file there.
        if let Some(known) = word.text.find("{}")
            && !words.is_empty()
        {
            word = Word { certainty: Certainty::OneWord, known, quoted: false, ..word };
        }
        words.push(word);
    }
    words
}

/// Returns words as a shell text has them: one that is not known stays as it is.
fn written(words: &[Word]) -> String {
    let mut line = Vec::new();
    for word in words {
        line.push(if word.is_known() { quoted(&word.text) } else { word.text.clone() });
    }
    line.join(" ")
}

/// Returns the words behind the options of a wrapper, or what is run if an option decides that.
fn behind_options<'w>(row: &Row, all: &'w [Word]) -> Result<&'w [Word], Inner<'w>> {
    let is_anywhere = row.begin == Begin::Nowhere || row.begin == Begin::Dashes;
    let mut words = all;
    while let here @ [word, rest @ ..] = words {
        // In `su bob -- -u -c make` options follow, and some have no value there.
        let goes_on = is_anywhere && matches!(rest, [next, ..] if next.text.starts_with('-'));
        if word.text == "--" && !goes_on {
            return Ok(rest);
        }
        let is_option =
            word.text.starts_with('-') && (word.text != "-" || row.flags.contains(&"-"));
        if !is_anywhere && !is_option {
            // It may become an option, if it is not the word that stands before the command.
            let is_command = word.is_known() || !word.may_be_option() || row.skip > 0;
            return if is_command { Ok(words) } else { Err(Inner::Shown(all)) };
        }
        words = rest;
        for (option, value) in row.options_in(&word.text) {
            match row.takes(&option) {
                Takes::Text => return Err(row.text(here)),
                Takes::Word if value.is_none() && !goes_on => {
                    words = rest.get(1..).unwrap_or_default();
                }
                Takes::Shows => return Err(Inner::Commands(Vec::new())),
                Takes::Unknown if !is_anywhere => return Err(Inner::Shown(all)),
                Takes::Word | Takes::Nothing | Takes::Unknown => {}
            }
        }
    }
    Ok(words)
}

/// The word that an option takes from those behind it.
enum Takes {
    Nothing,
    /// The word behind it.
    Word,
    /// A shell text, or the command of a search.
    Text,
    /// No command: with it, nothing is run.
    Shows,
    Unknown,
}

impl Row {
    /// Returns what one option takes.
    fn takes(&self, option: &str) -> Takes {
        let lists = [
            (self.shows, Takes::Shows),
            (self.value, Takes::Word),
            (self.flags, Takes::Nothing),
            (self.text, Takes::Text),
        ];
        for (list, takes) in lists {
            if list.contains(&option) {
                return takes;
            }
        }
        let is_long = option.starts_with("--") && option.len() > 2;
        let begins_text = is_long && self.text.iter().any(|text| text.starts_with(option));
        if begins_text { Takes::Text } else { Takes::Unknown }
    }

    /// Returns the options in a word, each with its value there: `-it`, `-uNAME`, `--user=NAME`.
    fn options_in<'w>(&self, word: &'w str) -> Vec<(String, Option<&'w str>)> {
        if !word.starts_with('-') {
            return Vec::new();
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if word.starts_with("--") || !matches!(self.takes(name), Takes::Unknown) {
            return vec![(name.to_owned(), value)];
        }
        let mut options = Vec::new();
        for (at, letter) in word.char_indices().skip(1) {
            let option = format!("-{letter}");
            let behind = &word[at + letter.len_utf8()..];
            let has_value = matches!(self.takes(&option), Takes::Word | Takes::Text);
            // The rest of the word is its value.
            if has_value && !behind.is_empty() {
                options.push((option, Some(behind)));
                break;
            }
            options.push((option, None));
        }
        options
    }

    /// Returns the text of an option in the first word, which stands in it or behind it, with those of the
    /// options that follow: some programs run each text, and others the last one.
    fn text(&self, mut words: &[Word]) -> Inner<'static> {
        let (mut whole, mut is_known) = (String::new(), true);
        while let [word, behind @ ..] = words {
            words = behind;
            for (option, value) in self.options_in(&word.text) {
                if !matches!(self.takes(&option), Takes::Text) {
                    continue;
                }
                let own = value.map(|value| word.ending(value));
                if own.is_none() {
                    words = behind.get(1..).unwrap_or_default();
                }
                let Inner::Text { text, is_known: is_sure } =
                    text_of_c(own.as_ref().or(behind.first()))
                else {
                    return Inner::Unknown;
                };
                is_known &= is_sure;
                if self.begin == Begin::Assigns {
                    // `env -S` reads a backslash in its own way, and adds the words behind the text to it.
                    if text.contains('\\') {
                        return Inner::Unknown;
                    }
                    let text = format!("{text} {}", written(words));
                    return Inner::Text { text, is_known: is_known && are_known(words) };
                }
                whole += &text;
                whole.push('\n');
            }
        }
        Inner::Text { text: whole, is_known }
    }

    /// Returns whether one of these options stands among words, before `--`.
    fn has_option(&self, names: &[&str], words: &[Word]) -> bool {
        let mut words = words.iter().take_while(|word| word.text != "--");
        words.any(|word| self.options_in(&word.text).iter().any(|one| names.contains(&&*one.0)))
    }

    /// Returns the values that these options have before a command.
    fn values(&self, wanted: &[&str], before: &[Word]) -> Vec<Word> {
        let mut values = Vec::new();
        for (at, word) in before.iter().enumerate() {
            for (option, value) in self.options_in(&word.text) {
                match value {
                    _ if !wanted.contains(&&*option) => {}
                    Some(value) => values.push(word.ending(value)),
                    None => values.extend(before.get(at + 1).cloned()),
                }
            }
        }
        values
    }

    /// Returns whether the program runs its input if no command stands in its words.
    fn runs_input(&self, before: &[Word]) -> bool {
        let Some(wanted) = self.starts else { return false };
        wanted.is_empty() || self.has_option(wanted, before)
    }
}
