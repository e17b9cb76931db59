//! The command in an agent's settings that calls hookexec, exactly as `install` writes it.

use std::fmt::Write as _;

use hookexec::FailureMode;
use hookexec_agents::{Agent, NativeEvent};
use hookexec_calls::commands_of_text;
use hookexec_calls::shell::quoted;

/// Denies when hookexec is missing or was killed: most agents take that for permission.
///
/// Exit code 2 is a denial of hookexec's, and keeps its reason. The words around it are the same in
/// every shell that an agent might use, fish and csh among them.
const DENY_WITHOUT_ANSWER: &str = concat!(
    r#"/bin/sh -c '"$0" "$@" || { [ $? = 2 ] || "#,
    r#"echo "no answer from hookexec, which guards this: install it, or see hookexec doctor" >&2; "#,
    r"exit 2; }' "
);

/// The options that all calls of one installation have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallOptions {
    /// The program's path.
    pub program: String,
    /// The server that answers instead of this process.
    pub socket: Option<String>,
    /// The hooks files that are named. A server has its own, so beside one there are none.
    pub configs: Vec<String>,
}

/// One call of hookexec.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Options that all calls of the installation have.
    pub options: CallOptions,
    /// The agent that calls.
    pub agent: Agent,
    /// Its event.
    pub native: &'static NativeEvent,
    /// How long it may take, in seconds.
    pub within: u64,
}

impl Call {
    /// Reads a command; `None` for one that `install` does not write, since it may do anything
    /// else.
    pub fn of(agent: Agent, command: &str) -> Option<Self> {
        let inner = command.strip_prefix(DENY_WITHOUT_ANSWER).unwrap_or(command);
        let commands = commands_of_text(inner);
        let words = commands.first()?.words.iter();
        let words: Vec<&str> = words.map(|word| &*word.text).collect();
        let [program, _, _, _, _, native, _, within, flags @ ..] = words.as_slice() else {
            return None;
        };
        let native = agent.events().iter().find(|row| row.name == *native)?;
        let options = CallOptions { program: (*program).to_owned(), ..CallOptions::default() };
        let mut call = Self { options, agent, native, within: within.parse().ok()? };
        for flag in flags.chunks(2) {
            match flag {
                ["--connect", socket] => call.options.socket = Some((*socket).to_owned()),
                ["--config", path] => call.options.configs.push((*path).to_owned()),
                _ => return None,
            }
        }
        // Another spelling may mean something else to a shell.
        let is_one_source = call.options.socket.is_none() || call.options.configs.is_empty();
        if is_one_source && call.command() == command { Some(call) } else { None }
    }

    /// Returns the command for a shell.
    pub fn command(&self) -> String {
        let Self { options, agent, native, within } = self;
        let mut command = format!(
            "{}{} run --from {agent} --event {} --within {within}",
            if denies_without_answer(native) { DENY_WITHOUT_ANSWER } else { "" },
            quoted(&options.program),
            native.name
        );
        if let Some(socket) = &options.socket {
            let _ = write!(command, " --connect {}", quoted(socket));
        }
        for path in &options.configs {
            let _ = write!(command, " --config {}", quoted(path));
        }
        command
    }
}

/// Returns whether the entry for `native` denies when hookexec is missing or killed.
///
/// At other events exit code 2 would block as well: a missing program would keep the model at work
/// forever. On Windows no text denies in each of the shells that agents use: some use PowerShell or cmd.
fn denies_without_answer(native: &NativeEvent) -> bool {
    let Some(event) = native.event else { return false };
    cfg!(unix) && event.contract().failure == FailureMode::Closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_for_the_shell_when_it_must_be() {
        for (word, expected) in [
            ("/usr/bin/hookexec", "/usr/bin/hookexec"),
            ("/home/a b/hookexec", "'/home/a b/hookexec'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
            let commands = commands_of_text(&format!("a {expected} b"));
            let words: Vec<&str> = commands[0].words.iter().map(|word| &*word.text).collect();
            assert_eq!(words, ["a", word, "b"]);
            assert!(commands[0].words.iter().all(hookexec_calls::Word::is_literal));
        }
    }

    #[test]
    fn only_a_command_as_it_is_written_is_a_call() {
        let native = Agent::Codex.native_event("PreToolUse").unwrap();
        for program in ["/usr/bin/hookexec", "/a b/it's/hookexec"] {
            for (configs, socket) in [
                (vec![], None),
                (vec![], Some("/run/it's here/socket".to_owned())),
                (vec!["/x y/hooks.yaml".to_owned(), "/z".to_owned()], None),
            ] {
                let options = CallOptions { program: program.into(), socket, configs };
                let call = Call { options, agent: Agent::Codex, native, within: 54 };
                assert_eq!(Call::of(Agent::Codex, &call.command()), Some(call.clone()));
                assert_eq!(Call::of(Agent::Gemini, &call.command()), None);
                for (before, after) in [
                    ("", " || true"),
                    ("", " >/dev/null"),
                    ("", ";"),
                    ("", "&"),
                    ("", " --isolated"),
                    ("", " --config"),
                    ("", " --config $HOME/x"),
                    ("", " --connect"),
                    ("", " --config /x --connect /y"),
                    ("", " --connect /y --config /x"),
                    ("", " --connect /y --connect /z"),
                    ("", " "),
                    ("timeout 30 ", ""),
                    ("/bin/sh -c '\"$0\" \"$@\" || true' ", ""),
                    ("! ", ""),
                    ("env ", ""),
                ] {
                    let changed = format!("{before}{}{after}", call.command());
                    assert_eq!(Call::of(Agent::Codex, &changed), None, "{changed}");
                }
            }
        }
    }
}
