//! On Windows `serve` has no sockets: it talks on stdin and stdout.

use std::future::{Pending, pending};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use crate::server::{ListenError, NoVerdict};

/// A socket that can't be made here.
#[derive(Debug)]
pub struct Socket(PathBuf);

impl Socket {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_path: &Path) -> Result<Self, ListenError> {
        let problem =
            "`--socket` is not available on Windows: hookexec has no private sockets there";
        let hint = "leave `--socket` out, and write requests to its stdin";
        Err(ListenError::new(problem.to_owned(), hint))
    }

    /// Returns where it would be.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Waits for ever: no client can connect.
    pub async fn accept(&self) -> Option<Stream> {
        pending().await
    }
}

/// A connection, which is never made.
pub type Stream = DuplexStream;

/// Returns the two halves of a connection, and a future that never ends.
#[expect(clippy::unnecessary_wraps, reason = "the other system may fail")]
pub(crate) fn split(
    stream: Stream,
) -> io::Result<(ReadHalf<Stream>, WriteHalf<Stream>, Pending<()>)> {
    let (reader, writer) = tokio::io::split(stream);
    Ok((reader, writer, pending()))
}

/// Fails.
///
/// # Errors
/// Always.
#[expect(clippy::unused_async, reason = "the other system waits")]
pub(crate) async fn connect(_path: &Path, _limit: Duration) -> Result<Stream, NoVerdict> {
    Err(NoVerdict::NotAsked("sockets are not available on Windows"))
}
