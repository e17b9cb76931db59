//! Shells, their builtins and interpreters: programs that take a text and run it.

use super::command::{Certainty, Word, are_known, has_word, line_of};
use super::names::{
    ARITHMETIC, CHANGERS, CODE_MODULES, CODE_TAKERS, COUNTERS, EVALUATED, EVALUATORS,
    HARMLESS_VARIABLES, INTERPRETERS, PRINTERS, REPLACED, SETTERS, SHELLS, SPECIAL_VARIABLES,
};
use super::wrappers::{Inner, Run, runs_commands};
use crate::shell::{UNKNOWN, hidden, next_expansion};
use hookexec_files::glob::has_part;

/// Returns whether a program is a shell whose text is read.
pub fn is_shell(program: &str) -> bool {
    let name = super::base_name(program);
    SHELLS.contains(&without_version(&name))
}

/// Returns whether a program runs code in a language of its own; a version may stand behind its name.
pub fn is_interpreter(program: &str) -> bool {
    let name = super::base_name(program);
    INTERPRETERS.contains(&without_version(&name))
}

/// Returns whether a program runs one of its words as code.
pub(super) fn takes_code(name: &str) -> bool {
    is_shell(name) || is_interpreter(name) || CODE_TAKERS.contains(&name)
}

/// Returns whether the code of a program is among its words, so that words behind them are arguments.
pub(super) fn has_code(name: &str, words: &[Word]) -> bool {
    if is_shell(name) {
        let code = shell_code(words);
        return matches!(code, Inner::Text { is_known: true, .. } | Inner::File(_));
    }
    let [options @ .., _] = words else { return false };
    if !is_interpreter(name) {
        return false;
    }
    if let Inner::File(_) = interpreter(name, words) {
        return true;
    }
    let language = Language::of(name);
    for word in options {
        if language.code_in(&word.text).is_some() {
            return true;
        }
    }
    false
}

/// Returns whether a shell evaluates an index in which it expands something.
fn has_expanded_index(word: &Word) -> bool {
    word.text.contains('[') && word.text.contains(['$', '`']) && !is_number(word)
}

/// Returns whether a test would run what stands in a quoted index: `'a[$(x)]'`.
pub(super) fn has_command_in_index(word: &Word) -> bool {
    let Some((_, index)) = word.text.split_once('[') else { return false };
    word.is_known() && (index.contains("$(") || index.contains('`'))
}

fn without_version(name: &str) -> &str {
    // `python3.13t` and `python3-dbg` are builds of it.
    let build = name.strip_suffix("-dbg").or(name.strip_suffix(['t', 'd'])).unwrap_or(name);
    let name = if build.ends_with(is_of_version) { build } else { name };
    name.trim_end_matches(is_of_version)
}

fn is_of_version(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.' || letter == '-'
}

/// Returns whether a variable may be one of a loop that changes nothing else.
pub(super) fn is_plain_variable(name: &str) -> bool {
    !name.contains(|letter: char| !matches!(letter, 'a'..='z' | '_' | '0'..='9'))
        && !SPECIAL_VARIABLES.contains(&name)
}

/// Returns whether words may set a variable that a shell evaluates.
pub(super) fn names_evaluated(words: &[Word]) -> bool {
    for word in words {
        if has_part(&word.text, EVALUATED)
            || REPLACED.iter().any(|name| word.text.starts_with(name))
        {
            return true;
        }
    }
    false
}

/// Returns the variables that a command sets and that may change what runs.
pub(super) fn variables(assignments: &[Word], words: &[Word]) -> Vec<String> {
    let mut sets = Vec::new();
    for assignment in assignments {
        if !is_harmless(assignment) {
            sets.push(variable_of(assignment).to_owned());
        }
    }
    let [program, arguments @ ..] = words else { return sets };
    let name = program.text.as_str();
    let exports = name == "export"
        || arguments.iter().any(|word| word.text.starts_with('-') && word.text.contains('x'));
    let mut follows_v = false;
    for word in arguments {
        let is_option = word.text.starts_with('-');
        let is_set = match name {
            "let" => true,
            "printf" => follows_v || word.text.starts_with("-v"),
            _ => SETTERS.contains(&name) && !is_option,
        };
        follows_v = word.text == "-v";
        let variable = variable_of(word);
        let is_local = word.is_known() && is_plain_variable(variable) && name != "let" && !exports;
        if is_set && !is_local && !HARMLESS_VARIABLES.contains(&variable) {
            sets.push(variable.to_owned());
        }
    }
    sets
}

