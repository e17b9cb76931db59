//! The programs that agents start: whether they are hookexec, stay where they are, and have this
//! version. And the agents' own: whether they are newer than those that were measured.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec_agents::{Agent, Measured, is_own_program};

use super::Finding;
use super::installed::install;
use crate::program::{VERSION, candidates, kept_version, on_search_path, output_in_time, passing};
use crate::scripts::is_program;
use crate::settings::Scope;

/// Returns the findings about the programs that the settings of `agent` name.
pub(super) fn findings<'c>(
    agent: Agent,
    named: impl Iterator<Item = (&'c str, Scope)>,
) -> Vec<Finding> {
    let programs: BTreeMap<&str, Scope> = named.collect();
    let found = programs.iter().filter_map(|(program, scope)| finding(agent, program, *scope));
    found.collect()
}

fn finding(agent: Agent, program: &str, scope: Scope) -> Option<Finding> {
    let path = Path::new(program);
    if !program.contains('/') {
        let Some(found) = on_search_path(program) else {
            return Some(Finding::problem(format!(
                "`{program}` is not on the PATH: nothing passes"
            )));
        };
        let advice = "update the one or the other";
        return other_version(&found).map(|text| Finding::warning(format!("{text}; {advice}")));
    }
    let install = install(agent, scope);
    if !is_program(path) {
        return Some(Finding::problem(format!(
            "{program} is not a program any more: run `{install}` again"
        )));
    }
    let this = std::env::current_exe().ok();
    let has_this_name = this.is_some_and(|this| this.file_name() == path.file_name());
    let name = path.file_name().unwrap_or_default();
    if !has_this_name && !is_own_program(&name.to_string_lossy()) {
        return Some(Finding::problem(format!("{program} is not hookexec: run `{install}` again")));
    }
    if let Some(kind) = passing(path) {
        return Some(Finding::problem(format!(
            "{program} is in {kind}, which may be deleted: run `{install}` again"
        )));
    }
    // Settings of a project may name any program: reading them must not start it.
    let other = match scope {
        Scope::User => other_version(path),
        Scope::Project => None,
    };
    other.map(|text| Finding::warning(format!("{text}: run `{install}` again")))
}

/// Says that the program has another version than this one.
fn other_version(path: &Path) -> Option<String> {
    let this = std::env::current_exe().and_then(dunce::canonicalize).ok();
    if dunce::canonicalize(path).ok() == this {
        return None;
    }
    let program = path.display();
    let printed = || printed_version(path)?.strip_prefix("hookexec ").map(str::to_owned);
    let Some(version) = kept_version(path).map(str::to_owned).or_else(printed) else {
        return Some(format!("{program} does not print its version"));
    };
    (version != VERSION)
        .then(|| format!("{program} is hookexec {version}, and the one that you run is {VERSION}"))
}

/// Returns what a program prints for `--version`.
fn printed_version(path: &Path) -> Option<String> {
    let command = duct::cmd!(path, "--version");
    let output = output_in_time(&command.stdin_null().stderr_null().stdout_capture())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Says that the agent's program is newer by more than one minor version.
pub(super) fn drift(agent: Agent) -> Option<Finding> {
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

fn is_newer(here: Number, (major, minor): Number) -> bool {
    here > (major, minor + 1)
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
