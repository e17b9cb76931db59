//! Whether a command of a text that can't be read may fit a pattern.

use super::fit::is_cluster_with;
use super::implied::is_database;
use super::pattern::{Alternative, Pattern, base};
use super::table::Row;
use hookexec_files::glob::{glob, glob_any_case};

impl Pattern {
    /// Returns whether one alternative of each word stands among words that can't be read.
    pub(super) fn stands_in(&self, words: &[String]) -> bool {
        let mut row = None;
        if self.is_for_many() {
            row = Some(self.row(""));
        }
        for word in words {
            let name = base(word);
            let is_client = self.programs == ["sql"] && is_database(name);
            if row.is_none() && (is_client || self.is_named(name)) {
                row = Some(self.row(name));
            }
        }
        let Some(row) = row else { return false };
        let text = words.join(" ");
        for word in &self.words {
            if !word.alternatives.iter().any(|one| one.stands_in(words, &text, &row)) {
                return false;
            }
        }
        true
    }
}

impl Alternative {
    /// Returns whether it stands among words that can't be read, or in their text.
    fn stands_in(&self, words: &[String], text: &str, row: &Row) -> bool {
        match self {
            Self::Any => true,
            // A text with a variable has no known words.
            Self::Variable(name) => name == "*",
            Self::Word(name) => words.iter().any(|word| glob_any_case(name, word)),
            Self::Option(name, value) => {
                // A value may be several words, and have letters that are in none.
                if let Some(value) = value
                    && !glob(&format!("*{}*", value.replace(is_other, "*")), text)
                {
                    return false;
                }
                let first = row.first_name(name);
                let mut names = vec![&**name, first];
                names.extend(row.forms(first));
                names.iter().any(|name| stands_among(words, name, row))
            }
        }
    }
}

/// Returns whether a letter stands in no word of a text that can't be read.
fn is_other(letter: char) -> bool {
    !letter.is_alphanumeric() && !"_-./:@%+=,$~".contains(letter)
}

/// Returns whether an option, or both of `-d+-f`, stands among words.
fn stands_among(words: &[String], option: &str, row: &Row) -> bool {
    if let Some((one, other)) = option.split_once("+-") {
        return stands_among(words, one, row) && stands_among(words, &format!("-{other}"), row);
    }
    words.iter().any(|word| glob(option, word) || !row.long && is_cluster_with(word, option))
}
