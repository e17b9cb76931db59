//! What is logged, to stderr.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// How much is said on stderr.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// Shows on stderr which hooks ran and which did not, why, and how long they took; twice: the
    /// log as well
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,

    /// What is logged on stderr, such as `hookexec=debug`
    #[arg(long, env = "HOOKEXEC_LOG", value_name = "FILTER", hide = true)]
    log: Option<String>,
}

impl LogArgs {
    /// Returns whether the hooks' reports are wanted.
    pub(crate) const fn verbose(&self) -> bool {
        self.verbose > 0
    }

    /// Starts the log. Without a wish it holds warnings only, and costs next to nothing.
    pub(crate) fn start(&self) {
        let log = tracing_subscriber::fmt()
            .with_writer(anstream::stderr)
            .without_time()
            .with_target(false);
        let level = if self.verbose > 1 { LevelFilter::DEBUG } else { LevelFilter::WARN };
        // An earlier log would do as well.
        let _ = match &self.log {
            Some(filter) => log.with_env_filter(EnvFilter::new(filter)).try_init(),
            None => log.with_max_level(level).try_init(),
        };
    }
}
