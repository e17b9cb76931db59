//! A session or a turn: fills in the fields that all its events have in common, and begins drivers.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use futures_util::FutureExt as _;

use super::outcome::{Outcome, Refused, Trail};
use super::tool_call::ToolFacts;
use super::turn::{TurnEnd, TurnState};
use crate::event::Event;
use crate::executor::{Decided, DispatchOptions, Executor};
use crate::locks::locked;
use crate::wire::{Input, Stop, StopScope, Verdict, is_empty};

/// A session, or a turn of it: every driver begins here. [`Session`](super::Session) and
/// [`Turn`](super::Turn) dereference to it.
#[derive(Clone, Debug)]
pub struct Scope {
    pub(super) session: Arc<SessionFacts>,
    pub(super) turn: Option<Arc<TurnFacts>>,
}

/// Returns what the host knows about a tool, by name.
pub(super) type DescribeTool = dyn Fn(&str) -> ToolFacts + Send + Sync;

pub(super) struct SessionFacts {
    pub(super) executor: Mutex<Arc<Executor>>,
    /// Fields that every input has: the session, the agent and the host's own fields.
    pub(super) common: Input,
    pub(super) describe_tool: Option<Arc<DescribeTool>>,
    pub(super) deadline: CallerDeadline,
    /// The first stop of the session by a hook.
    pub(super) stopped: OnceLock<(Event, Stop)>,
}

/// When the caller needs its answer, if it said so. Of a call that stays open it changes with each request.
#[derive(Debug, Clone, Default)]
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
    pub(super) fn executor(&self) -> Arc<Executor> {
        Arc::clone(&locked(&self.executor))
    }

    pub(super) fn facts_of(&self, tool: &str) -> ToolFacts {
        self.describe_tool.as_ref().map(|describe| describe(tool)).unwrap_or_default()
    }
}

impl fmt::Debug for SessionFacts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SessionFacts")
            .field("session_id", &self.common.session_id)
            .field("agent_name", &self.common.agent_name)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) struct TurnFacts {
    pub(super) state: Mutex<TurnState>,
    /// The newest refusal by a hook, until the next model call.
    pub(super) refused: Mutex<Option<Box<Refused>>>,
}

impl Scope {
    /// Runs a subagent. `subagent_start` fires before it, and `run` gets the context that its hooks
    /// have for the subagent. `subagent_stop` fires in every case, with `reason` `error` after a
    /// panic.
    ///
    /// The subagent's own events belong to a session of its own, made with
    /// [`SessionBuilder::parent`](super::SessionBuilder::parent). A `subagent_stop` hook can't keep
    /// the subagent at work here, because the driver does not know how to continue it.
    pub async fn subagent<T, F: Future<Output = T>>(
        &self,
        name: &str,
        run: impl FnOnce(Option<String>) -> F,
    ) -> T {
        let firing =
            self.fire_with(Event::SubagentStart, |input| input.agent_name = Some(name.into()));
        let begun = firing.await;
        let run = async { run(begun.additional_context).await };
        let ended = AssertUnwindSafe(run).catch_unwind().await;
        let reason = if ended.is_ok() { "normal" } else { "error" };
        let firing = self.fire_with(Event::SubagentStop, |input| {
            input.agent_name = Some(name.into());
            input.reason = Some(reason.into());
        });
        let verdict = firing.await;
        if !verdict.allowed {
            tracing::warn!(
                subagent = name,
                "a `subagent_stop` hook wants the subagent to go on, which this driver can't do"
            );
        }
        ended.unwrap_or_else(|payload| panic::resume_unwind(payload))
    }

    /// Fires `notification`; the level is `error` or `warning`.
    pub async fn notify(&self, level: &str, message: &str) -> Verdict {
        self.fire_notice(Event::Notification, level, message).await
    }

    /// Fires an event that no driver fires: `on_user_input`, `user_steering_messages_submit`,
    /// `user_followup_submit`, `on_agent_switch`, `worktree_create`.
    ///
    /// The fields that all events have in common are filled in, unless `input` has them.
    #[must_use = "the event may have been blocked"]
    pub async fn fire(&self, event: Event, input: Input) -> Verdict {
        self.fire_with(event, |made| *made = input).await
    }

    /// Returns whether a host that streams must hold the model's text back until the model call has
    /// ended: a hook of `after_llm_call` may change it or withhold it.
    pub fn holds_text_back(&self) -> bool {
        !self.session.executor().plan(Event::AfterLlmCall).hooks.is_empty()
    }

    pub(super) fn has(&self, event: Event) -> bool {
        self.session.executor().has(event)
    }

