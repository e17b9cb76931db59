//! Reads the changes that a process made, or its answer in a tool's place.
//!
//! Only what differs from what the process was told becomes a change, so an echo changes nothing.

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::answer::{Misread, Part};
use super::params::{is_tool_result, text_result};
use crate::config::process::Stage;
use crate::event::Event;
use crate::wire::{
    Input, InputChange, JsonObject, Output, Present, RequestChange, ToolResult, parse_strict,
    same_json,
};

pub(super) const NEEDS_RESPOND: &str =
    "a `result` answers in the tool's place, which needs the action `respond`";

/// The body has the form of the params, so the new value is nested in it.
const NOT_NESTED: &str =
    "`NAME` has no key `NAME`: give the whole new one there, nested as in the params";

/// The keys of a tool result.
const RESULT_KEYS: [&str; 8] = [
    "for_llm", "for_user", "silent", "is_error", "async", "media", "artifact_tags",
    "response_handled",
];

impl Stage {
    /// Reads the part of an answer that may hold changes. Keys that are missing stay as they are.
    pub(super) fn changes(self, part: Part, input: &Input) -> Result<Output, Misread> {
        match self.event {
            Event::BeforeLlmCall => request(part, input),
            Event::AfterLlmCall => response(part, input),
            Event::PreToolUse => call(part, input),
            Event::PostToolUse => after_tool(part, input),
            _ => Ok(Output::default()),
        }
    }
}

/// Reads an answer given in the tool's place: `result`, or PicoClaw's `call.hook_result`.
pub(super) fn respond(
    result: Option<JsonObject>,
    call: Option<JsonObject>,
) -> Result<Output, Misread> {
    let within = Part::new("call", call.unwrap_or_default()).get("hook_result")?;
    match result.or(within) {
        Some(result) => Ok(Output::respond(read_result(&result)?)),
        None => Err("`respond` needs `result`, what the tool would have returned".to_owned()),
    }
}

fn request(mut request: Part, input: &Input) -> Result<Output, Misread> {
    request.refuse_unknown_keys(&["model", "messages", "tools", "options"])?;
    let mut output = Output::default();
    let mut change = RequestChange::default();
    // PicoClaw keeps its model when a hook leaves it empty.
    if let Some(model) = request.get::<String>("model")?
        && !model.is_empty()
        && Some(&model) != input.model_id.as_ref()
    {
        change.model = Some(model);
    }
    if let Some(messages) = request.get("messages")? {
        output.updated_messages = changed_part(input.messages.as_ref(), messages);
    }
    if let Some(tools) = request.get("tools")? {
        change.tools = changed_part(input.tools.as_ref(), tools);
    }
    if let Some(options) = request.get("options")? {
        change.options = changed_part(input.options.as_ref(), options);
    }
    if !change.is_empty() {
        output.updated_request = Some(change);
    }
    Ok(output)
}

/// Reads `{model, response}`: the response is the whole new one.
fn response(mut part: Part, input: &Input) -> Result<Output, Misread> {
    let Some(new) = part.get("response")? else {
        return Err(NOT_NESTED.replace("NAME", "response"));
    };
    part.refuse_unknown_keys(&["model"])?;
    let updated_response = match &input.response {
        Some(Value::String(text)) => match only_content(&new) {
            Some(content) if content == text => None,
            Some(content) => Some(content.into()),
            None => Some(new.into()),
        },
        Some(before) => changed(before, new.into()),
        None => Some(new.into()),
    };
    Ok(Output { updated_response, ..Output::default() })
}

/// Returns the text of a response that is nothing but text.
fn only_content(response: &JsonObject) -> Option<&str> {
    let nothing = [Value::Null, json!(""), json!([]), json!({})];
    for (key, value) in response {
        if key != "content" && !nothing.contains(value) {
            return None;
        }
    }
    response.get("content")?.as_str()
}

