//! The arguments of a tool, with values from the input.

use serde_json::Value;

use crate::wire::parse_strict;

/// Returns `arguments` with each `${a.b}` in a text replaced by that value of `payload`. A text that
/// is only a reference becomes the value itself.
///
/// # Errors
/// When the payload has no such value: a guard must not judge an argument that is not there.
pub(super) fn filled(arguments: &Value, payload: &str) -> Result<Value, String> {
    let payload = parse_strict(payload).map_err(|error| error.to_string())?;
    fill(arguments, &payload)
}

fn fill(value: &Value, payload: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => fill_text(text, payload),
        Value::Array(items) => {
            items.iter().map(|item| fill(item, payload)).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| Ok((key.clone(), fill(value, payload)?)));
            fields.collect::<Result<_, _>>().map(Value::Object)
        }
        other => Ok(other.clone()),
    }
}

fn fill_text(text: &str, payload: &Value) -> Result<Value, String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, from)) = rest.split_once("${") {
        let Some((path, after)) = from.split_once('}') else { break };
        let start = Some(payload);
        let value = path.split('.').fold(start, |value, key| value?.get(key));
        let value = value
            .ok_or_else(|| format!("the input has no `{path}`, which the `arguments` refer to"))?;
        if before.is_empty() && after.is_empty() && filled.is_empty() {
            return Ok(value.clone());
        }
        filled.push_str(before);
        match value {
            Value::String(text) => filled.push_str(text),
            other => filled.push_str(&other.to_string()),
        }
        rest = after;
    }
    Ok(Value::String(filled + rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_become_values_of_the_input() {
        let payload = json!({ "tool_name": "Write", "tool_input": { "path": "a b", "n": 3 } });
        let payload = payload.to_string();
        let filled = |value: Value| filled(&value, &payload);
        for (given, expected) in [
            (json!({ "file": "${tool_input.path}" }), json!({ "file": "a b" })),
            (json!({ "all": ["${tool_input}"] }), json!({ "all": [{ "path": "a b", "n": 3 }] })),
            (json!("${tool_name}: ${tool_input.n} of $5"), json!("Write: 3 of $5")),
            (json!({ "n": 1, "open": "${tool_name" }), json!({ "n": 1, "open": "${tool_name" })),
        ] {
            assert_eq!(filled(given.clone()), Ok(expected), "{given}");
        }
        for missing in ["${tool_input.file}", "${tool_input.path.x}", "x ${}"] {
            assert!(filled(json!(missing)).unwrap_err().contains("the input has no"), "{missing}");
        }
    }
}
