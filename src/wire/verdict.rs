//! The answer to an event: what all its hooks together decided.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalReport, Decision, JsonObject, RequestChange, Stop, ToolResult, claude_code, field,
};
use crate::event::{Event, FailureMode};

sparse! {
    /// The decision of all hooks of one event.
    ///
    /// In JSON the first four fields are always there; every other is left out when it is empty.
    #[must_use]
    pub struct Verdict {
        /// The event.
        pub event: Event,
        /// The strictest decision, or `null` when no hook had an opinion.
        pub decision: Option<Decision>,
        /// Whether it may go on as things stand: true for allow and null, false for deny and ask.
        pub allowed: bool,
        /// The report of each hook, in config order.
        pub hooks: Vec<HookReport>,
        ..
        /// The reasons of the winning decision, in config order, joined by newlines.
        pub message: Option<String>,
        /// The whole final arguments of the tool, when they changed.
        #[serde(deserialize_with = "field::exact")]
        pub updated_input: Option<JsonObject>,
        /// The tool to call instead, when a hook renamed the call.
        pub updated_tool_name: Option<String>,
        /// The messages of the model request, when they changed.
        #[serde(deserialize_with = "field::exact")]
        pub updated_messages: Option<Vec<Value>>,
        /// Other changes of the model request.
        pub updated_request: Option<RequestChange>,
        /// The model's response, when it changed.
        #[serde(deserialize_with = "field::exact")]
        pub updated_response: Option<Value>,
        /// The tool's response, when it changed.
        #[serde(deserialize_with = "field::exact")]
        pub updated_tool_response: Option<Value>,
        /// Context for the model.
        pub additional_context: Option<String>,
        /// Warnings for the user.
        pub system_message: Option<String>,
        /// The summary that a hook supplied for a compaction.
        pub summary: Option<String>,
        /// Data for the approval request.
        #[serde(deserialize_with = "field::exact_object")]
        pub metadata: JsonObject,
        /// Keys of Claude Code that only Claude Code understands; the first hook in file order counts.
        #[serde(deserialize_with = "field::exact_object")]
        pub claude_code: JsonObject,
        /// The question to a person, and the answer: when a hook asks, and when a person answered.
        pub approval: Option<Box<ApprovalReport>>,
        /// The result that a hook gave in the tool's place.
        pub respond: Option<ToolResult>,
        /// A hook's request to end the turn or the session.
        pub stop: Option<Stop>,
        /// Whether a hook wants its output kept from the transcript.
        pub suppress_output: bool,
        /// The exit code of the hook that decided; -1 if the hook could not give an answer.
        pub exit_code: Option<i32>,
        /// The standard error of the hook that decided.
        pub stderr: Option<String>,
        /// Hooks that ended in an error or failed while the event went on.
        pub failed_open: Vec<String>,
    }
}

impl Verdict {
    /// Returns the verdict on an event for which no hook runs.
    pub fn no_opinion(event: Event) -> Self {
        Self { event, allowed: true, ..Self::default() }
    }

    /// Returns a denial that no hook gave: the host's own, or one for an unusable input.
    pub fn denied(event: Event, message: impl Into<String>) -> Self {
        Self {
            decision: Some(Decision::Deny),
            allowed: false,
            message: Some(message.into()),
            ..Self::no_opinion(event)
        }
    }

    /// Returns the verdict on an event when no hook could be asked and the hooks are not known: the
    /// event's contract alone decides. If the hooks are known, use
    /// [`Executor::failed`](crate::Executor::failed), which applies their `on_error`.
    pub fn failed(event: Event, why: &str) -> Self {
        match event.contract().failure {
            FailureMode::Closed => Self::denied(event, why),
            FailureMode::Ask => Self { decision: Some(Decision::Ask), ..Self::denied(event, why) },
            FailureMode::Open => {
                Self { system_message: Some(why.to_owned()), ..Self::no_opinion(event) }
            }
        }
    }

    /// Returns whether a hook failed and withheld what it could not check. No later hook may put it
    /// back.
    pub fn withholds(&self) -> bool {
        self.hooks.iter().any(|hook| hook.withheld)
    }

    /// Adds a warning for the user, of which no line is repeated.
    pub fn tell(&mut self, warning: &str) {
        join_new_lines(&mut self.system_message, Some(warning));
    }

    /// Adds a later verdict on the same moment: the strictest decision and the widest stop count, and the
    /// last rewrite, unless an earlier hook withheld what is rewritten. Beside a denial nothing answers in
    /// the tool's place. Of metadata those of the higher layer count. A message that is there is not
    /// repeated.
    pub fn absorb(&mut self, mut next: Self) {
        fn last<T>(before: &mut Option<T>, after: Option<T>) {
            if after.is_some() {
                *before = after;
            }
        }
        let keys = std::mem::take(&mut next.claude_code);
        claude_code::absorb(&mut self.claude_code, self.decision, keys, next.decision);
        self.metadata = metadata_of([&*self, &next]);
        if next.decision > self.decision {
            self.decision = next.decision;
            self.message = next.message;
            self.exit_code = next.exit_code;
            self.stderr = next.stderr;
        } else if next.decision == self.decision {
            join_new_lines(&mut self.message, next.message.as_deref());
        }
        self.allowed &= next.allowed;
        if self.withholds() {
            (next.updated_response, next.updated_tool_response) = (None, None);
        }
        self.hooks.extend(next.hooks);
        join(&mut self.additional_context, next.additional_context);
        join_new_lines(&mut self.system_message, next.system_message.as_deref());
        last(&mut self.approval, next.approval);
        last(&mut self.updated_input, next.updated_input);
        last(&mut self.updated_tool_name, next.updated_tool_name);
        last(&mut self.updated_messages, next.updated_messages);
        last(&mut self.updated_request, next.updated_request);
        last(&mut self.updated_response, next.updated_response);
        last(&mut self.updated_tool_response, next.updated_tool_response);
        self.summary = self.summary.take().or(next.summary);
        let respond = self.respond.take().or(next.respond);
        self.respond = respond.filter(|_| self.decision != Some(Decision::Deny));
        self.stop = widest(self.stop.take(), next.stop);
        self.suppress_output |= next.suppress_output;
        add_new(&mut self.failed_open, next.failed_open);
    }

