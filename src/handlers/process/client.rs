//! One connection to one child: calls out, replies in, matched by id.
//!
//! Lock order: none of the locks here is ever held while another is taken.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::process::ChildStdin;
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep_until;

use super::outbox::{Kind, Message, Outbox, Unsent};
use super::rpc::{self, Incoming, Line, RpcError};
use super::statistics::Counters;
use crate::handlers::command::group::Group;

/// How many of a child's last lines on stderr are kept for messages, and how much of each.
const KEPT_LINES: usize = 8;
const KEPT_LINE: usize = 500;

/// How much of a line that is no message is shown.
const SHOWN: usize = 120;

/// A connection to a running child.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: Arc<str>,
    pub(super) outbox: Outbox<ChildStdin>,
    pub(super) counters: Arc<Counters>,
    /// Told when the child is to be stopped.
    pub(super) stop: Notify,
    calls: Mutex<Calls>,
    /// `None` once the child was reaped or given up.
    group: Mutex<Option<Group>>,
    pid: Option<u32>,
    max_line: usize,
    /// Whether the handshake is done.
    greeted: AtomicBool,
    /// Whether the child wants to hear of calls that nobody waits for any more.
    cancels: AtomicBool,
    said: Mutex<Said>,
    ended: Notify,
    /// Told when a call has to end before the alarm.
    sooner: Notify,
}

type Reply = oneshot::Sender<Result<String, CallError>>;

#[derive(Debug, Default)]
struct Calls {
    last: u64,
    /// The calls that somebody waits for: until when, and whom to tell, who is told only once.
    open: HashMap<u64, (Instant, Option<Reply>)>,
    /// When the deadlines are looked at next.
    alarm: Option<Instant>,
    /// Whether any call but the handshake was answered.
    served: bool,
    end: Option<Arc<End>>,
}

/// What a child said that is no answer, for messages.
#[derive(Debug, Default)]
struct Said {
    stderr: VecDeque<String>,
    noise: Option<String>,
}

/// How a connection ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) cause: String,
    /// The last lines on stderr.
    pub(super) stderr: String,
    /// Whether the child is to blame.
    pub(super) crashed: bool,
    /// Whether it had answered a call.
    pub(super) served: bool,
    pub(super) at: Instant,
}

/// Why a call has no result.
#[derive(Debug, Clone)]
pub(super) enum CallError {
    /// The child says so.
    Rpc(RpcError),
    /// The answer can't be read.
    Unreadable(String),
    /// The connection ended.
    Ended(Arc<End>),
    /// The connection was ending; the child has seen nothing of the call.
    Unsent,
    /// There was no answer in time; what is known about it.
    TimedOut(String),
}

