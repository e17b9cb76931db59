//! Whether the programs that command hooks name are there.

use std::path::{Path, PathBuf};

use hookexec::config::{Command, Diagnostic, Hook, InheritEnv, OnError};
use hookexec::event::FailureMode;
use hookexec::internal::shell::{Word, quoted, read_script};
use hookexec::internal::system;
use hookexec::internal::trust::{DIRECTORIES, is_interpreter, is_shell_word};

use super::program::named;

/// What the names of scripts end in.
const SCRIPTS: [&str; 10] = ["sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "pl"];

/// Returns warnings about the program of a command hook that is enabled, and what to do about it. What
/// only a shell can tell is left to the shell.
pub(crate) fn missing(hook: &Hook, project: &Path) -> Vec<Diagnostic> {
    if hook.kind != "command" || !hook.enabled {
        return Vec::new();
    }
    let directory = match hook.working_dir.as_deref() {
        None => project.to_owned(),
        Some(place) if place.contains('$') => return Vec::new(),
        Some(place) => project.join(expanded(place)),
    };
    let words: Vec<PathBuf> = match &hook.command {
        Some(Command::Argv(words)) => words.iter().chain(&hook.args).map(PathBuf::from).collect(),
        Some(Command::Text(text)) if hook.shell.as_deref().is_none_or(is_shell) => {
            let known = |word: Word| {
                in_known_directory(&word, hook, project)
                    .or_else(|| plain(word).map(|word| expanded(&word)))
            };
            first_command(text).map_while(known).collect()
        }
        _ => return Vec::new(),
    };
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let mut found: Vec<Diagnostic> = unusable(program, &directory, hook).into_iter().collect();
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let runs_in_shell = is_shell(&name);
    // The argument of an option may be anything.
    if (runs_in_shell || is_interpreter(&Word::literal(&*name)))
        && let Some(script) = arguments.first()
        && (is_path(script) || has_script_ending(script))
        && !script.to_string_lossy().starts_with('-')
        && !script.to_string_lossy().contains("://")
        && !script.to_string_lossy().contains(char::is_whitespace)
        && !on_search_path(script)
        && !directory.join(script).exists()
    {
        let what = format!("the script {}", script.display());
        let fails = runs_in_shell || name.starts_with("python") || name == "perl";
        let failing = if fails { Some(hook) } else { None };
        found.push(absent(&what, script, &directory, failing));
    }
    found
}

fn unusable(program: &Path, directory: &Path, hook: &Hook) -> Option<Diagnostic> {
    if is_path(program) {
        let path = directory.join(program.strip_prefix(".").unwrap_or(program));
        let shown = path.display().to_string();
        let (what, hint) = match path.metadata() {
            Err(_) => return Some(absent(&shown, program, directory, Some(hook))),
            Ok(file) if file.is_dir() => ("is a directory", "name the program in it".to_owned()),
            Ok(file) if !system::is_executable(&path, &file) => {
                ("is not executable", format!("chmod +x {}", quoted(&shown)))
            }
            Ok(_) => return None,
        };
        return Some(Diagnostic::warning(format!("{shown} {what}")).hint(hint));
    }
    // With a search path of its own a hook finds other programs.
    let searched = hook.inherit_env == InheritEnv::All && !hook.env.contains_key("PATH");
    let name = program.to_string_lossy();
    let of_shell = matches!(hook.command, Some(Command::Text(_)))
        && (is_shell_word(&Word::literal(&*name)) || name.starts_with(['-', '~']));
    if !searched || of_shell || on_search_path(program) {
        return None;
    }
    let problem = format!("the program `{name}` is not on the search path");
    let hint = "install it, or give its absolute path; until then the hook fails";
    Some(Diagnostic::warning(problem).hint(hint))
}

fn on_search_path(program: &Path) -> bool {
    !is_path(program) && named(program.as_os_str()).next().is_some()
}

/// Returns the problem of a file that is not there. `failing` is the hook when it then ends with an
/// exit code that is a failure: 127 of a shell, 2 of Python and Perl.
fn absent(what: &str, written: &Path, directory: &Path, failing: Option<&Hook>) -> Diagnostic {
    let from = if written.is_absolute() {
        String::new()
    } else {
        format!(". Relative paths start at {}", directory.display())
    };
    let denies = |hook: &Hook| match hook.on_error {
        Some(on_error) => matches!(on_error, OnError::Block | OnError::Ask),
        None => hook.event.contract().failure != FailureMode::Open,
    };
    let effect = match failing.map(denies) {
        Some(true) => "this hook fails, and what it matches is denied",
        Some(false) => "this hook fails, and what it matches goes on",
        None => "this hook guards nothing",
    };
    let hint = format!("until the file exists, {effect}{from}");
    Diagnostic::warning(format!("{what} does not exist")).hint(hint)
}

fn is_path(word: &Path) -> bool {
    word.to_string_lossy().contains('/')
}

/// Returns whether a file is named like a script.
pub(crate) fn has_script_ending(word: &Path) -> bool {
    word.extension().is_some_and(|ending| SCRIPTS.iter().any(|known| ending == *known))
}

fn is_shell(shell: &str) -> bool {
    let name = Path::new(shell).file_name().unwrap_or_default().to_string_lossy();
    ["sh", "bash", "dash", "zsh", "ksh", "ash"].contains(&name.as_ref())
}

fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), hookexec::home_directory()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Returns the words of the first command of a text, without the assignments before it.
fn first_command(text: &str) -> impl Iterator<Item = Word> {
    // A text that defines a function runs what no reader of words can tell.
    let commands = if text.contains("()") { Vec::new() } else { read_script(text).commands };
    let words = commands.into_iter().next().unwrap_or_default().into_iter();
    words.skip_while(Word::is_assignment)
}

