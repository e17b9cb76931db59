//! Programs that run the command in their arguments, by the one table of them.

use super::base_name;
use super::command::Word;
use super::shells::{has_code, joined, takes_code, text_of_c};
use crate::shell::SUBSTITUTED;

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
    /// The commands in this text.
    Text(String),
    /// The commands in this text, in which not all is known.
    Open(String),
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
    /// Letters of the text in whose place `xargs -I` puts a word.
    marks: String,
}

impl Run {
    /// Returns whether words that come later may name the program, or be code that it runs.
    pub(super) fn is_open(&self, more: bool) -> bool {
        let [program, arguments @ ..] = &*self.words else { return more };
        let name = base_name(&program.text);
        if self.replaces(&program.text) {
            return true;
        }
        if !takes_code(&name) {
            return false;
        }
        if more && !has_code(&name, arguments) {
            return true;
        }
        arguments.iter().any(|word| word.text != "{}" && self.replaces(&word.text))
    }

    /// Returns whether another word may be put into a text: `find` puts it in the place of `{}`.
    fn replaces(&self, text: &str) -> bool {
        text.contains("{}") || text.contains(|letter| self.marks.contains(letter))
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
    /// How the command begins. Without it, the text stands anywhere.
    begin: Option<Begin>,
    /// The options behind which a shell text stands.
    text: &'static [&'static str],
    /// The options behind which a search has a command.
    search: &'static [&'static str],
    /// How many words stand between the options and the command.
    skip: usize,
    flags: &'static [&'static str],
    value: &'static [&'static str],
    shows: &'static [&'static str],
    moves: &'static [&'static str],
}

/// How the command of a row begins.
enum Begin {
    Next,
    Assigns,
    Adds,
    Dashes,
    Joined,
    Search,
    Unread,
}

/// Returns the commands that a call of the program `name` runs, by the first row that says it.
pub(super) fn inner<'w>(name: &str, words: &'w [Word]) -> Inner<'w> {
    for row in ROWS {
        if !row.programs.contains(&name) {
            continue;
        }
        let Some(behind) = behind_subcommands(row, words) else { continue };
        let Some(begin) = &row.begin else {
            let (options, rest) = divided_by_dashes(behind);
            if let Some(text) = text_of(row, options) {
                return text;
            }
            if !rest.is_empty() {
                return command(row, behind, rest);
            }
            continue;
        };
        if let Some(text) = text_of(row, behind) {
            return text;
        }
        let (Ok(found) | Err(found)) = by_row(row, begin, behind);
        return found;
    }
    Inner::Nothing
}

/// Returns the words before and behind `--`, if a command follows it: `runuser -u bob -- make`. In
/// `su bob -- -c make` an option follows.
fn divided_by_dashes(words: &[Word]) -> (&[Word], &[Word]) {
    for (at, pair) in words.windows(2).enumerate() {
        if pair[0].text == "--" && !pair[1].text.starts_with('-') {
            return words.split_at(at + 1);
        }
    }
    (words, &[])
}

/// Returns the words behind the subcommands of a row, before which options may stand.
fn behind_subcommands<'w>(row: &Row, mut words: &'w [Word]) -> Option<&'w [Word]> {
    // `docker container exec` is `docker exec`.
    if let [word, behind @ ..] = words
        && word.text == "container"
        && !row.subcommands.is_empty()
    {
        words = behind;
    }
    for names in row.subcommands {
        let place = words.iter().position(|word| names.contains(&&*word.text))?;
        if place > 0 && !words[0].text.starts_with('-') {
            return None;
        }
        words = &words[place + 1..];
    }
    Some(words)
}

/// Returns the commands by one row; as a failure, what is run if the row does not find one.
fn by_row<'w>(row: &Row, begin: &Begin, words: &'w [Word]) -> Result<Inner<'w>, Inner<'w>> {
    Ok(match begin {
        Begin::Unread => Inner::Unread,
        Begin::Search => searched(row.search, words),
        Begin::Dashes => match words.iter().position(|word| word.text == "--") {
            Some(place) => command(row, words, &words[place + 1..]),
            None => Inner::Shown(words),
        },
        Begin::Joined => {
            let rest = behind_options(row, words)?;
            let rest = rest.get(row.skip..).unwrap_or_default();
            // Options may stand behind the host, too.
            joined(behind_options(row, rest)?)
        }
        Begin::Next | Begin::Assigns | Begin::Adds => {
            command(row, words, behind_options(row, words)?)
        }
    })
}

/// Returns the text in a word with an option, or behind it. In a row with a command, the option stands
/// before the operands.
fn text_of<'w>(row: &Row, mut words: &'w [Word]) -> Option<Inner<'w>> {
    if row.text.is_empty() {
        return None;
    }
    while let [word, behind @ ..] = words {
        match attached(row.text, &word.text) {
            Some("") => return Some(text_of_c(behind)),
            Some(text) if word.is_known() => return Some(Inner::Text(text.to_owned())),
            Some(_) => return Some(Inner::Unknown),
            None => words = behind,
        }
        if row.begin.is_some() {
            if !word.text.starts_with('-') {
                return None;
            }
            if matches!(read_option(row, word), Takes::Word) {
                words = behind.get(1..).unwrap_or_default();
            }
        }
    }
    None
}

