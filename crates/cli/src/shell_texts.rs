//! What is wrong with the command texts of hooks, as far as it shows without running them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use hookexec::config::{Command, Diagnostic, Hook, InheritEnv};
use hookexec::internal::dialect::Dialect;
use hookexec::internal::{DEFAULT_SHELL, system};
use hookexec_agents::Agent;
use regex::Regex;

use super::program::output_in_time;
use super::scripts::{is_shell, not_on_search_path, plain_words};

/// The variables that shells and hookexec set themselves.
const ALWAYS_SET: &str = "PWD OLDPWD HOME PATH IFS PPID OPTARG OPTIND LINENO RANDOM SECONDS REPLY \
    HOSTNAME UID EUID SHELL SHLVL PIPESTATUS FUNCNAME _ USER TMPDIR HOOKEXEC_EVENT \
    HOOKEXEC_TOOL_NAME HOOKEXEC_SESSION_ID HOOKEXEC_CONFIG_DIR HOOKEXEC_PROJECT_DIR HOOKEXEC_FILE \
    HOOKEXEC_FILES HOOKEXEC_COMMAND";

/// Returns what is wrong with the command text of `hook`; nothing when it has none. A shell is asked
/// once for the program of each text, which is then in `seen`.
///
/// Only a shell of the system is asked, and not about texts of files that are not approved. No other
/// program that the file names is run. Syntax is left to `ShellCheck`.
pub(crate) fn problems<'h>(
    hook: &'h Hook,
    seen: &mut BTreeSet<(&'h str, &'h str)>,
) -> Vec<Diagnostic> {
    let Some(Command::Text(text)) = &hook.command else { return Vec::new() };
    let shell = hook.shell.as_deref().unwrap_or(DEFAULT_SHELL);
    if hook.kind != "command" || !hook.enabled || !is_shell(shell) {
        return Vec::new();
    }
    let mut problems: Vec<Diagnostic> = unset_variables(hook, text);
    if text.contains('\u{a0}') {
        let problem = Diagnostic::warning("a no-break space (U+00A0) in the command");
        problems.push(problem.hint("a shell takes it for a letter: replace it with a space"));
    }
    if hook.untrusted.is_none() && is_of_system(shell) && seen.insert((shell, text)) {
        problems.extend(missing_program(hook, shell, text));
    }
    problems
}

/// Returns whether a shell is found by its name, or stands where systems have their shells.
fn is_of_system(shell: &str) -> bool {
    let directories = ["", "/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    Path::new(shell).parent().is_some_and(|it| directories.iter().any(|known| it == *known))
}

/// Returns a warning when the first word of a text is nothing that the shell knows.
fn missing_program(hook: &Hook, shell: &str, text: &str) -> Option<Diagnostic> {
    let words = plain_words(text);
    let word = words.first()?.as_str();
    let searched = hook.inherit_env == InheritEnv::All && !hook.env.contains_key("PATH");
    if !searched || word.contains('/') || word.starts_with(['-', '~']) {
        return None;
    }
    if knows(shell, word)? { None } else { Some(not_on_search_path(word)) }
}

/// Asks a shell, without the user's own files, whether it knows a program; `None` when the shell can't
/// be run or takes too long.
fn knows(shell: &str, program: &str) -> Option<bool> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let without_files = if shell.ends_with("zsh") { &["-f"][..] } else { &[] };
    let file = system::shell_file(shell, Some(&path));
    let question = ["-c", "command -v \"$1\"", "sh", program];
    let args = without_files.iter().chain(&question);
    let command = duct::cmd(file.as_deref().unwrap_or(shell), args)
        .full_env([("PATH", path)])
        .stdin_null()
        .stdout_null()
        .stderr_null();
    Some(output_in_time(&command)?.status.success())
}

/// Returns an error for each variable that the text needs and nothing sets.
fn unset_variables(hook: &Hook, text: &str) -> Vec<Diagnostic> {
    // The directories of projects.
    let set_by_agents =
        |name: &str| Agent::all().any(|agent| agent.project_variable() == Some(name));
    let is_set = |name: &str| {
        let inherited = match &hook.inherit_env {
            InheritEnv::All => true,
            InheritEnv::Only(names) => names.iter().any(|known| known == name),
            _ => false,
        };
        let dialect = name == "CLAUDE_PROJECT_DIR" && hook.dialect == Some(Dialect::ClaudeCode);
        dialect
            || hook.env.contains_key(name)
            || ALWAYS_SET.split(' ').any(|known| known == name)
            || inherited && (set_by_agents(name) || std::env::var_os(name).is_some())
            || is_named_without_dollar(text, name)
    };
    let problem = |name: &str| {
        let hint = match name {
            "CLAUDE_PLUGIN_ROOT" => format!(
                "Claude Code sets it for plugins: give the plugin's directory, `env: {{ {name}: /path/to/plugin }}`"
            ),
            _ => format!("set it in `env:`, or give a default: `${{{name}:-value}}`"),
        };
        Diagnostic::error(format!("nothing sets the variable `{name}` of this command")).hint(hint)
    };
    let needed: BTreeSet<&str> = needed_variables(text).into_iter().collect();
    needed.into_iter().filter(|name| !is_set(name)).map(problem).collect()
}

/// Returns whether a text may set a variable itself: it names it without a `$`.
fn is_named_without_dollar(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(|it| is_of_name(it) || it == '$' || it == '{')
            && !after.is_some_and(is_of_name)
    })
}

/// Returns the names behind each `$NAME` and `${NAME}`, outside of single quotes. `${NAME:-value}`
/// and its like need nothing.
fn needed_variables(text: &str) -> Vec<&str> {
    let expanded = QUOTED.captures_iter(text).filter_map(|part| part.get(1));
    let variables = expanded.flat_map(|part| VARIABLE.captures_iter(part.as_str()));
    let names = variables.filter_map(|found| found.get(1).or(found.get(2)));
    names.map(|name| name.as_str()).collect()
}

/// The parts of a text: one in single quotes, or in the group a part in which variables are
/// expanded.
#[expect(clippy::unwrap_used, reason = "a test reads it")]
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?s)'[^']*'|("(?:[^"\\]|\\.)*"?|\\.|[^'"\\]+)"#).unwrap());

/// A character behind a backslash, or in a group the name of a variable.
#[expect(clippy::unwrap_used, reason = "a test reads it")]
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)\\.|\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))").unwrap()
});

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_the_shell_would_expand_are_needed() {
        for (text, names) in [
            ("$A/x ${B}/y \"$C\" \"${D}\"", &["A", "B", "C", "D"][..]),
            ("awk '{ print $NF }' \\$E \"\\$F\"", &[]),
            ("\"it's $G\" '\"$H\"'", &["G"]),
            ("${I:-x} ${J-} ${K:?no} ${L#x} ${#M}", &[]),
            ("$1 $@ $$ $? $# $(date) $((1+1)) $", &[]),
            ("$_N$O", &["_N", "O"]),
        ] {
            assert_eq!(needed_variables(text), names, "{text}");
        }
        for text in ["A=1; $A", "read -r A; $A", "for A in x; do $A; done", "export A"] {
            assert!(is_named_without_dollar(text, "A"), "{text}");
        }
        for text in ["$A", "${A}", "AB $A", "xA=1"] {
            assert!(!is_named_without_dollar(text, "A"), "{text}");
        }
    }
}
