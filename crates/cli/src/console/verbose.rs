//! Writes log messages to stderr.

use std::fmt::{Debug, Write as _};

use tracing::field::Field;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::console::output;
use crate::console::report::{BAD, DIM, DOUBTFUL};

/// How much is said on stderr.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LogArgs {
    /// Shows on stderr which hooks ran and which did not, why, and how long they took; `-vv` also
    /// shows the log
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl LogArgs {
    /// Starts the log: warnings only, with `-vv` everything.
    pub(crate) fn start(&self) {
        let log = StderrLog(if self.verbose > 1 { Level::DEBUG } else { Level::WARN });
        // An earlier log would do as well.
        let _ = tracing::subscriber::set_global_default(log);
    }
}

/// Writes events up to a level, one a line.
struct StderrLog(Level);

impl Subscriber for StderrLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.0
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0.into())
    }

    fn event(&self, event: &Event<'_>) {
        let level = event.metadata().level();
        let style = match *level {
            Level::ERROR => BAD,
            Level::WARN => DOUBTFUL,
            _ => DIM,
        };
        let mut line = format!("{style}{level:>5}{style:#}");
        event.record(&mut |field: &Field, value: &dyn Debug| {
            let _ = match field.name() {
                "message" => write!(line, " {value:?}"),
                name => write!(line, " {name}={value:?}"),
            };
        });
        output::talk(&(line + "\n"));
    }

    // No span is enabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
