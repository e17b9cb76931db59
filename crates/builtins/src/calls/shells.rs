//! Shells, their builtins and interpreters: programs that take a text and run it.

use super::command::{Certainty, Word, line_of};
use super::names::{
    CODE_OPTIONS, COUNTERS, EVALUATED, EVALUATORS, HARMLESS_VARIABLES, INTERPRETERS, PRINTERS,
    SETTERS, SHELLS, SPECIAL_VARIABLES,
};
use super::wrappers::Inner;
use hookexec_files::text::name_length;

/// Returns whether a program is a shell whose text is read.
pub(crate) fn is_shell(program: &str) -> bool {
    let name = super::base_name(program);
    SHELLS.contains(&without_version(&name))
}

/// Returns whether a program runs code in a language of its own.
pub(crate) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&without_version(name))
}

/// Returns whether a program runs one of its words as code.
pub(super) fn takes_code(name: &str) -> bool {
    SHELLS.contains(&without_version(name))
        || is_interpreter(name)
        || matches!(name, "eval" | "source" | "." | "find" | "gfind" | "bfs" | "ssh" | "su")
}

/// Returns whether the code of a program is among its words, so that words behind them are arguments.
pub(super) fn has_code(name: &str, words: &[Word]) -> bool {
    match without_version(name) {
        shell if SHELLS.contains(&shell) => {
            matches!(shell_code(words), Inner::Text(_) | Inner::File(_))
        }
        program if INTERPRETERS.contains(&program) => {
            words.iter().rev().skip(1).any(|word| CODE_OPTIONS.contains(&&*word.text))
        }
        _ => false,
    }
}

fn without_version(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-')
}

/// Returns whether a variable may be one of a loop that changes nothing else.
pub(super) fn is_plain_variable(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.all(|letter| matches!(letter, b'a'..=b'z' | b'_' | b'0'..=b'9'))
        && !SPECIAL_VARIABLES.contains(&name)
}

/// Returns whether a text may set a variable that a shell evaluates.
pub(super) fn names_evaluated(word: &Word) -> bool {
    EVALUATED.iter().any(|name| word.text.contains(name))
        || ["aliases=", "functions=", "commands="].iter().any(|name| word.text.starts_with(name))
}

/// Returns the variables that a command sets and that may change what runs.
pub(super) fn variables(assignments: &[Word], words: &[Word]) -> Vec<String> {
    let mut sets = Vec::new();
    for word in assignments {
        let name = word.text.split(['=', '[', '+']).next().unwrap_or_default();
        let value = word.text.split_once('=').map_or("", |(_, value)| value);
        let is_harmless = HARMLESS_VARIABLES.contains(&name) || name.starts_with("LC_");
        // `RAILS_ENV=production` names another database.
        let is_elsewhere = name.ends_with("_ENV")
            && !matches!(value, "test" | "testing" | "dev" | "development" | "ci" | "local");
        // Programs such as `make` run the code in a value.
        if !is_harmless
            || is_elsewhere
            || value.contains(|one: char| !one.is_alphanumeric() && !"_-+.,:@/=".contains(one))
        {
            sets.push(name.to_owned());
        }
    }
    let Some((program, arguments)) = words.split_first() else { return sets };
    let name = program.text.as_str();
    let exports = name == "export"
        || arguments.iter().any(|word| word.text.starts_with('-') && word.text.contains('x'));
    for (place, word) in arguments.iter().enumerate() {
        let follows_v = place > 0 && arguments[place - 1].text == "-v";
        let is_set = SETTERS.contains(&name) && !word.text.starts_with('-')
            || name == "let"
            || name == "printf" && (follows_v || word.text.starts_with("-v"));
        let variable = word.text.split(['=', '[', '+']).next().unwrap_or_default();
        let is_local = word.is_known() && is_plain_variable(variable) && name != "let" && !exports;
        if is_set && !is_local && !HARMLESS_VARIABLES.contains(&variable) {
            sets.push(variable.to_owned());
        }
    }
    sets
}

