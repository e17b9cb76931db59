//! The soak: many dispatches of all types of hooks at once, while children are killed at random. No
//! verdict may differ from what the hooks said and what was done to them, and nothing may be left.
//!
//! One test, alone in its process, because it counts what the whole process has. `just soak` is the
//! long version: `HOOKEXEC_SOAK` says how many dispatches, `HOOKEXEC_SEED` which ones.
#![cfg(test)]
#![cfg(target_os = "linux")]

mod killer;
#[path = "../support/leftovers.rs"]
mod leftovers;
mod oracle;
mod plan;
#[path = "../support/random.rs"]
mod random;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hookexec::{Config, Executor, Registry};

use killer::Killer;
use leftovers::{Possessions, adopt_orphans, settled};
use oracle::Count;
use plan::Plan;

/// How many dispatches are made when nothing is said: few enough for every run of all tests.
const DISPATCHES: usize = 1_500;

/// How many are under way at once.
const ABREAST: usize = 16;

/// How long one dispatch, or the end of everything, may take before the test gives up.
const HANG: Duration = Duration::from_mins(3);

/// How much more memory the process may have at the end than after a tenth of all dispatches.
const GROWTH: usize = 16 << 20;

#[test]
fn a_storm_of_dispatches_and_deaths_gets_every_verdict_right_and_leaves_nothing() {
    adopt_orphans();
    let dispatches =
        number("HOOKEXEC_SOAK").map_or(DISPATCHES, |wanted| usize::try_from(wanted).unwrap());
    let seed = number("HOOKEXEC_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    eprintln!("soak: {dispatches} dispatches, {ABREAST} at once, HOOKEXEC_SEED={seed}");
    // Tokio opens what it keeps for the whole process at the first child.
    let project = tempfile::tempdir().unwrap();
    let warm_up = runtime();
    warm_up.block_on(async {
        let executor = Arc::new(executor(&project));
        soak(&executor, seed, 0..10).await;
        executor.shutdown(HANG).await;
    });
    drop(warm_up);
    // The threads of the runtime end a little later.
    let before = settled(|now| now.children == 0 && now.threads <= 2);

    let runtime = runtime();
    let started = Instant::now();
    let count = runtime.block_on(async {
        let executor = Arc::new(executor(&project));
        let mut count = soak(&executor, seed, 0..dispatches / 10).await;
        let (warm, memory) = (at_rest(&executor, |_| true).await, resident());
        count += soak(&executor, seed, dispatches / 10..dispatches).await;
        let (end, grown) = (at_rest(&executor, |now| *now == warm).await, resident());
        eprintln!("soak: after a tenth {warm:?}, {} KiB", memory / 1024);
        eprintln!("soak: at the end    {end:?}, {} KiB", grown / 1024);
        assert_eq!(end, warm, "what {dispatches} dispatches left behind");
        assert!(grown < memory + GROWTH, "{} bytes more", grown - memory);
        for process in executor.process_statistics() {
            eprintln!("soak: {process:?}");
        }
        tokio::time::timeout(HANG, executor.shutdown(HANG)).await.unwrap();
        count
    });
    drop(runtime);
    let after = settled(|now| *now == before);
    assert_eq!(after, before, "what is left after the shutdown");

    eprintln!("soak: {:.1?}, {count:#?}", started.elapsed());
    assert!(count.wrong.is_empty(), "HOOKEXEC_SEED={seed}: {:#?}", count.wrong);
    // Were they all dead, every denial would be right and nothing would be known.
    assert_eq!(count.dispatches, dispatches);
    assert!(count.failed * 2 < count.answered, "the killer was too busy: {count:?}");
    assert!(count.killed > 0 && count.killed_and_noticed > 0, "nobody was killed: {count:?}");
}

/// Makes the dispatches of these numbers, so many at once.
async fn soak(executor: &Arc<Executor>, seed: u64, numbers: std::ops::Range<usize>) -> Count {
    let next = Arc::new(AtomicUsize::new(numbers.start));
    let workers: Vec<_> = (0..ABREAST)
        .map(|_| {
            let (executor, next) = (Arc::clone(executor), Arc::clone(&next));
            tokio::spawn(async move {
                let mut count = Count::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return count;
                    }
                    let plan = Plan::new(seed, number);
                    let (event, input) = (plan.event(), plan.input());
                    let dispatch = tokio::time::timeout(HANG, executor.dispatch(event, &input));
                    let chance = Killer::new(seed, number);
                    let (verdict, killed) = tokio::join!(dispatch, chance.kill(&executor));
                    let verdict = verdict.expect("a dispatch never ended");
                    count.add(&plan, &verdict, killed);
                }
            })
        })
        .collect();
    let mut count = Count::default();
    for worker in workers {
        count += worker.await.unwrap();
    }
    count
}

/// Returns what the process has while nothing happens and all processes run.
async fn at_rest(executor: &Executor, wished: impl Fn(&Possessions) -> bool) -> Possessions {
    let started = Instant::now();
    while !executor.check_processes().await.iter().all(|check| check.problem.is_none()) {
        assert!(started.elapsed() < HANG, "a process does not start any more");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let processes = executor.process_statistics().len();
    // Idle threads end by themselves.
    tokio::task::block_in_place(|| {
        settled(|now| now.children == processes && now.threads <= 4 && wished(now))
    })
}

fn executor(project: &tempfile::TempDir) -> Executor {
    plan::write_scripts(project.path());
    let config = Config::from_yaml(plan::HOOKS, "hooks.yaml").unwrap();
    let mut registry = Registry::new();
    plan::register_builtins(&mut registry);
    Executor::builder(config)
        .registry(registry)
        .working_dir(project.path())
        .env([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())])
        .build()
        .unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_keep_alive(Duration::from_millis(100))
        .enable_all()
        .build()
        .unwrap()
}

/// Returns how much memory the process has, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}
