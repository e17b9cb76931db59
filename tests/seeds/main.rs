//! Feeds each surface that takes bytes from outside its seeds, and random changes to them.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets use it as a library")]
mod surfaces;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// One change to a seed.
#[derive(Debug, Clone)]
enum Change {
    Set(u8),
    Insert(u8),
    Remove(usize),
    /// Puts a copy of what stands elsewhere here.
    Copy(prop::sample::Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let letter = prop_oneof![
        any::<u8>(),
        prop::sample::select(b"{}[]\"':,|*^$()\\\n\r\0 -&!#%@?.".to_vec()),
    ];
    prop_oneof![
        letter.clone().prop_map(Change::Set),
        letter.prop_map(Change::Insert),
        (1_usize..20).prop_map(Change::Remove),
        (any::<prop::sample::Index>(), 1_usize..20).prop_map(|(at, n)| Change::Copy(at, n)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, Change)]) -> Vec<u8> {
    for (place, change) in changes {
        let at = place.index(bytes.len() + 1);
        let until = |count: usize| bytes.len().min(at + count);
        match change {
            Change::Set(letter) => drop(bytes.splice(at..until(1), [*letter])),
            Change::Insert(letter) => bytes.insert(at, *letter),
            Change::Remove(count) => drop(bytes.drain(at..until(*count))),
            Change::Copy(from, count) => {
                let from = from.index(bytes.len() + 1);
                let copy = bytes[from..bytes.len().min(from + count)].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
    bytes
}

/// Runs a target over its seeds as they are, and over changes to them.
fn smoke(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/seeds").join(name);
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let seeds: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(seeds.len() > 3, "{name}: too few seeds");
    for seed in &seeds {
        target(seed);
    }

    let changes = prop::collection::vec((any::<prop::sample::Index>(), change()), 1..8);
    let cases = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) };
    let strategy = (prop::sample::select(seeds), changes);
    let run = TestRunner::new(cases).run(&strategy, |(seed, changes)| {
        let bytes = changed(seed, &changes);
        let caught = std::panic::catch_unwind(|| target(&bytes));
        prop_assert!(caught.is_ok(), "fails with {:?}", String::from_utf8_lossy(&bytes));
        Ok(())
    });
    run.unwrap();
}

macro_rules! smoke {
    ($($target:ident),*) => { $( #[test] fn $target() { smoke(stringify!($target), surfaces::$target); } )* };
}
smoke!(config, hook_stdout, json_rpc_lines, condition, matcher, payload);
