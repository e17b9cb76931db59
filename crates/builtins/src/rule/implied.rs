//! Commands that others imply: statements of SQL, programs that a program runs, and files that a
//! pipeline empties.

use serde_json::Value;

use super::arguments::{Arguments, program_name};
use super::code::{STATEMENT, texts};
use super::expand::{UNKNOWN, hidden};
use super::glob::glob;
use super::groups::shipped;
use super::limits::MOST_ALTERNATIVES;
use super::uses::{Touch, uses};
use crate::calls::names::{COMMAND_ARGUMENTS, DATABASE_OPTIONS, RUNNERS, RUNNING_TOOLS, SQL_TOOLS};
use crate::calls::{Hidden, SimpleCommand, Word, commands_of_text, is_interpreter, line_of};
use crate::shell::quoted_words;
use hookexec::wire::{Input, JsonObject};

/// Returns the commands of a call with those that they imply.
pub(super) fn with_implied(input: &Input, mut commands: Vec<SimpleCommand>) -> Vec<SimpleCommand> {
    pass_assignments(&mut commands);
    commands.extend(commands_of_arguments(input));
    let mut implied: Vec<SimpleCommand> = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let name = program_of(command).unwrap_or_default();
        let is_runner = RUNNERS.contains(&name.as_str());
        if is_runner || is_interpreter(&name) {
            implied.extend(named(&Arguments::of(command), is_runner));
        }
        if is_interpreter(&name) || is_awk(&name) {
            implied.extend(commands_in_code(&name, &Arguments::of(command)));
        }
        if is_database(&name) {
            add_statements(command, &commands[..at], &mut implied);
        }
    }
    implied.extend(emptied(&commands));
    commands.extend(implied);
    commands
}

/// Returns the command whose output a client of a database reads: not one that runs the client.
fn source_of<'c>(before: &'c [SimpleCommand], client: &SimpleCommand) -> Option<&'c SimpleCommand> {
    let runner = client.frame.wrappers.last();
    let source = before.iter().rfind(|before| program_of(before).as_ref() != runner)?;
    if client.frame.piped && source.frame.pipeline == client.frame.pipeline {
        Some(source)
    } else {
        None
    }
}

/// Adds the statements that a client of a database runs: those in its words, in its input, and in the files
/// that the commands before it wrote.
fn add_statements(
    command: &SimpleCommand,
    before: &[SimpleCommand],
    found: &mut Vec<SimpleCommand>,
) {
    let client = with_input(command, before);
    let given = Arguments::of(&client);
    let mut texts: Vec<(&Word, &str, bool)> = Vec::new();
    texts.extend(given.operands.iter().map(|word| (*word, &*word.text, false)));
    for option in &given.options {
        if let Some((word, text)) = option.value {
            texts.push((word, text, matches!(&*option.name, "-c" | "-e")));
        }
    }
    for (word, text, is_code) in texts {
        add_escapes(text, found);
        let beside = words_beside(command, &word.text);
        let text = hidden(text);
        if is_code && !word.is_known() && text.trim_start().starts_with(UNKNOWN) {
            // Nothing of the statement is known.
            let words = vec![Word::known("sql"), Word::unknown(&word.text)];
            found.push(SimpleCommand { words, assignments: beside, ..Default::default() });
        } else if text.contains(char::is_whitespace) {
            found.extend(statements_of(&text, &beside));
        }
    }
    if client.words.len() > command.words.len() {
        found.push(client);
    }
}

/// Returns a client of a database with the texts of its input as words: those of its here-documents, and
/// those that `echo` or a here-document gives to it by a pipe or a file.
fn with_input(client: &SimpleCommand, before: &[SimpleCommand]) -> SimpleCommand {
    let mut whole = client.clone();
    let mut readers = vec![client];
    readers.extend(source_of(before, client));
    // A shell or `ssh` around a client gives it its own input.
    let mut depth = client.frame.wrappers.len();
    for (at, outer) in before.iter().enumerate().rev() {
        let own = outer.frame.wrappers.len();
        if own < depth && program_of(outer).as_ref() == client.frame.wrappers.get(own) {
            depth = own;
            readers.push(outer);
            readers.extend(source_of(&before[..at], outer));
        }
    }
    whole.words.extend(readers.iter().flat_map(|reader| reader.documents()).cloned());
    let mut count = 0;
    for writer in before.iter().rev() {
        let mut outputs = writer.redirections.iter().filter(|one| !one.is_input());
        let is_read =
            outputs.any(|output| readers.iter().any(|reader| names(reader, &output.word)));
        let is_reader = readers.iter().any(|reader| std::ptr::eq(*reader, writer));
        if !is_read && !is_reader {
            continue;
        }
        if count == MOST_ALTERNATIVES {
            break;
        }
        count += 1;
        // Those of a reader are there already.
        if !is_reader {
            whole.words.extend(writer.documents().cloned());
        }
        if matches!(program_of(writer).as_deref(), Some("echo" | "printf")) {
            let words = &writer.words[1..];
            if words.iter().all(Word::is_known) {
                whole.words.push(Word::known(&line_of(words)));
            } else {
                whole.words.extend(words.iter().cloned());
            }
        }
    }
    whole
}

