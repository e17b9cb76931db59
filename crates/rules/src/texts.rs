//! The texts of one call that may be paths, bounded.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::Chars;

use hookexec_calls::expand::is_in_directory;
use hookexec_calls::limits::{LONGEST_PATH, MOST_BYTES, TOO_MANY};
use hookexec_calls::place::Place;
use hookexec_calls::shell::{braces, without_braces, without_outputs};
use hookexec_calls::wildcard::simplified;
use hookexec_files::address::without_addresses;
use hookexec_files::paths::lexical;
use percent_encoding::percent_decode_str;

/// Characters that may stand right before or behind a path within a word.
const JOINTS: [char; 18] =
    ['<', '=', ':', ',', '@', '(', ')', '[', ']', '{', '}', '"', '\'', '`', '+', ';', '#', '%'];

/// Texts, each once, in order.
#[derive(Debug, Default)]
pub(super) struct Texts {
    found: BTreeSet<String>,
    bytes: usize,
}

impl Texts {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(String::as_str)
    }

    pub(super) fn remove(&mut self, text: &str) {
        self.found.remove(text);
    }

    /// Adds everything that a text may mean with its variables replaced.
    pub(super) fn add_versions(
        &mut self,
        text: &str,
        place: &Place<'_>,
    ) -> Result<(), &'static str> {
        if !is_in_directory(text) {
            self.add_pieces(&without_outputs(text))?;
        }
        for version in place.versions(text) {
            let lists = braces(&version);
            place.scene.look(lists.len())?;
            for version in lists {
                self.add_pieces(&version)?;
                // A range, as in `{1..3}`.
                if version.contains("..") {
                    self.add_pieces(&without_braces(&version))?;
                }
            }
        }
        Ok(())
    }

    /// Adds `text` and every part of it that may be a path of its own: `--file=x`, `host:x`, `@x`,
    /// `-fx`, `open("x")`, `file://host/x`.
    pub(super) fn add_pieces(&mut self, text: &str) -> Result<(), &'static str> {
        if text.contains('%') {
            self.add_parts(&percent_decode_str(text).decode_utf8_lossy())?;
        }
        self.add_parts(text)
    }

    fn add_parts(&mut self, text: &str) -> Result<(), &'static str> {
        self.add_part(text)?;
        let text = without_addresses(text);
        for part in text.split(JOINTS) {
            self.add_part(part)?;
        }
        for (at, joint) in text.match_indices(JOINTS).take(64) {
            self.add_part(&text[at + joint.len()..])?;
        }
        Ok(())
    }

    fn add_part(&mut self, part: &str) -> Result<(), &'static str> {
        self.add(part)?;
        if part.starts_with('-') {
            // The value of a short option may stand right behind it.
            for (at, _) in part.char_indices().skip(1).take(4) {
                self.add(&part[at..])?;
            }
        }
        if let Some(rest) = part.strip_prefix("//")
            && let Some(at) = rest.find('/')
        {
            self.add(&rest[at..])?;
        }
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<(), &'static str> {
        let short;
        let text = if text.len() > LONGEST_PATH {
            // A tool may shorten a path before the system sees it, and a pattern may match a short one.
            let plain = lexical(Path::new(text)).to_string_lossy().into_owned();
            short = simplified(if text.starts_with('/') { &plain } else { &plain[1..] });
            &short
        } else {
            text
        };
        let is_long = text.len() - text.matches('*').count() > LONGEST_PATH;
        if text.is_empty() || is_long || self.found.contains(text) {
            return Ok(());
        }
        self.bytes += text.len() + size_of::<String>();
        if self.bytes > MOST_BYTES {
            return Err(TOO_MANY);
        }
        self.found.insert(text.to_owned());
        Ok(())
    }
}

/// Adds the words of `command` to `words`, and those of the texts in quotes, four levels deep: each may be a
/// path.
pub(super) fn add_words(command: &str, words: &mut BTreeSet<String>) {
    add_quoted_words(&without_outputs(command), 4, words);
}

/// Adds the words of a text between blanks and operators; a name with a blank in quotes stays whole. A
/// text in quotes may be a command itself.
fn add_quoted_words(text: &str, depth: usize, words: &mut BTreeSet<String>) {
    let mut word = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => word.extend(letters.next()),
            '\'' | '"' | '`' => {
                let inside = up_to(letter, &mut letters);
                if depth > 0
                    && inside.contains(|letter| is_separator(letter) || "'\"\\".contains(letter))
                {
                    add_quoted_words(&inside, depth - 1, words);
                }
                word.push_str(&inside);
            }
            letter if is_separator(letter) || letter == ')' => {
                words.insert(std::mem::take(&mut word));
            }
            _ => word.push(letter),
        }
    }
    words.insert(word);
}

/// Returns the text up to a quote. A backslash before the quote takes its meaning.
fn up_to(quote: char, letters: &mut Chars<'_>) -> String {
    let mut inside = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote != '\'' => inside.extend(letters.next()),
            letter if letter == quote => break,
            _ => inside.push(letter),
        }
    }
    inside
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '<' | '>' | '(')
}
