//! A loop of one's own around a model that speaks the format of OpenAI: each prompt is a turn.

use std::fmt::Display;
use std::future::Future;

use hookexec::lifecycle::{
    Approval, ApprovalRequest, AuthorizedCall, ModelRequest, Outcome, Session, ToolCall, ToolError,
    TurnEnd,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const MAX_ITERATIONS: u64 = 20;

/// Runs a prompt as a turn of `session`, and adds what is said to `messages`.
///
/// `model` sends a request, `tool` runs a call, and `approve` asks the user.
pub async fn prompt<E: Display, R: Future<Output = Approval> + Send>(
    session: &Session,
    messages: &mut Vec<Value>,
    prompt: &str,
    model: impl AsyncFn(ModelRequest) -> Result<Value, E>,
    tool: impl AsyncFn(AuthorizedCall) -> Result<Value, ToolError>,
    approve: impl Fn(ApprovalRequest) -> R + Send + Sync,
    cancel: &CancellationToken,
) -> Outcome<String> {
    let turn = session.run_turn(prompt, async |turn| {
        messages.extend(turn.opening().additional_context().map(|text| said("system", text)));
        messages.push(said("user", prompt));
        for _ in 0..MAX_ITERATIONS {
            let call = turn.model_call(ModelRequest::new(messages.clone()));
            let call = call.cancelled_by(cancel.cancelled());
            let answer = call.run(async |request| model(request).await).await.end?;
            messages.push(answer.clone());
            let calls = ToolCall::all_in(&answer).map_err(TurnEnd::failed)?;
            if calls.is_empty() {
                match turn.finish(answer["content"].as_str().unwrap_or_default()).await {
                    Ok(finished) => return Ok(finished),
                    Err(reason) => messages.push(said("user", reason)),
                }
                continue;
            }
            let batch = turn.batch(calls).approve_with(&approve).cancelled_by(cancel.cancelled());
            let mut end = Ok(());
            for outcome in batch.run(async |call| tool(call).await).await {
                let mut result = said("tool", outcome.for_model());
                result["tool_call_id"] = json!(outcome.call.id);
                messages.push(result);
                end = end.and(outcome.go_on());
            }
            end?;
        }
        Err(TurnEnd::MaxIterations { limit: MAX_ITERATIONS })
    });
    turn.await
}

fn said(role: &str, text: impl Into<String>) -> Value {
    json!({ "role": role, "content": text.into() })
}
