//! `hookexec serve`: the engine, kept warm for clients in any language.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use hookexec::Registry;
use hookexec_project::LoadOptions;
use hookexec_serve::server::{
    Limits, Load, Loaded, Reading, Server, Socket, register_host_builtin,
};
use tokio::task::spawn_blocking;

use crate::config::{self, ConfigArgs, Purpose, not_too_deep};
use crate::console::output;
use crate::console::verbose::LogArgs;
use crate::error::CommandError;
use crate::runtime::{self, Runtime};
use crate::{Exit, registry, system};

/// Answers JSON-RPC 2.0, one object a line, on stdin and stdout or at a Unix socket
///
/// Hooks of type `process` stay running between events. The hooks files are read at the start, and
/// again when they change. `hookexec docs serve` describes the methods; `hookexec run --connect` is a client.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec serve --socket ~/.hookexec/socket")]
pub(crate) struct Args {
    /// Listens here, in a directory that only you can enter; it is made when it is missing
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// A builtin that the client answers: hooks of type `builtin` may name it; may be given more
    /// than once
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    builtin: Vec<String>,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    log: LogArgs,
}

/// How long hooks in the background may take when the server ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        self.log.start();
        system::raise_open_files();
        let (project, load) = (self.config.project()?, self.loader()?);
        let runtime = Runtime::new()?;
        runtime.block_on(async {
            let mut signals = runtime::listen()?;
            let server = Server::new(project, Limits::default(), load)?;
            let mut talk = Box::pin(self.talk(&server));
            tokio::select! {
                biased;
                _ = signals.next() => {
                    server.stop();
                    // What runs may end; a second signal ends it, and so does the end of this wait.
                    tokio::select! {
                        biased;
                        _ = signals.next() => {}
                        _ = tokio::time::timeout(PATIENCE, talk) => {}
                    }
                }
                ended = &mut talk => ended?,
            }
            tokio::select! {
                biased;
                _ = signals.next() => {}
                () = server.shutdown(PATIENCE) => {}
            }
            Ok(Exit::SUCCESS)
        })?
    }

    /// Returns what loads the configuration any number of times.
    fn loader(&self) -> Result<Box<Load>, CommandError> {
        let mut registry = registry::all();
        for name in &self.builtin {
            if registry.builtin(name).is_some() {
                let problem = format!("`--builtin`: `{name}` is the name of another builtin");
                return Err(CommandError::usage(problem).hint("choose another name"));
            }
            register_host_builtin(&mut registry, name);
        }
        loader(self.config.options(Purpose::Run)?, registry)
    }

    async fn talk(&self, server: &Server) -> Result<(), CommandError> {
        let Some(path) = &self.socket else {
            server.serve(tokio::io::stdin(), tokio::io::stdout(), stdout_closed()).await;
            return Ok(());
        };
        let socket = Socket::bind(path)?;
        output::talk(&format!("listening at {}\n", socket.path().display()));
        server.listen(&socket).await;
        Ok(())
    }
}

/// Returns what loads the configuration any number of times, and warns about what it lacks.
pub(crate) fn loader(options: LoadOptions, registry: Registry) -> Result<Box<Load>, CommandError> {
    not_too_deep()?;
    Ok(Box::new(move |reading| {
        let mut options = options.clone();
        options.named_may_fail |= reading == Reading::Again;
        let loaded = config::Loaded::of(&options)?;
        loaded.notices.warn();
        let has_files = !loaded.found.config.files.is_empty();
        let watched = loaded.found.places(&options);
        let expires = loaded.found.expires();
        let absent = loaded.notices.absent.clone();
        let executor = loaded.builder().registry(registry.clone()).build()?;
        Ok(Loaded { executor, has_files, watched, absent, expires })
    }))
}

/// Returns once the reader of stdout has closed it. A closed stdin does not tell: a client may
/// close it after its last request and wait for the answers.
pub(crate) async fn stdout_closed() {
    let _ = spawn_blocking(system::wait_until_stdout_is_closed).await;
}
