//! Writes the decision log.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hookexec_files::bounded::read_beginning;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::record::{BEGINNING, PolicyRecord, Record, span};
use crate::policy::{InForce, Store};
use hookexec::config::{AuditSettings, SourceFile};
use hookexec::registry::{Recorded, Recorder};
use hookexec::wire::JsonObject;
use hookexec::{BoxFuture, Config, Input, Verdict};
use hookexec_builtins::secrets::Redactor;
use hookexec_files::files::{append_private, hexadecimal, open_unlinked, try_lock};
use hookexec_files::platform::resolve;

/// How long a verdict waits for its record, to say when it can't be written.
const PATIENCE: Duration = Duration::from_millis(250);
/// How many records may wait for the disk.
const MAX_WAITING: u32 = 64;

const SLOW: &str = "the audit log is slow: the record of this event is not written yet";
const LOST: &str = "the audit log is slow: this event is not recorded";

/// Records the verdicts of one executor in the logs of its configuration.
///
/// * Every file that says `audit:` has its log: a project can't switch off a user's. If two of them
///   share a file, the settings of the higher layer count for both.
/// * A record is appended by one write, so that any number of processes share a file. A full file is
///   renamed under a lock. A process that does not get the lock at once appends to the full file.
/// * A record is written after the verdict is decided, on another thread. A slow disk delays a verdict
///   by [`PATIENCE`] at most, and never beyond the deadline.
/// * What can't be written is said in the verdict's `system_message`; it decides nothing.
struct Auditor(Arc<Inner>);

struct Inner {
    logs: Vec<AuditSettings>,
    redactor: Redactor,
    sources: Sources,
    /// The span that this process works for.
    traceparent: Option<String>,
    /// One permit for each record that may still wait for the disk.
    room: Arc<Semaphore>,
    /// Whether the last record took too long: the next verdict does not wait for its own.
    is_slow: AtomicBool,
}

/// Returns the recorder of a configuration; `None` when no file says `audit:`.
pub fn recorder(config: &Config, env: &BTreeMap<OsString, OsString>) -> Option<Arc<dyn Recorder>> {
    Some(Arc::new(Auditor::of(config, env)?))
}

impl Auditor {
    fn of(config: &Config, env: &BTreeMap<OsString, OsString>) -> Option<Self> {
        if config.audit.is_empty() {
            return None;
        }
        let redactor = Redactor::new(env.iter());
        let (logs, sources) = (separate(&config.audit), Sources::of(config));
        let room = Arc::new(Semaphore::new(MAX_WAITING as usize));
        let is_slow = AtomicBool::new(false);
        let traceparent = span(env.get(OsStr::new("TRACEPARENT")).and_then(|text| text.to_str()));
        Some(Self(Arc::new(Inner { logs, redactor, sources, traceparent, room, is_slow })))
    }

    /// Waits for a tenth of the time until the deadline, at most.
    async fn write_down(&self, recorded: Recorded<'_>) -> Vec<String> {
        let Recorded { input, verdict, is_hooked, took, deadline, .. } = recorded;
        let event = verdict.event;
        let patience = self.0.patience(deadline);
        let room = timeout(patience, Arc::clone(&self.0.room).acquire_owned()).await;
        let Ok(Ok(permit)) = room else {
            tracing::warn!(%event, "{LOST}");
            return vec![LOST.to_owned()];
        };
        let inner = Arc::clone(&self.0);
        let record = inner.record(input, verdict, took);
        let has_inputs = self.0.logs.iter().any(|log| log.inputs);
        let input =
            if has_inputs { Some((input.clone(), verdict.updated_input.clone())) } else { None };
        let writing = tokio::task::spawn_blocking(move || {
            let problems = inner.write(record, input.as_ref(), is_hooked);
            // Also those that come too late for the verdict.
            for problem in &problems {
                tracing::warn!(%event, "{problem}");
            }
            inner.is_slow.store(false, Ordering::Relaxed);
            drop(permit);
            problems
        });
        // If the future is dropped, the record is written all the same.
        match timeout(patience, writing).await {
            Ok(Ok(problems)) => problems,
            Ok(Err(error)) => vec![format!("the audit log could not be written: {error}")],
            Err(_) => {
                self.0.is_slow.store(true, Ordering::Relaxed);
                vec![SLOW.to_owned()]
            }
        }
    }
}

impl Recorder for Auditor {
    fn records_all(&self) -> bool {
        self.0.logs.iter().any(|log| log.all_events)
    }

