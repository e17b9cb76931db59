//! The configuration in use, and how a new one takes its place.

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use tokio::sync::{self, OwnedRwLockReadGuard, RwLock};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::stamp::Stamps;
use hookexec::config::{Diagnostic, Diagnostics};
use hookexec::executor::Executor;
use hookexec::internal::{Place, locked};

/// How long the hooks in the background of a configuration that was replaced may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A configuration ready to run.
#[derive(Debug)]
pub struct Loaded {
    /// The executor.
    pub executor: Executor,
    /// The files it was read from.
    pub files: Vec<PathBuf>,
    /// Every place that a change of could make a difference: files, directories, and places where
    /// there is nothing yet.
    pub watched: Vec<Place>,
    /// Guards that do not run although a user may count on them.
    pub absent: Vec<String>,
    /// When it must be loaded anew, whether a place has changed or not.
    pub expires: Option<SystemTime>,
}

/// What becomes of the processes whose definition and hooks file are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Same {
    /// They go on. Otherwise a change of a project's file would reset the guards of the user.
    GoOn,
    /// They start anew, because a client asked for it.
    StartAnew,
}

/// Loads the configuration.
pub(crate) type Load = dyn Fn() -> Result<Loaded, Diagnostics> + Send + Sync;

/// How long requests wait until the files are read anew.
const RELOAD_TIME: Duration = Duration::from_secs(5);

/// Holds the configuration in use.
pub(crate) struct Engine {
    load: Box<Load>,
    state: Mutex<State>,
    /// Held by the thread that reads the files.
    reading: Arc<sync::Mutex<()>>,
}

struct State {
    generation: Arc<Generation>,
    stamps: Stamps,
    /// Why the newest files are not in use.
    problem: Option<Arc<Diagnostics>>,
}

/// One configuration, as long as a dispatch uses it.
struct Generation {
    executor: Arc<Executor>,
    files: Vec<PathBuf>,
    absent: Vec<String>,
    /// Read by every user, so that its end can wait for all of them.
    users: Arc<RwLock<()>>,
}

/// A configuration that does not end while this is held.
pub(crate) struct InUse {
    generation: Arc<Generation>,
    /// Why a newer one is not in use.
    pub(super) problem: Option<Arc<Diagnostics>>,
    _user: Option<OwnedRwLockReadGuard<()>>,
}

impl InUse {
    pub(super) fn executor(&self) -> &Executor {
        &self.generation.executor
    }

    /// Returns the executor for a session of its own, which must not outlive `self`.
    pub(crate) fn shared(&self) -> Arc<Executor> {
        Arc::clone(&self.generation.executor)
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.generation.files
    }

    pub(super) fn absent(&self) -> &[String] {
        &self.generation.absent
    }
}

impl Engine {
    /// Loads the first configuration.
    pub(crate) fn new(load: Box<Load>) -> Result<Self, Diagnostics> {
        let since = SystemTime::now();
        let noted = (Stamps::default(), since);
        let (generation, stamps) = generation(load()?, noted, None);
        let state = State { generation, stamps, problem: None };
        Ok(Self { load, state: Mutex::new(state), reading: Arc::default() })
    }

