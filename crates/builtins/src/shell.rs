//! Reads a shell text into its simple commands, as far as the text alone tells.
//!
//! The reader knows quotes, comments, redirections, subshells and command substitutions. It expands
//! nothing: a word that a shell would expand keeps its text and is marked as not literal.

use std::iter::Peekable;
use std::path::Path;
use std::str::Chars;

/// Stands in a word for the output of a command.
pub const SUBSTITUTED: &str = "$(...)";

/// How deep substitutions may nest. A deeper text is reported as not understood.
const MAX_DEPTH: usize = 16;

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    /// Its text without quotes.
    pub text: String,
    /// Whether a shell takes it as it is, without an expansion.
    pub literal: bool,
}

impl Word {
    /// Returns a word that nothing expands.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), literal: true }
    }

    /// Returns whether the word sets a variable for the command behind it.
    pub fn is_assignment(&self) -> bool {
        let name = self.text.split_once('=').map_or("", |(name, _)| name);
        let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        !name.is_empty() && name.chars().all(part)
    }

    /// Returns the path below the directory that `variable` names, when the word begins with that
    /// variable and nothing else is expanded in it.
    pub fn below(&self, variable: &str) -> Option<&str> {
        let text = self.text.strip_prefix('$').filter(|_| !self.literal)?;
        let name = match text.strip_prefix('{') {
            Some(braced) => braced.strip_prefix(variable)?.strip_prefix('}'),
            None => text.strip_prefix(variable),
        };
        let rest = name?.strip_prefix('/')?;
        if rest.contains(['$', '`', '*', '?', '[', '{']) { None } else { Some(rest) }
    }
}

/// The simple commands of a text, in its order; those of a substitution come before the command
/// that it stands in.
#[derive(Debug, Default)]
pub struct Script {
    /// The words of each command.
    pub commands: Vec<Vec<Word>>,
    /// The words behind `<`, `>` and `<<<`: files, or a text.
    pub redirected: Vec<Word>,
    /// Whether the reader understood the whole text: it has no here-document, and all quotes and
    /// brackets are closed.
    pub understood: bool,
}

impl Script {
    /// Returns every word of the text.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.commands.iter().flatten().chain(&self.redirected)
    }
}

/// Returns `text` with all quotes and backslashes removed. No trick with them hides a name in it.
pub fn unquoted(text: &str) -> String {
    text.replace("$'", "'").replace("$\"", "\"").replace(['\'', '"', '\\'], "")
}

/// Quotes a word for a shell, when it needs it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%:,~".contains(letter);
    // A shell expands a `~` only at the beginning; short names of Windows have one further on.
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns `path` as a person can type it, in one line: a name must not be able to write lines of its own.
pub fn typed(path: &Path) -> String {
    let path = path.to_string_lossy();
    if !path.contains(char::is_control) {
        return quoted(&path);
    }
    let escaped = path.chars().map(|letter| match letter {
        '\\' | '\'' => format!("\\{letter}"),
        _ if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
        _ => letter.to_string(),
    });
    format!("$'{}'", escaped.collect::<String>())
}

/// Reads `text`.
pub fn read_script(text: &str) -> Script {
    let script = Script { understood: true, ..Script::default() };
    let mut reader = Reader { letters: text.chars().peekable(), script };
    reader.commands(None, 0);
    reader.script
}

struct Reader<'t> {
    letters: Peekable<Chars<'t>>,
    script: Script,
}

/// A command that is being read.
#[derive(Default)]
struct Pending {
    words: Vec<Word>,
    word: Option<Word>,
    /// Whether the next word is the file of a redirection.
    redirected: bool,
}

impl Pending {
    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word::literal(""))
    }

    fn end_word(&mut self, redirected: &mut Vec<Word>) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.redirected) { redirected } else { &mut self.words }.push(word);
    }
}

