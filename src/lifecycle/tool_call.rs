//! A tool call: as the model made it, as it may be executed, and its error.

use serde_json::Value;

use crate::wire::{Input, JsonObject, WireError, parse_strict};

/// A tool call as the model made it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: JsonObject,
    /// The call's id.
    pub id: Option<String>,
    /// The facts of the host about the tool.
    pub facts: ToolFacts,
}

/// Facts of a host about a tool. Hooks read them, and matchers match the kind as well as the name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ToolFacts {
    /// The kinds of the tool, the same for all agents: `shell`, `edit`, `read`.
    pub kinds: Vec<String>,
    /// Its category, as the host names it.
    pub category: Option<String>,
    /// Whether it only reads.
    pub read_only: Option<bool>,
}

impl ToolFacts {
    pub(super) fn fill(&self, input: &mut Input) {
        input.tool_kinds.clone_from(&self.kinds);
        input.tool_category.clone_from(&self.category);
        input.tool_read_only = self.read_only;
    }

    /// Returns the facts of a tool of the given kind.
    pub fn kind(kind: impl Into<String>) -> Self {
        Self { kinds: vec![kind.into()], ..Self::default() }
    }
}

impl ToolCall {
    /// Returns a call.
    pub fn new(name: impl Into<String>, arguments: JsonObject) -> Self {
        Self { name: name.into(), arguments, id: None, facts: ToolFacts::default() }
    }

    /// Returns a call whose arguments are a JSON value, as a client of a model hands them over; `null` is
    /// no arguments.
    ///
    /// # Errors
    /// When the value is not an object.
    pub fn from_value(
        name: impl Into<String>,
        arguments: impl Into<Value>,
    ) -> Result<Self, WireError> {
        match arguments.into() {
            Value::Null => Ok(Self::new(name, JsonObject::new())),
            Value::Object(arguments) => Ok(Self::new(name, arguments)),
            _ => Err(no_object()),
        }
    }

    /// Sets an argument.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }

    /// Returns a call whose arguments are JSON text, as most models write them; no text is no
    /// arguments.
    ///
    /// # Errors
    /// When the text is not exactly one JSON object, or contains a key twice: a guard and a tool
    /// could read different values of the two.
    pub fn parse(name: impl Into<String>, arguments: &str) -> Result<Self, WireError> {
        if arguments.trim().is_empty() {
            return Ok(Self::new(name, JsonObject::new()));
        }
        let arguments = match parse_strict(arguments) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err(no_object()),
            Err(error) => {
                let problem = format!("the arguments are not valid JSON: {error}");
                return Err(WireError::new(problem));
            }
        };
        Ok(Self::new(name, arguments))
    }

    /// Returns the calls in the message of a model: its `tool_calls` in the format `openai-chat`, or
    /// its blocks of the type `tool_use` in `anthropic-messages`.
    ///
    /// # Errors
    /// When a call names no tool, or its arguments are not exactly one JSON object.
    pub fn all_in(message: &Value) -> Result<Vec<Self>, WireError> {
        let mut calls = Vec::new();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            calls.push(Self::of_model(call, function, &function["arguments"])?);
        }
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                calls.push(Self::of_model(block, block, &block["input"])?);
            }
        }
        Ok(calls)
    }

    fn of_model(call: &Value, tool: &Value, arguments: &Value) -> Result<Self, WireError> {
        let Some(name) = tool["name"].as_str() else {
            return Err(WireError::new("a call in the message of the model names no tool"));
        };
        let mut parsed = match arguments {
            Value::String(text) => Self::parse(name, text)?,
            arguments => Self::from_value(name, arguments.clone())?,
        };
        parsed.id = call["id"].as_str().map(str::to_owned);
        Ok(parsed)
    }

    /// Sets the call's id.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    pub(super) fn fill(&self, input: &mut Input) {
        input.tool_name = Some(self.name.clone());
        input.tool_use_id.clone_from(&self.id);
        input.tool_input = Some(self.arguments.clone());
        self.facts.fill(input);
    }

    /// Returns whether `other` is this call: the same id, tool and arguments.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.id == other.id && self.name == other.name && self.arguments == other.arguments
    }
}

fn no_object() -> WireError {
    WireError::new("the arguments are not a JSON object")
}

/// A tool call that every stage let pass: the name and the arguments that the guards saw last.
///
/// Only the driver makes one, so a tool that takes this type can't be run past the hooks.
#[derive(Debug)]
#[must_use]
pub struct AuthorizedCall(pub(super) ToolCall);

impl AuthorizedCall {
    /// Returns the tool.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the arguments.
    pub const fn arguments(&self) -> &JsonObject {
        &self.0.arguments
    }

    /// Returns the call's id.
    pub fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// Returns the text argument `key`.
    ///
    /// # Errors
    /// When it is missing or not a text; the message is for the model.
    pub fn text(&self, key: &str) -> Result<&str, ToolError> {
        self.arguments().get(key).and_then(Value::as_str).ok_or_else(|| {
            ToolError::new(format!("`{}` needs the argument `{key}`, a string", self.name()))
        })
    }
}

/// The error of a tool, for the model.
///
/// Every [`std::error::Error`] becomes one with `?`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError(pub(super) Value);

impl ToolError {
    /// Returns an error that the model reads as `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Value::String(message.into()))
    }

    /// Returns an error whose response is more than a text.
    pub const fn with_response(response: Value) -> Self {
        Self(response)
    }

    /// Returns the result of a tool in MCP's form: as an error if its `isError` says so.
    ///
    /// # Errors
    /// The result of a tool that failed.
    pub fn of_mcp_result(result: Value) -> Result<Value, Self> {
        if result["isError"] == true { Err(Self(result)) } else { Ok(result) }
    }
}

// `ToolError` does not implement `std::error::Error`, so that every such error can become one.
impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_one_object_without_a_key_twice() {
        assert!(ToolCall::parse("shell", " ").unwrap().arguments.is_empty());
        assert_eq!(ToolCall::parse("shell", r#"{"cmd":"ls"}"#).unwrap().arguments["cmd"], "ls");
        let error = ToolCall::parse("shell", r#"{"cmd":"ls","cmd":"rm"}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the arguments are not valid JSON: key `cmd` appears twice in one object"
        );
        assert_eq!(ToolCall::parse("shell", "[1]"), Err(no_object()));
    }

    #[test]
    fn the_calls_of_a_message_are_read_in_both_formats() {
        let function = json!({ "name": "shell", "arguments": "{\"cmd\":\"ls\"}" });
        let openai = json!({ "tool_calls": [{ "id": "1", "function": function }] });
        let block =
            json!({ "type": "tool_use", "id": "1", "name": "shell", "input": { "cmd": "ls" } });
        let anthropic = json!({ "content": [{ "type": "text", "text": "so" }, block] });
        let call = ToolCall::new("shell", JsonObject::new()).arg("cmd", "ls").with_id("1");
        for message in [openai, anthropic] {
            assert_eq!(ToolCall::all_in(&message).unwrap(), std::slice::from_ref(&call));
        }
        assert_eq!(ToolCall::all_in(&json!({ "content": "Done." })), Ok(Vec::new()));
        let wrong = [
            json!({ "tool_calls": [{ "custom": {} }] }),
            json!({ "tool_calls": [{ "function": { "name": "shell", "arguments": "ls" } }] }),
            json!({ "content": [{ "type": "tool_use", "name": "shell", "input": [] }] }),
        ];
        for message in wrong {
            assert!(ToolCall::all_in(&message).is_err(), "{message}");
        }
    }
}
