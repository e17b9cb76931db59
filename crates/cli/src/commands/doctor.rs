//! `hookexec doctor`: whether the hooks really guard what they are meant to guard, and whether the
//! servers that the entries ask (`install --connect`) would answer.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use hookexec_agents::Agent;
use hookexec_project::LoadOptions;
use hookexec_serve::server;
use hookexec_setup::doctor::{self, Finding, Grade, Section};
use hookexec_setup::settings::inspect::AgentFile;
use serde_json::json;

use crate::commands::run::agent_name;
use crate::config::{ConfigArgs, Purpose};
use crate::console::output::PlainFormat;
use crate::console::report::{BAD, DOUBTFUL, GOOD, counted};
use crate::error::{CommandError, Exit};
use crate::runtime::Runtime;
use crate::{plain, registry};

/// Finds out whether the hooks are live: sound, approved, installed and seen firing
///
/// Looks at the hooks files, at the scripts they name, and at the settings of each coding agent
/// that is found here. Exits with 1 if there is a problem. An agent without hookexec is a problem if you
/// name it, otherwise a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec doctor claude-code")]
pub(crate) struct Args {
    /// Only these agents, and each of them must have hookexec installed
    #[arg(value_name = "AGENT", value_parser = agent_name())]
    agents: Vec<Agent>,

    /// How to show the findings
    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    format: PlainFormat,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let options = self.config.options(Purpose::Run)?;
        let check = hookexec_project::check(&options, registry::all());
        let project = options.working_dir.clone().unwrap_or_default();
        let mut sections = vec![doctor::hooks(&check, &project)];
        sections.extend(doctor::policies(&check.policies));
        let (agents, inspected) = doctor::agents(&self.agents, &check, &project);
        sections.extend(agents);
        sections.extend(servers(&inspected, &options));
        report(&sections, &inspected, self.format)
    }
}

fn report(
    sections: &[Section],
    files: &[AgentFile],
    format: PlainFormat,
) -> Result<Exit, CommandError> {
    // The files of agents that are used here.
    let mut rows = Vec::new();
    for file in files {
        if file.is_found() || file.entries.is_err() {
            rows.push(file.summary());
        }
    }
    let (mut problems, mut warnings) = (0, 0);
    for section in sections {
        problems += section.count(Grade::Problem);
        warnings += section.count(Grade::Warning);
    }
    let json = json!({
        "problems": problems,
        "warnings": warnings,
        "agents": rows,
        "sections": sections,
    });
    format.show(&json, || {
        let (problems, warnings) = (counted(problems, "problem"), counted(warnings, "warning"));
        format!("{}{problems}, {warnings}\n", text(sections))
    })?;
    Ok(if problems > 0 { Exit::NEGATIVE } else { Exit::SUCCESS })
}

fn text(sections: &[Section]) -> String {
    const TITLE: Style = Style::new().bold();
    let mut text = String::new();
    for section in sections {
        let _ = writeln!(text, "{TITLE}{}{TITLE:#}", section.title);
        for finding in &section.findings {
            let (style, word) = match finding.grade {
                Grade::Ok => (GOOD, "ok"),
                Grade::Warning => (DOUBTFUL, "warning"),
                Grade::Problem => (BAD, "PROBLEM"),
            };
            let _ = writeln!(text, "  {style}{word:<8}{style:#} {}", plain::line(&finding.line()));
        }
    }
    text
}

/// Returns what is found about the servers; `None` if no entry asks one.
fn servers(files: &[AgentFile], options: &LoadOptions) -> Option<Section> {
    let mut callers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        for (socket, entries) in file.sockets() {
            let entries = format!("{} in {}", counted(entries, "event"), file.path.display());
            callers.entry(socket).or_default().push(entries);
        }
    }
    if callers.is_empty() {
        return None;
    }
    let mut section = Section::new("Servers");
    if options.has_managed_files() {
        section.ok(
            "this machine has managed hooks: no server is asked, all hooks run in the process of the \
             call",
        );
        return Some(section);
    }
    let project = options.working_dir.as_deref().unwrap_or(Path::new(""));
    for (socket, about) in callers {
        let (grade, text) = ask(Path::new(socket), project);
        section.findings.push(Finding { grade, about, text });
    }
    Some(section)
}

fn ask(socket: &Path, project: &Path) -> (Grade, String) {
    let asked = Runtime::new().and_then(|runtime| runtime.block_on(server::ping(socket, project)));
    let place = socket.display();
    let problem = match asked {
        Ok(Ok(())) => return (Grade::Ok, format!("the server at {place} answers")),
        Ok(Err(problem)) if problem.ran_nothing() => {
            let here = "here the hooks run in the process of the call";
            return (Grade::Ok, format!("the server at {place} {problem}; {here}"));
        }
        Ok(Err(problem)) => format!("the server at {place} {problem}"),
        Err(error) => error.to_string(),
    };
    let remedy = server::remedy(socket);
    let effect = "without its answer a guarded call is denied and never allowed";
    (Grade::Problem, format!("{problem}; {effect}; {remedy}"))
}

#[cfg(test)]
mod tests {
    use hookexec_agents::Agent;

    use super::*;
    use hookexec_setup::settings::Scope;

    #[test]
    fn beside_managed_hooks_no_server_is_asked() {
        let place = tempfile::tempdir().unwrap();
        let settings = place.path().join(".claude/settings.json");
        std::fs::create_dir(settings.parent().unwrap()).unwrap();
        let command =
            "hookexec run --from claude-code --event Stop --within 54 --connect /nowhere/socket";
        let hook = serde_json::json!({ "type": "command", "command": command });
        let hooks = serde_json::json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        std::fs::write(settings, hooks.to_string()).unwrap();
        let file = AgentFile::inspect(Agent::ClaudeCode, Scope::Project, place.path()).unwrap();
        let mut options = LoadOptions::default();
        options.managed_dir = Some(place.path().into());
        let files = [file];
        let lines = |options: &LoadOptions| -> Vec<String> {
            let section = servers(&files, options).unwrap();
            section.findings.iter().map(Finding::line).collect()
        };
        let alone = lines(&options);
        assert_eq!(alone.len(), 1);
        assert!(alone[0].starts_with("1 event in "), "{alone:?}");
        assert!(alone[0].contains("the server at /nowhere/socket is not there"), "{alone:?}");
        std::fs::create_dir(place.path().join("hooks.d")).unwrap();
        let managed = lines(&options);
        assert_eq!(managed.len(), 1);
        assert!(managed[0].starts_with("this machine has managed hooks: no server"), "{managed:?}");
    }
}
