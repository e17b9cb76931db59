//! Whether the programs that hooks name are there.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hookexec::config::{Command, Hook};

use super::Finding;

/// Programs that are given their script as an argument.
const INTERPRETERS: [&str; 9] =
    ["sh", "bash", "zsh", "python", "python3", "node", "deno", "ruby", "perl"];

/// Returns what is wrong with the program of a command hook. What only a shell can tell is left
/// to the shell.
pub(super) fn findings(hook: &Hook, project: &Path) -> Vec<Finding> {
    if hook.kind != "command" {
        return Vec::new();
    }
    let words = match &hook.command {
        Some(Command::Argv(words)) => words.clone(),
        Some(Command::Text(text)) => plain_words(text),
        _ => return Vec::new(),
    };
    let directory = match hook.working_dir.as_deref() {
        None => project.to_owned(),
        Some(place) if place.contains('$') => return Vec::new(),
        Some(place) => project.join(expanded(place)),
    };
    let about =
        |what: String| Finding::problem(format!("`{}` ({}): {what}", hook.label(), hook.location));
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let mut findings: Vec<Finding> =
        program_problem(program, &directory, hook).into_iter().map(about).collect();
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    if INTERPRETERS.contains(&name.as_ref())
        && let Some(script) = arguments.iter().find(|word| !word.starts_with('-'))
        && script.contains('/')
        && !directory.join(expanded(script)).exists()
    {
        findings.push(about(format!("the script {script} does not exist")));
    }
    findings
}

fn program_problem(program: &str, directory: &Path, hook: &Hook) -> Option<String> {
    if program.contains('/') {
        let path = directory.join(expanded(program));
        return match path.metadata() {
            Err(_) => Some(format!("{} does not exist", path.display())),
            Ok(file) if file.is_dir() => Some(format!("{} is a directory", path.display())),
            Ok(file) if file.permissions().mode() & 0o111 == 0 => {
                Some(format!("{} is not executable: chmod +x", path.display()))
            }
            Ok(_) => None,
        };
    }
    // In a shell's text the first word may be anything the shell knows.
    let searched = matches!(hook.command, Some(Command::Argv(_)));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).any(|directory| directory.join(program).is_file());
    (searched && !found).then(|| format!("there is no program `{program}` on the search path"))
}

/// Returns whether `path` leads to a file that can be executed.
pub(super) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Returns the words of a command as far as no shell is needed to tell what they are.
fn plain_words(text: &str) -> Vec<String> {
    let plain = |word: &&str| {
        !word.contains(['$', '`', '*', '?', '(', ')', '{', '}', ';', '&', '|', '<', '>', '\\'])
    };
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    words
        .skip_while(|word| word.contains('=') && !word.starts_with('/'))
        .take_while(plain)
        .map(|word| word.trim_matches(['"', '\'']).to_owned())
        .collect()
}
