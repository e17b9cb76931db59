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

impl Grade {
    fn of(is_problem: bool) -> Self {
        if is_problem { Self::Problem } else { Self::Warning }
    }
}

/// One cause, and the hooks or events that it concerns.
#[derive(Debug, Serialize)]
struct Finding {
    grade: Grade,
    about: Vec<String>,
    text: String,
}

impl Finding {
    fn line(&self) -> String {
        const SHOWN: usize = 6;
        let shown = &self.about[..self.about.len().min(SHOWN)];
        let more = match self.about.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let colon = if shown.is_empty() { "" } else { ": " };
        format!("{}{more}{colon}{}", shown.join(", "), self.text)
    }
}

/// Findings about one subject, with a heading.
#[derive(Debug, Serialize)]
struct Section {
    title: String,
    findings: Vec<Finding>,
}

impl Section {
    fn new(title: &str) -> Self {
        Self { title: title.to_owned(), findings: Vec::new() }
    }

    fn ok(&mut self, text: impl Into<String>) {
        self.add(Grade::Ok, text);
    }

    fn warning(&mut self, text: impl Into<String>) {
        self.add(Grade::Warning, text);
    }

    fn problem(&mut self, text: impl Into<String>) {
        self.add(Grade::Problem, text);
    }

    fn add(&mut self, grade: Grade, text: impl Into<String>) {
        self.findings.push(Finding { grade, about: Vec::new(), text: text.into() });
    }

    /// Adds a finding about a hook or an event. Findings that differ in that alone become one line.
    fn about(&mut self, about: &str, grade: Grade, text: impl Into<String>) {
        let text = text.into();
        let mut known = self.findings.iter_mut().filter(|known| !known.about.is_empty());
        match known.find(|known| (known.grade, &known.text) == (grade, &text)) {
            Some(known) => known.about.push(about.to_owned()),
            None => self.findings.push(Finding { grade, about: vec![about.to_owned()], text }),
        }
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
            let section = Section::new(agent.title());
            let visit =
                Visit { agent, files: &files, asked, check: &check, project: &project, section };
            sections.extend(visit.section());
            inspected.extend(files);
        }
        if sections.len() == before {
            let mut section = Section::new("Agents");
            section.warning(format!(
                "no coding agent is found here; next: `hookexec install AGENT`, where AGENT is one of {}",
                INSTALLABLE.names().join(", ")
            ));
            sections.push(section);
        }
        sections.extend(servers::section(&inspected, &options));
        report(&sections, &rows, self.format)
    }
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
    let mut section = Section::new("Hooks");
    let errors = check.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let errors: Vec<&Diagnostic> = errors.collect();
    let paths = errors.iter().filter_map(|problem| Some(problem.location.as_ref()?.path()));
    let mut troubled: Vec<&Path> = paths.collect();
    if !errors.is_empty() {
        section.problem(format!(
            "{} in the hooks files: every guarded event is denied; `hookexec check` shows them",
            counted(errors.len(), "error")
        ));
    }
    for problem in check.left_out.iter() {
        section.problem(problem.to_string());
    }
    let mut untrusted = Vec::new();
    for hook in check.configured().filter(|hook| hook.enabled) {
        let title = format!("`{}` ({})", hook.label(), hook.location);
        if let Some(why) = &hook.untrusted {
            let text = format!("it fails: {}; see `hookexec trust`", why.cause);
            section.about(&title, Grade::Problem, text);
            untrusted.push(hook.location.path());
        }
        for problem in missing(hook, project) {
            section.about(&title, Grade::Problem, problem.message);
            troubled.push(hook.location.path());
        }
    }
    troubled.extend(&untrusted);
    // A file that is not approved may have no hook, or be broken as well.
    for file in &check.failed {
        let path = file.location.path();
        let is_counted = errors.iter().any(|error| file.cause.contains(&error.message));
        if !path.exists() || !is_counted && !untrusted.contains(&path) {
            section.problem(format!("{}: {}; {}", path.display(), file.cause, file.remedy));
            troubled.push(path);
        }
    }
    if check.files.is_empty() && errors.is_empty() {
        section.problem("no hooks file was found: nothing is guarded");
    }
    for file in check.files.iter().filter(|file| !troubled.contains(&file.as_path())) {
        section.ok(file.display().to_string());
    }
    section
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
