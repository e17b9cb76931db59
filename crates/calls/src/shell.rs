//! Texts for a shell: their words, and words quoted for it.
//!
//! The reader expands nothing: a word that a shell would expand keeps its text and is marked as not
//! literal.

use std::path::Path;

use hookexec_files::text::name_length;

use crate::{Certainty, Hidden, base_name, commands_of_text};

/// Stands in a word for the output of a command.
pub const SUBSTITUTED: &str = "$(...)";

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
        let length = name_length(&self.text);
        length > 0 && self.text[length..].starts_with('=')
    }

    /// Returns the path below the directory that `variable` names, when the word begins with that
    /// variable and nothing else is expanded in it.
    pub fn below(&self, variable: &str) -> Option<&str> {
        if self.literal {
            return None;
        }
        let text = self.text.strip_prefix('$')?;
        let name = match text.strip_prefix('{') {
            Some(braced) => braced.strip_prefix(variable)?.strip_prefix('}'),
            None => text.strip_prefix(variable),
        };
        let rest = name?.strip_prefix('/')?;
        if rest.contains(['$', '`', '*', '?', '[', '{']) { None } else { Some(rest) }
    }
}

/// The simple commands of a text, in its order; those of a substitution come before the command
/// that it stands in, and those that a command runs behind it.
#[derive(Debug, Default)]
pub struct Script {
    /// The commands, in the order in which they run.
    pub commands: Vec<ScriptCommand>,
    /// The words behind `<` and `>`, and the texts of here-documents.
    pub redirected: Vec<Word>,
    /// Whether each shell reads the whole text alike.
    pub understood: bool,
}

/// One simple command of a text.
#[derive(Debug)]
pub struct ScriptCommand {
    /// Its assignments and words.
    pub words: Vec<Word>,
    /// The files behind its `<`.
    pub inputs: Vec<Word>,
    /// Whether it runs commands that can't be read, beside its program.
    pub hides: bool,
    /// Whether it runs the command behind it.
    pub runs_next: bool,
}

/// Returns whether a program runs code in a language of its own; a version may stand behind its name.
pub fn is_interpreter(program: &str) -> bool {
    crate::is_interpreter(&base_name(program))
}

/// Returns whether a program is a shell for POSIX texts, or runs the commands of a file like one.
pub fn is_shell(program: &str) -> bool {
    crate::is_shell(&base_name(program)) || matches!(program, "." | "source")
}

/// Returns `text` with all quotes and backslashes removed. No trick with them hides a name in it.
pub fn unquoted(text: &str) -> String {
    text.replace("$'", "'").replace("$\"", "\"").replace(['\'', '"', '\\'], "")
}

/// Quotes a word for a shell, when it needs it.
pub fn quoted(word: &str) -> String {
    // A shell expands a `~` only at the beginning; short names of Windows have one further on.
    if word.is_empty()
        || word.starts_with('~')
        || word.contains(|one: char| !one.is_ascii_alphanumeric() && !"/._-+@%:,~".contains(one))
    {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    word.to_owned()
}

/// Returns words as one command for a shell, which reads each of them as it is.
pub fn quoted_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    words.join(" ")
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
    let mut script = Script { understood: true, ..Script::default() };
    let commands = commands_of_text(text);
    for (at, command) in commands.iter().enumerate() {
        script.redirected.extend(command.redirections.iter().map(|one| plain(&one.word)));
        let hides = command.hidden != Hidden::Nothing;
        let words = [&*command.assignments, &*command.words].concat();
        if words.is_empty() {
            script.understood &= !hides;
            continue;
        }
        let files = command.redirections.iter().filter(|one| one.is_file() && one.is_input());
        let depth = command.frame.wrappers.len();
        let (program, next) = (command.words.first(), commands.get(at + 1));
        script.commands.push(ScriptCommand {
            words: words.iter().map(plain).collect(),
            inputs: files.map(|one| plain(&one.word)).collect(),
            hides: hides && program.is_none_or(crate::Word::is_known),
            runs_next: next.is_some_and(|next| next.frame.wrappers.len() > depth),
        });
    }
    script
}

fn plain(word: &crate::Word) -> Word {
    if matches!(word.certainty, Certainty::Known | Certainty::Invisible) {
        return Word::literal(&word.text);
    }
    Word { text: with_outputs_as(SUBSTITUTED, &word.text), literal: false }
}

/// Returns a text with `mark` for each expansion in it.
pub fn with_expansions_as(mark: &str, text: &str) -> String {
    marked(mark, text, |expansion| expansion != "$")
}

/// Returns a text with `mark` for the output of each command in it.
pub fn with_outputs_as(mark: &str, text: &str) -> String {
    marked(mark, text, |expansion| expansion.starts_with("$(") || expansion.starts_with('`'))
}

/// Returns a text with `mark` for each expansion that is `meant`.
fn marked(mark: &str, text: &str, meant: fn(&str) -> bool) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, expansion, behind)) = next_expansion(rest) {
        plain.push_str(before);
        plain.push_str(if meant(expansion) { mark } else { expansion });
        rest = behind;
    }
    plain + rest
}

/// Returns what stands before the first expansion of a text, the expansion, and what follows.
pub fn next_expansion(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(['$', '`'])?;
    let (before, expansion) = text.split_at(start);
    let inside = &expansion[1..];
    let length = match inside.chars().next() {
        _ if expansion.starts_with('`') => inside.find('`').map_or(inside.len(), |end| end + 1),
        Some('(') => closed(inside, '(', ')'),
        Some('{') => closed(inside, '{', '}'),
        Some('\'') => inside[1..].find('\'').map_or(inside.len(), |end| end + 2),
        Some(first) if first.is_ascii_digit() || "@*?#$!-".contains(first) => 1,
        _ => name_length(inside),
    };
    let (expansion, behind) = expansion.split_at(1 + length);
    Some((before, expansion, behind))
}

/// Returns how long a part in brackets is that begins with `open`.
fn closed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the commands of a text, words that are expanded in angle brackets.
    fn read(text: &str) -> Vec<String> {
        let shown = |word: &Word| {
            if word.literal { word.text.clone() } else { format!("<{}>", word.text) }
        };
        let line =
            |command: &ScriptCommand| command.words.iter().map(shown).collect::<Vec<_>>().join(" ");
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
            ("sh *.sh; x ./{a,b}; ~/x; a~b", vec!["sh <*.sh>", "x <./{a,b}>", "<~/x>", "a~b"]),
            ("{ ./a; }", vec!["./a"]),
            ("[[ -f x ]] && ./a", vec!["[[ -f x ]]", "./a"]),
            ("diff <(./a) <(./b)", vec!["./a", "./b", "diff <<(./a)> <<(./b)>"]),
            ("a \\\n b", vec!["a b"]),
        ] {
            assert_eq!(read(text), commands, "{text}");
            assert!(read_script(text).understood, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_understood_is_reported() {
        for text in ["echo 'x", "echo \"x", "x $(y", "(x", "x `y", "x ${y", "x() { y; }", "((x))"] {
            assert!(!read_script(text).understood, "{text}");
        }
        assert!(!read_script(&"$(".repeat(100_000)).understood);
        assert!(!read_script(&"${".repeat(450_000)).understood);
    }
}
