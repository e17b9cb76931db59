//! The calls that wait for a reply, and their deadlines.

use std::collections::HashMap;
use std::time::Instant;

use tokio::sync::oneshot;

use super::connection::{CallError, Reply};

/// The calls of one connection that wait for a reply.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    calls: HashMap<u64, OpenCall>,
    /// When the deadlines have to be looked at next: never later than the earliest of them.
    alarm: Option<Instant>,
}

/// A call that waits for its reply.
#[derive(Debug)]
pub(super) struct OpenCall {
    deadline: Instant,
    reply: oneshot::Sender<Reply>,
    /// Whether the child may have seen a part of it.
    pub(super) begun: bool,
    /// How many lines that are not messages the child had written before.
    pub(super) noise_before: u64,
}

impl OpenCall {
    /// Hands the reply to the caller; returns whether the caller still waits for it.
    pub(super) fn answer(self, reply: Reply) -> bool {
        self.reply.send(reply).is_ok()
    }
}

impl OpenCalls {
    /// Adds a call.
    pub(super) fn open(
        &mut self,
        id: u64,
        deadline: Instant,
        reply: oneshot::Sender<Reply>,
        noise_before: u64,
    ) {
        if self.alarm.is_none_or(|alarm| deadline < alarm) {
            self.alarm = Some(deadline);
        }
        self.calls.insert(id, OpenCall { deadline, reply, begun: false, noise_before });
    }

    /// Takes a call out.
    pub(super) fn close(&mut self, id: u64) -> Option<OpenCall> {
        self.calls.remove(&id)
    }

    /// Notes that the child may have seen a part of the call.
    pub(super) fn begin(&mut self, id: u64) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.begun = true;
        }
    }

    /// Returns whether the child owes a reply.
    pub(super) fn owes(&self) -> bool {
        self.calls.values().any(|call| call.begun)
    }

    /// Returns when [`expired`](Self::expired) has to be called next.
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.alarm
    }

    /// Takes the calls out whose deadline has passed.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<(u64, OpenCall)> {
        let expired = self.calls.extract_if(|_, call| call.deadline <= now).collect();
        self.alarm = self.calls.values().map(|call| call.deadline).min();
        expired
    }

    /// Fails every call: `error` is for those that the child may have seen.
    pub(super) fn fail(&mut self, error: &CallError) -> usize {
        let calls = std::mem::take(&mut self.calls);
        let count = calls.len();
        for call in calls.into_values() {
            let begun = call.begun;
            call.answer(Err(if begun { error.clone() } else { CallError::Unsent }));
        }
        count
    }
}
