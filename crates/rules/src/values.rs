//! Words that the call itself sets: `V=-rf; rm $V x` is `rm -rf x`, and `rm -{r,f} x`, too. A word that
//! may have several values makes a command of each.

use super::expand::UNKNOWN;
use super::limits::MOST_ALTERNATIVES;
use super::part::braces;
use super::place::{Place, Places, Scene};
use hookexec_calls::shell::next_expansion;
use hookexec_calls::{Certainty, Hidden, SimpleCommand, Word};
use hookexec_files::text::name_length;

/// Puts the values of words into commands. Another shell, as in `bash -c`, may not have the variables.
pub(super) fn with_values(commands: &[SimpleCommand], scene: &Scene<'_>) -> Vec<SimpleCommand> {
    let mut places = Places::of(scene);
    // Whether a program is a fetched file is known only where the call is read.
    let fetches = commands.iter().any(SimpleCommand::fetches);
    let mut found = Vec::new();
    for command in commands {
        let mut words = command.assignments.iter().chain(&command.words);
        if command.frame.other_shell || words.all(Word::is_known) {
            found.push(command.clone());
            continue;
        }
        let place = places.after(&command.history);
        let mut command = command.clone();
        for word in &mut command.assignments {
            if let [words] = &values(word, &place)[..]
                && let [value] = &words[..]
            {
                *word = value.clone();
            }
        }
        let mut lists = vec![Vec::new()];
        for word in &command.words {
            let mut values = values(word, &place);
            if lists.len() * values.len() > MOST_ALTERNATIVES {
                values = vec![vec![word.clone()]];
            }
            if let [value] = &values[..] {
                for list in &mut lists {
                    list.extend_from_slice(value);
                }
                continue;
            }
            let before = std::mem::take(&mut lists);
            for list in &before {
                lists.extend(values.iter().map(|value| [&list[..], value].concat()));
            }
        }
        for words in lists {
            if command.hidden == Hidden::Nothing || fetches || words == command.words {
                found.push(SimpleCommand { words, ..command.clone() });
            } else {
                found.extend(command.with_words(words));
            }
        }
    }
    found
}

/// Returns the lists of words of which a word becomes one; itself if the call does not tell them.
fn values(word: &Word, place: &Place<'_>) -> Vec<Vec<Word>> {
    let own = vec![vec![word.clone()]];
    let is_told = word.text.contains(['$', '{']) && is_told(&word.text, place);
    if word.is_known() || !is_told {
        return own;
    }
    let mut lists = Vec::new();
    let is_list = !word.text.contains('$');
    let texts = if is_list { braces(&word.text) } else { place.expansions(word) };
    for text in texts {
        let mut words = Vec::new();
        let parts: Vec<&str> =
            if word.quoted { vec![&text] } else { text.split_whitespace().collect() };
        for part in parts {
            // In zsh `=rm` is the path of `rm`.
            if part.starts_with('=') || part.contains(['~', '$', '`', '{', '<', '>', UNKNOWN]) {
                return own;
            }
            // The value may be a wildcard.
            words.push(match part.find(['*', '?', '[']) {
                Some(known) => Word { certainty: Certainty::Paths, known, ..Word::unknown(part) },
                None => Word::known(part),
            });
        }
        lists.push(words);
    }
    // A list in braces is several words.
    if is_list { vec![lists.concat()] } else { lists }
}

/// Returns whether the call sets each variable of a text. `${NAME:+x}` is `x` or nothing for any name.
fn is_told(text: &str, place: &Place<'_>) -> bool {
    let mut rest = text;
    while let Some((_, expansion, behind)) = next_expansion(rest) {
        let inside = expansion[1..].trim_start_matches('{');
        let (name, operator) = inside.split_at(name_length(inside));
        let is_choice = !name.is_empty() && operator.starts_with(":+");
        if !is_choice && !place.variables.contains_key(name) {
            return false;
        }
        rest = behind;
    }
    true
}