fn call(mut call: Part, input: &Input) -> Result<Output, Misread> {
    call.refuse_unknown_keys(&["tool", "arguments", "hook_result"])?;
    if call.take("hook_result").is_some() {
        return Err(NEEDS_RESPOND.to_owned());
    }
    let mut output = Output::default();
    match call.get::<String>("tool")? {
        Some(tool) if tool.is_empty() => return Err("`call.tool` is empty".to_owned()),
        Some(tool) if tool != input.tool() => output.updated_tool_name = Some(tool),
        _ => {}
    }
    if let Some(arguments) = call.get("arguments")? {
        let arguments = changed_part(input.tool_input.as_ref(), arguments);
        output.updated_input = arguments.map(InputChange::Replace);
    }
    Ok(output)
}

/// Reads `{tool, arguments, result, duration}`: the result is the whole new one. A key that a hook took
/// out of it must not come back.
fn after_tool(mut part: Part, input: &Input) -> Result<Output, Misread> {
    let Some(written) = part.get("result")? else {
        return Err(NOT_NESTED.replace("NAME", "result"));
    };
    part.refuse_unknown_keys(&["tool", "arguments", "duration"])?;
    let new = read_result(&written)?;
    let updated_tool_response = match (&input.tool_response, text_result(input)) {
        (Some(sent), _) if is_tool_result(sent) => changed(sent, written.into()),
        (_, Some(told)) if told == new => None,
        (Some(sent), Some(told)) if only_text_differs(&told, &new) => {
            Some(in_the_form_of(sent, new.for_llm))
        }
        _ => Some(new.into()),
    };
    Ok(Output { updated_tool_response, ..Output::default() })
}

fn only_text_differs(told: &ToolResult, new: &ToolResult) -> bool {
    let same_text = ToolResult { for_llm: new.for_llm.clone(), ..told.clone() };
    same_text == *new
}

/// Returns the text that took the place of `sent` as JSON if `sent` was, and if it still is.
fn in_the_form_of(sent: &Value, text: String) -> Value {
    match (sent, parse_strict(&text)) {
        (Value::Object(_), Ok(new @ Value::Object(_)))
        | (Value::Array(_), Ok(new @ Value::Array(_))) => keep(sent, new),
        _ => text.into(),
    }
}

/// Reads a tool result, in which `for_llm` must be. Other keys are the host's own.
fn read_result(result: &JsonObject) -> Result<ToolResult, Misread> {
    match result.get("for_llm") {
        Some(Value::String(_)) => {}
        Some(_) => return Err("`result.for_llm` must be a string".to_owned()),
        None => {
            Part::new("result", result.clone()).refuse_unknown_keys(&RESULT_KEYS)?;
            return Err("`result.for_llm` is missing: the text for the model".to_owned());
        }
    }
    let mut result = result.clone();
    result.retain(|_, value| !value.is_null());
    ToolResult::deserialize(Value::Object(result))
        .map_err(|error| format!("`result` is not of the documented shape: {error}"))
}

/// Returns the new value, if it is another one.
fn changed_part<T: Present + Into<Value> + Clone + Default>(
    before: Option<&T>,
    new: T,
) -> Option<T> {
    let before = before.cloned().unwrap_or_default();
    T::of(changed(&before.into(), new.into())?).ok()
}

fn changed(before: &Value, new: Value) -> Option<Value> {
    if same_json(before, &new) { None } else { Some(keep(before, new)) }
}

/// Returns `new` with everything that means the same as in `old` as it was written there.
///
/// A child that echoes what it was sent has changed nothing, also when its language writes `1.0` as
/// `1`, or a number of 23 digits as a float.
fn keep(old: &Value, mut new: Value) -> Value {
    if same_json(old, &new) {
        return old.clone();
    }
    match (old, &mut new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in new {
                if let Some(old) = old.get(key) {
                    *value = keep(old, value.take());
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for (old, value) in old.iter().zip(new) {
                *value = keep(old, value.take());
            }
        }
        _ => {}
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_was_left_alone_stays_as_it_was_written() {
        let old = value(r#"{"id":12345678901234567890123,"list":[1.50,{"x":1.0}],"cmd":"ls"}"#);
        let new = value(r#"{"id":1.2345678901234568e+22,"list":[1.5,{"x":1},7],"cmd":"ls -l"}"#);
        assert_eq!(
            keep(&old, new).to_string(),
            r#"{"cmd":"ls -l","id":12345678901234567890123,"list":[1.50,{"x":1.0},7]}"#
        );
    }
}
