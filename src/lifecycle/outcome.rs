//! How a driver ended.

use std::fmt;
use std::time::Duration;

use hookexec_files::rpc::mcp::{text_block, text_result};
use serde_json::Value;

use super::tool_call::ToolCall;
use super::turn::TurnEnd;
use crate::event::Event;
use crate::wire::{Stop, ToolResult, Verdict};

/// The outcome of a turn, a model call or a compaction.
#[must_use = "a refusal stands here"]
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The result, or why there is none. In a turn it ends the turn with `?`.
    pub end: Result<T, TurnEnd>,
    /// Everything the hooks said on the way.
    pub trail: Trail,
}

impl<T> Outcome<T> {
    /// Returns the outcome of what ended before it had a result.
    pub(super) fn ended(end: TurnEnd) -> Self {
        let mut trail = Trail::default();
        if let TurnEnd::Refused(refused) = &end {
            trail.clone_from(&refused.trail);
        }
        Self { end: Err(end), trail }
    }
}

/// The outcome of one tool call.
#[must_use = "a denial or a stop stands here"]
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The call in its final form: as it was executed, or as it was when it ended.
    pub call: ToolCall,
    /// How it ended.
    pub end: ToolEnd,
    /// How long the tool ran; `None` when it did not.
    pub duration: Option<Duration>,
    /// Everything the hooks said on the way.
    pub trail: Trail,
}

/// How a tool call ended.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a host must have an answer to each of them")]
pub enum ToolEnd {
    /// The tool ran.
    Ran {
        /// Its response, with the hooks' rewrites.
        response: Value,
        /// Whether the response is another than the tool gave.
        rewritten: bool,
        /// The objection of a `post_tool_use` hook, for the model.
        objection: Option<String>,
    },
    /// The tool ran and failed, or panicked.
    Failed {
        /// Its error, with the hooks' rewrites.
        response: Value,
        /// Whether the error is another than the tool gave.
        rewritten: bool,
        /// The objection of a `post_tool_use` hook, for the model.
        objection: Option<String>,
    },
    /// A hook answered in the tool's place; the tool did not run.
    Responded {
        /// The answer, as `tool_response_transform` left it.
        result: Box<ToolResult>,
    },
    /// It was denied; the tool did not run.
    Denied {
        /// By whom.
        by: DeniedBy,
        /// Why, for the model.
        message: String,
    },
    /// A hook ended the turn or the session.
    Aborted {
        /// The event of that hook.
        by: Event,
        /// How far it reaches, and why.
        stop: Stop,
        /// The tool's response, if the tool had run; it belongs in the transcript.
        response: Option<Value>,
        /// Why hooks also denied the call, or object to the response, for the model.
        objection: Option<String>,
    },
    /// The host cancelled it.
    Cancelled,
}

/// Who denied a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeniedBy {
    /// The hooks of an event.
    Hooks(Event),
    /// The approver.
    Approver,
    /// Approval was needed, and the host has no approver.
    NobodyToAsk,
    /// The approval was for another call than the one to execute.
    VoidApproval,
}

impl fmt::Display for DeniedBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Hooks(event) => event.name(),
            Self::Approver => "user",
            Self::NobodyToAsk => "nobody_to_ask",
            Self::VoidApproval => "void_approval",
        })
    }
}

impl ToolOutcome {
    /// Returns what ends the turn or the session, if a hook said so.
    pub const fn stop(&self) -> Option<&Stop> {
        match &self.end {
            ToolEnd::Aborted { stop, .. } => Some(stop),
            _ => None,
        }
    }

    /// Goes on with the turn.
    ///
    /// # Errors
    /// The end of the turn, if a hook ended the turn or the session.
    pub fn go_on(&self) -> Result<(), TurnEnd> {
        let ToolEnd::Aborted { by, stop, .. } = &self.end else { return Ok(()) };
        let refused = Refused::stopped(*by, stop, self.trail.clone());
        Err(TurnEnd::Refused(Box::new(refused)))
    }

    /// Returns whether the model should read the response as an error.
    pub const fn is_error(&self) -> bool {
        match &self.end {
            ToolEnd::Ran { .. } => false,
            ToolEnd::Responded { result } => result.is_error,
            _ => true,
        }
    }

    /// Returns the text for the model: the response or why it is missing, and the
    /// [guidance](Self::guidance).
    pub fn for_model(&self) -> String {
        let mut text = match &self.end {
            ToolEnd::Ran { response, .. } | ToolEnd::Failed { response, .. } => text_of(response),
            ToolEnd::Responded { result } => result.for_llm.clone(),
            ToolEnd::Denied { message, .. } => format!("Tool call denied: {message}"),
            ToolEnd::Aborted { response, .. } => response.as_ref().map(text_of).unwrap_or_default(),
            ToolEnd::Cancelled => "Tool call cancelled".to_owned(),
        };
        if let Some(guidance) = self.guidance() {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            text = format!("{text}{gap}{guidance}");
        }
        text
    }

    /// Returns the result of the call in MCP's form: blocks in `content`, and `isError`.
    ///
    /// A response of this form keeps its other keys, and the [guidance](Self::guidance) is one more
    /// block. Any other is one block with the [text for the model](Self::for_model).
    pub fn mcp_result(&self) -> Value {
        let mut result = match &self.end {
            ToolEnd::Ran { response, .. }
            | ToolEnd::Failed { response, .. }
            | ToolEnd::Aborted { response: Some(response), .. } => response.clone(),
            _ => Value::Null,
        };
        if let Some(Value::Array(blocks)) = result.get_mut("content") {
            blocks.extend(self.guidance().as_deref().map(text_block));
        } else {
            result = text_result(&self.for_model(), false);
        }
        // A hook, or a tool that did not fail here, may have written it.
        let is_error = self.is_error() || result["isError"] == true;
        result["isError"] = is_error.into();
        result
    }