/// Returns the path of a word that begins with a variable for the directory of the hooks file or of
/// the project.
fn in_known_directory(word: &Word, hook: &Hook, project: &Path) -> Option<PathBuf> {
    let mut names = DIRECTORIES.iter().filter(|(name, _)| !hook.env.contains_key(*name));
    let (rest, is_of_file) =
        names.find_map(|(name, is_of_file)| Some((word.below(name)?, *is_of_file)))?;
    let directory = if is_of_file { hook.location.directory() } else { project };
    Some(directory.join(rest))
}

/// Returns a word that a shell takes as it is; `~/` at its beginning is left to [`expanded`].
fn plain(word: Word) -> Option<String> {
    let home =
        word.text.strip_prefix("~/").is_some_and(|rest| !rest.contains(['$', '*', '?', '[']));
    let is_plain = if word.text.starts_with('~') { home && !word.literal } else { word.literal };
    is_plain.then_some(word.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_behind_a_known_variable_is_looked_for() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("check.sh"), "").unwrap();
        for (command, problem) in [
            (r#""$HOOKEXEC_CONFIG_DIR"/check.sh"#, "is not executable"),
            (r"${HOOKEXEC_CONFIG_DIR}/gone.sh -x", "does not exist"),
            (r#"sh "$HOOKEXEC_PROJECT_DIR/gone.sh""#, "does not exist"),
            (r#""$CLAUDE_PROJECT_DIR"/check.sh"#, "is not executable"),
            (r"'$HOOKEXEC_CONFIG_DIR/gone.sh'", ""),
            (r"$HOOKEXEC_CONFIG_DIR/$X.sh", ""),
            (r"sh $HOOKEXEC_CONFIG_DIR/check.sh", ""),
        ] {
            let yaml = serde_json::json!({"stop": [{"type": "command", "command": command}]});
            let path = directory.path().join("hooks.yaml");
            let config = hookexec::Config::from_yaml(&yaml.to_string(), &path).unwrap();
            let found = missing(&config.hooks[0], directory.path());
            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
            let is_right = found.first().map_or(problem.is_empty(), |it| it.contains(problem));
            assert!(is_right && found.len() < 2, "{command}: {found:?}");
        }
    }

    #[test]
    fn what_only_a_shell_can_tell_is_left_to_it() {
        for (text, words) in [
            ("./check.sh --fast", &["./check.sh", "--fast"][..]),
            ("\"./check.sh\" 'x'", &["./check.sh", "x"]),
            ("A=1 B=x/y ./check.sh | jq", &["./check.sh"]),
            ("python3 ./check.py \"$X/y\" z", &["python3", "./check.py"]),
            ("./check.sh\n./other.sh", &["./check.sh"]),
            ("\"./my hooks/check.sh\"", &["./my hooks/check.sh"]),
            ("A=\"b c/d\" ./check.sh", &["./check.sh"]),
            ("./my\\ hooks/check.sh", &["./my hooks/check.sh"]),
            ("#!/bin/nothing\n./check.sh", &["./check.sh"]),
            ("~/check.sh x", &["~/check.sh", "x"]),
            ("'~/check.sh'", &[]),
            ("~/ch*.sh", &[]),
            ("log() { echo; }; ./check.sh", &[]),
            ("$DIR/check.sh", &[]),
            ("./ch*.sh", &[]),
            ("~other/check.sh", &[]),
            ("(./check.sh)", &["./check.sh"]),
            ("", &[]),
        ] {
            let plain_words: Vec<String> = first_command(text).map_while(plain).collect();
            assert_eq!(plain_words, words, "{text}");
        }
    }
}
