//! The texts that a word may stand for once a shell expanded it.

use super::limits::{DEEPEST, LONGEST_PATH, MOST_ALTERNATIVES};
use super::part::braces;
use super::place::Place;
use hookexec_calls::Word;
use hookexec_calls::shell::{next_expansion, with_expansions_as, with_outputs_as};
use hookexec_files::text::name_length;

/// Stands in a text for what only the shell knows.
pub(super) const UNKNOWN: char = '\0';

/// Returns a text with the mark of what is not known for each expansion in it.
pub(super) fn hidden(text: &str) -> String {
    with_expansions_as("\0", text)
}

/// Returns a text with the mark of what is not known for the output of each command in it.
pub(super) fn without_outputs(text: &str) -> String {
    with_outputs_as("\0", text)
}

/// Returns whether a text ends a path, or goes on with the next part of it.
pub(super) fn is_rest_of_path(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

impl Place<'_> {
    /// Returns the texts that a word may stand for.
    pub(super) fn expansions(&self, word: &Word) -> Vec<String> {
        if word.is_known() {
            return vec![word.text.clone()];
        }
        let mut texts = Vec::new();
        for text in braces(&word.text) {
            texts.extend(self.texts(&self.with_home(&text), 0));
        }
        texts
    }

    /// Returns the texts that a text may stand for. Variables of the environment may also be unknown, as
    /// that of the shell may be another one.
    pub(super) fn versions(&self, text: &str) -> Vec<String> {
        let mut texts = self.texts(text, 0);
        if text.contains('$') {
            texts.push(hidden(text));
        }
        texts
    }

    /// Returns a text with the home for the `~` that it begins with.
    fn with_home(&self, text: &str) -> String {
        let Some(rest) = text.strip_prefix('~') else { return text.to_owned() };
        match self.scene.home() {
            Some(home) if is_rest_of_path(rest) => format!("{home}{rest}"),
            _ => format!("{UNKNOWN}{rest}"),
        }
    }

    /// Returns the directory of the shell as a text.
    fn directory(&self) -> String {
        let directory = match &self.directories[..] {
            [Some(directory)] => directory.to_str(),
            _ => None,
        };
        directory.unwrap_or("\0").to_owned()
    }

    /// Returns what a text may stand for that stands so deep in others.
    fn texts(&self, text: &str, depth: usize) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut rest = text;
        while let Some((before, expansion, behind)) = next_expansion(rest) {
            let mut values = self.values(expansion, depth);
            let is_long = longest(&values) + longest(&texts) > LONGEST_PATH;
            let are_many = values.len() * texts.len() > MOST_ALTERNATIVES;
            if values.is_empty() || are_many || is_long {
                values = vec![UNKNOWN.to_string()];
            }
            let mut longer = Vec::new();
            for text in &texts {
                for value in &values {
                    longer.push(format!("{text}{before}{value}"));
                }
            }
            texts = longer;
            rest = behind;
        }
        for text in &mut texts {
            text.push_str(rest);
        }
        texts
    }

    /// Returns what an expansion may stand for; nothing if that is not known.
    fn values(&self, expansion: &str, depth: usize) -> Vec<String> {
        let inside = &expansion[1..];
        if inside.is_empty() {
            return vec!["$".to_owned()];
        }
        if let Some(command) = between(inside, '(', ')') {
            return self.output(command.trim());
        }
        if let Some(parameter) = between(inside, '{', '}') {
            return self.parameter(parameter, depth);
        }
        if let Some(text) = between(inside, '\'', '\'') {
            return if text.contains('\\') { Vec::new() } else { vec![text.to_owned()] };
        }
        if name_length(inside) == inside.len() { self.variable(inside) } else { Vec::new() }
    }

    fn variable(&self, name: &str) -> Vec<String> {
        match self.variables.get(name) {
            Some(values) => values.clone(),
            None if name == "PWD" => vec![self.directory()],
            None if name == "OLDPWD" => Vec::new(),
            None => self.scene.variable(name).into_iter().collect(),
        }
    }

    /// Returns what a command prints, for the few of which that is known.
    fn output(&self, command: &str) -> Vec<String> {
        // A fresh file with a name that nothing else has.
        if command.split("||").all(is_mktemp) {
            return vec![format!("{}/mktemp", self.scene.surroundings.temp_dir().display())];
        }
        if command == "pwd" { vec![self.directory()] } else { Vec::new() }
    }

    /// Returns what `${...}` stands for, with a default.
    fn parameter(&self, inside: &str, depth: usize) -> Vec<String> {
        let (name, operator) = inside.split_at(name_length(inside));
        if name.is_empty() {
            return Vec::new();
        }
        let mut values = self.variable(name);
        let rest = operator.strip_prefix(':').unwrap_or(operator);
        match rest.chars().next() {
            None if operator.is_empty() => {}
            Some('?') => {}
            Some(letter @ ('-' | '=' | '+')) if depth < DEEPEST => {
                if letter == '+' {
                    // It is the text, or nothing if the variable is empty.
                    values = vec![String::new()];
                }
                let text = rest[1..].trim_matches(['"', '\'']);
                values.extend(self.texts(&self.with_home(text), depth + 1));
            }
            _ => return Vec::new(),
        }
        values
    }
}

fn longest(texts: &[String]) -> usize {
    texts.iter().map(String::len).max().unwrap_or(0)
}

fn between(text: &str, start: char, end: char) -> Option<&str> {
    text.strip_prefix(start)?.strip_suffix(end)
}

fn is_mktemp(command: &str) -> bool {
    let command = command.trim().trim_end_matches("2>/dev/null");
    command.starts_with("mktemp") && !command.contains(['|', ';', '&', '`', '<', '>', '(', '\n'])
}
