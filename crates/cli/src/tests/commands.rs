//! Every text of the project names commands and builtins that exist, and each command is for a person
//! or for anyone.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::{Arg, Command, CommandFactory as _};
use hookexec_agents::FOR_A_PERSON;
use hookexec_builtins::Shipped;
use regex::Regex;

use crate::Cli;
use crate::commands::init;

/// Commands that a model may run: they change neither a hooks file of the user nor the policy in
/// force, and answer no question in a person's place.
const FOR_ANYONE: [&str; 18] = [
    "check", "completions", "docs", "docs agents", "docs builtins", "docs events", "docs schema",
    "doctor", "explain", "init", "log", "man", "mcp", "policy build", "policy test", "run",
    "serve", "test",
];

/// Parts of `trust` that only show approvals.
const TRUST_FOR_ANYONE: [&str; 2] = ["trust", "trust show"];

#[test]
fn each_command_is_for_a_person_or_for_anyone() {
    let mut all = Vec::new();
    collect_commands(&Cli::command(), "", &mut all);
    for name in &all {
        let person = FOR_A_PERSON.iter().any(|(command, words)| match words {
            [] => name.split(' ').next() == Some(command),
            words => words.iter().any(|word| *name == format!("{command} {word}")),
        });
        let anyone = FOR_ANYONE.iter().chain(&TRUST_FOR_ANYONE).any(|known| known == name);
        assert!(
            person != anyone,
            "`hookexec {name}` belongs in FOR_A_PERSON or in FOR_ANYONE, and only in one"
        );
    }
    for (command, words) in FOR_A_PERSON {
        for word in *words {
            let problem = problem_of(&[(*command).to_owned(), (*word).to_owned()]);
            assert_eq!(problem, None);
        }
        assert_eq!(problem_of(&[(*command).to_owned()]), None);
    }
    let (_, init) = FOR_A_PERSON.iter().find(|(command, _)| *command == "init").unwrap();
    for name in init::change::recipes().keys() {
        assert!(init.contains(name), "`init {name}` is for a person");
    }
    for name in FOR_ANYONE.iter().chain(&TRUST_FOR_ANYONE) {
        assert!(all.iter().any(|known| known == name), "`hookexec {name}` does not exist");
    }
}

/// Collects the commands that do something: those without subcommands, and those that run without
/// one.
fn collect_commands(command: &Command, path: &str, all: &mut Vec<String>) {
    for subcommand in command.get_subcommands() {
        let path = format!("{path} {}", subcommand.get_name()).trim_start().to_owned();
        if !subcommand.is_subcommand_required_set() {
            all.push(path.clone());
        }
        collect_commands(subcommand, &path, all);
    }
}

