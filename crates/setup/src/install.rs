//! The entries that `install` writes.

use hookexec::Event;
use hookexec_agents::Agent;

use crate::settings::call::{Call, CallOptions};
use crate::settings::edit::PlannedEntry;
use crate::settings::events;
use crate::waits::limits;

/// Returns the entries for `agent`, which waits `timeout` seconds.
pub fn planned(
    agent: Agent,
    options: &CallOptions,
    timeout: u64,
    configured: &[Event],
) -> Vec<PlannedEntry> {
    let mut entries = Vec::new();
    for native in events(agent, configured) {
        let (timeout, within) = limits(agent, native, timeout);
        let call = Call { options: options.clone(), agent, native, within };
        entries.push(PlannedEntry { native, command: call.command(), timeout });
    }
    entries
}
