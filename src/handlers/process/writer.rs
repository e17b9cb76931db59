//! Writes lines to a child's stdin.

use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;

/// A child's stdin. Callers take turns by a lock around it.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` once stdin is closed.
    stdin: Option<ChildStdin>,
    /// The line that is being written, and how much of it was.
    line: Vec<u8>,
    written: usize,
}

impl Writer {
    pub(super) fn new(stdin: ChildStdin) -> Self {
        Self { stdin: Some(stdin), line: Vec::new(), written: 0 }
    }

    pub(super) fn is_open(&self) -> bool {
        self.stdin.is_some()
    }

    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// Writes a line, and calls `begin` once the child may have seen a part of it.
    ///
    /// Cancellation: if the line was begun, its rest is kept and written before the next line. If it was
    /// not, nothing of it is written.
    ///
    /// # Errors
    /// When the child closed its end. Stdin is closed then.
    pub(super) async fn write(&mut self, line: Vec<u8>, begin: impl FnOnce()) -> io::Result<()> {
        self.finish().await?;
        self.line = line;
        self.write_some().await?;
        begin();
        self.finish().await
    }

    /// Writes the rest of a line that was begun.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        while self.written > 0 && self.written < self.line.len() {
            self.write_some().await?;
        }
        self.line = Vec::new();
        self.written = 0;
        Ok(())
    }

    async fn write_some(&mut self) -> io::Result<()> {
        let Some(stdin) = &mut self.stdin else { return Err(io::ErrorKind::BrokenPipe.into()) };
        match stdin.write(&self.line[self.written..]).await {
            Ok(count @ 1..) => {
                self.written += count;
                Ok(())
            }
            Ok(_) => {
                self.stdin = None;
                Err(io::ErrorKind::WriteZero.into())
            }
            Err(error) => {
                self.stdin = None;
                Err(error)
            }
        }
    }
}
