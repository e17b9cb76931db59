//! The answers to agents.

use std::fmt::Write as _;

use serde_json::Value;

use super::native::{Ask, NativeEvent};
use super::plan::{Plan, SAID, bounded};
use super::read::NativeCall;
use super::{Agent, adapter};
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Executor, Input, Verdict};
use hookexec_files::text::cut;

/// The answer of a hook process to the agent that started it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Standard output: one JSON object and a line feed, plain text where the agent takes that, or
    /// nothing.
    pub stdout: String,
    /// Standard error: the reason where the agent reads it there, else what could not be said
    /// otherwise.
    pub stderr: String,
    /// The exit code.
    pub exit_code: u8,
    /// The parts of the verdict that the agent's answer can't express as they were meant.
    pub notes: Vec<String>,
    /// The text for standard error, with exit code 2, should standard output be lost; `None` when
    /// nothing goes on without it that should not.
    pub fallback: Option<String>,
}

impl Answer {
    /// Answers in JSON, with exit code 0. An answer without members says nothing, which every agent
    /// takes for no opinion.
    pub(super) fn json(members: JsonObject) -> Self {
        if members.is_empty() {
            return Self::default();
        }
        Self::text(&Value::Object(members).to_string())
    }

    /// Answers in plain text, with exit code 0.
    pub(super) fn text(text: &str) -> Self {
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }

    /// Refuses by exit code 2, the reason on standard error and nothing on standard output: the one
    /// denial of a process that every agent was seen to heed.
    pub(super) fn refusal(reason: &str) -> Self {
        Self { stderr: format!("{}\n", reason.trim_end()), exit_code: 2, ..Self::default() }
    }
}

/// Makes a JSON object of the members whose values are there.
macro_rules! members {
    ($($key:literal: $value:expr),+ $(,)?) => {{
        let mut members = hookexec::wire::JsonObject::new();
        $(if let Some(value) = &$value {
            members.insert($key.to_owned(), serde_json::json!(value));
        })+
        members
    }};
}
pub(super) use members;

/// Writes a verdict in the dialect of the agent that called.
#[must_use]
pub fn answer(call: &NativeCall, verdict: &Verdict) -> Answer {
    write(call.agent, call.native, Some(&call.input), verdict)
}

/// Returns the answer in the place of a missing verdict: the payload could not be used, time ran out, or
/// hookexec itself failed.
///
/// `native` is the agent's event, as far as it is known, and `input` what could be read of the call. On an
/// event that decides this is a denial, on one that only observes silence; without a known event it is a
/// denial, too. The hooks that `executor` has for the event have failed, each by its own `on_error`.
#[must_use]
pub fn failure(
    agent: Agent,
    native: Option<&str>,
    input: Option<&Input>,
    executor: Option<&Executor>,
    message: &str,
) -> Answer {
    let message = cut(&format!("hookexec: {message}"), SAID).into_owned();
    let Some(native) = native.and_then(|name| agent.native_event(name)) else {
        return Answer::refusal(&message);
    };
    let Some(event) = native.event else { return quiet(&message) };
    let mut verdict = Verdict::failed(event, &message);
    let fires = native.fires(agent);
    if let Some(executor) = executor {
        for event in fires {
            verdict.absorb(executor.failed(event, input, &message));
        }
    } else if fires.contains(&Event::ToolResponseTransform) {
        // Without the hooks it is not known whether one would have redacted the response.
        verdict.updated_tool_response = Some(format!("[withheld by {message}]").into());
    }
    let is_told = match verdict.decision {
        _ if verdict.updated_tool_response.is_some() => true,
        Some(Decision::Ask) => native.ask != Ask::Silence,
        Some(_) => true,
        // It goes on, but the author of a guard for it should see that the guard did not run.
        None => event.contract().may_block && native.system_message,
    };
    if is_told { write(agent, native, input, &verdict) } else { quiet(&message) }
}

/// Like [`failure`], for a call that could be read.
#[must_use]
pub fn failure_of(call: &NativeCall, executor: Option<&Executor>, message: &str) -> Answer {
    failure(call.agent, Some(call.native.name), Some(&call.input), executor, message)
}

fn quiet(message: &str) -> Answer {
    Answer { stderr: format!("{message}\n"), ..Answer::default() }
}

fn write(agent: Agent, native: &NativeEvent, input: Option<&Input>, verdict: &Verdict) -> Answer {
    let verdict = bounded(verdict);
    let plan = Plan::new(agent, native, input, &verdict);
    let adapter = adapter(agent);
    let mut answer = match plan.denial() {
        Some(reason) if adapter.denies_by_exit_code => Answer::refusal(reason),
        _ => (adapter.write)(&plan),
    };
    answer.fallback = plan.fallback();
    answer.notes.splice(0..0, plan.notes);
    // With exit code 2 standard error is the reason and nothing else.
    if answer.exit_code == 0 && !native.system_message {
        for note in &answer.notes {
            let _ = writeln!(answer.stderr, "hookexec: {note}");
        }
    }
    answer
}
