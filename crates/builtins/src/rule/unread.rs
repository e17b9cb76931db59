//! Whether a command of a text that can't be read may fit a pattern.

use super::fit::is_cluster_with;
use super::glob::{glob, glob_any_case};
use super::pattern::{Alternative, Pattern, base};
use super::table::Row;

impl Pattern {
    /// Returns whether one alternative of each word stands among words that can't be read.
    pub(super) fn stands_in(&self, words: &[String]) -> bool {
        let mut names = words.iter().map(|word| base(word));
        let program =
            names.find(|name| self.programs.iter().any(|own| glob_any_case(base(own), name)));
        if program.is_none() && !self.is_for_many() {
            return false;
        }
        let row = self.row(program.unwrap_or_default());
        let text = words.join(" ");
        self.words.iter().all(|word| {
            let mut alternatives = word.alternatives.iter();
            word.negated || alternatives.any(|one| one.stands_in(words, &text, &row))
        })
    }
}

impl Alternative {
    /// Returns whether it stands among words that can't be read, or in their text.
    fn stands_in(&self, words: &[String], text: &str, row: &Row) -> bool {
        match self {
            Self::Any | Self::Variable(_) => true,
            Self::Word(name) => words.iter().any(|word| glob_any_case(name, word)),
            Self::Option(name, value) => {
                let first = row.first_name(name);
                let mut forms = row.forms(first).iter();
                let is_there = stands_among(words, name)
                    || stands_among(words, first)
                    || forms.any(|form| stands_among(words, form));
                is_there && value.as_ref().is_none_or(|value| holds_value(text, value))
            }
        }
    }
}

/// Returns whether a text may hold a value, which may be several words, and letters that are in none.
fn holds_value(text: &str, value: &str) -> bool {
    let mut pattern = String::from("*");
    for letter in value.chars() {
        let is_part = letter.is_alphanumeric() || "_-./".contains(letter);
        pattern.push(if is_part { letter } else { '*' });
    }
    pattern.push('*');
    glob(&pattern, text)
}

/// Returns whether an option, or both of `-d+-f`, stands among words.
fn stands_among(words: &[String], option: &str) -> bool {
    if let Some((one, other)) = option.split_once("+-") {
        return stands_among(words, one) && stands_among(words, &format!("-{other}"));
    }
    words.iter().any(|word| glob(option, word) || is_cluster_with(word, option))
}
