//! How long agents wait for hookexec, and hookexec for its hooks.

use std::path::Path;
use std::time::Duration;

use hookexec::Event;
use hookexec::config::Hook;
use hookexec_agents::{Agent, NativeEvent};

use crate::settings::entry::Entry;
use crate::settings::inspect::inspect;

/// The longest `--timeout`, in seconds.
pub const LONGEST: u64 = 900;

/// Returns how long an agent must wait for the slowest hook that states its `timeout`, in seconds. Hooks
/// in the background are not waited for.
pub fn needed_timeout<'h>(hooks: impl IntoIterator<Item = &'h Hook>) -> u64 {
    let mut longest = Duration::ZERO;
    for hook in hooks {
        if hook.enabled && hook.states_timeout() && hook.phase.is_answered() {
            let is_approval = hook.event == Event::Approval;
            // The time for the hooks that run before a person is asked.
            let margin = if is_approval { Duration::from_secs(10) } else { Duration::ZERO };
            longest = longest.max(hook.timeout + margin);
        }
    }
    timeout_for(longest).unwrap_or(LONGEST)
}

/// Returns how long the agent waits as it is installed, in seconds.
pub fn kept_timeout(there: &[&Entry]) -> u64 {
    let mut written = 0.0_f64;
    let mut within = None;
    for entry in there {
        written = written.max(entry.timeout.unwrap_or_default());
        within = within.max(entry.call.as_ref().map(|call| call.within));
    }
    let written = Duration::try_from_secs_f64(written).unwrap_or_default().as_secs();
    if (2..=LONGEST).contains(&written) {
        return written;
    }
    // An agent without timeouts in its settings: `--within` of the entries tells.
    let of_within = (2..=LONGEST).rev().find(|timeout| Some(within_of(*timeout)) == within);
    of_within.unwrap_or(Hook::DEFAULT_TIMEOUT.as_secs())
}

/// Returns within which time an agent that waits for `timeout` gets its answer, in seconds.
pub fn within_of(timeout: u64) -> u64 {
    (timeout - (timeout / 10).max(1)).max(1)
}

/// Returns how long an agent must wait for answers that may take `within`, in seconds; `None` if no
/// agent can be made to wait that long.
pub fn timeout_for(within: Duration) -> Option<u64> {
    (2..=LONGEST).find(|timeout| Duration::from_secs(within_of(*timeout)) >= within)
}

/// Returns how long `agent` waits at an event with `--timeout`, and within which time it gets its
/// answer, in seconds.
pub fn limits(agent: Agent, native: &NativeEvent, timeout: u64) -> (u64, u64) {
    let mut timeout = timeout;
    if let Some(layout) = agent.settings() {
        timeout = timeout.min(layout.longest_wait.unwrap_or(timeout));
        for (name, longest) in &layout.short_waits {
            if *name == native.name {
                timeout = timeout.min(*longest);
            }
        }
    }
    (timeout, within_of(timeout))
}

/// Returns within which time the answer comes at an event, in seconds: as the settings here say, or as
/// `install` would write them.
pub fn answered_within(agent: Agent, native: &NativeEvent, project: &Path) -> u64 {
    let mut within = None;
    for file in inspect(agent, project) {
        for entry in file.ours() {
            if let Some(call) = &entry.call
                && call.native.name == native.name
            {
                within = Some(call.within.min(within.unwrap_or(u64::MAX)));
            }
        }
    }
    // Without `--timeout` the agents wait as long as a hook without `timeout` may take.
    within.unwrap_or_else(|| limits(agent, native, Hook::DEFAULT_TIMEOUT.as_secs()).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::call::CallOptions;
    use crate::settings::edit::planned;

    #[test]
    fn an_agent_that_waits_as_long_as_it_is_told_to_gets_every_answer() {
        for within in 1..=810 {
            let timeout = timeout_for(Duration::from_secs(within)).unwrap();
            assert!(within_of(timeout) >= within, "{within}: {timeout}");
        }
        assert_eq!(timeout_for(Duration::from_millis(53_500)), Some(59));
        assert_eq!(timeout_for(Duration::from_secs(811)), None);
        assert_eq!(timeout_for(Duration::MAX), None);
    }

    #[test]
    fn the_answer_comes_before_the_agent_gives_up() {
        for agent in Agent::all().filter(|agent| agent.settings().is_some()) {
            for timeout in [2, 3, 5, 60, 900] {
                for entry in planned(agent, &CallOptions::default(), timeout, &[]) {
                    let within: u64 = entry.command.rsplit(' ').next().unwrap().parse().unwrap();
                    assert!(within >= 1 && within < entry.timeout, "{}", entry.command);
                }
            }
        }
    }
}
