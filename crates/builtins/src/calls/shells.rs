//! Programs that take a text and run it as commands.

use super::word::Word;

/// The shells whose text is read.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ash", "ksh"];
/// Programs that run what their arguments, a file or their input says, in a way that is not read.
const RUNNERS: [&str; 49] = [
    "source", ".", "alias", "enable", "hash", "fish", "csh", "tcsh", "nu", "pwsh", "powershell",
    "cmd", "su", "script", "watch", "ssh", "parallel", "tmux", "screen", "at", "batch", "entr",
    "strace", "ltrace", "compgen", "flock", "unshare", "nsenter", "prlimit", "setarch", "linux32",
    "linux64", "i386", "x86_64", "setpriv", "runuser", "runcon", "pkexec", "systemd-run",
    "systemd-inhibit", "numactl", "cgexec", "choom", "bwrap", "firejail", "fakeroot", "unbuffer",
    "gosu", "sg",
];

/// Builtins of shells that evaluate the name of a variable: `test -v 'a[$(x)]'` runs `x`.
const EVALUATORS: [&str; 14] = [
    "test", "[", "printf", "read", "unset", "declare", "typeset", "local", "export", "readonly",
    "let", "mapfile", "readarray", "wait",
];

/// Variables that a shell evaluates, or that change what a command is.
const EVALUATED: [&str; 3] = ["PS4", "BASH_ALIASES", "BASH_CMDS"];

/// Returns whether a text may set a variable that a shell evaluates.
pub(super) fn sets_evaluated(text: &str) -> bool {
    EVALUATED.iter().any(|name| text.contains(name))
}

/// Code that a program runs beside the words of its own command.
pub(super) enum Hidden {
    /// Nothing.
    Nothing,
    /// Something that is not known.
    Unknown,
    /// The commands in this text.
    Text(String),
}

pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name) || RUNNERS.contains(&name) || name == "eval"
}

/// Returns what a call of the program `name` runs.
pub(super) fn hidden(name: &str, words: &[Word]) -> Hidden {
    let evaluates = |word: &Word| word.text.contains('[') && word.text.contains(['$', '`']);
    if RUNNERS.contains(&name) || EVALUATORS.contains(&name) && words.iter().any(evaluates) {
        return Hidden::Unknown;
    }
    match name {
        "eval" => match words {
            [end, words @ ..] if end.is_literal() && end.text == "--" => joined(words),
            _ => joined(words),
        },
        "trap" => match words {
            [] => Hidden::Nothing,
            [action, ..] if action.is_literal() && !action.text.starts_with('-') => {
                Hidden::Text(action.text.clone())
            }
            [option] if option.is_literal() && matches!(&*option.text, "-l" | "-p") => {
                Hidden::Nothing
            }
            _ => Hidden::Unknown,
        },
        "mapfile" | "readarray" if words.iter().any(|word| may_have(word, 'C')) => Hidden::Unknown,
        "shopt" if words.iter().any(|word| !word.is_literal() || word.text == "expand_aliases") => {
            Hidden::Unknown
        }
        _ if SHELLS.contains(&name) => shell(words),
        _ => Hidden::Nothing,
    }
}

/// Returns whether a word may be an option of one letter, or several of them with this one.
fn may_have(word: &Word, letter: char) -> bool {
    word.is_unknown() || word.text.starts_with('-') && word.text.contains(letter)
}

fn joined(words: &[Word]) -> Hidden {
    if words.iter().all(Word::is_literal) {
        let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
        Hidden::Text(texts.join(" "))
    } else {
        Hidden::Unknown
    }
}

/// Returns what a shell runs: the text behind `-c`, a file, or its input.
fn shell(words: &[Word]) -> Hidden {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.is_literal() {
            return Hidden::Unknown;
        }
        match &*word.text {
            "--version" | "--help" => return Hidden::Nothing,
            "--" | "-" => break,
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            option if option.starts_with("--") => return Hidden::Unknown,
            option if option.starts_with(['-', '+']) => {
                let takes = |letter: char| option.contains(letter);
                match (takes('c'), takes('o') || takes('O'), takes('s')) {
                    (true, false, false) => return text_of_c(words.as_slice()),
                    (false, false, false) => {}
                    // `-euo pipefail`
                    (false, true, false) => drop(words.next()),
                    _ => return Hidden::Unknown,
                }
            }
            script => return file(script),
        }
    }
    match words.next() {
        Some(script) if script.is_literal() => file(&script.text),
        _ => Hidden::Unknown,
    }
}

/// A script may do what it wants, like every other program, but it must be a file.
fn file(script: &str) -> Hidden {
    if ["/dev", "/proc"].iter().any(|place| script.starts_with(place)) {
        return Hidden::Unknown;
    }
    Hidden::Nothing
}

/// Returns the text behind `-c`; further options may stand before it.
fn text_of_c(words: &[Word]) -> Hidden {
    match words.first() {
        Some(text) if text.is_literal() && !text.text.starts_with(['-', '+']) => {
            Hidden::Text(text.text.clone())
        }
        _ => Hidden::Unknown,
    }
}
