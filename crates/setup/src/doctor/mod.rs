//! The findings of `doctor`: whether the hooks really guard what they are meant to guard.

mod agent;
pub mod firings;
mod programs;
mod switches;

use std::path::Path;
use std::time::Duration;

use hookexec_files::source::Location;
use hookexec_files::text::counted;
use hookexec_project::Check;
use hookexec_project::policy::{Policy, now, spoken};
use serde::Serialize;

use crate::scripts::missing;

pub use agent::agents;
pub use programs::version_numbers;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// It is as it should be.
    Ok,
    /// It may be wrong.
    Warning,
    /// Hooks do not guard what they are meant to guard.
    Problem,
}

impl Grade {
    /// Returns a problem, or else a warning.
    pub fn of(is_problem: bool) -> Self {
        if is_problem { Self::Problem } else { Self::Warning }
    }
}

/// One cause, and the hooks or events that it concerns.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub grade: Grade,
    /// The hooks or events that it concerns.
    pub about: Vec<String>,
    /// The finding.
    pub text: String,
}

impl Finding {
    /// Returns it on one line.
    pub fn line(&self) -> String {
        let (text, count) = (&self.text, self.about.len());
        let shown = self.about[..count.min(6)].join(", ");
        match count {
            0 => text.clone(),
            1..=6 => format!("{shown}: {text}"),
            _ => format!("{shown} and {} more: {text}", count - 6),
        }
    }
}

/// Findings about one subject, with a heading.
#[derive(Debug, Serialize)]
pub struct Section {
    /// The subject.
    pub title: String,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl Section {
    /// Returns a section without findings.
    pub fn new(title: &str) -> Self {
        Self { title: title.to_owned(), findings: Vec::new() }
    }

    /// Adds a good finding.
    pub fn ok(&mut self, text: impl Into<String>) {
        self.add(Grade::Ok, text);
    }

    /// Adds a warning.
    pub fn warning(&mut self, text: impl Into<String>) {
        self.add(Grade::Warning, text);
    }

    /// Adds a problem.
    pub fn problem(&mut self, text: impl Into<String>) {
        self.add(Grade::Problem, text);
    }

    /// Adds a finding.
    pub fn add(&mut self, grade: Grade, text: impl Into<String>) {
        self.findings.push(Finding { grade, about: Vec::new(), text: text.into() });
    }

    /// Adds a finding about a hook or an event. Findings that differ in that alone become one line.
    pub fn about(&mut self, about: &str, grade: Grade, text: impl Into<String>) {
        let text = text.into();
        for known in &mut self.findings {
            if !known.about.is_empty() && known.grade == grade && known.text == text {
                known.about.push(about.to_owned());
                return;
            }
        }
        self.findings.push(Finding { grade, about: vec![about.to_owned()], text });
    }

    /// Returns how many findings are as bad as that.
    pub fn count(&self, grade: Grade) -> usize {
        self.findings.iter().filter(|finding| finding.grade == grade).count()
    }
}

/// Returns what is found about the hooks files.
pub fn hooks(check: &Check, project: &Path) -> Section {
    let mut section = Section::new("Hooks");
    let (mut troubled, mut errors) = (Vec::new(), Vec::new());
    for problem in check.problems.iter() {
        if problem.is_error() {
            errors.push(&problem.message);
            troubled.extend(problem.location.as_ref().map(Location::path));
        }
    }
    if !errors.is_empty() {
        section.problem(format!(
            "{} in the hooks files: every guarded event is denied; `hookexec check` shows them",
            counted(errors.len(), "error")
        ));
    }
    for problem in check.left_out.iter() {
        section.problem(problem.to_string());
    }
    for file in &check.failed {
        let path = file.location.path();
        troubled.push(path);
        // The errors of a file that can't be loaded are counted above.
        if !path.exists() || !errors.iter().any(|error| file.cause.contains(*error)) {
            section.problem(format!("{}: {}; {}", path.display(), file.cause, file.remedy));
        }
    }
    for hook in check.configured() {
        for problem in missing(hook, project) {
            let title = format!("`{}` ({})", hook.label(), hook.location);
            section.about(&title, Grade::Problem, problem.with_hint());
            troubled.push(hook.location.path());
        }
    }
    let guards = check.configured().next().is_some() || !check.failed.is_empty();
    if errors.is_empty() && (check.files.is_empty() || !guards) {
        let lacking =
            if check.files.is_empty() { "hooks file was found" } else { "hook is configured" };
        section.problem(format!("no {lacking}: nothing is guarded; run `hookexec init --user`"));
    }
    for file in &check.files {
        if !troubled.contains(&file.as_path()) {
            section.ok(file.display().to_string());
        }
    }
    section
}

/// Returns what is known about the policies, if there are some.
pub fn policies(policies: &[Policy]) -> Option<Section> {
    let mut section = Section::new("Policies");
    for policy in policies {
        let (source, state) = (&policy.settings.source, &policy.state);
        if let Some(failure) = &policy.failure {
            let place = &policy.settings.location;
            section.problem(format!(
                "{place}: {failure}. Nothing that is guarded passes: run `hookexec policy refresh`"
            ));
        } else if let Some(in_force) = &state.in_force {
            // After this time no timer seems to refresh the policy.
            let is_old = in_force.age() > Duration::from_hours(24);
            let (from, age) = (&in_force.source, spoken(in_force.age()));
            let (version, digest) = (in_force.version, &in_force.digest);
            section.add(
                if is_old { Grade::Warning } else { Grade::Ok },
                format!("{from}: version {version} (sha256:{digest}), which the source last had {age} ago"),
            );
            if policy.current().is_none() {
                section.warning(format!(
                    "{source}: this source, with this key, has given no policy yet; the one of {from} stays \
                     in force"
                ));
            }
        }
        if !state.problem.is_empty() {
            let ago = spoken(Duration::from_secs(now().saturating_sub(state.failed_at)));
            let problem = &state.problem;
            section.warning(format!("{source}: the last refresh failed {ago} ago: {problem}"));
        }
    }
    if section.findings.is_empty() { None } else { Some(section) }
}
