//! Reads the answer of a process into an [`Output`].
//!
//! Keys and words are exact, and anything else is a failure: a misspelt key of a guard must not read
//! as "no opinion". A denial counts even if the answer has unknown keys beside it.

use serde_json::Value;

use super::params::ECHOED;
use super::rewrite;
use crate::config::process::Stage;
use crate::event::Event;
use crate::suggest;
use crate::wire::{Input, JsonObject, Output, Present, Stop, StopScope, UnknownKey};
use hookexec_files::json::parse_object;

/// Why an answer can't be used, in words that follow "its answer can't be used: ".
pub(in crate::handlers::process) type Misread = String;

/// Reads the answer to `hook.<event>` for an event that PicoClaw does not know.
pub(in crate::handlers::process) fn read_output(text: &str) -> Result<Output, Misread> {
    match object(text)? {
        Some(answer) => checked(own_words(answer)?),
        None => Ok(Output::default()),
    }
}

fn object(text: &str) -> Result<Option<JsonObject>, Misread> {
    parse_object(text).map_err(|error| error.to_string())
}

impl Stage {
    /// Reads the answer to one of PicoClaw's methods.
    ///
    /// An answer in our own words alone is read as at every other event. Beside PicoClaw's keys only
    /// a denial or an ask in our words counts.
    pub(in crate::handlers::process) fn read(
        self,
        text: &str,
        input: &Input,
    ) -> Result<Output, Misread> {
        let answer = object(text)?.unwrap_or_default();
        if answer.is_empty() && !self.approves() {
            return Ok(Output::default());
        }
        if let Some(denial) = self.denial(&answer) {
            return Ok(denial);
        }
        if answer.keys().all(|key| self.keys.contains(&key.as_str())) {
            return self.picoclaw(answer, input);
        }
        let own = own_words(answer.clone())?;
        if own.denies_or_asks() {
            return Ok(own);
        }
        // A reason is a word of both languages.
        let has_reason = answer.contains_key("reason");
        let is_mixed =
            answer.keys().any(|key| key != "reason" && self.keys.contains(&key.as_str()));
        if is_mixed || own.unknown_keys.len() + usize::from(has_reason) >= answer.len() {
            return self.picoclaw(answer, input);
        }
        if self.approves() && own.decision.is_none() {
            return Err("`approved` is missing".to_owned());
        }
        checked(own)
    }

    /// Reads an answer in PicoClaw's words that does not deny.
    fn picoclaw(self, answer: JsonObject, input: &Input) -> Result<Output, Misread> {
        let mut part = Part::new("", answer);
        if self.approves() {
            return approval(part, self.keys);
        }
        let action = part.get::<String>("action")?.unwrap_or_default();
        if !action.is_empty() && !self.actions.contains(&action.as_str()) {
            let method = self.method;
            let hint = suggest::hint_or_list(&action, self.actions.iter().copied(), "use one of");
            return Err(format!("`{action}` is not an action of `{method}`; {hint}"));
        }
        part.refuse_unknown_keys(self.keys)?;
        let has_reason = part.get::<String>("reason")?.is_some_and(|reason| !reason.is_empty());
        let result = match self.event {
            Event::PreToolUse => part.get("result")?,
            _ => None,
        };
        let name = self.keys.last().copied().unwrap_or_default();
        let body = part.get(name)?;
        if action == "respond" {
            return rewrite::respond(result, body);
        }
        if result.is_some() {
            return Err(rewrite::NEEDS_RESPOND.to_owned());
        }
        match body {
            // PicoClaw takes a changed body along with `continue`, and so hooks rely on it.
            Some(body) => self.changes(Part::new(name, body), input),
            None if action == "modify" => {
                Err(format!("`modify` needs `{name}`: give the changed {name}, or say `continue`"))
            }
            None if action.is_empty() && has_reason => {
                let actions = self.actions.join("`, `");
                Err(format!("a reason without an action; add `action`: `{actions}`"))
            }
            None => Ok(Output::default()),
        }
    }

    /// Returns the denial in an answer. It counts whatever stands beside it, and unknown keys are
    /// reported.
    fn denial(self, answer: &JsonObject) -> Option<Output> {
        let mut output = Output::default();
        let reason = answer.get("reason").and_then(Value::as_str).unwrap_or_default();
        match (self.event, answer.get("action").and_then(Value::as_str)) {
            (Event::PermissionRequest, _)
                if answer.get("approved") == Some(&Value::Bool(false)) =>
            {
                output = Output::deny(reason);
            }
            (Event::PermissionRequest, _) => return None,
            (Event::PreToolUse, Some("deny_tool")) => output = Output::deny(reason),
            (_, Some("abort_turn")) => output.stop = Some(Stop::new(StopScope::Turn, reason)),
            (_, Some("hard_abort")) => output.stop = Some(Stop::new(StopScope::Session, reason)),
            _ => return None,
        }
        output.reason = if reason.is_empty() { None } else { Some(reason.to_owned()) };
        output.unknown_keys = unknown_keys("", answer, self.keys, &[]);
        Some(output)
    }
}

/// Reads an approval that is not a denial.
fn approval(mut part: Part, keys: &'static [&'static str]) -> Result<Output, Misread> {
    part.refuse_unknown_keys(keys)?;
    let reason = part.get::<String>("reason")?.filter(|reason| !reason.is_empty());
    match part.get::<bool>("approved")? {
        Some(_) => Ok(Output { reason, ..Output::allow() }),
        None => Err("`approved` is missing: an approval says true or false".to_owned()),
    }
}

/// An object of an answer, read key by key; `null` counts as absent.
pub(super) struct Part {
    name: &'static str,
    object: JsonObject,
}

impl Part {
    pub(super) fn new(name: &'static str, object: JsonObject) -> Self {
        Self { name, object }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        match self.object.remove(key) {
            Some(Value::Null) | None => None,
            value => value,
        }
    }

    pub(super) fn get<P: Present>(&mut self, key: &str) -> Result<Option<P>, Misread> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match P::of(value) {
            Ok(value) => Ok(Some(value)),
            Err(wrong) => Err(format!("`{}` must be {}", path(self.name, key), wrong.expected)),
        }
    }

    pub(super) fn refuse_unknown_keys(
        &self,
        known: &'static [&'static str],
    ) -> Result<(), Misread> {
        let echoed = if self.name.is_empty() { &[] } else { &ECHOED[..] };
        match unknown_keys(self.name, &self.object, known, echoed).first() {
            Some(problem) => Err(problem.to_string()),
            None => Ok(()),
        }
    }
}

fn path(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

fn unknown_keys(
    name: &str,
    object: &JsonObject,
    known: &'static [&'static str],
    ignored: &[&str],
) -> Vec<UnknownKey> {
    let mut unknown = Vec::new();
    for key in object.keys() {
        if !known.contains(&key.as_str()) && !ignored.contains(&key.as_str()) {
            let suggestion = suggest::closest(key, known.iter().copied());
            unknown.push(UnknownKey { key: path(name, key), suggestion });
        }
    }
    unknown
}

fn own_words(answer: JsonObject) -> Result<Output, Misread> {
    Output::from_value(Value::Object(answer)).map_err(|error| error.to_string())
}

/// Refuses an answer with unknown keys, unless it denies.
fn checked(output: Output) -> Result<Output, Misread> {
    match output.unknown_keys.first() {
        Some(problem) if !output.denies_or_asks() => Err(problem.to_string()),
        _ => Ok(output),
    }
}
