//! What is logged, to stderr.

use std::sync::OnceLock;

use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::{SubscriberBuilder, format};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::output::Stderr;

/// How much is said on stderr.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LogArgs {
    /// Shows on stderr which hooks ran and which did not, why, and how long they took; `-vv` also
    /// shows the log
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

impl LogArgs {
    /// Returns whether the hooks' reports are wanted.
    pub(crate) const fn verbose(&self) -> bool {
        self.verbose > 0
    }

    /// Starts the log. Without a wish it holds warnings only, and costs nothing until there is one.
    pub(crate) fn start(&self) {
        // An earlier log would do as well.
        let _ = if self.verbose > 1 {
            log().with_max_level(Level::DEBUG).finish().try_init()
        } else {
            Warnings::default().try_init()
        };
    }
}

type Log = SubscriberBuilder<
    format::DefaultFields,
    format::Format<format::Full, ()>,
    LevelFilter,
    fn() -> Stderr,
>;

fn log() -> Log {
    let writer: fn() -> Stderr = || Stderr;
    tracing_subscriber::fmt().with_writer(writer).without_time().with_target(false)
}

/// The log of warnings, set up at the first of them: its memory would be a good part of what the
/// start of this program takes.
#[derive(Default)]
struct Warnings(OnceLock<Dispatch>);

impl Warnings {
    fn log(&self) -> &Dispatch {
        self.0.get_or_init(|| log().with_max_level(Level::WARN).finish().into())
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        self.log().event(event);
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
