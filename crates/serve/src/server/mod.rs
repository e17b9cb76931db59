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

use std::io;
use std::path::PathBuf;

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
pub enum ListenError {
    /// The system refuses it.
    #[error("can't listen at {}: {cause}", path.display())]
    Failed {
        /// The path of the socket.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// Another process holds it.
    #[error("another process of hookexec is listening at {}", .0.display())]
    InUse(PathBuf),
    /// Something else is there.
    #[error("{} exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// A process that is not of hookexec listens there.
    #[error("another program is listening at {}", .0.display())]
    OtherProgram(PathBuf),
    /// Its directory is another user's.
    #[error("the directory {} belongs to another user", .0.display())]
    OtherUser(PathBuf),
    /// Others can enter its directory.
    #[error("the directory {} is open to other users, so a socket in it would be, too", .0.display())]
    NotPrivate(PathBuf),
    /// The system has none.
    #[error("`--socket` is not available on Windows: hookexec has no private sockets there")]
    NotAvailable,
}

impl ListenError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Failed { .. } | Self::OtherUser(_) => None,
            Self::InUse(_) => Some("use that process, or end it".to_owned()),
            Self::OtherProgram(_) => Some("choose another path".to_owned()),
            Self::NotASocket(_) => Some("choose another path, or remove what is there".to_owned()),
            Self::NotPrivate(directory) => {
                let shown = directory.display();
                Some(format!("take a directory of its own, or run `chmod 700 {shown}`"))
            }
            Self::NotAvailable => {
                Some("leave `--socket` out, and write requests to its stdin".to_owned())
            }
        }
    }
}
