//! How many hooks of a layer run at once, in all events together, and those that go on in the background.

use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::{Call, Failure, HandlerError};
use crate::config::{ByRank, Layer};
use crate::locks::locked;

/// How many hooks of each rank run at once. A project has as many as one event of it may run, so
/// that many events at once leave descriptors to the hooks of other layers. All ranks together,
/// with their hooks in the background, have fewer than the 512 blocking threads of Tokio.
const SEATS: ByRank<usize> = [160, 160, 32];

/// Why a hook did not begin.
const NO_SEAT: &str = "as many hooks of its layer were running as may run at once; let them end \
                       sooner, or raise its `timeout`";

/// Why a hook does not run in the background.
pub(crate) const BACKGROUND_FULL: &str =
    "32 hooks of its layer run in the background already; let them end sooner, or wait for them";

/// Limits how many hooks run at once. An executor that replaces another one takes it over.
#[derive(Debug)]
pub(crate) struct Capacity {
    background_tasks: Mutex<JoinSet<()>>,
    background_seats: Seats,
    pub(crate) seats: Seats,
    /// Whether work that blocks runs where the event is dispatched.
    pub(crate) blocks: bool,
}

/// The places of running hooks: each rank of layers has its own.
type Seats = ByRank<Arc<Semaphore>>;

/// The place of a running hook. Work that can't be stopped holds it until it ends, also when the
/// hook has failed long before.
pub(crate) type Seat = Arc<OwnedSemaphorePermit>;

/// Where a call runs, and what it has together with others.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// By itself, as in tests of a handler.
    Free,
    /// At an event, among those of its rank.
    Event {
        capacity: &'a Capacity,
        rank: usize,
        /// Whether it may ask to go on in the background.
        may_leave: bool,
    },
    /// In the background.
    Background { seat: &'a Seat },
}

impl Capacity {
    pub(crate) fn new(blocks: bool) -> Self {
        // How many hooks of one layer run in the background at once: a layer has its own places, so
        // that none takes those of another.
        let background_seats = seats([32; Layer::RANKED.len()]);
        let background_tasks = Mutex::default();
        Self { background_tasks, background_seats, seats: seats(SEATS), blocks }
    }

    /// Starts the work of a hook of a layer in the background; returns `false`, and drops it, when the
    /// layer has too many already.
    pub(crate) fn spawn_background<W>(&self, rank: usize, work: impl FnOnce(Seat) -> W) -> bool
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let Ok(seat) = Arc::clone(&self.background_seats[rank]).try_acquire_owned() else {
            return false;
        };
        let seat = Arc::new(seat);
        let work = work(Arc::clone(&seat));
        let mut tasks = locked(&self.background_tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            work.await;
            drop(seat);
        });
        true
    }

    /// Takes all hooks in the background, to wait for their end.
    pub(crate) fn take_background(&self) -> JoinSet<()> {
        std::mem::take(&mut *locked(&self.background_tasks))
    }
}

fn seats(counts: ByRank<usize>) -> Seats {
    counts.map(|count| Arc::new(Semaphore::new(count)))
}

impl Call<'_> {
    /// Returns a seat for a hook that starts a program. Only those of a project are counted: the
    /// others may use all the descriptors there are.
    ///
    /// # Errors
    /// When none is free before the deadline.
    pub(crate) async fn seat_for_program(&self) -> Result<Option<Seat>, HandlerError> {
        match self.place {
            Place::Event { rank, .. } if rank != Layer::Project.rank() => Ok(None),
            _ => self.seat_for_thread().await,
        }
    }

    /// Returns a seat for a hook that blocks a thread, to be moved to that thread.
    ///
    /// # Errors
    /// When none is free before the deadline.
    pub(crate) async fn seat_for_thread(&self) -> Result<Option<Seat>, HandlerError> {
        match self.place {
            Place::Free => Ok(None),
            Place::Background { seat } => Ok(Some(Arc::clone(seat))),
            Place::Event { capacity, rank, .. } => {
                let free = Arc::clone(&capacity.seats[rank]).acquire_owned();
                match timeout_at(self.deadline.into(), free).await {
                    Ok(seat) => Ok(seat.ok().map(Arc::new)),
                    Err(_) => Err(HandlerError::new(Failure::TimedOut, NO_SEAT)),
                }
            }
        }
    }
}
