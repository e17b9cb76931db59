//! Words that the call itself sets: `V=-rf; rm $V x` is `rm -rf x`, and `rm -{r,f} x`, too.

use super::arguments::program_name;
use super::expand::{UNKNOWN, expansions};
use super::part::braces;
use super::place::{Place, Places, Scene};
use crate::calls::{SimpleCommand, Word};
use crate::shell::next_expansion;
use hookexec_files::text::name_length;

/// Puts the values of words into commands, and exported variables before those behind.
pub(super) fn put_values(commands: &mut [SimpleCommand], scene: &Scene<'_>) {
    let mut places = Places::default();
    let mut exported: Vec<String> = Vec::new();
    for command in commands {
        let is_known = command.words.iter().all(Word::is_known);
        if is_known && exported.is_empty() && !is_export(command) {
            continue;
        }
        let place = places.after(&command.history, scene);
        for name in &exported {
            if let Some([value]) = place.variables.get(name).map(Vec::as_slice)
                && !value.contains(UNKNOWN)
            {
                command.assignments.push(Word::known(&format!("{name}={value}")));
            }
        }
        if is_export(command) {
            for word in command.words.iter().skip(1) {
                exported.push(word.text[..name_length(&word.text)].to_owned());
            }
        }
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

fn is_export(command: &SimpleCommand) -> bool {
    let program = command.words.first().and_then(program_name);
    program.as_deref() == Some("export")
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
