//! One simple command, and the command that it runs.

use super::shells::{self, Hidden};
use super::walk::{Frame, Walk};
use super::word::Word;
use super::wrappers;
use hookexec::describe::Command;

/// A simple command before it is known what it runs.
pub(super) struct Simple {
    pub(super) assignments: Vec<Word>,
    pub(super) words: Vec<Word>,
    /// Whether its words run commands that are not shown.
    pub(super) hides: bool,
}

/// How many programs may run one another in one command.
const MOST_WRAPPERS: usize = 8;
/// How many words the commands that others run may have together. Each of them is copied: 20 ms.
const MOST_INNER_WORDS: usize = 64 << 10;

/// Adds a command, and what it runs.
pub(super) fn expand(walk: &mut Walk, simple: Simple, frame: &Frame) {
    let Simple { assignments, words, hides } = simple;
    let program = words.first();
    let command = Command {
        program: program.map(|word| word.text.clone()).unwrap_or_default(),
        args: words.iter().skip(1).map(|word| word.text.clone()).collect(),
        assignments: assignments.iter().map(|word| word.text.clone()).collect(),
        uncertain: frame.uncertain
            || hides
            || assignments.iter().chain(&words).any(Word::is_unknown)
            || program.is_some_and(|word| !word.is_literal()),
        hides: hides || program.is_some_and(|word| !word.is_literal()),
        unknown: assignments
            .iter()
            .chain(&words)
            .find(|word| word.is_unknown())
            .map(|word| word.text.clone()),
        ..walk.begun(frame)
    };
    let is_known = !command.hides && !words.is_empty();
    let place = walk.commands.len();
    walk.commands.push(command);
    if is_known && add_inner(walk, &words, frame).is_none() {
        walk.commands[place].hides = true;
        walk.commands[place].uncertain = true;
    }
}

/// Adds what a command runs, if it is known to run another; `None` if that is not known.
fn add_inner(walk: &mut Walk, words: &[Word], frame: &Frame) -> Option<()> {
    let name = base_name(&words[0].text);
    let mut inner = frame.clone();
    inner.wrappers.push(name.clone());
    inner.depth += 1;
    inner.redirections.clear();
    if inner.wrappers.len() > MOST_WRAPPERS {
        return None;
    }
    walk.inner_words += words.len() * wrappers::most_inner(&name, &words[1..]);
    if walk.inner_words > MOST_INNER_WORDS {
        return None;
    }
    match shells::hidden(&name, &words[1..]) {
        Hidden::Nothing => {}
        Hidden::Unknown => return None,
        Hidden::Text(text) => return walk.text(&text, &Frame { more: false, ..inner }),
    }
    if frame.more && wrappers::is_search(&name) {
        return None;
    }
    for run in wrappers::inner(&name, &words[1..])? {
        let more = frame.more || run.more;
        let Some(first) = run.words.first() else {
            // The words to come are the command, but `xargs` alone runs `echo`.
            if frame.more {
                return None;
            }
            continue;
        };
        // Words that come later may be the text that a shell runs, or name the program.
        if more && (shells::is_shell(&base_name(&first.text)) || run.replaces(&first.text)) {
            return None;
        }
        let frame = Frame { uncertain: inner.uncertain || more, more, ..inner.clone() };
        expand(
            walk,
            Simple { assignments: run.assignments, words: run.words, hides: false },
            &frame,
        );
    }
    Some(())
}

/// Returns a program's name without its directory, in small letters: some file systems ignore case.
pub(crate) fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or_else(|| name.clone(), str::to_owned)
}
