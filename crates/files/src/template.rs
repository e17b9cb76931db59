//! Texts with fields in them, such as `{{session_id}}` or `${tool_input.path}`.

use serde_json::Value;

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'t> {
    /// A text that stays.
    Text(&'t str),
    /// The text between the marks of a field.
    Field(&'t str),
    /// A field that does not end, with its first mark.
    Open(&'t str),
}

/// Splits a template into its parts. A field stands between `open` and `close`.
pub fn parts<'t>(template: &'t str, open: &str, close: &str) -> Vec<Part<'t>> {
    let (mut parts, mut rest) = (Vec::new(), template);
    while let Some(at) = rest.find(open) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before));
        let (part, after) = match from[open.len()..].split_once(close) {
            Some((field, after)) => (Part::Field(field), after),
            None => (Part::Open(from), ""),
        };
        parts.push(part);
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| *part != Part::Text(""));
    parts
}

/// Fills a page: each `{{name}}` in it becomes the value of that name.
pub fn filled(page: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    for part in parts(page, "{{", "}}") {
        match part {
            Part::Text(text) | Part::Open(text) => filled.push_str(text),
            Part::Field(name) => {
                if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
                    filled.push_str(value);
                }
            }
        }
    }
    filled
}

/// A value that a text refers to and the input lacks.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("the input has no `{0}`, to which a text of the hook refers")]
pub struct MissingValue(String);

/// Fills each `${a.b}` in a text of `value` with that value of `payload`. A text that is only a
/// reference becomes the value itself.
///
/// # Errors
/// When the payload has no such value: a guard must not judge an argument that is not there.
pub fn fill(value: &mut Value, payload: &Value) -> Result<(), MissingValue> {
    match value {
        Value::String(text) => *value = filled_text(text, payload)?,
        Value::Array(items) => {
            for item in items {
                fill(item, payload)?;
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                fill(field, payload)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

fn filled_text(text: &str, payload: &Value) -> Result<Value, MissingValue> {
    let parts = parts(text, "${", "}");
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
    let found = path.split('.').try_fold(payload, |value, key| value.get(key));
    found.ok_or_else(|| MissingValue(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Part::*, *};

    #[test]
    fn a_template_is_split_at_its_fields() {
        for (template, expected) in [
            ("", vec![]),
            ("a b", vec![Text("a b")]),
            ("{{a}}", vec![Field("a")]),
            ("x{{ a }}{{b}}y", vec![Text("x"), Field(" a "), Field("b"), Text("y")]),
            ("x{{a}}{{", vec![Text("x"), Field("a"), Open("{{")]),
            ("{{a {b}} }}", vec![Field("a {b"), Text(" }}")]),
        ] {
            assert_eq!(parts(template, "{{", "}}"), expected, "{template}");
        }
    }

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
