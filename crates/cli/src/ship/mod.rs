//! `hookexec ship`: sends the decision log to a collector of OpenTelemetry.
//!
//! The files of the log are the queue: `keep` and `max_size` of `audit:` bound it, and [`State`] says
//! what of it is sent. A pass sends batch after batch. The state is written after the collector took
//! a batch, so a crash costs nothing and at most repeats a batch.

mod attributes;
mod collector;
mod counters;
mod requests;
mod state;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookexec::internal::Policy;
use hookexec::internal::audit::numbered;
use hookexec::internal::files::try_lock;
use jiff::Timestamp;

use super::Exit;
use super::chance::around;
use super::config::ConfigArgs;
use super::decisions::{log_path, unreadable};
use super::error::{CommandError, OrCommandError as _, warn};
use super::log::LogArgs;
use super::output;
use super::records::{Batch, Loss, Parcel, Queue};
use super::report::counted;
pub(crate) use collector::Collector;
use collector::{Refusal, Signal, milliseconds, resource};
use counters::{GAPS, LOST};
use requests::Requests;
pub(crate) use state::{State, state_path};
#[cfg(test)]
pub(crate) use {attributes::STANDARD, counters::METRICS};

/// How often a log is looked at.
const INTERVAL: Duration = Duration::from_secs(2);
/// How often metrics are sent when `OTEL_METRIC_EXPORT_INTERVAL` does not say it.
const METRICS_INTERVAL: Duration = Duration::from_mins(1);
/// How often at least.
const LONGEST_INTERVAL: Duration = Duration::from_hours(24);

/// Sends the decision log to a collector of OpenTelemetry, and keeps running to send new records
///
/// Sends OTLP over HTTP: a log record for each decision, counts and times as metrics, and a span for
/// each decision that belongs to a trace. The variables `OTEL_*` of OpenTelemetry count.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec ship --to http://localhost:4318 --once")]
pub(crate) struct Args {
    /// The log [default: that of the hooks files]
    file: Option<PathBuf>,

    /// The collector, as `http://HOST:4318` [default: the variable `OTEL_EXPORTER_OTLP_ENDPOINT`]
    #[arg(long, value_name = "URL")]
    to: Option<String>,

    /// Sends what is there and exits, for a timer
    #[arg(long)]
    once: bool,

    /// Sends recorded inputs, too; the log has them only with `input: redacted`
    #[arg(long)]
    inputs: bool,

    /// What to send, separated by commas [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SIGNAL")]
    signals: Vec<Signal>,

    /// Where to note what is sent [default: beside the log, as `audit.jsonl.shipped`]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        LogArgs::default().start();
        let log = log_path(self.file.as_deref(), &self.config)?;
        if let Some(file) = self.file.as_deref().filter(|file| !file.exists()) {
            let missing = format!("the log {} does not exist", file.display());
            if self.once {
                return Err(CommandError::usage(missing));
            }
            warn(&format!("{missing} yet"));
        }
        let path = self.state.clone().unwrap_or_else(|| state_path(&log));
        let collector = Collector::new(self.to.as_deref(), &self.signals)?;
        let _lock = lock(&path)?;
        let config = self.config.clone();
        // None if the hooks files can't be loaded.
        let policies = move || {
            config.load_to_look().map(|loaded| loaded.found.config.policies).unwrap_or_default()
        };
        let mut ship = Ship::new(log, path, collector, policies, Timestamp::now)?;
        ship.requests.inputs = self.inputs;
        if !self.once {
            return ship.follow();
        }
        if let Some(wait) = ship.wait() {
            let why = ship.state.failure.as_ref().map_or("", |failure| &*failure.why);
            let seconds = wait.as_secs() + 1;
            let message = format!("it waits another {seconds} seconds, because {why}");
            return Err(CommandError::negative(message));
        }
        let sent = ship.pass()?;
        output::print(&format!("{} sent\n", counted(sent, "record")))?;
        match &ship.state.failure {
            Some(failure) => Err(CommandError::negative(failure.why.clone())),
            None => Ok(Exit::Success),
        }
    }
}

/// Locks the state at `path`, so that no other process ships the same log.
fn lock(path: &Path) -> Result<File, CommandError> {
    let lock = numbered(path, "lock");
    let held = try_lock(&lock).or_usage(format_args!("can't lock {}", lock.display()))?;
    held.ok_or_else(|| {
        let message = format!("another `hookexec ship` uses {}", path.display());
        CommandError::negative(message).hint("end it, or name another file with `--state`")
    })
}

/// A log on its way to a collector.
pub(crate) struct Ship {
    log: PathBuf,
    path: PathBuf,
    collector: Collector,
    requests: Requests,
    state: State,
    /// How often metrics are sent.
    interval: Duration,
    /// When they are sent next.
    pub(crate) measure_at: Timestamp,
    /// Tells the time.
    clock: Box<dyn Fn() -> Timestamp>,
}

impl Ship {
    /// Returns the log at `log`, of which the state at `path` says what is sent. `policies` returns
    /// what the hooks files name, and `clock` the time.
    pub(crate) fn new(
        log: PathBuf,
        path: PathBuf,
        collector: Collector,
        policies: impl Fn() -> Vec<Policy> + 'static,
        clock: impl Fn() -> Timestamp + 'static,
    ) -> Result<Self, CommandError> {
        let state = State::read(&path)
            .or_usage(format_args!("can't read what was sent, {}", path.display()))
            .map_err(|error| error.hint("remove this file to send the whole log once more"))?;
        let policies = Box::new(policies);
        let requests = Requests { resource: resource(&state.instance), inputs: false, policies };
        let interval = milliseconds("OTEL_METRIC_EXPORT_INTERVAL", METRICS_INTERVAL)?;
        let interval = interval.min(LONGEST_INTERVAL);
        let (measure_at, clock) = (Timestamp::MIN, Box::new(clock));
        Ok(Self { log, path, collector, requests, state, interval, measure_at, clock })
    }