impl Reader<'_> {
    /// Reads commands up to `end`, or to the end of the text.
    fn commands(&mut self, end: Option<char>, depth: usize) {
        if depth > MAX_DEPTH {
            self.script.understood = false;
            return;
        }
        let (mut pending, mut open) = (Pending::default(), 0_usize);
        while let Some(letter) = self.letters.next() {
            if Some(letter) == end && open == 0 {
                self.end_command(&mut pending);
                return;
            }
            match letter {
                ' ' | '\t' => pending.end_word(&mut self.script.redirected),
                '\n' | ';' | '|' | '&' => self.end_command(&mut pending),
                '(' => {
                    self.end_command(&mut pending);
                    open += 1;
                }
                ')' if open > 0 => {
                    self.end_command(&mut pending);
                    open -= 1;
                }
                // The pattern of a `case`.
                ')' => pending = Pending::default(),
                '<' | '>' => self.redirection(letter, &mut pending),
                '#' if pending.word.is_none() => {
                    // PowerShell has comments in `<#` and `#>`.
                    self.script.understood &= !pending.redirected;
                    while self.letters.next_if(|letter| *letter != '\n').is_some() {}
                }
                _ => self.part(letter, &mut pending, depth),
            }
        }
        self.end_command(&mut pending);
        self.script.understood &= end.is_none() && open == 0;
    }

    fn end_command(&mut self, pending: &mut Pending) {
        pending.end_word(&mut self.script.redirected);
        pending.redirected = false;
        if !pending.words.is_empty() {
            self.script.commands.push(std::mem::take(&mut pending.words));
        }
    }

    fn redirection(&mut self, letter: char, pending: &mut Pending) {
        let is_number = |word: &Word| word.text.chars().all(|digit| digit.is_ascii_digit());
        pending.word = pending.word.take().filter(|word| !is_number(word));
        pending.end_word(&mut self.script.redirected);
        let here = letter == '<' && self.letters.next_if_eq(&'<').is_some();
        // `<<<` gives a text, not a document.
        self.script.understood &= !here || self.letters.peek() == Some(&'<');
        while self.letters.next_if(|next| "<>&|".contains(*next)).is_some() {}
        pending.redirected = true;
    }

    /// Reads a letter of a word, or what begins with it.
    fn part(&mut self, letter: char, pending: &mut Pending, depth: usize) {
        match letter {
            '\\' => match self.letters.next() {
                Some('\n') | None => {}
                Some(next) => pending.word().text.push(next),
            },
            '\'' => {
                let quoted = self.until('\'');
                pending.word().text.push_str(&quoted);
            }
            '"' => self.double_quoted(pending, depth),
            '$' | '`' => self.expansion(letter, pending, depth),
            '*' | '?' | '[' | '{' | '~' => {
                let alone = letter == '{'
                    && pending.word.is_none()
                    && self.letters.peek().is_none_or(|next| next.is_whitespace());
                let word = pending.word();
                word.literal &= alone || (letter == '~' && !word.text.is_empty());
                word.text.push(letter);
            }
            _ => pending.word().text.push(letter),
        }
    }

    fn double_quoted(&mut self, pending: &mut Pending, depth: usize) {
        pending.word();
        while let Some(letter) = self.letters.next() {
            match letter {
                '"' => return,
                '\\' => match self.letters.next() {
                    Some('\n') => {}
                    Some(next) if "$`\"\\".contains(next) => pending.word().text.push(next),
                    Some(next) => pending.word().text.extend(['\\', next]),
                    None => break,
                },
                '$' | '`' => self.expansion(letter, pending, depth),
                _ => pending.word().text.push(letter),
            }
        }
        self.script.understood = false;
    }

    /// Reads what a shell expands. The commands of a substitution are commands of the text.
    fn expansion(&mut self, letter: char, pending: &mut Pending, depth: usize) {
        pending.word().literal = false;
        if letter == '`' {
            pending.word().text.push_str(SUBSTITUTED);
            self.commands(Some('`'), depth + 1);
            return;
        }
        match self.letters.peek() {
            Some('(') => {
                self.letters.next();
                pending.word().text.push_str(SUBSTITUTED);
                self.commands(Some(')'), depth + 1);
            }
            Some('{') => {
                self.letters.next();
                let name = self.until('}');
                self.script.understood &= !name.contains(['$', '`']);
                pending.word().text.extend(["${", &name, "}"]);
            }
            Some('\'') => {
                self.letters.next();
                // An escaped quote does not end it.
                let mut inside = String::from("$'");
                while let Some(letter) = self.letters.next() {
                    inside.push(letter);
                    match letter {
                        '\\' => inside.extend(self.letters.next()),
                        '\'' => break,
                        _ => {}
                    }
                }
                pending.word().text.push_str(&inside);
            }
            _ => pending.word().text.push('$'),
        }
    }

    /// Returns the text up to `end`, which is read, too.
    fn until(&mut self, end: char) -> String {
        let mut text = String::new();
        for letter in self.letters.by_ref() {
            if letter == end {
                return text;
            }
            text.push(letter);
        }
        self.script.understood = false;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands of a text, words that are expanded in angle brackets.
    fn read(text: &str) -> Vec<String> {
        let shown = |word: &Word| {
            if word.literal { word.text.clone() } else { format!("<{}>", word.text) }
        };
        let line = |words: &Vec<Word>| words.iter().map(shown).collect::<Vec<_>>().join(" ");
        read_script(text).commands.iter().map(line).collect()
    }

    #[test]
    fn a_text_is_read_into_its_commands() {
        for (text, commands) in [
            ("sh ./a.sh >> out.log; ./b.sh", vec!["sh ./a.sh", "./b.sh"]),
            ("x 2>err.log <in.txt y", vec!["x y"]),
            ("x 2>&1 ./y", vec!["x ./y"]),
            ("a && b || c | d &", vec!["a", "b", "c", "d"]),
            ("(cd x; ./y) # z 'w", vec!["cd x", "./y"]),
            (r#""$CLAUDE_PROJECT_DIR"/a\ b 'c d'"#, vec!["<$CLAUDE_PROJECT_DIR/a b> c d"]),
            ("x=$(./get \"a b\") y", vec!["./get a b", "<x=$(...)> y"]),
            ("echo `./one` \"`./two`\"", vec!["./one", "./two", "echo <$(...)> <$(...)>"]),
            ("case $1 in a|b) ./x;; esac", vec!["case <$1> in a", "./x", "esac"]),
            ("sh *.sh; ./{a,b}; ~/x; a~b", vec!["sh <*.sh>", "<./{a,b}>", "<~/x>", "a~b"]),
            ("{ ./a; }", vec!["{ ./a", "}"]),
            ("sh $'g\\'x' b", vec!["sh <$'g\\'x'> b"]),
            ("diff <(./a) <(./b)", vec!["diff", "./a", "./b"]),
            ("a \\\n b", vec!["a b"]),
        ] {
            assert_eq!(read(text), commands, "{text}");
            assert!(read_script(text).understood, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_understood_is_reported() {
        for text in ["echo 'x", "echo \"x", "x $(y", "(x", "cat <<E\nit's\nE", "x `y", "x ${y"] {
            assert!(!read_script(text).understood, "{text}");
        }
        assert!(!read_script(&"$(".repeat(100_000)).understood);
        assert!(!read_script(&"${".repeat(450_000)).understood);
    }
}
