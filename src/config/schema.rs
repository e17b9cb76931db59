//! The JSON schema of a configuration file, for editors.
//!
//! Written by hand: a file is read by functions and not by derived types (see `reader.rs`). The
//! names of keys and words come from the tables that the functions read, and a test holds the two
//! together.

use serde_json::{Map, Value, json};

use super::{audit, hook, picoclaw};
use crate::dialect::Dialect;
use crate::event::{Contract, Event};

/// Returns the schema (draft 7) of a configuration file.
#[must_use]
pub fn config_schema() -> Value {
    let neighbours: Vec<Value> =
        picoclaw::NEIGHBOURS.iter().map(|name| json!({ "required": [name] })).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "hookexec: hooks.yaml",
        "description": "Hooks of an agent, by event. Also read: a docker-agent hooks block, a whole docker-agent file, PicoClaw's configuration.",
        "type": "object",
        "if": { "anyOf": neighbours },
        "then": whole_file(),
        "else": own_file(),
        "definitions": {
            "hooks": hooks_block(),
            "matcher_entry": matcher_entry(),
            "hook": hook_schema(),
            "deciding_hook": {
                "allOf": [{ "$ref": "#/definitions/hook" }],
                "if": { "properties": { "mode": { "const": "shadow" } }, "required": ["mode"] },
                "else": { "properties": { "background": { "const": false } } }
            },
            "observing_hook": {
                "allOf": [{ "$ref": "#/definitions/hook" }],
                "properties": { "on_error": { "enum": ["warn", "ignore"] } }
            },
            "condition": condition(),
            "defaults": defaults(),
            "audit": audit_schema(),
            "process": process(),
            "duration": duration(),
            "size": size(),
            "environment": environment(),
            "inherit_env": inherit_env(),
            "text": { "type": ["string", "number", "boolean"] }
        }
    })
}

/// A file of this program's own: a hooks block with or without `hooks:`, and what goes beside it.
fn own_file() -> Value {
    let mut properties = events();
    properties
        .insert("$schema".into(), described("Where this schema is.", json!({ "type": "string" })));
    properties.insert("hooks".into(), described("The hooks, by event.", reference("hooks")));
    properties.insert(
        "defaults".into(),
        described(
            "What the hooks of this file share unless they say otherwise.",
            reference("defaults"),
        ),
    );
    properties.insert(
        "layers".into(),
        described(
            "In the administrator's file: which layers count below it; all when absent.",
            json!({
                "type": "array",
                "items": { "enum": ["user", "project", "command_line"] }
            }),
        ),
    );
    properties.insert(
        "audit".into(),
        described("A log of what was decided at each event.", reference("audit")),
    );
    properties.insert(
        "processes".into(),
        described(
            "The long-lived processes that hooks of type `process` call, by name.",
            processes(),
        ),
    );
    json!({ "properties": properties, "additionalProperties": false })
}

/// A file that is mostly someone else's: of docker-agent, or of PicoClaw.
fn whole_file() -> Value {
    json!({ "properties": {
        "hooks": described("PicoClaw's hooks.", reference("hooks")),
        "agents": {
            "description": "The agents of a docker-agent file; `--agent NAME` chooses the one whose hooks are meant.",
            "type": "object",
            "additionalProperties": { "properties": {
                "hooks": described("The hooks of this agent, by event.", reference("hooks")),
                "add_date": described("Adds the builtin hook of this name.", json!({ "type": "boolean" })),
                "add_environment_info": described("Adds the builtin hook of this name.", json!({ "type": "boolean" })),
                "redact_secrets": described("Adds the builtin hook of this name to the three events that carry secrets.", json!({ "type": "boolean" })),
                "add_prompt_files": described("Adds the builtin hook of this name for these files.", texts())
            } }
        }
    } })
}

