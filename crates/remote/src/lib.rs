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

use hookexec::{HandlerFactory, Registry};

/// The keys that are for a program which hookexec starts.
const OF_PROGRAMS: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];

/// Registers the hook types.
pub fn register(registry: &mut Registry) {
    let mcp = HandlerFactory::new(mcp::build).with_dialect();
    let hint = "an mcp hook takes `with: { server: NAME, tool: NAME }`";
    registry.register("mcp", mcp.refusing(OF_PROGRAMS, hint));
    let http = HandlerFactory::new(build_http).with_dialect();
    let hint = "an http hook takes `with: { url: https://... }`";
    registry.register("http", http.refusing(OF_PROGRAMS, hint));
    let model = HandlerFactory::new(build_model);
    let hint = "a model hook takes `with: { api: ..., url: ..., model: NAME, prompt: ... }`";
    registry.register("model", model.refusing(OF_PROGRAMS, hint));
    let receiver = HandlerFactory::new(|_, hook| receiver::build(hook));
    let keys =
        &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts", "with"];
    registry
        .register("receiver", receiver.refusing(keys, "a receiver takes nothing but a `timeout`"));
}

#[cfg(not(feature = "http"))]
fn without_http(
    _: &hookexec::HandlerEnv,
    _: &hookexec::config::Hook,
) -> hookexec::registry::BuildResult {
    use hookexec::BuildError;
    Err(BuildError::new("this hookexec was built without the feature `http`").at("type"))
}