#[test]
fn every_text_names_commands_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut problems = Vec::new();
    let mut named = 0;
    for path in files_of(&root) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let shown = path.strip_prefix(&root).unwrap().display().to_string();
        for (line, words) in command_lines(&text, Kind::of(&path)) {
            named += 1;
            if let Some(problem) = problem_of(&words) {
                problems.push(format!("{shown}:{line}: {problem}: `hookexec {}`", words.join(" ")));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(named > 500, "only {named} commands were found");
}

static BUILTIN: LazyLock<Regex> = LazyLock::new(|| {
    let in_braces = r#"type"?: "?builtin"?,[^}\n]*?"?command"?: "?([a-z_]+)"#;
    Regex::new(&format!(r"{in_braces}|type: builtin\n\s*command: ([a-z_]+)")).unwrap()
});

#[test]
fn every_hook_calls_a_builtin_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut problems = Vec::new();
    let mut named = 0;
    for path in files_of(&root) {
        let shown = path.strip_prefix(&root).unwrap().display().to_string();
        // Programs in Rust register what they name.
        if path.extension().is_some_and(|extension| extension == "rs") || shown.contains("invalid")
        {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for hook in BUILTIN.captures_iter(&text) {
            let name = &hook.get(1).or(hook.get(2)).unwrap().as_str();
            let is_own =
                text.contains(&format!("(\"{name}\"")) || text.contains(&format!("('{name}'"));
            named += 1;
            if Shipped::named(name).is_none() && !is_own {
                problems.push(format!("{shown}: no builtin is called `{name}`"));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(named > 60, "only {named} hooks were found");
}

/// Returns the files of the project, without the changelog and what is built or fetched.
fn files_of(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in directory.read_dir().unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            if !["target", ".git", "node_modules", "dist", "__pycache__"].contains(&name.as_str()) {
                files.extend(files_of(&path));
            }
        } else if kind.is_file() && name != "CHANGELOG.md" {
            files.push(path);
        }
    }
    files
}

/// Where a text has its command lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In fenced blocks, and between backticks.
    Markdown,
    /// On lines of their own, too.
    Script,
    /// In strings, and between the backticks of comments.
    Source,
}

impl Kind {
    fn of(path: &Path) -> Self {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.as_ref() {
            "md" => Self::Markdown,
            "" | "sh" | "yaml" | "yml" => Self::Script,
            _ => Self::Source,
        }
    }
}

/// Words after which the program of a command line may follow.
const OPENERS: [&str; 15] = [
    "$", "|", "||", "&&", "!", "-", "--", "-m", "npx", "uvx", "exec", "sudo", "env", "run",
    "Example:",
];

/// Where the program lies, if its path is given.
const PLACES: [&str; 6] = ["./", "bin/", "debug/", "release/", "$", "${"];

/// Words with which a string goes on that begins with the name and is a sentence or a title.
const SENTENCES: [&str; 4] = ["has", "hooks", "is", "reaches"];

static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"([^\s`"'(]*)hookexec(?:\.exe)?\}?(["']?)( +| *\n *(?://[/!]?|#|\*)? *)[a-z]"#)
        .unwrap()
});

/// Returns the command lines of a text: the number of the line, and the words after `hookexec`.
fn command_lines(text: &str, kind: Kind) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for program in PROGRAM.captures_iter(text) {
        let (Some(path), Some(quote), Some(gap)) = (program.get(1), program.get(2), program.get(3))
        else {
            continue;
        };
        let is_known = PLACES.iter().any(|place| path.as_str().ends_with(place));
        let is_other = path.as_str().contains('=') || !path.is_empty() && !is_known;
        if is_other || !quote.is_empty() && path.is_empty() {
            continue;
        }
        let before = &text[..path.start()];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let in_backticks = line.matches('`').count() % 2 == 1;
        if gap.as_str().contains('\n') && !in_backticks {
            continue;
        }
        let words = words_behind(&text[gap.end()..], in_backticks);
        let Some(first) = words.first() else { continue };
        if opens(before, line, in_backticks, kind, first) {
            found.push((before.matches('\n').count() + 1, words));
        }
    }
    found
}

/// Returns whether a command line begins behind `before`, which ends with `line`.
fn opens(before: &str, line: &str, in_backticks: bool, kind: Kind, word: &str) -> bool {
    match line.chars().next_back() {
        Some('`') => return true,
        Some('"' | '\'') => return !SENTENCES.contains(&word),
        Some('(') => return line.ends_with("$("),
        _ => {}
    }
    let fences = || before.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let is_code = kind != Kind::Markdown || in_backticks || fences() % 2 == 1;
    let Some(last) = line.split_whitespace().next_back() else {
        return is_code && kind != Kind::Source;
    };
    let last = last.trim_start_matches(['`', '"', '\'', '(']);
    is_code && OPENERS.contains(&last)
        || kind == Kind::Script && last.ends_with(':') && !line.contains('#')
}

/// Returns the words of the rest of a command line, up to what can't be a part of one; none if the
/// first word is built by a shell.
fn words_behind(rest: &str, in_backticks: bool) -> Vec<String> {
    let end = |letter: char| "`\"'|;&<>(){}[]\\#".contains(letter);
    let first = rest.split(char::is_whitespace).next().unwrap_or_default();
    if first.trim_end_matches(|letter| end(letter) || ".,:".contains(letter)).contains(['"', '\''])
    {
        return Vec::new();
    }
    let mut words = Vec::new();
    for line in rest.lines() {
        let line = line.trim_start().trim_start_matches(['/', '!', '*']);
        let part = line.split(end).next().unwrap_or_default();
        for word in part.split_whitespace() {
            words.push(word.trim_end_matches(['.', ',', ':']).to_owned());
        }
        if part.len() < line.len() || !in_backticks {
            break;
        }
    }
    words
}

