//! One line of the decision log.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use crate::builtins::audit_log::clean;
use crate::builtins::secrets::Redactor;
use crate::config::{Layer, Policy};
use crate::event::Event;
use crate::wire::{ApprovalReport, Decision, HookReport, Input, JsonObject, Mode, Verdict, exact};

/// The format that is written; a later one may add fields.
const VERSION: u8 = 1;
/// How each record begins, by which the rest of a record that was cut is found. Inside a text the
/// quotes would be escaped.
pub const BEGINNING: &str = "{\"v\":1,\"time\":\"";
/// The longest record, in bytes.
const LONGEST: usize = 64 * 1024;
/// The longest text of a record that is too long, in characters.
const LONGEST_TEXT: usize = 200;
/// The longest text that waits for the log, in bytes.
const LONGEST_WAITING: usize = 2 * LONGEST;
/// How long the texts of a project's hooks may be together while they wait, in bytes.
const LONGEST_OF_PROJECT: usize = 8 * LONGEST_WAITING;

/// What was decided at one event.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the format.
    pub v: u8,
    /// When, as RFC 3339 in UTC.
    pub time: String,
    /// The event.
    pub event: Event,
    /// The session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The agent that called.
    pub agent: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The strictest decision; `null` when no hook had an opinion.
    #[serialize_always]
    pub decision: Option<Decision>,
    /// Whether it could go on.
    pub allowed: bool,
    /// The reasons.
    pub message: Option<String>,
    /// What became of the question to a person, at `approval`: who answered, when, over which hook.
    pub approval: Option<Box<ApprovalReport>>,
    /// The fields of the verdict that changed something: `updated_input`, ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten: Vec<String>,
    /// The arguments as they were rewritten, when the input is recorded, too.
    #[serde(default, deserialize_with = "exact::field")]
    pub updated_input: Option<JsonObject>,
    /// The hooks that ended in an error or failed while the event went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_open: Vec<String>,
    /// What each hook did; without its output.
    pub hooks: Vec<HookReport>,
    /// How long the event took, in milliseconds.
    pub duration_ms: f64,
    /// The span that the event belongs to, in the words of W3C Trace Context.
    pub traceparent: Option<String>,
    /// A digest of the hooks files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub config: String,
    /// The policies that come from elsewhere, as they were at the event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<PolicyRecord>,
    /// The input, when it is recorded, without secrets.
    #[serde(default, deserialize_with = "exact::field")]
    pub input: Option<Value>,
    /// Whether something long was cut from the input: it can't be replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_cut: bool,
    /// Whether secrets were taken out of the input.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_redacted: bool,
    /// Whether hooks are left out, because the record was too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooks_cut: bool,
}

/// A policy that comes from elsewhere.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PolicyRecord {
    /// Where it comes from.
    pub(crate) source: String,
    /// The version of the bundle in force; none before the first.
    pub(crate) version: Option<u64>,
    /// The digest of its archive.
    pub(crate) digest: Option<String>,
    /// How many seconds ago the source was last seen to have it.
    pub(crate) age_s: Option<u64>,
    /// Why it could not be used: what fails closed was denied.
    pub(crate) failure: Option<String>,
    /// Why the last refresh failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) refresh_failed: String,
}

impl PolicyRecord {
    /// Returns what is known about a policy now.
    pub(crate) fn of(policy: &Policy) -> Self {
        let in_force = policy.state.in_force.as_ref();
        Self {
            source: policy.settings.source.to_string(),
            version: in_force.map(|it| it.version),
            digest: in_force.map(|it| format!("sha256:{}", it.digest)),
            age_s: in_force.map(|it| it.age().as_secs()),
            failure: policy.failure.clone(),
            refresh_failed: policy.state.problem.clone(),
        }
    }
}

impl Record {
    /// Returns the hooks whose answer did not count, for their `mode`, and would have made the
    /// verdict stricter.
    pub fn would_change(&self) -> impl Iterator<Item = &HookReport> {
        self.hooks.iter().filter(|report| {
            report.mode.is_some_and(|mode| mode != Mode::Enforce)
                && report.decision.is_some_and(|decision| decision > Decision::Allow)
                && report.decision > self.decision
        })
    }

    /// Returns the record of a verdict; without the input. Of texts it has no more than a record needs.
    pub fn new(time: String, input: &Input, verdict: &Verdict, duration_ms: f64) -> Self {
        let hooks = verdict.hooks.iter().cloned().map(|mut report| {
            (report.stdout, report.stderr) = (None, None);
            report.warnings.clear();
            report
        });
        let mut record = Self {
            v: VERSION,
            time,
            event: verdict.event,
            session: input.session_id.clone(),
            agent: input.agent_name.clone(),
            tool: input.tool_name.clone(),
            decision: verdict.decision,
            allowed: verdict.allowed,
            message: verdict.message.clone(),
            approval: verdict.approval.clone(),
            rewritten: rewritten(verdict),
            updated_input: None,
            failed_open: verdict.failed_open.clone(),
            hooks: hooks.collect(),
            duration_ms,
            traceparent: None,
            config: String::new(),
            policies: Vec::new(),
            input: None,
            input_cut: false,
            input_redacted: false,
            hooks_cut: false,
        };
        record.leave_out_long_texts();
        record
    }

    /// Leaves out texts that are longer than any record: the time and the memory to redact them would cost
    /// other records their place. They go as a whole, because what is cut from a secret is not found.
    fn leave_out_long_texts(&mut self) {
        self.each_text(|text| leave_out(text, LONGEST_WAITING));
        let mut left = LONGEST_OF_PROJECT;
        let of_project = self.hooks.iter_mut().filter(|report| is_of_project(report));
        for text in of_project.flat_map(|it| it.reason.iter_mut().chain(&mut it.error)) {
            leave_out(text, left);
            left = left.saturating_sub(text.len());
        }
    }

