//! One line of the decision log.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::policy::State;
use hookexec::config::PolicySettings;
use hookexec::wire::{ApprovalReport, HookReport, JsonObject, Mode, deserialize_exact};
use hookexec::{Config, Decision, Event, Input, Verdict};
use hookexec_builtins::audit_log::clean;
use hookexec_builtins::secrets::Redactor;
use hookexec_files::text;

/// How each record begins, by which the rest of a record that was cut is found. Inside a text the
/// quotes would be escaped.
pub const BEGINNING: &str = "{\"v\":1,\"time\":\"";
/// The longest record, in bytes: it is appended by one write.
const LONGEST: usize = 64 * 1024;

/// The record of the decision at one event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The strictest decision; `null` when no hook had an opinion.
    pub decision: Option<Decision>,
    /// Whether it could go on.
    pub allowed: bool,
    /// The reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The answer of a person at `approval`: who answered, when, over which hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<ApprovalReport>>,
    /// The fields of the verdict that changed something: `updated_input`, ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten: Vec<String>,
    /// The arguments as they were rewritten, when the input is recorded, too.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "exact_object")]
    pub updated_input: Option<JsonObject>,
    /// The hooks that ended in an error or failed while the event went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_open: Vec<String>,
    /// The report of each hook, without its output.
    pub hooks: Vec<HookReport>,
    /// How long the event took, in milliseconds.
    pub duration_ms: f64,
    /// The span that the event belongs to, in the words of W3C Trace Context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// A digest of the hooks files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub config: String,
    /// The policies that come from elsewhere, as they were at the event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<PolicyRecord>,
    /// The input, when it is recorded, without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "exact_value")]
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

/// Reads a field that holds any JSON; `null` counts as absent.
fn exact_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let value = deserialize_exact(deserializer)?;
    if value.is_null() { Ok(None) } else { Ok(Some(value)) }
}

/// Reads a field that holds an object; `null` counts as absent.
fn exact_object<'de, D>(deserializer: D) -> Result<Option<JsonObject>, D::Error>
where
    D: Deserializer<'de>,
{
    match exact_value(deserializer)? {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(D::Error::custom("`updated_input` must be an object")),
    }
}

/// A policy that comes from elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PolicyRecord {
    /// Where it comes from.
    pub(crate) source: String,
    /// The version in force; none before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u64>,
    /// The digest of its archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// How many seconds ago the source was last seen to have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) age_s: Option<u64>,
    /// Why it could not be used: what fails closed was denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    /// Why the last refresh failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) refresh_failed: String,
}

impl PolicyRecord {
    /// Returns what is known about a policy of `config` in this state, but for its age.
    pub(crate) fn new(config: &Config, settings: &PolicySettings, state: &State) -> Self {
        let (source, refresh_failed) = (settings.source.to_string(), state.problem.clone());
        let mut record = Self { source, refresh_failed, ..Self::default() };
        if let Some(in_force) = &state.in_force {
            record.version = Some(in_force.version);
            record.digest = Some(format!("sha256:{}", in_force.digest));
        }
        let mut failed = config.failed.iter();
        if let Some(failed) = failed.find(|file| file.location == settings.location) {
            record.failure = Some(failed.cause.to_string());
        }
        record
    }
}

impl Record {
    /// Returns the hooks whose answer did not count, for their `mode`, and would have made the
    /// verdict stricter.
    pub fn would_change(&self) -> impl Iterator<Item = &HookReport> {
        self.hooks.iter().filter(|report| {
            report.mode.unwrap_or_default() != Mode::Enforce
                && report.decision > Some(Decision::Allow)
                && report.decision > self.decision
        })
    }

    /// Returns the hooks whose answer is the decision.
    pub fn deciding(&self) -> impl Iterator<Item = &HookReport> {
        self.hooks.iter().filter(|report| {
            report.mode.unwrap_or_default() == Mode::Enforce
                && report.decision.is_some()
                && report.decision == self.decision
        })
    }

    /// Returns the record of a verdict, without the input and without texts that are longer than a record.
    pub fn new(time: String, input: &Input, verdict: &Verdict, duration_ms: f64) -> Self {
        let mut hooks = verdict.hooks.clone();
        for report in &mut hooks {
            (report.stdout, report.stderr) = (None, None);
            report.warnings.clear();
        }
        let mut record = Self {
            // The format that is written; a later one may add fields.
            v: 1,
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
            failed_open: verdict.failed_open.clone(),
            hooks,
            duration_ms,
            ..Self::default()
        };
        record.each_text(leave_out_if_too_long);
        record
    }