fn hooks_block() -> Value {
    let mut properties = events();
    properties.insert(
        "enabled".into(),
        described("PicoClaw: whether its hooks are loaded at all.", json!({ "type": "boolean" })),
    );
    properties.insert(
        "defaults".into(),
        described(
            "PicoClaw: how long its hooks may take, in milliseconds.",
            json!({
                "type": "object",
                "properties": {
                    "observer_timeout_ms": described("For observers.", json!({ "type": "integer" })),
                    "interceptor_timeout_ms": described("For interceptors.", json!({ "type": "integer" })),
                    "approval_timeout_ms": described("For approvals.", json!({ "type": "integer" }))
                },
                "additionalProperties": false
            }),
        ),
    );
    properties.insert(
        "builtins".into(),
        described(
            "PicoClaw: its compiled-in hooks, which do not exist here and must be disabled.",
            json!({ "type": "object", "additionalProperties": {
                "type": "object",
                "properties": { "enabled": { "const": false }, "priority": {}, "config": {} },
                "required": ["enabled"],
                "additionalProperties": false
            } }),
        ),
    );
    properties.insert(
        "processes".into(),
        described("PicoClaw: its process hooks, by name.", processes()),
    );
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn events() -> Map<String, Value> {
    let event = |event: Event| {
        let contract = event.contract();
        let item = if contract.tool_matched {
            reference("matcher_entry")
        } else {
            reference(kind_of_hook(contract))
        };
        let item = if contract.tool_matched && !contract.may_block {
            // Their hooks observe; the entry is the same.
            json!({ "allOf": [item, { "properties": { "hooks": one_or_many(&reference("observing_hook")) } }] })
        } else if contract.tool_matched {
            json!({ "allOf": [item, { "properties": { "hooks": one_or_many(&reference("deciding_hook")) } }] })
        } else {
            item
        };
        let mut schema = one_or_many(&item);
        schema["description"] = describe(contract).into();
        (event.name().to_owned(), schema)
    };
    Event::all().map(event).collect()
}

fn kind_of_hook(contract: &Contract) -> &'static str {
    if contract.may_block { "deciding_hook" } else { "observing_hook" }
}

fn describe(contract: &Contract) -> String {
    let mut text = contract.fires.to_owned();
    if let Some(first) = text.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    text.push_str(if contract.may_block {
        "; a hook may block it."
    } else {
        "; hooks only observe."
    });
    text
}

fn matcher_entry() -> Value {
    json!({
        "description": "Hooks for some of the tools.",
        "type": "object",
        "properties": {
            "matcher": described(
                "A regular expression over the whole name of the tool; empty, `*` or left out: every tool.",
                json!({ "type": "string" }),
            ),
            "when": described("The condition that the input must meet.", reference("condition")),
            "hooks": described("The hooks, in order.", json!({})),
            "preempt_yolo": described(
                "docker-agent: whether the guard runs before every approval, which here it always does.",
                json!({ "type": "boolean" }),
            )
        },
        "required": ["hooks"],
        "additionalProperties": false
    })
}

fn hook_schema() -> Value {
    let on_error: Vec<&str> = hook::ON_ERROR.iter().map(|(word, _)| *word).collect();
    let mode: Vec<&str> = hook::MODE.iter().map(|(word, _)| *word).collect();
    let dialect = Dialect::NAMES.map(|(word, _)| word);
    let side_effects: Vec<&str> = hook::SIDE_EFFECTS.iter().map(|(word, _)| *word).collect();
    json!({
        "description": "One hook.",
        "type": "object",
        "properties": {
            "type": described(
                "What runs it: `command`, `builtin`, `process`, or a type that a program registered.",
                json!({ "type": "string", "minLength": 1, "examples": hook::SHIPPED_TYPES }),
            ),
            "command": described(
                "What runs: text for a shell, a list of program and arguments, or the name of a builtin or a process.",
                json!({ "anyOf": [
                    { "type": "string", "pattern": "\\S" },
                    { "type": "array", "minItems": 1, "items": [{ "type": "string", "pattern": "\\S" }], "additionalItems": reference("text") }
                ] }),
            ),
            "args": described("Arguments of a builtin.", texts()),
            "name": described("Its name in reports.", json!({ "type": "string", "pattern": "\\S" })),
            "timeout": described("How long it may take; 60 seconds when nothing is said.", reference("duration")),
            "env": described("Environment variables it gets beside the inherited ones.", reference("environment")),
            "working_dir": described("Where it runs; `~` and `$VAR` are expanded.", json!({ "type": "string", "pattern": "\\S" })),
            "shell": described("The program that runs a text; `/bin/sh` when nothing is said.", json!({ "type": "string", "pattern": "\\S" })),
            "inherit_env": described("Which environment variables it inherits.", reference("inherit_env")),
            "max_output": described("The most it may write to each of its streams; 1 MiB when nothing is said.", reference("size")),
            "on_error": described("What it means when it fails; left out, the event decides.", json!({ "enum": on_error })),
            "strict_output": described("Whether anything but one JSON object of known keys is a failure.", json!({ "type": "boolean" })),
            "mutates": described("Whether it runs before the others and may rewrite what they see.", json!({ "type": "boolean" })),
            "background": described("Whether it is started and not waited for.", json!({ "type": "boolean" })),
            "enabled": described("Whether it runs at all.", json!({ "type": "boolean" })),
            "mode": described("Whether its answer counts.", json!({ "enum": mode })),
            "dialect": described("Whose payload a command hook reads and whose answer it gives.", json!({ "enum": dialect })),
            "side_effects": described("What running it leaves behind; a replay runs only what leaves nothing.", json!({ "enum": side_effects })),
            "when": described("The condition that the input must meet.", reference("condition")),
            "scripts": described("Scripts of the project that an approval of this hook covers, too.", json!({ "type": "array", "items": { "type": "string" } })),
            "with": described("Parameters of a type that a program registered.", json!({}))
        },
        "required": ["type"],
        "additionalProperties": false,
        "if": { "properties": { "type": { "enum": hook::SHIPPED_TYPES } } },
        "then": {
            "required": ["command"],
            "properties": { "with": false },
            "if": { "properties": { "type": { "const": "command" } } },
            "else": { "properties": { "command": { "type": "string" } } }
        }
    })
}

