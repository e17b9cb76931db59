//! What a process that a test started does now.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::fmt::Display;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Waits until `condition` holds; fails when it does not within a minute.
pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_mins(1), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Returns the state letter of a process, `Z` for a zombie; `None` when it is gone.
pub(crate) fn state(pid: impl Display) -> Option<char> {
    if Path::new("/proc/self/stat").exists() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        return stat.rsplit_once(") ")?.1.chars().next();
    }
    let shown = Command::new("ps").args(["-o", "state=", "-p", &pid.to_string()]).output().unwrap();
    shown.stdout.first().map(|letter| char::from(*letter))
}

/// Returns whether a process runs; one that is dead and not yet collected does not.
pub(crate) fn lives(pid: impl Display) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}
