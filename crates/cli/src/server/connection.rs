//! One client: lines in, lines out, and a task for each dispatch in between.

use std::collections::VecDeque;
use std::sync::Arc;

use hookexec::internal::rpc::{Line, LineDecoder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;

use super::callback::ClientLink;
use super::host::Host;
use super::listener::Server;
use super::protocol::{ErrorCode, Incoming, Refusal, Request, answer, refuse as refusal_line};
use super::socket::{self, Stream};

/// How much is read at once.
const CHUNK: usize = 16 * 1024;
/// How much is written at once, as far as it is there.
const BATCH: usize = 64 * 1024;

/// Talks to the client at the other end of a socket.
pub(super) async fn over(server: &Server, stream: Stream) {
    match socket::split(stream) {
        Ok((reader, writer, gone)) => run(server, reader, writer, gone).await,
        Err(error) => tracing::warn!("a client can't be served: {error}"),
    }
}

/// Tells a client that too many others are connected.
pub(super) fn refuse(stream: &Stream, connections: usize) {
    let message = format!("overloaded: {connections} clients are connected");
    let refusal = Refusal::new(ErrorCode::Overloaded, message);
    // A new connection has room for a line. A client that does not read it sees the end.
    socket::write_at_once(stream, &refusal_line(&Value::Null, refusal));
}

/// Talks to one client.
pub(super) async fn run(
    server: &Server,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
    gone: impl Future<Output = ()> + Send,
) {
    let (outbox, unsent) = mpsc::channel(server.limits.unsent.max(1));
    let talking = async {
        let client = ClientLink::new(outbox.clone());
        let (host, running) = (Host::default(), JoinSet::new());
        let conversation = Conversation { server, outbox, client, host, running };
        let _ = tokio::try_join!(conversation.read(reader), write(unsent, writer));
    };
    // Whatever runs for the client is dropped along with `talking`.
    tokio::select! {
        () = talking => {}
        () = gone => {}
    }
}

/// The client can't be read from or written to any more.
pub(crate) struct Gone;

struct Conversation<'s> {
    server: &'s Server,
    outbox: Sender<Vec<u8>>,
    client: Arc<ClientLink>,
    host: Host,
    running: JoinSet<()>,
}

impl Conversation<'_> {
    /// Reads requests to their end and waits until all are answered.
    async fn read(mut self, reader: impl AsyncRead) -> Result<(), Gone> {
        let mut stopped = std::pin::pin!(self.server.stopped());
        let reader = std::pin::pin!(reader);
        let mut lines = Lines::new(reader, self.server.limits.line);
        loop {
            let line = tokio::select! {
                biased;
                () = &mut stopped, if lines.is_open => {
                    lines.close();
                    continue;
                }
                line = lines.next() => line,
            };
            let Some(line) = line else { break };
            self.take(line).await?;
        }
        while self.running.join_next().await.is_some() {}
        Ok(())
    }

    /// Answers one request, or starts to.
    async fn take(&mut self, line: Result<Vec<u8>, TooLong>) -> Result<(), Gone> {
        let Ok(line) = line else {
            let message = format!("a line is longer than {} bytes", self.server.limits.line);
            let refusal = Refusal::new(ErrorCode::InvalidRequest, message);
            return self.send(refusal_line(&Value::Null, refusal)).await;
        };
        let Request { id, method, params } = match Incoming::read(&line) {
            Ok(Incoming::Request(request)) => request,
            Ok(Incoming::Reply(reply)) => {
                self.client.answered(reply);
                return Ok(());
            }
            Err((id, refusal)) => return self.send(refusal_line(&id, refusal)).await,
        };
        let Some(id) = id else {
            tracing::debug!(method, "a notification of a client is ignored");
            return Ok(());
        };
        if method == "ping" {
            return self.send(answer(&id, &self.server.ping(params))).await;
        }
        while self.running.try_join_next().is_some() {}
        let place = match self.server.place(self.running.len()) {
            Ok(place) => place,
            Err(mut refusal) => {
                if method == "dispatch" {
                    refusal = self.server.refuse_dispatch(refusal, params);
                }
                return self.send(refusal_line(&id, refusal)).await;
            }
        };
        // The next line is read before this one is answered: it may be what a hook waits for.
        let (server, client) = (self.server.clone(), Arc::clone(&self.client));
        let (host, outbox) = (self.host.clone(), self.outbox.clone());
        self.running.spawn(async move {
            let called = client.scope(server.call(&host, &method, params));
            let answered = answer(&id, &Box::pin(called).await);
            drop(place);
            // It fails when the client is gone, which ends this task anyhow.
            let _ = outbox.send(answered).await;
        });
        Ok(())
    }

    async fn send(&self, line: Vec<u8>) -> Result<(), Gone> {
        self.outbox.send(line).await.map_err(|_| Gone)
    }
}

/// A line that is longer than allowed.
pub(crate) struct TooLong;

/// The lines of a stream. Of those that were read it keeps no more than one chunk can hold.
pub(crate) struct Lines<R> {
    stream: R,
    decoder: LineDecoder,
    chunk: Vec<u8>,
    ready: VecDeque<Result<Vec<u8>, TooLong>>,
    is_open: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Returns the lines of at most `max` bytes.
    pub(crate) fn new(stream: R, max: usize) -> Self {
        let (decoder, chunk) = (LineDecoder::new(max), vec![0; CHUNK]);
        Self { stream, decoder, chunk, ready: VecDeque::new(), is_open: true }
    }

    /// Waits for the next line; `None` at the end. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        while self.ready.is_empty() && self.is_open {
            match self.stream.read(&mut self.chunk).await.unwrap_or(0) {
                0 => self.close(),
                count => {
                    self.decoder.feed(&self.chunk[..count], |line| keep(&mut self.ready, &line));
                }
            }
        }
        self.ready.pop_front()
    }

    /// Reads no further.
    fn close(&mut self) {
        self.is_open = false;
        self.decoder.finish(|line| keep(&mut self.ready, &line));
    }
}

fn keep(ready: &mut VecDeque<Result<Vec<u8>, TooLong>>, line: &Line<'_>) {
    ready.push_back(match line {
        Line::Text(text) => Ok(text.to_vec()),
        Line::Oversized(_) => Err(TooLong),
    });
}

/// Writes lines until there will be no more.
pub(crate) async fn write(
    mut unsent: Receiver<Vec<u8>>,
    writer: impl AsyncWrite,
) -> Result<(), Gone> {
    let mut writer = std::pin::pin!(writer);
    while let Some(mut batch) = unsent.recv().await {
        while batch.len() < BATCH
            && let Ok(line) = unsent.try_recv()
        {
            batch.extend_from_slice(&line);
        }
        writer.write_all(&batch).await.map_err(|_| Gone)?;
        writer.flush().await.map_err(|_| Gone)?;
    }
    Ok(())
}