    /// Returns how long the collector is left alone.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.state.wait((self.clock)())
    }

    /// Makes one pass after another until a signal ends the process, which may be at any time.
    fn follow(&mut self) -> Result<Exit, CommandError> {
        let mut said = None;
        loop {
            if let Some(wait) = self.wait() {
                std::thread::sleep(wait);
            }
            self.pass()?;
            let why = self.state.failure.as_ref().map(|failure| failure.why.clone());
            if why != said {
                match &why {
                    Some(why) => warn(&format!("{why}; what is not sent waits in the log")),
                    None => warn("the collector takes everything again"),
                }
            }
            said = why;
            std::thread::sleep(INTERVAL);
        }
    }

    /// Sends what is not sent yet, as far as the collector takes it, and returns how many records
    /// that were. What went wrong at the collector is in the state.
    pub(crate) fn pass(&mut self) -> Result<usize, CommandError> {
        let log = self.log.clone();
        let mut queue = Queue::open(&log, &self.state.positions).or_usage(unreadable(&log))?;
        self.note(&queue);
        let mut sent = 0;
        loop {
            let before = queue.positions();
            let batch = queue.next().or_usage(unreadable(&log))?;
            if batch.positions == before {
                break;
            }
            if let Err(refusal) = self.send(&batch) {
                return self.give_up(refusal).map(|()| sent);
            }
            sent += batch.parcels.len();
            self.save()?;
        }
        match self.measure() {
            Err(refusal) => self.give_up(refusal)?,
            // Most passes find nothing to do, and need not write a file.
            Ok(false) if sent == 0 && self.state.failure.is_none() => {}
            Ok(_) => {
                self.state.succeeded((self.clock)());
                self.save()?;
            }
        }
        Ok(sent)
    }

    /// Notes which files there are, and what was removed before it was sent.
    fn note(&mut self, queue: &Queue) {
        let Loss { bytes, gap } = queue.loss;
        if bytes > 0 || gap {
            warn(&format!(
                "records were removed from the log before they were sent: at least {bytes} bytes"
            ));
        }
        self.state.counters.count(LOST, &[], bytes);
        self.state.counters.count(GAPS, &[], gap.into());
        self.state.positions = queue.positions();
    }

    /// Sends a batch, and notes that it is sent.
    fn send(&mut self, batch: &Batch) -> Result<(), Refusal> {
        if !batch.parcels.is_empty() {
            self.deliver(&batch.parcels)?;
        }
        if batch.unreadable > 0 {
            let lines = counted(batch.unreadable, "line");
            warn(&format!("{lines} of the log can't be read: they are cut off, or not records"));
        }
        let counters = &mut self.state.counters;
        batch.parcels.iter().for_each(|parcel| counters.add(&parcel.record));
        counters.outcome("unreadable", batch.unreadable);
        self.state.positions.clone_from(&batch.positions);
        Ok(())
    }

    /// Sends records as spans and as log records. If the collector can't use them, sends each half,
    /// so that one record that it can't use costs itself alone.
    fn deliver(&mut self, parcels: &[Parcel]) -> Result<(), Refusal> {
        match self.post(parcels) {
            Ok(rejected) => {
                let rejected = rejected.min(parcels.len());
                self.state.counters.outcome("rejected", rejected);
                self.state.counters.outcome("sent", parcels.len() - rejected);
                Ok(())
            }
            Err(refusal) if !refusal.is_final => Err(refusal),
            Err(_) if parcels.len() > 1 => {
                let (first, second) = parcels.split_at(parcels.len() / 2);
                self.deliver(first)?;
                self.deliver(second)
            }
            // Is it the record, or can the collector use no request of ours?
            Err(refusal) if !self.collector.takes_nothing() => Err(refusal),
            Err(refusal) => {
                warn(&format!("a record is left out: {}", refusal.why));
                self.state.counters.outcome("rejected", 1);
                Ok(())
            }
        }
    }

    /// Sends records, and returns how many the collector rejected.
    fn post(&self, parcels: &[Parcel]) -> Result<usize, Refusal> {
        if let Some(spans) = self.requests.spans(parcels) {
            self.collect(Signal::Traces, "span", &spans)?;
        }
        self.collect(Signal::Logs, "record", &self.requests.logs(parcels))
    }

    /// Sends a request, and returns how many of its items the collector rejected.
    fn collect(&self, signal: Signal, item: &str, body: &[u8]) -> Result<usize, Refusal> {
        let (rejected, why) = self.collector.send(signal, body)?;
        if rejected > 0 {
            warn(&format!("the collector rejected {}: {why}", counted(rejected, item)));
        }
        Ok(rejected)
    }

    /// Sends the metrics when it is time, and returns whether it was.
    fn measure(&mut self) -> Result<bool, Refusal> {
        let now = (self.clock)();
        // A clock that was set back must not stop everything.
        if now < self.measure_at && self.measure_at < now + 2 * self.interval {
            return Ok(false);
        }
        self.collect(Signal::Metrics, "data point", &self.requests.metrics(&self.state))?;
        // Machines that were started at once must not come at once every time.
        self.measure_at = now + around(self.interval);
        Ok(true)
    }

    fn give_up(&mut self, refusal: Refusal) -> Result<(), CommandError> {
        self.state.failed(refusal.why, refusal.retry_after, (self.clock)());
        self.save()
    }

    fn save(&self) -> Result<(), CommandError> {
        let path = self.path.display();
        self.state.write(&self.path).or_usage(format_args!("can't note in {path} what was sent"))
    }
}
