//! Commands that others imply: statements of SQL, and code that comes from elsewhere.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::arguments::{Arguments, program_name};
use super::glob::glob;
use super::groups::shipped;
use crate::calls::{Hidden, SimpleCommand, Word};
use hookexec::wire::Input;

/// Programs that run the code in a file or in their input.
static RUNS_CODE: LazyLock<Vec<Cow<'static, str>>> = LazyLock::new(|| {
    let mut programs = shipped("@interpreters").unwrap_or_default();
    programs.extend(SHELLS.map(Cow::Borrowed));
    programs
});

const SHELLS: [&str; 10] =
    ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "source", "."];
/// Programs that print harmless code, for `eval`.
const PRINTS_CODE: [&str; 16] = [
    "ssh-agent",
    "direnv",
    "pyenv",
    "rbenv",
    "nodenv",
    "fnm",
    "brew",
    "opam",
    "starship",
    "zoxide",
    "mise",
    "asdf",
    "dircolors",
    "conda",
    "luarocks",
    "register-python-argcomplete",
];

/// Marks code that comes from a pipe or from a file that the call fetches, and returns the commands
/// with the statements of SQL behind them.
pub(super) fn with_implied(input: &Input, mut commands: Vec<SimpleCommand>) -> Vec<SimpleCommand> {
    let fetched: Vec<String> = commands.iter().flat_map(fetched).collect();
    for command in &mut commands {
        if runs_unknown(command, &fetched) {
            command.hidden = Hidden::Anything;
        } else if command.hidden == Hidden::Anything && is_printed_code(command) {
            command.hidden = Hidden::Nothing;
        }
    }
    let mut statements: Vec<SimpleCommand> = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        if is_one_of(command, "@databases") {
            let before = at.checked_sub(1).map(|before| &commands[before]);
            let piped =
                before.filter(|before| command.piped && before.pipeline == command.pipeline);
            for source in [Some(command), piped].into_iter().flatten() {
                let texts = source.redirections.iter().filter(|one| !one.is_file());
                let texts = source.words.iter().skip(1).chain(texts.map(|one| &one.word));
                for text in texts.filter(|word| word.text.contains(char::is_whitespace)) {
                    statements.extend(statements_of(&text.text));
                }
            }
        }
    }
    for (key, value) in input.tool_input.iter().flatten() {
        if matches!(&**key, "sql" | "query" | "statement")
            && let Some(text) = value.as_str()
        {
            statements.extend(statements_of(text));
        }
    }
    commands.extend(statements);
    commands
}

fn is_one_of(command: &SimpleCommand, group: &str) -> bool {
    let name = command.words.first().and_then(program_name);
    name.is_some_and(|name| {
        shipped(group).unwrap_or_default().iter().any(|known| glob(known, &name))
    })
}

/// Returns the statements of a text as commands of a program `sql`, in small letters.
fn statements_of(text: &str) -> Vec<SimpleCommand> {
    let plain: Vec<&str> =
        text.lines().map(|line| line.split("--").next().unwrap_or(line)).collect();
    let mut statements = Vec::new();
    for statement in plain.join(" ").to_lowercase().split(';') {
        let is_part = |letter: char| letter.is_alphanumeric() || "_.*$:".contains(letter);
        let words = statement.split(|letter| !is_part(letter)).filter(|word| !word.is_empty());
        let words: Vec<Word> = std::iter::once("sql").chain(words).map(Word::known).collect();
        if words.len() > 1 {
            statements.push(SimpleCommand { words, is_certain: true, ..SimpleCommand::default() });
        }
    }
    statements
}

/// Returns whether a command runs code that nobody has seen.
fn runs_unknown(command: &SimpleCommand, fetched: &[String]) -> bool {
    let Some(program) = command.words.first() else { return false };
    let name = program_name(program).unwrap_or_default();
    let is_fetched = |text: &str| {
        let text = text.strip_prefix("./").unwrap_or(text);
        fetched.iter().any(|file| file == text)
    };
    if program.text.contains('/') && is_fetched(&program.text) {
        return true;
    }
    if !RUNS_CODE.iter().any(|known| glob(known, &name)) {
        return false;
    }
    let given = Arguments::of(command);
    match given.operands.iter().find(|word| word.text != "-") {
        Some(script) => is_fetched(&script.text),
        None => command.piped && given.options.iter().all(|option| option.value.is_none()),
    }
}

/// Returns whether the code of a command is printed by a program that is known to print harmless code:
/// `eval "$(ssh-agent -s)"`.
fn is_printed_code(command: &SimpleCommand) -> bool {
    let [_, words @ ..] = &command.words[..] else { return false };
    let is_harmless = |word: &Word| {
        let text = word.text.trim_matches('"');
        let code = text.strip_prefix("$(").or_else(|| text.strip_prefix("<("));
        let name = code.and_then(|code| code.split([' ', ')']).next()).unwrap_or_default();
        PRINTS_CODE.contains(&name) && text.matches('(').count() == 1
    };
    words.iter().any(is_harmless) && words.iter().all(|word| word.is_known() || is_harmless(word))
}

/// Returns the files that a command fetches.
fn fetched(command: &SimpleCommand) -> Vec<String> {
    if !is_one_of(command, "@fetchers") {
        return Vec::new();
    }
    let given = Arguments::of(command);
    let mut files = Vec::new();
    for option in &given.options {
        if matches!(&*option.name, "-o" | "-O" | "--output" | "--output-document")
            && let Some((_, file)) = option.value
        {
            files.push(file.to_owned());
        }
    }
    // `curl -O` and `wget` name the file as the address does.
    files.extend(given.operands.iter().filter_map(|word| {
        let (_, name) = word.text.rsplit_once('/')?;
        Some(name.split(['?', '#']).next()?.to_owned())
    }));
    let written = command.redirections.iter().filter(|one| one.operator.starts_with('>'));
    files.extend(written.map(|one| one.word.text.clone()));
    files.retain(|file| !file.is_empty() && file != "-");
    files
}
