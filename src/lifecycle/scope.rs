//! Fills in the fields that all events of a session or a turn have in common.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::tool_call::ToolFacts;
use super::trail::Trail;
use crate::event::Event;
use crate::executor::{Decided, DispatchOptions, Executor};
use crate::locks::locked;
use crate::wire::{Input, Verdict};

/// Where events come from: a session, and a turn of it.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) session: Arc<SessionFacts>,
    pub(super) turn: Option<Arc<TurnFacts>>,
}

/// Returns what the host knows about a tool, by name.
pub(super) type DescribeTool = dyn Fn(&str) -> ToolFacts + Send + Sync;

pub(super) struct SessionFacts {
    pub(super) executor: Arc<Executor>,
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) agent_name: Option<String>,
    pub(super) model_id: Option<String>,
    pub(super) describe_tool: Option<Arc<DescribeTool>>,
    pub(super) deadline: CallerDeadline,
}

/// When the caller needs its answer, if it said so. Of a call that stays open it changes with each request.
#[derive(Debug, Clone, Default)]
#[doc(hidden)]
pub struct CallerDeadline(Arc<Mutex<Option<Instant>>>);

impl CallerDeadline {
    /// Sets when the caller needs its next answer.
    pub fn set(&self, until: Option<Instant>) {
        *locked(&self.0) = until;
    }

    fn get(&self) -> Option<Instant> {
        *locked(&self.0)
    }
}

impl SessionFacts {
    pub(super) fn facts_of(&self, tool: &str) -> ToolFacts {
        self.describe_tool.as_ref().map(|describe| describe(tool)).unwrap_or_default()
    }
}

impl fmt::Debug for SessionFacts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SessionFacts")
            .field("session_id", &self.session_id)
            .field("agent_name", &self.agent_name)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct TurnFacts {
    pub(super) turn_id: String,
    pub(super) last_user_message: Option<String>,
    /// The number of model calls of the turn so far.
    pub(super) iteration: AtomicU64,
}

impl Scope {
    pub(super) fn has(&self, event: Event) -> bool {
        self.session.executor.has(event)
    }

    /// Fires an event; fields that the host has set in `input` stay.
    pub(super) async fn fire(&self, event: Event, mut input: Input) -> Verdict {
        if !self.has(event) {
            return Verdict::no_opinion(event);
        }
        self.fill(&mut input);
        // Boxed, or every future of a host would carry its size.
        Box::pin(self.session.executor.run(event, &input, self.options())).await
    }

    /// Returns how hooks are called.
    pub(super) fn options(&self) -> DispatchOptions<'static> {
        DispatchOptions { until: self.session.deadline.get(), ..DispatchOptions::default() }
    }

    /// Fires events that belong together.
    pub(super) async fn fire_together(
        &self,
        events: &[Event],
        mut input: Input,
        options: DispatchOptions<'_>,
    ) -> Decided {
        if !events.iter().any(|event| self.has(*event)) {
            return Decided::no_opinion(events);
        }
        self.fill(&mut input);
        let options = DispatchOptions { until: self.session.deadline.get(), ..options };
        self.session.executor.run_moment(events, &input, options).await
    }

    /// Fires an event whose input is made only when a hook is configured for it.
    pub(super) async fn fire_with(
        &self,
        event: Event,
        make: impl FnOnce(&mut Input) + Send,
    ) -> Verdict {
        if !self.has(event) {
            return Verdict::no_opinion(event);
        }
        let mut input = Input::default();
        make(&mut input);
        self.fire(event, input).await
    }

    /// Fires an event about a warning or an error.
    pub(super) async fn notify(&self, event: Event, level: &str, message: &str) -> Verdict {
        self.fire_with(event, |input| {
            input.notification_level = Some(level.to_owned());
            input.notification_message = Some(message.to_owned());
        })
        .await
    }

    /// Fires the two events about an error.
    pub(super) async fn tell(&self, error: &str, trail: &mut Trail) {
        for event in [Event::Notification, Event::OnError] {
            trail.push(self.notify(event, "error", error).await);
        }
    }

    /// Counts a model call and returns its number, from 1; 0 outside a turn.
    pub(super) fn next_iteration(&self) -> u64 {
        self.turn.as_ref().map_or(0, |turn| turn.iteration.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(super) fn fill(&self, input: &mut Input) {
        let session = &*self.session;
        if input.session_id.is_empty() {
            input.session_id.clone_from(&session.session_id);
        }
        if input.cwd.is_empty() {
            input.cwd.clone_from(&session.cwd);
        }
        let fill = |field: &mut Option<String>, value: &Option<String>| {
            if field.is_none() {
                field.clone_from(value);
            }
        };
        fill(&mut input.agent_name, &session.agent_name);
        fill(&mut input.model_id, &session.model_id);
        if let Some(turn) = &self.turn {
            if input.turn_id.is_none() {
                input.turn_id = Some(turn.turn_id.clone());
            }
            fill(&mut input.last_user_message, &turn.last_user_message);
            let iteration = turn.iteration.load(Ordering::Relaxed);
            if input.iteration.is_none() && iteration > 0 {
                input.iteration = Some(iteration);
            }
        }
    }
}
