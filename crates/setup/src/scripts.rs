//! Whether the programs that command hooks name are there.

use std::path::{Path, PathBuf};

use hookexec::FailureMode;
use hookexec::config::{Command, Diagnostic, Hook, InheritEnv};
use hookexec_calls::shell::{is_interpreter, is_shell, quoted};
use hookexec_calls::{Word, commands_of_text};
use hookexec_files::files::has_windows_line_ends;
use hookexec_files::platform::system;
use hookexec_project::trust::{in_known_directory, is_shell_word};

use crate::program::named;

/// How the names of scripts end.
const SCRIPTS: [&str; 10] = ["sh", "bash", "zsh", "py", "js", "mjs", "cjs", "ts", "rb", "pl"];

/// Returns warnings about the program of a command hook that is enabled, and what to do about it.
/// A word that only a shell can expand is left to the shell.
pub fn missing(hook: &Hook, project: &Path) -> Vec<Diagnostic> {
    if hook.kind != "command" || !hook.enabled {
        return Vec::new();
    }
    let directory = match hook.working_dir.as_deref() {
        None => project.to_owned(),
        Some(place) if place.contains('$') => return Vec::new(),
        Some(place) => project.join(expanded(place)),
    };
    let words = first_words(hook, project);
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    if is_path(program) {
        found.extend(unusable(program, &directory));
    } else {
        found.extend(not_installed(program, hook));
    }
    if let Some(script) = arguments.first() {
        found.extend(missing_script(program, script, &directory));
    }
    for word in words.iter().take(2) {
        let file = directory.join(word);
        if has_windows_line_ends(&file) {
            let problem = format!("{} has the line ends of Windows", file.display());
            let hint =
                "write it with those of Unix (`dos2unix`); until then the hook fails or denies";
            found.push(Diagnostic::warning(problem).hint(hint));
        }
    }
    found
}

/// Returns a warning about the script of a guard beside the hooks file, where a relative path finds it only
/// as long as the agent works in that directory.
pub fn found_from_here_alone(hook: &Hook) -> Option<Diagnostic> {
    let fails_closed = hook.event.contract().failure == FailureMode::Closed;
    if hook.kind != "command" || !fails_closed || hook.working_dir.is_some() {
        return None;
    }
    let directory = hook.location.directory();
    let mut words = first_words(hook, directory).into_iter().take(2);
    let script = words.find(|word| word.is_relative() && directory.join(word).is_file())?;
    let script = script.strip_prefix(".").unwrap_or(&script).display();
    let what = format!("`{script}` is found only while the agent works in {}", directory.display());
    let hint = format!(
        "write the whole command as a text, with `\"$HOOKEXEC_CONFIG_DIR\"/{script}` for `{script}`"
    );
    Some(Diagnostic::warning(what).hint(hint))
}

/// Returns a warning about a text for `sh` that prints the input with `echo`: that of dash turns `\n` in
/// the JSON into a newline, and what reads it finds no command.
pub fn echoed_input(hook: &Hook) -> Option<Diagnostic> {
    let Some(Command::Text(text)) = &hook.command else { return None };
    let shell = hook.shell.as_deref().unwrap_or("sh");
    if !shell.ends_with("/sh") && !["sh", "dash"].contains(&shell) {
        return None;
    }
    let (before, _) = text.split_once("=$(cat)")?;
    let name = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
    let words =
        [format!("echo \"${name}\""), format!("echo ${name}"), format!("echo \"${{{name}}}\"")];
    let echo = words.iter().find(|word| text.contains(*word))?;
    let what = format!(
        "`{echo}` may change the input: the `echo` of some shells turns `\\n` into a newline"
    );
    Some(Diagnostic::warning(what).hint(format!("write `printf '%s' \"${name}\"`")))
}

