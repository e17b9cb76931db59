//! `hookexec doctor`: whether the hooks really guard what they are meant to guard.

mod codex;
mod installed;
mod policies;
mod programs;
mod servers;
mod switches;

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use hookexec::config::{Diagnostic, Severity};
use hookexec::event::FailureMode;
use hookexec::internal::Check;
use hookexec::{Event, Executor, Registry};
use hookexec_agents::Agent;
use serde::Serialize;
use serde_json::Value;

use super::config::{ConfigArgs, Purpose};
use super::error::CommandError;
use super::exit::Exit;
use super::matchers;
use super::output::PlainFormat;
use super::plain;
use super::report::{BAD, DOUBTFUL, GOOD, counted};
use super::run::{AGENT, INSTALLABLE};
use super::scripts::missing;
use super::settings::Scope;
use super::settings::inspect::{AgentFile, inspect};
use installed::Visit;

/// Finds out whether the hooks are live: sound, approved, installed and seen firing
///
/// Looks at the hooks files, at the scripts they name, and at the settings of each coding agent
/// that is found here. Exits with 1 if there is a problem. An agent without hookexec is a problem if you
/// name it, otherwise a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec doctor claude-code")]
pub(crate) struct Args {
    /// Only these agents, and each of them must have hookexec installed
    #[arg(value_name = "AGENT", value_parser = AGENT)]
    agents: Vec<Agent>,

    /// How to show the findings
    #[arg(long, value_enum, default_value_t = PlainFormat::Text)]
    format: PlainFormat,
    #[command(flatten)]
    config: ConfigArgs,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Grade {
    Ok,
    Warning,
    Problem,
}

/// One cause, and the hooks or events that it concerns.
#[derive(Debug, Serialize)]
struct Finding {
    grade: Grade,
    about: Vec<String>,
    text: String,
}

impl Finding {
    fn new(grade: Grade, text: impl Into<String>) -> Self {
        Self { grade, about: Vec::new(), text: text.into() }
    }

    fn fine(text: impl Into<String>) -> Self {
        Self::new(Grade::Ok, text)
    }

    fn warning(text: impl Into<String>) -> Self {
        Self::new(Grade::Warning, text)
    }

    fn problem(text: impl Into<String>) -> Self {
        Self::new(Grade::Problem, text)
    }

    /// Returns a problem, or only a warning.
    fn of(is_problem: bool, text: impl Into<String>) -> Self {
        Self::new(if is_problem { Grade::Problem } else { Grade::Warning }, text)
    }

    /// Names the hook or event that it concerns. Findings that differ in that alone become one
    /// line.
    fn about(mut self, about: impl Into<String>) -> Self {
        self.about.push(about.into());
        self
    }

    fn line(&self) -> String {
        const SHOWN: usize = 6;
        let Some(more) = self.about.len().checked_sub(SHOWN).filter(|more| *more > 0) else {
            let about = self.about.join(", ");
            let colon = if about.is_empty() { "" } else { ": " };
            return format!("{about}{colon}{}", self.text);
        };
        format!("{} and {more} more: {}", self.about[..SHOWN].join(", "), self.text)
    }
}

/// Findings about one subject, with a heading.
#[derive(Debug, Serialize)]
struct Section {
    title: String,
    findings: Vec<Finding>,
}

impl Section {
    /// Returns a section with one finding for each cause, in the order of their first mention.
    fn new(title: impl Into<String>, all: Vec<Finding>) -> Self {
        let mut findings: Vec<Finding> = Vec::new();
        for finding in all {
            let same = |known: &&mut Finding| {
                !finding.about.is_empty()
                    && (known.grade, &known.text) == (finding.grade, &finding.text)
            };
            match findings.iter_mut().find(same) {
                Some(known) => known.about.extend(finding.about),
                None => findings.push(finding),
            }
        }
        Self { title: title.into(), findings }
    }
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let options = self.config.options(Purpose::Run)?;
        let check = Executor::check(&options, Registry::with_shipped_builtins());
        let project = options.working_dir.clone().unwrap_or_default();
        let mut sections = vec![hooks(&check, &project)];
        sections.extend(policies::section(&check.policies));
        let before = sections.len();
        let (mut rows, mut inspected) = (Vec::new(), Vec::new());
        for agent in Agent::all() {
            let asked = self.agents.contains(&agent);
            if !asked && !self.agents.is_empty() {
                continue;
            }
            let files = inspect(agent, &project);
            rows.extend(files.iter().filter_map(row));
            let (check, project, findings) = (&check, &*project, Vec::new());
            let visit = Visit { agent, files: &files, asked, check, project, findings };
            if let Some(mut findings) = visit.findings() {
                if matchers::is_installed(&files) {
                    findings.extend(misfits(agent, check));
                }
                sections.push(Section::new(agent.title(), findings));
            }
            inspected.extend(files);
        }
        if sections.len() == before {
            let next = format!(
                "no coding agent is found here; next: `hookexec install AGENT`, where AGENT is one of {}",
                INSTALLABLE.names().join(", ")
            );
            sections.push(Section::new("Agents", vec![Finding::warning(next)]));
        }
        sections.extend(servers::section(&inspected, &options));
        report(&sections, &rows, self.format)
    }
}

