//! The agent that calls, and the one answer that it gets.

use std::ffi::OsStr;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use hookexec::internal::locked;
use hookexec_agents::{Agent, Answer};

use crate::{Exit, output};

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
        let text = |argument: &OsStr| argument.to_string_lossy().into_owned();
        let arguments: Vec<String> =
            arguments.into_iter().map(|argument| text(argument.as_ref())).collect();
        let value = |flag: &str| {
            let joined = format!("{flag}=");
            let is_flag = |argument: &String| argument == flag || argument.starts_with(&joined);
            let place = arguments.iter().position(is_flag)?;
            let next = || arguments.get(place + 1).cloned().unwrap_or_default();
            Some(arguments[place].strip_prefix(&joined).map_or_else(next, str::to_owned))
        };
        let runs = arguments.iter().skip(1).find(|argument| !argument.starts_with('-'));
        if runs.map(String::as_str) != Some("run") {
            return None;
        }
        Some(Self { agent: value("--from")?.parse().ok(), hint: value("--event") })
    }

    /// Answers that hookexec could not decide.
    pub(crate) fn fail(&self, message: &str) -> Exit {
        give(&self.failure(message))
    }

    fn failure(&self, message: &str) -> Answer {
        // Exit code 2 with a reason on standard error is a denial for every agent.
        hookexec_agents::failure(
            self.agent.unwrap_or(Agent::ClaudeCode),
            self.native(),
            None,
            message,
        )
    }

    pub(super) fn native(&self) -> Option<&'static str> {
        Some(self.agent?.native_event(self.hint.as_deref()?)?.name)
    }

    /// Answers in the last moment, if nothing else has by then.
    pub(super) fn watch(self, last: Duration, standing: Standing) {
        let late = move || {
            std::thread::sleep(last);
            let exit = match GIVEN.try_lock() {
                // Another thread is blocked while it writes its answer.
                Err(TryLockError::WouldBlock) => Exit::Denied,
                given => {
                    drop(given);
                    let failure = || self.failure(&format!("no answer within {last:?}"));
                    give(&locked(&standing).take().unwrap_or_else(failure))
                }
            };
            std::process::exit(i32::from(exit.code()));
        };
        // Without a thread for it there is still the timer of the runtime.
        let _ = std::thread::Builder::new().name("last resort".to_owned()).spawn(late);
    }
}

/// The answer that is given if hookexec itself is stuck, once the hooks are known.
pub(super) type Standing = Arc<Mutex<Option<Answer>>>;

/// The exit code that went with the answer; only one answer leaves the process.
static GIVEN: Mutex<Option<Exit>> = Mutex::new(None);

/// Writes an answer, unless one was written before, and returns what to exit with.
///
/// What stands on stdout comes first: an agent that leaves stderr unread still gets it. Where
/// stdout is lost, exit code 2 says no in its place.
pub(super) fn give(answer: &Answer) -> Exit {
    let mut given = locked(&GIVEN);
    if let Some(exit) = *given {
        return exit;
    }
    let (exit, last_word) = match (output::answer(&answer.stdout), &answer.fallback) {
        (Ok(()), _) if answer.exit_code == 0 => (Exit::Success, String::new()),
        (Ok(()), _) => (Exit::Denied, String::new()),
        (Err(error), Some(reason)) => {
            (Exit::Denied, format!("{reason}\nhookexec: can't write to stdout: {error}\n"))
        }
        (Err(error), None) => {
            (Exit::Success, format!("hookexec: can't write to stdout: {error}\n"))
        }
    };
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
