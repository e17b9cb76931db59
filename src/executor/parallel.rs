//! Runs many hooks at once: each starts as soon as its limits allow, in config order.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use crate::config::{Hook, Layer};
use crate::handler::BoxFuture;

/// Counts the running hooks of one event, in total and for each value of `limits`.
pub(super) struct Slots {
    /// The free slots of all hooks but those of a project, which have only those they share.
    free: usize,
    /// The free slots of each value with a `max_parallel`, by its address: hooks that share a value
    /// share its slots.
    shared: HashMap<usize, usize>,
}

impl Slots {
    pub(super) fn new(max_parallel: usize) -> Self {
        Self { free: max_parallel.max(1), shared: HashMap::new() }
    }

    /// Takes a slot for `hook`, if one is free.
    pub(super) fn take(&mut self, hook: &Hook) -> bool {
        let is_counted = !is_of_project(hook);
        if is_counted && self.free == 0 {
            return false;
        }
        if let Some(max_parallel) = hook.limits.max_parallel {
            let free = self.shared.entry(address(hook)).or_insert(max_parallel.max(1));
            if *free == 0 {
                return false;
            }
            *free -= 1;
        }
        self.free -= usize::from(is_counted);
        true
    }

    /// Returns the slot of `hook`.
    pub(super) fn give_back(&mut self, hook: &Hook) {
        self.free += usize::from(!is_of_project(hook));
        if let Some(free) = self.shared.get_mut(&address(hook)) {
            *free += 1;
        }
    }
}

/// Returns whether the hook is of a project: then it never takes the slot of one of another layer.
fn is_of_project(hook: &Hook) -> bool {
    hook.layer() == Layer::Project
}

fn address(hook: &Hook) -> usize {
    Arc::as_ptr(&hook.limits).addr()
}

/// Runs the call of each hook, each within its limits, and returns what they return as they finish.
/// Stops those that are left once a result is the last word.
pub(super) async fn run_all<T: Send>(
    calls: Vec<(&Hook, BoxFuture<'_, T>)>,
    mut slots: Slots,
    is_last: impl Fn(&T) -> bool,
) -> Vec<T> {
    let mut results = Vec::with_capacity(calls.len());
    let mut waiting = calls;
    let mut running = FuturesUnordered::new();
    loop {
        for (hook, call) in waiting.extract_if(.., |(hook, _)| slots.take(hook)) {
            running.push(async move { (call.await, hook) });
        }
        let Some((result, hook)) = running.next().await else { return results };
        slots.give_back(hook);
        let is_over = is_last(&result);
        results.push(result);
        if is_over {
            return results;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::FutureExt as _;
    use tokio::sync::Notify;

    use super::*;

    use crate::config::{Command, Limits, Location};
    use crate::event::Event;

    fn limits(max_parallel: usize) -> Arc<Limits> {
        Arc::new(Limits { max_parallel: Some(max_parallel), ..Limits::default() })
    }

    fn hook(layer: Layer, limits: &Arc<Limits>) -> Hook {
        let mut hook = Hook::new(Event::Stop, "builtin", Command::Text("n".into()));
        hook.location = Location::of_file_in(layer, "hooks.yaml".as_ref());
        hook.limits = Arc::clone(limits);
        hook
    }

    #[tokio::test]
    async fn the_hooks_of_a_project_take_no_slot_of_another_layer() {
        let (project, none) = (limits(2), Arc::<Limits>::default());
        let mut hooks = vec![hook(Layer::Project, &project); 3];
        hooks.extend(vec![hook(Layer::CommandLine, &none); 3]);
        let started = Mutex::new(Vec::new());
        let calls = hooks.iter().enumerate().map(|(number, hook)| {
            let started = &started;
            let call: BoxFuture<'_, ()> = Box::pin(async move {
                started.lock().unwrap().push(number);
                std::future::pending::<()>().await;
            });
            (hook, call)
        });
        assert!(run_all(calls.collect(), Slots::new(2), |()| false).now_or_never().is_none());
        assert_eq!(*started.lock().unwrap(), [0, 1, 3, 4]);
    }

    #[tokio::test]
    async fn hooks_that_share_limits_share_their_slots_and_no_others() {
        let (one, two, none) = (limits(1), limits(2), Arc::<Limits>::default());
        let started = Mutex::new(Vec::new());
        let go_on = Notify::new();
        let order = [&one, &one, &two, &none, &two, &two, &none];
        let order = order.map(|limits| hook(Layer::User, limits));
        let calls = order.iter().enumerate().map(|(number, hook)| {
            let (started, go_on) = (&started, &go_on);
            let call: BoxFuture<'_, usize> = Box::pin(async move {
                started.lock().unwrap().push(number);
                go_on.notified().await;
                number
            });
            (hook, call)
        });
        let (calls, all) = (calls.collect(), Slots::new(5));
        let running = run_all(calls, all, |_| false);
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
        let done = run_all(Vec::<(&Hook, BoxFuture<'_, ()>)>::new(), Slots::new(1), |()| false);
        assert_eq!(done.now_or_never(), Some(Vec::new()));
    }
}
