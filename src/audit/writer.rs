//! Writes the decision log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{FlockOperation, OFlags, flock};

use super::record::Record;
use super::sources::Sources;
use crate::builtins::secrets::Redactor;
use crate::config::{AuditInput, AuditSettings, Config};
use crate::event::Event;
use crate::files::append_private;
use crate::wire::{Input, Verdict};

/// Records the verdicts of one executor in the logs of its configuration.
///
/// * Every file that says `audit:` has its log: a project can't switch off a user's.
/// * A record is appended by one write, so that any number of processes share a file. A file that
///   is full is renamed under a lock, which nobody waits for: who does not get it appends to what is
///   there.
/// * What can't be written is said in the verdict's `system_message`; it decides nothing.
#[derive(Clone)]
pub(crate) struct Auditor(Arc<Inner>);

struct Inner {
    logs: Vec<AuditSettings>,
    redactor: Redactor,
    sources: Sources,
}

impl Auditor {
    /// Returns the auditor of a configuration; `None` when no file says `audit:`.
    pub(crate) fn of(
        config: &Config,
        env: &BTreeMap<OsString, OsString>,
        project: &Path,
    ) -> Option<Self> {
        if config.audit.is_empty() {
            return None;
        }
        let mut logs: Vec<AuditSettings> = Vec::new();
        for settings in &config.audit {
            if !logs.iter().any(|log| log.path == settings.path) {
                logs.push(settings.clone());
            }
        }
        let redactor = Redactor::new(env.iter());
        let sources = Sources::of(config, project, &logs);
        Some(Self(Arc::new(Inner { logs, redactor, sources })))
    }

    /// Returns whether a log wants events that no hook is configured for.
    pub(crate) fn records_all(&self) -> bool {
        self.0.logs.iter().any(|log| log.all_events)
    }

    /// Writes down a verdict, `hooked` or without a hook that is configured, and notes in it what could not be written.
    pub(crate) async fn record(
        &self,
        event: Event,
        input: &Input,
        verdict: &mut Verdict,
        hooked: bool,
        took: Duration,
    ) {
        let inner = Arc::clone(&self.0);
        let (input, seen) = (input.clone(), verdict.clone());
        // A disk may be slow; whoever drops the event's future does not lose the record.
        let write = move || inner.write(event, &input, &seen, hooked, took);
        let problems = match tokio::task::spawn_blocking(write).await {
            Ok(problems) => problems,
            Err(error) => vec![format!("the audit log could not be written: {error}")],
        };
        for problem in problems {
            tracing::warn!(%event, "{problem}");
            let said = verdict.system_message.take();
            verdict.system_message =
                Some(said.map_or(problem.clone(), |said| said + "\n" + &problem));
        }
    }
}

impl Inner {
    fn write(
        &self,
        event: Event,
        input: &Input,
        verdict: &Verdict,
        hooked: bool,
        took: Duration,
    ) -> Vec<String> {
        let time = format!("{:.3}", Timestamp::now());
        let duration_ms = (took.as_secs_f64() * 1e6).round() / 1e3;
        let mut problems = Vec::new();
        let mut plain = Record::new(time, event, input, verdict, duration_ms);
        self.sources.name(&mut plain);
        for log in self.logs.iter().filter(|log| hooked || log.all_events) {
            let mut record = plain.clone();
            if log.input == AuditInput::Redacted {
                record = record.with_input(input, verdict, &self.redactor);
            }
            let written = record
                .line(&self.redactor)
                .map_err(io::Error::from)
                .and_then(|line| write(log, &line));
            if let Err(error) = written {
                let path = log.path.display();
                problems.push(format!("the audit log {path} can't be written: {error}"));
            }
        }
        problems
    }
}

fn write(log: &AuditSettings, line: &[u8]) -> io::Result<()> {
    let size = log.path.symlink_metadata().map_or(0, |metadata| metadata.len());
    if size > 0 && size + line.len() as u64 > log.max_size {
        rotate(log, line.len() as u64)?;
    }
    append_private(&log.path, line)
}

/// Renames the full file and those before it, unless somebody else is doing so.
///
/// A writer that has the full file open still appends to it under its new name; one that sleeps
/// through as many rotations as files are kept finds that its file is gone, and appends anew.
fn rotate(log: &AuditSettings, more: u64) -> io::Result<()> {
    // Without NONBLOCK a named pipe in its place would hold every event up.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(numbered(&log.path, "lock"))?;
    if !lock.metadata()?.is_file() {
        return Err(io::Error::other("its lock is not a regular file"));
    }
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(()),
        locked => locked?,
    }
    // Another may have been faster.
    let size = log.path.symlink_metadata().map_or(0, |metadata| metadata.len());
    if size == 0 || size + more <= log.max_size {
        return Ok(());
    }
    for number in (1..log.keep).rev() {
        let newer = numbered(&log.path, &number.to_string());
        if newer.symlink_metadata().is_ok() {
            std::fs::rename(newer, numbered(&log.path, &(number + 1).to_string()))?;
        }
    }
    std::fs::rename(&log.path, numbered(&log.path, "1"))
}

/// Returns the path with something appended: `audit.jsonl.1`.
#[must_use]
pub fn numbered(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_the_lock_is_an_error_and_no_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.jsonl");
        let log = AuditSettings {
            path: path.clone(),
            max_size: 10,
            keep: 1,
            input: AuditInput::None,
            all_events: false,
        };
        std::fs::write(&path, "x".repeat(20)).unwrap();
        let lock = numbered(&path, "lock");
        let made = std::process::Command::new("mkfifo").arg(&lock).status().unwrap();
        assert!(made.success());
        let error = write(&log, b"y\n").unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
}
