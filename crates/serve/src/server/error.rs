//! The reasons for which a server does not start, and what to do about them.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

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
