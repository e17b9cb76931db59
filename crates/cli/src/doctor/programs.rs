//! The programs that agents start: whether they are hookexec, and stay where they are.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec::internal::files::is_program;
use hookexec_agents::{Agent, is_own_program};

use super::Section;
use super::installed::install;
use crate::program::{VERSION, kept_version, on_search_path, passing};
use crate::settings::Scope;

/// Adds the findings about the programs that the settings of `agent` name. Settings of a project may name
/// any program: none is started.
pub(super) fn add<'c>(
    section: &mut Section,
    agent: Agent,
    named: impl Iterator<Item = (&'c str, Scope)>,
) {
    let programs: BTreeMap<&str, Scope> = named.collect();
    for (program, scope) in programs {
        if !program.contains('/') {
            if on_search_path(program).is_none() {
                section.problem(format!("`{program}` is not on the PATH: nothing passes"));
            }
            continue;
        }
        let again = format!("run `{}` again", install(agent, scope));
        if let Some(problem) = problem(program) {
            section.problem(format!("{problem}: {again}"));
        } else if let Some(version) = kept_version(Path::new(program)).filter(|it| *it != VERSION) {
            section.warning(format!(
                "{program} is hookexec {version}, and the one that you run is {VERSION}: {again}"
            ));
        }
    }
}

fn problem(program: &str) -> Option<String> {
    let path = Path::new(program);
    let this = std::env::current_exe().ok();
    let has_this_name = this.is_some_and(|this| this.file_name() == path.file_name());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !is_program(path) {
        Some(format!("{program} is not a program any more"))
    } else if !has_this_name && !is_own_program(&name) {
        Some(format!("{program} is not hookexec"))
    } else {
        let kind = passing(path)?;
        Some(format!("{program} is in {kind}, which may be deleted"))
    }
}
