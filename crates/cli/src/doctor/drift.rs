//! Whether the agent here is newer than the one that was measured.

use hookexec_agents::{Agent, Measured};

use super::Finding;
use super::programs::printed_version;
use crate::program::candidates;
use crate::scripts::is_program;

/// Says that the agent's program is newer by more than one minor version.
pub(super) fn finding(agent: Agent) -> Option<Finding> {
    let Measured { program, version, .. } = agent.measured()?;
    let printed = printed_version(&candidates(program).find(|path| is_program(path))?)?;
    let (here, number) = version_in(&printed)?;
    let (_, measured) = version_in(version)?;
    is_newer(number, measured).then(|| {
        let title = agent.title();
        Finding::warning(format!(
            "{title} {here} is newer than {version}, with which hookexec was tested: look for a newer \
             hookexec, and try out whether your guards still deny"
        ))
    })
}

/// A major and a minor version.
type Number = (u64, u64);

/// Returns the first version in a text.
fn version_in(text: &str) -> Option<(&str, Number)> {
    text.split_whitespace().map(|word| word.trim_matches(['v', '.', ','])).find_map(|word| {
        let mut parts = word.split('.').map(str::parse);
        Some((word, (parts.next()?.ok()?, parts.next()?.ok()?)))
    })
}

fn is_newer((major, minor): Number, measured: Number) -> bool {
    major > measured.0 || major == measured.0 && minor > measured.1 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_each_agent_prints() {
        for (text, version, number) in [
            ("2.1.329 (Claude Code)", "2.1.329", (2, 1)),
            ("codex-cli 0.169.0", "0.169.0", (0, 169)),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'.", "1.0.102", (1, 0)),
            ("OpenClaw 2026.9.6 (eb377ac)", "2026.9.6", (2026, 9)),
            ("v1.2.0-beta.1", "1.2.0-beta.1", (1, 2)),
        ] {
            assert_eq!(version_in(text), Some((version, number)));
        }
        assert_eq!(version_in("no version"), None);
    }

    #[test]
    fn one_minor_version_is_no_drift() {
        for (here, newer) in [
            ((1, 4), false),
            ((1, 5), false),
            ((1, 6), false),
            ((1, 7), true),
            ((2, 0), true),
            ((0, 9), false),
        ] {
            assert_eq!(is_newer(here, (1, 5)), newer, "{here:?}");
        }
    }
}
