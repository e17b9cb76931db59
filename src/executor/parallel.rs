//! Runs many hooks at once: each starts as soon as its limits allow, in config order.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::config::Limits;
use crate::handler::BoxFuture;

/// Counts the running hooks, in total and for each [`Limits`] value.
pub(super) struct Slots {
    free: usize,
    /// The free slots of each value with a `max_parallel`, by its address: hooks that share a value
    /// share its slots.
    shared: HashMap<usize, usize>,
}

impl Slots {
    pub(super) fn new(max_parallel: usize) -> Self {
        Self { free: max_parallel.max(1), shared: HashMap::new() }
    }

    /// Takes a slot for a hook with `limits`, if one is free.
    pub(super) fn take(&mut self, limits: &Arc<Limits>) -> bool {
        if self.free == 0 {
            return false;
        }
        if let Some(max_parallel) = limits.max_parallel {
            let free = self.shared.entry(address(limits)).or_insert(max_parallel.max(1));
            if *free == 0 {
                return false;
            }
            *free -= 1;
        }
        self.free -= 1;
        true
    }

    /// Returns the slot of a hook with `limits`.
    pub(super) fn give_back(&mut self, limits: &Arc<Limits>) {
        self.free += 1;
        if let Some(free) = self.shared.get_mut(&address(limits)) {
            *free += 1;
        }
    }
}

fn address(limits: &Arc<Limits>) -> usize {
    Arc::as_ptr(limits).addr()
}

/// Runs all `calls`, each within its limits, and returns what they return as they finish.
pub(super) async fn run_all<T: Send>(
    calls: Vec<(Arc<Limits>, BoxFuture<'_, T>)>,
    mut slots: Slots,
) -> Vec<T> {
    let mut results = Vec::with_capacity(calls.len());
    let mut waiting = calls;
    let mut running = FuturesUnordered::new();
    loop {
        for (limits, call) in waiting.extract_if(.., |(limits, _)| slots.take(limits)) {
            running.push(async move { (call.await, limits) });
        }
        let Some((result, limits)) = running.next().await else { return results };
        slots.give_back(&limits);
        results.push(result);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::FutureExt as _;
    use tokio::sync::Notify;

    use super::*;

    fn limits(max_parallel: usize) -> Arc<Limits> {
        Arc::new(Limits { max_parallel: Some(max_parallel), ..Limits::default() })
    }

    #[tokio::test]
    async fn hooks_that_share_limits_share_their_slots_and_no_others() {
        let (one, two, none) = (limits(1), limits(2), Arc::<Limits>::default());
        let started = Mutex::new(Vec::new());
        let go_on = Notify::new();
        let order = [&one, &one, &two, &none, &two, &two, &none];
        let calls = order.iter().enumerate().map(|(number, limits)| {
            let (started, go_on) = (&started, &go_on);
            let call: BoxFuture<'_, usize> = Box::pin(async move {
                started.lock().unwrap().push(number);
                go_on.notified().await;
                number
            });
            (Arc::clone(limits), call)
        });
        let (calls, all) = (calls.collect(), Slots::new(5));
        let running = run_all(calls, all);
        tokio::pin!(running);
        assert!((&mut running).now_or_never().is_none());
        assert_eq!(*started.lock().unwrap(), [0, 2, 3, 4, 6]);
        // The first is done: only the next hook with the same limits starts.
        go_on.notify_one();
        assert!((&mut running).now_or_never().is_none());
        assert_eq!(started.lock().unwrap()[5..], [1]);
        while started.lock().unwrap().len() < order.len() {
            go_on.notify_one();
            assert!((&mut running).now_or_never().is_none());
        }
        go_on.notify_waiters();
        let mut done = running.await;
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn nothing_to_run_is_done_at_once() {
        let done = run_all(Vec::<(Arc<Limits>, BoxFuture<'_, ()>)>::new(), Slots::new(1));
        assert_eq!(done.now_or_never(), Some(Vec::new()));
    }
}
