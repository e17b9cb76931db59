//! `hookexec mcp`: a proxy before an MCP server.
//!
//! `message` reads a line, `proxy` says where it goes, and `call` takes the call of a tool through
//! the hooks. The two directions have tasks and queues of their own, so that neither waits for the
//! other.

mod call;
mod message;
mod proxy;

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
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
            let session_id = format!("mcp-{id}");
            let proxy = Arc::new(Proxy::new(engine, &self.name, session_id, self.log.verbose()));
            self.run(signals, &proxy).await
        })?
    }

    /// Starts the server, and talks until one of the two sides ends.
    async fn run(&self, mut signals: Signals, proxy: &Arc<Proxy>) -> Result<Exit, CommandError> {
        let mut group = self.start()?;
        let (Some(stdin), Some(stdout), _) = group.take_pipes() else {
            return Err(CommandError::internal("the pipes of the MCP server are missing"));
        };
        let (to_server, for_server) = mpsc::channel(QUEUE);
        let (to_client, for_client) = mpsc::channel(QUEUE);
        let mut into_server = tokio::spawn(write(for_server, stdin));
        let into_client = tokio::spawn(write(for_client, tokio::io::stdout()));
        let from_client =
            Arc::clone(proxy).read_client(tokio::io::stdin(), to_server, to_client.clone());
        let from_client = tokio::spawn(from_client);
        let mut from_server = tokio::spawn(Arc::clone(proxy).read_server(stdout, to_client));
        let mut client_gone = std::pin::pin!(stdout_closed());

        let status = tokio::select! {
            biased;
            (_, number) = signals.next() => {
                stop(&mut group, &mut signals, Duration::ZERO).await;
                return Ok(Exit::Interrupted(number));
            }
            status = group.wait_and_sweep() => status.ok(),
            // Nothing more can be said to the server, to the client, or by the server.
            _ = &mut into_server => stop(&mut group, &mut signals, EOF_GRACE).await,
            () = &mut client_gone => stop(&mut group, &mut signals, EOF_GRACE).await,
            _ = &mut from_server => stop(&mut group, &mut signals, EOF_GRACE).await,
        };
        from_client.abort();
        // The calls that are open are answered, and their last hooks run.
        let rest = async {
            if !from_server.is_finished() && timeout(REST_GRACE, &mut from_server).await.is_err() {
                from_server.abort();
            }
            // A process that left the group may hold the pipes.
            proxy.end();
            let _ = into_client.await;
            proxy.engine.shutdown(PATIENCE).await;
        };
        tokio::select! {
            biased;
            _ = signals.next() => {}
            () = &mut client_gone => {}
            () = rest => {}
        }
        Ok(status.map_or(Exit::Internal, exit))
    }

    /// Starts the server in a process group of its own.
    fn start(&self) -> Result<Group, CommandError> {
        let program = &self.server[0];
        let mut command = Command::new(program);
        command.args(&self.server[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = program.display();
        Group::spawn(&mut command)
            .or_usage(format_args!("the MCP server `{program}` can't be started"))
    }
}

/// Stops the server: waits for its end, then SIGTERM, then SIGKILL. A signal cuts the wait short.
async fn stop(group: &mut Group, signals: &mut Signals, grace: Duration) -> Option<ExitStatus> {
    tokio::select! {
        biased;
        _ = signals.next() => {}
        ended = timeout(grace, group.wait_and_sweep()) => {
            if let Ok(status) = ended {
                return status.ok();
            }
        }
    }
    group.terminate();
    if let Ok(status) = timeout(TERM_GRACE, group.wait_and_sweep()).await {
        return status.ok();
    }
    group.kill();
    group.wait_and_sweep().await.ok()
}

/// Returns the exit code that says how the server ended.
fn exit(status: ExitStatus) -> Exit {
    let signal = ending_signal(status).and_then(|signal| u8::try_from(signal).ok());
    match (status.code().map(u8::try_from), signal) {
        (Some(Ok(code)), _) => Exit::Server(code),
        (None, Some(signal)) => Exit::Interrupted(signal),
        _ => Exit::Internal,
    }
}
