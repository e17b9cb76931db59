//! The processes of one executor.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::injected::Injections;
use super::launch;
use super::statistics::ProcessStatistics;
use super::supervisor::Supervisor;
use crate::config::{Location, Process};
use crate::handler::HandlerError;
use crate::locks::locked;

/// The processes of one executor, started when they are first needed.
///
/// * **Shutdown**: [`shutdown`](Self::shutdown) lets every child finish: it gets the notifications
///   that wait, its input ends, then it gets SIGTERM, then SIGKILL, each with its whole group.
/// * **Drop**: every child and its group is killed at once. A host that is killed itself leaves
///   children that see the end of their input.
/// * **Runtime**: a child belongs to the Tokio runtime on which it was needed first, and ends with
///   it; the next call starts another one.
/// * **Successor**: [`take_over`](Self::take_over) moves the children to the next executor.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    entries: BTreeMap<String, Arc<Entry>>,
    injections: Mutex<Arc<Injections>>,
}

/// One process of an executor.
#[derive(Debug)]
pub(super) struct Entry {
    /// Replaced by that of the executor before, if it runs the same.
    supervisor: Mutex<Arc<Supervisor>>,
    /// Whether the next executor has taken it over, and ends it.
    is_taken: AtomicBool,
}

impl Entry {
    fn new(supervisor: Arc<Supervisor>) -> Arc<Self> {
        let (supervisor, is_taken) = (Mutex::new(supervisor), AtomicBool::new(false));
        Arc::new(Self { supervisor, is_taken })
    }

    pub(super) fn supervisor(&self) -> Arc<Supervisor> {
        Arc::clone(&locked(&self.supervisor))
    }

    /// Takes over the process of an entry of the executor before. Returns `false` if it is another.
    fn take_over(&self, old: &Self) -> bool {
        let mut own = locked(&self.supervisor);
        let supervisor = old.supervisor();
        if !own.is_same(&supervisor) || old.is_taken.swap(true, Ordering::AcqRel) {
            return false;
        }
        *supervisor.roles() = std::mem::take(&mut *own.roles());
        *own = supervisor;
        true
    }
}

/// What came of starting a process to see whether it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessCheck {
    /// Its name.
    pub name: String,
    /// Where it is configured.
    pub location: Location,
    /// Why it can't serve; `None` when it returned the greeting.
    pub problem: Option<String>,
    /// How long that took.
    pub elapsed: Duration,
}

impl Processes {
    /// Returns the processes of a configuration; nothing is started. Relative paths start at
    /// `working_dir`; `env` is what the children inherit.
    pub(crate) fn new(
        processes: BTreeMap<String, Process>,
        working_dir: &Path,
        env: &Arc<BTreeMap<OsString, OsString>>,
    ) -> Self {
        let entries = processes.into_iter().map(|(name, process)| {
            let launch = launch::resolve(&process, working_dir, env);
            (name, Entry::new(Supervisor::new(process, launch)))
        });
        Self { entries: entries.collect(), injections: Mutex::default() }
    }

    /// Takes over each process of `old`, of the executor before, whose definition and file are the
    /// same: it goes on as if nothing had changed. Must come before the first one is started here.
    ///
    /// A change of one file must not start the processes of another layer anew: they would forget
    /// what they have counted, and calls would wait for them.
    pub(crate) fn take_over(&self, old: &Self) {
        let injections = old.injections();
        let same = |(name, entry): &(&String, &Arc<Entry>)| {
            old.entries.get(*name).is_some_and(|old| entry.take_over(old))
        };
        let kept: Vec<&str> =
            self.entries.iter().filter(same).map(|(name, _)| name.as_str()).collect();
        injections.keep(|process| kept.contains(&process));
        *locked(&self.injections) = injections;
    }

    fn supervisors(&self) -> impl Iterator<Item = Arc<Supervisor>> {
        self.entries.values().map(|entry| entry.supervisor())
    }

    /// Returns those that no other executor has taken over.
    fn own(&self) -> impl Iterator<Item = Arc<Supervisor>> {
        let own = self.entries.values().filter(|it| !it.is_taken.load(Ordering::Acquire));
        own.map(|entry| entry.supervisor())
    }

    /// Starts those that are to be started with the executor, without waiting for them.
    ///
    /// What goes wrong is logged, and reported to the first hook that calls the process.
    pub(crate) fn start_eager(&self) {
        for supervisor in self.supervisors().filter(|one| one.process.eager) {
            supervisor.start();
        }
    }

    /// Starts all of them and reports of each whether it returned the greeting, in the order of
    /// their names.
    pub(crate) async fn check(&self) -> Vec<ProcessCheck> {
        let checks = self.supervisors().map(|supervisor| async move {
            let started = Instant::now();
            let process = &supervisor.process;
            // The handshake has a limit of its own; this one is for what comes before it.
            let deadline = started + process.start_timeout + Duration::from_secs(5);
            let problem = match supervisor.obstacle() {
                Some(obstacle) => Some(obstacle.message.clone()),
                None => {
                    supervisor.connect(deadline).await.err().map(|error| with_last_line(&error))
                }
            };
            ProcessCheck {
                name: process.name.clone(),
                location: process.location.clone(),
                problem,
                elapsed: started.elapsed(),
            }
        });
        join_all(checks).await
    }

    /// Returns what was counted about each, in the order of their names.
    pub(crate) fn statistics(&self) -> Vec<ProcessStatistics> {
        self.supervisors().map(|supervisor| supervisor.statistics()).collect()
    }

    /// Stops every process that is still its own: end of input, then TERM, then KILL to its group. None is started again.
    pub(crate) async fn shutdown(&self) {
        let ends = self.own().map(|supervisor| async move { supervisor.shutdown().await });
        join_all(ends).await;
    }

    /// Returns the names, in alphabetical order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Arc<Entry>> {
        self.entries.get(name)
    }

    pub(super) fn injections(&self) -> Arc<Injections> {
        Arc::clone(&locked(&self.injections))
    }
}

/// Returns why a check failed, with the last line on the child's stderr. No call told the child
/// anything yet.
fn with_last_line(error: &HandlerError) -> String {
    let stderr = String::from_utf8_lossy(&error.stderr);
    match stderr.lines().last() {
        Some(line) => format!("{error}; it last said: {line}"),
        None => error.to_string(),
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for supervisor in self.own() {
            supervisor.abandon();
        }
    }
}
