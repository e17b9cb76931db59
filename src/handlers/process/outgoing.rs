//! What waits to be written to a child's stdin.

use std::collections::VecDeque;
use std::future::pending;
use std::io;

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::OwnedSemaphorePermit;

use super::calls::OpenCalls;
use super::notifications::NotificationQueue;

/// How many refusals and cancellations may wait. A child that does not read them needs no more.
const MAX_ASIDES: usize = 1024;

/// What waits to be written to a child's stdin. Calls go before notifications, and a line that was
/// begun is finished.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// `None` once stdin is closed.
    stdin: Option<ChildStdin>,
    /// The line that is being written, and how much of it was.
    current: Option<(Line, usize)>,
    lines: VecDeque<Line>,
    /// How many of `lines` are neither calls nor notifications.
    asides: usize,
    /// Whether the handshake is done: no notification is written before it.
    pub(super) ready: bool,
    /// Whether stdin is to be closed when everything that waits is written.
    pub(super) closing: bool,
}

#[derive(Debug)]
struct Line {
    kind: Kind,
    bytes: Vec<u8>,
    /// Released when the line was written or dropped.
    _room: Option<OwnedSemaphorePermit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call(u64),
    Notification,
    /// A refusal of a call of the child's, or the news that a call was given up.
    Aside,
}

impl Outgoing {
    pub(super) fn new(stdin: ChildStdin) -> Self {
        Self {
            stdin: Some(stdin),
            current: None,
            lines: VecDeque::new(),
            asides: 0,
            ready: false,
            closing: false,
        }
    }

    /// Returns whether new lines are written.
    pub(super) fn is_open(&self) -> bool {
        self.stdin.is_some() && !self.closing
    }

    /// Adds the line of a call.
    pub(super) fn push_call(&mut self, id: u64, bytes: Vec<u8>, room: OwnedSemaphorePermit) {
        self.lines.push_back(Line { kind: Kind::Call(id), bytes, _room: Some(room) });
    }

    /// Takes the line of a call back that the child has seen nothing of.
    pub(super) fn take_back(&mut self, id: u64) {
        self.lines.retain(|line| line.kind != Kind::Call(id));
        self.current.take_if(|(line, written)| line.kind == Kind::Call(id) && *written == 0);
    }

    /// Adds a line that is not a call; returns whether there was room for it.
    pub(super) fn push_aside(&mut self, bytes: Vec<u8>) -> bool {
        let fits = self.asides < MAX_ASIDES;
        if fits {
            self.asides += 1;
            self.lines.push_back(Line { kind: Kind::Aside, bytes, _room: None });
        }
        fits
    }

    /// Closes stdin at once and returns how many notifications that cut off: one or none.
    pub(super) fn close(&mut self) -> u64 {
        self.stdin = None;
        self.lines.clear();
        let current = self.current.take();
        u64::from(current.is_some_and(|(line, _)| line.kind == Kind::Notification))
    }

    /// Returns how many bytes wait to be written.
    pub(super) fn waiting(&self) -> usize {
        let current = self.current.iter().map(|(line, written)| line.bytes.len() - written);
        let waiting = self.lines.iter().map(|line| line.bytes.len());
        current.chain(waiting).sum()
    }

    /// Writes what waits; returns when stdin was closed as wished.
    ///
    /// Cancellation: dropping the future loses nothing. With nothing to write it waits for ever.
    ///
    /// # Errors
    /// When the child closed its end. Stdin is closed then.
    pub(super) async fn write(
        &mut self,
        calls: &mut OpenCalls,
        notifications: &NotificationQueue,
    ) -> io::Result<()> {
        loop {
            if self.current.is_none() {
                self.current = self.next(notifications).map(|line| (line, 0));
            }
            let Some(stdin) = &mut self.stdin else { return pending().await };
            let Some((line, written)) = &mut self.current else {
                if !self.closing {
                    return pending().await;
                }
                self.stdin = None;
                return Ok(());
            };
            match stdin.write(&line.bytes[*written..]).await {
                Ok(count @ 1..) => *written += count,
                Ok(_) => return Err(self.broken(io::ErrorKind::WriteZero.into())),
                Err(error) => return Err(self.broken(error)),
            }
            if let Kind::Call(id) = line.kind {
                calls.begin(id);
            }
            if *written == line.bytes.len() {
                self.current = None;
            }
        }
    }

    fn broken(&mut self, error: io::Error) -> io::Error {
        self.stdin = None;
        error
    }

    fn next(&mut self, notifications: &NotificationQueue) -> Option<Line> {
        if let Some(line) = self.lines.pop_front() {
            self.asides -= usize::from(line.kind == Kind::Aside);
            return Some(line);
        }
        let bytes = if self.ready { notifications.pop()? } else { return None };
        Some(Line { kind: Kind::Notification, bytes, _room: None })
    }
}
