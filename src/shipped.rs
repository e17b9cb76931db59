//! Registers the shipped hook types, dialect, reader of tool calls and log.

use std::borrow::Cow;

use crate::audit;
use crate::calls::KnownTools;
use crate::dialect::claude_code::ClaudeCode;
use crate::handlers::payloads::words;
use crate::handlers::{self, builtin, command, process, receiver};
use crate::registry::{Build, CommandKey, HandlerFactory, Registry};

/// The hook types that come with the crate.
const SHIPPED_TYPES: &[(&str, HandlerFactory)] = &[
    (
        "command",
        HandlerFactory {
            build: Build::Shipped(|env, hook| {
                let words = words(env.registry.dialect_of(hook), hook);
                command::build(&env.working_dir, &env.env, words, hook)
            }),
            command: CommandKey::Program(
                "what to run: `command: ./check.sh` or `command: [python3, check.py]`",
            ),
            refused: Cow::Borrowed(&["with"]),
            hint: "it holds the parameters of other hook types; use `args`",
            own: &[],
        },
    ),
    (
        "builtin",
        HandlerFactory {
            build: Build::Shipped(|env, hook| {
                let registry = &env.registry;
                let find = |name: &str| registry.builtin(name);
                builtin::build(find, || registry.builtin_names(), &env.counts, hook)
            }),
            command: CommandKey::Name("the name of the builtin: `command: protect_paths`"),
            refused: Cow::Borrowed(&[
                "env", "inherit_env", "working_dir", "shell", "strict_output", "dialect", "with",
            ]),
            hint: "a builtin takes its parameters in `args`; it starts no program and prints nothing",
            own: &[],
        },
    ),
    (
        "process",
        HandlerFactory {
            build: Build::Shipped(|env, hook| process::build(&env.processes, hook)),
            command: CommandKey::Name("the name of an entry of `processes:`: `command: weather`"),
            refused: Cow::Borrowed(&[
                "args", "env", "inherit_env", "working_dir", "shell", "max_output", "dialect",
                "with",
            ]),
            hint: "remove it: the entry of `processes:` says what runs, and how",
            own: &[],
        },
    ),
    (
        "mcp",
        HandlerFactory {
            build: Build::Shipped(|env, hook| {
                let words = words(env.registry.dialect_of(hook), hook);
                handlers::mcp::build(&env.env, &env.processes, words, hook)
            }),
            command: CommandKey::Optional,
            refused: Cow::Borrowed(OF_PROGRAMS),
            hint: "an mcp hook takes `with: { server: NAME, tool: NAME }`",
            own: &[],
        },
    ),
    (
        "receiver",
        HandlerFactory {
            build: Build::Shipped(|_, hook| receiver::build(hook)),
            command: CommandKey::Optional,
            refused: Cow::Borrowed(&[
                "command", "args", "env", "inherit_env", "working_dir", "shell", "scripts",
                "dialect", "with",
            ]),
            hint: "a receiver takes nothing but a `timeout`",
            own: &[],
        },
    ),
    (
        "http",
        HandlerFactory {
            #[cfg(feature = "http")]
            build: Build::Shipped(|env, hook| {
                handlers::http::build(&env.env, words(env.registry.dialect_of(hook), hook), hook)
            }),
            #[cfg(not(feature = "http"))]
            build: Build::Shipped(without_http),
            command: CommandKey::Optional,
            refused: Cow::Borrowed(OF_PROGRAMS),
            hint: "an http hook takes `with: { url: https://... }`",
            own: &[],
        },
    ),
    (
        "model",
        HandlerFactory {
            #[cfg(feature = "http")]
            build: Build::Shipped(|env, hook| handlers::model::build(&env.env, &env.counts, hook)),
            #[cfg(not(feature = "http"))]
            build: Build::Shipped(without_http),
            command: CommandKey::Optional,
            refused: Cow::Borrowed(&[
                "command", "args", "env", "inherit_env", "working_dir", "shell", "scripts",
                "dialect",
            ]),
            hint: "a model hook takes `with: { api: ..., url: ..., model: NAME, prompt: ... }`",
            own: &[],
        },
    ),
];

/// The keys that are for a program which hookexec starts.
const OF_PROGRAMS: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];

#[cfg(not(feature = "http"))]
fn without_http(
    _: &crate::registry::HandlerEnv,
    _: &crate::config::Hook,
) -> crate::registry::BuildResult {
    use crate::handler::BuildError;
    Err(BuildError::new("this hookexec was built without the feature `http`").at("type"))
}

impl Registry {
    /// Returns a registry with the types `command`, `builtin`, `process`, `mcp`, `receiver`, `http` and
    /// `model`, without builtins. The last two need the feature `http`.
    pub fn new() -> Self {
        let mut registry = Self::empty();
        for (kind, factory) in SHIPPED_TYPES {
            registry.register(*kind, factory.clone());
        }
        registry.register_dialect(&ClaudeCode);
        registry.describe_calls_by(&KnownTools);
        registry.record_by(audit::recorder);
        registry
    }
}