    /// Adds the input, and the arguments as they were rewritten.
    pub(crate) fn with_input(
        mut self,
        input: &Input,
        updated_input: Option<JsonObject>,
        redactor: &Redactor,
    ) -> Self {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(input) else { return self };
        self.updated_input = updated_input;
        for part in [Some(&mut fields), self.updated_input.as_mut()].into_iter().flatten() {
            let cleaned = clean(redactor, part);
            self.input_cut |= cleaned.cut;
            self.input_redacted |= cleaned.redacted;
        }
        self.input = Some(Value::Object(fields));
        self
    }

    /// Returns the line to write, without secrets. One that would be too long has no inputs. If that is not
    /// enough, the last hooks are left out.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn line(mut self, redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
        // Before anything is cut: the rest of a secret has another shape.
        self.each_text(|text| *text = redactor.redact(text).into_owned());
        self.each_text(cut);
        let mut line = serde_json::to_vec(&self)?;
        if line.len() >= LONGEST {
            let (input, updated_input) = (self.input.take(), self.updated_input.take());
            self.input_cut |= input.is_some() || updated_input.is_some();
            line = serde_json::to_vec(&self)?;
        }
        let mut kept = self.hooks.len();
        while line.len() >= LONGEST && kept > 0 {
            kept /= 2;
            self.hooks_cut = true;
            self.hooks.truncate(kept);
            let hooks = &self.hooks;
            self.failed_open.retain(|name| hooks.iter().any(|hook| hook.name == *name));
            self.failed_open.truncate(kept);
            line = serde_json::to_vec(&self)?;
        }
        line.push(b'\n');
        Ok(line)
    }

    /// Changes every text that came from outside, but for the input.
    fn each_text(&mut self, mut change: impl FnMut(&mut String)) {
        change(&mut self.session);
        let mut texts = vec![&mut self.tool, &mut self.agent, &mut self.message];
        if let Some(ApprovalReport { by, channel, .. }) = self.approval.as_deref_mut() {
            texts.extend([by, channel]);
        }
        for report in &mut self.hooks {
            change(&mut report.name);
            texts.extend([&mut report.reason, &mut report.error]);
        }
        texts.into_iter().flatten().for_each(&mut change);
        for policy in &mut self.policies {
            policy.failure.iter_mut().for_each(&mut change);
            change(&mut policy.refresh_failed);
        }
        self.failed_open.iter_mut().for_each(change);
    }
}

/// Leaves out a text that is longer than any record: the time to redact it would cost other records their
/// place. It goes as a whole, because what is cut from a secret is not found.
fn leave_out_if_too_long(text: &mut String) {
    if text.len() > LONGEST {
        *text = format!("[{} bytes, left out]", text.len());
    }
}

/// Cuts a text that takes more than 4096 bytes in JSON.
fn cut(text: &mut String) {
    let mut length = 0;
    for (index, letter) in text.char_indices() {
        length += match letter {
            '"' | '\\' => 2,
            // As `\u0001`.
            _ if letter.is_control() => 6,
            _ => letter.len_utf8(),
        };
        if length > 4096 {
            *text = text::cut(text, index).into_owned();
            return;
        }
    }
}

/// Returns a text that is a `traceparent`: a version, a trace, a span and flags. Anything else could be a
/// secret.
pub(super) fn span(text: Option<&str>) -> Option<String> {
    let text = text?;
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    let is_plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    let is_span = is_plain && text.starts_with("00-") && lengths == [2, 32, 16, 2];
    if is_span { Some(text.to_owned()) } else { None }
}

/// Returns the fields of a verdict that change something, by name.
pub fn rewritten(verdict: &Verdict) -> Vec<String> {
    let mut names = Vec::new();
    for (name, changed) in [
        ("updated_input", verdict.updated_input.is_some()),
        ("updated_tool_name", verdict.updated_tool_name.is_some()),
        ("updated_messages", verdict.updated_messages.is_some()),
        ("updated_request", verdict.updated_request.is_some()),
        ("updated_response", verdict.updated_response.is_some()),
        ("updated_tool_response", verdict.updated_tool_response.is_some()),
        ("respond", verdict.respond.is_some()),
    ] {
        if changed {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests;
