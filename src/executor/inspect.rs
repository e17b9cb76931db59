//! Finds what is wrong with the hooks of a configuration, without an executor that runs.

use std::sync::Arc;

use super::build::ExecutorBuilder;
use crate::config::{Diagnostic, Diagnostics, Hook};
use crate::registry::Registry;

/// The findings about the hooks of a configuration.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The hooks in config order; disabled ones included.
    pub hooks: Vec<Arc<Hook>>,
    /// The problems of the hooks that can't be built.
    pub problems: Diagnostics,
    /// How many problems keep a hook from being built.
    pub unbuilt: usize,
}

impl ExecutorBuilder {
    /// Builds what can be built, and returns what is wrong with the rest. Hooks that wait for an approval
    /// are built, to show what an approval would bring. Nothing is started.
    pub fn inspect(self) -> Inspection {
        let (executor, problems) = self.build_partially();
        let unbuilt = problems.iter().count();
        Inspection { hooks: executor.configured, problems, unbuilt }
    }
}

impl Registry {
    /// Returns the mistakes of a hook whose type or keys are wrong, without building its handler.
    pub fn mistakes_of(&self, hook: &Hook) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for mistake in self.mistakes(hook) {
            found.extend(mistake.of_hook(hook));
        }
        found
    }
}
