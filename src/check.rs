//! Finds everything that is wrong with a configuration in one run.

mod worst;

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Assembly, AuditSettings, Diagnostic, Diagnostics, FailedFile, Hook, Policy};
use crate::executor::Executor;
use crate::load::{LoadOptions, Loading};
use crate::registry::Registry;
use crate::trust::ProjectFile;

pub use worst::WorstCase;

/// The findings about a configuration.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
    /// The number of valid hooks, disabled ones included.
    pub hooks: usize,
    /// All errors and warnings, in the order of the files.
    pub problems: Diagnostics,
    /// The problems among them that concern files with nearly the right name, which are not read.
    pub left_out: Diagnostics,
    /// The files that fail: those that can't be loaded, that no person approved, or that were approved
    /// and are gone.
    pub failed: Vec<FailedFile>,
    /// How long the hooks of each event may take.
    pub worst_cases: Vec<WorstCase>,
    /// The logs of decisions.
    pub logs: Vec<AuditSettings>,
    /// The policies that come from elsewhere.
    pub policies: Vec<Policy>,
    configured: Vec<Arc<Hook>>,
}

impl Check {
    /// Returns the hooks that could be read, in config order; disabled ones included.
    pub fn configured(&self) -> impl ExactSizeIterator<Item = &Hook> {
        self.configured.iter().map(AsRef::as_ref)
    }

    /// Adds the caller's own problems, each in its place among the others.
    pub fn add(&mut self, problems: impl IntoIterator<Item = Diagnostic>) {
        self.problems.extend(problems);
        self.problems.sort(&self.files);
    }
}

impl Executor {
    /// Reads the files of all layers, builds their hooks, and returns everything that is wrong.
    ///
    /// [`Config::load`](crate::Config::load) ends with the files' own errors and
    /// [`ExecutorBuilder::build`](crate::ExecutorBuilder::build) with those of the handlers; this
    /// goes on after both, so that one run shows all problems of a file. Nothing is started.
    pub fn check(options: &LoadOptions, registry: Registry) -> Check {
        let options = &LoadOptions { only_show: true, ..options.clone() };
        let Loading { assembly, project_files, .. } = Loading::layers(options);
        let Assembly { config, mut problems, broken_hooks, .. } = assembly.complete();
        let (files, hooks) = (config.files.clone(), config.hooks.len());
        let (left_out, failed) = (config.left_out.clone(), config.failed.clone());
        let logs = config.audit.clone();
        let policies = config.policies.clone();
        problems.extend(project_files.iter().filter_map(ProjectFile::warning));
        for hook in &broken_hooks {
            // No handler is built for a broken hook: its type and its keys are checked alone.
            if !hook.kind.is_empty() {
                let mistakes = registry.mistakes(hook).into_iter();
                problems.extend(mistakes.flat_map(|mistake| mistake.of_hook(hook)));
            }
        }
        let mut builder = Self::builder(config).registry(registry);
        if let Some(directory) = &options.working_dir {
            builder = builder.working_dir(directory);
        }
        let (executor, unbuilt) = builder.build_partially();
        let broken = unbuilt.iter().count();
        problems.extend(unbuilt);
        let worst_cases = executor.worst_cases();
        problems.extend(worst_cases.iter().filter_map(WorstCase::beyond_deadline));
        problems.sort(&files);
        let configured = executor.configured.clone();
        let hooks = hooks.saturating_sub(broken);
        Check { files, hooks, problems, left_out, failed, worst_cases, logs, policies, configured }
    }
}
