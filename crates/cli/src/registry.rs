//! Every hook type, builtin, dialect and log of the command, in one list.

use hookexec::Registry;

/// Returns a registry with all of them.
pub(crate) fn all() -> Registry {
    let mut registry = Registry::new();
    hookexec_agents::register(&mut registry);
    hookexec_builtins::register(&mut registry);
    hookexec_remote::register(&mut registry);
    registry.record_by(hookexec_project::log::recorder);
    registry
}