    fn record<'a>(&'a self, recorded: Recorded<'a>) -> BoxFuture<'a, Vec<String>> {
        Box::pin(self.write_down(recorded))
    }

    fn settle(&self, patience: Duration) -> BoxFuture<'_, ()> {
        // The end of the program waits for them.
        let patience = patience.clamp(PATIENCE, Duration::from_secs(5));
        Box::pin(async move {
            let _ = timeout(patience, self.0.room.acquire_many(MAX_WAITING)).await;
        })
    }
}

impl Inner {
    /// Returns how long a verdict may wait for its record.
    fn patience(&self, deadline: Option<Instant>) -> Duration {
        if self.is_slow.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let Some(deadline) = deadline else { return PATIENCE };
        let left = deadline.saturating_duration_since(Instant::now());
        PATIENCE.min(left / 10)
    }

    /// Returns the record of a verdict, without the input.
    fn record(&self, input: &Input, verdict: &Verdict, took: Duration) -> Record {
        let time = format!("{:.3}", Timestamp::now());
        let duration_ms = (took.as_secs_f64() * 1e6).round() / 1e3;
        let mut record = Record::new(time, input, verdict, duration_ms);
        let own = input.extra.get("traceparent").unwrap_or(&Value::Null);
        record.traceparent = span(own.as_str()).or_else(|| self.traceparent.clone());
        record
    }

    /// Writes a record into each log that wants it, with the input and the arguments as they were
    /// rewritten where a log wants these, too. Returns what could not be written.
    fn write(
        &self,
        mut plain: Record,
        input: Option<&(Input, Option<JsonObject>)>,
        hooked: bool,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        self.sources.name(&mut plain);
        for log in self.logs.iter().filter(|log| hooked || log.all_events) {
            let mut record = plain.clone();
            if let Some((input, updated_input)) = input
                && log.inputs
            {
                record = record.with_input(input, updated_input.clone(), &self.redactor);
            }
            if let Err(error) = write(log, record, &self.redactor) {
                let path = log.path.display();
                problems.push(format!("the audit log {path} can't be written: {error}"));
            }
        }
        problems
    }
}

/// The hooks files of a configuration.
#[derive(Debug, Default)]
struct Sources {
    digest: String,
    /// Places of hooks as they are shown, and with the whole path: a log is read elsewhere.
    places: HashMap<String, String>,
    /// The policies, with the version in force, whose age grows.
    policies: Vec<(PolicyRecord, Option<InForce>)>,
}

impl Sources {
    /// Returns the files of `config`. Recording an event reads no file.
    fn of(config: &Config) -> Self {
        let mut places = HashMap::new();
        let mut digest = Sha256::new();
        let mut last: Option<&Arc<SourceFile>> = None;
        for hook in &config.hooks {
            let file = hook.location.file();
            // The hooks of a file follow one another.
            if !last.is_some_and(|last| Arc::ptr_eq(last, file)) {
                digest.update((file.text.len() as u64).to_be_bytes());
                digest.update(file.text.as_bytes());
                last = Some(file);
            }
            if !file.text.is_empty() {
                places.insert(hook.location.to_string(), hook.location.absolute());
            }
        }
        let digest = format!("sha256:{}", hexadecimal(&digest.finalize()[..16]));
        let mut policies = Vec::new();
        for settings in &config.policies {
            let state = Store::beside(settings.location.directory()).state().unwrap_or_default();
            policies.push((PolicyRecord::new(config, settings, &state), state.in_force));
        }
        Self { digest, places, policies }
    }

    /// Writes into a record what it rests on.
    fn name(&self, record: &mut Record) {
        record.config.clone_from(&self.digest);
        for (policy, in_force) in &self.policies {
            let age_s = in_force.as_ref().map(|in_force| in_force.age().as_secs());
            record.policies.push(PolicyRecord { age_s, ..policy.clone() });
        }
        for report in &mut record.hooks {
            if let Some(whole) = self.places.get(&report.source) {
                report.source.clone_from(whole);
            }
        }
    }
}

/// Leaves out each log whose file is that of one before it. Those of a higher layer come first.
fn separate(audit: &[AuditSettings]) -> Vec<AuditSettings> {
    let (mut logs, mut used) = (Vec::new(), HashSet::new());
    for settings in audit {
        if used.insert(resolve(&settings.path)) {
            logs.push(settings.clone());
        }
    }
    logs
}

