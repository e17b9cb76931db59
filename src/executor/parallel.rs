//! Runs many hooks at once: those of higher layers start first, and each starts as soon as its limits
//! allow.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use super::select::Bound;
use crate::config::ByRank;
use crate::handler::BoxFuture;

/// Counts the running hooks of one moment, in total and for each layer that has a `max_parallel`.
pub(super) struct Slots {
    free: usize,
    /// The free slots of each layer whose hooks have had one.
    of_layers: ByRank<Option<usize>>,
}

impl Slots {
    pub(super) fn new(max_parallel: usize) -> Self {
        Self { free: max_parallel.max(1), of_layers: ByRank::default() }
    }

    /// Takes a slot for the hook, if one is free.
    fn take(&mut self, bound: &Bound) -> bool {
        if self.free == 0 {
            return false;
        }
        if let Some(max_parallel) = bound.hook.limits.max_parallel {
            let free = self.of_layers[bound.rank()].get_or_insert(max_parallel.max(1));
            if *free == 0 {
                return false;
            }
            *free -= 1;
        }
        self.free -= 1;
        true
    }

    /// Returns the slot of the hook.
    fn give_back(&mut self, bound: &Bound) {
        self.free += 1;
        if bound.hook.limits.max_parallel.is_some()
            && let Some(free) = &mut self.of_layers[bound.rank()]
        {
            *free += 1;
        }
    }
}

/// Runs the call of each hook, each within its limits, and hands over each result as it comes. Stops
/// those that are left once a result is the last word.
pub(super) async fn run_all<T: Send>(
    mut waiting: Vec<(&Bound, BoxFuture<'_, T>)>,
    mut slots: Slots,
    mut is_last: impl FnMut(T) -> bool,
) {
    waiting.sort_by_key(|(bound, _)| bound.rank());
    let mut running = FuturesUnordered::new();
    loop {
        for (bound, call) in waiting.extract_if(.., |(bound, _)| slots.take(bound)) {
            running.push(async move { (call.await, bound) });
        }
        let Some((result, bound)) = running.next().await else { return };
        slots.give_back(bound);
        if is_last(result) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt as _;
    use tokio::sync::Notify;

    use super::*;

    use crate::config::{Command, Hook, Layer, Limits, file_of_layer};
    use crate::event::Event;
    use crate::handler::Silent;

    fn bound(layer: Layer, max_parallel: Option<usize>) -> Bound {
        let mut hook = Hook::new(Event::Stop, "builtin", Command::Text("n".into()));
        hook.location = file_of_layer(layer, "hooks.yaml".as_ref());
        hook.limits = Arc::new(Limits { max_parallel, ..Limits::default() });
        let (hook, handler) = (Arc::new(hook), Arc::new(Silent));
        Bound { hook, handler, identity: 0, counter: None, dialect: None }
    }

    #[tokio::test]
    async fn hooks_of_higher_layers_start_first() {
        let layers = [Layer::Project, Layer::CommandLine, Layer::Managed, Layer::User];
        let hooks = layers.map(|layer| bound(layer, None));
        let started = Mutex::new(Vec::new());
        let calls = hooks.iter().enumerate().map(|(number, hook)| {
            let started = &started;
            let call: BoxFuture<'_, ()> = Box::pin(async move {
                started.lock().unwrap().push(number);
                std::future::pending::<()>().await;
            });
            (hook, call)
        });
        assert!(run_all(calls.collect(), Slots::new(3), |()| false).now_or_never().is_none());
        assert_eq!(*started.lock().unwrap(), [2, 1, 3]);
    }

    #[tokio::test]
    async fn hooks_of_a_layer_share_their_slots_and_no_others() {
        let one = (Layer::Managed, Some(1));
        let (two, none) = ((Layer::User, Some(2)), (Layer::Project, None));
        let started = Mutex::new(Vec::new());
        let go_on = Notify::new();
        let order = [one, one, two, none, two, two, none];
        let order = order.map(|(layer, max_parallel)| bound(layer, max_parallel));
        let calls = order.iter().enumerate().map(|(number, hook)| {
            let (started, go_on) = (&started, &go_on);
            let call: BoxFuture<'_, usize> = Box::pin(async move {
                started.lock().unwrap().push(number);
                go_on.notified().await;
                number
            });
            (hook, call)
        });
        let done = Mutex::new(Vec::new());
        let end = |number| {
            done.lock().unwrap().push(number);
            false
        };
        let running = run_all(calls.collect(), Slots::new(5), end);
        tokio::pin!(running);
        assert!((&mut running).now_or_never().is_none());
        assert_eq!(*started.lock().unwrap(), [0, 2, 4, 3, 6]);
        // The first is done: only the next hook of its layer starts.
        go_on.notify_one();
        assert!((&mut running).now_or_never().is_none());
        assert_eq!(started.lock().unwrap()[5..], [1]);
        while started.lock().unwrap().len() < order.len() {
            go_on.notify_one();
            assert!((&mut running).now_or_never().is_none());
        }
        go_on.notify_waiters();
        running.await;
        let mut done = std::mem::take(&mut *done.lock().unwrap());
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn nothing_to_run_is_done_at_once() {
        let calls = Vec::<(&Bound, BoxFuture<'_, ()>)>::new();
        assert_eq!(run_all(calls, Slots::new(1), |()| false).now_or_never(), Some(()));
    }
}
