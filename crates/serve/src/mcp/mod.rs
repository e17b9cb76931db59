//! A proxy before an MCP server.
//!
//! `proxy` says where a line goes, `requests` keeps what is not answered, and `call` takes the call of
//! a tool through the hooks. The two directions have tasks and queues of their own, so that neither
//! waits for the other.

mod call;
mod proxy;
mod requests;

use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hookexec_files::group::Group;
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::proxy::Proxy;
use crate::server::Engine;
use crate::server::connection::write;

/// The parts of a proxy that its caller chooses.
pub struct Setup {
    /// The hooks.
    pub engine: Arc<Engine>,
    /// The beginning of the tools' names: `mcp__SERVER__`.
    pub prefix: String,
    /// The session that the calls belong to.
    pub session_id: String,
    /// Tells the user the message of a hook.
    pub tell: fn(&str),
}

/// Talks with the client on stdin and stdout until one of the two sides ends, and answers the open calls.
/// `gone` ends when the client reads no more.
pub async fn talk(
    group: &mut Group,
    setup: Setup,
    gone: impl Future<Output = ()>,
) -> Option<ExitStatus> {
    // So many lines wait in each direction.
    let (to_client, for_client) = mpsc::channel(16);
    let proxy = Arc::new(Proxy { setup, to_client, requests: Mutex::default() });
    let (Some(stdin), Some(stdout), _) = group.take_pipes() else { return None };
    let (to_server, for_server) = mpsc::channel(16);
    let mut into_server = tokio::spawn(write(for_server, stdin));
    let into_client = tokio::spawn(write(for_client, tokio::io::stdout()));
    let from_client = Arc::clone(&proxy).read_client(tokio::io::stdin(), to_server);
    let from_client = tokio::spawn(from_client);
    let mut from_server = tokio::spawn(Arc::clone(&proxy).read_server(stdout));
    let mut client_gone = std::pin::pin!(gone);
    let ended = tokio::select! {
        biased;
        status = group.wait_and_sweep() => Some(status.ok()),
        // Nothing more can be said to the server, to the client, or by the server.
        _ = &mut into_server => None,
        () = &mut client_gone => None,
        _ = &mut from_server => None,
    };
    let status = match ended {
        Some(status) => status,
        // So long it may take to end after its stdin was closed.
        None => stop(group, Duration::from_secs(2)).await,
    };
    from_client.abort();
    // How long its last lines may take once it has ended.
    if !from_server.is_finished()
        && timeout(Duration::from_secs(1), &mut from_server).await.is_err()
    {
        // A process that left the group may hold the pipes.
        from_server.abort();
    }
    proxy.fail_all("the MCP server has ended").await;
    drop(proxy);
    tokio::select! {
        _ = into_client => {}
        () = client_gone => {}
    }
    status
}

/// Stops the server: waits for its end, then SIGTERM, then SIGKILL.
pub async fn stop(group: &mut Group, grace: Duration) -> Option<ExitStatus> {
    for (patience, signal) in
        // How long it may take after SIGTERM.
        [(grace, Group::terminate as fn(&mut Group)), (Duration::from_secs(1), Group::kill)]
    {
        if let Ok(status) = timeout(patience, group.wait_and_sweep()).await {
            return status.ok();
        }
        signal(group);
    }
    group.wait_and_sweep().await.ok()
}
