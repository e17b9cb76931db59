//! The command in an agent's settings that calls hookexec, exactly as `install` writes it.

use std::fmt::Write as _;

use hookexec::event::FailureMode;
use hookexec::internal::shell::{quoted, read_script};
use hookexec_agents::{Agent, NativeEvent};

use crate::system::HAS_SH;

/// Denies when hookexec is missing or was killed: most agents take that for permission.
///
/// Exit code 2 is a denial of hookexec's, and keeps its reason. The words around it are the same in
/// every shell that an agent might use, fish and csh among them.
const DENY_WITHOUT_ANSWER: &str = concat!(
    r#"/bin/sh -c '"$0" "$@" || { [ $? = 2 ] || "#,
    r#"echo "no answer from hookexec, which guards this: install it, or see hookexec doctor" >&2; "#,
    r"exit 2; }' "
);

/// One call of hookexec.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The program's path.
    pub(crate) program: String,
    pub(crate) agent: Agent,
    pub(crate) native: &'static NativeEvent,
    /// How long it may take, in seconds.
    pub(crate) within: u64,
    /// The server that answers instead of this process.
    pub(crate) socket: Option<String>,
    /// The hooks files that are named. A server has its own, so beside one there are none.
    pub(crate) configs: Vec<String>,
    /// Whether the agent gets a denial when the program is missing or killed.
    pub(crate) denies_without_answer: bool,
}

/// Returns whether the entry for `native` denies when hookexec is missing or killed.
///
/// At other events exit code 2 would block as well: a missing program would keep the model at work
/// forever. On Windows no text denies in each of the shells that agents use.
pub(crate) fn denies_without_answer(native: &NativeEvent) -> bool {
    HAS_SH && native.event.is_some_and(|event| event.contract().failure == FailureMode::Closed)
}

impl Call {
    /// Reads a command; `None` for one that `install` does not write, since it may do anything
    /// else.
    pub(crate) fn of(agent: Agent, command: &str) -> Option<Self> {
        let inner = command.strip_prefix(DENY_WITHOUT_ANSWER);
        let script = read_script(inner.unwrap_or(command));
        let mut words = script.commands.first()?.iter().map(|word| word.text.as_str());
        let program = words.next()?.to_owned();
        let mut fixed = |wanted: &str| (words.next()? == wanted).then_some(());
        fixed("run")?;
        fixed("--from")?;
        fixed(agent.name())?;
        fixed("--event")?;
        let native = words.next()?;
        let native = agent.events().iter().find(|row| row.name == native)?;
        let within =
            if words.next()? == "--within" { words.next()?.parse().ok()? } else { return None };
        let (mut socket, mut configs) = (None, Vec::new());
        while let Some(flag) = words.next() {
            let value = words.next()?.to_owned();
            match flag {
                "--connect" if configs.is_empty() => socket = Some(value),
                "--config" if socket.is_none() => configs.push(value),
                _ => return None,
            }
        }
        let denies_without_answer = inner.is_some();
        let call = Self { program, agent, native, within, socket, configs, denies_without_answer };
        // Another spelling may mean something else to a shell.
        (call.command() == command).then_some(call)
    }

    /// Returns the command for a shell.
    pub(crate) fn command(&self) -> String {
        let Self { program, agent, native, within, socket, configs, denies_without_answer } = self;
        let mut command = format!(
            "{}{} run --from {agent} --event {} --within {within}",
            if *denies_without_answer { DENY_WITHOUT_ANSWER } else { "" },
            quoted(program),
            native.name
        );
        let servers = socket.iter().map(|path| ("--connect", path));
        for (flag, path) in servers.chain(configs.iter().map(|path| ("--config", path))) {
            let _ = write!(command, " {flag} {}", quoted(path));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use hookexec::internal::shell::Word;

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
            let words = ["a", word, "b"].map(Word::literal).to_vec();
            assert_eq!(read_script(&format!("a {expected} b")).commands, [words]);
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
                let call = Call {
                    program: program.into(),
                    agent: Agent::Codex,
                    native,
                    within: 54,
                    denies_without_answer: configs.is_empty(),
                    socket,
                    configs,
                };
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
                ] {
                    let changed = format!("{before}{}{after}", call.command());
                    assert_eq!(Call::of(Agent::Codex, &changed), None, "{changed}");
                }
            }
        }
    }
}