impl Client {
    pub(super) fn new(
        name: Arc<str>,
        group: Group,
        outbox: Outbox<ChildStdin>,
        max_line: usize,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            name,
            outbox,
            counters,
            stop: Notify::new(),
            calls: Mutex::default(),
            pid: group.pid(),
            group: Mutex::new(Some(group)),
            max_line,
            greeted: AtomicBool::new(false),
            cancels: AtomicBool::new(false),
            said: Mutex::default(),
            ended: Notify::new(),
            sooner: Notify::new(),
        }
    }

    /// Calls `method` and returns the JSON text of the result.
    ///
    /// Dropping the future gives the call up: a reply that comes later is dropped and counted.
    pub(super) async fn call(
        &self,
        method: &str,
        params: &[u8],
        deadline: Instant,
    ) -> Result<String, CallError> {
        let (mut open, mut reply) = self.open(deadline)?;
        let noise = self.counters.lines_unparsable.get();
        let line = rpc::request(open.id, method, params);
        let result = tokio::select! {
            biased;
            sent = self.send(&mut open, line) => {
                sent?;
                reply.await
            }
            // It could not even be sent.
            result = &mut reply => result,
        };
        // The sender is only ever dropped together with the connection.
        match result.unwrap_or(Err(CallError::Unsent)) {
            Err(CallError::TimedOut(_)) => Err(CallError::TimedOut(self.silence(open.sent, noise))),
            result => result,
        }
    }

    /// Ends calls at their deadlines, for ever.
    ///
    /// One alarm for all calls, set anew only for one that ends before it: setting a timer of the
    /// runtime costs a wake-up of its driver, which would be a good part of a call's whole time.
    pub(super) async fn keep_deadlines(&self) -> Infallible {
        loop {
            match self.expire(Instant::now()) {
                Some(alarm) => tokio::select! {
                    () = sleep_until(alarm.into()) => {}
                    () = self.sooner.notified() => {}
                },
                None => self.sooner.notified().await,
            }
        }
    }

    /// Sends what is no call: dropped when the child does not read.
    pub(super) fn aside(&self, line: Vec<u8>) {
        if self.outbox.post(Message { kind: Kind::Aside, line }).is_err() {
            tracing::debug!(process = %self.name, "a message was dropped: the process does not read");
        }
    }

    /// Takes the child into service: it has returned the greeting.
    pub(super) fn welcome(&self, cancels: bool) {
        self.cancels.store(cancels, Ordering::Relaxed);
        self.greeted.store(true, Ordering::Relaxed);
        self.outbox.open_lane();
    }

    /// Takes a line of the child's stdout.
    pub(super) fn receive(&self, line: &Line<'_>) {
        let (text, message) = match line {
            Line::Text(text) => (*text, Incoming::read(text)),
            Line::Oversized(start) => {
                self.counters.lines_oversized.count();
                (*start, Incoming::oversized(start, self.max_line))
            }
        };
        match message {
            Incoming::Result { id, text } => self.answer(id, Ok(text)),
            Incoming::Error { id, error } => self.answer(id, Err(CallError::Rpc(error))),
            Incoming::Unreadable { id, problem } => {
                self.counters.lines_unparsable.count();
                self.answer(id, Err(CallError::Unreadable(problem)));
            }
            Incoming::Request { id, method } => {
                self.counters.requests_refused.count();
                tracing::debug!(process = %self.name, method, "refused a call of the process");
                self.aside(rpc::refusal(&id));
            }
            Incoming::Notification { method } => {
                tracing::debug!(process = %self.name, method, "ignored a notification of the process");
            }
            Incoming::Noise { problem } => self.noise(text, &problem),
        }
    }

    /// Takes a line of the child's stderr.
    pub(super) fn overhear(&self, line: &Line<'_>) {
        let (Line::Text(text) | Line::Oversized(text)) = line;
        let text = String::from_utf8_lossy(text);
        tracing::info!(process = %self.name, "{text}");
        let stderr = &mut lock(&self.said).stderr;
        if stderr.len() == KEPT_LINES {
            stderr.pop_front();
        }
        stderr.push_back(shortened(&text, KEPT_LINE));
    }

    /// Fails every open call and takes no more.
    pub(super) fn end(&self, cause: impl Into<String>, crashed: bool) {
        let stderr = Vec::from(std::mem::take(&mut lock(&self.said).stderr)).join("\n");
        let open = {
            let mut calls = lock(&self.calls);
            if calls.end.is_some() {
                return;
            }
            let open = std::mem::take(&mut calls.open);
            let end = End {
                cause: cause.into(),
                stderr,
                crashed,
                served: calls.served,
                at: Instant::now(),
            };
            calls.end = Some(Arc::new(end));
            open
        };
        // Dropping the guard kills whoever is left.
        drop(lock(&self.group).take());
        let lost = self.outbox.close();
        self.counters.notifications_dropped.add(lost as u64);
        if let Some(end) = self.ending() {
            // A start that fails is counted and told by who wanted it.
            if crashed && self.greeted.load(Ordering::Relaxed) {
                self.counters.crashes.count();
                tracing::warn!(process = %self.name, calls = open.len(), "process ended: {end}");
            }
            for call in open.into_values().filter_map(|(_, call)| call) {
                let _ = call.send(Err(CallError::Ended(Arc::clone(&end))));
            }
        }
        self.ended.notify_waiters();
    }

    /// Returns how the connection ended, when it has.
    pub(super) fn ending(&self) -> Option<Arc<End>> {
        lock(&self.calls).end.clone()
    }

    /// Waits until the connection has ended.
    pub(super) async fn wait_end(&self) -> Arc<End> {
        loop {
            let ended = self.ended.notified();
            if let Some(end) = self.ending() {
                return end;
            }
            ended.await;
        }
    }

    /// Returns whether the child owes answers.
    pub(super) fn owes(&self) -> bool {
        !lock(&self.calls).open.is_empty()
    }

    /// Waits for the child's exit, reaps it, and ends what is left of its group; `None` when it was
    /// given up.
    pub(super) async fn exited(&self) -> Option<io::Result<ExitStatus>> {
        poll_fn(|context| {
            let mut slot = lock(&self.group);
            match slot.as_mut() {
                None => std::task::Poll::Ready(None),
                // Losing this future loses nothing, so that it can be made anew for each look.
                Some(group) => pin!(group.wait_and_sweep()).poll(context).map(Some),
            }
        })
        .await
    }

    /// Asks the child's group to end (SIGTERM).
    pub(super) fn terminate(&self) {
        if let Some(group) = lock(&self.group).as_ref() {
            group.terminate();
        }
    }

    /// Ends the child's group (SIGKILL).
    pub(super) fn kill(&self) {
        if let Some(group) = lock(&self.group).as_ref() {
            group.kill();
        }
    }

    /// Returns the child's id while it runs.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid.filter(|_| self.ending().is_none())
    }

    fn open(
        &self,
        deadline: Instant,
    ) -> Result<(OpenCall<'_>, oneshot::Receiver<Result<String, CallError>>), CallError> {
        let (sender, reply) = oneshot::channel();
        let mut calls = lock(&self.calls);
        if calls.end.is_some() {
            return Err(CallError::Unsent);
        }
        calls.last += 1;
        let id = calls.last;
        calls.open.insert(id, (deadline, Some(sender)));
        if calls.alarm.is_none_or(|alarm| deadline < alarm) {
            calls.alarm = Some(deadline);
            drop(calls);
            self.sooner.notify_one();
        }
        Ok((OpenCall { client: self, id, sent: false }, reply))
    }

    /// Ends the calls whose deadline has come, and returns the next deadline.
    fn expire(&self, now: Instant) -> Option<Instant> {
        let mut calls = lock(&self.calls);
        let mut alarm = None;
        for (deadline, call) in calls.open.values_mut() {
            if *deadline > now {
                alarm = Some(alarm.map_or(*deadline, |alarm: Instant| alarm.min(*deadline)));
            } else if let Some(call) = call.take() {
                // Whoever waits knows more about it, and gives the call up.
                let _ = call.send(Err(CallError::TimedOut(String::new())));
            }
        }
        calls.alarm = alarm;
        alarm
    }

    async fn send(&self, open: &mut OpenCall<'_>, line: Vec<u8>) -> Result<(), CallError> {
        let mut message = Message { kind: Kind::Call(open.id), line };
        loop {
            let room = self.outbox.room();
            match self.outbox.post(message) {
                Ok(()) => {
                    open.sent = true;
                    return Ok(());
                }
                Err(Unsent::Closed) => return Err(CallError::Unsent),
                Err(Unsent::Full(back)) => message = back,
            }
            room.await;
        }
    }

    fn answer(&self, id: u64, result: Result<String, CallError>) {
        let call = {
            let mut calls = lock(&self.calls);
            let call = calls.open.remove(&id).and_then(|(_, call)| call);
            // The first is the handshake.
            calls.served |= call.is_some() && id > 1;
            call
        };
        if call.is_none_or(|call| call.send(result).is_err()) {
            self.counters.replies_dropped.count();
            tracing::debug!(process = %self.name, id, "dropped a reply to no open call");
        }
    }

    fn noise(&self, line: &[u8], problem: &str) {
        let shown = shortened(&String::from_utf8_lossy(line), SHOWN);
        // The first is worth a warning; a child that prints its progress shall not flood the log.
        if self.counters.lines_unparsable.count() == 1 {
            tracing::warn!(process = %self.name, "skipped a line on stdout, {problem}: {shown}");
        } else {
            tracing::debug!(process = %self.name, "skipped a line on stdout, {problem}: {shown}");
        }
        lock(&self.said).noise = Some(format!("`{shown}` ({problem})"));
    }

    /// Says what is known about a call that was not answered in time.
    fn silence(&self, sent: bool, noise: u64) -> String {
        let waiting = self.outbox.waiting();
        if !sent || waiting > 0 {
            return format!("it does not read its stdin; {waiting} bytes wait to be written");
        }
        let lines = self.counters.lines_unparsable.get() - noise;
        match &lock(&self.said).noise {
            Some(line) if lines > 0 => format!(
                "no answer came; meanwhile {lines} lines on its stdout were no messages, the last {line}"
            ),
            _ => "no answer came".to_owned(),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.cause)?;
        match self.stderr.lines().last() {
            Some(line) => write!(formatter, "; it last said: {line}"),
            None => Ok(()),
        }
    }
}

/// A call that waits for its reply. Dropped before that, it is given up.
struct OpenCall<'c> {
    client: &'c Client,
    id: u64,
    sent: bool,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        let Self { client, id, sent } = *self;
        if lock(&client.calls).open.remove(&id).is_none() {
            return;
        }
        if sent && client.outbox.take_back(id) && client.cancels.load(Ordering::Relaxed) {
            client.aside(rpc::notification("hook.cancel", format!("{{\"id\":{id}}}").as_bytes()));
        }
    }
}

fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
