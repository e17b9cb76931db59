//! JSON schemas (draft 7) of what crosses a boundary, for hooks and hosts. That of a hooks file is
//! [`Registry::config_schema`](crate::Registry::config_schema).
//!
//! The generated documents are committed in `schema/`.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::describe::{Command, TouchedFile};
use crate::wire::{Input, OutputJson, Verdict};

/// Returns the schema of what a hook reads on stdin.
pub fn input() -> Value {
    // What is read, not what is written: a host leaves out what it does not know.
    document::<HookInput>(SchemaSettings::draft07().for_deserialize(), "input of a hook")
}

/// The input of a hook: that of the event, and the description of its tool call.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct HookInput {
    #[schemars(flatten)]
    input: Input,
    /// The commands that the tool call runs. hookexec makes this list; what a host says is dropped.
    #[schemars(default)]
    commands: Vec<Command>,
    /// The files that the tool call touches. hookexec makes this list; what a host says is dropped.
    #[schemars(default)]
    files: Vec<TouchedFile>,
}

/// Returns the schema of what a hook answers on stdout.
pub fn output() -> Value {
    document::<OutputJson>(SchemaSettings::draft07().for_deserialize(), "answer of a hook")
}

/// Returns the schema of the verdict on an event.
pub fn verdict() -> Value {
    document::<Verdict>(SchemaSettings::draft07().for_serialize(), "verdict")
}

/// Returns the schema of one type, titled `hookexec: <title>`.
pub(crate) fn document<T: JsonSchema>(settings: SchemaSettings, title: &str) -> Value {
    let generator = settings.with_transform(RemoveNull).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), format!("hookexec: {title}").into());
    schema.to_value()
}

/// Takes `null` from the type of every property that may as well be left out: an editor would offer
/// it, and it is not worth writing. A property that is always there keeps it.
#[derive(Debug, Clone)]
struct RemoveNull;

impl Transform for RemoveNull {
    fn transform(&mut self, schema: &mut Schema) {
        let required: Vec<Value> =
            schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (name, property) in properties {
                if !required.contains(&Value::String(name.clone())) {
                    remove_null(property);
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

fn remove_null(property: &mut Value) {
    let Value::Object(property) = property else { return };
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [name] = types.as_slice() {
            let name = name.clone();
            property.insert("type".to_owned(), name);
        }
    }
    if let Some(Value::Array(options)) = property.get_mut("anyOf") {
        options.retain(|option| option.get("type") != Some(&"null".into()));
        if let [only] = options.as_slice() {
            // Beside other keywords draft 7 does not read a `$ref`; wrapped it is read.
            let only = only.clone();
            property.remove("anyOf");
            property.insert("allOf".to_owned(), Value::Array(vec![only]));
        }
    }
    if property.get("default") == Some(&Value::Null) {
        property.remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_stands_only_where_it_is_written() {
        assert_eq!(verdict()["properties"]["decision"]["anyOf"][1]["type"], "null");
        for schema in [input(), output()] {
            let text = schema.to_string();
            assert!(!text.contains("null"), "{text}");
        }
    }

    #[test]
    fn every_property_is_described() {
        fn walk(schema: &Value, path: &str) {
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                for (name, property) in properties {
                    assert!(property.get("description").is_some(), "{path}.{name}");
                    walk(property, &format!("{path}.{name}"));
                }
            }
            for (name, definition) in schema["definitions"].as_object().into_iter().flatten() {
                walk(definition, name);
            }
        }
        for schema in [input(), output(), verdict()] {
            walk(&schema, schema["title"].as_str().unwrap());
        }
    }
}
