//! The programs that agents start: whether they are hookexec, and stay where they are.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec_agents::{Agent, is_own_program};
use hookexec_files::files::is_program;

use super::agent::install;
use super::section::Section;
use crate::program::{VERSION, kept_version, on_search_path, passing};
use crate::settings::Scope;

/// Adds the findings about the programs that the settings of `agent` name. Settings of a project may name
/// any program: none is started.
pub(super) fn add(section: &mut Section, agent: Agent, programs: &BTreeMap<&str, Scope>) {
    for (program, scope) in programs {
        if !program.contains('/') {
            if on_search_path(program).is_none() {
                section.problem(format!("`{program}` is not on the PATH: nothing passes"));
            }
            continue;
        }
        let again = format!("run `{}` again", install(agent, *scope));
        let path = Path::new(program);
        if let Some(problem) = problem(path) {
            section.problem(format!("{program} is {problem}: {again}"));
        } else if let Some(version) = kept_version(path)
            && version != VERSION
        {
            section.warning(format!(
                "{program} is hookexec {version}, and the one that you run is {VERSION}: {again}"
            ));
        }
    }
}

fn problem(path: &Path) -> Option<String> {
    let this = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().unwrap_or_default();
    if !is_program(path) {
        return Some("not a program any more".to_owned());
    }
    if this.file_name() != Some(name) && !is_own_program(&name.to_string_lossy()) {
        return Some("not hookexec".to_owned());
    }
    let kind = passing(path)?;
    Some(format!("in {kind}, which may be deleted"))
}
