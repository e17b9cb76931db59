//! An MCP server of `rmcp` behind hooks:
//!
//! ```ignore
//! HookLayer::new(MyServer, session).serve(stdio()).await?;
//! ```

use std::sync::Arc;

use hookexec::lifecycle::{AuthorizedCall, Session, ToolCall, ToolEnd, ToolError};
use rmcp::model::{
    CallToolResult, ClientNotification, ClientRequest, ContentBlock, ErrorData, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};

/// A server whose tool calls go through the hooks of a session.
pub struct HookLayer<S> {
    inner: S,
    session: Arc<Session>,
}

impl<S> HookLayer<S> {
    /// Puts `inner` behind the hooks.
    pub fn new(inner: S, session: Arc<Session>) -> Self {
        Self { inner, session }
    }
}

impl<S: Service<RoleServer>> Service<RoleServer> for HookLayer<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let ClientRequest::CallToolRequest(mut request) = request else {
            return self.inner.handle_request(request, context).await;
        };
        let arguments = request.params.arguments.take().unwrap_or_default();
        let call = ToolCall::new(&*request.params.name, arguments).with_id(context.id.to_string());
        let run = self.session.tool_call(call).cancelled_by(context.ct.clone().cancelled_owned());
        let mut answered = None;
        let tool = async |call: AuthorizedCall| {
            request.params.name = call.name().to_owned().into();
            request.params.arguments = Some(call.arguments().clone());
            let request = ClientRequest::CallToolRequest(request);
            let answer = self.inner.handle_request(request, context).await?;
            let mut response = serde_json::to_value(&answer)?;
            answered = Some(answer);
            let mut content = response["content"].take();
            if let Some([block]) = content.as_array().map(Vec::as_slice)
                && block["type"] == "text"
            {
                content = block["text"].clone();
            }
            match response["isError"] == true {
                true => Err(ToolError::with_response(content)),
                false => Ok(content),
            }
        };
        let outcome = run.run(tool).await;
        if let (ToolEnd::Ran { rewritten: false, objection: None, .. }, None, Some(answer)) =
            (&outcome.end, outcome.trail.additional_context(), answered)
        {
            return Ok(answer);
        }
        let text = vec![ContentBlock::text(outcome.for_model())];
        let result =
            if outcome.is_error() { CallToolResult::error } else { CallToolResult::success };
        Ok(ServerResult::CallToolResult(result(text)))
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }
}