fn condition() -> Value {
    let list = json!({ "type": "array", "minItems": 1, "items": reference("condition") });
    let leaf = |operator: &str, schema: Value| {
        json!({
            "type": "object",
            "properties": {
                "field": described("A path into the input: `tool_input.cmd` or `/tool_input/cmd`.", json!({ "type": "string", "minLength": 1 })),
                operator: schema
            },
            "required": ["field", operator],
            "additionalProperties": false
        })
    };
    let join = |name: &str, schema: Value| json!({ "type": "object", "properties": { name: schema }, "required": [name], "additionalProperties": false });
    json!({
        "description": "A condition on the input: a field and one operator, or `all`, `any`, `not` of conditions.",
        "anyOf": [
            leaf("equals", described("The value is this one; `3` is not `\"3\"`.", json!({}))),
            leaf("in", described("The value is one of these.", json!({ "type": "array", "minItems": 1 }))),
            leaf("regex", described("The regular expression is found in the value.", reference("text"))),
            leaf("glob", described("The pattern matches the whole value; only `**` goes across a `/`.", reference("text"))),
            leaf("exists", described("The field is there, or is not.", json!({ "type": "boolean" }))),
            join("all", described("Every one holds.", list.clone())),
            join("any", described("At least one holds.", list)),
            join("not", described("It does not hold.", reference("condition")))
        ]
    })
}

fn defaults() -> Value {
    let on_error: Vec<&str> = hook::ON_ERROR.iter().map(|(word, _)| *word).collect();
    json!({
        "type": "object",
        "properties": {
            "timeout": described("How long a hook may take.", reference("duration")),
            "on_error": described(
                "What it means when a hook fails; never weaker than the event, and a warning where nothing can be blocked.",
                json!({ "enum": on_error }),
            ),
            "shell": described("The program that runs a text.", json!({ "type": "string", "pattern": "\\S" })),
            "inherit_env": described("Which environment variables hooks inherit.", reference("inherit_env")),
            "max_output": described("The most a hook may write to each of its streams.", reference("size")),
            "max_parallel": described("How many hooks of one event run at once.", json!({ "type": "integer", "minimum": 1, "maximum": 1024 })),
            "deadline": described("The longest that one event may take, all its hooks together.", reference("duration"))
        },
        "additionalProperties": false
    })
}

fn audit_schema() -> Value {
    let input: Vec<&str> = audit::INPUT.iter().map(|(name, _)| *name).collect();
    let events: Vec<&str> = audit::EVENTS.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object",
        "properties": {
            "path": described(
                "The file; absolute, below the home directory as `~/...`, or beside this file.",
                json!({ "type": "string", "pattern": "\\S" }),
            ),
            "input": described("Whether the inputs of events are recorded, without secrets; a replay needs them.", json!({ "enum": input })),
            "events": described("Whether events are recorded that no hook is configured for: `hooked`, which leaves them out, when nothing is said.", json!({ "enum": events })),
            "max_size": described("The size from which a new file is begun; 10 MiB when nothing is said.", reference("size")),
            "keep": described("How many full files are kept; 3 when nothing is said.", json!({ "type": "integer", "minimum": 1, "maximum": audit::MAX_KEEP }))
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

fn processes() -> Value {
    json!({ "type": "object", "additionalProperties": reference("process") })
}

fn process() -> Value {
    let stages: Vec<&str> = picoclaw::STAGES.iter().map(|(name, _)| *name).collect();
    let directory = |text: &str| described(text, json!({ "type": "string", "pattern": "\\S" }));
    json!({
        "description": "A long-lived process that speaks JSON-RPC, one object a line.",
        "type": "object",
        "properties": {
            "command": described(
                "The program and its arguments; there is no shell.",
                json!({ "type": "array", "minItems": 1, "items": [{ "type": "string", "pattern": "\\S" }], "additionalItems": reference("text") }),
            ),
            "working_dir": directory("Where it runs; `~` and `$VAR` are expanded."),
            "dir": directory("PicoClaw's name of `working_dir`."),
            "env": described("Environment variables it gets beside the inherited ones.", reference("environment")),
            "inherit_env": described("Which environment variables it inherits.", reference("inherit_env")),
            "start": described("When it starts: at its first call, or with the program.", json!({ "enum": ["lazy", "eager"] })),
            "start_timeout": described("How long its handshake may take; 5 seconds when nothing is said.", reference("duration")),
            "timeout": described("How long a call may take when the hook says nothing.", reference("duration")),
            "max_line": described("The longest line it may write; 8 MiB when nothing is said.", reference("size")),
            "provides": described("The tools it may answer for; `*` is every tool.", texts()),
            "event_method": described(
                "Which notification observers get: `hook.runtime_event`, or `hook.event` as PicoClaw up to v0.2.8.",
                json!({ "enum": ["event", "runtime_event"] }),
            ),
            "enabled": described("PicoClaw: whether it is used at all.", json!({ "type": "boolean" })),
            "priority": described("PicoClaw: its place in the chain, lower first.", json!({ "type": "integer" })),
            "transport": described("PicoClaw: how it is spoken to.", json!({ "enum": ["", "stdio"] })),
            "intercept": described(
                "PicoClaw: the stages it decides on; each becomes a hook of the event it corresponds to.",
                json!({ "type": "array", "items": { "anyOf": [{ "enum": stages }, { "const": "" }] } }),
            ),
            "observe": described(
                "PicoClaw: the events it is told of; `*` is all.",
                json!({ "type": "array", "items": { "type": "string" } }),
            )
        },
        "required": ["command"],
        "not": { "required": ["dir", "working_dir"] },
        "additionalProperties": false
    })
}

fn duration() -> Value {
    json!({ "anyOf": [
        described("Seconds.", json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 86400 })),
        described(
            "A number with a unit: `500ms`, `30s`, `2m`, `1h`.",
            json!({ "type": "string", "pattern": "^\\s*([0-9]+(\\.[0-9]*)?|\\.[0-9]+)\\s*(ms|s|m|min|h)$" }),
        )
    ] })
}