    /// Adds the input, and the arguments as they were rewritten.
    pub(crate) fn with_input(
        mut self,
        input: &Input,
        updated_input: Option<JsonObject>,
        redactor: &Redactor,
    ) -> Self {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(input) else { return self };
        let cleaned = clean(redactor, &mut fields);
        (self.input_cut, self.input_redacted) = (cleaned.cut, cleaned.redacted);
        self.input = Some(Value::Object(fields));
        self.updated_input = updated_input;
        if let Some(arguments) = &mut self.updated_input {
            let cleaned = clean(redactor, arguments);
            self.input_cut |= cleaned.cut;
            self.input_redacted |= cleaned.redacted;
        }
        self
    }

    /// Returns the line to write, without secrets.
    pub fn line(mut self, redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
        // Before anything is cut: the rest of a secret has another shape.
        self.each_text(|text| *text = redactor.redact(text).into_owned());
        let mut line = serde_json::to_vec(&self)?;
        if line.len() >= LONGEST {
            self.shorten()?;
            line = serde_json::to_vec(&self)?;
        }
        line.push(b'\n');
        Ok(line)
    }

    /// Shortens a record that is too long until it fits without the hooks of a project, which so cost
    /// nothing else its place. Then it keeps as many hooks as fit, those of higher layers first.
    fn shorten(&mut self) -> serde_json::Result<()> {
        self.hooks.sort_by_key(|report| report.rank);
        let of_others = self.hooks.partition_point(|report| !is_of_project(report));
        // It repeats what the hooks said.
        let message = self.message.clone();
        self.message.iter_mut().for_each(cut);
        let steps: [fn(&mut Self); 3] = [
            |it| it.input_cut |= it.updated_input.take().is_some(),
            |it| it.input_cut |= it.input.take().is_some(),
            |it| it.each_text(cut),
        ];
        for shorten in steps {
            if self.fits_with(of_others)? {
                break;
            }
            shorten(self);
        }
        let all = self.hooks.len();
        let (mut fit, mut too_many) = (0, all + 1);
        while fit + 1 < too_many {
            let middle = usize::midpoint(fit, too_many);
            if self.fits_with(middle)? {
                fit = middle;
            } else {
                too_many = middle;
            }
        }
        self.keep(fit);
        self.hooks_cut = fit < all;
        let short = std::mem::replace(&mut self.message, message);
        if !self.fits_with(fit)? {
            self.message = short;
        }
        Ok(())
    }

    /// Returns whether the record is short enough with its first hooks alone.
    fn fits_with(&mut self, hooks: usize) -> serde_json::Result<bool> {
        let failed_open = self.failed_open.clone();
        let rest = self.keep(hooks);
        let length = serde_json::to_vec(&self)?.len();
        self.hooks.extend(rest);
        self.failed_open = failed_open;
        // `hooks_cut` may be added.
        Ok(length + 32 < LONGEST)
    }

    /// Keeps the first hooks and the names of those that failed among them. Returns the other hooks.
    fn keep(&mut self, hooks: usize) -> Vec<HookReport> {
        let rest = self.hooks.split_off(hooks);
        let names: HashSet<&str> = self.hooks.iter().map(|report| report.name.as_str()).collect();
        self.failed_open.retain(|name| names.contains(name.as_str()));
        rest
    }

    /// Changes every text that came from outside, but for the input.
    fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        change(&mut self.session);
        self.tool.iter_mut().chain(&mut self.agent).chain(&mut self.message).for_each(&mut change);
        if let Some(ApprovalReport { by, channel, .. }) = self.approval.as_deref_mut() {
            by.iter_mut().chain(channel).for_each(&mut change);
        }
        for report in &mut self.hooks {
            change(&mut report.name);
            report.reason.iter_mut().chain(&mut report.error).for_each(&mut change);
        }
        self.failed_open.iter_mut().for_each(change);
    }
}

const fn is_of_project(report: &HookReport) -> bool {
    report.rank >= Layer::Project.rank()
}

/// Leaves out a text that is longer than `most`, in bytes.
fn leave_out(text: &mut String, most: usize) {
    if text.len() > most {
        *text = format!("[{} bytes, left out]", text.len());
    }
}

/// Cuts a text of a record that is too long.
fn cut(text: &mut String) {
    *text = text.chars().take(LONGEST_TEXT).collect();
}

/// Returns the trace, the span and the flags that a `traceparent` names, each in hexadecimal.
pub fn read_traceparent(text: &str) -> Option<[&str; 3]> {
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, span, flags] = parts[..] else { return None };
    let is_id = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_set = |part: &str| part.bytes().any(|it| it != b'0');
    let is_one = version == "00"
        && is_id(trace, 32)
        && is_id(span, 16)
        && is_id(flags, 2)
        && is_set(trace)
        && is_set(span);
    is_one.then_some([trace, span, flags])
}

/// Returns the fields of a verdict that change something, by name.
pub fn rewritten(verdict: &Verdict) -> Vec<String> {
    [
        ("updated_input", verdict.updated_input.is_some()),
        ("updated_tool_name", verdict.updated_tool_name.is_some()),
        ("updated_messages", verdict.updated_messages.is_some()),
        ("updated_request", verdict.updated_request.is_some()),
        ("updated_response", verdict.updated_response.is_some()),
        ("updated_tool_response", verdict.updated_tool_response.is_some()),
        ("respond", verdict.respond.is_some()),
    ]
    .into_iter()
    .filter(|(_, changed)| *changed)
    .map(|(name, _)| name.to_owned())
    .collect()
}

#[cfg(test)]
mod tests;
