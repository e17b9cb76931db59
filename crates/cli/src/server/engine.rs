//! The configuration in use, and how a new one takes its place.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use hookexec::config::{Diagnostic, Diagnostics};
use hookexec::executor::Executor;
use hookexec::internal::{Place, locked};
use tokio::runtime::Handle;
use tokio::sync;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::stamp::Stamps;

/// How long the hooks in the background of a configuration that was replaced may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long requests wait until the files are read anew.
const RELOAD_TIME: Duration = Duration::from_secs(5);

/// A configuration ready to run.
#[derive(Debug)]
pub struct Loaded {
    /// The executor.
    pub executor: Executor,
    /// Whether it was read from at least one file.
    pub has_files: bool,
    /// Every place that a change of could make a difference: files, directories, and places where
    /// there is nothing yet.
    pub watched: Vec<Place>,
    /// Guards that do not run although a user may count on them.
    pub absent: Vec<String>,
    /// When it must be loaded anew, whether a place has changed or not.
    pub expires: Option<SystemTime>,
}

/// Loads the configuration.
pub(crate) type Load = dyn Fn() -> Result<Loaded, Diagnostics> + Send + Sync;

/// Holds the configuration in use.
pub(crate) struct Engine {
    load: Box<Load>,
    state: Mutex<State>,
    /// Held by the thread that reads the files.
    reading: Arc<sync::Mutex<()>>,
}

struct State {
    current: InUse,
    stamps: Stamps,
}

/// A configuration that does not end while this is held.
#[derive(Clone)]
pub(crate) struct InUse {
    generation: Arc<Generation>,
    /// Why a newer configuration is not in use, for the user.
    pub(super) problem: Option<Arc<str>>,
}

/// One configuration. Its processes end with its last user.
struct Generation {
    executor: Arc<Executor>,
    has_files: bool,
    absent: Vec<String>,
}

impl Drop for Generation {
    fn drop(&mut self) {
        let executor = Arc::clone(&self.executor);
        // Without a runtime the whole program ends.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { executor.shutdown(PATIENCE).await });
        }
    }
}

impl InUse {
    pub(super) fn executor(&self) -> &Executor {
        &self.generation.executor
    }

    /// Returns the executor for a session of its own, which must not outlive `self`.
    pub(crate) fn shared(&self) -> Arc<Executor> {
        Arc::clone(&self.generation.executor)
    }

    pub(super) fn absent(&self) -> &[String] {
        &self.generation.absent
    }
}

impl Engine {
    /// Loads the first configuration.
    pub(crate) fn new(load: Box<Load>) -> Result<Self, Diagnostics> {
        let since = SystemTime::now();
        let (generation, stamps) = start(load()?, Stamps::default(), since);
        let current = InUse { generation, problem: None };
        Ok(Self { load, state: Mutex::new(State { current, stamps }), reading: Arc::default() })
    }

    /// Returns the configuration, the one on disk when that is another by now and is sound.
    ///
    /// # Errors
    /// When reading the files takes longer than [`RELOAD_TIME`], or than half of the time until
    /// `deadline`. No hook may run then: another file could hold the guard for this request.
    pub(crate) async fn current(
        self: &Arc<Self>,
        deadline: Option<Instant>,
    ) -> Result<InUse, &'static str> {
        if self.state().stamps.outdated() {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let longest = left.map_or(RELOAD_TIME, |left| RELOAD_TIME.min(left / 2));
            let read = timeout(longest, self.read_changes()).await;
            read.map_err(|_| "the hooks files have changed and could not be read in time")?;
        }
        Ok(self.in_use())
    }

    /// Returns the configuration as it is, without looking at the disk.
    pub(super) fn in_use(&self) -> InUse {
        self.state().current.clone()
    }

    /// Stops the processes, once the hooks in the background are done or `patience` is over.
    pub(crate) async fn shutdown(&self, patience: Duration) {
        self.in_use().executor().shutdown(patience).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Reads the files on another thread, once no other reading is under way; nothing if none has
    /// changed since. A reading that has begun comes to its end.
    async fn read_changes(self: &Arc<Self>) {
        let held = Arc::clone(&self.reading).lock_owned().await;
        if !self.state().stamps.outdated() {
            return;
        }
        let engine = Arc::clone(self);
        let read = move || {
            engine.renew();
            drop(held);
        };
        let _ = spawn_blocking(read).await;
    }

    /// Puts what is on disk in the place of what is in use, all of it or nothing.
    ///
    /// What the places are like is noted before they are read: a file that changes meanwhile is read
    /// once more before the next event.
    fn renew(&self) {
        let since = SystemTime::now();
        let before = self.state().stamps.again(since);
        let loaded = panic::catch_unwind(AssertUnwindSafe(|| (self.load)()));
        let loaded = loaded.unwrap_or_else(|_| {
            Err(Diagnostic::error("the hooks files could not be loaded").into())
        });
        let mut state = self.state();
        let old = Arc::clone(&state.current.generation);
        match loaded {
            Ok(loaded) if old.has_files && !loaded.has_files => {
                let hint = "to go on without hooks, restart the server";
                let gone = Diagnostic::error("the hooks files are gone").hint(hint);
                state.keep(&gone.into(), before);
            }
            Ok(mut loaded) => {
                // A change of a project's file would otherwise reset the guards of the user.
                loaded.executor.take_over(&old.executor);
                let (generation, stamps) = start(loaded, before, since);
                tracing::info!(hooks = generation.executor.hooks().len(), "loaded anew");
                *state = State { current: InUse { generation, problem: None }, stamps };
            }
            Err(problems) => state.keep(&problems, before),
        }
    }
}

impl State {
    /// Goes on with the configuration in use because of the `problems` of the newest files.
    fn keep(&mut self, problems: &Diagnostics, stamps: Stamps) {
        let what =
            "the configuration has changed and is broken, the one loaded before still counts";
        tracing::warn!("{what}:\n{problems}");
        let text = problems.to_string();
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let problem = match lines.count() {
            0 => format!("{what}: {first}"),
            more => format!("{what}: {first} (and {more} more)"),
        };
        self.current.problem = Some(problem.into());
        self.stamps = stamps;
    }
}

/// Starts what was loaded. The places were like `before` when the reading began, at `since`.
fn start(loaded: Loaded, before: Stamps, since: SystemTime) -> (Arc<Generation>, Stamps) {
    let Loaded { executor, has_files, watched, absent, expires } = loaded;
    executor.start_processes();
    let generation = Generation { executor: Arc::new(executor), has_files, absent };
    let stamps = Stamps::take(watched, before, since).until(expires);
    (Arc::new(generation), stamps)
}
