//! Puts rewrites into the copies of a value: in `native`, an agent's own payload, and in `reason` and
//! `stop_response`. Hooks after a redactor must not find there what it took out.

use serde_json::Value;

use super::{Input, JsonObject};

/// The keys of a payload that hold the arguments of a tool.
const ARGUMENTS: [&str; 4] = ["tool_input", "toolInput", "toolArgs", "tool_info"];
/// The keys of a payload that hold the response of a tool, or its error.
const RESPONSES: [&str; 11] = [
    "tool_response", "tool_output", "tool_result", "toolResult", "output", "result_json",
    "tool_info", "error", "error_message", "tool_error", "tool_output_text",
];
/// The keys of a payload that hold a request to a model, and its response.
const MODEL_REQUEST: &str = "llm_request";
const MODEL_RESPONSE: &str = "llm_response";

impl Input {
    /// Puts the arguments as they are now into the agent's payload. Some payloads have each argument
    /// beside their other keys.
    pub(crate) fn retell_arguments(&mut self, before: &JsonObject) {
        let now = self.tool_input.clone().unwrap_or_default();
        let Some(Value::Object(native)) = &mut self.native else { return };
        for (key, old) in before {
            if native.get(key) != Some(old) {
                continue;
            }
            match now.get(key) {
                Some(new) => native.insert(key.clone(), new.clone()),
                None => native.remove(key),
            };
        }
        retell(native, &ARGUMENTS, &Value::Object(now));
    }

    /// Puts the response of a tool, as it is now, in the place of `before`.
    pub(crate) fn retell_tool_response(&mut self, before: &Value, now: &Value) {
        if self.reason.as_deref().is_some_and(|reason| before == reason) {
            self.reason = now.as_str().map(str::to_owned);
        }
        let Some(Value::Object(native)) = &mut self.native else { return };
        for other in RESPONSES.iter().filter_map(|key| native.get(*key)) {
            let text = other.as_str().or_else(|| other.get("message")?.as_str());
            if text.is_some() && text == self.reason.as_deref() {
                self.reason = None;
            }
        }
        retell(native, &RESPONSES, now);
    }

    /// Puts the response of a model, as it is now, in the place of `before`.
    pub(crate) fn retell_response(&mut self, before: &Value, now: &Value) {
        if self.stop_response.is_some() && self.stop_response == spoken(before) {
            self.stop_response = spoken(now);
        }
        if let Some(Value::Object(native)) = &mut self.native {
            retell(native, &[MODEL_RESPONSE], now);
        }
    }

    /// Takes the request to a model out of the agent's payload: a part of it was rewritten.
    pub(crate) fn forget_request(&mut self) {
        if let Some(Value::Object(native)) = &mut self.native {
            native.remove(MODEL_REQUEST);
        }
    }
}

/// Puts `now` under the first of `keys` that says something, and removes the others: they would say
/// what was rewritten.
fn retell(native: &mut JsonObject, keys: &[&str], now: &Value) {
    let mut is_told = false;
    for key in keys {
        let Some(value) = native.get_mut(*key) else { continue };
        if is_empty(value) {
            continue;
        }
        if is_told {
            native.remove(*key);
        } else {
            *value = now.clone();
            is_told = true;
        }
    }
}

/// Returns the text of a model's response.
fn spoken(response: &Value) -> Option<String> {
    let text = response.as_str().or_else(|| response.get("content")?.as_str());
    text.map(str::to_owned)
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
            (json!({"toolArgs": before.to_string()}), json!({"toolArgs": now})),
            (
                json!({"command": "ls SECRET", "cwd": "/p", "note": "n", "mode": "n"}),
                json!({"command": "ls ***", "cwd": "/p", "mode": "n"}),
            ),
            (
                json!({"tool_info": {"command_line": "ls SECRET", "cwd": "/p"}}),
                json!({"tool_info": now}),
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
            (json!({"output": before.to_string()}), json!({"output": now})),
            (json!({"tool_output": before.to_string()}), json!({"tool_output": now})),
            (json!({"tool_info": {"response": before}}), json!({"tool_info": now})),
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
