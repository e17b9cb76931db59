//! Which keys the hook types take.

/// A hook type, and the keys of a hook that mean nothing to it.
pub(crate) struct HookType {
    /// Its name; empty for the types that a program registers.
    pub(crate) name: &'static str,
    /// The keys that a hook of this type must not have.
    pub(super) refused: &'static [&'static str],
    /// What to do about such a key.
    pub(super) hint: &'static str,
}

/// The hook types that come with the crate.
pub(crate) const SHIPPED_TYPES: &[HookType] = &[
    HookType {
        name: "command",
        refused: &["with"],
        hint: "it holds the parameters of other hook types; use `args`",
    },
    HookType {
        name: "builtin",
        refused: &[
            "env", "inherit_env", "working_dir", "shell", "strict_output", "dialect", "with",
        ],
        hint: "a builtin takes its parameters in `args`; it starts no program and prints nothing",
    },
    HookType {
        name: "process",
        refused: &[
            "args", "env", "inherit_env", "working_dir", "shell", "max_output", "dialect", "with",
        ],
        hint: "remove it: the entry of `processes:` says what runs, and how",
    },
    HookType {
        name: "http",
        refused: PROGRAM,
        hint: "an http hook takes `with: { url: https://... }`",
    },
    HookType {
        name: "mcp",
        refused: PROGRAM,
        hint: "an mcp hook takes `with: { server: NAME, tool: NAME }`",
    },
    HookType {
        name: "model",
        refused: &[
            "command", "args", "env", "inherit_env", "working_dir", "shell", "scripts", "dialect",
        ],
        hint: "a model hook takes `with: { api: ..., url: ..., model: NAME, prompt: ... }`",
    },
    HookType {
        name: "receiver",
        refused: &[
            "command", "args", "env", "inherit_env", "working_dir", "shell", "scripts", "dialect",
            "with",
        ],
        hint: "a receiver takes nothing but a `timeout`",
    },
];

/// The keys that are for a program which hookexec starts.
const PROGRAM: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];

/// Any type that a program registers. Only shipped types read and answer in a dialect.
const REGISTERED: HookType =
    HookType { name: "", refused: &["dialect"], hint: "only command, http and mcp hooks have one" };

impl HookType {
    /// Returns the shipped type of this name, or what holds for any other type.
    pub(super) fn named(name: &str) -> &'static Self {
        SHIPPED_TYPES.iter().find(|shipped| shipped.name == name).unwrap_or(&REGISTERED)
    }

    /// Returns whether a hook of this type can't do without a `command`.
    pub(super) fn needs_command(&self) -> bool {
        !self.name.is_empty() && !self.refused.contains(&"command")
    }
}