/// Returns whether a builtin of a shell evaluates arguments of which not all is known.
pub(super) fn evaluates(name: &str, words: &[Word]) -> bool {
    match name {
        "[" | "test" | "[[" => {
            let may_be_test = words.len() < 3
                && words.iter().any(|word| word.is_unknown() && word.text.starts_with(['$', '`']));
            let mut operands = words
                .iter()
                .filter(|word| !word.text.starts_with('-') && !matches!(&*word.text, "]" | "]]"));
            (may_be_test || words.iter().any(is_arithmetic)) && !operands.all(is_number)
        }
        "printf" => {
            let Some((format, values)) = words.split_first() else { return false };
            let mut parts = format.text.split('%').skip(1);
            let is_plain = format.is_known()
                && parts.all(|part| part.is_empty() || part.starts_with(['s', 'b', 'q', '%']));
            !is_plain && !values.iter().all(is_number)
        }
        _ if COUNTERS.contains(&name) => !words.iter().all(is_number),
        _ if EVALUATORS.contains(&name) => {
            words.iter().any(|word| !word.is_known() && word.known == 0 || word.text.contains('['))
        }
        _ => false,
    }
}

fn is_number(word: &Word) -> bool {
    word.is_known() && word.text.bytes().all(|byte| byte.is_ascii_digit())
        || matches!(&*word.text, "$?" | "$#" | "$$" | "$!")
}

/// Returns whether a word is an operator of a test whose operands a shell evaluates.
fn is_arithmetic(word: &Word) -> bool {
    matches!(&*word.text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v" | "-R")
}

/// Returns whether a builtin changes how the shell reads or runs what follows.
pub(super) fn changes_the_shell(name: &str, words: &[Word]) -> bool {
    match name {
        "shopt" | "setopt" | "unsetopt" | "emulate" | "zmodload" | "autoload" | "zle" => true,
        "set" => !words.iter().all(|word| word.is_known() && is_plain_setting(&word.text)),
        _ => false,
    }
}

/// Returns whether an argument of `set` changes nothing but when the shell stops and what it prints.
fn is_plain_setting(text: &str) -> bool {
    match text.strip_prefix(['-', '+']) {
        Some(letters) => {
            let letters = letters.strip_suffix('o').unwrap_or(letters);
            letters.bytes().all(|letter| b"eux".contains(&letter))
        }
        None => text == "pipefail",
    }
}

/// Returns the code that a call of the program `name` runs, if it is a shell, one of its builtins or an
/// interpreter.
pub(super) fn code<'w>(name: &str, words: &'w [Word], reads_input: bool) -> Inner<'w> {
    let mut indices = words.iter().filter(|word| word.text.contains('['));
    if EVALUATORS.contains(&name) && indices.any(|word| word.text.contains(['$', '`'])) {
        return Inner::Unknown;
    }
    match name {
        "eval" => match words {
            [word] if is_settings(word) => Inner::Nothing,
            _ => joined(words),
        },
        "trap" => match words {
            [action, ..] if action.is_known() && !action.text.starts_with('-') => {
                Inner::Text(action.text.clone())
            }
            [option, ..] if option.text == "-" => Inner::Nothing,
            _ => Inner::Unknown,
        },
        "source" | "." => match words.first() {
            Some(script) if is_settings(script) => Inner::Nothing,
            Some(script) => file(script, true),
            None => Inner::Nothing,
        },
        "shopt" if words.iter().any(|word| !word.is_known() || word.text == "expand_aliases") => {
            Inner::Unknown
        }
        _ => match without_version(name) {
            shell if SHELLS.contains(&shell) => shell_code(words),
            program if INTERPRETERS.contains(&program) => interpreter(words, reads_input),
            _ => Inner::Nothing,
        },
    }
}

/// Returns the shell text that words are together; a `--` may stand before them.
pub(super) fn joined(words: &[Word]) -> Inner<'_> {
    let words = match words {
        [dashes, rest @ ..] if dashes.text == "--" => rest,
        _ => words,
    };
    if words.is_empty() {
        return Inner::Nothing;
    }
    let text = line_of(words);
    if words.iter().all(Word::is_known) { Inner::Text(text) } else { Inner::Open(text) }
}

