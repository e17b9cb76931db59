//! The files that a call mentions: in the words of its commands, or in the arguments of its tool.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::machine::{Variables, tracked};
use super::texts::Texts;
use super::uses::{Touch, uses};
use super::words::{UNKNOWN, add_words, versions, without_braces};
use crate::calls::{Certainty, Hidden, Word};
use hookexec::registry::BuiltinError;
use hookexec_files::paths::lexical;

/// A word of a call that may be a file.
#[derive(Debug)]
pub(super) struct Mention {
    /// The word, for people.
    pub(super) shown: String,
    pub(super) touch: Touch,
    /// Whether it is deleted or changed by a command.
    pub(super) is_target: bool,
    /// The number of its command.
    pub(super) command: Option<usize>,
    /// The absolute path, if it is known, with its wildcards.
    pub(super) path: Option<PathBuf>,
    /// The last part of a path that is not known; empty if that is not known either.
    pub(super) last: String,
    /// Everything that the word may mean.
    pub(super) texts: Texts,
    /// Whether it stands in a text that can't be read.
    pub(super) unsure: bool,
    /// Whether what lies below a directory is touched with it.
    pub(super) descends: bool,
}

/// Programs whose words and input are code, in which any text may be a file.
const READ_CODE: [&str; 12] = [
    "python", "python2", "python3", "node", "nodejs", "perl", "ruby", "php", "deno", "bun", "lua",
    "awk",
];
/// Programs that go through a directory and all below it, beside all `...tar` and `7z...`.
const DESCENDING: [&str; 21] = [
    "rg", "ag", "ack", "zip", "pax", "ditto", "rsync", "scp", "rm", "rmdir", "mv", "shred", "cpio",
    "rclone", "restic", "docker", "podman", "mount", "robocopy", "xcopy", "rd",
];
/// Functions that do.
const DESCENDING_FUNCTIONS: [&str; 5] =
    ["copytree", "rmtree", "make_archive", "tarfile", "zipfile"];

