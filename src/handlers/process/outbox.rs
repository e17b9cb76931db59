//! What is on its way to a child's stdin.
//!
//! The caller writes itself when nothing is in its way, which spares the usual call a hop to
//! another task. What the pipe does not take at once is written by the task that attends to the
//! child. Calls go before notifications; a message that has begun is always finished.
//!
//! Invariant: `requests` is empty unless `current` is taken.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::AsyncWrite;
use tokio::sync::Notify;

use super::lane::Lane;

/// How many bytes may wait for a child to read them.
const MAX_BYTES: usize = 16 << 20;

/// How many messages may wait for a child to read them.
const MAX_COUNT: usize = 1024;

/// A message for the child.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) kind: Kind,
    /// The line, its end included.
    pub(super) line: Vec<u8>,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The call of this id.
    Call(u64),
    /// A notification of an event.
    News,
    /// Whatever else the protocol asks for.
    Aside,
}

/// A message that was not sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unsent {
    /// Too much is waiting already; the message is handed back.
    Full(Message),
    /// The pipe is closed.
    Closed,
}

/// How the writing of everything ended.
#[derive(Debug)]
pub(super) enum Drained {
    /// All is written and the pipe is closed, as wished.
    Closed,
    /// The child closed its end.
    Broken(io::Error),
}

/// The pipe to a child, and what waits to be written to it.
#[derive(Debug)]
pub(super) struct Outbox<W> {
    state: Mutex<State<W>>,
    /// Told whenever something that waited is gone.
    room: Notify,
    lane: Arc<Lane>,
}

#[derive(Debug)]
struct State<W> {
    /// `None` once the pipe is closed.
    pipe: Option<W>,
    /// The message being written, and how much of it is.
    current: Option<(Message, usize)>,
    requests: VecDeque<Message>,
    /// The length of all messages that wait, `current` included.
    bytes: usize,
    /// Whether the child may be told of events: not before it has returned the greeting.
    lane_open: bool,
    /// Whether the pipe is to be closed when all is written.
    closing: bool,
    /// Why nothing can be written any more.
    broken: Option<io::Error>,
    /// Whoever drains, while there is nothing to drain.
    idle: Option<Waker>,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(super) fn new(pipe: W, lane: Arc<Lane>) -> Self {
        let state = State {
            pipe: Some(pipe),
            current: None,
            requests: VecDeque::new(),
            bytes: 0,
            lane_open: false,
            closing: false,
            broken: None,
            idle: None,
        };
        Self { state: Mutex::new(state), room: Notify::new(), lane }
    }

    /// Sends a message, or as much of it as the pipe takes now; the rest follows.
    pub(super) fn post(&self, message: Message) -> Result<(), Unsent> {
        let mut state = self.lock();
        if state.pipe.is_none() || state.closing || state.broken.is_some() {
            return Err(Unsent::Closed);
        }
        let busy = state.current.is_some();
        let fits =
            state.bytes + message.line.len() <= MAX_BYTES && state.requests.len() < MAX_COUNT;
        // One that is larger than all that may wait must pass when nothing is in its way.
        if busy && !fits {
            return Err(Unsent::Full(message));
        }
        state.bytes += message.line.len();
        if busy {
            state.requests.push_back(message);
            return Ok(());
        }
        state.current = Some((message, 0));
        // With a waker that wakes nobody: when the pipe is full, the task that drains goes on.
        match state.write_current(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => return Ok(()),
            Poll::Ready(Err(error)) => state.broken = Some(error),
            Poll::Pending => {}
        }
        state.wake();
        let untouched = matches!(state.current, Some((_, 0)));
        if untouched && state.broken.is_some() { Err(Unsent::Closed) } else { Ok(()) }
    }

