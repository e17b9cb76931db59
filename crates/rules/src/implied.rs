//! Commands that others imply: statements of SQL, and programs that a program runs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::arguments::{Arguments, GivenOption, program_name};
use super::code::{STATEMENT, texts};
use super::groups::shipped;
use crate::names::{
    COMMAND_ARGUMENTS, DATABASE_OPTIONS, PASSING, RUNNERS, RUNNING_TOOLS, SQL_TOOLS,
};
use hookexec::Input;
use hookexec::wire::JsonObject;
use hookexec_calls::limits::MOST_PATHS;
use hookexec_calls::place::items_of;
use hookexec_calls::shell::{UNKNOWN, hidden, is_shell, quoted_words};
use hookexec_calls::sql;
use hookexec_calls::{
    Certainty, Hidden, LONGEST, SimpleCommand, Word, commands_of_text, is_interpreter, line_of,
};
use hookexec_files::glob::{glob, has_part};

/// Returns the commands of a call with those that they imply.
pub(super) fn with_implied(input: &Input, mut commands: Vec<SimpleCommand>) -> Vec<SimpleCommand> {
    let mut implied = Implied::default();
    implied.pass_assignments(&mut commands);
    if let Some(arguments) = &input.tool_input {
        implied.add_commands_of(&input.tool().to_lowercase(), arguments);
    }
    commands.append(&mut implied.found);
    for (at, command) in commands.iter().enumerate() {
        let Some(name) = program_of(command) else { continue };
        let is_runner = RUNNERS.contains(&name.as_str());
        if (is_runner || is_interpreter(&name))
            && let Some(program) = named(&Arguments::of(command), is_runner)
        {
            implied.add(program);
        }
        if is_interpreter(&name) || is_awk(&name) {
            implied.add_commands_in_code(&name, &Arguments::of(command));
        }
        if is_database(&name) {
            implied.add_statements_of_client(command, &commands[..at]);
        }
    }
    commands.extend(implied.found);
    commands
}

/// The commands that others imply. Of too many, the rest is one that can't be known.
#[derive(Default)]
struct Implied {
    found: Vec<SimpleCommand>,
    /// How many words were copied for them.
    words: usize,
}

impl Implied {
    /// Returns whether so many more words may be copied.
    fn takes(&mut self, words: usize) -> bool {
        if self.words <= MOST_PATHS {
            self.words += words;
            if self.words > MOST_PATHS {
                self.hides_anything();
            }
        }
        self.words <= MOST_PATHS
    }

    /// Adds a command that stands for what is too long to be read.
    fn hides_anything(&mut self) {
        let (hidden, is_too_long) = (Hidden::Anything, true);
        self.found.push(SimpleCommand { hidden, is_too_long, ..Default::default() });
    }

    fn add(&mut self, command: SimpleCommand) {
        if self.takes(command.words.len() + command.assignments.len()) {
            self.found.push(command);
        }
    }

    /// Gives each command the assignments of the program that runs it, and those of variables that were
    /// exported before.
    fn pass_assignments(&mut self, commands: &mut [SimpleCommand]) {
        let (mut assigned, mut exported): (Vec<Word>, BTreeSet<String>) = Default::default();
        for at in 0..commands.len() {
            let (before, rest) = commands.split_at_mut(at);
            let command = &mut rest[0];
            if command.words.is_empty() {
                assigned.extend_from_slice(&command.assignments);
                continue;
            }
            if let Some(runner) = before.iter().rfind(|other| runs(other, command)) {
                if !self.takes(runner.assignments.len()) {
                    return;
                }
                let passes = matches!(program_of(runner), Some(name) if PASSING.contains(&&*name));
                for one in &runner.assignments {
                    command.assignments.push(if passes { one.clone() } else { unsure(one) });
                }
            }
            for one in &assigned {
                if exported.contains(variable_of(one)) && self.takes(1) {
                    command.assignments.push(unsure(one));
                }
            }
            for name in exported_names(command) {
                exported.insert(variable_of(name).to_owned());
                if name.text.contains('=') {
                    assigned.push(name.clone());
                }
            }
        }
    }

