//! The findings of `doctor`: whether the hooks really guard what they are meant to guard.

mod agent;
mod agent_program;
mod policies;
mod programs;
mod section;
mod switches;

use std::path::Path;

use hookexec::config::Severity;
use hookexec_files::text::counted;
use hookexec_project::Check;

use crate::scripts::missing;
pub use agent::{Visit, firings, unknown_tools};
pub use policies::section as policies;
pub use section::{Finding, Grade, Section};

/// Returns what is found about the hooks files.
pub fn hooks(check: &Check, project: &Path) -> Section {
    let mut section = Section::new("Hooks");
    let mut troubled: Vec<&Path> = Vec::new();
    let mut errors = check.problems.iter().collect::<Vec<_>>();
    errors.retain(|problem| problem.severity == Severity::Error);
    if !errors.is_empty() {
        section.problem(format!(
            "{} in the hooks files: every guarded event is denied; `hookexec check` shows them",
            counted(errors.len(), "error")
        ));
    }
    for error in &errors {
        if let Some(location) = &error.location {
            troubled.push(location.path());
        }
    }
    for problem in check.left_out.iter() {
        section.problem(problem.to_string());
    }
    for file in &check.failed {
        let path = file.location.path();
        troubled.push(path);
        // The errors of a file that can't be loaded are counted above.
        if !path.exists() || !errors.iter().any(|error| file.cause.contains(&error.message)) {
            section.problem(format!("{}: {}; {}", path.display(), file.cause, file.remedy));
        }
    }
    for hook in check.configured() {
        for problem in missing(hook, project) {
            let title = format!("`{}` ({})", hook.label(), hook.location);
            section.about(&title, Grade::Problem, problem.message);
            troubled.push(hook.location.path());
        }
    }
    if check.files.is_empty() && errors.is_empty() {
        section.problem("no hooks file was found: nothing is guarded; run `hookexec init --user`");
    }
    for file in &check.files {
        if !troubled.contains(&file.as_path()) {
            section.ok(file.display().to_string());
        }
    }
    section
}
