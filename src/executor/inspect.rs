//! Finds what is wrong with the hooks of a configuration, without an executor that runs.

use std::sync::Arc;

use super::build::ExecutorBuilder;
use super::worst::WorstCase;
use crate::config::{Diagnostic, Diagnostics, Hook};
use crate::registry::Registry;

/// The findings about the hooks of a configuration.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The hooks in config order; disabled ones included.
    pub hooks: Vec<Arc<Hook>>,
    /// The problems of the hooks that can't be built, and how the time of the others is bounded.
    pub problems: Diagnostics,
    /// How many problems keep a hook from being built.
    pub unbuilt: usize,
    /// How long the hooks of each event may take, without events that only have background hooks.
    pub worst_cases: Vec<WorstCase>,
}

impl ExecutorBuilder {
    /// Builds what can be built, and returns what is wrong with the rest. Hooks that wait for an approval
    /// are built, to show what an approval would bring. Nothing is started.
    pub fn inspect(self) -> Inspection {
        let (executor, mut problems) = self.build_partially();
        let unbuilt = problems.iter().count();
        let worst_cases = executor.worst_cases();
        for case in &worst_cases {
            problems.extend(case.beyond_deadline());
        }
        Inspection { hooks: executor.configured, problems, unbuilt, worst_cases }
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
