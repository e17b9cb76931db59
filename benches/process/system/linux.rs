//! What only Linux offers to a measurement.

use std::os::fd::OwnedFd;
use std::process::Child;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Returns a descriptor that can be read once `child` has ended.
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such descriptor")]
pub(crate) fn end_of(child: &Child) -> Option<OwnedFd> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty());
    Some(process.expect("a process has a descriptor"))
}

/// Keeps this thread and what it starts to one processor until it is dropped: on which processor the
/// scheduler puts a child costs more than all that is measured here.
pub(crate) struct Pinned(CpuSet);

impl Pinned {
    pub(crate) fn new() -> Self {
        let anywhere = sched_getaffinity(None).expect("the system tells");
        let first = (0..CpuSet::MAX_CPU).find(|cpu| anywhere.is_set(*cpu));
        let mut one = CpuSet::new();
        one.set(first.expect("there is a processor"));
        sched_setaffinity(None, &one).expect("a processor that may be used can be chosen");
        Self(anywhere)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = sched_setaffinity(None, &self.0);
    }
}