/// Returns whether a command has a file among its words, or reads it.
fn names(command: &SimpleCommand, file: &Word) -> bool {
    let inputs = command.redirections.iter().filter(|one| one.is_input()).map(|one| &one.word);
    command.words.iter().chain(inputs).any(|word| is_same_file(&word.text, &file.text))
}

/// Returns whether a word is a file as it is written, with or without `./`, or an option with it.
fn is_same_file(word: &str, file: &str) -> bool {
    let name = word.rsplit('=').next().unwrap_or(word);
    name.trim_start_matches("./") == file.trim_start_matches("./")
}

/// Adds the commands for a shell that stand among the statements for a client of a database.
fn add_escapes(statements: &str, found: &mut Vec<SimpleCommand>) {
    for line in statements.lines().map(str::trim) {
        let mut escapes = ["\\!", ".shell ", ".system ", "system "].into_iter();
        if let Some(text) = escapes.find_map(|escape| line.strip_prefix(escape)) {
            found.extend(commands_of_text(text));
        }
    }
}

/// Returns the commands in the arguments of a tool other than a shell.
fn commands_of_arguments(input: &Input) -> Vec<SimpleCommand> {
    let tool = input.tool().to_lowercase();
    let mut commands = Vec::new();
    if let Some(arguments) = &input.tool_input {
        add_commands_of(&tool, arguments, &mut commands);
    }
    if input.tool().starts_with("mcp__")
        && let Some(text) = input.tool_input.as_ref().and_then(command_of)
    {
        commands.extend(commands_of_text(&text));
    }
    commands
}

/// Adds the commands in the arguments of a tool, also in objects within them.
fn add_commands_of(tool: &str, arguments: &JsonObject, found: &mut Vec<SimpleCommand>) {
    for (key, value) in arguments {
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for inner in items.iter().filter_map(Value::as_object) {
            add_commands_of(tool, inner, found);
        }
        for text in texts_of(value) {
            found.extend(commands_of_argument(tool, &key.to_lowercase(), &text));
        }
    }
}

/// Returns the command of a call that names its program and its words apart, or of a request.
fn command_of(arguments: &JsonObject) -> Option<String> {
    if let (Some(method), Some(url)) = (arguments.get("method"), arguments.get("url")) {
        return Some(format!("curl -X {}", quoted_words([method.as_str()?, url.as_str()?])));
    }
    let program = arguments.get("command").or_else(|| arguments.get("cmd"))?.as_str()?;
    let words = arguments.get("args").or_else(|| arguments.get("arguments"))?.as_array()?;
    Some(format!("{program} {}", quoted_words(words.iter().filter_map(Value::as_str))))
}

/// Returns whether an argument with this name holds a text for a shell, or the words of a command.
pub fn names_a_command(argument: &str) -> bool {
    let argument = argument.as_bytes();
    COMMAND_ARGUMENTS.iter().any(|end| {
        let start = argument.len().saturating_sub(end.len());
        argument[start..].eq_ignore_ascii_case(end.as_bytes())
    })
}

/// Returns `: > file` for each file that a pipeline reads and, before that, empties: `sort x > x`.
fn emptied(commands: &[SimpleCommand]) -> Vec<SimpleCommand> {
    let mut found = Vec::new();
    for command in commands {
        for redirection in command.redirections.iter().filter(|one| &*one.operator == ">") {
            let file = &redirection.word.text;
            let mut readers =
                commands.iter().filter(|other| other.frame.pipeline == command.frame.pipeline);
            if readers.any(|reader| reads(reader, file)) {
                let words = vec![Word::known(":")];
                let redirections = vec![redirection.clone()];
                let history = command.history.clone();
                found.push(SimpleCommand { words, redirections, history, ..Default::default() });
            }
        }
    }
    found
}

/// Returns whether a command names a file as one that it reads, as it is written.
fn reads(command: &SimpleCommand, file: &str) -> bool {
    let mut inputs = command.redirections.iter().filter(|one| &*one.operator == "<");
    let used = uses(&Arguments::of(command));
    inputs.any(|input| input.word.text == file)
        || used.iter().any(|one| one.text == file && one.touch.meets(Touch::READ))
}

