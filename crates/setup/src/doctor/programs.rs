//! The programs that agents start: whether they are hookexec, and stay where they are. And the programs of
//! the agents: their versions, and the settings that they can't read.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hookexec_agents::{Agent, Measured, is_own_program};
use hookexec_files::files::is_program;
use hookexec_files::group::Group;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::Section;
use super::agent::install;
use crate::program::{VERSION, kept_version, on_search_path, passing};
use crate::settings::Scope;
use crate::settings::inspect::AgentFile;

/// Adds the findings about the programs that the settings of `agent` name. Settings of a project may name
/// any program: none is started.
pub(super) fn add_own(section: &mut Section, agent: Agent, programs: &BTreeMap<String, Scope>) {
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

/// Adds what the agent's program says, if it is on the `PATH`.
pub(super) fn add_agents(section: &mut Section, agent: Agent, files: &[AgentFile], project: &Path) {
    let Some(Measured { program, version, .. }) = agent.facts().measured else { return };
    if let Some(said) = printed(program, "--version", project)
        && let Some(installed) = version_numbers(&said)
        && Some(&installed) > version_numbers(version).as_ref()
    {
        let installed = installed.map(|number| number.to_string()).join(".");
        let last = format!("{version}, with which hookexec was last measured");
        section.ok(format!("{program} {installed} is newer than {last}"));
    }
    if agent != Agent::ClaudeCode {
        return;
    }
    let said = printed(program, "doctor", project).unwrap_or_default();
    for line in said.lines() {
        for file in files {
            // `- PATH › KEY: what is wrong`
            if file.is_installed()
                && let Some(rest) = line.strip_prefix("- ")
                && let Some(mistake) = rest.strip_prefix(&*file.path.to_string_lossy())
            {
                let (path, mistake) = (file.path.display(), mistake.trim_start_matches([' ', '›']));
                section
                    .problem(format!("{path}: Claude Code reads nothing of this file: {mistake}"));
            }
        }
    }
}

/// Returns the first three numbers of a version.
pub fn version_numbers(text: &str) -> Option<[u64; 3]> {
    for word in text.split(|letter: char| !letter.is_ascii_digit() && letter != '.') {
        let numbers: Vec<u64> = word.split('.').map_while(|part| part.parse().ok()).collect();
        if let [major, minor, patch, ..] = numbers[..] {
            return Some([major, minor, patch]);
        }
    }
    None
}

/// Returns what a program writes to stdout, if it can be started and ends in time.
fn printed(program: &str, argument: &str, directory: &Path) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let mut command = Command::new(program);
        command.arg(argument).current_dir(directory).stderr(Stdio::null());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // The command may be a script of npm's, which started the real program: the group ends both.
        let mut group = Group::spawn(&mut command).ok()?;
        let (_, Some(mut stdout), _) = group.take_pipes() else { return None };
        let mut said = Vec::new();
        // Claude Code takes a second and a half.
        let read = timeout(Duration::from_secs(10), stdout.read_to_end(&mut said)).await;
        read.ok()?.ok()?;
        Some(String::from_utf8_lossy(&said).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, expected) in [
            ("2.1.330 (Claude Code)\n", Some([2, 1, 330])),
            ("codex-cli 0.171.0", Some([0, 171, 0])),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", Some([1, 0, 102])),
            ("v7.7.7-beta.1", Some([7, 7, 7])),
            ("2.1", None),
            ("", None),
        ] {
            assert_eq!(version_numbers(text), expected, "{text}");
        }
        assert!(
            version_numbers("2.1.330") > version_numbers("2.1.329")
                && version_numbers("2.2.0") > version_numbers("2.1.329")
        );
    }
}