/// Returns the name of the variable that a word sets.
fn variable_of(word: &Word) -> &str {
    word.text.split(['=', '[', '+']).next().unwrap_or_default()
}

/// Returns whether a variable before a command changes nothing that runs.
fn is_harmless(assignment: &Word) -> bool {
    let name = variable_of(assignment);
    if !HARMLESS_VARIABLES.contains(&name) && !name.starts_with("LC_") {
        return false;
    }
    let (_, value) = assignment.text.split_once('=').unwrap_or_default();
    // `RAILS_ENV=production` names another database.
    if name.ends_with("_ENV")
        && !matches!(value, "test" | "testing" | "dev" | "development" | "ci" | "local")
    {
        return false;
    }
    // Programs such as `make` run the code in a value.
    !value.contains(|one: char| !one.is_alphanumeric() && !"_-+.,:@/=".contains(one))
}

/// Returns whether a builtin of a shell evaluates arguments of which not all is known.
pub(super) fn evaluates(name: &str, words: &[Word]) -> bool {
    match name {
        "[" | "test" | "[[" => test_evaluates(words),
        "printf" => {
            let [format, values @ ..] = words else { return false };
            !(format.is_known() && has_texts_only(&format.text) || are_numbers(values))
        }
        _ if COUNTERS.contains(&name) => !are_numbers(words),
        _ if EVALUATORS.contains(&name) => {
            words.iter().any(|word| !word.is_known() && word.known == 0 || word.text.contains('['))
        }
        _ => false,
    }
}

/// Returns whether a test may have an operator that evaluates its operands, and one that is not a number.
fn test_evaluates(words: &[Word]) -> bool {
    let (mut may_have_operator, mut operators, mut has_other) = (false, 0, false);
    for word in words {
        let may_be_test = word.certainty == Certainty::Unknown && word.text.starts_with(['$', '`']);
        let known = &word.text[..word.known];
        // Without arguments `-e$@q` and `$@-eq` are `-eq`.
        let plain = hidden(&word.text).replace(UNKNOWN, "");
        let may_become = !word.is_known() && known.starts_with('-');
        let is_operator = ARITHMETIC.contains(&&*plain)
            || may_become && ARITHMETIC.iter().any(|one| one.starts_with(known));
        if is_operator {
            operators += 1;
            continue;
        }
        may_have_operator |= words.len() < 3 && may_be_test;
        // `-x` and `--x` are variables beside such an operator.
        has_other |= !matches!(&*word.text, "!" | "]" | "]]") && !is_number(word);
    }
    (may_have_operator || operators > 0) && (has_other || operators > 1)
}

/// Returns whether all values of a format of `printf` are texts.
fn has_texts_only(format: &str) -> bool {
    let mut parts = format.split('%').skip(1);
    parts.all(|part| part.is_empty() || part.starts_with(['s', 'b', 'q', '%']))
}

fn are_numbers(words: &[Word]) -> bool {
    words.iter().all(is_number)
}

fn is_number(word: &Word) -> bool {
    word.is_known() && super::is_number(&word.text)
        || matches!(&*word.text, "$?" | "$#" | "$$" | "$!" | "${PIPESTATUS[0]}")
}

/// Returns whether a builtin changes how the shell reads or runs what follows.
pub(super) fn changes_the_shell(name: &str, words: &[Word]) -> bool {
    match name {
        // Alone, it gives its redirections to all that follow.
        "exec" => words.is_empty(),
        "set" => !words.iter().all(|word| word.is_known() && is_plain_setting(&word.text)),
        _ => CHANGERS.contains(&name),
    }
}

/// Returns whether an argument of `set` changes nothing but when the shell stops and what it prints.
fn is_plain_setting(text: &str) -> bool {
    match text.strip_prefix(['-', '+']) {
        Some(letters) => {
            let letters = letters.strip_suffix('o').unwrap_or(letters);
            letters.trim_matches(['e', 'u', 'x']).is_empty()
        }
        None => text == "pipefail",
    }
}

