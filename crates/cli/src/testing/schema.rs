//! The JSON schema of a file of test cases, for editors.

use serde_json::{Map, Value, json};

use super::read::{DECISIONS, ENDINGS};
use hookexec::event::Event;
use hookexec::schema;
use hookexec_agents::Agent;

/// Returns the schema (draft 7) of a file of cases.
#[must_use]
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut take = |name: &str, mut schema: Value| {
        // Their own definitions are looked for at the top of the document.
        if let Some(Value::Object(own)) = schema.get_mut("definitions").map(Value::take) {
            definitions.extend(own);
        }
        if let Value::Object(schema) = &mut schema {
            schema.retain(|key, _| !["$schema", "definitions", "title"].contains(&key.as_str()));
        }
        definitions.insert(name.to_owned(), schema);
    };
    take("input", schema::input());
    take("answer", schema::output());
    take("case", case());
    take("expectation", expectation());
    take("text", text());
    let named = ENDINGS.map(|(ending, other)| format!("`x{ending}` is for `x{other}`")).join(", ");
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "hookexec: hooks.test.yaml",
        "description": "Test cases of a hooks file; `hookexec test` runs them.",
        "type": "object",
        "properties": {
            "config": {
                "description": format!("The hooks file, or several that add up, from the directory of this file; left out, {named}."),
                "anyOf": [filled(), { "type": "array", "minItems": 1, "items": filled() }]
            },
            "cases": {
                "description": "The cases.",
                "type": "array",
                "minItems": 1,
                "items": { "$ref": "#/definitions/case" }
            }
        },
        "required": ["cases"],
        "additionalProperties": false,
        "definitions": definitions
    })
}

fn case() -> Value {
    let about_tools: Vec<&str> =
        Event::all().filter(|event| event.contract().tool_matched).map(Event::name).collect();
    let events: Vec<&str> = Event::all().map(Event::name).collect();
    let agents: Vec<&str> = Agent::all().map(Agent::name).collect();
    json!({
        "description": "One event, and what the hooks should make of it.",
        "type": "object",
        "properties": {
            "name": { "description": "Its name, which no other case of the file has.", "type": "string", "pattern": "\\S" },
            "event": {
                "description": "The event; with `from` also in the agent's words, and only if its payload does not name it.",
                "anyOf": [{ "enum": events }, filled()]
            },
            "input": { "description": "The event's input.", "allOf": [{ "$ref": "#/definitions/input" }] },
            "from": { "description": "The agent whose payload it is: the case is judged as `hookexec run --from AGENT` does.", "enum": agents },
            "payload": { "description": "What the agent writes to standard input.", "type": "object" },
            "stubs": {
                "description": "Hooks that do not run, by name, each with the answer it gives; `{}` is no opinion.",
                "type": "object",
                "additionalProperties": { "anyOf": [
                    { "type": "null" },
                    {
                        "type": "object",
                        "properties": { "failure": { "description": "The hook fails, for this cause.", "type": "string", "pattern": "\\S" } },
                        "required": ["failure"],
                        "additionalProperties": false
                    },
                    { "allOf": [{ "$ref": "#/definitions/answer" }], "not": { "required": ["failure"] } }
                ] }
            },
            "expect": { "$ref": "#/definitions/expectation" }
        },
        "required": ["name", "expect"],
        "additionalProperties": false,
        "if": { "required": ["from"] },
        "then": { "required": ["payload"], "not": { "required": ["input"] } },
        "else": {
            "required": ["event"],
            "not": { "required": ["payload"] },
            "properties": { "event": { "enum": events } },
            "if": { "properties": { "event": { "enum": about_tools } } },
            "then": {
                "required": ["input"],
                "properties": { "input": { "required": ["tool_name"] } }
            }
        }
    })
}

fn expectation() -> Value {
    let mut decisions: Vec<Value> = DECISIONS.iter().map(|(word, _)| json!(word)).collect();
    decisions.push(Value::Null);
    let text = |what: &str| {
        let text = format!("{what}: the exact text, `{{ regex: ... }}`, or `null` for none.");
        json!({ "description": text, "allOf": [{ "$ref": "#/definitions/text" }] })
    };
    let hooks = |what: &str| {
        let item = filled();
        json!({ "description": what, "anyOf": [item, { "type": "array", "items": item }] })
    };
    json!({
        "description": "What should come out; what is left out is not looked at.",
        "type": "object",
        "properties": {
            "decision": { "description": "The decision; `none` when no hook should have an opinion.", "enum": decisions },
            "allowed": { "description": "Whether it may go on.", "type": "boolean" },
            "message": text("The reasons"),
            "updated_input": {
                "description": "The whole arguments of the tool after all rewrites; `null` when they must not change.",
                "type": ["object", "null"]
            },
            "additional_context": text("The context for the model"),
            "system_message": text("The warnings for the user"),
            "ran": hooks("The hooks that run, all of them, in any order."),
            "not_run": hooks("Hooks that must not run."),
            "failed_open": hooks("The hooks that failed while the event went on."),
            "exit_code": { "description": "What `run` exits with.", "enum": [0, 2, 3] }
        },
        "minProperties": 1,
        "additionalProperties": false
    })
}

fn text() -> Value {
    json!({ "anyOf": [
        { "type": ["string", "number", "boolean", "null"] },
        {
            "type": "object",
            "properties": { "regex": { "description": "A regular expression that is found in it.", "type": "string", "pattern": "\\S" } },
            "required": ["regex"],
            "additionalProperties": false
        }
    ] })
}

fn filled() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}

#[cfg(test)]
mod tests {
    use super::super::read::{CASE_KEYS, EXPECT_KEYS, FILE_KEYS};
    use super::*;

    #[test]
    fn its_keys_are_those_that_are_read() {
        let schema = schema();
        for (place, keys) in [
            ("/properties", &FILE_KEYS[..]),
            ("/definitions/case/properties", &CASE_KEYS),
            ("/definitions/expectation/properties", &EXPECT_KEYS),
        ] {
            let mut known: Vec<&str> = keys.to_vec();
            known.sort_unstable();
            let mut found: Vec<&str> = schema
                .pointer(place)
                .unwrap()
                .as_object()
                .unwrap()
                .keys()
                .map(String::as_str)
                .collect();
            found.sort_unstable();
            assert_eq!(found, known, "{place}");
        }
    }
}
