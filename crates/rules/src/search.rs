//! The files that a `find` finds where it acts on them: those of the tests before the action.

use super::arguments::Arguments;
use hookexec_calls::Word;

/// Returns where a `find` begins, and the patterns of what it acts on there.
pub(super) fn searched(search: &Arguments<'_>, start: &str) -> Vec<(String, String)> {
    let patterns = acted_on(search.command.words.get(1..).unwrap_or_default());
    let mut found = Vec::new();
    for start in starts(search, start) {
        for pattern in &patterns {
            found.push((start.to_owned(), pattern.clone()));
        }
    }
    found
}

/// Returns the patterns of what the actions of a `find` are for. Where not every alternative of the
/// tests before them names something, that is everything.
fn acted_on(words: &[Word]) -> Vec<String> {
    let (mut names, mut acted) = (Vec::new(), Vec::new());
    // Whether this alternative names something, and whether one before it does not.
    let (mut is_named, mut is_open) = (false, false);
    let mut is_negated = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" => {
                if let Some(name) = rest.next()
                    && !is_negated
                {
                    names.push(format!("**/{}", name.text.trim_start_matches("./")));
                    is_named = true;
                }
            }
            "(" => is_open |= is_negated,
            "-o" | "-or" | "," => {
                is_open |= !is_named;
                is_named = false;
            }
            "-delete" | "-print" | "-print0" | "-ls" => {
                is_open |= !is_named;
                acted.clone_from(&names);
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                is_open |= !is_named;
                acted.clone_from(&names);
                // The words of its command are not tests.
                rest.find(|word| word.text == ";" || word.text == "+");
            }
            _ => {}
        }
        is_negated = matches!(word.text.as_str(), "!" | "-not");
    }
    // Without an action it prints what it finds.
    if acted.is_empty() && is_named {
        acted = names;
    }
    if is_open || acted.is_empty() { vec!["*".to_owned()] } else { acted }
}

/// Returns the directories that a `find` begins in: the operands before its first test.
fn starts<'s>(search: &'s Arguments<'_>, start: &'s str) -> Vec<&'s str> {
    if !start.is_empty() {
        return vec![start];
    }
    let mut tests = search.options.iter();
    let count = match tests.find(|option| !matches!(&*option.name, "-H" | "-L" | "-P")) {
        Some(test) => test.operands_before,
        None => search.operands.len(),
    };
    let starts: Vec<&str> = search.operands[..count].iter().map(|word| &*word.text).collect();
    if starts.is_empty() { vec!["."] } else { starts }
}
