//! Words that a shell handles itself, and words as a person types them.

use std::path::Path;

use hookexec_calls::Word;
use hookexec_calls::shell::{quoted, unquoted};
use hookexec_files::plain::line;
use hookexec_files::text::name_length;

/// Words that a shell handles itself, and words that start no program.
const SHELL_WORDS: [&str; 87] = [
    "!", "((", ".", ":", "[", "[[", "]]", "{", "}", "alias", "autoload", "bg", "bind", "break",
    "builtin", "case", "cd", "command", "compgen", "complete", "continue", "coproc", "declare",
    "dirs", "disown", "do", "done", "echo", "elif", "else", "emulate", "enable", "esac", "eval",
    "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts", "hash",
    "help", "history", "if", "in", "jobs", "kill", "let", "local", "mapfile", "popd", "print",
    "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set", "setopt",
    "shift", "shopt", "sleep", "source", "suspend", "test", "then", "time", "times", "trap",
    "true", "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "whence",
    "while",
];

/// Returns whether a command has a word that changes the directory: `cd`, `pushd`, `env -C hooks`.
pub(super) fn changes_directory(command: &str) -> bool {
    unquoted(command).split(separates_words).any(|word| {
        let is_option = word.starts_with('-') && !word.starts_with("--") && word.contains('C');
        is_option
            || ["cd", "chdir", "popd", "pushd"].contains(&word)
            || ["--chdir", "--cwd", "--directory"].iter().any(|option| word.starts_with(option))
    })
}

fn separates_words(letter: char) -> bool {
    !letter.is_alphanumeric() && !"-_./".contains(letter)
}

/// Returns whether a shell does itself what a word names, or starts no program for it.
pub fn is_shell_word(program: &Word) -> bool {
    SHELL_WORDS.contains(&&*program.text)
}

/// Returns whether a word sets a variable for the command behind it.
pub(super) fn is_assignment(word: &Word) -> bool {
    let length = name_length(&word.text);
    length > 0 && word.text[length..].starts_with('=')
}

/// Returns the path below the directory that `variable` names, when the word begins with that variable and
/// nothing else is expanded in it.
pub(super) fn below<'w>(word: &'w Word, variable: &str) -> Option<&'w str> {
    if word.is_literal() {
        return None;
    }
    let text = word.text.strip_prefix('$')?;
    let name = match text.strip_prefix('{') {
        Some(braced) => braced.strip_prefix(variable)?.strip_prefix('}'),
        None => text.strip_prefix(variable),
    };
    let rest = name?.strip_prefix('/')?;
    if rest.contains(['$', '`', '*', '?', '[', '{']) { None } else { Some(rest) }
}

/// Returns `path` as a word of a command that a person types. Control characters are shown, as a name must
/// not be able to write lines of its own: such a path can't be typed.
pub(crate) fn typed(path: &Path) -> String {
    quoted(&line(&path.to_string_lossy()))
}