    /// Returns the configuration, the one on disk when that is another by now and is sound.
    ///
    /// # Errors
    /// When reading the files takes longer than [`RELOAD_TIME`], or than half of the time until
    /// `deadline`. No hook may run then: another file could hold the guard for this request.
    pub(crate) async fn current(
        self: &Arc<Self>,
        deadline: Option<std::time::Instant>,
    ) -> Result<InUse, &'static str> {
        if self.state().stamps.outdated() {
            let now = Instant::now();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now.into_std()));
            let longest = left.map_or(RELOAD_TIME, |left| RELOAD_TIME.min(left / 2));
            let read = timeout(longest, self.read_all(Same::GoOn)).await;
            read.map_err(|_| "the hooks files have changed and could not be read in time")?;
        }
        Ok(self.in_use())
    }

    /// Returns the configuration as it is, without looking at the disk.
    pub(super) fn in_use(&self) -> InUse {
        self.state().in_use()
    }

    /// Loads the configuration whether it seems to have changed or not, and starts all processes
    /// anew.
    pub(super) async fn reload(self: &Arc<Self>) -> InUse {
        self.read_all(Same::StartAnew).await;
        self.in_use()
    }

    /// Waits for the dispatches that use the configuration, then ends it.
    pub(crate) async fn shutdown(&self, patience: Duration) {
        let generation = Arc::clone(&self.state().generation);
        generation.end(patience).await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Reads the files on another thread, once no other reading is under way; nothing if none has
    /// changed since, and processes go on. A reading that has begun comes to its end.
    async fn read_all(self: &Arc<Self>, same: Same) {
        let held = Arc::clone(&self.reading).lock_owned().await;
        if same == Same::GoOn && !self.state().stamps.outdated() {
            return;
        }
        let engine = Arc::clone(self);
        let read = move || {
            engine.renew(same);
            drop(held);
        };
        let _ = spawn_blocking(read).await;
    }

    /// Puts what is on disk in the place of what is in use, all of it or nothing.
    ///
    /// What the places are like is noted before they are read: a file that changes meanwhile is read
    /// once more before the next event.
    fn renew(&self, same: Same) {
        let since = SystemTime::now();
        let places = self.state().stamps.places();
        let before = Stamps::take(places, since);
        let loaded = panic::catch_unwind(AssertUnwindSafe(|| (self.load)()));
        let loaded = loaded.unwrap_or_else(|_| {
            Err(Diagnostic::error("the hooks files could not be loaded").into())
        });
        let mut state = self.state();
        let loaded = loaded.and_then(|loaded| {
            if loaded.files.is_empty() && !state.generation.files.is_empty() {
                let hint = "to go on without hooks, restart the server";
                return Err(Diagnostic::error("the hooks files are gone").hint(hint).into());
            }
            Ok(loaded)
        });
        match loaded {
            Ok(loaded) => {
                let old = (&*state.generation.executor, same);
                let (generation, stamps) = generation(loaded, (before, since), Some(old));
                let old = std::mem::replace(&mut state.generation, generation);
                state.stamps = stamps;
                state.problem = None;
                tracing::info!(hooks = state.generation.executor.hooks().len(), "loaded anew");
                tokio::spawn(async move { old.end(PATIENCE).await });
            }
            Err(problems) => {
                state.stamps = before;
                tracing::warn!(
                    "the configuration has changed and is broken; the one loaded before still counts:\n{problems}"
                );
                state.problem = Some(Arc::new(problems));
            }
        }
    }
}

impl State {
    fn in_use(&self) -> InUse {
        let generation = Arc::clone(&self.generation);
        // It is ended only after it was replaced, so there is always room for one more reader.
        let user = Arc::clone(&generation.users).try_read_owned().ok();
        InUse { generation, problem: self.problem.clone(), _user: user }
    }
}

impl Generation {
    async fn end(&self, patience: Duration) {
        let all = tokio::time::timeout(patience, self.users.write()).await;
        self.executor.shutdown(patience).await;
        drop(all);
    }
}

/// Starts what was loaded, in the place of the executor `old`. The places were like `before` when the
/// reading began, at `since`.
fn generation(
    loaded: Loaded,
    (before, since): (Stamps, SystemTime),
    old: Option<(&Executor, Same)>,
) -> (Arc<Generation>, Stamps) {
    let Loaded { mut executor, files, watched, absent, expires } = loaded;
    if let Some((old, same)) = old {
        executor.take_over(old, same == Same::GoOn);
    }
    executor.start_processes();
    let generation =
        Generation { executor: Arc::new(executor), files, absent, users: Arc::default() };
    let stamps = Stamps::take(watched, since).noted_before(before, since).until(expires);
    (Arc::new(generation), stamps)
}
