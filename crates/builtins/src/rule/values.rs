//! Words that the call itself sets: `V=-rf; rm $V x` is `rm -rf x`, and `rm -{r,f} x`, too.

use super::expand::{UNKNOWN, expansions};
use super::part::braces;
use super::place::{Place, Places, Scene};
use crate::calls::{SimpleCommand, Word, is_shell};
use crate::shell::next_expansion;

/// Puts the values of words into commands. Another shell, as in `bash -c`, may not have the variables.
pub(super) fn put_values(commands: &mut [SimpleCommand], scene: &Scene<'_>) {
    const OTHER_SHELLS: [&str; 6] = ["ssh", "su", "runuser", "script", "watch", "adb"];
    let mut places = Places::default();
    for command in commands {
        let mut wrappers = command.wrappers.iter();
        if command.words.iter().all(Word::is_known)
            || wrappers.any(|name| is_shell(name) || OTHER_SHELLS.contains(&name.as_str()))
        {
            continue;
        }
        let place = places.after(&command.history, scene);
        let mut words = Vec::new();
        // A program that is not known may run another one.
        words.extend(command.words.first().cloned());
        for word in command.words.iter().skip(1) {
            match values(word, &place, scene) {
                Some(texts) => words.extend(texts.iter().map(|text| Word::known(text))),
                None => words.push(word.clone()),
            }
        }
        command.words = words;
    }
}

/// Returns the words that a word becomes, if the call tells them and none is a path.
fn values(word: &Word, place: &Place, scene: &Scene<'_>) -> Option<Vec<String>> {
    if word.is_known() {
        return None;
    }
    let texts = if !word.text.contains('$') {
        braces(&word.text)
    } else if word.quoted {
        vec![value(word, place, scene)?]
    } else {
        value(word, place, scene)?.split_whitespace().map(str::to_owned).collect()
    };
    if texts.iter().any(|text| text.contains(['/', '*', '?', '[', '~', '$', '`', '{', UNKNOWN])) {
        return None;
    }
    Some(texts)
}

/// Returns the only text that a word with variables of the call may stand for.
fn value(word: &Word, place: &Place, scene: &Scene<'_>) -> Option<String> {
    let mut rest = word.text.as_str();
    while let Some((_, expansion, behind)) = next_expansion(rest) {
        let name = expansion[1..].trim_matches(['{', '}']);
        if !place.variables.contains_key(name) {
            return None;
        }
        rest = behind;
    }
    let mut texts = expansions(word, place, scene);
    if texts.len() == 1 { texts.pop() } else { None }
}
