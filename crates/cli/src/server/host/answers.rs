//! The answers to a host.

use serde_json::{Value, json};

use super::super::engine::InUse;
use hookexec::lifecycle::{ModelOutcome, Refused, Stage, ToolEnd, ToolOutcome, Trail};

/// What hooks said on the way, for the model, the user and the operators.
pub(super) fn trail(trail: &Trail, current: &InUse) -> Value {
    let mut messages: Vec<String> =
        trail.system_messages().map(|(_, message)| message.to_owned()).collect();
    messages.extend(current.problem.as_deref().map(str::to_owned));
    let failed_open: Vec<&str> = trail.failed_open().map(|(_, hook)| hook).collect();
    json!({
        "additional_context": trail.additional_context(),
        "system_messages": messages,
        "failed_open": failed_open,
    })
}

pub(super) fn refused(refused: &Refused, current: &InUse) -> Value {
    let mut answer = trail(&refused.trail, current);
    let Refused { by, message, stop, .. } = refused;
    answer["refused"] = json!({ "by": by, "message": message, "stop": stop });
    answer
}

/// How a tool call ended.
pub(super) fn tool(outcome: &ToolOutcome, current: &InUse) -> Value {
    let mut answer = trail(&outcome.trail, current);
    answer["next"] = "done".into();
    answer["tool_name"] = json!(outcome.call.name);
    answer["tool_input"] = json!(outcome.call.arguments);
    answer["for_model"] = json!(outcome.for_model());
    answer["is_error"] = json!(outcome.is_error());
    answer["stop"] = json!(outcome.stop());
    let (end, response, message) = match &outcome.end {
        ToolEnd::Ran { response, objection } => ("ran", json!(response), objection.clone()),
        ToolEnd::Failed { response, objection, .. } => {
            ("failed", json!(response), objection.clone())
        }
        ToolEnd::Responded { result } => ("responded", json!(result), None),
        ToolEnd::Denied { message, .. } => ("denied", Value::Null, Some(message.clone())),
        ToolEnd::Aborted { stop, response, objection, .. } => {
            let said = objection.iter().chain([&stop.reason]).cloned().collect::<Vec<_>>();
            ("aborted", json!(response), Some(said.join("\n")))
        }
        ToolEnd::Cancelled { during } => ("cancelled", Value::Null, Some(stage(*during))),
    };
    answer["end"] = end.into();
    answer["response"] = response;
    answer["message"] = json!(message);
    answer
}

fn stage(during: Stage) -> String {
    match during {
        Stage::Hooks(event) => format!("cancelled during {event}"),
        Stage::Approval => "cancelled while approval was asked for".to_owned(),
        _ => "cancelled".to_owned(),
    }
}

/// How a model call ended.
pub(super) fn model(outcome: ModelOutcome<String>, current: &InUse) -> Value {
    let mut answer = match &outcome {
        ModelOutcome::Answered { trail: on_the_way, .. }
        | ModelOutcome::Failed { trail: on_the_way, .. }
        | ModelOutcome::Cancelled { trail: on_the_way } => trail(on_the_way, current),
        ModelOutcome::Refused(by) => refused(by, current),
    };
    answer["next"] = "done".into();
    match outcome {
        ModelOutcome::Answered { response, .. } => answer["response"] = response,
        ModelOutcome::Failed { error, .. } => answer["error"] = error.into(),
        ModelOutcome::Cancelled { .. } => answer["error"] = "cancelled".into(),
        ModelOutcome::Refused(_) => {}
    }
    answer
}
