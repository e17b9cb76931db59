//! Claude Code.

use serde_json::{Value, json};

use super::{Answer, NativeEvent, Plan, claude_dialect};
use hookexec::Input;
use hookexec::wire::JsonObject;

pub(super) fn write(plan: &Plan<'_>) -> Answer {
    let (mut before, mut tool) = (None, "");
    if let Some(input) = plan.input {
        before = input.tool_response.as_ref();
        tool = input.tool();
    }
    let is_mcp = tool.starts_with("mcp__");
    let response = match plan.response {
        Some(response) if is_mcp => Some(response.clone()),
        Some(response) => Some(in_shape_of(before, response)),
        None => None,
    };
    let mut members = claude_dialect::members_of(plan, response.as_ref());
    if tool == "ExitPlanMode"
        && let Some(Input { tool_input: Some(arguments), .. }) = plan.input
    {
        // Without arguments Claude Code leaves the approval of a plan to the user.
        pass_on(plan.native, &mut members, "updatedInput", json!(arguments));
    }
    for (key, value) in plan.claude_code.into_iter().flatten() {
        pass_on(plan.native, &mut members, key, value.clone());
    }
    // Claude Code has a second key for the output of MCP tools, which takes any shape.
    if let Some(response) = response
        && is_mcp
    {
        pass_on(plan.native, &mut members, "updatedMCPToolOutput", response);
    }
    Answer::json(members)
}

/// Puts a key that hookexec does not judge where Claude Code reads it.
fn pass_on(native: &NativeEvent, members: &mut JsonObject, key: &str, value: Value) {
    const SPECIFIC: &str = "hookSpecificOutput";
    if key == "terminalSequence" {
        members.insert(key.to_owned(), value);
        return;
    }
    let mut specific = members.remove(SPECIFIC).unwrap_or_default();
    match key {
        // These two come with an approval alone.
        "updatedInput" | "updatedPermissions" => {
            if specific["decision"]["behavior"] == "allow" {
                specific["decision"][key] = value;
            }
        }
        "permissionDecision" => {
            if specific[key] == "ask" {
                specific[key] = value;
            }
        }
        _ => {
            specific["hookEventName"] = native.name.into();
            specific[key] = value;
        }
    }
    if !specific.is_null() {
        members.insert(SPECIFIC.to_owned(), specific);
    }
}

/// Where a response with parts has its text, the likeliest place first.
const TEXTS: [&str; 6] = ["stdout", "content", "result", "text", "output", "newString"];
/// The keys that tell the shape of a response, by one of few words.
const SHAPES: [&str; 2] = ["type", "mode"];

/// Returns a tool's new response in the shape of the old one: one of another shape is ignored without a
/// word, and the model reads the original. No value of the old response stays but the words that tell its
/// shape. A response that has not the keys of the old one is put in as a text.
fn in_shape_of(before: Option<&Value>, response: &Value) -> Value {
    let Some(Value::Object(before)) = before else { return response.clone() };
    let mut shaped = emptied(before);
    if let Some(new) = response.as_object()
        && !new.is_empty()
        && has_keys_of(&shaped, new)
    {
        shaped.extend(new.clone());
        return Value::Object(shaped);
    }
    let text = match response {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(file) = shaped.get_mut("file").and_then(Value::as_object_mut) {
        if !file.contains_key("content") {
            // An image, a notebook or a document, which has no place for a text.
            let file = json!({ "filePath": "", "content": text, "numLines": 1, "startLine": 1, "totalLines": 1 });
            return json!({ "type": "text", "file": file });
        }
        file.insert("content".to_owned(), json!(text));
        return Value::Object(shaped);
    }
    let place = TEXTS.into_iter().find(|key| matches!(shaped.get(*key), Some(Value::String(_))));
    shaped.insert(place.unwrap_or("content").to_owned(), json!(text));
    Value::Object(shaped)
}

/// Returns whether a response has each key of a new one, with values that are alike.
fn has_keys_of(old: &JsonObject, new: &JsonObject) -> bool {
    for (key, value) in new {
        match old.get(key) {
            Some(old) if is_alike(old, value) => {}
            _ => return false,
        }
    }
    true
}

/// Returns whether two values have the same kind, and objects the same keys.
fn is_alike(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => old.len() == new.len() && has_keys_of(old, new),
        _ => std::mem::discriminant(old) == std::mem::discriminant(new),
    }
}