    /// Returns how hooks are called.
    pub(super) fn options(&self) -> DispatchOptions<'static> {
        DispatchOptions { until: self.session.deadline.get(), ..DispatchOptions::default() }
    }

    /// Fires events that belong together. The verdict of all names the event that decided.
    pub(super) async fn fire_together(
        &self,
        events: &[Event],
        options: DispatchOptions<'_>,
        make: impl FnOnce(&mut Input) + Send,
    ) -> Decided {
        if !events.iter().any(|event| self.has(*event)) {
            return Decided::no_opinion(events);
        }
        let mut input = Input::default();
        make(&mut input);
        self.fill(&mut input);
        let options = DispatchOptions { until: self.session.deadline.get(), ..options };
        let mut decided = self.session.executor().run_moment(events, &input, options).await;
        let whole = &mut decided.verdict;
        let first = decided.verdicts.iter().find(|verdict| match &whole.stop {
            Some(stop) => verdict.stop.as_ref() == Some(stop),
            None => verdict.decision == whole.decision,
        });
        whole.event = first.map_or(whole.event, |verdict| verdict.event);
        self.note_stop(whole);
        decided
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
        self.fill(&mut input);
        let executor = self.session.executor();
        // Boxed, or every future of a host would carry its size.
        let verdict = Box::pin(executor.run(event, &input, self.options())).await;
        self.note_stop(&verdict);
        verdict
    }

    /// Fires an event about a warning or an error.
    pub(super) async fn fire_notice(&self, event: Event, level: &str, message: &str) -> Verdict {
        self.fire_with(event, |input| {
            input.notification_level = Some(level.to_owned());
            input.notification_message = Some(message.to_owned());
        })
        .await
    }

    /// Fires the two events about an error. The end of the turn does not fire them again.
    pub(super) async fn fire_error(&self, error: &str, trail: &mut Trail) {
        for event in [Event::Notification, Event::OnError] {
            trail.push(self.fire_notice(event, "error", error).await);
        }
        if let Some(turn) = &self.turn {
            locked(&turn.state).error_told = true;
        }
    }

    /// Counts a model call: the turn goes on.
    pub(super) fn next_iteration(&self) {
        if let Some(turn) = &self.turn {
            let mut state = locked(&turn.state);
            state.iteration += 1;
            state.error_told = false;
            *locked(&turn.refused) = None;
        }
    }

    /// Remembers that a hook stopped the turn or the session.
    pub(super) fn note_stop(&self, verdict: &Verdict) {
        let Some(stop) = &verdict.stop else { return };
        if stop.scope == StopScope::Session {
            self.session.stopped.get_or_init(|| (verdict.event, stop.clone()));
        }
        if let Some(turn) = &self.turn {
            *locked(&turn.refused) = Some(Box::new(Refused::of(verdict, Trail::default())));
        }
    }

    /// Returns the end of a model call or a compaction that a hook refused.
    pub(super) fn refused(&self, verdict: &Verdict, trail: Trail) -> TurnEnd {
        let refused = Box::new(Refused::of(verdict, trail));
        if let Some(turn) = &self.turn {
            *locked(&turn.refused) = Some(refused.clone());
        }
        TurnEnd::Refused(refused)
    }

    /// Returns the outcome of a model call or a compaction that failed, after the events of its error.
    pub(super) async fn failed<T>(&self, error: &str, mut trail: Trail) -> Outcome<T> {
        self.fire_error(error, &mut trail).await;
        Outcome { end: Err(TurnEnd::failed(error)), trail }
    }

    pub(super) fn fill(&self, input: &mut Input) {
        let common = &self.session.common;
        fill_in(&mut input.session_id, &common.session_id);
        fill_in(&mut input.cwd, &common.cwd);
        fill_in(&mut input.agent_name, &common.agent_name);
        fill_in(&mut input.model_id, &common.model_id);
        for (key, value) in &common.extra {
            if !input.extra.contains_key(key) {
                input.extra.insert(key.clone(), value.clone());
            }
        }
        if let Some(turn) = &self.turn {
            let state = locked(&turn.state);
            fill_in(&mut input.last_user_message, &state.prompt);
            input.turn_id.get_or_insert_with(|| state.turn_id.clone());
            if state.iteration > 0 {
                input.iteration.get_or_insert(state.iteration);
            }
        }
    }
}

/// Sets a field that is empty to what all events have in common.
fn fill_in<T: Clone + Default + PartialEq>(field: &mut T, common: &T) {
    if is_empty(field) {
        field.clone_from(common);
    }
}
