//! The commands of imported hooks.

use std::path::Path;

use hookexec::config::Command;
use hookexec::internal::shell::read_script;
use hookexec_agents::is_own_program;

use crate::scripts::has_script_ending;

/// A variable that only Claude Code's plugins have.
pub(super) const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// Returns whether a command runs `hookexec run`, as the entries do that `install` writes.
pub(super) fn is_ours(command: &str) -> bool {
    let words: Vec<String> = words(command).collect();
    words.windows(2).any(|pair| {
        let program = pair[0].rsplit('/').next().unwrap_or_default();
        is_own_program(program) && pair[1] == "run"
    })
}

/// Returns the name of the script that a command runs, without its ending.
pub(super) fn script_stem(command: &Command) -> Option<String> {
    let script = match command {
        Command::Text(text) => read_script(text).commands.iter().find_map(|words| {
            let words = words.iter().map(|word| word.text.as_str());
            script(words.filter(|word| !word.contains('=')))
        })?,
        Command::Argv(words) => script(words.iter().map(String::as_str))?,
        _ => return None,
    };
    let script = Path::new(&script);
    let stem = if has_script_ending(script) { script.file_stem() } else { script.file_name() };
    let stem = stem?.to_str()?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    (!stem.is_empty() && stem.chars().all(plain)).then(|| stem.to_owned())
}

/// Returns the script among the words of one command: a word that ends like one, or a path that
/// stands where the program does or behind an interpreter.
fn script<'w>(words: impl Iterator<Item = &'w str>) -> Option<String> {
    const BEFORE: [&str; 12] =
        ["exec", "{", "!", "env", "sh", "bash", "zsh", "python", "python3", "node", "ruby", "perl"];
    const PROGRAMS: [&str; 3] = ["/bin/", "/usr/", "/dev/"];
    let mut runs = true;
    for word in words.filter(|word| !word.contains("://")) {
        if has_script_ending(Path::new(word)) {
            return Some(word.to_owned());
        }
        let of_system = PROGRAMS.iter().any(|directory| word.starts_with(directory));
        if runs && word.contains('/') && !of_system {
            return Some(word.to_owned());
        }
        let program = word.rsplit('/').next().unwrap_or_default();
        runs = runs && (BEFORE.contains(&program) || word.starts_with('-'));
    }
    None
}

/// Returns the words of a command, cut where a shell may cut them; quotes are taken off.
fn words(command: &str) -> impl Iterator<Item = String> + '_ {
    let cut = |letter: char| letter.is_whitespace() || ";|&()<>`".contains(letter);
    let word = |word: &str| word.replace(['"', '\''], "");
    command.split(cut).filter(|word| !word.is_empty()).map(word)
}

/// Returns the command of a hook, with the arguments beside it.
pub(super) fn whole(command: &str, args: &[String]) -> Command {
    if args.is_empty() {
        return Command::Text(command.to_owned());
    }
    let mut words = vec![command.to_owned()];
    words.extend_from_slice(args);
    program(words)
}

/// Returns a program with its arguments; as a shell's command where Claude Code puts in paths.
pub(super) fn program(words: Vec<String>) -> Command {
    const VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", PLUGIN_ROOT];
    let reference = |word: &str, name: &str| word.contains(&format!("${{{name}}}"));
    if !words.iter().any(|word| VARIABLES.iter().any(|name| reference(word, name))) {
        return Command::Argv(words);
    }
    let quoted = words.iter().map(|word| {
        let mut text = String::from("\"");
        for letter in word.chars() {
            if "\\\"`$".contains(letter) {
                text.push('\\');
            }
            text.push(letter);
        }
        text.push('"');
        VARIABLES.iter().fold(text, |text, name| {
            text.replace(&format!("\\${{{name}}}"), &format!("${{{name}}}"))
        })
    });
    Command::Text(format!("exec {}", quoted.collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_paths_of_claude_code_goes_through_a_shell() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(program(words("a b")), Command::Argv(words("a b")));
        assert_eq!(
            program(words("${CLAUDE_PROJECT_DIR}/a $b \"c")),
            Command::Text(r#"exec "${CLAUDE_PROJECT_DIR}/a" "\$b" "\"c""#.to_owned())
        );
    }

    #[test]
    fn a_hook_is_named_after_its_script() {
        for (command, expected) in [
            (r#""$CLAUDE_PROJECT_DIR"/.claude/hooks/protect.py"#, Some("protect")),
            ("python3 ~/.claude/hooks/check-it.py --strict", Some("check-it")),
            ("node \"${CLAUDE_PLUGIN_ROOT}/guard.js\"", Some("guard")),
            ("/usr/bin/env bash ./hooks/lint", Some("lint")),
            ("uv run format.py", Some("format")),
            ("cd sub && ./run.sh", Some("run")),
            ("jq -r '.tool_input.command' | grep rm", None),
            ("curl https://example.com/x.sh | sh", None),
            ("echo hello", None),
            ("jq -r . >> \"$CLAUDE_PROJECT_DIR\"/commands.log", None),
            ("MODE=fast ./check --all", Some("check")),
            ("\"${CLAUDE_PROJECT_DIR}\"/.claude/hooks/lint", Some("lint")),
        ] {
            let name = script_stem(&Command::Text(command.to_owned()));
            assert_eq!(name.as_deref(), expected, "{command}");
        }
    }

    #[test]
    fn entries_of_our_own_are_told_from_others() {
        for (command, expected) in [
            ("/home/me/.cargo/bin/hookexec run --from claude-code --event Stop --within 54", true),
            ("'/a b/hookexec' run --from codex --event Stop || { exit 2; }", true),
            ("hookexec run pre_tool_use", true),
            ("hookexec check", false),
            ("./my-hookexec run", false),
        ] {
            assert_eq!(is_ours(command), expected, "{command}");
        }
    }
}
