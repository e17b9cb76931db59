//! Keeps the copies of a value in step with its rewrites: in `native`, an agent's own payload, and in
//! `reason` and `stop_response`. Hooks after a redactor must not find there what it took out.

use serde_json::Value;

use super::{Input, JsonObject, parse_strict};

/// The keys under which agents give the response of a tool, or its error.
const RESPONSES: [&str; 6] =
    ["tool_response", "tool_result", "toolResult", "tool_output", "error", "error_message"];
/// Windsurf's word for the argument `command`.
const COMMAND: [&str; 2] = ["command", "command_line"];

impl Input {
    /// Puts the arguments as they are now in the place of each copy of `before`, and of each of its
    /// arguments under its own name.
    pub(crate) fn retell_arguments(&mut self, before: &JsonObject) {
        let Some(native) = &mut self.native else { return };
        let now = self.tool_input.as_ref();
        for (key, value) in before {
            let new = now.and_then(|now| now.get(key));
            if new != Some(value) {
                replace_entries(native, key, value, new);
            }
        }
        let now = Value::Object(now.cloned().unwrap_or_default());
        replace(native, &Value::Object(before.clone()), &now);
    }

    /// Puts `now` in the place of each copy of a tool's response, and removes what else the agent says
    /// of the response.
    pub(crate) fn retell_tool_response(&mut self, before: &Value, now: &Value) {
        let is_copy = |reason: &String| before == reason.as_str();
        if self.reason.as_ref().is_some_and(is_copy) {
            self.reason = now.as_str().map(str::to_owned);
        }
        self.retell(before, now);
        let Some(Value::Object(native)) = &mut self.native else { return };
        for key in RESPONSES {
            let is_other = |value: &&Value| {
                *value != now
                    && !is_empty(value)
                    && value.get("message").is_none_or(|message| message != now)
            };
            let Some(other) = native.get(key).filter(is_other) else { continue };
            let text = other.as_str().or_else(|| other.get("message")?.as_str());
            if text.is_some() && text == self.reason.as_deref() {
                self.reason = None;
            }
            if !is_text_of(other, now) {
                native.remove(key);
            }
        }
    }

    /// Puts `now` in the place of each copy of a model's response.
    pub(crate) fn retell_response(&mut self, before: &Value, now: &Value) {
        let text = |response: &Value| {
            let text = response.as_str().or_else(|| response.get("content")?.as_str());
            text.map(str::to_owned)
        };
        if self.stop_response.is_some() && self.stop_response == text(before) {
            self.stop_response = text(now);
        }
        self.retell(before, now);
    }

    /// Puts `now` in the place of each copy of `before` in the agent's payload.
    pub(crate) fn retell(&mut self, before: &Value, now: &Value) {
        if let Some(native) = &mut self.native {
            replace(native, before, now);
        }
    }
}

/// Replaces each value that is `before`, or the text of its JSON. Nothing is hidden in an empty value,
/// and it equals many others.
fn replace(value: &mut Value, before: &Value, now: &Value) {
    if is_empty(before) {
        return;
    }
    if value == before {
        *value = now.clone();
    } else if is_text_of(value, before) {
        *value = Value::String(now.to_string());
    } else {
        each_value(value, &mut |value| replace(value, before, now));
    }
}

/// Replaces each entry `key` that is `before`, or removes it.
fn replace_entries(value: &mut Value, key: &str, before: &Value, now: Option<&Value>) {
    let names = if key == COMMAND[0] { &COMMAND[..] } else { &[key] };
    if let Value::Object(object) = value {
        for name in names {
            if object.get(*name) != Some(before) {
                continue;
            }
            match now {
                Some(now) => drop(object.insert((*name).to_owned(), now.clone())),
                None => drop(object.remove(*name)),
            }
        }
    }
    each_value(value, &mut |value| replace_entries(value, key, before, now));
}

fn each_value(value: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(change),
        Value::Object(object) => object.values_mut().for_each(change),
        _ => {}
    }
}

/// Returns whether `text` is the JSON of an object or a list.
fn is_text_of(text: &Value, value: &Value) -> bool {
    let Some(text) = text.as_str().filter(|text| text.trim_start().starts_with(['{', '['])) else {
        return false;
    };
    matches!(value, Value::Object(_) | Value::Array(_))
        && parse_strict(text).is_ok_and(|read| read == *value)
}

/// Returns whether a value says nothing.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn copies_of_the_arguments_follow() {
        let before = json!({"command": "ls SECRET", "cwd": "/p", "note": "n"});
        let now = json!({"command": "ls ***", "cwd": "/p"});
        for (native, expected) in [
            (json!({"tool_input": before, "x": 1}), json!({"tool_input": now, "x": 1})),
            (json!({"toolArgs": before.to_string()}), json!({"toolArgs": now.to_string()})),
            (
                json!({"command": "ls SECRET", "cwd": "/p", "note": "n", "mode": "n"}),
                json!({"command": "ls ***", "cwd": "/p", "mode": "n"}),
            ),
            (
                json!({"tool_info": {"command_line": "ls SECRET", "cwd": "/p"}}),
                json!({"tool_info": {"command_line": "ls ***", "cwd": "/p"}}),
            ),
        ] {
            let mut input = Input::for_tool("Bash", now.as_object().cloned().unwrap());
            input.native = Some(native);
            input.retell_arguments(before.as_object().unwrap());
            assert_eq!(input.native, Some(expected));
        }
    }

    #[test]
    fn copies_of_a_response_follow_or_go() {
        let (before, now) = (json!({"stdout": "SECRET"}), json!({"stdout": "***"}));
        for (native, expected) in [
            (json!({"tool_response": before, "x": 1}), json!({"tool_response": now, "x": 1})),
            (json!({"output": before.to_string()}), json!({"output": now.to_string()})),
            (json!({"tool_output": before.to_string()}), json!({"tool_output": now.to_string()})),
            (json!({"tool_info": {"response": before}}), json!({"tool_info": {"response": now}})),
            (json!({"toolResult": before, "error": "SECRET"}), json!({"toolResult": now})),
        ] {
            let mut input = Input { native: Some(native), ..Input::default() };
            input.reason = Some("SECRET".to_owned());
            let has_error = input.native.as_ref().unwrap().get("error").is_some();
            input.retell_tool_response(&before, &now);
            assert_eq!(input.native, Some(expected));
            assert_eq!(input.reason.is_none(), has_error);
        }
        for native in [json!({"error": "SECRET"}), json!({"error": {"message": "SECRET"}})] {
            let mut input = Input { native: Some(native), ..Input::default() };
            input.reason = Some("SECRET".to_owned());
            input.retell_tool_response(&json!("SECRET"), &json!("***"));
            let native = input.native.unwrap();
            let error = &native["error"];
            assert!(*error == "***" || error["message"] == "***", "{native}");
            assert_eq!(input.reason.as_deref(), Some("***"));
        }
    }

    #[test]
    fn copies_of_a_models_response_follow() {
        for (before, now) in [
            (json!("SECRET"), json!("***")),
            (json!({"content": "SECRET"}), json!({"content": "***"})),
        ] {
            let native = json!({"llm_response": before, "model": "m"});
            let mut input = Input { native: Some(native), ..Input::default() };
            input.stop_response = Some("SECRET".to_owned());
            input.retell_response(&before, &now);
            assert_eq!(input.stop_response.as_deref(), Some("***"));
            assert_eq!(input.native, Some(json!({"llm_response": now, "model": "m"})));
        }
    }
}
