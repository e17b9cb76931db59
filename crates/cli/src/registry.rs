//! Every hook type, builtin, dialect and log of the command, in one list.

use std::sync::OnceLock;

use hookexec::Registry;

/// Adds the types and builtins of the program that runs the command.
pub(crate) static OWN: OnceLock<fn(&mut Registry)> = OnceLock::new();

/// Returns a registry with all of them.
pub(crate) fn all() -> Registry {
    let mut registry = Registry::new();
    hookexec_agents::register(&mut registry);
    hookexec_builtins::register(&mut registry);
    hookexec_remote::register(&mut registry);
    registry.record_by(hookexec_project::log::recorder);
    if let Some(register) = OWN.get() {
        register(&mut registry);
    }
    registry
}
