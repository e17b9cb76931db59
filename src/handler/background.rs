//! Hooks that go on in the background.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

use crate::config::Layer;

/// How many hooks of one layer run in the background at once.
pub(super) const MAX_RUNNING: usize = 32;

/// Why a hook does not run in the background.
pub(crate) const BACKGROUND_FULL: &str =
    "32 hooks of its layer run in the background already; let them end sooner, or wait for them";

/// The hooks in the background: a layer has its own places, so that none takes those of another.
#[derive(Debug, Default)]
pub(crate) struct Background {
    tasks: Mutex<JoinSet<()>>,
    running: [Arc<AtomicUsize>; Layer::RANKS],
}

/// A place among the hooks of a layer that run in the background.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Background {
    /// Starts the work of a hook of a layer; returns `false`, and drops it, when the layer has too
    /// many already.
    pub(crate) fn spawn(
        &self,
        rank: usize,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let running = &self.running[rank];
        let one_more = |count: usize| (count < MAX_RUNNING).then_some(count + 1);
        if running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            return false;
        }
        let place = Place(Arc::clone(running));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            work.await;
            drop(place);
        });
        true
    }

    /// Takes all of them, to wait for their end.
    pub(crate) fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