fn size() -> Value {
    json!({ "anyOf": [
        described("Bytes.", json!({ "type": "integer", "minimum": 1, "maximum": 1_u64 << 30 })),
        described(
            "A number with a unit: `64KiB`, `1MiB`.",
            json!({ "type": "string", "pattern": "^\\s*[0-9]+\\s*(B|kB|KB|MB|GB|KiB|MiB|GiB)$" }),
        )
    ] })
}

fn environment() -> Value {
    json!({
        "type": "object",
        "propertyNames": { "pattern": "^[^=]+$" },
        "additionalProperties": reference("text")
    })
}

fn inherit_env() -> Value {
    json!({ "anyOf": [
        described("All, or none.", json!({ "type": "boolean" })),
        described("Those named.", texts())
    ] })
}

fn texts() -> Value {
    json!({ "type": "array", "items": reference("text") })
}

fn one_or_many(item: &Value) -> Value {
    json!({ "anyOf": [item, { "type": "array", "items": item }] })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// Adds a description; beside a `$ref` draft 7 reads nothing, so that one is wrapped.
fn described(text: &str, schema: Value) -> Value {
    let mut schema =
        if schema.get("$ref").is_some() { json!({ "allOf": [schema] }) } else { schema };
    schema["description"] = text.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::super::{defaults, document, process, when};
    use super::*;

    #[test]
    fn the_schema_knows_the_keys_that_are_read() {
        fn keys(schema: &Value) -> Vec<&str> {
            let mut keys: Vec<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            keys.sort_unstable();
            keys
        }
        fn sorted(keys: impl IntoIterator<Item = &'static str>) -> Vec<&'static str> {
            let mut keys: Vec<&str> = keys.into_iter().collect();
            keys.sort_unstable();
            keys
        }
        let schema = config_schema();
        let definitions = &schema["definitions"];
        let events = || Event::all().map(Event::name);
        assert_eq!(keys(&definitions["hook"]), sorted(hook::KEYS));
        assert_eq!(keys(&definitions["matcher_entry"]), sorted(document::ENTRY_KEYS));
        assert_eq!(keys(&definitions["defaults"]), sorted(defaults::KEYS));
        assert_eq!(keys(&definitions["audit"]), sorted(audit::KEYS));
        assert_eq!(keys(&definitions["process"]), sorted(process::KEYS));
        assert_eq!(keys(&schema["else"]), sorted(events().chain(document::KEYS)));
        assert_eq!(keys(&definitions["hooks"]), sorted(events().chain(picoclaw::KEYS)));
        let mut operators: Vec<&str> = Vec::new();
        for form in definitions["condition"]["anyOf"].as_array().unwrap() {
            operators.extend(keys(form));
        }
        operators.sort_unstable();
        operators.dedup();
        assert_eq!(operators, sorted(when::KEYS));
    }

    #[test]
    fn there_is_no_null_in_it() {
        assert!(!config_schema().to_string().contains("null"));
    }
}
