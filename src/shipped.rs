//! Registers the shipped hook types.

use crate::handlers::{builtin, command, process};
use crate::registry::{CommandKey, HandlerFactory, Registry};

impl Registry {
    /// Returns a registry with the types `command`, `builtin` and `process`, without builtins.
    pub fn new() -> Self {
        let mut registry = Self::empty();
        registry.register("command", command_hooks());
        registry.register("builtin", builtin_hooks());
        registry.register("process", process_hooks());
        registry
    }
}

fn command_hooks() -> HandlerFactory {
    let wanted = "what to run: `command: ./check.sh` or `command: [python3, check.py]`";
    HandlerFactory::new(|env, hook| {
        command::build(env.words(hook), &env.working_dir, &env.env, hook)
    })
    .with_command(CommandKey::Program(wanted))
    .with_dialect()
    .refusing(&["with"], "it holds the parameters of other hook types; use `args`")
}

fn builtin_hooks() -> HandlerFactory {
    HandlerFactory::new(|env, hook| builtin::build(&env.registry.builtins, env.counter(hook), hook))
        .with_command(CommandKey::Name("the name of the builtin: `command: add_date`"))
        .refusing(
            &["env", "inherit_env", "working_dir", "shell", "strict_output"],
            "a builtin starts no program and prints nothing",
        )
}

fn process_hooks() -> HandlerFactory {
    HandlerFactory::new(|env, hook| process::build(&env.processes, hook))
        .with_command(CommandKey::Name("the name of an entry of `processes:`: `command: weather`"))
        .refusing(
            &["args", "env", "inherit_env", "working_dir", "shell", "max_output", "with"],
            "remove it: the entry of `processes:` says what runs, and how",
        )
}
