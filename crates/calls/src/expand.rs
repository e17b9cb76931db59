//! The texts that a word may stand for once a shell expanded it, and the commands with the words that
//! the call itself sets: `V=-rf; rm $V x` is `rm -rf x`, and `rm -{r,f} x`, too.

use super::command::{Certainty, SimpleCommand, Word};
use super::limits::{DEEPEST, LONGEST_PATH, MOST_ALTERNATIVES};
use super::place::{Place, Places, Scene};
use super::reader::MOST_COMMANDS;
use crate::shell::{UNKNOWN, braces, hidden, next_expansion};
use crate::wildcard::{Part, has_wildcard};
use hookexec_files::text::name_length;

/// Returns whether a text ends a path, or goes on with the next part of it.
pub fn is_rest_of_path(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

impl Place<'_> {
    /// Returns the texts that a word may stand for.
    pub fn expansions(&self, word: &Word) -> Vec<String> {
        if word.is_known() {
            return vec![word.text.clone()];
        }
        let mut texts = Vec::new();
        for text in braces(&word.text) {
            texts.extend(self.texts(&self.with_home(&text), 0));
        }
        for at in 0..texts.len() {
            texts.extend(climbing(&texts[at]));
        }
        texts
    }

    /// Returns the texts that a text may stand for. Variables of the environment may also be unknown, as
    /// that of the shell may be another one.
    pub fn versions(&self, text: &str) -> Vec<String> {
        let mut texts = self.texts(text, 0);
        if text.contains('$') && !is_in_directory(text) {
            texts.push(hidden(text));
        }
        texts
    }

    /// Returns a text with the home for the `~` that it begins with.
    fn with_home(&self, text: &str) -> String {
        let Some(rest) = text.strip_prefix('~') else { return text.to_owned() };
        match self.home() {
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
            Some(values) => values.to_vec(),
            None if name == "PWD" => vec![self.directory()],
            None if name == "OLDPWD" => Vec::new(),
            None => self.scene.variable(name).into_iter().collect(),
        }
    }

    /// Returns what a command prints, for the few of which that is known.
    fn output(&self, command: &str) -> Vec<String> {
        // A fresh file with a name that nothing else has.
        if command.split("||").all(is_mktemp) && !self.variables.contains_key("TMPDIR") {
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

/// Returns a path with `..` for each wildcard that some shells find it for: `a/.*/b`, `a/.?/b`.
fn climbing(path: &str) -> Option<String> {
    let (directory, name) = path.rsplit_once('/')?;
    if !directory.contains("/.") && !directory.starts_with('.') {
        return None;
    }
    let mut parts = Vec::new();
    for part in directory.split('/') {
        let climbs = part.starts_with('.') && has_wildcard(part) && Part::of(part).fits("..", true);
        parts.push(if climbs { ".." } else { part });
    }
    let climbed = format!("{}/{name}", parts.join("/"));
    if climbed == path { None } else { Some(climbed) }
}

/// Returns whether a text begins with the directory of the shell, and has no other expansion.
pub fn is_in_directory(text: &str) -> bool {
    let Some((before, expansion, behind)) = next_expansion(text) else { return false };
    let is_directory = matches!(expansion, "$PWD" | "${PWD}" | "$(pwd)");
    before.is_empty() && is_directory && !behind.contains(['$', '`', '<', '>'])
}

fn longest(texts: &[String]) -> usize {
    texts.iter().map(String::len).max().unwrap_or(0)
}

fn between(text: &str, start: char, end: char) -> Option<&str> {
    text.strip_prefix(start)?.strip_suffix(end)
}

fn is_mktemp(command: &str) -> bool {
    let command = command.trim().trim_end_matches("2>/dev/null");
    for word in command.split(' ') {
        let path = word.trim_start_matches('"');
        let is_temporary =
            ["/tmp/", "$TMPDIR/", "${TMPDIR"].iter().any(|one| path.starts_with(one));
        let names_directory = word.starts_with("-p") || word.starts_with("--t");
        if names_directory || word.contains("..") || word.contains('/') && !is_temporary {
            return false;
        }
    }
    command.starts_with("mktemp") && !command.contains(['|', ';', '&', '`', '<', '>', '(', '\n'])
}

/// Puts the values of words into commands. Another shell, as in `bash -c`, may not have the variables.
pub fn with_values(commands: &[SimpleCommand], scene: &Scene<'_>) -> Vec<SimpleCommand> {
    let mut places = Places::of(scene);
    // Whether a program is a fetched file is known only where the call is read.
    let fetches = commands.iter().any(SimpleCommand::fetches);
    let mut found = Vec::new();
    for command in commands {
        let mut words = command.assignments.iter().chain(&command.words);
        // The text of a trap runs in another state.
        if words.all(Word::is_known) || command.program() == "trap" || found.len() > MOST_COMMANDS {
            found.push(command.clone());
            continue;
        }
        let place = places.after(&command.history);
        let mut command = command.clone();
        for word in &mut command.assignments {
            if let [words] = &words_of(word, &place)[..]
                && let [value] = &words[..]
            {
                *word = value.clone();
            }
        }
        let mut lists = vec![Vec::new()];
        for word in &command.words {
            let values = words_of(word, &place);
            if lists.len() * values.len() > MOST_ALTERNATIVES {
                // Each value stands beside the first of the others.
                let mut beside = Vec::new();
                if lists.len() <= MOST_ALTERNATIVES {
                    beside.extend(values.iter().map(|value| [&lists[0][..], value].concat()));
                }
                for list in &mut lists {
                    list.push(word.clone());
                }
                lists.extend(beside);
                continue;
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
            let is_known = !command.runs_unknown() || words == command.words;
            if is_known || fetches {
                found.push(SimpleCommand { words: words.clone(), ..command.clone() });
            }
            if !is_known {
                found.extend(command.with_words(words));
            }
        }
    }
    found
}

/// Returns the lists of words of which a word becomes one; itself if the call does not tell them.
fn words_of(word: &Word, place: &Place<'_>) -> Vec<Vec<Word>> {
    let own = vec![vec![word.clone()]];
    let is_told = word.text.contains(['$', '{']) && is_told(&word.text, place);
    if word.is_known() || !is_told {
        return own;
    }
    let is_list = !word.text.contains('$');
    // Where a shell divides a value is not known then.
    let is_open = !is_list && !word.quoted && place.variables.contains_key("IFS");
    let mut lists = if is_open { own } else { Vec::new() };
    let texts = if is_list { braces(&word.text) } else { place.expansions(word) };
    for text in texts {
        // Only what is not in quotes is divided.
        let may_divide = word.certainty == Certainty::Unknown || !word.quoted;
        let mut readings: Vec<Vec<&str>> = Vec::new();
        if may_divide {
            readings.push(text.split_whitespace().collect());
        }
        if word.quoted && (!may_divide || text.contains(char::is_whitespace)) {
            readings.push(vec![&text]);
        }
        for parts in readings {
            // One value may be known, and another not.
            lists.push(words_from(&parts).unwrap_or_else(|| vec![word.clone()]));
        }
    }
    // An empty word names nothing.
    if lists.len() > 1 {
        lists.retain(|words| !matches!(&words[..], [word] if word.text.is_empty()));
    }
    // A list in braces is several words.
    if is_list { vec![lists.concat()] } else { lists }
}

/// Returns texts as words, if a shell expands none of them once more.
fn words_from(parts: &[&str]) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    for part in parts {
        // In zsh `=rm` is the path of `rm`.
        if part.starts_with('=') || part.contains(['~', '$', '`', '{', '<', '>', UNKNOWN]) {
            return None;
        }
        // The value may be a wildcard.
        words.push(match part.find(['*', '?', '[']) {
            Some(known) => Word { certainty: Certainty::Paths, known, ..Word::unknown(part) },
            None => Word::known(part),
        });
    }
    Some(words)
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
