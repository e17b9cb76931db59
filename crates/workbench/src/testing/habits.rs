//! Proposes an allow rule from calls of the past.

use std::collections::{HashMap, HashSet};

use hookexec::Input;
use hookexec_agents::tools;
use hookexec_builtins::secrets::Redactor;
use hookexec_calls::shell::{is_interpreter, is_shell, is_understood, runs_next};
use hookexec_calls::{SimpleCommand, commands_of_text};

/// Programs that run what their arguments or files name.
const RUNS_MORE: [&str; 14] = [
    "awk", "bun", "ed", "gawk", "gmake", "go", "hookexec", "just", "make", "npm", "npx", "pnpm",
    "tee", "yarn",
];

/// Commands that no word makes more than a look at files, or a build of the project.
const TAKE_ANY_WORDS: [&str; 19] = [
    "cargo build", "cargo check", "cargo clippy", "cargo doc", "cargo test", "cat", "cd", "du",
    "file", "git diff", "git log", "git show", "git status", "grep", "head", "ls", "rg", "tail",
    "wc",
];

/// The commands of calls that no hook stopped, and that ran without an error.
#[derive(Debug, Default)]
pub struct Habits {
    /// How many calls are left out, since a hook for them did not run, failed, or had doubts.
    pub left_out: usize,
    /// The calls whose results are still to come.
    waiting: HashSet<String>,
    /// How often each ran.
    counts: HashMap<String, usize>,
}

impl Habits {
    /// Takes in a call of a shell before it runs, and counts its commands after.
    pub(super) fn add(&mut self, input: &Input, id: &str, is_before: bool, is_judged: bool) {
        if is_before {
            if !input.tool_kinds.iter().any(|kind| kind == "shell") {
                return;
            }
            if is_judged {
                self.waiting.insert(id.to_owned());
            } else {
                self.left_out += 1;
            }
            return;
        }
        if !self.waiting.remove(id) || input.tool_error != Some(false) {
            return;
        }
        let Some(arguments) = &input.tool_input else { return };
        let Some(text) = tools::subject(input.tool(), arguments) else { return };
        let commands = commands_of_text(text);
        if !is_understood(&commands) {
            return;
        }
        for (at, command) in commands.iter().enumerate() {
            if !runs_next(&commands, at)
                && let Some(pattern) = pattern(command)
            {
                *self.counts.entry(pattern).or_default() += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.left_out += other.left_out;
        for (pattern, count) in other.counts {
            *self.counts.entry(pattern).or_default() += count;
        }
    }

    /// Returns the patterns of commands that ran often, the most frequent first.
    pub fn frequent(&self) -> Vec<(&str, usize)> {
        let mut frequent = Vec::new();
        let redactor = Redactor::default();
        for (pattern, count) in &self.counts {
            // `cargo test *` is also `cargo test`.
            if self.counts.contains_key(&format!("{pattern} *")) {
                continue;
            }
            let bare = pattern.strip_suffix(" *").and_then(|bare| self.counts.get(bare));
            let count = count + bare.copied().unwrap_or_default();
            // It is proposed if it ran that often.
            if count >= 5 && redactor.find(pattern).is_empty() {
                frequent.push((pattern.as_str(), count));
            }
        }
        frequent.sort_by_key(|(pattern, count)| (std::cmp::Reverse(*count), *pattern));
        frequent
    }
}

/// Returns the pattern of an allow for a command: the whole command, or one of [`TAKE_ANY_WORDS`] with a
/// `*` for the rest; `None` for a command that runs others.
fn pattern(command: &SimpleCommand) -> Option<String> {
    let program = command.words.first()?;
    let name = &program.text;
    let runs_more = RUNS_MORE.contains(&name.as_str()) || is_interpreter(name) || is_shell(name);
    let is_alone = command.assignments.is_empty() && !command.hides();
    if runs_more || !is_alone || !program.is_literal() || !is_name(name) {
        return None;
    }
    let mut words = Vec::new();
    for word in &command.words {
        if TAKE_ANY_WORDS.contains(&words.join(" ").as_str()) {
            words.push("*");
            break;
        }
        if !word.is_literal() || !is_plain(&word.text) {
            return None;
        }
        words.push(word.text.as_str());
    }
    Some(words.join(" "))
}

fn is_name(text: &str) -> bool {
    let is_part =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    text.starts_with(|letter: char| letter.is_ascii_lowercase()) && text.chars().all(is_part)
}

/// Returns whether a pattern of this text fits the text alone. A comma at the end of a word would be a
/// mistake in a pattern.
pub fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && !text.ends_with(',')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+=:,".contains(c))
}
