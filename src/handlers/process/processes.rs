//! The processes of one executor.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::entry::Process;
use super::injected::Injections;
use crate::config::{self, Location};
use crate::handler::{BuildError, HandlerError};
use crate::handlers::command::launch::{Environment, Launch, Program};
use crate::handlers::command::place::{config_dir, working_dir};
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
    pub(super) entries: BTreeMap<String, Arc<Entry>>,
    injections: Mutex<Arc<Injections>>,
}

/// One process of an executor.
#[derive(Debug)]
pub(super) struct Entry {
    /// Replaced by that of the executor before, if it runs the same.
    process: Mutex<Arc<Process>>,
    /// Whether the next executor has taken it over, and ends it.
    is_taken: AtomicBool,
}

impl Entry {
    fn new(process: Arc<Process>) -> Arc<Self> {
        let (process, is_taken) = (Mutex::new(process), AtomicBool::new(false));
        Arc::new(Self { process, is_taken })
    }

    pub(super) fn process(&self) -> Arc<Process> {
        Arc::clone(&locked(&self.process))
    }

    /// Takes over the process of an entry of the executor before. Returns `false` if it is another.
    fn take_over(&self, old: &Self) -> bool {
        let mut own = locked(&self.process);
        let process = old.process();
        if !own.is_same(&process) || old.is_taken.swap(true, Ordering::AcqRel) {
            return false;
        }
        *process.roles() = std::mem::take(&mut *own.roles());
        *own = process;
        true
    }
}

/// Counts what happened with one process since the executor was built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessStatistics {
    /// Its name.
    pub name: String,
    /// The id of its process while it runs.
    pub pid: Option<u32>,
    /// How often it was started.
    pub starts: u64,
    /// How often it ended without being asked to, while it owed an answer or with a failure.
    pub crashes: u64,
    /// How many replies were for no open call: they came too late, twice, or for a call never made.
    pub replies_dropped: u64,
    /// How many of its lines were not messages, or longer than allowed.
    pub lines_unparsable: u64,
    /// How many notifications were handed over to it.
    pub notifications: u64,
    /// How many notifications were dropped because it could not take them.
    pub notifications_dropped: u64,
}

/// The counts of one process so far.
pub(super) type Counters = Mutex<ProcessStatistics>;

/// The result of starting a process to see whether it can be.
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
        processes: BTreeMap<String, config::Process>,
        working_dir: &Path,
        env: &Arc<BTreeMap<OsString, OsString>>,
    ) -> Self {
        let mut entries = BTreeMap::new();
        for (name, process) in processes {
            let launch = resolve(&process, working_dir, env);
            entries.insert(name, Entry::new(Process::new(process, launch)));
        }
        Self { entries, injections: Mutex::default() }
    }

    /// Takes over each process of `old`, of the executor before, whose definition and file are the
    /// same: it goes on as if nothing had changed. Must come before the first one is started here.
    ///
    /// A change of one file must not start the processes of another layer anew: they would forget
    /// what they have counted, and calls would wait for them.
    pub(crate) fn take_over(&self, old: &Self) {
        let injections = old.injections();
        let mut kept = Vec::new();
        for (name, entry) in &self.entries {
            if let Some(old) = old.entries.get(name)
                && entry.take_over(old)
            {
                kept.push(name.as_str());
            }
        }
        injections.keep(&kept);
        *locked(&self.injections) = injections;
    }

    fn processes(&self) -> impl Iterator<Item = Arc<Process>> {
        self.entries.values().map(|entry| entry.process())
    }

    /// Returns those that no other executor has taken over.
    fn own(&self) -> impl Iterator<Item = Arc<Process>> {
        let own = self.entries.values().filter(|entry| !entry.is_taken.load(Ordering::Acquire));
        own.map(|entry| entry.process())
    }

    /// Starts those that are to be started with the executor, without waiting for them.
    ///
    /// A failure is logged, and reported to the first hook that calls the process.
    pub(crate) fn start_eager(&self) {
        for process in self.processes() {
            if process.definition.eager {
                process.start();
            }
        }
    }

    /// Starts all of them and reports of each whether it returned the greeting, in the order of
    /// their names.
    pub(crate) async fn check(&self) -> Vec<ProcessCheck> {
        let mut checks = Vec::new();
        for process in self.processes() {
            checks.push(async move { check_process(&process).await });
        }
        join_all(checks).await
    }

    /// Returns what was counted about each, in the order of their names.
    pub(crate) fn statistics(&self) -> Vec<ProcessStatistics> {
        self.processes().map(|process| process.statistics()).collect()
    }

    /// Stops every process that is still its own: end of input, then TERM, then KILL to its group.
    /// None is started again.
    pub(crate) async fn shutdown(&self) {
        let mut ends = Vec::new();
        for process in self.own() {
            ends.push(async move { process.shutdown().await });
        }
        join_all(ends).await;
    }

    pub(super) fn injections(&self) -> Arc<Injections> {
        Arc::clone(&locked(&self.injections))
    }
}

/// Resolves how a process is started, as far as that can be before it is.
///
/// # Errors
/// When it can never be started.
fn resolve(
    process: &config::Process,
    project: &Path,
    env: &Arc<BTreeMap<OsString, OsString>>,
) -> Result<Launch, BuildError> {
    let (name, arguments) = match process.command.split_first() {
        Some((name, arguments)) if !name.is_empty() => (name, arguments),
        _ => return Err(BuildError::new("it has no `command`")),
    };
    let project: Arc<Path> = project.into();
    let directory = working_dir(process.working_dir.as_deref(), env, &project)?;
    let config = config_dir(&process.location, &project);
    let environment = Environment::new(env, &process.inherit_env, &process.env, config, &project)?;
    let program = Program::new(name, environment.get("PATH"), &directory);
    Ok(Launch { program, arguments: arguments.to_vec(), raw: None, environment, directory })
}

async fn check_process(process: &Arc<Process>) -> ProcessCheck {
    let started = Instant::now();
    let definition = &process.definition;
    // The handshake has a limit of its own; this one is for what comes before it.
    let deadline = started + definition.start_timeout + Duration::from_secs(5);
    let problem = match &process.launch {
        Err(obstacle) => Some(obstacle.message.clone()),
        Ok(_) => match process.connect(deadline).await {
            Ok(_) => None,
            Err(error) => Some(with_last_line(&error)),
        },
    };
    ProcessCheck {
        name: definition.name.clone(),
        location: definition.location.clone(),
        problem,
        elapsed: started.elapsed(),
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
        for process in self.own() {
            process.abandon();
        }
    }
}
