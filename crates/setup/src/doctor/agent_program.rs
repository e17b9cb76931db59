//! Asks the program of an agent for its version, and for the settings that it can't read.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hookexec_agents::{Agent, Measured};
use hookexec_files::group::Group;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::section::Section;
use crate::settings::inspect::AgentFile;

/// Adds what the agent's program says, if it is on the `PATH`.
pub(super) fn add(section: &mut Section, agent: Agent, files: &[AgentFile], project: &Path) {
    let Some(Measured { program, version, .. }) = agent.measured() else { return };
    if let Some(said) = printed(program, "--version", project)
        && let Some(installed) = numbers(&said)
        && Some(&installed) > numbers(version).as_ref()
    {
        let installed = installed.map(|number| number.to_string()).join(".");
        section.ok(format!(
            "{program} {installed} is newer than {version}, with which hookexec was last measured"
        ));
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
                let mistake = mistake.trim_start_matches([' ', '›']);
                section.problem(format!(
                    "{}: Claude Code reads nothing of this file: {mistake}",
                    file.path.display()
                ));
            }
        }
    }
}

/// Returns the first three numbers of a version.
fn numbers(text: &str) -> Option<[u64; 3]> {
    for word in text.split(|letter: char| !letter.is_ascii_digit() && letter != '.') {
        let mut parts = word.split('.').map(str::parse);
        if let (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) =
            (parts.next(), parts.next(), parts.next())
        {
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
            assert_eq!(numbers(text), expected, "{text}");
        }
        assert!(numbers("2.1.330") > numbers("2.1.329") && numbers("2.2.0") > numbers("2.1.329"));
    }
}
