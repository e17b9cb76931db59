//! `redact_secrets`: keeps secrets from tools, from the model and from transcripts.

use std::sync::Arc;

use serde_json::Value;

use super::secrets::Redactor;
use super::{BuiltinError, Surroundings, Work, arguments};
use hookexec::{Event, Input, Output, Rewrite};

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    arguments::none(args)?;
    let redactor = Redactor::new(surroundings.env());
    Ok(Arc::new(move |input| {
        let Some(event) = input.hook_event_name else { return Ok(None) };
        Ok(match event.contract().rewrite {
            Rewrite::ToolInput => tool_input(&redactor, input),
            Rewrite::Request => messages(&redactor, input),
            Rewrite::Response => clean(&redactor, input.response.as_ref()).map(Output::response),
            Rewrite::ToolResponse => {
                clean(&redactor, input.tool_response.as_ref()).map(Output::tool_response)
            }
            // The check at load keeps it from other events.
            Rewrite::None => None,
            _ => return Err("it does not know how this event is rewritten".into()),
        })
    }))
}

/// Withholds everything: a value that was not searched may hold any secret.
pub(super) fn withheld(event: Event) -> Option<Output> {
    const WITHHELD: &str = "[withheld: secrets could not be taken out of it]";
    let contract = event.contract();
    match contract.rewrite {
        Rewrite::ToolResponse => Some(Output::tool_response(WITHHELD)),
        Rewrite::Response => Some(Output::response(WITHHELD)),
        _ if contract.may_block => Some(Output::deny(WITHHELD)),
        _ => None,
    }
}

/// Patches the arguments that held a secret; a secret in a key needs the whole replaced.
fn tool_input(redactor: &Redactor, input: &Input) -> Option<Output> {
    let before = input.tool_input.as_ref()?;
    let mut after = before.clone();
    if !redactor.redact_object(&mut after) {
        return None;
    }
    if before.keys().any(|key| !after.contains_key(key)) {
        return Some(Output::replace_input(after));
    }
    after.retain(|key, value| before.get(key) != Some(value));
    Some(Output::patch_input(after))
}

fn messages(redactor: &Redactor, input: &Input) -> Option<Output> {
    let mut messages = input.messages.clone()?;
    if redactor.redact_values(&mut messages) { Some(Output::messages(messages)) } else { None }
}

fn clean(redactor: &Redactor, value: Option<&Value>) -> Option<Value> {
    let mut value = value?.clone();
    if redactor.redact_value(&mut value) { Some(value) } else { None }
}
