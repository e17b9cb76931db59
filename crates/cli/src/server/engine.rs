//! The configuration in use, and how a new one takes its place.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use super::stamp::Stamps;
use hookexec::config::{Diagnostic, Diagnostics};
use hookexec::executor::Executor;

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
    pub watched: Vec<PathBuf>,
}

impl Loaded {
    /// Returns a configuration that never changes.
    pub fn new(executor: Executor) -> Self {
        Self { executor, files: Vec::new(), watched: Vec::new() }
    }

    /// Sets the files it was read from and the places to look at for changes.
    pub fn with_files(mut self, files: Vec<PathBuf>, watched: Vec<PathBuf>) -> Self {
        (self.files, self.watched) = (files, watched);
        self
    }
}

/// Loads the configuration.
pub(super) type Load = dyn Fn() -> Result<Loaded, Diagnostics> + Send + Sync;

/// Holds the configuration in use.
pub(super) struct Engine {
    load: Box<Load>,
    state: Mutex<State>,
}

struct State {
    generation: Arc<Generation>,
    stamps: Stamps,
    /// Why the newest files are not in use.
    problem: Option<Arc<Diagnostics>>,
}

/// One configuration, as long as a dispatch uses it.
struct Generation {
    executor: Executor,
    files: Vec<PathBuf>,
    /// Read by every user, so that who wants to end it can wait for all of them.
    users: Arc<RwLock<()>>,
}

/// A configuration that does not end while this is held.
pub(super) struct InUse {
    generation: Arc<Generation>,
    /// Why a newer one is not in use.
    pub(super) problem: Option<Arc<Diagnostics>>,
    _user: Option<OwnedRwLockReadGuard<()>>,
}

impl InUse {
    pub(super) fn executor(&self) -> &Executor {
        &self.generation.executor
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.generation.files
    }
}

impl Engine {
    /// Loads the first configuration.
    pub(super) fn new(load: Box<Load>) -> Result<Self, Diagnostics> {
        let since = SystemTime::now();
        let (generation, stamps) = generation(load()?, since);
        let state = Mutex::new(State { generation, stamps, problem: None });
        Ok(Self { load, state })
    }

    /// Returns the configuration, the one on disk when that is another by now and is sound.
    pub(super) fn current(&self) -> InUse {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stamps.outdated() {
            self.renew(&mut state);
        }
        state.in_use()
    }

    /// Loads the configuration whether it seems to have changed or not.
    pub(super) fn reload(&self) -> InUse {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.renew(&mut state);
        state.in_use()
    }

    /// Waits for the dispatches that use the configuration, then ends it.
    pub(super) async fn shutdown(&self, patience: Duration) {
        let state = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = Arc::clone(&state().generation);
        generation.end(patience).await;
    }

    /// Puts what is on disk in the place of what is in use, all of it or nothing.
    fn renew(&self, state: &mut State) {
        let since = SystemTime::now();
        let loaded = (self.load)().and_then(|loaded| {
            if loaded.files.is_empty() && !state.generation.files.is_empty() {
                let mut problems = Diagnostics::default();
                problems.push(
                    Diagnostic::error("the hooks files are gone")
                        .hint("to go on without hooks, restart the server"),
                );
                return Err(problems);
            }
            Ok(loaded)
        });
        match loaded {
            Ok(loaded) => {
                let (generation, stamps) = generation(loaded, since);
                let old = std::mem::replace(&mut state.generation, generation);
                state.stamps = stamps;
                state.problem = None;
                tracing::info!(hooks = state.generation.executor.hooks().len(), "loaded anew");
                tokio::spawn(async move { old.end(PATIENCE).await });
            }
            Err(problems) => {
                state.stamps = state.stamps.again(since);
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
        let all = self.users.write().await;
        self.executor.shutdown(patience).await;
        drop(all);
    }
}

fn generation(loaded: Loaded, since: SystemTime) -> (Arc<Generation>, Stamps) {
    let Loaded { executor, files, watched } = loaded;
    executor.processes().start_eager();
    let generation = Generation { executor, files, users: Arc::default() };
    (Arc::new(generation), Stamps::take(watched, since))
}
