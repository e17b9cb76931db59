//! An MCP server of `rmcp` behind hooks:
//!
//! ```ignore
//! HookLayer { inner: MyServer, session }.serve(stdio()).await?;
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
    /// The server.
    pub inner: S,
    /// The session.
    pub session: Arc<Session>,
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
        let tool = async |call: AuthorizedCall| {
            request.params.name = call.name().to_owned().into();
            request.params.arguments = Some(call.arguments().clone());
            let request = ClientRequest::CallToolRequest(request);
            let result = self.inner.handle_request(request, context).await?;
            let result = serde_json::to_value(result)?;
            if result["isError"] == true {
                Err(ToolError::with_response(result))
            } else {
                Ok(result)
            }
        };
        let outcome = run.run(tool).await;
        let kept = match &outcome.end {
            ToolEnd::Ran { response, .. } | ToolEnd::Failed { response, .. } => response,
            _ => &serde_json::Value::Null,
        };
        let Ok(mut result) = serde_json::from_value::<CallToolResult>(kept.clone()) else {
            let text = vec![ContentBlock::text(outcome.for_model())];
            let is_error = outcome.is_error();
            let result = if is_error { CallToolResult::error } else { CallToolResult::success };
            return Ok(ServerResult::CallToolResult(result(text)));
        };
        result.content.extend(outcome.guidance().map(ContentBlock::text));
        Ok(ServerResult::CallToolResult(result))
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
