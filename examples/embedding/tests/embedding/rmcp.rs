//! An MCP server and its client, with hooks between them.

use std::sync::Arc;

use hookexec::lifecycle::{Session, SessionSource};
use hookexec_embedding::rmcp::HookLayer;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    ErrorData,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleClient, RoleServer, RunningService};
use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

use crate::support::{
    HOOKS, Hanging, MISTAKES, a_hundred_sessions, check_mistakes, executor, replace_hooks,
};

struct Tools(Hanging);

impl ServerHandler for Tools {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "wait" {
            return self.0.clone().run().await;
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = format!("{} {}", request.name, arguments["text"].as_str().unwrap_or_default());
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// A server behind the hooks of a session, and its client.
struct Connection {
    server: RunningService<RoleServer, HookLayer<Tools>>,
    client: RunningService<RoleClient, ()>,
}

impl Connection {
    async fn open(session: &Arc<Session>, hanging: &Hanging) -> Self {
        let layer = HookLayer { inner: Tools(hanging.clone()), session: Arc::clone(session) };
        let (here, there) = tokio::io::duplex(4096);
        let (server, client) = tokio::join!(layer.serve(there), ().serve(here));
        Self { server: server.unwrap(), client: client.unwrap() }
    }

    /// Calls a tool, and returns its text and whether that is an error.
    async fn call(&self, name: &'static str, text: &str) -> (String, bool) {
        let answer = json!(self.client.call_tool(request(name, text)).await.unwrap());
        (answer["content"][0]["text"].as_str().unwrap().to_owned(), answer["isError"] == true)
    }

    async fn close(self) {
        self.client.cancel().await.unwrap();
        self.server.waiting().await.unwrap();
    }
}

fn request(name: &'static str, text: &str) -> CallToolRequestParams {
    let arguments = json!({ "text": text }).as_object().cloned().unwrap();
    CallToolRequestParams::new(name).with_arguments(arguments)
}

fn ran(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

fn denied(why: &str) -> (String, bool) {
    (format!("Tool call denied: {why}"), true)
}

#[tokio::test]
async fn tool_calls_of_an_mcp_server_go_through_hooks() {
    let first = Arc::new(executor(HOOKS).unwrap());
    let session = Session::builder("s-1").start(Arc::clone(&first), SessionSource::Startup).await;
    let session = Arc::new(session);
    let connection = Connection::open(&session, &Hanging::default()).await;
    let answers = tokio::join!(
        connection.call("say", "hello"),
        connection.call("say", "the KEY"),
        connection.call("echo", "hello"),
        connection.call("echo", "the secret"),
        connection.call("pay", "1"),
    );
    let unasked = "approval is needed and no one can be asked: a `pre_tool_use` hook said no";
    let expected = (
        ran("say hello"),
        ran("say the ***"),
        ran("echo HELLO"),
        denied("no SECRET"),
        denied(unasked),
    );
    assert_eq!(answers, expected);

    check_mistakes(replace_hooks(&session, &first, MISTAKES));
    assert_eq!(connection.call("say", "the KEY").await, ran("say the ***"));
    let other = "pre_tool_use: [{ hooks: [{ type: builtin, command: deny_word, args: [hello] }] }]";
    replace_hooks(&session, &first, other).unwrap();
    assert_eq!(connection.call("say", "hello").await, denied("no hello"));
    connection.close().await;
    session.end("exit").await;
}

#[tokio::test]
async fn a_client_of_an_mcp_server_cancels_a_hook_and_a_tool() {
    for name in ["echo", "wait"] {
        let hanging = Hanging::default();
        let session = Session::builder("s-1");
        let session = session.start(hanging.executor(), SessionSource::Startup).await;
        let session = Arc::new(session);
        let connection = Connection::open(&session, &hanging).await;
        let call = CallToolRequest::new(request(name, "x")).into();
        let options = PeerRequestOptions::default();
        let call = connection.client.send_cancellable_request(call, options).await.unwrap();
        hanging.cancel.cancelled().await;
        call.cancel(None).await.unwrap();
        hanging.dropped.cancelled().await;
        assert_eq!(connection.call("say", "hello").await, ran("say hello"));
        connection.close().await;
        session.end("exit").await;
    }
}

#[tokio::test]
async fn a_hundred_sessions_of_mcp_servers_share_one_executor() {
    let run = async |session: Arc<Session>, _| {
        let connection = Connection::open(&session, &Hanging::default()).await;
        assert_eq!(connection.call("say", "the KEY").await, ran("say the ***"));
        connection.close().await;
    };
    a_hundred_sessions(HOOKS, run).await;
}
