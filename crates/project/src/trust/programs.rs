//! Words that a shell handles itself.

use hookexec_calls::shell::{Word, unquoted};

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
