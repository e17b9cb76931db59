//! Which hooks are one and the same.

use std::hash::{Hash, Hasher};

use super::model::{Command, Hook};

/// A hook that equals those of its layer that do the same in the same place: of those that match an
/// input, only the first runs.
#[derive(Clone, Copy)]
pub(crate) struct Identity<'h>(pub(crate) &'h Hook);

impl Identity<'_> {
    /// Returns what makes the difference.
    fn parts(&self) -> impl PartialEq {
        let hook = self.0;
        (
            (hook.event, &hook.kind, &hook.command, &hook.args, &hook.name, hook.timeout),
            (&hook.env, &hook.working_dir, &hook.shell, &hook.inherit_env, hook.max_output),
            (hook.on_error, hook.on_exit_code, hook.strict_output, hook.phase, hook.mode),
            (&hook.when, &hook.limit, &hook.rollout, &hook.with, &hook.untrusted),
            // Two matchers may lead to one hook: it still runs once. In a dialect one call may be
            // several tools, of which each matcher chooses its own.
            hook.dialect.as_ref().map(|dialect| (dialect, &hook.matcher)),
            // A script may live beside its file (`$HOOKEXEC_CONFIG_DIR`).
            hook.location.directory(),
            // A project must not replace the hook of another layer: its own limits would count.
            hook.layer(),
        )
    }
}

impl PartialEq for Identity<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Identity<'_> {}

impl Hash for Identity<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Hooks that are alike in these and differ in others are few.
        let texts = match &self.0.command {
            Some(Command::Text(text)) => std::slice::from_ref(text),
            Some(Command::Argv(argv)) => argv,
            None => &[],
        };
        for text in texts.iter().chain(&self.0.args).chain(&self.0.name) {
            state.write(text.as_bytes());
        }
    }
}
