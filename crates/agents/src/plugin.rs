//! Agents without hook settings: a plugin in the agent's own process calls hookexec and applies the
//! answer.
//!
//! The plugin sends a payload with the keys that [`read`](super::read) knows from the other agents
//! (`session_id`, `cwd`, `tool_name`, `tool_input`, `tool_response`, ...), so these adapters need
//! no reading of their own. The answer says what to do, not how: the plugin knows its agent's ways
//! of doing it.

use serde::Serialize;
use serde_json::{Value, json};

use super::answer::Answer;
use super::native::{NativeEvent, Response};
use super::payload::spoken;
use super::plan::Plan;
use hookexec::event::Event;
use hookexec::wire::{Input, JsonObject};

/// The plugin of an agent that has no hook settings.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Plugin {
    /// Its directory in hookexec's repository.
    pub source: &'static str,
    /// What `install` writes; `None` for a plugin of more than one file.
    pub file: Option<PluginFile>,
}

/// A plugin of one file, and where the agent loads it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PluginFile {
    /// The text of the file.
    pub text: &'static str,
    /// Whether the agent's directory is in the user's directory of settings, and not in their home.
    pub is_in_config: bool,
    /// The agent's directory.
    pub directory: &'static str,
    /// The agent's directory in a project.
    pub project: &'static str,
    /// The file in either of them.
    pub file: &'static str,
}

/// What a plugin applies. With nothing to apply, hookexec prints nothing.
#[derive(Default, PartialEq, Serialize)]
struct Applied<'p> {
    /// Stop the call or the prompt, with this reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<&'p str>,
    /// Ask the user first, with this reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<&'p str>,
    /// Run the tool with these arguments instead; they are all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'p JsonObject>,
    /// Give the model this in place of the tool's response, in the same shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Value>,
    /// Tell the model this along with what it reads next.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'p str>,
    /// Tell the user this.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'p str>,
}

pub(super) fn write(native: &NativeEvent, input: Option<&Input>, plan: &Plan<'_>) -> Answer {
    let before = input.and_then(|input| input.tool_response.as_ref());
    // Without an input there was no verdict, and a redaction might have been missed.
    let lost = input.is_none()
        && native.event == Some(Event::PostToolUse)
        && native.response == Response::Takes;
    let applied = Applied {
        deny: plan.denies().then_some(plan.reason.as_str()),
        ask: plan.asks().then_some(plan.reason.as_str()),
        arguments: plan.rewrite,
        response: if lost {
            Some(json!("The tool's response is withheld: hookexec gave no verdict."))
        } else {
            plan.response.map(|response| in_shape_of(before, response))
        },
        context: plan.context.as_deref(),
        message: plan.system_message.as_deref(),
    };
    if applied == Applied::default() { Answer::silence() } else { Answer::json(&applied) }
}

/// Returns a changed response as the tool gave its own: a text, or a list of content parts (MCP).
fn in_shape_of(before: Option<&Value>, response: &Value) -> Value {
    match (before, response) {
        (_, Value::Array(_)) => response.clone(),
        (Some(Value::Array(_)), other) => json!([{ "type": "text", "text": spoken(other) }]),
        (_, other) => json!(spoken(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_response_has_the_shape_of_the_old_one() {
        let parts = json!([{ "type": "text", "text": "x" }]);
        for (before, response, expected) in [
            (json!("a"), json!("x"), json!("x")),
            (json!("a"), json!({ "for_llm": "x" }), json!("x")),
            (json!([]), json!("x"), parts.clone()),
            (parts.clone(), parts.clone(), parts.clone()),
        ] {
            assert_eq!(in_shape_of(Some(&before), &response), expected);
        }
    }
}