/// Returns the keys of a response, with values of the same kinds that say nothing.
fn emptied(before: &JsonObject) -> JsonObject {
    let mut shaped = JsonObject::new();
    for (key, value) in before {
        let nothing = match value {
            Value::String(text) if SHAPES.contains(&key.as_str()) && is_word(text) => value.clone(),
            Value::String(_) => json!(""),
            Value::Number(_) => json!(0),
            Value::Array(_) => json!([]),
            Value::Object(inner) => Value::Object(emptied(inner)),
            Value::Null | Value::Bool(_) => value.clone(),
        };
        shaped.insert(key.clone(), nothing);
    }
    shaped
}

/// Returns whether a text is a short word of small letters, as the names of shapes are.
fn is_word(text: &str) -> bool {
    text.len() <= 24 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_response_keeps_the_shape_of_the_old() {
        for (before, response, expected) in [
            (
                json!({"stdout": "a", "stderr": "b", "interrupted": false}),
                json!("x"),
                json!({"stdout": "x", "stderr": "", "interrupted": false}),
            ),
            (
                json!({"type": "text", "file": {"filePath": "/f", "content": "a"}}),
                json!("x"),
                json!({"type": "text", "file": {"filePath": "", "content": "x"}}),
            ),
            (
                json!({"type": "image", "file": {"base64": "SECRET", "type": "image/png"}}),
                json!("x"),
                json!({"type": "text", "file": {"filePath": "", "content": "x", "numLines": 1,
                    "startLine": 1, "totalLines": 1}}),
            ),
            (
                json!({"mode": "files_with_matches", "numFiles": 2, "filenames": ["SECRET"]}),
                json!("x"),
                json!({"mode": "files_with_matches", "numFiles": 0, "filenames": [], "content": "x"}),
            ),
            (
                json!({"type": "SECRET", "content": [{"text": "SECRET"}], "structuredContent": {"k": "SECRET"}}),
                json!("x"),
                json!({"type": "", "content": "x", "structuredContent": {"k": ""}}),
            ),
            (
                json!({"result": "SECRET", "code": 200}),
                json!("x"),
                json!({"result": "x", "code": 0}),
            ),
            (json!("a"), json!("x"), json!("x")),
            (
                json!({"stdout": "a", "stderr": "b"}),
                json!({"stdout": "y"}),
                json!({"stdout": "y", "stderr": ""}),
            ),
            (json!({"stdout": "a"}), json!({"text": "y"}), json!({"stdout": "{\"text\":\"y\"}"})),
            (json!({"stdout": "a"}), json!([{"text": ""}]), json!({"stdout": "[{\"text\":\"\"}]"})),
            (json!({"stdout": "a"}), json!({"stdout": 5}), json!({"stdout": "{\"stdout\":5}"})),
            (json!({"stdout": "a"}), json!({}), json!({"stdout": "{}"})),
            (
                json!({"type": "text", "file": {"content": "SECRET", "numLines": 1}}),
                json!({"content": "x"}),
                json!({"type": "text", "file": {"content": "{\"content\":\"x\"}", "numLines": 0}}),
            ),
            (json!({"other": 1}), json!("x"), json!({"other": 0, "content": "x"})),
        ] {
            assert_eq!(in_shape_of(Some(&before), &response), expected);
        }
        assert_eq!(in_shape_of(None, &json!("x")), json!("x"));
    }
}
