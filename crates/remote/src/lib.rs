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
mod endpoint;
#[cfg(feature = "http")]
mod http;
mod mcp;
#[cfg(feature = "http")]
mod model;
#[cfg(feature = "http")]
mod post;
mod receiver;
mod request;

#[cfg(feature = "http")]
pub use http::{Ask, Client, Reply, tls_for};
pub use receiver::receiver_socket;
#[cfg(feature = "http")]
use {model::build as build_model, post::build as build_http};
#[cfg(not(feature = "http"))]
use {without_http as build_http, without_http as build_model};

use hookexec::registry::{HandlerFactory, Registry};

/// The keys that are for a program which hookexec starts.
const OF_PROGRAMS: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];

/// Registers the hook types.
pub fn register(registry: &mut Registry) {
    registry.register("mcp", mcp_hooks());
    registry.register("receiver", receiver_hooks());
    registry.register("http", http_hooks());
    registry.register("model", model_hooks());
}

fn mcp_hooks() -> HandlerFactory {
    HandlerFactory::new(mcp::build)
        .with_dialect()
        .refusing(OF_PROGRAMS, "an mcp hook takes `with: { server: NAME, tool: NAME }`")
}

fn receiver_hooks() -> HandlerFactory {
    HandlerFactory::new(|_, hook| receiver::build(hook)).refusing(
        &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts", "with"],
        "a receiver takes nothing but a `timeout`",
    )
}

fn http_hooks() -> HandlerFactory {
    HandlerFactory::new(build_http)
        .with_dialect()
        .refusing(OF_PROGRAMS, "an http hook takes `with: { url: https://... }`")
}

fn model_hooks() -> HandlerFactory {
    HandlerFactory::new(build_model).refusing(
        OF_PROGRAMS,
        "a model hook takes `with: { api: ..., url: ..., model: NAME, prompt: ... }`",
    )
}

#[cfg(not(feature = "http"))]
fn without_http(
    _: &hookexec::registry::HandlerEnv,
    _: &hookexec::config::Hook,
) -> hookexec::registry::BuildResult {
    use hookexec::handler::BuildError;
    Err(BuildError::new("this hookexec was built without the feature `http`").at("type"))
}
