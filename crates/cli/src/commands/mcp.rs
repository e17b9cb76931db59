//! `hookexec mcp`: a proxy before an MCP server.
//!
//! The proxy itself is `hookexec_serve::mcp`.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use hookexec_files::files;
use hookexec_files::group::Group;
use hookexec_files::platform::system::ending_signal;
use hookexec_serve::mcp::{self, Setup};
use hookexec_serve::server::Engine;
use tokio::process::Command;

use crate::commands::serve::{PATIENCE, loader, stdout_closed};
use crate::config::{ConfigArgs, Purpose};
use crate::console::output;
use crate::console::verbose::LogArgs;
use crate::error::{CommandError, OrCommandError as _};
use crate::runtime::{self, Runtime};
use crate::system::Signals;
use crate::{Exit, registry};

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
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        LogArgs::default().start();
        // A named file that fails denies the calls, and the model reads why.
        let options = self.config.options(Purpose::Judge)?;
        let load = loader(options, registry::all())?;
        let id = files::random_id().or_internal("the system gives no random numbers")?;
        let runtime = Runtime::new()?;
        runtime.block_on(async {
            let signals = runtime::listen()?;
            let engine = Arc::new(Engine::new(load)?);
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
        let setup = Setup {
            engine: Arc::clone(&engine),
            prefix: format!("mcp__{}__", self.name),
            session_id,
            tell: |message| output::talk(&format!("{message}\n")),
        };
        let talk = async {
            let status = mcp::talk(&mut group, setup, stdout_closed()).await;
            engine.shutdown(PATIENCE).await;
            status
        };
        tokio::select! {
            biased;
            (_, number) = signals.next() => {
                mcp::stop(&mut group, Duration::ZERO).await;
                Ok(Exit::interrupted(number))
            }
            status = talk => Ok(status.map_or(Exit::INTERNAL, exit_code)),
        }
    }
}

/// Returns the exit code that says how the server ended.
fn exit_code(status: ExitStatus) -> Exit {
    match (status.code(), ending_signal(status)) {
        (Some(code), _) => u8::try_from(code).map_or(Exit::INTERNAL, Exit),
        (None, Some(signal)) => u8::try_from(signal).map_or(Exit::INTERNAL, Exit::interrupted),
        (None, None) => Exit::INTERNAL,
    }
}