/// Returns whether an argument of `alias` or `hash` may define a name.
fn is_definition(word: &Word) -> bool {
    !word.is_known() || word.text.contains('=') || word.text.starts_with("-p")
}

/// Returns the code that a call of the program `name` runs, if it is a shell, one of its builtins or an
/// interpreter.
pub(super) fn code<'w>(name: &str, words: &'w [Word]) -> Inner<'w> {
    if EVALUATORS.contains(&name) && words.iter().any(has_expanded_index) {
        return Inner::Unknown;
    }
    match (name, words) {
        ("eval", [word]) if is_settings(word) => Inner::Nothing,
        ("eval", _) => joined(words),
        ("trap", [action, ..]) if !action.text.starts_with('-') && !action.may_be_option() => {
            // A variable in it is one of the text, also in the inner quotes of `"rm '$x'"`.
            let is_known = action.is_known();
            let text = if is_known { action.text.clone() } else { action.text.replace('\'', "\"") };
            Inner::Text { text, is_known }
        }
        ("trap", [option, ..]) if option.text == "-" => Inner::Nothing,
        ("trap", _) => Inner::Unknown,
        ("source" | ".", []) => Inner::Nothing,
        ("source" | ".", [script, ..]) if is_settings(script) => Inner::Nothing,
        ("source" | ".", [script, ..]) => file(script, true),
        // They give a program another name.
        ("alias" | "hash", _) if words.iter().any(is_definition) => Inner::Unknown,
        ("shopt", _) if !are_known(words) || has_word(words, &["expand_aliases"]) => Inner::Unknown,
        _ if is_shell(name) => shell_code(words),
        _ if is_interpreter(name) => interpreter(name, words),
        _ => Inner::Nothing,
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
    Inner::Text { text: line_of(words), is_known: are_known(words) }
}

/// Returns whether a word is the output of a program that prints settings: `$(ssh-agent -s)`,
/// `<(kubectl completion bash)`.
fn is_settings(word: &Word) -> bool {
    let Some(inside) = inside_brackets(&word.text) else { return false };
    if inside.contains(['|', ';', '&', '\n', '$', '`', '(', '<']) {
        return false;
    }
    let (program, arguments) = inside.split_once(' ').unwrap_or((inside, ""));
    PRINTERS.contains(&&*super::base_name(program))
        || arguments.split(' ').next() == Some("completion")
}

fn inside_brackets(text: &str) -> Option<&str> {
    text.strip_prefix(['$', '<'])?.strip_prefix('(')?.strip_suffix(')')
}

/// Returns what a shell runs: the text behind `-c`, a file, or its input.
fn shell_code(mut words: &[Word]) -> Inner<'_> {
    while let [word, behind @ ..] = words {
        if !word.is_known() {
            return file(word, false);
        }
        words = behind;
        match &*word.text {
            "--version" | "--help" => return Inner::Nothing,
            "--" | "-" => break,
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            option if option.starts_with("--") => return Inner::Unknown,
            option if option.starts_with(['-', '+']) => {
                match (option.contains('c'), option.contains(['o', 'O', 's'])) {
                    (true, false) => return text_of_c(words.first()),
                    // A text that is only checked.
                    (false, false) if option == "-n" && !has_options(words) => {
                        return Inner::Nothing;
                    }
                    (false, false) => {}
                    (false, true) if option == "-s" => return Inner::Input,
                    // `-euo pipefail`
                    (false, true) if option.ends_with('o') && !option.contains(['O', 's']) => {
                        words = words.get(1..).unwrap_or_default();
                    }
                    _ => return Inner::Unknown,
                }
            }
            _ => return file(word, false),
        }
    }
    words.first().map_or(Inner::Input, |script| file(script, false))
}

fn has_options(words: &[Word]) -> bool {
    words.iter().any(|word| word.text.starts_with(['-', '+']))
}

/// The options of an interpreter that say what it runs.
struct Language {
    /// Options that the code, or the name of a module, stands behind.
    code: &'static [&'static str],
    /// Letters of options without a value.
    flags: &'static str,
    /// Options that take the next word.
    values: &'static [&'static str],
    /// Options with which it reads its input beside the code.
    interactive: &'static [&'static str],
    /// Whether a word without a `.` or a `/` is a subcommand: `bun run x.ts`.
    has_subcommands: bool,
    /// Whether it runs its input if its words name neither code nor a file.
    reads_input: bool,
}