/// Returns warnings of hooks whose matcher fits no tool of the agent.
fn misfits(agent: Agent, check: &Check) -> Vec<Finding> {
    let mut findings = Vec::new();
    for hook in check.configured() {
        let Some(misfit) = matchers::misfit(hook, &[agent]) else { continue };
        let Diagnostic { message, hint, .. } = misfit;
        let text = format!("{message}; {}", hint.unwrap_or_default());
        let title = format!("`{}` ({})", hook.label(), hook.location);
        findings.push(Finding::warning(text).about(title));
    }
    findings
}

/// Returns a file of an agent for programs; `None` for one that calls no hookexec, unless the user's agent
/// is used here.
fn row(file: &AgentFile) -> Option<Value> {
    let (count, error) = (file.ours().len(), file.entries.as_ref().err());
    if count == 0 && error.is_none() && (file.scope != Scope::User || !file.is_found()) {
        return None;
    }
    Some(serde_json::json!({
        "agent": file.agent.name(),
        "scope": file.scope.to_string(),
        "settings": file.path,
        // 1 for a plugin.
        "hooks": count,
        "sockets": file.sockets().into_keys().collect::<Vec<_>>(),
        "error": error,
    }))
}

/// Returns whether a hook on `event` is a guard: its silence would let something through.
fn guards(event: Event) -> bool {
    event.contract().failure != FailureMode::Open
}

fn hooks(check: &Check, project: &Path) -> Section {
    let mut findings = Vec::new();
    let mut troubled: Vec<&Path> = Vec::new();
    let errors = check.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let errors: Vec<&Diagnostic> = errors.collect();
    troubled.extend(errors.iter().filter_map(|problem| Some(problem.location.as_ref()?.path())));
    if !errors.is_empty() {
        findings.push(Finding::problem(format!(
            "{} in the hooks files: every guarded event is denied; `hookexec check` shows them",
            counted(errors.len(), "error")
        )));
    }
    for problem in check.left_out.iter() {
        findings.push(Finding::problem(problem.to_string()));
    }
    if check.files.is_empty() && errors.is_empty() {
        findings.push(Finding::problem("no hooks file was found: nothing is guarded"));
    }
    let mut untrusted = Vec::new();
    for hook in check.configured().filter(|hook| hook.enabled) {
        let title = format!("`{}` ({})", hook.label(), hook.location);
        let mut problems = Vec::new();
        if let Some(why) = &hook.untrusted {
            problems.push(format!("it fails: {}; see `hookexec trust`", why.cause));
            untrusted.push(hook.location.path());
        }
        problems.extend(missing(hook, project).into_iter().map(|problem| problem.message));
        if !problems.is_empty() {
            troubled.push(hook.location.path());
        }
        findings.extend(problems.into_iter().map(|text| Finding::problem(text).about(&title)));
    }
    // A file that is not approved may have no hook, or be broken as well.
    for file in &check.failed {
        let path = file.location.path();
        let is_counted = errors.iter().any(|error| file.cause.contains(&error.message));
        if !path.exists() || !is_counted && !untrusted.contains(&path) {
            let text = format!("{}: {}; {}", path.display(), file.cause, file.remedy);
            findings.push(Finding::problem(text));
            troubled.push(path);
        }
    }
    for file in check.files.iter().filter(|file| !troubled.contains(&file.as_path())) {
        findings.push(Finding::fine(file.display().to_string()));
    }
    Section::new("Hooks", findings)
}

fn report(
    sections: &[Section],
    agents: &[Value],
    format: PlainFormat,
) -> Result<Exit, CommandError> {
    let count = |grade| {
        sections.iter().flat_map(|section| &section.findings).filter(|f| f.grade == grade).count()
    };
    let (problems, warnings) = (count(Grade::Problem), count(Grade::Warning));
    let json = serde_json::json!({
        "problems": problems,
        "warnings": warnings,
        "agents": agents,
        "sections": sections,
    });
    format.show(&json, || {
        let (problems, warnings) = (counted(problems, "problem"), counted(warnings, "warning"));
        format!("{}{problems}, {warnings}\n", text(sections))
    })?;
    Ok(if problems > 0 { Exit::Negative } else { Exit::Success })
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
