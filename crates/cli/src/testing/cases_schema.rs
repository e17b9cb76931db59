//! The JSON schema of a file of test cases, for editors.

use serde_json::{Map, Value, json};

use super::case_keys::{CaseKeys, FileKeys, TextKeys, events};
use hookexec::internal::reading::Kind as _;
use hookexec::schema;

/// Returns the schema (draft 7) of a file of cases.
pub(crate) fn cases_schema() -> Value {
    let mut definitions = Map::new();
    let mut define = |name: &str, mut schema: Value| {
        // Their own definitions are looked for at the top of the document.
        if let Some(Value::Object(own)) = schema.get_mut("definitions").map(Value::take) {
            definitions.extend(own);
        }
        if let Value::Object(schema) = &mut schema {
            schema.retain(|key, _| !["$schema", "definitions", "title"].contains(&key.as_str()));
        }
        definitions.insert(name.to_owned(), schema);
    };
    define("input", schema::input());
    define("answer", schema::output());
    define("case", case());
    let mut regex = TextKeys::schema();
    regex["required"] = json!(["regex"]);
    let plain = json!({ "type": ["string", "number", "boolean", "null"] });
    define("text", json!({ "anyOf": [plain, regex] }));
    let mut schema = FileKeys::schema();
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["$id"] = "https://json.schemastore.org/hookexec-cases.json".into();
    schema["title"] = "hookexec: hooks.test.yaml".into();
    schema["description"] = "Test cases of a hooks file; `hookexec test` runs them.".into();
    schema["required"] = json!(["cases"]);
    schema["definitions"] = definitions.into();
    schema
}

fn case() -> Value {
    let mut schema = CaseKeys::schema();
    schema["properties"]["expect"]["minProperties"] = 1.into();
    schema["description"] = "One event, and what the hooks should make of it.".into();
    schema["required"] = json!(["name", "expect"]);
    schema["if"] = json!({ "required": ["from"] });
    schema["then"] = json!({ "required": ["payload"], "not": { "required": ["input"] } });
    schema["else"] = json!({
        "required": ["event"],
        "not": { "required": ["payload"] },
        "properties": { "event": { "enum": events(|_| true) } },
        "if": { "properties": {
            "event": { "enum": events(|event| event.contract().tool_matched) }
        } },
        "then": { "required": ["input"], "properties": { "input": { "required": ["tool_name"] } } }
    });
    schema
}
