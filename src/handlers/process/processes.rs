//! The processes of one executor.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::injected::Injections;
use super::launch::Launch;
use super::statistics::ProcessStatistics;
use super::supervisor::Supervisor;
use crate::config::{Location, Process};

/// The processes of one executor, started when they are first needed.
///
/// * **Shutdown**: [`shutdown`](Self::shutdown) lets every child finish: it gets the notifications
///   that wait, its input ends, then it gets SIGTERM, then SIGKILL, each with its whole group.
/// * **Drop**: every child and its group is killed at once. A host that is killed itself leaves
///   children that see the end of their input.
/// * **Runtime**: a child belongs to the Tokio runtime on which it was needed first, and ends with
///   it; the next call starts another one.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    supervisors: BTreeMap<String, Arc<Supervisor>>,
    injections: Injections,
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
        let supervisors = processes.into_iter().map(|(name, process)| {
            let launch = Launch::new(&process, working_dir, env);
            (name, Supervisor::new(process, launch))
        });
        Self { supervisors: supervisors.collect(), injections: Injections::default() }
    }

    /// Starts those that are to be started with the executor, without waiting for them.
    ///
    /// What goes wrong is logged, and reported to the first hook that calls the process.
    pub(crate) fn start_eager(&self) {
        for supervisor in self.supervisors.values().filter(|one| one.process.eager) {
            supervisor.start();
        }
    }

    /// Starts all of them and reports of each whether it returned the greeting, in the order of
    /// their names.
    pub(crate) async fn check(&self) -> Vec<ProcessCheck> {
        let checks = self.supervisors.values().map(|supervisor| async {
            let started = Instant::now();
            let process = &supervisor.process;
            // The handshake has a limit of its own; this one is for what comes before it.
            let deadline = started + process.start_timeout + Duration::from_secs(5);
            let problem = match supervisor.obstacle() {
                Some(obstacle) => Some(obstacle.message.clone()),
                None => supervisor.connect(deadline).await.err().map(|error| error.to_string()),
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
        self.supervisors.values().map(|supervisor| supervisor.statistics()).collect()
    }

    /// Stops every process: end of input, then TERM, then KILL to its group. None is started again.
    pub(crate) async fn shutdown(&self) {
        join_all(self.supervisors.values().map(|supervisor| supervisor.shutdown())).await;
    }

    /// Returns the names, in alphabetical order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.supervisors.keys().map(String::as_str)
    }

    pub(super) fn supervisor(&self, name: &str) -> Option<&Arc<Supervisor>> {
        self.supervisors.get(name)
    }

    pub(super) const fn injections(&self) -> &Injections {
        &self.injections
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for supervisor in self.supervisors.values() {
            supervisor.abandon();
        }
    }
}
