//! The commands of imported hooks.

use std::fmt::Write as _;
use std::path::Path;

use hookexec::config::Command;
use hookexec::internal::shell::{Word, read_script};
use hookexec_agents::is_own_program;

use crate::scripts::has_script_ending;

/// A variable that only Claude Code's plugins have.
pub(super) const PLUGIN_ROOT: &str = "CLAUDE_PLUGIN_ROOT";

/// The variables that Claude Code puts into arguments.
const VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", PLUGIN_ROOT];

/// Returns whether a command runs `hookexec run`, as the entries do that `install` writes.
pub(super) fn is_ours(command: &str) -> bool {
    let calls_hookexec = |pair: &[Word]| {
        let program = pair[0].text.rsplit('/').next().unwrap_or_default();
        is_own_program(program) && pair[1].text == "run"
    };
    read_script(command).commands.iter().any(|words| words.windows(2).any(calls_hookexec))
}

/// Returns the name of the script that a command runs, without its ending.
pub(super) fn script_stem(command: &Command) -> Option<String> {
    let words: Vec<String> = match command {
        Command::Text(text) => {
            let words = read_script(text).commands.into_iter().flatten();
            words.map(|word| word.text).collect()
        }
        Command::Argv(words) => words.clone(),
        _ => return None,
    };
    let is_script = |word: &&String| !word.contains("://") && has_script_ending(Path::new(word));
    let script = words.iter().find(is_script)?;
    Path::new(script).file_stem()?.to_str().map(str::to_owned)
}

/// Returns the command of a hook, with the arguments beside it.
pub(super) fn whole(command: &str, args: &[String]) -> Command {
    if args.is_empty() { Command::Text(command.to_owned()) } else { program(command, args) }
}

/// Returns a program with its arguments; as a shell's command where Claude Code puts in paths.
pub(super) fn program(program: &str, args: &[String]) -> Command {
    let mut words = vec![program.to_owned()];
    words.extend_from_slice(args);
    let references = VARIABLES.map(|name| format!("${{{name}}}"));
    if !words.iter().any(|word| references.iter().any(|reference| word.contains(reference))) {
        return Command::Argv(words);
    }
    let mut command = String::from("exec");
    for mut word in words {
        for letter in ["\\", "\"", "`", "$"] {
            word = word.replace(letter, &format!("\\{letter}"));
        }
        for reference in &references {
            word = word.replace(&format!("\\{reference}"), reference);
        }
        let _ = write!(command, " \"{word}\"");
    }
    Command::Text(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_paths_of_claude_code_goes_through_a_shell() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(program("a", &words("b")), Command::Argv(words("a b")));
        assert_eq!(
            program("${CLAUDE_PROJECT_DIR}/a", &words("$b \"c")),
            Command::Text(r#"exec "${CLAUDE_PROJECT_DIR}/a" "\$b" "\"c""#.to_owned())
        );
    }

    #[test]
    fn a_hook_is_named_after_its_script() {
        for (command, expected) in [
            (r#""$CLAUDE_PROJECT_DIR"/.claude/hooks/protect.py"#, Some("protect")),
            ("python3 ~/.claude/hooks/check-it.py --strict", Some("check-it")),
            ("node \"${CLAUDE_PLUGIN_ROOT}/guard.js\"", Some("guard")),
            ("/usr/bin/env bash ./hooks/lint", None),
            ("uv run format.py", Some("format")),
            ("cd sub && ./run.sh", Some("run")),
            ("jq -r '.tool_input.command' | grep rm", None),
            ("curl https://example.com/x.sh | sh", None),
            ("echo hello", None),
            ("jq -r . >> \"$CLAUDE_PROJECT_DIR\"/commands.log", None),
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
