//! On Windows a server has no socket at which it could be asked.

use std::path::{Path, PathBuf};

use hookexec::event::Event;
use hookexec::wire::{Input, Verdict};

/// A connection that can't be made here.
#[derive(Debug)]
pub struct Client(std::convert::Infallible);

/// Why a server gave no verdict.
#[derive(Debug, thiserror::Error)]
#[error("no server can be asked at {}: sockets are not available on Windows", .0.display())]
pub struct ClientError(PathBuf);

impl Client {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub fn connect(path: impl Into<PathBuf>) -> Result<Self, ClientError> {
        Err(ClientError(path.into()))
    }

    /// Returns the verdict on an event.
    ///
    /// # Errors
    /// When the server gives no verdict.
    pub fn dispatch(
        &mut self,
        _event: Event,
        _input: &Input,
        _project: &Path,
    ) -> Result<Verdict, ClientError> {
        match self.0 {}
    }
}
