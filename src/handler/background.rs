//! Hooks that go on in the background.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinSet;

use super::seats::{Seat, Seats};
use crate::config::Layer;

/// Why a hook does not run in the background.
pub(crate) const BACKGROUND_FULL: &str =
    "32 hooks of its layer run in the background already; let them end sooner, or wait for them";

/// The hooks in the background: a layer has its own places, so that none takes those of another.
#[derive(Debug)]
pub(crate) struct Background {
    tasks: Mutex<JoinSet<()>>,
    seats: Seats,
}

impl Default for Background {
    fn default() -> Self {
        // How many hooks of one layer run in the background at once.
        Self { tasks: Mutex::default(), seats: Seats::new([32; Layer::RANKS]) }
    }
}

impl Background {
    /// Starts the work of a hook of a layer; returns `false`, and drops it, when the layer has too
    /// many already.
    pub(crate) fn spawn<W>(&self, rank: usize, work: impl FnOnce(Seat) -> W) -> bool
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let Some(seat) = self.seats.try_take(rank) else { return false };
        let work = work(Arc::clone(&seat));
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            work.await;
            drop(seat);
        });
        true
    }

    /// Takes all of them, to wait for their end.
    pub(crate) fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
