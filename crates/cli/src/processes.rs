//! Processes that are ended as a whole, with all that they started.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};

/// Makes the command the leader of a process group of its own.
pub(crate) fn in_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kills the group that `child` leads, and waits for `child`.
pub(crate) fn kill_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
