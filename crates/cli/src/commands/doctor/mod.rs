//! `hookexec doctor`: whether the hooks really guard what they are meant to guard.

mod servers;

use std::fmt::Write as _;

use anstyle::Style;
use hookexec_agents::Agent;
use hookexec_setup::doctor::{self, Grade, Section, Visit};
use hookexec_setup::settings::inspect::{AgentFile, inspect};
use serde_json::{Value, json};

use crate::commands::run::{agent_name, is_installable};
use crate::config::{ConfigArgs, Purpose};
use crate::console::output::PlainFormat;
use crate::console::report::{BAD, DOUBTFUL, GOOD, counted};
use crate::error::CommandError;
use crate::exit::Exit;
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
        let before = sections.len();
        let mut inspected = Vec::new();
        for agent in Agent::all() {
            let asked = self.agents.contains(&agent);
            if asked || self.agents.is_empty() {
                let files = inspect(agent, &project);
                sections.extend(Visit::new(agent, &files, &check, &project).section(asked));
                inspected.extend(files);
            }
        }
        if sections.len() == before {
            let names: Vec<&str> =
                Agent::all().filter(|agent| is_installable(*agent)).map(Agent::name).collect();
            let mut section = Section::new("Agents");
            section.warning(format!(
                "no coding agent is found here; next: `hookexec install AGENT`, where AGENT is one of {}",
                names.join(", ")
            ));
            sections.push(section);
        }
        sections.extend(servers::section(&inspected, &options));
        report(&sections, &inspected, self.format)
    }
}

fn report(
    sections: &[Section],
    files: &[AgentFile],
    format: PlainFormat,
) -> Result<Exit, CommandError> {
    let (mut problems, mut warnings) = (0, 0);
    for section in sections {
        problems += section.count(Grade::Problem);
        warnings += section.count(Grade::Warning);
    }
    let json = json!({
        "problems": problems,
        "warnings": warnings,
        "agents": rows(files),
        "sections": sections,
    });
    format.show(&json, || {
        let (problems, warnings) = (counted(problems, "problem"), counted(warnings, "warning"));
        format!("{}{problems}, {warnings}\n", text(sections))
    })?;
    Ok(if problems > 0 { Exit::Negative } else { Exit::Success })
}

/// Returns the files of agents that are used here, for programs.
fn rows(files: &[AgentFile]) -> Vec<Value> {
    let mut rows = Vec::new();
    for file in files {
        if file.is_found() || file.entries.is_err() {
            rows.push(json!({
                "agent": file.agent.name(),
                "scope": file.scope.to_string(),
                "settings": file.path,
                // 1 for a plugin or a package.
                "hooks": file.ours().len(),
                "sockets": file.sockets().keys().collect::<Vec<_>>(),
                "error": file.entries.as_ref().err().map(ToString::to_string),
            }));
        }
    }
    rows
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
