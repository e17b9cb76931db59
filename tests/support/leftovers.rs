//! What a test process has and what its hooks left behind: descriptors, threads, children.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// How long what was stopped may take to be gone; no test waits this long for success.
const HANG: Duration = Duration::from_mins(1);

/// What the process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Possessions {
    pub(crate) descriptors: usize,
    pub(crate) threads: usize,
    /// Living ones and zombies.
    pub(crate) children: usize,
}

/// A child of this process: its own, or an orphan that it adopted.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub(crate) pid: Pid,
    pub(crate) name: String,
    zombie: bool,
    /// Whether it leads a group, as every child does that was started as a hook.
    pub(crate) leader: bool,
}

/// Has this process adopt whatever its hooks leave, so that nothing gets out of sight.
pub(crate) fn adopt_orphans() {
    set_child_subreaper(Some(getpid())).unwrap();
}

/// Returns what the process has.
pub(crate) fn possessions() -> Possessions {
    let entries = |path| std::fs::read_dir(path).unwrap().count();
    Possessions {
        descriptors: entries("/proc/self/fd"),
        threads: entries("/proc/self/task"),
        children: children().len(),
    }
}

/// Waits until what the process has is as wished, for as long as that may take on any machine, and
/// returns it.
pub(crate) fn settled(wished: impl Fn(&Possessions) -> bool) -> Possessions {
    let started = Instant::now();
    loop {
        reap_orphans();
        let now = possessions();
        if wished(&now) || started.elapsed() > HANG {
            return now;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Takes the dead among the orphans off the list of processes; those that were started here are
/// left to the runtime.
pub(crate) fn reap_orphans() {
    for orphan in children().into_iter().filter(|child| child.zombie && !child.leader) {
        let _ = waitpid(Some(orphan.pid), WaitOptions::NOHANG);
    }
}

/// Waits for the end of all children and returns those that live on. When orphans are `expected` to,
/// those are what is waited for, and they are killed.
pub(crate) async fn end_survivors(expected: bool) -> Vec<Child> {
    let started = Instant::now();
    let mut survivors = Vec::new();
    loop {
        reap_orphans();
        let left = children();
        let settled = if expected { left.iter().all(|it| !it.leader) } else { left.is_empty() };
        if settled || started.elapsed() > HANG {
            survivors.extend(left);
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for survivor in &survivors {
        let _ = kill_process(survivor.pid, Signal::KILL);
    }
    while expected && !children().is_empty() && started.elapsed() < HANG {
        reap_orphans();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    survivors
}

/// Returns the children of every thread.
pub(crate) fn children() -> Vec<Child> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread, and a child, may have ended meanwhile.
    let lists = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let pids: Vec<i32> = lists
        .flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<_>>())
        .collect();
    pids.into_iter().filter_map(child).collect()
}

fn child(id: i32) -> Option<Child> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (head, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let zombie = matches!(fields.next()?, "Z" | "X");
    let group: i32 = fields.nth(1)?.parse().ok()?;
    let name = head.split_once('(')?.1.to_owned();
    Some(Child { pid: Pid::from_raw(id)?, name, zombie, leader: group == id })
}
