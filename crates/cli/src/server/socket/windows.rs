//! On Windows `serve` has no sockets: it talks on stdin and stdout.

use std::convert::Infallible;
use std::future::Pending;
use std::io;
use std::path::{Path, PathBuf};

use tokio::io::{Empty, Sink};

use crate::error::CommandError;

/// A socket that can't be made here.
#[derive(Debug)]
pub(crate) struct Socket(Infallible);

impl Socket {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn bind(_path: impl Into<PathBuf>) -> Result<Self, CommandError> {
        let problem =
            "`--socket` is not available on Windows: hookexec has no private sockets there";
        Err(CommandError::usage(problem)
            .hint("leave `--socket` out, and write requests to its stdin"))
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the other system waits")]
    pub(crate) async fn accept(&self) -> Option<Stream> {
        match self.0 {}
    }
}

/// A connection to a client, which can't be there.
#[derive(Debug)]
pub(crate) struct Stream(Infallible);

/// Returns the two halves of a connection, and a future that ends when the client has closed it.
#[expect(clippy::needless_pass_by_value, reason = "the other system takes it apart")]
pub(crate) fn split(stream: Stream) -> io::Result<(Empty, Sink, Pending<()>)> {
    match stream.0 {}
}

/// Writes as much of `text` as the system takes at once.
pub(crate) fn write_at_once(stream: &Stream, _text: &[u8]) {
    match stream.0 {}
}
