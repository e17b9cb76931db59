//! `type: mcp`: a tool of an MCP server is the hook.
//!
//! The server is an entry of `processes:`, which keeps it running, or stands behind an address. The
//! tool gets the event's input, or `arguments` with values from it. Its result is read like the
//! stdout of a program that exited with 0.

#[cfg(feature = "http")]
mod remote;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use hookexec::config::Hook;
use hookexec::registry::{CalledProcess, Words};
use hookexec::wire::{JsonObject, parse_strict};
use hookexec::{
    BoxFuture, BuildError, Call, Exited, Failure, Handler, HandlerEnv, HandlerError, HandlerResult,
};
use hookexec_files::template;
use serde::Deserialize;
use serde_json::Value;

#[cfg(feature = "http")]
use crate::endpoint::Endpoint;
use crate::request::{excerpt, like_stdout, parameters, wrong};

const EXAMPLE: &str = "such as `with: { server: NAME, tool: NAME }`, where the server is an entry of \
                       `processes:` with `protocol: mcp`";

/// The keys of `with`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    server: Option<String>,
    url: Option<String>,
    tool: String,
    arguments: Option<JsonObject>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    allow_private: bool,
}

/// Builds the handler of an mcp hook.
pub(crate) fn build(env: &HandlerEnv, hook: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    #[cfg_attr(not(feature = "http"), expect(unused_mut, reason = "no server has an address"))]
    let Parameters { server, url, tool, arguments, mut headers, allow_private } =
        parameters(hook, EXAMPLE)?;
    if tool.trim().is_empty() {
        return Err(wrong("`tool` can't be empty", EXAMPLE));
    }
    let server = match (server, url) {
        (Some(_), None) if allow_private || !headers.is_empty() => {
            return Err(wrong("`headers` and `allow_private` belong to a `url`", EXAMPLE));
        }
        (Some(name), None) => Server::Local(env.mcp_server(&name)?),
        #[cfg(feature = "http")]
        (None, Some(url)) => {
            let accepted = "application/json, text/event-stream";
            headers.insert("Accept".to_owned(), accepted.to_owned());
            let url = (url.as_str(), allow_private);
            Server::Remote(Arc::new(Endpoint::new(hook, env, url, headers, EXAMPLE)?))
        }
        #[cfg(not(feature = "http"))]
        (None, Some(_)) => {
            let message = "a `url` needs the feature `http`, which this hookexec was built without";
            return Err(BuildError::new(message).at("with"));
        }
        _ => return Err(wrong("an mcp hook needs either a `server` or a `url`", EXAMPLE)),
    };
    let arguments = arguments.map(Value::Object);
    Ok(Arc::new(McpHandler { server, tool, arguments, words: env.words(hook) }))
}

/// Where a server is.
enum Server {
    /// An entry of `processes:`.
    Local(CalledProcess),
    #[cfg(feature = "http")]
    Remote(Arc<Endpoint>),
}

struct McpHandler {
    server: Server,
    tool: String,
    /// The arguments of the tool; the event's input when `None`.
    arguments: Option<Value>,
    words: Words,
}

impl Handler for McpHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(self.words.each_payload(call, |payload| self.ask(call, payload)))
    }

    fn grace(&self) -> Duration {
        // How long after its deadline a call may take to say so.
        Duration::from_millis(500)
    }
}

impl McpHandler {
    async fn ask(&self, call: &Call<'_>, payload: Arc<[u8]>) -> Result<Exited, HandlerError> {
        let payload = String::from_utf8_lossy(&payload);
        let arguments = match self.arguments.clone() {
            None => payload.into_owned(),
            Some(mut arguments) => {
                let payload = parse_strict(&payload).map_err(|error| other(&error))?;
                template::fill(&mut arguments, &payload).map_err(|error| other(&error))?;
                arguments.to_string()
            }
        };
        let params = call_params(&self.tool, &arguments);
        let (place, result) = match &self.server {
            Server::Local(process) => {
                let result = process.ask(CALL, &params, call).await?;
                (format!("process `{}`", process.name()), result)
            }
            #[cfg(feature = "http")]
            Server::Remote(server) => {
                let (place, server) = (server.client.host().to_owned(), Arc::clone(server));
                let asked =
                    call.blocking(move |call| remote::call(&server, &params, call.deadline));
                (place, asked.await??)
            }
        };
        let from = format!("the tool `{}` of {place}", self.tool);
        like_stdout(call, &from, read_result(&from, &result)?)
    }
}

fn other(error: &dyn Display) -> HandlerError {
    HandlerError::new(Failure::Other, error.to_string())
}

pub(super) const CALL: &str = "tools/call";

/// Returns the params of a call; `arguments` is one JSON object.
pub(super) fn call_params(tool: &str, arguments: &str) -> Vec<u8> {
    format!("{{\"name\":{},\"arguments\":{arguments}}}", Value::from(tool)).into_bytes()
}

