//! Captures the output of a child, up to a limit.

use tokio::io::{AsyncRead, AsyncReadExt};

/// One output stream of a child and what was read of it.
///
/// Never holds more than about twice the limit. Dropping one of its futures loses nothing that was
/// read; dropping the whole closes the stream, and a process that writes to it later gets SIGPIPE.
#[derive(Debug)]
pub(crate) struct Capture<R> {
    stream: &'static str,
    /// `None` once the stream has ended.
    reader: Option<R>,
    bytes: Vec<u8>,
    limit: usize,
    /// Whether it carried more than its limit.
    overflow: bool,
}

/// The stream of this name carried more than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow(pub(crate) &'static str);

impl<R: AsyncRead + Unpin> Capture<R> {
    /// Returns a capture of at most `limit` bytes; of no stream at all when `reader` is `None`.
    pub(crate) fn new(stream: &'static str, reader: Option<R>, limit: usize) -> Self {
        Self { stream, reader, bytes: Vec::new(), limit, overflow: false }
    }

    /// Reads to the end of the stream, which is when every process that could write to it has closed
    /// it.
    ///
    /// # Errors
    /// As soon as more than the limit has come; the first bytes up to the limit are kept.
    pub(crate) async fn fill(&mut self) -> Result<(), Overflow> {
        self.fill_until(|_| false).await
    }

    /// Reads until what was read is `enough`, or to the end of the stream.
    ///
    /// # Errors
    /// As soon as more than the limit has come.
    pub(crate) async fn fill_until(
        &mut self,
        enough: impl Fn(&[u8]) -> bool,
    ) -> Result<(), Overflow> {
        while !self.overflow && !enough(&self.bytes) && self.read().await {}
        if self.overflow { Err(Overflow(self.stream)) } else { Ok(()) }
    }

    /// Returns what was read until now.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads to the end of the stream and throws away what is over the limit, so that a child that
    /// is being stopped is not held up by a full pipe.
    pub(crate) async fn drain(&mut self) {
        while self.read().await {}
    }

    /// Returns the stream's name when a process may still write to it.
    pub(crate) fn still_open(&self) -> Option<&'static str> {
        if self.reader.is_some() { Some(self.stream) } else { None }
    }

    /// Returns what was read, and closes the stream.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Reads once; returns whether there may be more.
    async fn read(&mut self) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        // The least free buffer of a read, in bytes.
        self.bytes.reserve(4096);
        // A stream that can't be read has ended as far as we can tell.
        if !matches!(reader.read_buf(&mut self.bytes).await, Ok(1..)) {
            self.reader = None;
            return false;
        }
        if self.bytes.len() > self.limit {
            self.bytes.truncate(self.limit);
            self.overflow = true;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_limit_itself_is_not_too_much() {
        let mut capture = Capture::new("stdout", Some(&b"12345"[..]), 5);
        assert!(capture.fill().await.is_ok());
        assert_eq!(capture.still_open(), None);
        assert_eq!(capture.into_bytes(), b"12345");
    }

    #[tokio::test]
    async fn more_than_the_limit_ends_the_capture_and_keeps_its_beginning() {
        let endless = Some(tokio::io::repeat(b'x'));
        let mut capture = Capture::new("stdout", endless, 10_000);
        assert_eq!(capture.fill().await, Err(Overflow("stdout")));
        assert_eq!(capture.still_open(), Some("stdout"));
        assert_eq!(capture.into_bytes(), vec![b'x'; 10_000]);
    }

    #[tokio::test]
    async fn draining_reads_to_the_end_and_keeps_the_limit() {
        let long = Some(tokio::io::repeat(b'x').take(1 << 20));
        let mut capture = Capture::new("stdout", long, 100);
        capture.drain().await;
        assert!(capture.fill().await.is_err());
        assert_eq!(capture.still_open(), None);
        assert_eq!(capture.into_bytes().len(), 100);
    }
}
