//! Reads the changes that a process made, or its answer in a tool's place.
//!
//! Only what differs from what the process was told becomes a change, so an echo changes nothing.

use serde::Deserialize as _;
use serde_json::Value;

use super::answer::{Misread, present, unknown_keys};
use super::stage::{Answer, ECHOED, is_tool_result, model_response, tool_result};
use crate::suggest;
use crate::wire::{
    Input, InputChange, JsonObject, Output, RequestChange, ToolResult, is_empty, parse_strict,
    same_json,
};

/// The keys of a tool result.
const RESULT_KEYS: [&str; 8] = [
    "for_llm", "for_user", "silent", "is_error", "async", "media", "artifact_tags",
    "response_handled",
];

/// Reads the part of an answer that may hold changes.
pub(super) fn read(answer: Answer, body: Value, input: &Input) -> Result<Output, Misread> {
    match answer {
        Answer::Request => request(map("request", body)?, input),
        Answer::Response => response(map("response", body)?, input),
        Answer::Call => call(map("call", body)?, input),
        Answer::ToolResult => after_tool(map("result", body)?, input),
        Answer::Approval => Ok(Output::default()),
    }
}

/// Reads an answer given in the tool's place: `result`, or PicoClaw's `call.hook_result`.
pub(super) fn respond(result: Option<Value>, call: Option<&Value>) -> Result<Output, Misread> {
    let within = call.and_then(|call| call.get("hook_result")).cloned();
    match present(result).or(present(within)) {
        Some(Value::Object(result)) => Ok(Output::respond(tool_result_of(result)?)),
        Some(_) => Err("`result` must be an object".to_owned()),
        None => Err("`respond` needs `result`, what the tool would have returned".to_owned()),
    }
}

/// Keys that are given replace those of the request; the others stay.
fn request(mut request: JsonObject, input: &Input) -> Result<Output, Misread> {
    const KEYS: [&str; 4] = ["model", "messages", "tools", "options"];
    refuse_unknown_keys(&request, &KEYS, "request.")?;
    let mut change = RequestChange::default();
    let mut output = Output::default();
    // PicoClaw keeps its model when a hook leaves it empty.
    change.model = text("request.model", request.remove("model"))?
        .filter(|model| !model.is_empty() && Some(model) != input.model_id.as_ref());
    output.updated_messages = changed_list(&mut request, "messages", input.messages.as_deref())?;
    change.tools = changed_list(&mut request, "tools", input.tools.as_deref())?;
    if let Some(options) = present(request.remove("options")) {
        let options = map("request.options", options)?;
        change.options = changed_map(options, input.options.as_ref());
    }
    if !change.is_empty() {
        output.updated_request = Some(change);
    }
    Ok(output)
}

/// `{model, response}` as PicoClaw nests it, or the response itself.
fn response(mut answer: JsonObject, input: &Input) -> Result<Output, Misread> {
    let new = if answer.keys().all(|key| is_wrapping(key)) {
        match present(answer.remove("response")) {
            Some(response @ Value::Object(_)) => response,
            Some(_) => return Err("`response.response` must be an object".to_owned()),
            None => return Err("`response` holds no response: give the whole new one".to_owned()),
        }
    } else {
        Value::Object(answer)
    };
    let mut output = Output::default();
    if model_response(input).is_some_and(|sent| same_json(&sent, &new)) {
        return Ok(output);
    }
    output.updated_response = match &input.response {
        Some(Value::String(text)) => match only_content(&new) {
            Some(content) if content == text => None,
            Some(content) => Some(content.into()),
            None => Some(new),
        },
        Some(before) => Some(keep(before, new)),
        None => Some(new),
    };
    Ok(output)
}

fn is_wrapping(key: &str) -> bool {
    key == "model" || key == "response" || ECHOED.contains(&key)
}

/// Returns the text of a response that is nothing but text.
fn only_content(response: &Value) -> Option<&str> {
    let response = response.as_object()?;
    let alone = response.iter().all(|(key, value)| key == "content" || is_empty(value));
    response.get("content").filter(|_| alone)?.as_str()
}

/// A tool or arguments that are given replace those of the call; what is missing stays.
fn call(mut call: JsonObject, input: &Input) -> Result<Output, Misread> {
    const KEYS: [&str; 3] = ["tool", "arguments", "hook_result"];
    refuse_unknown_keys(&call, &KEYS, "call.")?;
    if present(call.remove("hook_result")).is_some() {
        return Err(
            "`call.hook_result` answers in the tool's place, which needs the action `respond`"
                .to_owned(),
        );
    }
    let mut output = Output::default();
    let tool = text("call.tool", call.remove("tool"))?;
    if tool.as_deref() == Some("") {
        return Err("`call.tool` is empty".to_owned());
    }
    output.updated_tool_name = tool.filter(|tool| tool != input.tool());
    if let Some(arguments) = present(call.remove("arguments")) {
        let arguments = map("call.arguments", arguments)?;
        output.updated_input =
            changed_map(arguments, input.tool_input.as_ref()).map(InputChange::Replace);
    }
    Ok(output)
}

