//! `type: mcp`: a tool of an MCP server is the hook.
//!
//! The server is an entry of `processes:`, which keeps it running, or stands behind an address. The
//! tool gets the event's input, or `arguments` with values from it. Its result is read like the
//! stdout of a program that exited with 0.

#[cfg(feature = "http")]
mod remote;
mod result;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::request::like_stdout;
use hookexec::config::Hook;
use hookexec::handler::{
    BoxFuture, BuildError, Call, Exited, Failure, Handler, HandlerError, HandlerResult,
};
use hookexec::registry::{HandlerEnv, McpServer, Words};
use hookexec::wire::{JsonObject, parse_strict};
use hookexec_files::template;

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
    let Parameters { server, url, tool, arguments, headers, allow_private } =
        hook.parameters().map_err(|error| error.hint(EXAMPLE))?;
    if tool.trim().is_empty() {
        return Err(wrong("`tool` can't be empty"));
    }
    let server = match (server, url) {
        (Some(_), None) if allow_private || !headers.is_empty() => {
            return Err(wrong("`headers` and `allow_private` belong to a `url`"));
        }
        (Some(name), None) => Server::Local(env.mcp_server(&name)?),
        (None, Some(url)) => remote(env, hook, (&url, allow_private), headers)?,
        _ => return Err(wrong("an mcp hook needs either a `server` or a `url`")),
    };
    let arguments = arguments.map(Value::Object);
    Ok(Arc::new(McpHandler { server, tool, arguments, words: env.words(hook) }))
}

fn wrong(problem: &str) -> BuildError {
    BuildError::new(problem).at("with").hint(EXAMPLE)
}

#[cfg(feature = "http")]
fn remote(
    env: &HandlerEnv,
    hook: &Hook,
    server: (&str, bool),
    mut headers: BTreeMap<String, String>,
) -> Result<Server, BuildError> {
    let accepted = "application/json, text/event-stream";
    headers.insert("Accept".to_owned(), accepted.to_owned());
    let endpoint = crate::endpoint::Endpoint::new(hook, env, server, headers, EXAMPLE)?;
    Ok(Server::Remote(Arc::new(remote::Remote::new(endpoint))))
}

#[cfg(not(feature = "http"))]
fn remote(
    _: &HandlerEnv,
    _: &Hook,
    _: (&str, bool),
    _: BTreeMap<String, String>,
) -> Result<Server, BuildError> {
    let message = "a `url` needs the feature `http`, which this hookexec was built without";
    Err(BuildError::new(message).at("with"))
}

/// Where a server is.
enum Server {
    /// An entry of `processes:`.
    Local(McpServer),
    #[cfg(feature = "http")]
    Remote(Arc<remote::Remote>),
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
                let payload = parse_strict(&payload)
                    .map_err(|error| HandlerError::new(Failure::Other, error.to_string()))?;
                template::fill(&mut arguments, &payload)
                    .map_err(|error| HandlerError::new(Failure::Other, error.to_string()))?;
                arguments.to_string()
            }
        };
        let params = result::call_params(&self.tool, &arguments);
        let (place, result) = match &self.server {
            Server::Local(process) => {
                let result = process.ask(result::CALL, &params, call).await?;
                (format!("process `{}`", process.name()), result)
            }
            #[cfg(feature = "http")]
            Server::Remote(server) => {
                let (place, server) = (server.host().to_owned(), Arc::clone(server));
                let asked = crate::endpoint::on_thread(call, move |deadline| {
                    server.call(&params, deadline)
                });
                (place, asked.await?)
            }
        };
        let from = format!("the tool `{}` of {place}", self.tool);
        like_stdout(call, &from, result::read_result(&from, &result)?)
    }
}
