//! Reads the answer of a process into an [`Output`].
//!
//! Keys and words are exact, and anything else is a failure: a misspelt key of a guard must not read
//! as "no opinion". A denial counts even if the answer has unknown keys beside it.

use serde_json::Value;

use super::rewrite;
use super::stage::{ACTIONS, Action, Answer, Stage};
use crate::suggest;
use crate::wire::{
    Decision, Input, JsonObject, Output, Stop, StopScope, UnknownKey, parse_object, widest,
};

/// Why an answer can't be used, in words that follow "its answer can't be used: ".
pub(in crate::handlers::process) type Misread = String;

/// Reads the answer to `hook.<event>` for an event that PicoClaw does not know.
pub(in crate::handlers::process) fn read_output(text: &str) -> Result<Output, Misread> {
    let Some(answer) = parse_object(text)? else { return Ok(Output::default()) };
    let output = Output::from_value(Value::Object(answer)).map_err(|error| error.to_string())?;
    settled(output)
}

impl Stage {
    /// Reads the answer to one of PicoClaw's methods.
    pub(in crate::handlers::process) fn read(
        &self,
        text: &str,
        input: &Input,
    ) -> Result<Output, Misread> {
        let answer = parse_object(text)?.unwrap_or_default();
        if answer.is_empty() && self.answer != Answer::Approval {
            return Ok(Output::default());
        }
        if answer.keys().all(|key| self.keys().contains(&key.as_str())) {
            return self.picoclaw(answer, input);
        }
        self.mixed(answer, input)
    }

    /// Reads an answer with keys that PicoClaw does not have. If it is written in our own words alone,
    /// it is read as at every other event. Beside PicoClaw's keys only a denial counts.
    fn mixed(&self, answer: JsonObject, input: &Input) -> Result<Output, Misread> {
        let own = Output::from_value(Value::Object(answer.clone()));
        // A reason is a word of both languages.
        if answer.keys().any(|key| key != "reason" && self.keys().contains(&key.as_str())) {
            let picoclaw = self.picoclaw(answer, input);
            return match own {
                Ok(own) if own.denies_or_asks() => Ok(stricter(own, picoclaw)),
                _ => picoclaw,
            };
        }
        let own = own.map_err(|error| error.to_string())?;
        let ambiguous = usize::from(answer.contains_key("reason"));
        if own.unknown_keys.len() + ambiguous >= answer.len() {
            return self.picoclaw(answer, input);
        }
        let own = settled(own)?;
        if self.answer == Answer::Approval && own.decision.is_none() && own.stop.is_none() {
            return Err("`approved` is missing".to_owned());
        }
        Ok(own)
    }

    fn picoclaw(&self, answer: JsonObject, input: &Input) -> Result<Output, Misread> {
        match self.answer {
            Answer::Approval => self.approval(answer),
            _ => self.intercepted(answer, input),
        }
    }

    fn approval(&self, mut answer: JsonObject) -> Result<Output, Misread> {
        let approved = answer.remove("approved");
        if approved == Some(Value::Bool(false)) {
            return Ok(self.denial(&answer, None));
        }
        let reason = reason(answer.get("reason"))?;
        if let Some(problem) = self.unknown_key(&answer) {
            return Err(problem);
        }
        match approved {
            Some(Value::Bool(_)) => Ok(Output { reason, ..Output::allow() }),
            None | Some(Value::Null) => {
                Err("`approved` is missing: an approval says true or false".to_owned())
            }
            Some(_) => Err("`approved` must be true or false".to_owned()),
        }
    }