    /// Adds the statements that a client of a database runs: those in its words and in its input.
    fn add_statements_of_client(&mut self, client: &SimpleCommand, before: &[SimpleCommand]) {
        if !self.takes(0) {
            return;
        }
        let database = words_of_database(&Arguments::of(client));
        let mut whole = client.clone();
        add_input(client, before, &mut whole.words);
        for word in &mut whole.words[client.words.len()..] {
            // A text may begin with a comment, which is not an option.
            if word.text.starts_with('-') {
                *word = word.clone().behind("\n");
            }
        }
        let given = Arguments::of(&whole);
        let mut texts: Vec<(&Word, &str, bool)> = Vec::new();
        for word in &given.operands {
            texts.push((word, &word.text, false));
        }
        for option in &given.options {
            if let Some((word, text)) = option.value {
                texts.push((word, text, matches!(&*option.name, "-c" | "-e")));
            }
        }
        for (word, text, is_code) in texts {
            let text = hidden(text);
            let is_unknown = is_code && !word.is_known() && text.trim_start().starts_with(UNKNOWN);
            if !is_unknown && !text.contains(char::is_whitespace) {
                continue;
            }
            if !self.takes(database.len()) {
                return;
            }
            // The words beside a statement may name the database.
            let own = format!("CLIENT={}", word.text);
            let mut assignments = database.clone();
            assignments.retain(|one| one.text != own);
            assignments.extend_from_slice(&client.assignments);
            if is_unknown {
                // Nothing of the statement is known.
                let words = vec![Word::known("sql"), Word::unknown(&word.text)];
                self.add(SimpleCommand { words, assignments, ..Default::default() });
            } else {
                self.add_statements(&text, &assignments);
            }
        }
        if whole.words.len() > client.words.len() {
            self.add(whole);
        }
    }

    /// Adds the commands in the arguments of a tool other than a shell, also in objects within them. The
    /// tool's name is in small letters.
    fn add_commands_of(&mut self, tool: &str, arguments: &JsonObject) {
        if tool.starts_with("mcp__")
            && let Some(text) = command_of(arguments)
        {
            self.add_text(&text);
        }
        for key in ["language", "lang", "runtime"] {
            if let Some(Value::String(language)) = arguments.get(key)
                && (is_shell(language) || matches!(&**language, "shell" | "shellscript"))
                && let Some(Value::String(text)) = arguments.get("code")
            {
                self.add_text(text);
            }
        }
        for (key, value) in arguments {
            let items = match value {
                Value::Array(items) => items,
                value => std::slice::from_ref(value),
            };
            for item in items {
                if let Value::Object(inner) = item {
                    self.add_commands_of(tool, inner);
                }
            }
            let key = key.to_lowercase();
            let texts = items_of(value);
            for text in &texts {
                self.add_argument(tool, &key, text);
            }
            // A list of words may be one command.
            if texts.len() > 1 {
                self.add_argument(tool, &key, &quoted_words(texts));
            }
        }
    }

    /// Adds the commands in an argument of a tool other than a shell; both names are in small letters.
    fn add_argument(&mut self, tool: &str, key: &str, text: &str) {
        let is_query = key == "query" && has_part(tool, SQL_TOOLS);
        if key.contains("sql") || key.starts_with("statement") || is_query {
            // The server may be a live one.
            self.add_statements(text, &[Word::known(&format!("CLIENT={tool}"))]);
        } else if tool.starts_with("mcp__") && names_a_command(key) {
            self.add_text(text);
        } else if key.ends_with("code") && has_part(tool, RUNNING_TOOLS) {
            if text.len() > LONGEST {
                return self.hides_anything();
            }
            let words = vec![Word::known("python3"), Word::known("-c"), Word::known(text)];
            self.add(SimpleCommand { words, ..Default::default() });
        }
    }