/// Returns the files that commands mention.
pub(super) fn of_commands(
    commands: &[Arguments<'_>],
    cwd: &Path,
    variables: &Variables<'_>,
) -> Result<Vec<Mention>, BuiltinError> {
    let directories = tracked(commands, cwd, variables);
    let mut mentions = Vec::new();
    for (at, given) in commands.iter().enumerate() {
        let is_searched = given.command.wrappers.last().is_some_and(|name| name == "find");
        let is_search = |given: &&Arguments<'_>| given.program.as_deref() == Some("find");
        let search = commands[..at].iter().rev().find(is_search).filter(|_| is_searched);
        let mut found = Finder {
            search,
            given,
            at,
            directory: directories[at].as_deref(),
            variables,
            mentions: &mut mentions,
        };
        found.all()?;
    }
    Ok(mentions)
}

struct Finder<'f, 'c> {
    given: &'f Arguments<'c>,
    at: usize,
    /// The directory that the command runs in, if it is known.
    directory: Option<&'f Path>,
    /// The `find` that runs the command.
    search: Option<&'f Arguments<'c>>,
    variables: &'f Variables<'f>,
    mentions: &'f mut Vec<Mention>,
}

impl Finder<'_, '_> {
    fn all(&mut self) -> Result<(), BuiltinError> {
        let command = self.given.command;
        let program = self.given.program.as_deref().unwrap_or_default();
        let is_code = READ_CODE.iter().any(|name| program.starts_with(name));
        if let Some(word) = command.words.first()
            && word.text.contains('/')
        {
            self.add(word, &word.text, Touch::READ, false, false)?;
        }
        for used in uses(self.given) {
            let found = match self.search {
                Some(search) if used.text.contains("{}") => searched(search, ""),
                _ if used.is_target && program == "find" => searched(self.given, used.text),
                _ => vec![used.text.to_owned()],
            };
            for text in &found {
                self.add(used.word, text, used.touch, used.is_target, is_code)?;
            }
            if found.len() != 1 || found[0] != used.text {
                self.only_names(found.len());
            }
        }
        for redirection in &command.redirections {
            let word = &redirection.word;
            match &*redirection.operator {
                "<" | "<&" => self.add(word, &word.text, Touch::READ, false, false)?,
                operator if !operator.starts_with("<<") => {
                    self.add(word, &word.text, Touch::WRITE, false, false)?;
                }
                _ if is_code => self.add(word, &word.text, Touch::READ, false, true)?,
                _ => {}
            }
        }
        if let Hidden::Words(words) = &command.hidden {
            for text in words {
                let word = Word::known(text);
                self.add(&word, text, Touch::ANY, false, true)?;
                if let Some(last) = self.mentions.last_mut() {
                    last.unsure = true;
                }
            }
        }
        Ok(())
    }

    /// Keeps of the last mentions, which `find` finds, only the names: where they lie is not known.
    fn only_names(&mut self, count: usize) {
        let from = self.mentions.len().saturating_sub(count);
        for mention in &mut self.mentions[from..] {
            mention.texts = Texts::default();
            let name = mention.path.as_ref().and_then(|path| path.file_name());
            let name = name.map(|name| name.to_string_lossy().into_owned());
            if let Some(name) = name.filter(|name| !name.contains(['*', '?', '['])) {
                mention.texts.add_pieces(&name, false).ok();
            }
        }
    }

    fn add(
        &mut self,
        word: &Word,
        text: &str,
        touch: Touch,
        is_target: bool,
        is_code: bool,
    ) -> Result<(), BuiltinError> {
        if text.is_empty() {
            return Ok(());
        }
        let mut texts = Texts::default();
        let mut words = BTreeSet::new();
        let plain = without_substitutions(text);
        if is_code && text.contains([' ', '\n', '(', '"', '\'', ';', '`']) {
            add_words(text, &mut words);
            // A text of several lines is code, and its lines are among the words.
            words.retain(|word| !word.contains('\n'));
            // A `/` outside of quotes divides.
            if !text.contains("'/'") && !text.contains("\"/\"") {
                words.remove("/");
                words.remove("//");
            }
        }
        words.insert(plain.clone());
        // A wildcard in quotes is a letter.
        let is_literal = word.is_known() && word.quoted && !is_code;
        for one in &words {
            add_versions(one, self.variables, is_literal, &mut texts)?;
        }
        let (mut path, last) = self.path(word, &plain);
        // An address is in no directory.
        if plain.contains("://") && !is_target {
            path = Some(PathBuf::from(plain));
        }
        let given = self.given;
        self.mentions.push(Mention {
            shown: word.text.clone(),
            touch,
            is_target,
            command: Some(self.at),
            path,
            last,
            texts,
            unsure: false,
            descends: descends(given, &words),
        });
        Ok(())
    }

    /// Returns the absolute path of a word, or what is known of its end.
    fn path(&self, word: &Word, text: &str) -> (Option<PathBuf>, String) {
        let expanded = match word.certainty {
            Certainty::Known => Some(text.to_owned()),
            _ => self.variables.expanded(text),
        };
        let whole = expanded.as_deref().unwrap_or(text);
        let end = whole.rsplit('/').next().unwrap_or_default();
        let is_plain = !end.contains(['$', '`', UNKNOWN]);
        let last = if is_plain { end.to_owned() } else { String::new() };
        let Some(expanded) = expanded else { return (None, last) };
        let absolute = match self.directory {
            _ if expanded.starts_with('/') => PathBuf::from(&expanded),
            Some(directory) => directory.join(&expanded),
            None => return (None, last),
        };
        (Some(lexical(&absolute)), last)
    }
}

/// Returns the paths that `find` finds, below `start` or below all its operands.
fn searched(search: &Arguments<'_>, start: &str) -> Vec<String> {
    let is_negated = search.command.words.iter().any(|word| matches!(&*word.text, "!" | "-not"));
    let named = search
        .options
        .iter()
        .filter(|option| matches!(&*option.name, "-name" | "-iname" | "-path"));
    let named = named.filter_map(|option| option.value.map(|(_, name)| name));
    let wanted: Vec<&str> = named.filter(|_| !is_negated).collect();
    let operands = search.operands.iter().map(|word| word.text.as_str());
    let starts: Vec<&str> = if start.is_empty() { operands.collect() } else { vec![start] };
    let mut found = Vec::new();
    for start in starts {
        if wanted.is_empty() {
            found.push(format!("{start}/*"));
        }
        found.extend(
            wanted.iter().map(|name| format!("{start}/**/{}", name.trim_start_matches("./"))),
        );
    }
    found
}

/// Adds everything that a text may mean with its variables replaced.
pub(super) fn add_versions(
    text: &str,
    variables: &Variables<'_>,
    is_literal: bool,
    texts: &mut Texts,
) -> Result<(), BuiltinError> {
    texts.add_pieces(text, variables.dots)?;
    if is_literal && !text.contains('$') {
        return Ok(());
    }
    let values = |name: &str| variables.values(name);
    for version in versions(text, &values) {
        texts.add_pieces(&version, variables.dots)?;
        texts.add_pieces(&without_braces(&version), variables.dots)?;
    }
    Ok(())
}

/// Returns a text with the mark of what is not known for each substitution in it.
pub(super) fn without_substitutions(text: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0_usize;
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '`' => {
                is_quoted = !is_quoted;
                if is_quoted {
                    plain.push(UNKNOWN);
                }
            }
            '$' if letters.peek() == Some(&'(') && depth == 0 => {
                plain.push(UNKNOWN);
            }
            '(' if depth > 0 || plain.ends_with(UNKNOWN) => depth += 1,
            ')' if depth > 0 => depth -= 1,
            letter if depth == 0 && !is_quoted => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// Returns whether a command goes through the directories that it names.
fn descends(given: &Arguments<'_>, words: &BTreeSet<String>) -> bool {
    let program = given.program.as_deref().unwrap_or_default();
    let is_recursive = ["-r", "-R", "--recursive"].iter().any(|option| given.has(option));
    let copies = program == "cp" && given.has("-a");
    let module = given.command.words.iter().any(|word| is_descending_function(&word.text));
    is_recursive
        || copies
        || module
        || is_descending_program(program)
        || words.iter().any(|word| is_descending_function(word))
}

/// Returns whether a word of code says that it goes through directories.
pub(super) fn goes_deep(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| letters.len() <= 8);
    is_descending_program(word.rsplit('/').next().unwrap_or(word))
        || is_descending_function(word)
        || letters.is_some_and(|letters| !letters.starts_with('-') && letters.contains(['r', 'R']))
        || word.starts_with("--recurs")
}

fn is_descending_program(name: &str) -> bool {
    DESCENDING.contains(&name)
        || name.strip_suffix("tar").is_some_and(|kind| !kind.contains('.'))
        || name.starts_with("7z")
}

fn is_descending_function(word: &str) -> bool {
    DESCENDING_FUNCTIONS.contains(&word.rsplit('.').next().unwrap_or(word))
}