/// Returns the first words of a command that are known before it runs.
fn first_words(hook: &Hook, project: &Path) -> Vec<PathBuf> {
    let mut words = Vec::new();
    match &hook.command {
        Some(Command::Argv(argv)) => {
            words.extend(argv.iter().chain(&hook.args).map(PathBuf::from));
        }
        Some(Command::Text(text)) if hook.shell.as_deref().is_none_or(is_shell) => {
            for word in first_command(text) {
                if let Some((is_of_file, rest)) = in_known_directory(&word, &hook.env) {
                    let directory = if is_of_file { hook.location.directory() } else { project };
                    words.push(directory.join(rest));
                } else if let Some(word) = plain(word) {
                    words.push(expanded(&word));
                } else {
                    break;
                }
            }
        }
        _ => {}
    }
    words
}

/// Returns why a file can't be run.
fn unusable(program: &Path, directory: &Path) -> Option<Diagnostic> {
    let path = directory.join(program.strip_prefix(".").unwrap_or(program));
    let shown = path.display().to_string();
    let (wrong, hint) = match path.metadata() {
        Err(_) => return Some(absent(&shown, program, directory, true)),
        Ok(file) if file.is_dir() => ("a directory", "name the program in it".to_owned()),
        Ok(file) if system::has_execute_bit(&path, &file) => return None,
        Ok(_) => ("not executable", format!("chmod +x {}", quoted(&shown))),
    };
    Some(Diagnostic::warning(format!("{shown} is {wrong}")).hint(hint))
}

/// Returns that a program is not on the search path.
fn not_installed(program: &Path, hook: &Hook) -> Option<Diagnostic> {
    // With a search path of its own a hook finds other programs.
    if hook.inherit_env != InheritEnv::All || hook.env.contains_key("PATH") {
        return None;
    }
    let name = program.to_string_lossy();
    let is_text = matches!(hook.command, Some(Command::Text(_)));
    if is_text && (is_shell_word(&Word::known(&name)) || name.starts_with(['-', '~'])) {
        return None;
    }
    if is_on_search_path(program) {
        return None;
    }
    let problem = Diagnostic::warning(format!("the program `{name}` is not on the search path"));
    Some(problem.hint("install it, or give its absolute path; until then the hook fails"))
}

/// Returns that the script does not exist which a shell or another interpreter runs.
fn missing_script(program: &Path, script: &Path, directory: &Path) -> Option<Diagnostic> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let text = script.to_string_lossy();
    let is_shell = is_shell(&name);
    if !is_shell && !is_interpreter(&name) {
        return None;
    }
    // The argument of an option may be anything.
    if text.starts_with('-') || text.contains("://") || text.contains(char::is_whitespace) {
        return None;
    }
    let ending = script.extension().unwrap_or_default();
    let is_script = is_path(script) || SCRIPTS.iter().any(|known| ending == *known);
    if !is_script || is_on_search_path(script) || directory.join(script).exists() {
        return None;
    }
    // Without its script a shell exits with 127, and Python and Perl with 2: a failure.
    let fails = is_shell || name.starts_with("python") || name == "perl";
    Some(absent(&format!("the script {}", script.display()), script, directory, fails))
}

fn is_on_search_path(program: &Path) -> bool {
    !is_path(program) && named(program.as_os_str()).next().is_some()
}

/// Returns the problem of a file that is not there, for a hook that then `fails` or else ends with an
/// exit code that is an error.
fn absent(what: &str, written: &Path, directory: &Path, fails: bool) -> Diagnostic {
    let effect = if fails { "this hook fails" } else { "this hook guards nothing" };
    let mut hint = format!("until the file exists, {effect}");
    if !written.is_absolute() {
        hint = format!("{hint}. Relative paths start at {}", directory.display());
    }
    Diagnostic::warning(format!("{what} does not exist")).hint(hint)
}

fn is_path(word: &Path) -> bool {
    word.to_string_lossy().contains('/')
}

fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), hookexec::home_directory()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Returns the words of the first command of a text, without the assignments before it.
fn first_command(text: &str) -> Vec<Word> {
    let commands = commands_of_text(text);
    let first = commands.into_iter().find(|command| !command.is_without_words());
    first.unwrap_or_default().words
}

