//! `hookexec mcp`: a proxy before an MCP server.
//!
//! `message` reads a line, `proxy` says where it goes, `requests` keeps what is not answered, and
//! `call` takes the call of a tool through the hooks. The two directions have tasks and queues of
//! their own, so that neither waits for the other.

mod call;
mod message;
mod proxy;
mod requests;

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use hookexec::Registry;
use hookexec::internal::system::ending_signal;
use hookexec::internal::{Group, files};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Exit;
use super::config::{ConfigArgs, Purpose};
use super::error::{CommandError, OrCommandError as _};
use super::log::LogArgs;
use super::runtime::{self, Runtime};
use super::serve::{loader, stdout_closed};
use super::server::connection::write;
use super::server::engine::Engine;
use super::system::Signals;
use proxy::Proxy;

/// Guards the tools of an MCP server: starts it, and puts each `tools/call` through the hooks
///
/// It talks on stdin and stdout like the server itself. Hooks know a tool as `mcp__NAME__TOOL`. A
/// denied call never reaches the server, and the model reads the reason. All other messages pass as
/// they are. `hookexec docs mcp-proxy` says more.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec mcp --name github -- npx -y @example/github-server")]
pub(crate) struct Args {
    /// The name of the server in matchers (`mcp__NAME__TOOL`). Use the name that the client has for it
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    name: String,

    /// The program of the server, and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<OsString>,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    log: LogArgs,
}

/// How many lines wait in each direction.
const QUEUE: usize = 16;
/// How long a server may take to end after its stdin was closed.
const EOF_GRACE: Duration = Duration::from_secs(2);
/// How long it may take after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(1);
/// How long its last lines may take once it has ended.
const REST_GRACE: Duration = Duration::from_secs(1);
/// How long hooks in the background may take at the end.
const PATIENCE: Duration = Duration::from_secs(5);

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        self.log.start();
        // A named file that fails denies the calls, and the model reads why.
        let options = self.config.options(Purpose::Judge)?;
        let load = loader(options, Registry::with_shipped_builtins())?;
        let id = files::random_id().or_internal("the system gives no random numbers")?;
        let runtime = Runtime::new()?;
        runtime.block_on(async {
            let signals = runtime::listen()?;
            let engine = Arc::new(Engine::new(load).map_err(CommandError::config)?);
            self.run(signals, engine, format!("mcp-{id}")).await
        })?
    }

    /// Starts the server, and talks until one of the two sides ends.
    async fn run(
        &self,
        mut signals: Signals,
        engine: Arc<Engine>,
        session_id: String,
    ) -> Result<Exit, CommandError> {
        let program = &self.server[0];
        let mut command = Command::new(program);
        command.args(&self.server[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = Group::spawn(&mut command)
            .or_usage(format_args!("the MCP server `{}` can't be started", program.display()))?;
        let (to_client, for_client) = mpsc::channel(QUEUE);
        let proxy = Proxy {
            engine: Arc::clone(&engine),
            prefix: format!("mcp__{}__", self.name),
            session_id,
            is_verbose: self.log.verbose(),
            to_client,
            requests: Mutex::default(),
        };
        let talk = async {
            let status = talk(&mut group, Arc::new(proxy), for_client).await;
            engine.shutdown(PATIENCE).await;
            status
        };
        tokio::select! {
            biased;
            (_, number) = signals.next() => {
                stop(&mut group, Duration::ZERO).await;
                Ok(Exit::Interrupted(number))
            }
            status = talk => Ok(status.map_or(Exit::Internal, exit_code)),
        }
    }
}

/// Talks until one of the two sides ends, and answers the open calls.
async fn talk(
    group: &mut Group,
    proxy: Arc<Proxy>,
    for_client: mpsc::Receiver<Vec<u8>>,
) -> Option<ExitStatus> {
    let (Some(stdin), Some(stdout), _) = group.take_pipes() else { return None };
    let (to_server, for_server) = mpsc::channel(QUEUE);
    let mut into_server = tokio::spawn(write(for_server, stdin));
    let into_client = tokio::spawn(write(for_client, tokio::io::stdout()));
    let from_client = Arc::clone(&proxy).read_client(tokio::io::stdin(), to_server);
    let from_client = tokio::spawn(from_client);
    let mut from_server = tokio::spawn(Arc::clone(&proxy).read_server(stdout));
    let mut client_gone = std::pin::pin!(stdout_closed());
    let status = tokio::select! {
        biased;
        status = group.wait_and_sweep() => status.ok(),
        // Nothing more can be said to the server, to the client, or by the server.
        _ = &mut into_server => stop(group, EOF_GRACE).await,
        () = &mut client_gone => stop(group, EOF_GRACE).await,
        _ = &mut from_server => stop(group, EOF_GRACE).await,
    };
    from_client.abort();
    if !from_server.is_finished() && timeout(REST_GRACE, &mut from_server).await.is_err() {
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
async fn stop(group: &mut Group, grace: Duration) -> Option<ExitStatus> {
    for (patience, signal) in
        [(grace, Group::terminate as fn(&mut Group)), (TERM_GRACE, Group::kill)]
    {
        if let Ok(status) = timeout(patience, group.wait_and_sweep()).await {
            return status.ok();
        }
        signal(group);
    }
    group.wait_and_sweep().await.ok()
}

/// Returns the exit code that says how the server ended.
fn exit_code(status: ExitStatus) -> Exit {
    match (status.code(), ending_signal(status)) {
        (Some(code), _) => u8::try_from(code).map_or(Exit::Internal, Exit::Server),
        (None, Some(signal)) => u8::try_from(signal).map_or(Exit::Internal, Exit::Interrupted),
        (None, None) => Exit::Internal,
    }
}