    fn intercepted(&self, mut answer: JsonObject, input: &Input) -> Result<Output, Misread> {
        let action = self.action(answer.remove("action"))?;
        let stop = match action {
            Some(Action::DenyTool) => return Ok(self.denial(&answer, None)),
            Some(Action::AbortTurn) => Some(StopScope::Turn),
            Some(Action::HardAbort) => Some(StopScope::Session),
            _ => None,
        };
        if let Some(scope) = stop {
            return Ok(self.denial(&answer, Some(scope)));
        }
        if let Some(problem) = self.unknown_key(&answer) {
            return Err(problem);
        }
        let said = reason(answer.remove("reason").as_ref())?;
        let result =
            if self.answer == Answer::Call { present(answer.remove("result")) } else { None };
        let body = present(answer.remove(self.body()));
        if action == Some(Action::Respond) {
            return rewrite::respond(result, body.as_ref());
        }
        if result.is_some() {
            return Err(
                "`result` answers in the tool's place, which needs the action `respond`".to_owned()
            );
        }
        match (action, body) {
            (Some(Action::Modify), None) => Err(format!(
                "`modify` needs `{0}`: give the changed {0}, or say `continue`",
                self.body()
            )),
            (None, None) if said.is_some() => {
                Err(format!("a reason without an action; add `action`: {}", self.actions()))
            }
            (_, None) => Ok(Output::default()),
            // PicoClaw takes a changed body along with `continue`, and so hooks rely on it.
            (_, Some(body)) => rewrite::read(self.answer, body, input),
        }
    }

    fn action(&self, action: Option<Value>) -> Result<Option<Action>, Misread> {
        let name = match present(action) {
            None => return Ok(None),
            Some(Value::String(name)) if name.is_empty() => return Ok(None),
            Some(Value::String(name)) => name,
            Some(_) => return Err("`action` must be a string".to_owned()),
        };
        let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == name) else {
            let meant = suggest::closest(&name, ACTIONS.map(|(known, _)| known));
            return Err(format!("unknown action `{name}`{}", suggest::did_you_mean(meant)));
        };
        if !self.allows(*action) {
            return Err(format!(
                "the action `{name}` can't be used at `{}`; there are {}",
                self.method,
                self.actions()
            ));
        }
        Ok(Some(*action))
    }

    fn actions(&self) -> String {
        let allowed = ACTIONS.iter().filter(|(_, action)| self.allows(*action));
        allowed.map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// The key of what may be changed.
    fn body(&self) -> &'static str {
        self.keys().last().copied().unwrap_or_default()
    }

    /// Reads a denial. It is heard whatever stands beside it; what can't be read is reported.
    fn denial(&self, answer: &JsonObject, stop: Option<StopScope>) -> Output {
        let said = reason(answer.get("reason")).unwrap_or_default();
        let mut output = Output { reason: said.clone(), ..Output::default() };
        match stop {
            Some(scope) => output.stop = Some(Stop::new(scope, said.unwrap_or_default())),
            None => output.decision = Some(Decision::Deny),
        }
        output.unknown_keys = self.unknown_keys(answer).collect();
        output
    }

    fn unknown_key(&self, answer: &JsonObject) -> Option<Misread> {
        self.unknown_keys(answer).next().map(|key| key.to_string())
    }

    fn unknown_keys(&self, answer: &JsonObject) -> impl Iterator<Item = UnknownKey> {
        unknown_keys(answer, self.keys(), &[], "")
    }
}

/// Returns the denial of an answer in our own words, made as strict as `picoclaw`, what PicoClaw's keys
/// beside it say.
fn stricter(mut own: Output, picoclaw: Result<Output, Misread>) -> Output {
    if let Ok(picoclaw) = picoclaw {
        own.decision = own.decision.max(picoclaw.decision);
        own.stop = widest(own.stop, picoclaw.stop);
    }
    own
}

/// Returns every key of `object` that is neither known nor ignored.
pub(super) fn unknown_keys(
    object: &JsonObject,
    known: &'static [&'static str],
    ignored: &'static [&'static str],
    within: &str,
) -> impl Iterator<Item = UnknownKey> {
    let strange =
        |key: &&String| !known.contains(&key.as_str()) && !ignored.contains(&key.as_str());
    object.keys().filter(strange).map(move |key| UnknownKey {
        key: format!("{within}{key}"),
        suggestion: suggest::closest(key, known.iter().copied()),
    })
}

/// Returns a value that is there and not `null`: languages write what is missing either way.
pub(super) fn present(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_null())
}

/// Refuses an answer with unknown keys, unless it denies.
fn settled(output: Output) -> Result<Output, Misread> {
    match output.unknown_keys.first() {
        Some(problem) if !output.denies_or_asks() => Err(problem.to_string()),
        _ => Ok(output),
    }
}

fn reason(value: Option<&Value>) -> Result<Option<String>, Misread> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err("`reason` must be a string".to_owned()),
    }
}
