//! The arguments of a tool, with values from the input.

use serde_json::Value;

use hookexec_files::template::{self, Part};

/// A value that the arguments need and the input lacks.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("the input has no `{0}`, which the `arguments` refer to")]
pub(super) struct MissingValue(String);

/// Fills each `${a.b}` in a text of `arguments` with that value of `payload`. A text that is only a
/// reference becomes the value itself.
///
/// # Errors
/// When the payload has no such value: a guard must not judge an argument that is not there.
pub(super) fn fill(arguments: &mut Value, payload: &Value) -> Result<(), MissingValue> {
    match arguments {
        Value::String(text) => *arguments = filled_text(text, payload)?,
        Value::Array(items) => {
            for item in items {
                fill(item, payload)?;
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                fill(value, payload)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

fn filled_text(text: &str, payload: &Value) -> Result<Value, MissingValue> {
    let parts = template::parts(text, "${", "}");
    if let [Part::Field(path)] = *parts {
        return value_at(payload, path).cloned();
    }
    let mut filled = String::new();
    for part in parts {
        match part {
            Part::Text(text) | Part::Open(text) => filled.push_str(text),
            Part::Field(path) => match value_at(payload, path)? {
                Value::String(text) => filled.push_str(text),
                other => filled.push_str(&other.to_string()),
            },
        }
    }
    Ok(Value::String(filled))
}

fn value_at<'p>(payload: &'p Value, path: &str) -> Result<&'p Value, MissingValue> {
    let mut value = payload;
    for key in path.split('.') {
        let Some(found) = value.get(key) else {
            return Err(MissingValue(path.to_owned()));
        };
        value = found;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_become_values_of_the_input() {
        let payload = json!({ "tool_name": "Write", "tool_input": { "path": "a b", "n": 3 } });
        let filled = |mut value: Value| fill(&mut value, &payload).map(|()| value);
        for (given, expected) in [
            (json!({ "file": "${tool_input.path}" }), json!({ "file": "a b" })),
            (json!({ "all": ["${tool_input}"] }), json!({ "all": [{ "path": "a b", "n": 3 }] })),
            (json!("${tool_name}: ${tool_input.n} of $5"), json!("Write: 3 of $5")),
            (json!({ "n": 1, "open": "${tool_name" }), json!({ "n": 1, "open": "${tool_name" })),
        ] {
            assert_eq!(filled(given.clone()), Ok(expected), "{given}");
        }
        for missing in ["${tool_input.file}", "${tool_input.path.x}", "x ${}"] {
            assert!(
                filled(json!(missing)).unwrap_err().to_string().contains("the input has no"),
                "{missing}"
            );
        }
    }
}