fn command<'w>(row: &Row, all: &'w [Word], mut rest: &'w [Word]) -> Inner<'w> {
    let mut assignments = Vec::new();
    if matches!(row.begin, Some(Begin::Assigns)) {
        while let [word, behind @ ..] = rest
            && matches!(word.text.find('='), Some(1..))
        {
            assignments.push(word.clone());
            rest = behind;
        }
    }
    let words = match rest.get(row.skip..) {
        Some(words) => words,
        None if rest.is_empty() => rest,
        None => return Inner::Shown(rest),
    };
    let before = &all[..all.len() - words.len()];
    let more = matches!(row.begin, Some(Begin::Adds));
    let directory = directory(row, before);
    let mut marks = String::new();
    if more && before.iter().any(has_mark_option) {
        for word in before {
            marks.extend(word.text.chars().last());
        }
    }
    Inner::Commands(vec![Run { assignments, words: words.to_vec(), directory, more, marks }])
}

/// Returns whether a word may have an option of `xargs` that names a text for a word.
fn has_mark_option(word: &Word) -> bool {
    word.text.starts_with('-') && word.text.contains(['I', 'J', 'i'])
}

/// Returns the directory that the options before a command name for it.
fn directory(row: &Row, before: &[Word]) -> Option<Word> {
    let at = before.iter().position(|word| has_option(row.moves, &word.text))?;
    match before[at].text.split_once('=') {
        Some((_, attached)) => Some(before[at].ending(attached)),
        None => before.get(at + 1).cloned(),
    }
}

fn searched<'w>(options: &[&str], words: &'w [Word]) -> Inner<'w> {
    let mut runs = Vec::new();
    // The paths begin with what the search begins with.
    let more = matches!(words.first(), Some(word) if word.may_be_option());
    for (place, word) in words.iter().enumerate() {
        if !has_option(options, &word.text) {
            continue;
        }
        // The words of each are copied.
        if runs.len() == 32 {
            return Inner::Unread;
        }
        let behind = &words[place + 1..];
        let mut words: Vec<Word> = Vec::new();
        for word in behind {
            let is_list =
                word.text == "+" && matches!(words.last(), Some(last) if last.text == "{}");
            if word.text == ";" || is_list {
                break;
            }
            let is_path = word.text.contains("{}") && !words.is_empty();
            words.push(if is_path { Word::path_of_search(&word.text) } else { word.clone() });
        }
        // `-execdir` runs the command where the file lies.
        let moves = word.text.ends_with("dir");
        let directory = if moves { Some(Word::unknown(SUBSTITUTED)) } else { None };
        runs.push(Run { words, directory, more, ..Run::default() });
    }
    if runs.is_empty() { Inner::Nothing } else { Inner::Commands(runs) }
}

/// Returns the words behind the options of a wrapper, or what is run if there are none for certain.
fn behind_options<'w>(row: &Row, all: &'w [Word]) -> Result<&'w [Word], Inner<'w>> {
    let mut words = all;
    while let [word, rest @ ..] = words {
        let option = word.text.strip_prefix('-').unwrap_or_default();
        if option.is_empty() {
            // It may become an option, if it is not the word that stands before the command.
            let is_command = word.is_known() || !word.may_be_option() || row.skip > 0;
            return if is_command { Ok(words) } else { Err(Inner::Shown(all)) };
        }
        words = rest;
        if option == "-" {
            break;
        }
        match read_option(row, word) {
            Takes::Nothing => {}
            Takes::Word if !rest.is_empty() => words = &rest[1..],
            Takes::Word | Takes::Unknown => return Err(Inner::Shown(all)),
            Takes::Shows => return Err(Inner::Commands(Vec::new())),
        }
    }
    Ok(words)
}

/// The word that an option takes from those behind it.
enum Takes {
    Nothing,
    /// The word behind it.
    Word,
    /// No command: with it, nothing is run.
    Shows,
    Unknown,
}

/// Reads a word that is one option, or several of one letter.
fn read_option(row: &Row, word: &Word) -> Takes {
    let name = word.text.split('=').next().unwrap_or_default();
    match takes(row, name) {
        Takes::Word if name.len() < word.text.len() => return Takes::Nothing,
        Takes::Unknown if !name.starts_with("--") && word.is_known() => {}
        found => return found,
    }
    let mut letters = word.text[1..].chars();
    while let Some(letter) = letters.next() {
        match takes(row, &format!("-{letter}")) {
            Takes::Nothing => {}
            // The rest of the word is its value.
            Takes::Word if !letters.as_str().is_empty() => return Takes::Nothing,
            found => return found,
        }
    }
    Takes::Nothing
}

/// Returns what one option takes.
fn takes(row: &Row, option: &str) -> Takes {
    let lists = [(row.shows, Takes::Shows), (row.value, Takes::Word), (row.flags, Takes::Nothing)];
    for (list, takes) in lists {
        if list.contains(&option) {
            return takes;
        }
    }
    Takes::Unknown
}

/// Returns what a word has behind an option of a list: `--command=TEXT`, `-qcTEXT`. Nothing stands behind
/// `-c`.
fn attached<'w>(list: &[&str], word: &'w str) -> Option<&'w str> {
    if word.starts_with("--") {
        let (name, text) = word.split_once('=').unwrap_or((word, ""));
        let is_named = name.len() > 3 && list.iter().any(|option| option.starts_with(name));
        return if is_named { Some(text) } else { None };
    }
    for (at, letter) in word.strip_prefix('-')?.char_indices() {
        if list.contains(&&*format!("-{letter}")) {
            return Some(&word[1 + at + letter.len_utf8()..]);
        }
    }
    None
}

/// Returns whether a list of the table has an option.
fn has_option(list: &[&str], option: &str) -> bool {
    list.contains(&option.split('=').next().unwrap_or(option))
}
