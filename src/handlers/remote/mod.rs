//! The hook types whose answer comes from a server or from a person: `http`, `mcp`, `model`, `receiver`.

#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
mod http;
pub(crate) mod mcp;
#[cfg(feature = "http")]
mod model;
pub(crate) mod receiver;
mod request;
#[cfg(feature = "http")]
mod signature;

use crate::registry::{HandlerFactory, Registry};

/// The keys that are for a program which hookexec starts.
const OF_PROGRAMS: &[&str] =
    &["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];

/// Registers the hook types.
pub(crate) fn register(registry: &mut Registry) {
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
    #[cfg(feature = "http")]
    let factory = HandlerFactory::new(http::build);
    #[cfg(not(feature = "http"))]
    let factory = HandlerFactory::new(without_http);
    factory.with_dialect().refusing(OF_PROGRAMS, "an http hook takes `with: { url: https://... }`")
}

fn model_hooks() -> HandlerFactory {
    #[cfg(feature = "http")]
    let factory = HandlerFactory::new(model::build);
    #[cfg(not(feature = "http"))]
    let factory = HandlerFactory::new(without_http);
    factory.refusing(
        OF_PROGRAMS,
        "a model hook takes `with: { api: ..., url: ..., model: NAME, prompt: ... }`",
    )
}

#[cfg(not(feature = "http"))]
fn without_http(
    _: &crate::registry::HandlerEnv,
    _: &crate::config::Hook,
) -> crate::registry::BuildResult {
    use crate::handler::BuildError;
    Err(BuildError::new("this hookexec was built without the feature `http`").at("type"))
}