    /// Returns the rank of the highest layer that gave the metadata `key`.
    fn metadata_rank(&self, key: &str) -> usize {
        let mut highest = usize::MAX;
        for hook in &self.hooks {
            if hook.metadata.iter().any(|known| known == key) {
                highest = highest.min(hook.rank);
            }
        }
        highest
    }
}

/// Returns the wider stop; of two equal ones, the first.
pub(crate) fn widest(before: Option<Stop>, next: Option<Stop>) -> Option<Stop> {
    match (before, next) {
        (Some(before), Some(next)) if next.scope > before.scope => Some(next),
        (before, next) => before.or(next),
    }
}

/// Returns the metadata of all `verdicts`. Of each key that of the highest layer counts, and within a
/// layer that of the last verdict.
pub(crate) fn metadata_of<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> JsonObject {
    let mut all = Vec::new();
    for verdict in verdicts {
        for (key, value) in &verdict.metadata {
            all.push((verdict.metadata_rank(key), key.clone(), value.clone()));
        }
    }
    // The layers are ranked from the top, and the last value of a key stays.
    all.sort_by_key(|(rank, ..)| Reverse(*rank));
    all.into_iter().map(|(_, key, value)| (key, value)).collect()
}

/// Adds the texts that are not there yet.
pub(crate) fn add_new(before: &mut Vec<String>, more: Vec<String>) {
    for text in more {
        if !before.contains(&text) {
            before.push(text);
        }
    }
}

pub(crate) fn join(before: &mut Option<String>, after: Option<String>) {
    match (before.as_mut(), after) {
        (Some(before), Some(after)) => {
            before.push('\n');
            before.push_str(&after);
        }
        (None, after) => *before = after,
        (Some(_), None) => {}
    }
}

/// Adds the lines that were not said before: a file that failed says the same at each event of the
/// moment.
pub(crate) fn join_new_lines(before: &mut Option<String>, after: Option<&str>) {
    let known = before.as_deref().unwrap_or_default();
    let mut new: Vec<&str> = after.unwrap_or_default().lines().collect();
    new.retain(|line| !known.lines().any(|known| known == *line));
    let new = new.join("\n");
    if !new.is_empty() {
        join(before, Some(new));
    }
}

/// How a hook ended.
// If a hook answers several times, the later variant is reported: a failure is never hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookStatus {
    /// It did not run; `error` says why.
    Skipped,
    /// It runs in the background.
    Background,
    /// It gave an answer, or had no opinion.
    #[default]
    Ok,
    /// It blocked the event.
    Blocked,
    /// It ended with an exit code that is an error of its own.
    Error,
    /// It could not give an answer.
    Failed,
}

/// Whether a hook's answer counts; used to try a policy out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "the three words of mode")]
pub enum Mode {
    /// It counts.
    #[default]
    Enforce,
    /// It does not count, but the user sees what it would have done.
    Warn,
    /// It does not count; only the report has what it would have done.
    Shadow,
}

/// The tokens that a model used for the answers of one hook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Usage {
    /// The tokens that it read.
    pub input_tokens: u64,
    /// The tokens that it wrote.
    pub output_tokens: u64,
}

impl Usage {
    /// Returns the sum of two usages.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

sparse! {
    /// The report of one hook.
    pub struct HookReport {
        /// Its name, or what it runs.
        pub name: String,
        /// Its type, such as `command`.
        #[serde(rename = "type")]
        pub kind: String,
        /// Where it is configured: `hooks.yaml:12`.
        pub source: String,
        /// How far its layer is below the top.
        #[serde(skip)]
        pub(crate) rank: usize,
        /// The keys of the metadata that it gave.
        #[serde(skip)]
        pub(crate) metadata: Vec<String>,
        /// How it ended.
        pub status: HookStatus,
        /// How long it took, in milliseconds.
        #[serde(default)]
        pub duration_ms: f64,
        ..
        /// Its mode, when its answer does not count.
        pub mode: Option<Mode>,
        /// Its decision, also when that does not count.
        pub decision: Option<Decision>,
        /// Why it decided so.
        pub reason: Option<String>,
        /// Whether it rewrote something, also when that does not count.
        pub rewrote: bool,
        /// Whether it failed and withheld what it could not check.
        pub withheld: bool,
        /// Its exit code, if it is a program that exited; -1 if it could not give an answer.
        pub exit_code: Option<i32>,
        /// The tokens that its model used, if it asked one.
        pub usage: Option<Usage>,
        /// Why it failed or was skipped.
        pub error: Option<String>,
        /// Parts of the answer that were ignored: unknown keys, and answers that the event does not support.
        pub warnings: Vec<String>,
        /// Its standard error.
        pub stderr: Option<String>,
        /// Its standard output, if it was plain text that is not used.
        pub stdout: Option<String>,
    }
}

#[cfg(test)]
mod tests;
