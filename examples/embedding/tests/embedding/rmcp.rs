//! An MCP server and its client, with hooks between them.

use std::sync::Arc;

use hookexec::lifecycle::{Session, SessionSource};
use hookexec_embedding::rmcp::HookLayer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

use crate::support::{HOOKS, executor};

struct Tools;

impl ServerHandler for Tools {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = format!("{} {}", request.name, arguments["text"].as_str().unwrap_or_default());
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::test]
async fn tool_calls_of_an_mcp_server_go_through_hooks() {
    let session =
        Session::builder("s-1").start(executor(HOOKS).unwrap(), SessionSource::Startup).await;
    let session = Arc::new(session);
    let layer = HookLayer { inner: Tools, session: Arc::clone(&session) };
    let (here, there) = tokio::io::duplex(4096);
    let (server, client) = tokio::join!(layer.serve(there), ().serve(here));
    let (server, client) = (server.unwrap(), client.unwrap());
    let call = async |name: &'static str, text: &str| {
        let arguments = json!({ "text": text }).as_object().cloned().unwrap();
        let request = CallToolRequestParams::new(name).with_arguments(arguments);
        let answer = json!(client.call_tool(request).await.unwrap());
        (answer["content"][0]["text"].as_str().unwrap().to_owned(), answer["isError"] == true)
    };
    let answers = tokio::join!(
        call("say", "hello"),
        call("say", "the KEY"),
        call("echo", "hello"),
        call("echo", "the secret"),
        call("pay", "1"),
    );
    let ran = |text: &str| (text.to_owned(), false);
    let denied = |why: &str| (format!("Tool call denied: {why}"), true);
    let unasked = "approval is needed and no one can be asked: a `pre_tool_use` hook said no";
    let expected = (
        ran("say hello"),
        ran("say the ***"),
        ran("echo HELLO"),
        denied("no SECRET"),
        denied(unasked),
    );
    assert_eq!(answers, expected);

    let other = "pre_tool_use: [{ hooks: [{ type: builtin, command: deny_word, args: [hello] }] }]";
    session.replace_executor(executor(other).unwrap());
    assert_eq!(call("say", "hello").await, denied("no hello"));
    client.cancel().await.unwrap();
    server.waiting().await.unwrap();
    session.end("exit").await;
}
