//! The programs that agents start: whether they are hookexec, stay where they are, and have this
//! version.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec_agents::{Agent, is_own_program};

use super::Finding;
use super::installed::install;
use crate::program::{VERSION, kept_version, on_search_path, output_in_time, passing};
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
    let printed = || {
        let command = duct::cmd!(path, "--version");
        let output = output_in_time(&command.stdin_null().stderr_null().stdout_capture())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        printed.trim().strip_prefix("hookexec ").map(str::to_owned)
    };
    let Some(version) = kept_version(path).map(str::to_owned).or_else(printed) else {
        return Some(format!("{program} does not print its version"));
    };
    let text = format!("{program} is hookexec {version}, and the one that you run is {VERSION}");
    if version == VERSION { None } else { Some(text) }
}
