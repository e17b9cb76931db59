//! `just counts` compares what it counted with the committed baseline.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const WORK: &str = "start, 100 hooks, nothing to run";

#[test]
fn equal_counts_pass() {
    let output = compared(|_| {});
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_count_that_grew_by_more_than_the_limit_fails() {
    let output = compared(|measured| grow(measured, "instructions", 1.06));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains(&format!("error: more than the baseline: instructions of `{WORK}`")));
    assert!(error.contains("just counts --update"), "{error}");
}

#[test]
fn a_count_that_grew_within_the_limit_or_shrank_passes() {
    for factor in [1.04, 0.5] {
        let output = compared(|measured| grow(measured, "instructions", factor));
        assert!(output.status.success(), "{factor}: {output:?}");
    }
}

#[test]
fn a_count_that_is_missing_fails() {
    let output = compared(|measured| {
        measured["counts"].as_object_mut().unwrap().remove(WORK);
    });
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn page_faults_are_shown_and_not_compared() {
    let output = compared(|measured| grow(measured, "page faults", 2.0));
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn counts_of_another_compiler_are_not_compared() {
    let output = compared(|measured| {
        measured["build"]["compiler"] = "rustc 1.0.0".into();
        grow(measured, "instructions", 2.0);
    });
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("not compared") && text.contains("compiler: rustc 1.0.0"), "{text}");
}

fn grow(measured: &mut Value, kind: &str, factor: f64) {
    let count = &mut measured["counts"][WORK][kind];
    *count = (count.as_f64().unwrap() * factor).into();
}

/// Compares the counts of the baseline itself, changed by `change`, with the baseline.
fn compared(change: impl FnOnce(&mut Value)) -> Output {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/counts");
    let text = std::fs::read_to_string(directory.join("baseline.json")).unwrap();
    let mut measured = serde_json::from_str(&text).unwrap();
    change(&mut measured);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), measured.to_string()).unwrap();
    let mut command = Command::new("python3");
    command.arg(directory.join("counts.py")).arg("--measured").arg(file.path());
    command.output().unwrap_or_else(|error| panic!("this test needs python3: {error}"))
}
