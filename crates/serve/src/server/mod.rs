//! The engine as a long-lived server: JSON-RPC 2.0, one object a line, over stdio or a Unix socket.
//!
//! [`Server`] answers any number of clients at once; `engine` keeps the configuration and loads it
//! anew when its files change; `Socket` is the private place where clients find it; `client`
//! asks there. `docs/serve.md` describes the protocol.
//!
//! Nothing in here grows with what clients do: connections, dispatches, line lengths and unsent
//! answers all have limits, and what is over one of them is answered at once with an error.

mod callback;
mod client;
pub(crate) mod connection;
mod engine;
mod host;
mod listener;
mod params;
pub(crate) mod protocol;
#[cfg_attr(unix, path = "socket/unix.rs")]
#[cfg_attr(windows, path = "socket/windows.rs")]
pub(crate) mod socket;

use thiserror::Error;

pub use callback::register_host_builtin;
pub use client::{NoVerdict, Question, Reply, ask, exchange, ping, remedy};
pub use engine::{Engine, Load, Loaded, Reading, tell_absent};
pub use listener::{Limits, Server};
pub(crate) use protocol::ErrorCode;
pub use socket::{Socket, Stream};

/// The version that a client and its server must share: a verdict may have keys that another version
/// does not know.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A problem with the socket of a server, or with the place where it would be.
#[derive(Debug, Error)]
#[error("{problem}")]
pub struct ListenError {
    problem: String,
    /// An instruction, if there is one.
    pub hint: Option<String>,
}

impl ListenError {
    fn new(problem: String, hint: &str) -> Self {
        Self { problem, hint: Some(hint.to_owned()) }
    }
}
