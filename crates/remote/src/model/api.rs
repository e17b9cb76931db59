//! The formats of requests and replies that models are asked in.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Parameters;
use crate::request::excerpt;
use hookexec::wire::{Usage, parse_strict};

/// The name of the answer's schema.
const ANSWER: &str = "answer";

/// A format of requests and replies.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Api {
    /// `POST /v1/messages` of Anthropic: the answer is the input of a tool that it must call.
    AnthropicMessages,
    /// `POST /v1/chat/completions` of `OpenAI` and many servers: the answer is structured output.
    OpenaiChat,
}

impl Api {
    pub(super) fn headers(self, key: Option<&str>) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        if let Self::AnthropicMessages = self {
            headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
        }
        if let Some(key) = key {
            headers.push(match self {
                Self::AnthropicMessages => ("x-api-key".to_owned(), key.to_owned()),
                Self::OpenaiChat => ("authorization".to_owned(), format!("Bearer {key}")),
            });
        }
        headers
    }

    pub(super) fn request(self, with: &Parameters, system: &str, user: &str) -> Value {
        let (model, most, schema) = (&with.model, with.max_tokens, with.schema());
        match self {
            Self::AnthropicMessages => json!({
                "model": model,
                "max_tokens": most,
                "system": system,
                "messages": [{ "role": "user", "content": user }],
                "tools": [{
                    "name": ANSWER, "description": "Gives the decision.", "input_schema": schema,
                }],
                "tool_choice": {
                    "type": "tool", "name": ANSWER, "disable_parallel_tool_use": true,
                },
            }),
            Self::OpenaiChat => json!({
                "model": model,
                "max_completion_tokens": most,
                "messages": [
                    { "role": "system", "content": system },
                    { "role": "user", "content": user },
                ],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": { "name": ANSWER, "strict": true, "schema": schema },
                },
            }),
        }
    }

    /// Returns what the model used; `None` when the reply does not say it.
    pub(super) fn usage(self, reply: &Value) -> Option<Usage> {
        let mut usage = Usage::default();
        let said = reply.get("usage")?;
        match self {
            Self::AnthropicMessages => {
                usage.input_tokens = said.get("input_tokens")?.as_u64()?;
                usage.output_tokens = said.get("output_tokens")?.as_u64()?;
                for cached in ["cache_creation_input_tokens", "cache_read_input_tokens"] {
                    let cached = said[cached].as_u64().unwrap_or_default();
                    usage.input_tokens = usage.input_tokens.saturating_add(cached);
                }
            }
            Self::OpenaiChat => {
                usage.input_tokens = said.get("prompt_tokens")?.as_u64()?;
                usage.output_tokens = said.get("completion_tokens")?.as_u64()?;
            }
        }
        Some(usage)
    }

    /// Returns the model's only answer.
    ///
    /// # Errors
    /// When it gave none, several, or did not finish.
    pub(super) fn answer(self, reply: &Value) -> Result<Value, Cow<'static, str>> {
        let (ended, wanted) = match self {
            Self::AnthropicMessages => (text_at(reply, "/stop_reason"), ["tool_use", "end_turn"]),
            Self::OpenaiChat => (text_at(reply, "/choices/0/finish_reason"), ["stop", "stop"]),
        };
        let ended = ended.unwrap_or("no reason");
        if !wanted.contains(&ended) {
            return Err(format!("it did not finish its answer (`{ended}`)").into());
        }
        match self {
            Self::AnthropicMessages => {
                let mut calls = list_at(reply, "content").to_vec();
                calls.retain(|block| text_at(block, "/type") == Some("tool_use"));
                if let [call] = calls.as_mut_slice()
                    && text_at(call, "/name") == Some(ANSWER)
                    && let Some(input) = call.get_mut("input")
                {
                    return Ok(input.take());
                }
            }
            Self::OpenaiChat => {
                if let Some(refusal) = text_at(reply, "/choices/0/message/refusal") {
                    return Err(format!("it refused to answer: {}", excerpt(refusal)).into());
                }
                if let [choice] = list_at(reply, "choices")
                    && let Some(content) = text_at(choice, "/message/content")
                {
                    return parse_strict(content)
                        .map_err(|error| format!("its answer can't be read: {error}").into());
                }
            }
        }
        Err("it did not give one answer".into())
    }
}

fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

fn list_at<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}
