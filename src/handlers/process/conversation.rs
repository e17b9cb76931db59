//! What is said to a child and by it: calls and replies matched by id, everything else counted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::text::shortened;
use tokio::process::ChildStdin;

use super::calls::OpenCalls;
use super::connection::{CallError, NewCall, Reply, Request};
use super::outgoing::Outgoing;
use super::statistics::Counters;
use crate::config::{Process, Protocol};
use crate::handlers::mcp::wire as mcp;
use crate::locks::locked;
use crate::rpc::{self, Incoming, Line};

/// How many of a child's last lines on stderr are kept for messages, and how much of each.
const KEPT_LINES: usize = 8;
const KEPT_LINE: usize = 500;

/// How much of a line that is not a message is shown.
const SHOWN: usize = 120;

/// What is said to a child and by it.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) name: Arc<str>,
    pub(super) counters: Arc<Counters>,
    pub(super) calls: OpenCalls,
    pub(super) outgoing: Outgoing,
    max_line: usize,
    protocol: Protocol,
    /// Whether the child wants to hear of calls that were given up.
    cancels: bool,
    /// Whether any call but the handshake was answered.
    pub(super) served: bool,
    /// Whether a call timed out and no reply came since.
    pub(super) hangs: bool,
    stderr: VecDeque<String>,
}

impl Conversation {
    pub(super) fn new(process: &Process, stdin: ChildStdin, counters: Arc<Counters>) -> Self {
        let Process { name, max_line, protocol, .. } = process;
        Self {
            name: name.as_str().into(),
            counters,
            calls: OpenCalls::default(),
            outgoing: Outgoing::new(stdin),
            max_line: *max_line,
            protocol: *protocol,
            cancels: false,
            served: false,
            hangs: false,
            stderr: VecDeque::new(),
        }
    }

    /// Does what the handle of the connection asks for.
    pub(super) fn handle(&mut self, request: Request) {
        match request {
            // Dropped, a call is reported as unsent.
            Request::Call(call) if self.outgoing.is_open() => self.begin(call),
            Request::GiveUp(id) => {
                if let Some(call) = self.calls.close(id) {
                    self.gave_up(id, call.begun);
                }
            }
            Request::Ready { cancels } => {
                self.cancels = cancels;
                self.outgoing.ready = true;
                if self.protocol == Protocol::Mcp {
                    self.aside(rpc::notification(mcp::INITIALIZED, b"{}"));
                }
            }
            Request::Call(_) | Request::Notify | Request::Stop => {}
        }
    }

    /// Ends the calls whose deadline has passed.
    pub(super) fn expire(&mut self, now: Instant) {
        for (id, call) in self.calls.expired(now) {
            let known = self.silence(call.begun, call.noise_before);
            let begun = call.begun;
            self.hangs = true;
            call.answer(Err(CallError::TimedOut(known)));
            self.gave_up(id, begun);
        }
    }

    /// Takes a line of the child's stdout.
    pub(super) fn receive(&mut self, line: &Line<'_>) {
        let (text, message) = match line {
            Line::Text(text) => (*text, Incoming::read(text)),
            Line::Oversized(start) => {
                locked(&self.counters).lines_oversized += 1;
                (*start, Incoming::oversized(start, self.max_line))
            }
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
                locked(&self.counters).requests_refused += 1;
                tracing::debug!(process = %self.name, method, "refused a call of the process");
                self.aside(rpc::refusal(&id));
            }
            Incoming::Notification { method } => {
                tracing::debug!(process = %self.name, method, "ignored a notification of the process");
            }
            Incoming::Noise { problem } => self.note_noise(text, &problem),
        }
    }

    /// Takes a line of the child's stderr.
    pub(super) fn overhear(&mut self, line: &Line<'_>) {
        let (Line::Text(text) | Line::Oversized(text)) = line;
        let text = String::from_utf8_lossy(text);
        tracing::info!(process = %self.name, "{text}");
        if self.stderr.len() == KEPT_LINES {
            self.stderr.pop_front();
        }
        self.stderr.push_back(shortened(&text, KEPT_LINE).into_owned());
    }

    /// Returns the last lines on stderr.
    pub(super) fn last_words(&mut self) -> String {
        Vec::from(std::mem::take(&mut self.stderr)).join("\n")
    }

    fn begin(&mut self, call: NewCall) {
        let NewCall { id, line, deadline, reply, room } = call;
        let noise_before = locked(&self.counters).lines_unparsable;
        self.calls.open(id, deadline, reply, noise_before);
        self.outgoing.push_call(id, line, room);
    }

    fn gave_up(&mut self, id: u64, begun: bool) {
        if !begun {
            self.outgoing.take_back(id);
            return;
        }
        // It need not answer a call that was given up. The first call is the handshake.
        self.served |= id > 1;
        if self.cancels {
            let (method, key) = match self.protocol {
                Protocol::Hooks => ("hook.cancel", "id"),
                Protocol::Mcp => (mcp::CANCELLED, "requestId"),
            };
            self.aside(rpc::notification(method, format!("{{\"{key}\":{id}}}").as_bytes()));
        }
    }

    fn aside(&mut self, line: Vec<u8>) {
        if !self.outgoing.push_aside(line) {
            tracing::debug!(process = %self.name, "a message was dropped: the process does not read");
        }
    }

    fn answer(&mut self, id: u64, reply: Reply) {
        let call = self.calls.close(id);
        self.hangs = false;
        // The first call is the handshake. A late reply counts, too.
        self.served |= id > 1;
        if call.is_none_or(|call| !call.answer(reply)) {
            let what = "dropped a reply: its call was answered before, or has timed out";
            let is_first = locked(&self.counters).replies_dropped == 0;
            locked(&self.counters).replies_dropped += 1;
            // Only the first is a warning, as for lines that are not messages.
            if is_first {
                tracing::warn!(process = %self.name, id, "{what}");
            } else {
                tracing::debug!(process = %self.name, id, "{what}");
            }
        }
    }

    fn note_noise(&mut self, line: &[u8], problem: &str) {
        let line = String::from_utf8_lossy(line);
        let shown = shortened(&line, SHOWN);
        let is_first = locked(&self.counters).lines_unparsable == 0;
        locked(&self.counters).lines_unparsable += 1;
        // Only the first is a warning: a child that prints its progress must not flood the log. The
        // line and the problem may quote what a call told the child.
        if is_first {
            tracing::warn!(process = %self.name, "skipped a line on stdout that is not a message");
        }
        tracing::debug!(process = %self.name, "skipped a line on stdout, {problem}: {shown}");
    }

    /// Says what is known about a call that was not answered in time.
    fn silence(&self, begun: bool, noise_before: u64) -> String {
        let waiting = self.outgoing.waiting();
        if !begun || waiting > 0 {
            return format!("it does not read its stdin; {waiting} bytes wait to be written");
        }
        match locked(&self.counters).lines_unparsable - noise_before {
            0 => "no answer came".to_owned(),
            lines => {
                format!("no answer came; meanwhile {lines} lines on its stdout were not messages")
            }
        }
    }
}
