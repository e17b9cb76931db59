//! The agent that calls, and the one answer that it gets.

use std::ffi::OsStr;
use std::sync::{Mutex, TryLockError};

use hookexec_agents::{Agent, Answer};

use crate::Exit;
use crate::console::output;

/// Which agent to answer, and about which event, when nothing else is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Caller {
    /// `None` when no agent has the name on the command line.
    pub(super) agent: Option<Agent>,
    pub(super) hint: Option<String>,
}

impl Caller {
    /// Finds the calling agent in the arguments as they are: also when they are wrong, and the
    /// parser's exit code would let a tool through.
    pub(crate) fn of(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<Self> {
        let mut words = Vec::new();
        for argument in arguments {
            words.push(argument.as_ref().to_string_lossy().into_owned());
        }
        let command = words.iter().skip(1).find(|word| !word.starts_with('-'));
        let from = value(&words, "--from").filter(|_| command.is_some_and(|word| word == "run"))?;
        Some(Self { agent: from.parse().ok(), hint: value(&words, "--event") })
    }

    /// Answers that hookexec could not decide.
    pub(crate) fn fail(&self, message: &str) -> Exit {
        // Exit code 2 with a reason on standard error is a denial for every agent.
        let agent = self.agent.unwrap_or(Agent::ClaudeCode);
        give(&hookexec_agents::failure(agent, self.native(), None, None, message))
    }

    pub(super) fn native(&self) -> Option<&'static str> {
        Some(self.agent?.native_event(self.hint.as_deref()?)?.name)
    }
}

/// Returns the value of an option, which may be empty.
fn value(words: &[String], flag: &str) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == flag {
            return Some(words.next().cloned().unwrap_or_default());
        }
        if let Some(value) = word.strip_prefix(flag)
            && let Some(value) = value.strip_prefix('=')
        {
            return Some(value.to_owned());
        }
    }
    None
}

/// The exit code that went with the answer; only one answer leaves the process.
static GIVEN: Mutex<Option<Exit>> = Mutex::new(None);

/// Writes an answer, unless one was written before, and returns what to exit with.
///
/// Writes stdout first: an agent that leaves stderr unread still gets it. If stdout is lost, exit
/// code 2 denies in its place.
pub(super) fn give(answer: &Answer) -> Exit {
    let mut given = match GIVEN.try_lock() {
        Ok(given) => given,
        Err(TryLockError::Poisoned(given)) => given.into_inner(),
        // Another thread is blocked while it writes its answer.
        Err(TryLockError::WouldBlock) => return Exit::DENIED,
    };
    if let Some(exit) = *given {
        return exit;
    }
    let mut last_word = String::new();
    let mut exit = if answer.exit_code == 0 { Exit::SUCCESS } else { Exit::DENIED };
    if let Err(error) = output::answer(&answer.stdout) {
        last_word = format!("hookexec: can't write to stdout: {error}\n");
        if let Some(reason) = &answer.fallback {
            last_word = format!("{reason}\n{last_word}");
            exit = Exit::DENIED;
        }
    }
    *given = Some(exit);
    drop(given);
    output::talk(&last_word);
    output::talk(&answer.stderr);
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(arguments: &str) -> Option<(Option<Agent>, Option<String>)> {
        Caller::of(arguments.split(' ')).map(|caller| (caller.agent, caller.hint))
    }

    #[test]
    fn the_caller_is_found_in_arguments_that_are_wrong() {
        let pre = || Some("PreToolUse".to_owned());
        for (arguments, expected) in [
            ("hookexec run --from codex --event PreToolUse", Some((Some(Agent::Codex), pre()))),
            ("hookexec run --from=codex -?", Some((Some(Agent::Codex), None))),
            ("hookexec run --event=PreToolUse --from codx", Some((None, pre()))),
            ("hookexec run --from", Some((None, None))),
            ("hookexec run pre_tool_use", None),
            ("hookexec explain --from codex", None),
        ] {
            assert_eq!(caller(arguments), expected, "{arguments}");
        }
    }
}
