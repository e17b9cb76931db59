//! The registry of the command: every hook type, builtin and dialect.

use hookexec::Registry;

pub(crate) fn everything() -> Registry {
    let mut registry = Registry::new();
    hookexec_agents::register(&mut registry);
    hookexec_builtins::register(&mut registry);
    hookexec_remote::register(&mut registry);
    registry
}
