//! Names of programs: interpreters, wrappers, words of the shell.

use hookexec_builtins::shell::{Word, unquoted};

/// Programs that run a file among their arguments; also with a version behind the name.
const INTERPRETERS: [&str; 18] = [
    "bun", "deno", "java", "julia", "lua", "node", "nodejs", "osascript", "perl", "php", "pypy",
    "python", "rscript", "ruby", "ts-node", "tsx", "wscript", "cscript",
];
/// Shells and wrappers: they run a file or a command among their arguments, or a command text.
const LAUNCHERS: [&str; 45] = [
    ".", "ash", "bash", "builtin", "bunx", "busybox", "chroot", "chrt", "cmd", "command", "coproc",
    "dash", "doas", "env", "eval", "exec", "fish", "flock", "ionice", "ksh", "nice", "nohup",
    "npx", "parallel", "poetry", "powershell", "pwsh", "script", "setsid", "sh", "source",
    "stdbuf", "strace", "su", "sudo", "taskset", "time", "timeout", "trap", "unbuffer", "uv",
    "uvx", "watch", "xargs", "zsh",
];
/// Words of a shell that stand before a command.
const KEYWORDS: [&str; 9] = ["!", "{", "do", "elif", "else", "if", "then", "until", "while"];
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

/// Returns whether a program runs a file among its arguments.
pub fn is_interpreter(program: &Word) -> bool {
    is_one_of(&INTERPRETERS, program)
}

/// Returns whether a program runs a file, a command or a command text among its arguments.
pub(super) fn is_launcher(program: &Word) -> bool {
    is_one_of(&LAUNCHERS, program)
}

/// Returns whether a shell does itself what a word names, or starts no program for it.
pub fn is_shell_word(program: &Word) -> bool {
    SHELL_WORDS.contains(&&*program.text)
}

/// Returns whether a word may stand before the program of a command.
pub(super) fn stands_before(word: &Word) -> bool {
    word.is_assignment() || KEYWORDS.contains(&&*word.text)
}

/// Returns whether the file name of a program is in `names`, a version behind it left out.
fn is_one_of(names: &[&str], program: &Word) -> bool {
    let name = base_name(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    names.contains(&name) || names.contains(&&*plain.to_ascii_lowercase())
}

/// Returns whether a word is a name, a number, a path or an option, and no command text.
pub(super) fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || "/._-+@%:,=".contains(letter))
}

/// Returns the last part of a program's path.
pub(super) fn base_name(word: &Word) -> &str {
    word.text.rsplit('/').next().unwrap_or_default()
}
