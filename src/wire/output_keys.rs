//! The keys of a hook's answer. The reader in `output_reader.rs` and the schema both come from this
//! table. The reader also accepts spellings that one type can't express.

#[cfg(feature = "schema")]
use {
    super::{JsonObject, RequestChange, ToolResult},
    schemars::JsonSchema,
    serde_json::Value,
    std::collections::BTreeMap,
};

/// Declares the keys of an object, each with its name, type and description: a list of the names, and
/// the type that the schema is made of.
macro_rules! keys {
    ($(#[$meta:meta])* $object:ident, $names:ident:
     $($(#[doc = $doc:literal])* $field:ident $key:literal: $kind:ty;)*) => {
        pub(super) const $names: &[&str] = &[$($key),*];

        $(#[$meta])*
        #[cfg(feature = "schema")]
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "it is described, never made")]
        pub(crate) struct $object {
            $($(#[doc = $doc])* #[schemars(rename = $key)] $field: Option<$kind>,)*
        }
    };
}

keys! {
    /// The answer of a hook on stdout: one JSON object. All keys are optional; `{}` means "no opinion".
    ///
    /// The camelCase spellings of Claude Code (`hookSpecificOutput`) are read, too. `updatedInput`
    /// replaces all arguments, while `updated_input` replaces only the given keys. The keys of
    /// `hook_specific_output` may be at the top level as well. An unknown key is reported and otherwise
    /// ignored; with `strict_output` it is a failure of the hook.
    OutputJson, TOP_KEYS:
    /// `false` ends the turn, and denies the event where it may be blocked.
    proceed "continue": bool;
    /// Why the turn ends, when `continue` is `false`.
    stop_reason "stop_reason": String;
    /// Whether the hook's output is kept from the transcript.
    suppress_output "suppress_output": bool;
    /// A warning for the user.
    system_message "system_message": String;
    /// The decision; the strictest of several counts.
    decision "decision": DecisionWord;
    /// The reason of the decision, for the model.
    reason "reason": String;
    /// The digest of the call that is allowed, as in the input; only at `approval`.
    digest "digest": String;
    /// Who answered; only at `approval`.
    by "by": String;
    /// Answers that only some events take.
    hook_specific_output "hook_specific_output": SpecificJson;
}

keys! {
    /// Answers that only some events take; `hookexec docs events` says which.
    SpecificJson, SPECIFIC_KEYS:
    /// The event that the answer is for.
    hook_event_name "hook_event_name": String;
    /// The decision about a permission.
    permission_decision "permission_decision": DecisionWord;
    /// Why it was decided so.
    permission_decision_reason "permission_decision_reason": String;
    /// Keys that replace those of the tool's arguments; the others stay.
    updated_input "updated_input": JsonObject;
    /// The name of the tool to call instead.
    updated_tool_name "updated_tool_name": String;
    /// Context for the model.
    additional_context "additional_context": String;
    /// The summary of a compaction.
    summary "summary": String;
    /// Data for the approval request.
    metadata "metadata": BTreeMap<String, Value>;
    /// The whole new message list of a model request.
    updated_messages "updated_messages": Vec<Value>;
    /// Changes of a model request beside its messages.
    updated_request "updated_request": RequestChange;
    /// The whole new response of the model.
    updated_response "updated_response": Value;
    /// The whole new response of the tool; an empty string clears it.
    updated_tool_response "updated_tool_response": Value;
    /// The result of the tool, which is then not called; only where the hook may respond.
    respond "respond": ToolResult;
}

/// A decision.
#[cfg(feature = "schema")]
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "it is described, never made")]
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

#[cfg(all(test, feature = "schema"))]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::{SPECIFIC_KEYS, TOP_KEYS};
    use crate::schema;
    use crate::wire::Output;
    use crate::wire::output_reader::WORDS;

    #[test]
    fn the_reader_knows_exactly_the_words_of_the_schema() {
        let schema = schema::output();
        let words: BTreeSet<&str> = schema["definitions"]["DecisionWord"]["oneOf"]
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
        for (object, keys) in
            [(&answer, TOP_KEYS), (&answer["hook_specific_output"], SPECIFIC_KEYS)]
        {
            let given: BTreeSet<&str> =
                object.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(given, keys.iter().copied().collect());
        }
        let output = Output::from_value(answer).unwrap();
        assert_eq!(output.unknown_keys, []);
        assert!(output.rewrites() && output.respond.is_some() && output.summary.is_some());
    }
}
