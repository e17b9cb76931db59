//! The configuration in use, and how a new one takes its place.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use hookexec::config::{Diagnostic, Diagnostics};
use hookexec::{Event, Executor, Verdict};
use hookexec_files::locks::locked;
use hookexec_project::{Place, Stamps};
use tokio::runtime::Handle;
use tokio::sync;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::protocol::{ErrorCode, Refusal};

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
pub type Load = dyn Fn(Reading) -> Result<Loaded, Diagnostics> + Send + Sync;

/// Which reading of the files it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The first: the server does not start without a sound configuration.
    First,
    /// A later one: a file that can't be loaded is a failed hook.
    Again,
}

/// Holds the configuration in use.
pub struct Engine {
    load: Box<Load>,
    state: Mutex<State>,
    /// Held by the thread that reads the files.
    reading: Arc<sync::Mutex<()>>,
}

struct State {
    in_use: Arc<InUse>,
    stamps: Stamps,
}

/// A configuration. Its processes end with its last user.
pub(crate) struct InUse {
    /// No clone of it must outlive `self`.
    pub(crate) executor: Arc<Executor>,
    has_files: bool,
    pub(super) absent: Vec<String>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let executor = Arc::clone(&self.executor);
        // Without a runtime the whole program ends.
        if let Ok(runtime) = Handle::try_current() {
            // How long the hooks in the background of a configuration that was replaced may take.
            runtime.spawn(async move { executor.shutdown(Duration::from_mins(1)).await });
        }
    }
}

/// Adds the absent guards to the message at the start of a session, and to no other. They come last,
/// because an agent may cut what is long.
pub fn tell_absent(absent: &[String], verdict: &mut Verdict) {
    if verdict.event == Event::SessionStart {
        for absence in absent {
            verdict.tell(&format!("hookexec: {absence}"));
        }
    }
}

impl Engine {
    /// Loads the first configuration.
    pub fn new(load: Box<Load>) -> Result<Self, Diagnostics> {
        let since = SystemTime::now();
        let state = State::start(load(Reading::First)?, Stamps::default(), since);
        Ok(Self { load, state: Mutex::new(state), reading: Arc::default() })
    }

    /// Returns the configuration, or the one on disk if the files have changed.
    ///
    /// # Errors
    /// When reading the files takes longer than five seconds, or than half of the time until
    /// `deadline`.
    pub(crate) async fn current(
        self: &Arc<Self>,
        deadline: Option<Instant>,
    ) -> Result<Arc<InUse>, Refusal> {
        if locked(&self.state).stamps.outdated() {
            let mut longest = Duration::from_secs(5);
            if let Some(deadline) = deadline {
                longest = longest.min(deadline.saturating_duration_since(Instant::now()) / 2);
            }
            if timeout(longest, self.read_changes()).await.is_err() {
                // No hook may run: another file could hold the guard for this request.
                let problem = "the hooks files have changed and could not be read in time";
                return Err(Refusal::new(ErrorCode::Internal, problem));
            }
        }
        Ok(self.in_use())
    }

    /// Returns the configuration as it is, without looking at the disk.
    pub(super) fn in_use(&self) -> Arc<InUse> {
        Arc::clone(&locked(&self.state).in_use)
    }

    /// Stops the processes, once the hooks in the background are done or `patience` is over.
    pub async fn shutdown(&self, patience: Duration) {
        self.in_use().executor.shutdown(patience).await;
    }

    /// Reads the files on another thread, once no other reading is under way; nothing if none has
    /// changed since. A reading that has begun comes to its end.
    async fn read_changes(self: &Arc<Self>) {
        let held = Arc::clone(&self.reading).lock_owned().await;
        if !locked(&self.state).stamps.outdated() {
            return;
        }
        let engine = Arc::clone(self);
        let _ = spawn_blocking(move || {
            engine.renew();
            drop(held);
        })
        .await;
    }

    /// Puts what is on disk in the place of what is in use. If that can't be loaded, every event fails
    /// until it can: the old hooks may rest on approvals that are gone.
    ///
    /// Notes the state of the places before they are read: a file that changes meanwhile is read
    /// once more before the next event.
    fn renew(&self) {
        let since = SystemTime::now();
        let before = locked(&self.state).stamps.again(since);
        let loaded = panic::catch_unwind(AssertUnwindSafe(|| (self.load)(Reading::Again)));
        let loaded = loaded.unwrap_or_else(|_| {
            Err(Diagnostic::error("the hooks files could not be loaded").into())
        });
        let old = self.in_use();
        let problems = match loaded {
            Ok(loaded) if old.has_files && !loaded.has_files => {
                let hint = "put them back, or restart the server to go on without hooks";
                Diagnostic::error("the hooks files are gone").hint(hint).into()
            }
            Ok(mut loaded) => {
                // A change of a project's file would otherwise reset the guards of the user.
                loaded.executor.take_over(&old.executor);
                let state = State::start(loaded, before, since);
                tracing::info!(hooks = state.in_use.executor.hooks().len(), "loaded anew");
                *locked(&self.state) = state;
                return;
            }
            Err(problems) => problems,
        };
        tracing::warn!("the configuration can't be loaded, every event fails:\n{problems}");
        let executor = Arc::new(Executor::failing(&problems));
        let in_use = InUse { executor, has_files: old.has_files, absent: Vec::new() };
        *locked(&self.state) = State { in_use: Arc::new(in_use), stamps: before };
    }
}

impl State {
    /// Starts what was loaded. The places were like `before` when the reading began, at `since`.
    fn start(loaded: Loaded, before: Stamps, since: SystemTime) -> Self {
        let Loaded { executor, has_files, watched, absent, expires } = loaded;
        executor.start_processes();
        let in_use = InUse { executor: Arc::new(executor), has_files, absent };
        Self { in_use: Arc::new(in_use), stamps: Stamps::take(watched, before, since, expires) }
    }
}
