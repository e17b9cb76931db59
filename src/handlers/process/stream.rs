//! An output stream of a child, and the lines in it.

use std::future::pending;

use tokio::io::AsyncReadExt as _;

use hookexec_files::group::{Output, read_left};
use hookexec_files::rpc::{Line, LineDecoder};

/// An output stream of a child, cut into lines.
#[derive(Debug)]
pub(super) struct Stream<R> {
    /// `None` once the stream has ended.
    reader: Option<R>,
    buffer: Box<[u8]>,
    /// How much of the buffer was read and not handed over.
    filled: usize,
    lines: LineDecoder,
}

impl<R: Output> Stream<R> {
    pub(super) fn new(reader: R, buffer: usize, max_line: usize) -> Self {
        Self {
            reader: Some(reader),
            buffer: vec![0; buffer].into_boxed_slice(),
            filled: 0,
            lines: LineDecoder::new(max_line),
        }
    }

    /// Reads once; returns whether there may be more. Waits for ever once the stream has ended.
    pub(super) async fn read(&mut self) -> bool {
        let Some(reader) = &mut self.reader else { return pending().await };
        // A stream that can't be read has ended as far as we can tell.
        self.filled = reader.read(&mut self.buffer).await.unwrap_or(0);
        if self.filled == 0 {
            self.reader = None;
        }
        self.filled > 0
    }

    /// Hands over the lines in what was read last, and the last line when the stream has ended.
    pub(super) fn hand_over(&mut self, mut take: impl FnMut(&Line<'_>)) {
        if self.filled == 0 {
            self.lines.finish(|line| take(&line));
        } else {
            self.lines.feed(&self.buffer[..self.filled], |line| take(&line));
        }
        self.filled = 0;
    }

    /// Reads what the child has already written, without waiting.
    pub(super) async fn read_written(&mut self, mut take: impl FnMut(&Line<'_>)) {
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
    pub(super) async fn read_rest(&mut self, mut take: impl FnMut(&Line<'_>)) {
        self.read_written(&mut take).await;
        self.reader = None;
        self.filled = 0;
        self.hand_over(take);
    }
}