const OTHER_LANGUAGE: Language = Language {
    code: &["e", "E"],
    flags: "",
    values: &[],
    interactive: &[],
    has_subcommands: false,
    reads_input: true,
};

impl Language {
    fn of(interpreter: &str) -> Self {
        match without_version(interpreter) {
            "python" | "pypy" | "py" | "pythonw" | "ipython" => Self {
                code: &["c", "m"],
                flags: "bBdEIOPqsSuvx3",
                values: &["-X", "-W"],
                interactive: &["-i"],
                ..OTHER_LANGUAGE
            },
            "perl" => Self {
                flags: "nplaswWtT0123456789",
                values: &["-I", "-M", "-m"],
                interactive: &["-d"],
                ..OTHER_LANGUAGE
            },
            "ruby" | "jruby" => Self {
                code: &["e"],
                flags: "nplaswW0123456789",
                values: &["-r", "-I", "-E"],
                ..OTHER_LANGUAGE
            },
            "php" => Self {
                code: &["r"],
                flags: "nqf",
                values: &["-d", "-c"],
                interactive: &["-a"],
                ..OTHER_LANGUAGE
            },
            "node" | "nodejs" | "tsx" | "ts-node" => Self {
                code: &["pe", "p", "e"],
                flags: "T",
                values: &["-r", "--require", "--import", "--loader", "--env-file", "-C", "--title"],
                interactive: &["-i", "--interactive"],
                ..OTHER_LANGUAGE
            },
            "deno" | "bun" => {
                Self { code: &["p", "e"], flags: "ARWNEq", has_subcommands: true, ..OTHER_LANGUAGE }
            }
            "java" | "wscript" | "cscript" => Self { reads_input: false, ..OTHER_LANGUAGE },
            _ => OTHER_LANGUAGE,
        }
    }

    /// Returns the code right behind an option for it, which is empty if it is the next word.
    fn code_in<'o>(&self, option: &'o str) -> Option<&'o str> {
        if matches!(option, "--eval" | "--print") {
            return Some("");
        }
        let letters = option.strip_prefix('-')?;
        let rest = letters.trim_start_matches(|letter| self.flags.contains(letter));
        let mut names = self.code.iter();
        names.find_map(|name| rest.strip_prefix(name)).or(option.strip_prefix("--eval="))
    }

    /// Returns whether the word behind an option is none of its value.
    fn is_flag(&self, option: &str) -> bool {
        if option.starts_with("--") {
            return option.len() > 2;
        }
        for value in self.values {
            if option.starts_with(value) {
                return true;
            }
        }
        option[1..].trim_matches(|letter| self.flags.contains(letter)).is_empty()
    }
}

/// Returns what an interpreter runs.
fn interpreter<'w>(name: &str, mut words: &'w [Word]) -> Inner<'w> {
    let language = Language::of(name);
    if has_word(words, language.interactive) {
        return Inner::Input;
    }
    // It only checks the code.
    if let [check, ..] = words
        && matches!((name, &*check.text), ("php", "-l") | ("ruby", "-c") | ("node", "--check"))
    {
        return Inner::Nothing;
    }
    // Whether the options are known so far, and whether the next word may be the value of one.
    let (mut is_sure, mut may_be_value) = (true, false);
    while let [word, behind @ ..] = words {
        let option = &*word.text;
        if option == "-" {
            break;
        }
        // The module may be a program that runs another one: `python -m uv run x`.
        if name.starts_with("py")
            && let Some(words) = words_of_module(word, option, behind)
        {
            return Inner::Commands(vec![Run { words, ..Run::default() }]);
        }
        let code = match language.code_in(option) {
            Some("") => match behind.first() {
                Some(code) => (code, &*code.text),
                None => return Inner::Unknown,
            },
            Some(code) => (word, code),
            None if option.starts_with('-') && word.is_known() => {
                let takes_next = language.values.contains(&option);
                is_sure &= takes_next || language.is_flag(option) || !language.reads_input;
                may_be_value = option.starts_with("--") && !takes_next && !option.contains('=');
                words = behind.get(usize::from(takes_next)..).unwrap_or_default();
                continue;
            }
            None if language.has_subcommands && !option.contains(['.', '/']) && word.is_known() => {
                match option {
                    "run" => words = behind,
                    "repl" => return Inner::Input,
                    _ => return Inner::Nothing,
                }
                continue;
            }
            None => {
                let is_file = !may_be_value && (word.is_known() || names_only_places(option));
                if is_sure && is_file && !matches!(option, "" | "inspect" | "debug") {
                    return file(word, false);
                }
                return Inner::FileOrInput(word);
            }
        };
        return match code {
            // A module such as `pdb` runs its input.
            (_, code) if runs_input(code) => Inner::Input,
            // So does `-m cProfile /dev/stdin`.
            (_, code)
                if is_module_name(code) && behind.iter().any(|word| names_device(&word.text)) =>
            {
                Inner::Unknown
            }
            (word, code) if !is_substituted(word) && code != "-" => Inner::Nothing,
            _ => Inner::Unknown,
        };
    }
    Inner::Input
}

