//! Reads what a child says: matches replies and calls by id, and answers and counts everything else.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::connection::{CallError, Connection, End, Reply};
use super::processes::Counters;
use crate::config::{Process, Protocol};
use crate::locks::locked;
use crate::text::shortened;
use hookexec_files::rpc::{self, Incoming, Line, mcp};

/// The child's side of a connection: its replies, and the messages that it has not got yet.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) name: Arc<str>,
    protocol: Protocol,
    max_line: usize,
    pub(super) connection: Arc<Connection>,
    pub(super) counters: Arc<Counters>,
    /// The refusals and cancellations that wait to be written.
    pub(super) asides: VecDeque<Vec<u8>>,
    /// The last lines on stderr.
    last_lines: VecDeque<String>,
    /// Whether the child wants to hear of calls that were given up; `None` before the handshake is done.
    pub(super) cancels: Option<bool>,
    /// Whether any call but the handshake was answered.
    served: bool,
    /// Whether a call timed out and no reply came since.
    pub(super) hangs: bool,
    /// How many lines on stdout were not messages.
    noise: u64,
}

impl Conversation {
    pub(super) fn new(
        process: &Process,
        connection: Arc<Connection>,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            name: process.name.as_str().into(),
            protocol: process.protocol,
            max_line: process.max_line,
            connection,
            counters,
            asides: VecDeque::new(),
            last_lines: VecDeque::new(),
            cancels: None,
            served: false,
            hangs: false,
            noise: 0,
        }
    }

    /// Returns the end of the connection, which is now.
    pub(super) fn ended(&mut self, cause: String, crashed: bool) -> End {
        let stderr = Vec::from(std::mem::take(&mut self.last_lines)).join("\n");
        End { cause, stderr, crashed, served: self.served, at: Instant::now() }
    }

    /// Ends the calls whose deadline has passed.
    pub(super) fn expire(&mut self, now: Instant) {
        let known = match self.noise {
            0 => "no answer came".to_owned(),
            lines => {
                format!("no answer came; {lines} lines on its stdout were not messages so far")
            }
        };
        let expired = self.connection.calls().expired(now);
        for call in expired {
            self.hangs = true;
            let _ = call.reply.send(Err(CallError::TimedOut(known.clone())));
            if call.begun {
                self.gave_up(call.id);
            }
        }
    }

    /// Takes a line of the child's stdout.
    pub(super) fn receive(&mut self, line: &Line<'_>) {
        let (text, message) = match line {
            Line::Text(text) => (*text, Incoming::read(text)),
            Line::Oversized(start) => (*start, Incoming::oversized(start, self.max_line)),
        };
        match message {
            Incoming::Result { id, text } => self.answer(id, Ok(text)),
            Incoming::Error { id, error } => self.answer(id, Err(CallError::Rpc(error))),
            Incoming::Unreadable { id, problem } => {
                locked(&self.counters).lines_unparsable += 1;
                self.answer(id, Err(CallError::Unreadable(problem)));
            }
            // MCP servers may end a connection whose other end gives no sign of life.
            Incoming::Request { id, method }
                if self.protocol == Protocol::Mcp && method == mcp::PING =>
            {
                self.aside(rpc::nothing(&id));
            }
            Incoming::Request { id, method } => {
                tracing::debug!(process = %self.name, method, "refused a call of the process");
                self.aside(rpc::refusal(&id));
            }
            Incoming::Notification { method } => {
                tracing::debug!(process = %self.name, method, "ignored a notification of the process");
            }
            Incoming::Noise { problem } => {
                locked(&self.counters).lines_unparsable += 1;
                self.noise += 1;
                // A child that prints its progress must not flood the log. The line and the problem may
                // quote what a call told the child.
                if self.noise == 1 {
                    tracing::warn!(process = %self.name, "skipped a line on stdout that is not a message");
                }
                let line = String::from_utf8_lossy(text);
                // How much of a line that is not a message is shown.
                let shown = shortened(&line, 120);
                tracing::debug!(process = %self.name, "skipped a line on stdout, {problem}: {shown}");
            }
        }
    }

    fn answer(&mut self, id: u64, reply: Reply) {
        let call = self.connection.calls().close(id);
        self.hangs = false;
        // The first call is the handshake. A late reply counts, too.
        self.served |= id > 1;
        if call.is_none_or(|call| call.reply.send(reply).is_err()) {
            let mut counters = locked(&self.counters);
            counters.replies_dropped += 1;
            let what = "dropped a reply: its call was answered before, or has timed out";
            // Only the first is a warning, as for lines that are not messages.
            if counters.replies_dropped == 1 {
                tracing::warn!(process = %self.name, id, "{what}");
            } else {
                tracing::debug!(process = %self.name, id, "{what}");
            }
        }
    }

    /// Takes a line of the child's stderr.
    pub(super) fn overhear(&mut self, line: &Line<'_>) {
        let (Line::Text(text) | Line::Oversized(text)) = line;
        let text = String::from_utf8_lossy(text);
        tracing::info!(process = %self.name, "{text}");
        // How many of a child's last lines on stderr are kept for reports, and how much of each.
        if self.last_lines.len() == 8 {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(shortened(&text, 500).into_owned());
    }

    /// Notes that the caller of a call that the child may have seen no longer waits for the reply.
    pub(super) fn gave_up(&mut self, id: u64) {
        // It need not answer a call that was given up. The first call is the handshake.
        self.served |= id > 1;
        if self.cancels == Some(true) {
            let (method, key) = match self.protocol {
                Protocol::Hooks => ("hook.cancel", "id"),
                Protocol::Mcp => (mcp::CANCELLED, "requestId"),
            };
            self.aside(rpc::notification(method, format!("{{\"{key}\":{id}}}").as_bytes()));
        }
    }

    fn aside(&mut self, line: Vec<u8>) {
        // How many refusals and cancellations may wait. A child that does not read them needs no more.
        if self.asides.len() < 1024 {
            self.asides.push_back(line);
        } else {
            tracing::debug!(process = %self.name, "a message was dropped: the process does not read");
        }
    }
}
