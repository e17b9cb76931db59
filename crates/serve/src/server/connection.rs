//! One client: lines in, lines out, and a task for each request in between.

use std::collections::VecDeque;
use std::sync::Arc;

use hookexec_files::rpc::{Line, LineDecoder};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc::{self, Receiver};
use tokio::task::JoinSet;

use super::callback::ClientLink;
use super::host::Host;
use super::listener::Server;
use super::params::Params;
use super::protocol::{ErrorCode, Message, Refusal, refuse};
use super::socket::{self, Stream};

/// Talks to the client at the other end of a socket.
pub(super) async fn over(server: Server, stream: Stream) {
    match socket::split(stream) {
        Ok((reader, writer, gone)) => server.serve(reader, writer, gone).await,
        Err(error) => tracing::warn!("a client can't be served: {error}"),
    }
}

impl Server {
    /// Talks to one client until its requests end and all are answered, it can't be written to any
    /// more, or `gone` returns.
    pub async fn serve(
        &self,
        reader: impl AsyncRead + Send,
        writer: impl AsyncWrite + Send,
        gone: impl Future<Output = ()> + Send,
    ) {
        // How many answers wait to be read by the client. Then the server reads nothing more from it.
        let (outbox, unsent) = mpsc::channel(256);
        let client = Arc::new(ClientLink::new(outbox));
        let (host, running) = (Host::default(), JoinSet::new());
        let conversation = Conversation { server: self, client, host, running };
        // What runs for the client is dropped along with the conversation.
        tokio::select! {
            _ = async { tokio::try_join!(conversation.read(reader), write(unsent, writer)) } => {}
            () = gone => {}
        }
    }
}

/// The client can't be read from or written to any more.
pub(crate) struct Gone;

struct Conversation<'s> {
    server: &'s Server,
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
                () = &mut stopped => break,
                line = lines.next() => line,
            };
            match line {
                Some(Ok(line)) => self.take(&line).await?,
                Some(Err(TooLong)) => {
                    let message =
                        format!("a line is longer than {} bytes", self.server.limits.line);
                    let refusal = Refusal::new(ErrorCode::InvalidRequest, message);
                    self.send(refuse(&Value::Null, refusal)).await?;
                }
                None => break,
            }
        }
        while self.running.join_next().await.is_some() {}
        Ok(())
    }

    /// Answers one request, or starts to.
    async fn take(&mut self, line: &[u8]) -> Result<(), Gone> {
        let (id, method, mut object) = match Message::read(line) {
            Ok(Message::Request { id, method, object }) => (id, method, object),
            Ok(Message::Notification { method, .. }) => {
                tracing::debug!(method, "a notification of a client is ignored");
                return Ok(());
            }
            Ok(Message::Response { id, answer }) => {
                self.client.answered(&id, answer);
                return Ok(());
            }
            Err((id, refusal)) => return self.send(refuse(&id, refusal)).await,
        };
        let params = match object.remove("params").unwrap_or_default() {
            Value::Null => Params::default(),
            Value::Object(params) => Params(params),
            _ => {
                let refusal = Refusal::params("`params` must be an object");
                return self.send(refuse(&id, refusal)).await;
            }
        };
        while self.running.try_join_next().is_some() {}
        let place = self.server.place(self.running.len());
        let at_once = method == "ping" || place.is_err();
        let (server, client) = (self.server.clone(), Arc::clone(&self.client));
        let host = self.host.clone();
        let answering = async move {
            let answer = server.answer(&host, &id, &method, params, place);
            let answer = Arc::clone(&client).scope(Box::pin(answer)).await;
            client.outbox.send(answer).await.map_err(|_| Gone)
        };
        if at_once {
            return answering.await;
        }
        // The next line is read before this one is answered: it may be what a hook waits for.
        self.running.spawn(async {
            // It fails when the client is gone, which ends this task anyhow.
            let _ = answering.await;
        });
        Ok(())
    }

    async fn send(&self, line: Vec<u8>) -> Result<(), Gone> {
        self.client.outbox.send(line).await.map_err(|_| Gone)
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
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Returns the lines of at most `max` bytes.
    pub(crate) fn new(stream: R, max: usize) -> Self {
        // How much is read at once.
        let (decoder, chunk) = (LineDecoder::new(max), vec![0; 16 * 1024]);
        Self { stream, decoder, chunk, ready: VecDeque::new() }
    }

    /// Waits for the next line; `None` at the end. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        while self.ready.is_empty() {
            let count = self.stream.read(&mut self.chunk).await.unwrap_or(0);
            if count == 0 {
                self.decoder.finish(|line| keep(&mut self.ready, &line));
                break;
            }
            self.decoder.feed(&self.chunk[..count], |line| keep(&mut self.ready, &line));
        }
        self.ready.pop_front()
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
    while let Some(line) = unsent.recv().await {
        writer.write_all(&line).await.map_err(|_| Gone)?;
        writer.flush().await.map_err(|_| Gone)?;
    }
    Ok(())
}