/// `{tool, result, ...}` as PicoClaw nests it, or the result itself. It replaces the whole result:
/// a key that a hook took out must not come back.
fn after_tool(mut answer: JsonObject, input: &Input) -> Result<Output, Misread> {
    const WRAPPING: [&str; 4] = ["tool", "arguments", "result", "duration"];
    let nested = answer.contains_key("result")
        || !answer.keys().any(|key| RESULT_KEYS.contains(&key.as_str()));
    let new = if nested {
        if let Some(mut problem) = unknown_keys(&answer, &WRAPPING, &ECHOED, "result.").next() {
            let key = problem.key.trim_start_matches("result.");
            problem.suggestion = problem.suggestion.or(suggest::closest(key, RESULT_KEYS));
            return Err(problem.to_string());
        }
        match present(answer.remove("result")) {
            Some(result) => map("result.result", result)?,
            None => return Err("`result` holds no result: give the whole new one".to_owned()),
        }
    } else {
        answer
    };
    let written = Value::Object(new.clone());
    let new = tool_result_of(new)?;
    let Some(sent) = tool_result(input) else { return Ok(Output::tool_response(new)) };
    // A host's own result may be of no shape that we know; then it is compared as it is written.
    let before = shaped(&sent).ok();
    if same_json(&sent, &written) {
        return Ok(Output::default());
    }
    if let Some(before) = &before
        && same_json(&before.clone().into(), &new.clone().into())
    {
        return Ok(Output::default());
    }
    let only_text =
        before.is_some_and(|before| ToolResult { for_llm: new.for_llm.clone(), ..before } == new);
    Ok(match &input.tool_response {
        Some(result) if is_tool_result(result) => Output::tool_response(keep(result, written)),
        Some(Value::String(_)) if only_text => Output::tool_response(new.for_llm),
        Some(other) if only_text => Output::tool_response(as_before(other, new.for_llm)),
        _ => Output::tool_response(new),
    })
}

/// Returns the text that took the place of `other` as what `other` was, when it still is that.
fn as_before(other: &Value, text: String) -> Value {
    match parse_strict(&text) {
        Ok(value)
            if value.is_object() == other.is_object() && value.is_array() == other.is_array() =>
        {
            keep(other, value)
        }
        _ => text.into(),
    }
}

/// Reads a tool result, in which `for_llm` must be.
fn tool_result_of(mut result: JsonObject) -> Result<ToolResult, Misread> {
    result.retain(|_, value| !value.is_null());
    // Other keys are the host's own.
    match result.get("for_llm") {
        Some(Value::String(_)) => {}
        Some(_) => return Err("`result.for_llm` must be a string".to_owned()),
        None => {
            let misspelt = unknown_keys(&result, &RESULT_KEYS, &[], "result.").next();
            return Err(misspelt.map_or_else(
                || "`result.for_llm` is missing: the text for the model".to_owned(),
                |key| key.to_string(),
            ));
        }
    }
    shaped(&Value::Object(result))
}

fn shaped(result: &Value) -> Result<ToolResult, Misread> {
    ToolResult::deserialize(result)
        .map_err(|error| format!("`result` is not of the documented shape: {error}"))
}

fn changed_list(
    request: &mut JsonObject,
    key: &str,
    before: Option<&[Value]>,
) -> Result<Option<Vec<Value>>, Misread> {
    let Some(list) = present(request.remove(key)) else { return Ok(None) };
    let Value::Array(new) = list else { return Err(format!("`request.{key}` must be an array")) };
    let before = before.unwrap_or_default();
    let unchanged =
        before.len() == new.len() && before.iter().zip(&new).all(|(old, new)| same_json(old, new));
    if unchanged {
        return Ok(None);
    }
    let kept = new.into_iter().enumerate().map(|(index, new)| match before.get(index) {
        Some(old) => keep(old, new),
        None => new,
    });
    Ok(Some(kept.collect()))
}

fn changed_map(new: JsonObject, before: Option<&JsonObject>) -> Option<JsonObject> {
    let empty = JsonObject::new();
    let before = Value::Object(before.unwrap_or(&empty).clone());
    let new = Value::Object(new);
    if same_json(&before, &new) {
        return None;
    }
    match keep(&before, new) {
        Value::Object(new) => Some(new),
        _ => None,
    }
}

fn refuse_unknown_keys(
    object: &JsonObject,
    known: &'static [&'static str],
    within: &str,
) -> Result<(), Misread> {
    match unknown_keys(object, known, &ECHOED, within).next() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(()),
    }
}

fn text(key: &str, value: Option<Value>) -> Result<Option<String>, Misread> {
    match present(value) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` must be a string")),
    }
}

fn map(key: &str, value: Value) -> Result<JsonObject, Misread> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(format!("`{key}` must be an object")),
    }
}

/// Returns `new` with everything that means the same as in `old` as it was written there.
///
/// A child that echoes what it was sent has changed nothing, also when its language writes `1.0` as
/// `1`, or a number of 23 digits as a float.
fn keep(old: &Value, new: Value) -> Value {
    match (old, new) {
        (old, new) if same_json(old, &new) => old.clone(),
        (Value::Object(old), Value::Object(new)) => new
            .into_iter()
            .map(|(key, value)| {
                let value = match old.get(&key) {
                    Some(old) => keep(old, value),
                    None => value,
                };
                (key, value)
            })
            .collect(),
        (Value::Array(old), Value::Array(new)) => new
            .into_iter()
            .enumerate()
            .map(|(index, value)| match old.get(index) {
                Some(old) => keep(old, value),
                None => value,
            })
            .collect(),
        (_, new) => new,
    }
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
