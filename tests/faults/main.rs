//! The fault matrix: what goes wrong with a hook, of each type, with each `on_error`, at an event of
//! each kind, alone and in crowds. What must come of it is computed from the contract table.
//!
//! One test, alone in its process, because it counts what the whole process has. It writes the table
//! of `docs/faults.md` from what it saw: `UPDATE=1 cargo test --test faults`.
#![cfg(test)]
#![cfg(target_os = "linux")]

mod builtins;
mod cell;
mod expected;
mod fault;
mod faults;
#[path = "../support/leftovers.rs"]
mod leftovers;
mod page;
mod server;
#[path = "../support/mod.rs"]
mod support;

use std::time::Instant;

use futures_util::{StreamExt as _, stream};

use cell::Cell;
use expected::{Ends, Kind, OnErrorKey, Outcome};
use fault::{Case, Hooks, TYPES};
use faults::FAULTS;
use leftovers::{adopt_orphans, end_survivors, reap_orphans, settled};

/// How many dispatches of one hook are under way at once.
const CROWDS: [usize; 3] = [1, 16, 64];

#[test]
fn every_fault_of_every_type_is_decided_by_the_contract_and_reported() {
    builtins::keep_panics_quiet();
    adopt_orphans();
    // Tokio opens what it keeps for the whole process at the first child.
    let warm_up = runtime();
    warm_up.block_on(async {
        let cell = Cell::new(&FAULTS[0], 0, Kind::FailsClosed, OnErrorKey::Unset);
        cell.observe(1).await.unwrap();
    });
    drop(warm_up);
    let before = settled(|now| now.children == 0);

    let runtime = runtime();
    let rows = runtime.block_on(all_faults());
    drop(runtime);

    let after = settled(|now| *now == before);
    assert_eq!(after, before, "what the whole matrix left behind");
    page::check(&rows);
}

/// What was seen, by kind of event and `on_error`.
type Seen = Vec<Vec<Option<Outcome>>>;

/// A fault of a type, and what was seen of it.
struct Row {
    fault: &'static str,
    kind: &'static str,
    seen: Result<(Ends, Seen), &'static str>,
}

async fn all_faults() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut wrong = Vec::new();
    for fault in &FAULTS {
        for (at, kind) in TYPES.into_iter().enumerate() {
            let started = Instant::now();
            let seen = match fault.case(at) {
                Case::Meaningless(why) => Err(*why),
                Case::Run(hooks) => Ok((hooks.ends, all_cells(fault, at, hooks, &mut wrong).await)),
            };
            eprintln!("{:.1?}: {}, {kind}", started.elapsed(), fault.name);
            rows.push(Row { fault: fault.name, kind, seen });
        }
    }
    assert!(wrong.is_empty(), "{} cells are wrong:\n{}", wrong.len(), wrong.join("\n"));
    rows
}

/// Runs every cell of a fault, and returns what was seen by kind of event and `on_error`.
async fn all_cells(
    fault: &'static fault::Fault,
    at: usize,
    hooks: &'static Hooks,
    wrong: &mut Vec<String>,
) -> Seen {
    let mut seen = vec![vec![None; OnErrorKey::ALL.len()]; Kind::ALL.len()];
    let keys = || Kind::ALL.into_iter().flat_map(|kind| OnErrorKey::ALL.map(|key| (kind, key)));
    for crowd in CROWDS.into_iter().filter(|crowd| *crowd == 1 || !updating()) {
        let wanted = keys().filter(|(_, on_error)| is_wanted(crowd, *on_error));
        let cells = wanted.map(|(kind, on_error)| async move {
            let cell = Cell::new(fault, at, kind, on_error);
            (kind, on_error, cell.observe(crowd).await)
        });
        let mut results = stream::iter(cells).buffered((hooks.at_once / crowd).max(1));
        while let Some((kind, on_error, result)) = results.next().await {
            match result {
                Ok(found) => seen[kind as usize][on_error as usize] = Some(found),
                Err(problem) => wrong.push(problem),
            }
            reap_orphans();
        }
        let survivors = end_survivors(hooks.lives_on).await;
        assert!(
            survivors.is_empty() != hooks.lives_on,
            "{} of type {}: {survivors:?} live on",
            fault.name,
            TYPES[at]
        );
    }
    seen
}

/// The largest crowds need minutes; CI runs them where nothing is said in `on_error`.
fn is_wanted(crowd: usize, on_error: OnErrorKey) -> bool {
    crowd < 64 || on_error == OnErrorKey::Unset || std::env::var_os("HOOKEXEC_FULL").is_some()
}

/// Whether only the documentation is to be written, for which each cell is looked at once.
fn updating() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| value == "1")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
