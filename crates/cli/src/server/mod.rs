//! The engine as a long-lived server: JSON-RPC 2.0, one object a line, over stdio or a Unix socket.
//!
//! [`Server`] answers any number of clients at once; `engine` keeps the configuration and loads it
//! anew when its files change; `Socket` is the private place where clients find it; `verdict`
//! asks there. `docs/serve.md` describes the protocol.
//!
//! Nothing in here grows with what clients do: connections, dispatches, line lengths and unsent
//! answers all have limits, and what is over one of them is answered at once with an error.

mod callback;
mod client;
pub(crate) mod connection;
pub(crate) mod engine;
mod host;
mod listener;
mod params;
pub(crate) mod protocol;
#[cfg_attr(unix, path = "socket/unix.rs")]
#[cfg_attr(windows, path = "socket/windows.rs")]
pub(crate) mod socket;
mod stamp;

pub(crate) use callback::register_host_builtins;
pub(crate) use client::{exchange, ping, verdict};
pub use engine::Loaded;
pub use listener::{Limits, Server};
pub(crate) use protocol::ErrorCode;
pub(crate) use socket::Socket;

use hookexec::{Event, Input};
use hookexec_agents::{Agent, NativeCall};

/// The version that a client and its server must share: a verdict may have keys that another version
/// does not know.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A question to a server.
#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    /// The agent that calls, and its name for the event.
    native: Option<(Agent, &'static str)>,
    event: Event,
    input: &'q Input,
}

impl<'q> Question<'q> {
    pub(crate) fn own(event: Event, input: &'q Input) -> Self {
        Self { native: None, event, input }
    }

    pub(crate) fn native(call: &'q NativeCall) -> Self {
        let event = call.event.unwrap_or(Event::Notification);
        Self { native: Some((call.agent, call.native.name)), event, input: &call.input }
    }
}

/// Why a server gave no verdict.
#[derive(Debug)]
pub(crate) enum NoVerdict {
    /// The server said that it ran no hook: it has those of another project, or no room.
    NotRun(String),
    /// The server is gone, late, or not one to believe.
    Failed(String),
}