    /// Returns what the model reads beside the response: objections, a stop, and the hooks' context.
    pub fn guidance(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let ToolEnd::Ran { objection, .. }
        | ToolEnd::Failed { objection, .. }
        | ToolEnd::Aborted { objection, .. } = &self.end
        {
            parts.extend(objection.clone());
        }
        if let ToolEnd::Aborted { stop, .. } = &self.end {
            let colon = if stop.reason.is_empty() { "" } else { ": " };
            parts.push(format!("Stopped by a hook{colon}{}", stop.reason));
        }
        parts.extend(self.trail.additional_context());
        if parts.is_empty() { None } else { Some(parts.join("\n\n")) }
    }
}

/// Returns JSON as a model reads it: a text without its quotes.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The verdicts of every event that fired on the way, in order.
///
/// Whatever the outcome is, read from here the hooks' texts for the model and the user, and the
/// hooks that failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trail(Vec<Verdict>);

impl Trail {
    /// Adds a verdict, unless no hook took part in it.
    pub(super) fn push(&mut self, verdict: Verdict) {
        if verdict != Verdict::no_opinion(verdict.event) {
            self.0.push(verdict);
        }
    }

    /// Returns the verdicts.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.0
    }

    /// Returns the hooks' context for the model, joined by newlines.
    pub fn additional_context(&self) -> Option<String> {
        let texts: Vec<&str> =
            self.0.iter().filter_map(|verdict| verdict.additional_context.as_deref()).collect();
        if texts.is_empty() { None } else { Some(texts.join("\n")) }
    }

    /// Returns the hooks' messages for the user, each with its event.
    pub fn system_messages(&self) -> impl Iterator<Item = (Event, &str)> {
        self.0
            .iter()
            .filter_map(|verdict| Some((verdict.event, verdict.system_message.as_deref()?)))
    }

    /// Returns the hooks that ended in an error or failed while the event went on.
    pub fn failed_open(&self) -> impl Iterator<Item = (Event, &str)> {
        let mut failed = Vec::new();
        for verdict in &self.0 {
            for name in &verdict.failed_open {
                failed.push((verdict.event, name.as_str()));
            }
        }
        failed.into_iter()
    }
}

/// A hook refused: the action did not begin, or its result must not be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("refused by a `{by}` hook: {message}")]
#[non_exhaustive]
pub struct Refused {
    /// The event whose hooks refused.
    pub by: Event,
    /// Why, for the model or the user.
    pub message: String,
    /// Whether the refusal also ends the turn or the session.
    pub stop: Option<Stop>,
    /// Everything the hooks said on the way.
    pub trail: Trail,
}

impl Refused {
    /// Returns the refusal by `verdict`.
    pub(super) fn of(verdict: &Verdict, trail: Trail) -> Self {
        let (message, stop) = (reason(verdict), verdict.stop.clone());
        Self { by: verdict.event, message, stop, trail }
    }

    /// Returns the refusal by an event whose hooks stopped the turn or the session.
    pub(super) fn stopped(by: Event, stop: &Stop, trail: Trail) -> Self {
        Self { by, message: stop.reason.clone(), stop: Some(stop.clone()), trail }
    }
}

/// Returns whether a verdict refuses. An ask is a refusal at an event that can't ask.
pub(super) fn refuses(verdict: &Verdict) -> bool {
    !verdict.allowed || verdict.stop.is_some()
}

/// Returns why a verdict refuses, with a default text if the hook gave none.
pub(super) fn reason(verdict: &Verdict) -> String {
    if let Some(message) = &verdict.message
        && !message.trim().is_empty()
    {
        return message.clone();
    }
    match &verdict.stop {
        Some(stop) if !stop.reason.is_empty() => stop.reason.clone(),
        _ => format!("a `{}` hook said no", verdict.event),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(end: ToolEnd) -> ToolOutcome {
        let call = ToolCall::new("shell", serde_json::Map::new());
        ToolOutcome { call, end, duration: None, trail: Trail::default() }
    }

    #[test]
    fn a_result_in_the_form_of_mcp_keeps_its_keys_and_reads_the_guidance() {
        let response = json!({ "content": [{ "type": "image" }], "structuredContent": 1 });
        let objection = Some("not so big".to_owned());
        let ran = ToolEnd::Ran { response: response.clone(), rewritten: false, objection };
        let text = json!({ "type": "text", "text": "not so big" });
        let expected = json!({
            "content": [{ "type": "image" }, text], "structuredContent": 1, "isError": false,
        });
        assert_eq!(outcome(ran).mcp_result(), expected);

        let failed = ToolEnd::Failed { response, rewritten: false, objection: None };
        assert_eq!(outcome(failed).mcp_result()["isError"], true);

        for (response, text) in [(json!("files"), "files"), (json!([1]), "[1]")] {
            let ran = ToolEnd::Ran { response, rewritten: false, objection: None };
            let content = [json!({ "type": "text", "text": text })];
            let expected =
                json!({ "resultType": "complete", "content": content, "isError": false });
            assert_eq!(outcome(ran).mcp_result(), expected);
        }
        let cancelled = outcome(ToolEnd::Cancelled).mcp_result();
        assert_eq!(cancelled["content"][0]["text"], "Tool call cancelled");
        assert_eq!(cancelled["isError"], true);
    }
}
