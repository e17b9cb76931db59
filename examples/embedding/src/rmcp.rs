//! An MCP server of `rmcp` behind hooks:
//!
//! ```ignore
//! HookLayer { inner: MyServer, session }.serve(stdio()).await?;
//! ```

use std::sync::Arc;

use hookexec::lifecycle::{AuthorizedCall, Session, ToolCall, ToolError};
use rmcp::model::{ClientNotification, ClientRequest, ErrorData, ServerConfig, ServerResult};
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
            ToolError::of_mcp_result(serde_json::to_value(result)?)
        };
        let result = serde_json::from_value(run.run(tool).await.mcp_result());
        let result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
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
