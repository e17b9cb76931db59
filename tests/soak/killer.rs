//! Kills children at random: hooks that are running, and processes.

use std::time::Duration;

use hookexec::Executor;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::leftovers::children;
use crate::random::Random;

/// One death in so many dispatches.
const ONE_IN: usize = 20;

/// One death of a process in so many dispatches: it rests after each.
const ONE_PROCESS_IN: usize = 300;

/// Decides once, beside a dispatch, whether somebody dies, and who.
pub(crate) struct Killer(Random);

impl Killer {
    pub(crate) fn new(seed: u64, number: usize) -> Self {
        Self(Random::new(seed, number, 2))
    }

    /// Returns whether it killed anybody.
    pub(crate) async fn kill(mut self, executor: &Executor) -> bool {
        let statistics = executor.process_statistics();
        let processes: Vec<Pid> = statistics
            .iter()
            .filter_map(|process| Pid::from_raw(process.pid?.cast_signed()))
            .collect();
        let victims = if self.0.below(ONE_PROCESS_IN) == 0 {
            processes
        } else if self.0.below(ONE_IN) == 0 {
            // Anywhere in a hook's short life, from its start on.
            tokio::time::sleep(Duration::from_micros(self.0.below(3_000) as u64)).await;
            let hooks = children().into_iter().filter(|child| child.leader);
            hooks.map(|hook| hook.pid).filter(|pid| !processes.contains(pid)).collect()
        } else {
            return false;
        };
        !victims.is_empty() && kill(self.0.one_of(&victims))
    }
}

/// Kills a child. Its number may have been given to somebody else meanwhile: a descriptor of it can't.
fn kill(pid: Pid) -> bool {
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let parent = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok();
    let parent = parent.as_ref().and_then(|stat| stat.rsplit_once(") ")?.1.split(' ').nth(1));
    parent == Some(getpid().as_raw_nonzero().to_string().as_str())
        && pidfd_send_signal(&descriptor, Signal::KILL).is_ok()
}
