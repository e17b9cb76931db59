//! The handlers that come with the crate, a hook type each.

pub(crate) mod builtin;
pub(crate) mod command;
pub mod depth;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod mcp;
#[cfg(feature = "http")]
pub(crate) mod model;
mod payloads;
pub(crate) mod process;
pub(crate) mod receiver;
mod request;
#[cfg(feature = "http")]
mod signature;

use crate::config::Hook;
use crate::handler::BuildError;

/// Refuses keys that mean something to a program only.
fn refuse_keys_of_programs(hook: &Hook, hint: &str) -> Result<(), BuildError> {
    const KEYS: [&str; 7] =
        ["command", "args", "env", "inherit_env", "working_dir", "shell", "scripts"];
    let Some(key) = KEYS.into_iter().find(|key| hook.key_locations.contains_key(key)) else {
        return Ok(());
    };
    let article = if hook.kind == "http" { "an" } else { "a" };
    let message = format!("`{key}` has no meaning for {article} {} hook", hook.kind);
    Err(BuildError::new(message).at(key).hint(hint))
}
