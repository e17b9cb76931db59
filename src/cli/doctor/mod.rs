//! `hookexec doctor`: whether the hooks really guard what they are meant to guard.

mod codex;
mod installed;

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use hookexec::agents::Agent;
use hookexec::config::Severity;
use hookexec::event::FailureMode;
use hookexec::executor::Check;
use hookexec::{Event, Executor, Registry};

use super::config::ConfigArgs;
use super::error::CommandError;
use super::exit::Exit;
use super::output;
use super::plain;
use super::report::counted;
use super::scripts::missing;
use super::settings::{Scope, Settings};

/// Finds out whether the hooks are live: sound, approved, installed and seen firing
///
/// Looks at the hooks files, at the scripts they name, and at the settings of each coding agent that
/// is found here. Exits with 1 when a guard is not live.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec doctor claude-code")]
pub(crate) struct Args {
    /// Only these agents, and each of them must have hookexec installed
    #[arg(value_name = "AGENT")]
    agents: Vec<Agent>,

    #[command(flatten)]
    config: ConfigArgs,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Fine,
    Warning,
    Problem,
}

/// What was found about one thing.
struct Finding {
    grade: Grade,
    text: String,
}

impl Finding {
    fn fine(text: impl Into<String>) -> Self {
        Self { grade: Grade::Fine, text: text.into() }
    }

    fn warning(text: impl Into<String>) -> Self {
        Self { grade: Grade::Warning, text: text.into() }
    }

    fn problem(text: impl Into<String>) -> Self {
        Self { grade: Grade::Problem, text: text.into() }
    }
}

/// Findings about one subject, with a heading.
struct Section {
    title: String,
    findings: Vec<Finding>,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let options = self.config.options()?;
        let check = Executor::check(&options, Registry::with_shipped_builtins());
        let project = options.working_dir.unwrap_or_default();
        let mut sections = vec![hooks(&check, &project)];
        for agent in Agent::all() {
            sections.extend(self.agent(agent, &check, &project));
        }
        if sections.len() == 1 {
            sections.push(Section {
                title: "Agents".to_owned(),
                findings: vec![Finding::warning("no coding agent is found here")],
            });
        }
        report(&sections)
    }

    /// Looks at one agent; at none that is not used here and nobody asked for.
    fn agent(&self, agent: Agent, check: &Check, project: &Path) -> Option<Section> {
        if !self.agents.is_empty() && !self.agents.contains(&agent) {
            return None;
        }
        if let Some(plugin) = agent.plugin() {
            let findings = installed::by_plugin(agent, plugin, self.agents.contains(&agent));
            return findings.map(|findings| Section { title: agent.title().to_owned(), findings });
        }
        let scopes = [Scope::User, Scope::Project];
        let all: Vec<_> = scopes
            .into_iter()
            .filter_map(|scope| Some((scope, Settings::of(agent, scope, project)?)))
            .collect();
        let asked = self.agents.contains(&agent);
        let used = asked || all.iter().any(|(_, settings)| settings.is_found());
        used.then(|| Section {
            title: agent.title().to_owned(),
            findings: installed::findings(agent, asked, &all, check, project),
        })
    }
}

/// Returns whether a hook on `event` is a guard: its silence would let something through.
fn guards(event: Event) -> bool {
    event.contract().failure != FailureMode::Open
}

fn hooks(check: &Check, project: &Path) -> Section {
    let mut findings = Vec::new();
    let errors = || check.problems.iter().filter(|problem| problem.severity == Severity::Error);
    if errors().next().is_some() {
        findings.push(Finding::problem(format!(
            "{} in the hooks files: nothing that is guarded passes; `hookexec check` shows them",
            counted(errors().count(), "error")
        )));
    }
    if check.files.is_empty() && errors().next().is_none() {
        findings.push(Finding::problem("there is no hooks file: nothing is guarded"));
    }
    for problem in check.left_out.iter() {
        findings.push(Finding::problem(problem.to_string()));
    }
    let mut troubled: Vec<&Path> =
        errors().filter_map(|problem| Some(problem.location.as_ref()?.path())).collect();
    let mut of_hooks = Vec::new();
    for hook in check.configured().filter(|hook| hook.enabled) {
        let title = format!("`{}` ({})", hook.label(), hook.location);
        let unapproved = hook
            .untrusted
            .is_some()
            .then(|| format!("{title} is not approved and fails: see `hookexec trust`"));
        let missing = missing(hook, project).into_iter().map(|it| format!("{title}: {}", it.what));
        let said = of_hooks.len();
        of_hooks.extend(unapproved.into_iter().chain(missing).map(Finding::problem));
        if of_hooks.len() > said {
            troubled.push(hook.location.path());
        }
    }
    let sound = check.files.iter().filter(|file| !troubled.contains(&file.as_path()));
    findings.extend(sound.map(|file| Finding::fine(file.display().to_string())));
    findings.extend(of_hooks);
    Section { title: "Hooks".to_owned(), findings }
}

fn report(sections: &[Section]) -> Result<Exit, CommandError> {
    const TITLE: Style = Style::new().bold();
    const FINE: Style = AnsiColor::Green.on_default();
    const WARNING: Style = AnsiColor::Yellow.on_default();
    const PROBLEM: Style = AnsiColor::Red.on_default().bold();
    let mut text = String::new();
    for section in sections {
        let _ = writeln!(text, "{TITLE}{}{TITLE:#}", section.title);
        for finding in &section.findings {
            let (style, word) = match finding.grade {
                Grade::Fine => (FINE, "ok"),
                Grade::Warning => (WARNING, "warning"),
                Grade::Problem => (PROBLEM, "PROBLEM"),
            };
            let _ = writeln!(text, "  {style}{word:<8}{style:#} {}", plain::line(&finding.text));
        }
    }
    let count = |grade| {
        sections.iter().flat_map(|section| &section.findings).filter(|f| f.grade == grade).count()
    };
    let (problems, warnings) = (count(Grade::Problem), count(Grade::Warning));
    let _ = writeln!(text, "{}, {}", counted(problems, "problem"), counted(warnings, "warning"));
    output::print(&text)?;
    Ok(if problems > 0 { Exit::Negative } else { Exit::Success })
}
