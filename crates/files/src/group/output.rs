//! The output streams of a child: cut into lines, or captured up to a limit.

use std::future::pending;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::system::{Output, read_left};
use crate::rpc::{Line, LineDecoder};

/// An output stream of a child, cut into lines.
#[derive(Debug)]
pub struct Stream<R> {
    /// `None` once the stream has ended.
    reader: Option<R>,
    buffer: Box<[u8]>,
    /// How much of the buffer was read and not handed over.
    filled: usize,
    lines: LineDecoder,
}

impl<R: Output> Stream<R> {
    /// Returns the lines of a stream. `buffer` is how much is read at once, and `max_line` the longest
    /// line.
    pub fn new(reader: R, buffer: usize, max_line: usize) -> Self {
        Self {
            reader: Some(reader),
            buffer: vec![0; buffer].into_boxed_slice(),
            filled: 0,
            lines: LineDecoder::new(max_line),
        }
    }

    /// Reads once; returns whether there may be more. Waits for ever once the stream has ended.
    pub async fn read(&mut self) -> bool {
        let Some(reader) = &mut self.reader else { return pending().await };
        // A stream that can't be read has ended as far as we can tell.
        self.filled = reader.read(&mut self.buffer).await.unwrap_or(0);
        if self.filled == 0 {
            self.reader = None;
        }
        self.filled > 0
    }

    /// Hands over the lines in what was read last, and the last line when the stream has ended.
    pub fn hand_over(&mut self, mut take: impl FnMut(&Line<'_>)) {
        if self.filled == 0 {
            self.lines.finish(|line| take(&line));
        } else {
            self.lines.feed(&self.buffer[..self.filled], |line| take(&line));
        }
        self.filled = 0;
    }

    /// Reads what the child has already written, without waiting.
    pub async fn read_written(&mut self, mut take: impl FnMut(&Line<'_>)) {
        let mut total = 0;
        while let Some(reader) = &mut self.reader
            // The most that is read of a pipe at once: more than any pipe holds.
            && total < (16 << 20)
        {
            self.filled = read_left(reader, &mut self.buffer).await;
            if self.filled == 0 {
                break;
            }
            total += self.filled;
            self.hand_over(&mut take);
        }
    }

    /// Reads what the ended child left behind: a process that inherited the pipe may hold it open for
    /// ever.
    pub async fn read_rest(&mut self, mut take: impl FnMut(&Line<'_>)) {
        self.read_written(&mut take).await;
        self.reader = None;
        self.filled = 0;
        self.hand_over(take);
    }
}

/// One output stream of a child and what was read of it.
///
/// Never holds more than about twice the limit. Dropping one of its futures loses nothing that was
/// read; dropping the whole closes the stream, and a process that writes to it later gets SIGPIPE.
#[derive(Debug)]
pub struct Capture<R> {
    stream: &'static str,
    /// `None` once the stream has ended.
    reader: Option<R>,
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    limit: usize,
    /// Whether it carried more than its limit.
    overflow: bool,
}

impl<R: AsyncRead + Unpin> Capture<R> {
    /// Returns a capture of at most `limit` bytes; of no stream at all when `reader` is `None`.
    pub fn new(stream: &'static str, reader: Option<R>, limit: usize) -> Self {
        Self { stream, reader, bytes: Vec::new(), limit, overflow: false }
    }

    /// Reads to the end of the stream, which is when every process that could write to it has closed
    /// it.
    ///
    /// # Errors
    /// The name of the stream, as soon as more than the limit has come; the first bytes up to the limit
    /// are kept.
    pub async fn fill(&mut self) -> Result<(), &'static str> {
        self.fill_until(|_| false).await
    }

    /// Reads until what was read is `enough`, or to the end of the stream.
    ///
    /// # Errors
    /// The name of the stream, as soon as more than the limit has come.
    pub async fn fill_until(&mut self, enough: impl Fn(&[u8]) -> bool) -> Result<(), &'static str> {
        while !self.overflow && !enough(&self.bytes) && self.read().await {}
        if self.overflow { Err(self.stream) } else { Ok(()) }
    }

    /// Reads to the end of the stream and throws away what is over the limit, so that a child that
    /// is being stopped is not held up by a full pipe.
    pub async fn drain(&mut self) {
        while self.read().await {}
    }

    /// Returns the stream's name when a process may still write to it.
    pub fn still_open(&self) -> Option<&'static str> {
        if self.reader.is_some() { Some(self.stream) } else { None }
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
        assert_eq!(capture.bytes, b"12345");
    }

    #[tokio::test]
    async fn more_than_the_limit_ends_the_capture_and_keeps_its_beginning() {
        let endless = Some(tokio::io::repeat(b'x'));
        let mut capture = Capture::new("stdout", endless, 10_000);
        assert_eq!(capture.fill().await, Err("stdout"));
        assert_eq!(capture.still_open(), Some("stdout"));
        assert_eq!(capture.bytes, vec![b'x'; 10_000]);
    }

    #[tokio::test]
    async fn draining_reads_to_the_end_and_keeps_the_limit() {
        let long = Some(tokio::io::repeat(b'x').take(1 << 20));
        let mut capture = Capture::new("stdout", long, 100);
        capture.drain().await;
        assert!(capture.fill().await.is_err());
        assert_eq!(capture.still_open(), None);
        assert_eq!(capture.bytes.len(), 100);
    }
}
