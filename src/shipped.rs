//! Registers the shipped hook types.

use crate::handlers::{builtin, command, process};
use crate::registry::{CommandKey, HandlerFactory, Registry};

impl Registry {
    /// Returns a registry with the types `command`, `builtin` and `process`, without builtins.
    pub fn new() -> Self {
        let wanted = "what to run: `command: ./check.sh` or `command: [python3, check.py]`";
        let command = HandlerFactory::new(|env, hook| {
            command::build(env.words(hook), &env.working_dir, &env.env, hook)
        })
        .with_command(CommandKey::Program(wanted))
        .with_dialect()
        .refusing(&["with"], "it holds the parameters of other hook types; use `args`");
        let builtin = HandlerFactory::new(|env, hook| {
            builtin::build(&env.registry.builtins, env.counter(hook), hook)
        })
        .with_command(CommandKey::Name("the name of the builtin: `command: add_date`"))
        .refusing(
            &["env", "inherit_env", "working_dir", "shell", "strict_output"],
            "a builtin starts no program and prints nothing",
        );
        let wanted = "the name of an entry of `processes:`: `command: weather`";
        let process = HandlerFactory::new(|env, hook| process::build(&env.processes, hook))
            .with_command(CommandKey::Name(wanted))
            .refusing(
                &["args", "env", "inherit_env", "working_dir", "shell", "max_output", "with"],
                "remove it: the entry of `processes:` says what runs, and how",
            );
        let mut registry = Self::empty();
        registry.register("command", command).register("builtin", builtin);
        registry.register("process", process);
        registry
    }
}
