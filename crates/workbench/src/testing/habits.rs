//! Proposes an allow rule from calls of the past.

use std::collections::HashMap;

use hookexec_builtins::shell::{ScriptCommand, is_interpreter, is_shell, read_script};

/// How often a command ran before it is proposed.
const OFTEN: usize = 5;

/// The commands of calls that no hook stopped, each with how often it ran.
#[derive(Debug, Default)]
pub struct Habits(HashMap<String, usize>);

impl Habits {
    /// Counts the commands of a text for a shell.
    pub(super) fn add(&mut self, text: &str) {
        let script = read_script(text);
        if !script.understood {
            return;
        }
        for command in &script.commands {
            if let Some(pattern) = pattern(command) {
                *self.0.entry(pattern).or_default() += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (pattern, count) in other.0 {
            *self.0.entry(pattern).or_default() += count;
        }
    }

    /// Returns the patterns of commands that ran often, the most frequent first.
    pub fn frequent(&self) -> Vec<(&str, usize)> {
        let mut frequent = Vec::new();
        for (pattern, count) in &self.0 {
            // `cargo test *` is also `cargo test`.
            if self.0.contains_key(&format!("{pattern} *")) {
                continue;
            }
            let bare = pattern.strip_suffix(" *").and_then(|bare| self.0.get(bare));
            let count = count + bare.copied().unwrap_or_default();
            if count >= OFTEN {
                frequent.push((pattern.as_str(), count));
            }
        }
        frequent.sort_by_key(|(pattern, count)| (std::cmp::Reverse(*count), *pattern));
        frequent
    }
}

/// Returns the pattern of an allow for a command: the program and its subcommand, and a `*` for the rest;
/// `None` for a command that runs others.
fn pattern(command: &ScriptCommand) -> Option<String> {
    let program = command.words.first()?;
    let name = &program.text;
    let runs_others = command.hides || command.runs_next || is_interpreter(name) || is_shell(name);
    if runs_others || !program.literal || !is_name(name) {
        return None;
    }
    let mut pattern = name.clone();
    let mut shown = 1;
    if let Some(second) = command.words.get(1).filter(|word| word.literal && is_name(&word.text)) {
        pattern = format!("{pattern} {}", second.text);
        shown = 2;
    }
    if command.words.len() > shown {
        pattern.push_str(" *");
    }
    Some(pattern)
}

fn is_name(text: &str) -> bool {
    let is_part =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    text.starts_with(|letter: char| letter.is_ascii_lowercase()) && text.chars().all(is_part)
}
