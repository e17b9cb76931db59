//! The JSON schema of a configuration file, for editors, and the tables of its keys.

use hookexec_files::kinds::reference;
use hookexec_files::section::{Key, Kind, described};
use serde_json::{Map, Value, json};

use super::keys::{
    AuditKeys, ConditionKeys, Defaults, EntryKeys, FileKeys, HookKeys, LimitKeys, PicoclawKeys,
    PolicyKeys, ProcessKeys,
};
use crate::event::Event;

/// Returns the schema (draft 7) of a configuration file, without the keys that a type of hook refuses.
///
/// The rest, which no table of keys says, is in `schema.json`.
pub(crate) fn config_schema() -> Value {
    let mut schema: Value = serde_json::from_str(include_str!("schema.json")).unwrap_or_default();
    if let (Some(schema), Value::Object(keys)) =
        (schema.as_object_mut(), with_events(FileKeys::schema()))
    {
        schema.extend(keys);
    }
    let definitions = &mut schema["definitions"];
    definitions["hooks"] = with_events(PicoclawKeys::schema());
    definitions["matcher_entry"] = described("Hooks for some of the tools.", EntryKeys::schema());
    definitions["hook"] = described("One hook.", HookKeys::schema());
    definitions["condition"] = condition();
    let process = "A long-lived process that speaks JSON-RPC, one object a line.";
    definitions["process"] = described(process, ProcessKeys::schema());
    schema
}

/// Returns the keys of each mapping, by its name in the documentation.
pub fn key_tables() -> [(&'static str, &'static [Key]); 9] {
    [
        ("the file", FileKeys::KEYS),
        ("defaults", Defaults::KEYS),
        ("a matcher entry", EntryKeys::KEYS),
        ("a hook", HookKeys::KEYS),
        ("a condition", ConditionKeys::KEYS),
        ("a limit", LimitKeys::KEYS),
        ("a process", ProcessKeys::KEYS),
        ("audit", AuditKeys::KEYS),
        ("policy", PolicyKeys::KEYS),
    ]
}

/// Adds the events to a mapping that holds them beside its keys.
fn with_events(mut schema: Value) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.extend(events());
    }
    schema
}

fn events() -> Map<String, Value> {
    let mut events = Map::new();
    for event in Event::all() {
        let contract = event.contract();
        let (hook, does) = if contract.may_block {
            ("deciding_hook", "a hook may block it")
        } else {
            ("observing_hook", "hooks only observe")
        };
        let mut item = reference(hook);
        if contract.tool_matched {
            let hooks = json!({ "properties": { "hooks": one_or_many(&item) } });
            item = json!({ "allOf": [reference("matcher_entry"), hooks] });
        }
        let mut schema = one_or_many(&item);
        schema["description"] = format!("{}; {does}.", contract.fires).into();
        events.insert(event.name().to_owned(), schema);
    }
    events
}

fn condition() -> Value {
    let text = "A condition on the input: a field and one operator, or `all`, `any`, `not` of \
                conditions.";
    let mut schema = described(text, ConditionKeys::schema());
    // `all`, `any`, `not` and `uncertain` have none.
    schema["required"] = json!([]);
    schema["minProperties"] = json!(1);
    schema
}

fn one_or_many(item: &Value) -> Value {
    json!({ "anyOf": [item, { "type": "array", "items": item }] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_null_in_it() {
        // A description may write of `null`.
        assert!(!config_schema().to_string().replace("`null`", "").contains("null"));
    }
}
