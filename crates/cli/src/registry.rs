//! Every hook type, builtin, dialect and log of the command, in one list.

use hookexec::Registry;

/// Returns a registry with all of them.
pub(crate) fn all() -> Registry {
    let mut registry = Registry::with_shipped_builtins();
    registry.record_by(hookexec_project::log::recorder);
    registry
}