fn is_module_name(code: &str) -> bool {
    !code.contains(|letter: char| !letter.is_alphanumeric() && !"._".contains(letter))
}

/// Returns whether a module of Python runs the code in its input.
fn runs_input(module: &str) -> bool {
    CODE_MODULES.contains(&module.split('.').next().unwrap_or_default())
}

/// Returns the words of a module that runs commands, behind `-m`, `-mMODULE` or `-Im`.
fn words_of_module(word: &Word, option: &str, behind: &[Word]) -> Option<Vec<Word>> {
    let letters = option.strip_prefix('-')?;
    let (before, module) = letters.split_once('m')?;
    if before.contains(|letter| !"bBdEiIOPqsSuvVx".contains(letter)) {
        return None;
    }
    let (module, behind) = if module.is_empty() {
        let (module, behind) = behind.split_first()?;
        (module.clone(), behind)
    } else {
        (word.ending(module), behind)
    };
    let name = &module.text;
    let is_path = name.contains(|one: char| !one.is_alphanumeric() && !"_.-".contains(one));
    if is_path || !runs_commands(name) {
        return None;
    }
    Some([&[module], behind].concat())
}

/// Returns whether the output of a command is a part of a word.
fn is_substituted(word: &Word) -> bool {
    !word.is_known() && (word.text.contains(['`', '<', '>']) || word.text.contains("$("))
}

/// A script may do what it wants, like every other program, but it must be a file. It is surely no option
/// if the program has none: `lacks_options`.
fn file(script: &Word, lacks_options: bool) -> Inner<'_> {
    let is_path = lacks_options || !script.may_be_option() || names_only_places(&script.text);
    if names_device(&script.text) || is_substituted(script) || !is_path {
        return Inner::Unknown;
    }
    Inner::File(script)
}

/// Returns whether a path may lead to a device: `//dev/stdin`, `../../proc/self/fd/0`.
pub(super) fn names_device(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.retain(|part| !matches!(*part, "" | "."));
    let reach =
        if parts.contains(&"..") { parts.len() } else { usize::from(path.starts_with('/')) };
    for part in &parts[..reach.min(parts.len())] {
        if part.eq_ignore_ascii_case("dev") || part.eq_ignore_ascii_case("proc") {
            return true;
        }
    }
    false
}

/// Returns whether a text has no other expansions than those of the home and the directory, which the
/// shell that runs it would make the same of.
fn names_only_places(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, expansion, behind)) = next_expansion(rest) {
        if !matches!(expansion, "$HOME" | "${HOME}" | "$PWD" | "${PWD}") {
            return false;
        }
        rest = behind;
    }
    true
}

/// Returns the text behind `-c`; further options may stand before it.
pub(super) fn text_of_c(text: Option<&Word>) -> Inner<'static> {
    let Some(Word { text, certainty, known, .. }) = text else { return Inner::Unknown };
    let is_known = match certainty {
        Certainty::Known if !text.starts_with(['-', '+']) => true,
        Certainty::OneWord => text[*known..].starts_with('$') && names_only_places(text),
        _ => return Inner::Unknown,
    };
    Inner::Text { text: text.clone(), is_known }
}
