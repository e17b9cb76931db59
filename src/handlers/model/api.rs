//! The formats of requests and replies that models are asked in.

use serde::Deserialize;
use serde_json::{Value, json};

use super::Parameters;
use crate::handlers::request::excerpt;
use crate::wire::{Usage, parse_strict};

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
        let (name, text, version) = match self {
            Self::AnthropicMessages => {
                ("x-api-key", key.map(str::to_owned), Some(("anthropic-version", "2023-06-01")))
            }
            Self::OpenaiChat => ("authorization", key.map(|key| format!("Bearer {key}")), None),
        };
        let version = version.map(|(name, text)| (name.to_owned(), text.to_owned()));
        text.map(|text| (name.to_owned(), text)).into_iter().chain(version).collect()
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
        let number = |key: &str| reply.get("usage")?.get(key)?.as_u64();
        let mut usage = Usage::default();
        (usage.input_tokens, usage.output_tokens) = match self {
            Self::AnthropicMessages => {
                let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
                let cached = cached.into_iter().filter_map(number).fold(0, u64::saturating_add);
                (number("input_tokens")?.saturating_add(cached), number("output_tokens")?)
            }
            Self::OpenaiChat => (number("prompt_tokens")?, number("completion_tokens")?),
        };
        Some(usage)
    }

    /// Returns the model's only answer.
    ///
    /// # Errors
    /// When it gave none, several, or did not finish.
    pub(super) fn answer(self, reply: &Value) -> Result<Value, String> {
        let text = |pointer: &str| reply.pointer(pointer).and_then(Value::as_str);
        let list = |key: &str| reply.get(key).and_then(Value::as_array).into_iter().flatten();
        let (ended, wanted) = match self {
            Self::AnthropicMessages => (text("/stop_reason"), ["tool_use", "end_turn"]),
            Self::OpenaiChat => (text("/choices/0/finish_reason"), ["stop", "stop"]),
        };
        if !ended.is_some_and(|ended| wanted.contains(&ended)) {
            let ended = ended.unwrap_or("no reason");
            return Err(format!("it did not finish its answer (`{ended}`)"));
        }
        match self {
            Self::AnthropicMessages => {
                let mut calls = list("content")
                    .filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
                let (call, another) = (calls.next(), calls.next());
                let call = call.filter(|call| {
                    another.is_none() && call.get("name").and_then(Value::as_str) == Some(ANSWER)
                });
                let input = call.and_then(|call| call.get("input")).cloned();
                input.ok_or_else(|| "it did not give one answer".to_owned())
            }
            Self::OpenaiChat => {
                if let Some(refusal) = text("/choices/0/message/refusal") {
                    return Err(format!("it refused to answer: {}", excerpt(refusal)));
                }
                let content = text("/choices/0/message/content");
                let content = content.filter(|_| list("choices").count() == 1);
                let content = content.ok_or("it did not give one answer")?;
                parse_strict(content).map_err(|error| format!("its answer can't be read: {error}"))
            }
        }
    }
}