/// Returns a word that a shell takes as it is; `~/` at its beginning is left to [`expanded`].
fn plain(word: Word) -> Option<String> {
    let is_plain = match word.text.strip_prefix('~') {
        None => word.is_literal(),
        Some(rest) => {
            !word.is_literal() && rest.starts_with('/') && !rest.contains(['$', '*', '?', '['])
        }
    };
    if is_plain { Some(word.text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_behind_a_known_variable_is_looked_for() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("check.sh"), "").unwrap();
        std::fs::write(directory.path().join("dos.sh"), "#!/bin/sh\r\nexit 0\r\n").unwrap();
        for (command, problem) in [
            (r#""$HOOKEXEC_CONFIG_DIR"/check.sh"#, "is not executable"),
            (r"${HOOKEXEC_CONFIG_DIR}/gone.sh -x", "does not exist"),
            (r#"sh "$HOOKEXEC_PROJECT_DIR/gone.sh""#, "does not exist"),
            (r#""$CLAUDE_PROJECT_DIR"/check.sh"#, "is not executable"),
            (r"'$HOOKEXEC_CONFIG_DIR/gone.sh'", ""),
            (r"$HOOKEXEC_CONFIG_DIR/$X.sh", ""),
            (r#"sh "$HOOKEXEC_CONFIG_DIR/dos.sh""#, "has the line ends of Windows"),
            (r"sh $HOOKEXEC_CONFIG_DIR/check.sh", ""),
        ] {
            let yaml = serde_json::json!({"stop": [{"type": "command", "command": command}]});
            let path = directory.path().join("hooks.yaml");
            let config = hookexec::Config::from_yaml(&yaml.to_string(), &path).unwrap();
            let found = missing(&config.hooks[0], directory.path());
            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
            let is_right =
                found.first().map_or(problem.is_empty(), |warning| warning.contains(problem));
            assert!(is_right && found.len() < 2, "{command}: {found:?}");
        }
    }

    #[test]
    fn a_script_of_a_guard_beside_its_hooks_file_needs_the_variable() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("guard.py"), "").unwrap();
        for (event, keys, is_warned) in [
            ("tool_guard", "command: [python3, guard.py]", true),
            ("tool_guard", "command: ./guard.py --strict", true),
            ("stop", "command: ./guard.py", false),
            ("tool_guard", "command: [python3, gone.py]", false),
            ("tool_guard", "command: [python3, guard.py], working_dir: /opt", false),
            ("tool_guard", "command: python3 $HOOKEXEC_CONFIG_DIR/guard.py", false),
        ] {
            let hooks = format!("[{{ type: command, {keys} }}]");
            let text = match event {
                "stop" => format!("stop: {hooks}"),
                _ => format!("{event}: [{{ hooks: {hooks} }}]"),
            };
            let path = directory.path().join("hooks.yaml");
            let config = hookexec::Config::from_yaml(&text, &path).unwrap();
            let found = found_from_here_alone(&config.hooks[0]);
            assert_eq!(found.is_some(), is_warned, "{keys}: {found:?}");
        }
    }

    #[test]
    fn an_input_that_echo_prints_is_warned_of() {
        let warning = |shell: Option<&str>, text: &str| {
            let mut hook =
                Hook::new(hookexec::Event::PreToolUse, "command", Command::Text(text.to_owned()));
            hook.shell = shell.map(str::to_owned);
            echoed_input(&hook).map(|warning| warning.hint.unwrap_or_default())
        };
        let hint = Some("write `printf '%s' \"$x\"`".to_owned());
        let guard =
            r#"x=$(cat); case "$(echo "$x" | jq -r .tool_input.command)" in *a*) exit 2;; esac"#;
        assert_eq!(warning(None, guard), hint);
        assert_eq!(warning(Some("sh"), "y=1; x=$(cat)\necho $x | jq ."), hint);
        assert_eq!(warning(None, r#"x=$(cat); echo "${x}" | jq ."#), hint);
        assert_eq!(warning(Some("bash"), guard), None);
        for fine in ["jq .", r#"x=$(cat); printf '%s' "$x" | jq ."#, r#"x=$(cat); echo "$y""#] {
            assert_eq!(warning(None, fine), None, "{fine}");
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
            let plain_words: Vec<String> =
                first_command(text).into_iter().map_while(plain).collect();
            assert_eq!(plain_words, words, "{text}");
        }
    }
}