/// Reads the result of a call: the text that is the hook's answer.
///
/// # Errors
/// When the tool failed, or gave no single answer. A denial in the text of a failed tool counts.
pub(super) fn read_result(from: &str, text: &str) -> Result<Vec<u8>, HandlerError> {
    let result = match parse_strict(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err(unusable(from, "it is not an object")),
        Err(problem) => return Err(unusable(from, &problem.to_string())),
    };
    if result.get("resultType").is_some_and(|kind| kind != "complete") {
        return Err(unusable(from, "it asks for more, and a hook has no one to ask"));
    }
    let answer = answer(&result);
    match result.get("isError") {
        None | Some(Value::Bool(false)) => answer.map_err(|problem| unusable(from, problem)),
        Some(Value::Bool(true)) => {
            let answer = answer.unwrap_or_default();
            let said = String::from_utf8_lossy(&answer);
            let message = format!("{from} failed: {}", excerpt(&said));
            Err(HandlerError::new(Failure::Other, message).with_stdout(answer))
        }
        Some(_) => Err(unusable(from, "`isError` must be true or false")),
    }
}

fn unusable(from: &str, problem: &str) -> HandlerError {
    let message = format!("the result of {from} can't be used: {problem}");
    HandlerError::new(Failure::Protocol, message)
}

/// Returns the structured content of a result, else its only content, if that is a text.
///
/// Servers repeat a structured content as a text. One that says something else there has given two
/// answers.
fn answer(result: &JsonObject) -> Result<Vec<u8>, &'static str> {
    let structured = match result.get("structuredContent") {
        None | Some(Value::Null) => None,
        Some(content) => Some(unwrapped(content)),
    };
    let content = match (result.get("content"), structured) {
        (Some(Value::Array(content)), _) => content,
        (Some(_), _) => return Err("its `content` is not a list"),
        (None, Some(structured)) => return Ok(written(structured)),
        (None, None) => return Err("it has neither `structuredContent` nor `content`"),
    };
    if let Some(structured) = structured {
        for block in content {
            let text = block["text"].as_str().unwrap_or_default();
            if text.trim_start().starts_with('{')
                && structured != text
                && parse_strict(text).ok().as_ref() != Some(structured)
            {
                return Err("its text is another answer than its `structuredContent`");
            }
        }
        return Ok(written(structured));
    }
    match content.as_slice() {
        [] => Ok(Vec::new()),
        [only] if only["type"] == "text" => match only["text"].as_str() {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => Err("its text is missing"),
        },
        _ => Err("it is not one text"),
    }
}

/// Returns the content of a structured content. SDKs wrap what is not an object as
/// `{"result": ...}`, a key that no answer has.
fn unwrapped(content: &Value) -> &Value {
    match content {
        Value::Object(object) if object.len() == 1 => object.get("result").unwrap_or(content),
        _ => content,
    }
}

fn written(answer: &Value) -> Vec<u8> {
    match answer {
        Value::Null => Vec::new(),
        Value::String(text) => text.as_bytes().to_vec(),
        answer => answer.to_string().into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        match read_result("tool `t`", text) {
            Ok(answer) => Ok(String::from_utf8(answer).unwrap()),
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn an_answer_is_the_structured_content_or_the_only_text() {
        for (result, expected) in [
            (r#"{"content":[],"structuredContent":{"decision":"deny"}}"#, r#"{"decision":"deny"}"#),
            (r#"{"content":[{"type":"text","text":"{}"}],"isError":false}"#, "{}"),
            (r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"b"}}"#, "b"),
            (
                r#"{"content":[{"type":"text","text":"{ \"a\": 1 }"}],"structuredContent":{"a":1}}"#,
                r#"{"a":1}"#,
            ),
            (
                r#"{"content":[{"type":"text","text":"{\"a\": 1}"}],"structuredContent":{"result":"{\"a\": 1}"}}"#,
                r#"{"a": 1}"#,
            ),
            (r#"{"content":[],"structuredContent":{"result":{"a":1}}}"#, r#"{"a":1}"#),
            (r#"{"content":[],"structuredContent":{"result":null}}"#, ""),
            (r#"{"content":[]}"#, ""),
        ] {
            assert_eq!(read(result).as_deref(), Ok(expected), "{result}");
        }
    }

    #[test]
    fn everything_else_has_failed() {
        for (result, cause) in [
            ("null", "not an object"),
            ("{}", "neither `structuredContent` nor `content`"),
            (r#"{"content":[{"type":"image","data":""}]}"#, "not one text"),
            (
                r#"{"content":[{"type":"text","text":"{}"},{"type":"text","text":"{}"}]}"#,
                "one text",
            ),
            (r#"{"content":[{"type":"text"}]}"#, "its text is missing"),
            (r#"{"content":[{"type":"text","text":"boom"}],"isError":true}"#, "failed: boom"),
            (r#"{"content":[],"isError":"false"}"#, "`isError` must be"),
            (r#"{"content":[],"resultType":"input_required"}"#, "asks for more"),
            (r#"{"structuredContent":{"decision":"deny","decision":"allow"}}"#, "decision"),
            (r#"{"content":{},"structuredContent":{}}"#, "not a list"),
        ] {
            let problem = read(result).unwrap_err();
            assert!(problem.contains(cause), "{result}: {problem}");
        }
        for structured in ["{}", r#"{"result":null}"#, r#"{"decision":"allow"}"#] {
            let content = r#"[{"type":"text","text":" {\"decision\":\"deny\"}"}]"#;
            let result = format!(r#"{{"content":{content},"structuredContent":{structured}}}"#);
            assert!(read(&result).unwrap_err().contains("another answer"), "{result}");
        }
        let denied = r#"{"structuredContent":{"decision":"deny"},"isError":true}"#;
        let error = read_result("tool `t`", denied).unwrap_err();
        assert_eq!(error.stdout, br#"{"decision":"deny"}"#);
    }
}
