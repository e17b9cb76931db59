//! Finds everything that is wrong with a configuration in one run.

use std::path::PathBuf;
use std::sync::Arc;

use hookexec::config::{Diagnostic, Diagnostics, FailedFile, Hook};
use hookexec::{Executor, Registry};

use crate::load::{LoadOptions, Loading};
use crate::policy::Policy;

/// The findings about a configuration.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
    /// The number of hooks, broken and disabled ones included.
    pub hooks: usize,
    /// All errors and warnings, in the order of the files.
    pub problems: Diagnostics,
    /// The problems among them that concern files with nearly the right name, which are not read.
    pub left_out: Diagnostics,
    /// The files that fail: those that can't be loaded, that no person approved, or that were approved
    /// and are gone.
    pub failed: Vec<FailedFile>,
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

/// Reads the files of all layers, builds their hooks, and returns everything that is wrong.
///
/// [`load`](crate::load()) ends with the files' own errors and
/// [`ExecutorBuilder::build`](hookexec::ExecutorBuilder::build) with those of the handlers. This goes on
/// after both, so that one run shows all problems of a file. Nothing is started.
pub fn check(options: &LoadOptions, registry: Registry) -> Check {
    let options = &LoadOptions { only_show: true, ..options.clone() };
    let Loading { builder, policies, .. } = Loading::layers(options);
    let (config, mut problems, broken_hooks) = builder.draft();
    let count = config.hooks.len() + broken_hooks.len();
    let files = config.files.clone();
    let (left_out, failed) = (config.left_out.clone(), config.failed.clone());
    for hook in &broken_hooks {
        // No handler is built for a broken hook: its type and its keys are checked alone.
        if !hook.kind.is_empty() {
            problems.extend(registry.mistakes_of(hook));
        }
    }
    let mut executor = Executor::builder(config).registry(registry);
    if let Some(directory) = &options.working_dir {
        executor = executor.working_dir(directory);
    }
    let (hooks, unbuilt) = executor.inspect();
    problems.extend(unbuilt);
    problems.sort(&files);
    Check { files, hooks: count, problems, left_out, failed, policies, configured: hooks }
}
