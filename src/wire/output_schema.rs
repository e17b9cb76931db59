//! The JSON shape of a hook's answer, for the schema. The reader in `output_reader.rs` accepts more
//! spellings than one type can express, so the schema has types of its own. A test compares both.
#![expect(dead_code, reason = "these types are described, never made")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

use super::{JsonObject, RequestChange, ToolResult};

/// What a hook writes to stdout: one JSON object. All keys are optional; `{}` means "no opinion".
///
/// The camelCase spellings of Claude Code (`hookSpecificOutput`) are read, too. `updatedInput`
/// replaces all arguments, while `updated_input` replaces only the given keys. The keys of
/// `hook_specific_output` may be at the top level as well. An unknown key is reported and otherwise
/// ignored; with `strict_output` it is a failure of the hook.
#[derive(JsonSchema)]
pub(crate) struct OutputJson {
    /// `false` ends the turn, and denies the event where it may be blocked.
    r#continue: Option<bool>,
    /// Why the turn ends, when `continue` is `false`.
    stop_reason: Option<String>,
    /// Whether the hook's output is kept from the transcript.
    suppress_output: Option<bool>,
    /// A warning for the user.
    system_message: Option<String>,
    /// The decision; the strictest of several counts.
    decision: Option<DecisionWord>,
    /// The reason of the decision, for the model.
    reason: Option<String>,
    /// The digest of the call that is allowed, as in the input; only at `approval`.
    digest: Option<String>,
    /// Who answered; only at `approval`.
    by: Option<String>,
    /// Answers that only some events take.
    hook_specific_output: Option<SpecificJson>,
}

/// Answers that only some events take; `hookexec docs events` says which.
#[derive(JsonSchema)]
pub(crate) struct SpecificJson {
    /// The event that the answer is for.
    hook_event_name: Option<String>,
    /// The decision about a permission.
    permission_decision: Option<DecisionWord>,
    /// Why it was decided so.
    permission_decision_reason: Option<String>,
    /// Keys that replace those of the tool's arguments; the others stay.
    updated_input: Option<JsonObject>,
    /// The name of the tool to call instead.
    updated_tool_name: Option<String>,
    /// Context for the model.
    additional_context: Option<String>,
    /// The summary of a compaction.
    summary: Option<String>,
    /// Data for the approval request.
    metadata: Option<BTreeMap<String, Value>>,
    /// The whole new message list of a model request.
    updated_messages: Option<Vec<Value>>,
    /// Changes of a model request beside its messages.
    updated_request: Option<RequestChange>,
    /// The whole new response of the model.
    updated_response: Option<Value>,
    /// The whole new response of the tool; an empty string clears it.
    updated_tool_response: Option<Value>,
    /// The result of the tool, which is then not called; only where the hook may respond.
    respond: Option<ToolResult>,
}

/// A decision.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(crate) enum DecisionWord {
    /// It may go on.
    Allow,
    /// It may go on.
    Approve,
    /// It must not go on.
    Deny,
    /// It must not go on.
    Block,
    /// The user must be asked.
    Ask,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use crate::schema;
    use crate::wire::Output;
    use crate::wire::output_reader::{SPECIFIC_KEYS, TOP_KEYS, WORDS};

    fn keys(schema: &Value) -> BTreeSet<&str> {
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_reader_knows_exactly_the_keys_and_words_of_the_schema() {
        let schema = schema::output();
        assert_eq!(keys(&schema), BTreeSet::from(TOP_KEYS));
        let definitions = &schema["definitions"];
        assert_eq!(keys(&definitions["SpecificJson"]), BTreeSet::from(SPECIFIC_KEYS));
        let words: BTreeSet<&str> = definitions["DecisionWord"]["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word["const"].as_str().unwrap())
            .collect();
        assert_eq!(words, WORDS.iter().map(|(word, _)| *word).collect());
    }

    #[test]
    fn an_answer_that_uses_the_whole_schema_is_read_without_a_remark() {
        let answer = json!({
            "continue": true, "stop_reason": "", "suppress_output": true, "system_message": "s",
            "decision": "approve", "reason": "r", "digest": "d", "by": "b",
            "hook_specific_output": {
                "hook_event_name": "pre_tool_use", "permission_decision": "allow",
                "permission_decision_reason": "p", "updated_input": {"a": 1}, "updated_tool_name": "t",
                "additional_context": "c", "summary": "s", "metadata": {"k": 1},
                "updated_messages": [], "updated_request": {"model": "m"}, "updated_response": {},
                "updated_tool_response": "", "respond": {"for_llm": "x"},
            },
        });
        let validator = jsonschema::validator_for(&schema::output()).unwrap();
        assert!(validator.is_valid(&answer));
        for (key, value) in answer.as_object().unwrap() {
            assert!(TOP_KEYS.contains(&key.as_str()), "{key}");
            assert!(!value.is_null());
        }
        let output = Output::from_value(answer).unwrap();
        assert_eq!(output.unknown_keys, []);
        assert!(output.rewrites() && output.respond.is_some() && output.summary.is_some());
    }
}