fn write(log: &AuditSettings, record: Record, redactor: &Redactor) -> io::Result<()> {
    write_line(log, &record.line(redactor)?)
}

fn write_line(log: &AuditSettings, line: &[u8]) -> io::Result<()> {
    check_ours(&log.path)?;
    if is_full(log, line) {
        rotate(log, line)?;
    }
    append_private(&log.path, line)
}

/// Returns whether a file has no room for one more line.
fn is_full(log: &AuditSettings, line: &[u8]) -> bool {
    let Ok(file) = log.path.symlink_metadata() else { return false };
    file.len() > 0 && file.len() + line.len() as u64 > log.max_size
}

/// Checks that the file at `path` is a log, if there is one: another program's file must not be
/// appended to or renamed.
fn check_ours(path: &Path) -> io::Result<()> {
    let file = match open_unlinked(OpenOptions::new().read(true), path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let begins = read_beginning(file, BEGINNING.len())?.bytes;
    if begins.is_empty() || begins == BEGINNING.as_bytes() {
        return Ok(());
    }
    let name = path.file_name().unwrap_or_default().display();
    Err(io::Error::other(format!(
        "`{name}` does not begin with a record of hookexec; move the file, or set another `path`"
    )))
}

/// Renames the full file and those before it, unless another process is doing so.
///
/// A writer that has the full file open still appends to it under its new name; one that sleeps
/// through as many rotations as files are kept finds that its file is gone, and appends anew.
fn rotate(log: &AuditSettings, line: &[u8]) -> io::Result<()> {
    let Some(_lock) = try_lock(&log.path.with_added_extension("lock"))? else { return Ok(()) };
    // Another may have been faster.
    if !is_full(log, line) {
        return Ok(());
    }
    for number in 1..=log.keep {
        check_ours(&log.path.with_added_extension(number.to_string()))?;
    }
    for number in (1..log.keep).rev() {
        let newer = log.path.with_added_extension(number.to_string());
        if newer.symlink_metadata().is_ok() {
            std::fs::rename(newer, log.path.with_added_extension((number + 1).to_string()))?;
        }
    }
    std::fs::rename(&log.path, log.path.with_added_extension("1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookexec::Event;

    // Windows lets few users make links.
    #[cfg(unix)]
    #[test]
    fn the_first_of_two_logs_that_share_a_file_counts() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir_all(at("user")).unwrap();
        std::fs::create_dir_all(at("project")).unwrap();
        std::os::unix::fs::symlink(at("user"), at("project/link")).unwrap();
        let user = AuditSettings::new(at("user/log"));
        let kept = |path: &str| separate(&[user.clone(), AuditSettings::new(at(path))]).len();
        for shared in ["user/log", "user/../user/log", "project/link/log"] {
            assert_eq!(kept(shared), 1, "{shared}");
        }
        assert_eq!(kept("project/log"), 2);
        assert_eq!(kept("user/log2"), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_disk_neither_delays_nor_loses_a_verdict() {
        let directory = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.audit.push(AuditSettings::new(directory.path().join("log")));
        let auditor = Auditor::of(&config, &BTreeMap::new()).unwrap();
        let room = Arc::clone(&auditor.0.room);
        let _all = room.acquire_many(MAX_WAITING).await.unwrap();
        let verdict = Verdict::denied(Event::PreToolUse, "no");
        let started = tokio::time::Instant::now();
        let input = Input::default();
        let mut recorded = Recorded::new(&input, &verdict);
        let problems = auditor.record(recorded).await;
        assert!(started.elapsed() <= PATIENCE + Duration::from_millis(1));
        assert_eq!(problems, [LOST]);
        recorded.deadline = Some(Instant::now());
        auditor.record(recorded).await;
        auditor.settle(Duration::from_hours(1)).await;
        assert!(started.elapsed() <= PATIENCE + Duration::from_millis(5005));
    }

    // Windows has no named pipes in directories.
    #[cfg(unix)]
    #[test]
    fn a_pipe_in_the_place_of_the_lock_is_an_error_and_no_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.jsonl");
        let mut log = AuditSettings::new(&path);
        (log.max_size, log.keep) = (10, 1);
        std::fs::write(&path, BEGINNING).unwrap();
        let lock = path.with_added_extension("lock");
        let made = std::process::Command::new("mkfifo").arg(&lock).status().unwrap();
        assert!(made.success());
        let error = write_line(&log, b"y\n").unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
