//! The programs that agents start: whether they are hookexec, stay where they are, and have this
//! version.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec::internal::files::is_program;
use hookexec_agents::{Agent, is_own_program};

use super::Section;
use super::installed::install;
use crate::program::{VERSION, kept_version, on_search_path, output_in_time, passing};
use crate::settings::Scope;

/// Adds the findings about the programs that the settings of `agent` name.
pub(super) fn add<'c>(
    section: &mut Section,
    agent: Agent,
    named: impl Iterator<Item = (&'c str, Scope)>,
) {
    let programs: BTreeMap<&str, Scope> = named.collect();
    for (program, scope) in programs {
        if program.contains('/') {
            look_at(section, program, scope, &install(agent, scope));
            continue;
        }
        match on_search_path(program) {
            None => section.problem(format!("`{program}` is not on the PATH: nothing passes")),
            Some(found) => {
                if let Some(text) = other_version(&found) {
                    section.warning(format!("{text}; update the one or the other"));
                }
            }
        }
    }
}

fn look_at(section: &mut Section, program: &str, scope: Scope, install: &str) {
    let path = Path::new(program);
    let this = std::env::current_exe().ok();
    let has_this_name = this.is_some_and(|this| this.file_name() == path.file_name());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let problem = if !is_program(path) {
        "is not a program any more".to_owned()
    } else if !has_this_name && !is_own_program(&name) {
        "is not hookexec".to_owned()
    } else if let Some(kind) = passing(path) {
        format!("is in {kind}, which may be deleted")
    } else {
        // Settings of a project may name any program: reading them must not start it.
        let other = if scope == Scope::User { other_version(path) } else { None };
        if let Some(text) = other {
            section.warning(format!("{text}: run `{install}` again"));
        }
        return;
    };
    section.problem(format!("{program} {problem}: run `{install}` again"));
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