/// Returns whether a word is the output of a program that prints settings: `$(ssh-agent -s)`,
/// `<(kubectl completion bash)`.
fn is_settings(word: &Word) -> bool {
    let text = word.text.strip_prefix("$(").or_else(|| word.text.strip_prefix("<("));
    let Some(inside) = text.and_then(|text| text.strip_suffix(')')) else { return false };
    let mut words = inside.split(' ');
    let is_printer = words.next().is_some_and(|name| PRINTERS.contains(&&*super::base_name(name)));
    let is_one = !inside.contains(['|', ';', '&', '\n', '$', '`', '(', '<']);
    is_one && (is_printer || words.next() == Some("completion"))
}

fn has_option(words: &[Word]) -> bool {
    words.iter().any(|word| word.text.starts_with(['-', '+']))
}

/// Returns what a shell runs: the text behind `-c`, a file, or its input.
fn shell_code(words: &[Word]) -> Inner<'_> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.is_known() {
            return file(word, false);
        }
        match &*word.text {
            "--version" | "--help" => return Inner::Nothing,
            "--" | "-" => break,
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            option if option.starts_with("--") => return Inner::Unknown,
            option if option.starts_with(['-', '+']) => {
                match (option.contains('c'), option.contains(['o', 'O', 's'])) {
                    (true, false) => return text_of_c(words.as_slice()),
                    // A text that is only checked.
                    (false, false) if option == "-n" && !has_option(words.as_slice()) => {
                        return Inner::Nothing;
                    }
                    (false, false) => {}
                    (false, true) if option == "-s" => return Inner::Input,
                    // `-euo pipefail`
                    (false, true) if option.ends_with('o') && !option.contains(['O', 's']) => {
                        words.next();
                    }
                    _ => return Inner::Unknown,
                }
            }
            _ => return file(word, false),
        }
    }
    words.next().map_or(Inner::Input, |word| file(word, false))
}

/// Returns what an interpreter runs.
fn interpreter(words: &[Word], reads_input: bool) -> Inner<'_> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_code = CODE_OPTIONS.contains(&&*word.text);
        if is_code || word.text.starts_with("--eval=") {
            let code = if is_code { words.next() } else { Some(word) };
            let is_known = code.is_some_and(|code| !is_substituted(code));
            return if is_known { Inner::Nothing } else { Inner::Unknown };
        }
        if word.text == "-" {
            break;
        }
        if !word.text.starts_with('-') || !word.is_known() {
            return file(word, false);
        }
    }
    if reads_input { Inner::Unknown } else { Inner::Nothing }
}

/// Returns whether the output of a command is a part of a word.
fn is_substituted(word: &Word) -> bool {
    !word.is_known() && (word.text.contains(['`', '<', '>']) || word.text.contains("$("))
}

/// A script may do what it wants, like every other program, but it must be a file. It is surely no option
/// if the program has none: `lacks_options`.
fn file(script: &Word, lacks_options: bool) -> Inner<'_> {
    // `//dev/stdin` is one, too.
    let path = script.text.trim_start_matches(['/', '.']);
    let is_device = script.text.starts_with('/')
        && ["dev/", "proc/"].iter().any(|place| path.starts_with(place));
    let is_path = lacks_options || !script.may_be_option() || names_only_places(&script.text);
    let is_file = !is_device && !is_substituted(script) && is_path;
    if is_file { Inner::File(script) } else { Inner::Unknown }
}

/// Returns whether a text has no other expansions than those of the home and the directory, which the
/// shell that runs it would make the same of.
fn names_only_places(text: &str) -> bool {
    !text.contains('`') && text.split('$').skip(1).all(begins_with_place)
}

fn begins_with_place(text: &str) -> bool {
    let name = match text.strip_prefix('{') {
        Some(inside) => inside.split('}').next().unwrap_or_default(),
        None => &text[..name_length(text)],
    };
    matches!(name, "HOME" | "PWD")
}

/// Returns the text behind `-c`; further options may stand before it.
pub(super) fn text_of_c(words: &[Word]) -> Inner<'_> {
    match words.first() {
        Some(text) if text.is_known() && !text.text.starts_with(['-', '+']) => {
            Inner::Text(text.text.clone())
        }
        Some(text) if text.certainty == Certainty::OneWord => {
            let is_expanded = text.text[text.known..].starts_with('$');
            let is_known = is_expanded && names_only_places(&text.text);
            let text = text.text.clone();
            if is_known { Inner::Text(text) } else { Inner::Open(text) }
        }
        _ => Inner::Unknown,
    }
}