    /// Adds the commands and statements that the code of an interpreter runs, as far as they can be read.
    fn add_commands_in_code(&mut self, name: &str, given: &Arguments<'_>) {
        let mut codes: Vec<&str> = Vec::new();
        for option in &given.options {
            if let ("-c" | "-e" | "-p" | "-r" | "-M" | "--import", Some((_, code))) =
                (&*option.name, option.value)
            {
                codes.push(code);
            }
        }
        match &given.operands[..] {
            [eval, code, ..] if eval.text == "eval" => codes.push(&code.text),
            // `node -p CODE`: in `-pe` it stands behind the `e`.
            [code, ..] if is_awk(name) || given.has("-p") => codes.push(&code.text),
            _ => {}
        }
        for (command, text) in codes.into_iter().flat_map(|code| texts(name, code)) {
            if command == STATEMENT {
                self.add_statements(&text, &[]);
                continue;
            }
            for mut inner in commands_of_text(&format!("{command} {text}")) {
                if matches!(inner.words.first(), Some(program) if program.is_known()) {
                    inner.hidden = Hidden::Nothing;
                    inner.frame.wrappers.insert(0, name.to_owned());
                    inner.history = given.command.history.clone();
                    self.add(inner);
                }
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        for command in commands_of_text(text) {
            self.add(command);
        }
    }

    /// Adds the statements of a text as commands of a program `sql`, in small letters. The assignments of
    /// each name the database.
    fn add_statements(&mut self, text: &str, assignments: &[Word]) {
        for statement in sql::statements(text) {
            if !self.takes(0) {
                return;
            }
            let mut words = vec![Word::known("sql")];
            words.extend(statement.iter().map(|word| Word::known(word)));
            let assignments = assignments.to_vec();
            self.add(SimpleCommand { words, assignments, ..Default::default() });
        }
    }
}

/// Returns the names that a command exports, and its assignments to them.
fn exported_names(command: &SimpleCommand) -> &[Word] {
    let [program, words @ ..] = &*command.words else { return &[] };
    match (&*program.text, words) {
        ("export", names) => names,
        ("declare" | "typeset", [option, names @ ..]) if option.text.contains('x') => names,
        _ => &[],
    }
}

/// Returns the name of the variable that is exported or assigned.
fn variable_of(word: &Word) -> &str {
    word.text.split(['=', '+']).next().unwrap_or_default()
}

/// Returns an assignment that may not have been made: a rule sees it, and no exception counts on it.
fn unsure(assignment: &Word) -> Word {
    Word { certainty: Certainty::Paths, ..assignment.clone() }
}

/// Returns whether a command is one of the programs that run another one.
pub(super) fn runs(outer: &SimpleCommand, inner: &SimpleCommand) -> bool {
    let runner = inner.frame.wrappers.get(outer.frame.wrappers.len());
    runner.is_some() && program_of(outer).as_ref() == runner
}

/// Returns the words of a client that may name its database, each once as an assignment:
/// `CLIENT=app_test`.
fn words_of_database(given: &Arguments<'_>) -> Vec<Word> {
    let mut words: Vec<Word> = given.operands.iter().copied().cloned().collect();
    for option in &given.options {
        if let Some((word, value)) = option.value
            && DATABASE_OPTIONS.contains(&&*option.name)
        {
            words.push(word.ending(value));
        }
    }
    let mut known = BTreeSet::new();
    words.retain(|word| known.insert(word.text.clone()));
    words.into_iter().map(|word| word.behind("CLIENT=")).collect()
}

/// Adds what a client may read as words: here-documents, and what `echo` and `printf` print before it, as a
/// pipe may reach it through groups, shells and substitutions.
fn add_input(client: &SimpleCommand, before: &[SimpleCommand], words: &mut Vec<Word>) {
    words.extend(client.documents().cloned());
    for other in before {
        words.extend(other.documents().cloned());
        match other.printed_words() {
            Some(printed) if printed.iter().all(Word::is_known) => {
                words.push(Word::known(&line_of(printed)));
            }
            printed => words.extend_from_slice(printed.unwrap_or_default()),
        }
    }
}

/// Returns the command of a call that names its program and its words apart, or of a request.
fn command_of(arguments: &JsonObject) -> Option<String> {
    if let (Some(method), Some(url)) = (arguments.get("method"), arguments.get("url")) {
        return Some(format!("curl -X {}", quoted_words([method.as_str()?, url.as_str()?])));
    }
    let program = arguments.get("command").or(arguments.get("cmd"))?;
    let words = arguments.get("args").or(arguments.get("arguments"))?;
    Some(format!("{} {}", shell_text(program), shell_text(words)))
}

/// Returns an argument as a text for a shell: a list holds words.
fn shell_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        list => quoted_words(items_of(list)),
    }
}

/// Returns whether an argument with this name holds a text for a shell, or the words of a command.
pub fn names_a_command(argument: &str) -> bool {
    let argument = argument.to_ascii_lowercase();
    COMMAND_ARGUMENTS.iter().any(|end| argument.ends_with(end))
}

/// Returns the program that another one runs, with its words: `python -m alembic`, `php artisan`,
/// `pnpm prisma`.
fn named(given: &Arguments<'_>, is_runner: bool) -> Option<SimpleCommand> {
    let (word, text) = match given.options.iter().find(|option| option.name == "-m") {
        Some(GivenOption { value: Some(value), .. }) if !is_runner => *value,
        _ => {
            let first = *given.operands.first()?;
            (first, &*first.text)
        }
    };
    let program = word.ending(text);
    program_name(&program)?;
    let mut behind = given.command.words.iter();
    behind.find(|one| std::ptr::eq(*one, word))?;
    let mut words = vec![program];
    words.extend(behind.cloned());
    Some(SimpleCommand {
        words,
        redirections: Vec::new(),
        hidden: Hidden::Nothing,
        ..given.command.clone()
    })
}

pub(super) fn is_awk(name: &str) -> bool {
    name.ends_with("awk")
}

fn program_of(command: &SimpleCommand) -> Option<String> {
    program_name(command.words.first()?)
}

/// Returns whether a program runs statements of SQL.
pub(super) fn is_database(name: &str) -> bool {
    shipped("@databases").unwrap_or_default().iter().any(|known| glob(known, name))
}
