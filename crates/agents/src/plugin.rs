//! Agents without hook settings: a plugin in the agent's own process calls hookexec and applies the
//! answer.
//!
//! The plugin sends a payload with the keys that [`read`](super::read) knows from the other agents
//! (`session_id`, `cwd`, `tool_name`, `tool_input`, `tool_response`, ...), so these adapters need
//! no reading of their own. The answer says what to do, not how: the plugin knows its agent's ways
//! of doing it.

use serde_json::{Value, json};

use super::payload::spoken;
use super::{Agent, Answer, Plan, Response, members};
use hookexec::Event;

impl Agent {
    /// Returns the text of the agent's plugin, if that is one file.
    pub fn plugin_text(self) -> Option<&'static str> {
        match self {
            Self::OpenCode | Self::Kilo => Some(include_str!("../plugins/opencode/hookexec.js")),
            Self::Pi => Some(include_str!("../plugins/pi/hookexec.ts")),
            _ => None,
        }
    }
}

/// Says what a plugin applies.
pub(super) fn write(plan: &Plan<'_>) -> Answer {
    let takes_response =
        plan.native.event == Some(Event::PostToolUse) && plan.native.response == Response::Takes;
    let response = match (plan.input, plan.response) {
        // Without an input there was no verdict, and a redaction might have been missed.
        (None, _) if takes_response => {
            Some(json!("The tool's response is withheld: hookexec gave no verdict."))
        }
        (Some(input), Some(response)) => Some(in_shape_of(input.tool_response.as_ref(), response)),
        (None, Some(response)) => Some(in_shape_of(None, response)),
        (_, None) => None,
    };
    Answer::json(members! {
        // Stop the call or the prompt, with this reason.
        "deny": plan.denial(),
        // Ask the user first, with this reason.
        "ask": if plan.asks() { Some(&plan.reason) } else { None },
        // Run the tool with these arguments instead; they are all of them.
        "arguments": plan.rewrite,
        // Give the model this in place of the tool's response, in the same shape.
        "response": response,
        // Tell the model this along with what it reads next.
        "context": plan.context,
        // Tell the user this.
        "message": plan.system_message,
    })
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