/// Returns what is wrong with the words after `hookexec`: a subcommand, a page or an option that
/// does not exist.
fn problem_of(words: &[String]) -> Option<String> {
    let root = Cli::command();
    let mut command = &root;
    let mut words = words.iter().map(String::as_str);
    let mut next = words.next();
    while let Some(name) = next
        && command.has_subcommands()
        && is_name(name)
    {
        let Some(subcommand) = command.find_subcommand(name) else {
            let is_value = command.get_positionals().any(|argument| takes(argument, name));
            return (!is_value).then(|| format!("`{name}` does not exist"));
        };
        command = subcommand;
        next = words.next();
    }
    for word in next.into_iter().chain(words) {
        let Some(option) = word.strip_prefix("--") else { continue };
        if option.is_empty() {
            return None;
        }
        let name = option.split('=').next().unwrap_or_default();
        if is_name(name) && !["help", "version"].contains(&name) && !has_option(command, name) {
            return Some(format!("`--{name}` does not exist"));
        }
    }
    None
}

fn is_name(word: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    word.starts_with(|first: char| first.is_ascii_lowercase()) && word.chars().all(is_name)
}

fn takes(argument: &Arg, value: &str) -> bool {
    argument.get_possible_values().iter().any(|possible| possible.get_name() == value)
}

/// Returns whether a command or one of its subcommands has an option.
fn has_option(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(name))
        || command.get_subcommands().any(|subcommand| has_option(subcommand, name))
}

/// In the texts `@` stands for the program, so that they are not found in this file.
#[test]
fn a_command_line_is_told_from_prose() {
    for (kind, text, words) in [
        (Kind::Markdown, "Run `@ nothing` now", "nothing"),
        (Kind::Markdown, "Run `@\nnothing now` again", "nothing now"),
        (Kind::Markdown, "```sh\necho | @ nothing\n```", "nothing"),
        (Kind::Markdown, "```sh\n$ ./@ nothing --x\n```", "nothing --x"),
        (Kind::Markdown, "`echo x | @ nothing`", "nothing"),
        (Kind::Markdown, "`npx @ nothing`", "nothing"),
        (Kind::Source, "/// Calls `@\n/// nothing`.", "nothing"),
        (Kind::Source, "hint(\"`@ trust nothing` does\")", "trust nothing"),
        (Kind::Source, "let x = \"@ nothing\";", "nothing"),
        (Kind::Source, "#[command(after_help = \"Example: @ nothing\")]", "nothing"),
        (Kind::Script, "  @ nothing --x >y", "nothing --x"),
        (Kind::Script, "x=$(@ nothing)", "nothing"),
        (Kind::Script, "\"$place/bin/@\" nothing", "nothing"),
        (Kind::Script, "\"$@\" nothing", "nothing"),
        (Kind::Script, "- run: @ nothing", "nothing"),
    ] {
        let text = &text.replace('@', "hookexec");
        let found = command_lines(text, kind);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].1.join(" "), words, "{text}");
        assert!(problem_of(&found[0].1).is_some(), "{text}");
    }
    for (kind, text) in [
        (Kind::Markdown, "@ reads a file, and `x` is what @ makes of it"),
        (Kind::Markdown, "| @ is missing | denied |"),
        (Kind::Source, "// what @ does; @ answers"),
        (Kind::Source, "\"@ has no event\""),
        (Kind::Source, "\"~/.config/@ and its files\""),
        (Kind::Script, "# @ is a program"),
        (Kind::Script, "BENCH=target/release/@ just bench"),
    ] {
        let text = &text.replace('@', "hookexec");
        assert_eq!(command_lines(text, kind), [], "{text}");
    }
    for words in ["docs fleet", "docs events stop --format json", "trust add --yes", "mcp -- x --y"]
    {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(problem_of(&words), None);
    }
    for words in ["docs flet", "trust ad", "trust add --no", "run --formt=json"] {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert!(problem_of(&words).is_some(), "{words:?}");
    }
}