    /// Waits until there may be room again. Create it before a [`post`](Self::post) that may fail.
    pub(super) fn room(&self) -> impl Future<Output = ()> + '_ {
        self.room.notified()
    }

    /// Takes a call back when nothing of it was written; returns whether the child may have seen it.
    pub(super) fn take_back(&self, id: u64) -> bool {
        let mut state = self.lock();
        let Some(at) = state.requests.iter().position(|message| message.kind == Kind::Call(id))
        else {
            return true;
        };
        if let Some(message) = state.requests.remove(at) {
            state.bytes -= message.line.len();
        }
        drop(state);
        self.room.notify_waiters();
        false
    }

    /// Lets the notifications in the lane pass.
    pub(super) fn open_lane(&self) {
        let mut state = self.lock();
        state.lane_open = true;
        state.wake();
    }

    /// Has the notifications in the lane written.
    pub(super) fn stir(&self) {
        self.lock().wake();
    }

    /// Closes the pipe when all that waits is written; nothing more is taken.
    pub(super) fn close_when_written(&self) {
        let mut state = self.lock();
        state.closing = true;
        state.wake();
    }

    /// Closes the pipe at once and returns how many notifications of events were cut off: one or none.
    pub(super) fn close(&self) -> usize {
        let mut state = self.lock();
        state.pipe = None;
        state.bytes = 0;
        state.requests.clear();
        let current = state.current.take();
        state.wake();
        drop(state);
        self.room.notify_waiters();
        usize::from(current.is_some_and(|(message, _)| message.kind == Kind::News))
    }

    /// Returns how many bytes wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.lock().bytes
    }

    /// Writes whatever there is and waits for more; ends only with the pipe. For one task alone.
    pub(super) fn poll_drain(&self, context: &mut Context<'_>) -> Poll<Drained> {
        let mut state = self.lock();
        loop {
            if state.pipe.is_none() {
                return Poll::Ready(Drained::Closed);
            }
            if let Some(error) = state.broken.take() {
                state.pipe = None;
                return Poll::Ready(Drained::Broken(error));
            }
            if state.current.is_none() {
                let Some(next) = state.requests.pop_front().or_else(|| self.next_news(&mut state))
                else {
                    if state.closing {
                        state.pipe = None;
                        return Poll::Ready(Drained::Closed);
                    }
                    state.idle = Some(context.waker().clone());
                    return Poll::Pending;
                };
                state.current = Some((next, 0));
            }
            match state.write_current(context) {
                Poll::Ready(Ok(())) => self.room.notify_waiters(),
                Poll::Ready(Err(error)) => state.broken = Some(error),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn next_news(&self, state: &mut State<W>) -> Option<Message> {
        if !state.lane_open {
            return None;
        }
        let line = self.lane.pop()?;
        state.bytes += line.len();
        Some(Message { kind: Kind::News, line })
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Unpin> State<W> {
    /// Writes the current message to its end; an error is kept for whoever drains, with the message.
    fn write_current(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (Some(pipe), Some((message, written))) = (&mut self.pipe, &mut self.current) else {
            return Poll::Ready(Ok(()));
        };
        while *written < message.line.len() {
            match Pin::new(&mut *pipe).poll_write(context, &message.line[*written..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => *written += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.bytes -= message.line.len();
        self.current = None;
        Poll::Ready(Ok(()))
    }

    fn wake(&mut self) {
        if let Some(waker) = self.idle.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;

    fn outbox(pipe: usize) -> (Arc<Outbox<DuplexStream>>, DuplexStream, Arc<Lane>) {
        let (ours, theirs) = duplex(pipe);
        let lane = Arc::new(Lane::default());
        (Arc::new(Outbox::new(ours, Arc::clone(&lane))), theirs, lane)
    }

    fn call(id: u64, line: &str) -> Message {
        Message { kind: Kind::Call(id), line: line.as_bytes().to_vec() }
    }

    async fn drain(outbox: Arc<Outbox<DuplexStream>>) -> Drained {
        poll_fn(|context| outbox.poll_drain(context)).await
    }

    #[tokio::test]
    async fn a_free_pipe_is_written_in_place() {
        let (outbox, mut pipe, _) = outbox(100);
        assert_eq!(outbox.post(call(1, "one\n")), Ok(()));
        assert_eq!(outbox.waiting(), 0);
        let mut read = [0; 4];
        pipe.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"one\n");
    }

    #[tokio::test]
    async fn what_the_pipe_does_not_take_follows_in_order_calls_before_news() {
        let (outbox, mut pipe, lane) = outbox(2);
        lane.push(b"news\n".to_vec()).unwrap();
        outbox.open_lane();
        outbox.post(call(1, "one\n")).unwrap();
        outbox.post(call(2, "two\n")).unwrap();
        outbox.post(call(3, "three\n")).unwrap();
        assert!(!outbox.take_back(2), "nothing of it was written");
        assert!(outbox.take_back(1), "it has begun");
        outbox.close_when_written();
        assert_eq!(outbox.post(call(4, "four\n")), Err(Unsent::Closed));
        let drained = tokio::spawn(drain(Arc::clone(&outbox)));
        let mut read = String::new();
        pipe.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "one\nthree\nnews\n");
        assert!(matches!(drained.await.unwrap(), Drained::Closed));
        assert_eq!(outbox.waiting(), 0);
    }

    #[tokio::test]
    async fn a_child_that_does_not_read_costs_bounded_memory() {
        let (outbox, mut pipe, _) = outbox(10);
        let megabyte = "x".repeat(1 << 20);
        let mut sent = 0;
        let refused = loop {
            match outbox.post(call(sent, &megabyte)) {
                Ok(()) => sent += 1,
                Err(refused) => break refused,
            }
        };
        assert_eq!(sent, 16);
        assert_eq!(outbox.waiting(), MAX_BYTES);
        let Unsent::Full(message) = refused else { panic!("{refused:?}") };
        let draining = tokio::spawn(drain(Arc::clone(&outbox)));
        let room = outbox.room();
        let mut read = vec![0; 1 << 20];
        pipe.read_exact(&mut read).await.unwrap();
        tokio::time::timeout(Duration::from_secs(30), room).await.unwrap();
        assert_eq!(outbox.post(message), Ok(()));
        draining.abort();
    }

    #[tokio::test]
    async fn a_closed_pipe_is_told_to_the_caller_and_to_whoever_drains() {
        let (outbox, pipe, _) = outbox(10);
        let draining = tokio::spawn(drain(Arc::clone(&outbox)));
        tokio::task::yield_now().await;
        drop(pipe);
        assert_eq!(outbox.post(call(1, "one\n")), Err(Unsent::Closed));
        assert!(matches!(draining.await.unwrap(), Drained::Broken(_)));
        assert_eq!(outbox.post(call(2, "two\n")), Err(Unsent::Closed));
    }

    #[tokio::test]
    async fn whoever_drains_sleeps_until_there_is_something() {
        let (outbox, mut pipe, lane) = outbox(100);
        let draining = tokio::spawn(drain(Arc::clone(&outbox)));
        tokio::task::yield_now().await;
        lane.push(b"news\n".to_vec()).unwrap();
        outbox.stir();
        tokio::task::yield_now().await;
        assert!(!lane.is_empty(), "nothing is told before the greeting");
        outbox.open_lane();
        let mut read = [0; 5];
        pipe.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"news\n");
        assert_eq!(outbox.close(), 0);
        assert!(matches!(draining.await.unwrap(), Drained::Closed));
    }
}
