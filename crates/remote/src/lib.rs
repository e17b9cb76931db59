//! The hook types whose answer comes from a server or from a person: `http`, `mcp`, `model` and
//! `receiver`.
//!
//! [`register`] adds them to a registry. `http`, `model` and the address of an MCP server need the
//! feature `http`.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "packages of this workspace use it"
)]

#[cfg(feature = "http")]
mod client;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
mod http_hook;
mod mcp;
#[cfg(feature = "http")]
mod model;
mod receiver;
mod request;

#[cfg(feature = "http")]
pub use client::{Ask, Client, Reply, tls_for};
pub use receiver::receiver_socket;
#[cfg(feature = "http")]
use {http_hook::build as build_http, model::build as build_model};
#[cfg(not(feature = "http"))]
use {without_http as build_http, without_http as build_model};

use hookexec::{HandlerFactory, Registry};

/// The keys that are for a program which hookexec starts.
const OF_PROGRAMS: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];
/// These, and the key that other types of this package have.
const OF_PROGRAMS_AND_WITH: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts", "with"];

/// Registers the hook types.
pub fn register(registry: &mut Registry) {
    let mcp_hooks = HandlerFactory::new(mcp::build).with_dialect();
    let hint = "an mcp hook takes `with: { server: NAME, tool: NAME }`";
    registry.register("mcp", mcp_hooks.refusing(OF_PROGRAMS, hint));
    let http_hooks = HandlerFactory::new(build_http).with_dialect();
    let hint = "an http hook takes `with: { url: https://... }`";
    registry.register("http", http_hooks.refusing(OF_PROGRAMS, hint));
    let model_hooks = HandlerFactory::new(build_model);
    let hint = "a model hook takes `with: { api: ..., url: ..., model: NAME, prompt: ... }`";
    registry.register("model", model_hooks.refusing(OF_PROGRAMS, hint));
    let receivers = HandlerFactory::new(|_, hook| receiver::build(hook));
    let hint = "a receiver takes nothing but a `timeout`";
    registry.register("receiver", receivers.refusing(OF_PROGRAMS_AND_WITH, hint));
}

#[cfg(not(feature = "http"))]
fn without_http(
    _: &hookexec::HandlerEnv,
    _: &hookexec::config::Hook,
) -> hookexec::registry::BuildResult {
    use hookexec::BuildError;
    Err(BuildError::new("this hookexec was built without the feature `http`").at("type"))
}
