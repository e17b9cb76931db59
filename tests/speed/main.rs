//! What can be said about speed without a clock: allocations are counted.
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "../../benches/support/mod.rs"]
mod support;

#[cfg(unix)] // the program that counts runs on Linux only
mod counts;

use futures_util::FutureExt as _;
use hookexec::{Config, Event, Executor, Input};

#[test]
fn a_dispatch_that_matches_nothing_allocates_nothing() {
    let executor = executor(&support::hooks_file(100));
    let input = support::input(10_000);
    for event in [Event::PreToolUse, Event::SessionStart] {
        assert!(allocations(&executor, event, &input).is_some(), "the first may: it remembers");
        assert_eq!(allocations(&executor, event, &input), Some((0, 0)), "{event}");
    }
}

#[test]
fn a_builtin_costs_a_handful_of_allocations_whatever_the_size_of_the_input() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _context = runtime.enter();
    let executor = executor(&support::builtins_file(1));
    let of_size = |size: usize| {
        let input = support::input(size);
        allocations(&executor, Event::PreToolUse, &input);
        allocations(&executor, Event::PreToolUse, &input).unwrap()
    };
    let (hooks, count) = of_size(10);
    assert_eq!(hooks, 1);
    assert!(count <= 16, "{count} allocations");
    assert_eq!(of_size(100_000), (hooks, count));
}

/// Returns how many hooks one dispatch runs and how often it allocates, or `None` when it had to
/// wait for something.
fn allocations(executor: &Executor, event: Event, input: &Input) -> Option<(usize, u64)> {
    let mut verdict = None;
    let info = allocation_counter::measure(|| {
        verdict = executor.dispatch(event, input).now_or_never();
    });
    Some((verdict?.hooks.len(), info.count_total))
}

fn executor(text: &str) -> Executor {
    let config = Config::from_yaml(text, "hooks.yaml").unwrap();
    Executor::builder(config).registry(support::registry()).build().unwrap()
}