/// Returns the text of an argument, and that of a list of words as one command and as several texts.
fn texts_of(value: &Value) -> Vec<String> {
    let items: Vec<&str> = match value {
        Value::String(text) => return vec![text.clone()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut texts: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
    if texts.len() > 1 {
        texts.push(quoted_words(items));
    }
    texts
}

/// Returns the commands in an argument of a tool other than a shell; both names are in small letters.
fn commands_of_argument(tool: &str, key: &str, text: &str) -> Vec<SimpleCommand> {
    if key.contains("sql") || key.starts_with("statement") {
        return statements_of(text, &[]);
    }
    if key == "query" && SQL_TOOLS.iter().any(|name| tool.contains(name)) {
        return statements_of(text, &[]);
    }
    if tool.starts_with("mcp__") && names_a_command(key) {
        return commands_of_text(text);
    }
    if key.ends_with("code") && RUNNING_TOOLS.iter().any(|name| tool.contains(name)) {
        let words = ["python3", "-c", text].map(Word::known).to_vec();
        return vec![SimpleCommand { words, ..Default::default() }];
    }
    Vec::new()
}

/// Gives each command the assignments of the program that runs it.
fn pass_assignments(commands: &mut [SimpleCommand]) {
    for at in 1..commands.len() {
        let depth = commands[at].frame.wrappers.len();
        if depth == 0 {
            continue;
        }
        let outer = commands[..at].iter().rfind(|outer| outer.frame.wrappers.len() + 1 == depth);
        if let Some(outer) = outer {
            let assignments = outer.assignments.clone();
            commands[at].assignments.extend(assignments);
        }
    }
}

/// Returns the program that another one runs, with its words: `python -m alembic`, `php artisan`,
/// `pnpm prisma`.
fn named(given: &Arguments<'_>, is_runner: bool) -> Option<SimpleCommand> {
    let command = given.command;
    let module = given.options.iter().find(|option| option.name == "-m" && !is_runner);
    let program = match module.and_then(|option| option.value) {
        Some((word, _)) => word,
        None => given.operands.first()?,
    };
    program_name(program)?;
    let at = command.words.iter().position(|word| std::ptr::eq(word, program))?;
    let words = command.words[at..].to_vec();
    Some(SimpleCommand {
        words,
        redirections: Vec::new(),
        hidden: Hidden::Nothing,
        ..command.clone()
    })
}

/// Returns the commands and statements that the code of an interpreter runs, as far as they can be read.
fn commands_in_code(name: &str, given: &Arguments<'_>) -> Vec<SimpleCommand> {
    let mut codes: Vec<&str> = Vec::new();
    if is_awk(name) {
        codes.extend(given.operands.first().map(|word| word.text.as_str()));
    }
    for option in &given.options {
        if let ("-c" | "-e" | "-p" | "-r", Some((_, code))) = (&*option.name, option.value) {
            codes.push(code);
        }
    }
    // `node -p CODE`: in `-pe` it stands behind the `e`.
    if given.has("-p") {
        codes.extend(given.operands.first().map(|word| word.text.as_str()));
    }
    let mut commands = Vec::new();
    for (command, text) in codes.into_iter().flat_map(texts) {
        if command == STATEMENT {
            commands.extend(statements_of(&text, &[]));
            continue;
        }
        for mut inner in commands_of_text(&format!("{command} {text}")) {
            if inner.words.first().is_some_and(Word::is_known) {
                inner.hidden = Hidden::Nothing;
                inner.frame.wrappers.insert(0, name.to_owned());
                inner.history = given.command.history.clone();
                commands.push(inner);
            }
        }
    }
    commands
}

pub(super) fn is_awk(name: &str) -> bool {
    name.ends_with("awk")
}

fn program_of(command: &SimpleCommand) -> Option<String> {
    program_name(command.words.first()?)
}

/// Returns whether a program runs statements of SQL.
fn is_database(name: &str) -> bool {
    shipped("@databases").unwrap_or_default().iter().any(|known| glob(known, name))
}

/// Returns the words of a client that name its database, each as an assignment: `CLIENT=app_test`.
fn words_beside(client: &SimpleCommand, statements: &str) -> Vec<Word> {
    let given = Arguments::of(client);
    let mut words = given.operands.clone();
    for option in given.options.iter().filter(|option| DATABASE_OPTIONS.contains(&&*option.name)) {
        words.extend(option.value.map(|(word, _)| word));
    }
    words.retain(|word| word.text != statements);
    words.into_iter().map(|word| word.clone().behind("CLIENT=")).collect()
}

/// Returns the statements of a text as commands of a program `sql`, in small letters. The words of the
/// client that runs them stand before each, as its assignments: they name the database.
fn statements_of(text: &str, program: &[Word]) -> Vec<SimpleCommand> {
    let mut statements = Vec::new();
    for statement in without_comments(text).to_lowercase().split(';') {
        let words = statement
            .split(|letter: char| !letter.is_alphanumeric() && !"_.*$:".contains(letter))
            .filter(|word| !word.is_empty());
        let words: Vec<Word> = std::iter::once("sql").chain(words).map(Word::known).collect();
        if words.len() > 1 {
            let assignments = program.to_vec();
            let is_certain = true;
            statements.push(SimpleCommand { words, assignments, is_certain, ..Default::default() });
        }
    }
    statements
}

/// Returns a text of SQL without its comments, the texts in its quotes, and the commands of a client.
fn without_comments(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('\\'));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut plain = String::new();
    let mut rest = &*text;
    while let Some(start) = rest.find(['-', '/', '\'']) {
        plain.push_str(&rest[..start]);
        rest = &rest[start..];
        let skipped = [("--", "\n"), ("/*!", ""), ("/*", "*/"), ("'", "'")];
        let Some((open, close)) = skipped.into_iter().find(|(open, _)| rest.starts_with(open))
        else {
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        plain.push(' ');
        rest = &rest[open.len()..];
        rest = rest.find(close).map_or("", |at| &rest[at + close.len()..]);
    }
    plain + rest
}
