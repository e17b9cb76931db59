//! A session or a turn: fills in the fields that all its events have in common, and begins drivers.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use futures_util::FutureExt as _;

use super::approval::ApprovalRequest;
use super::batch::Batch;
use super::compaction::{Compaction, CompactionSource};
use super::model_call::{ModelCall, ModelRequest};
use super::tool_call::{ToolCall, ToolFacts};
use super::tool_run::ToolRun;
use super::trail::Trail;
use crate::event::Event;
use crate::executor::{Decided, DispatchOptions, Executor};
use crate::locks::locked;
use crate::wire::{Input, JsonObject, Stop, StopScope, Verdict};

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
    pub(super) session_id: String,
    pub(super) cwd: String,
    pub(super) agent_name: Option<String>,
    pub(super) model_id: Option<String>,
    /// The host's own fields.
    pub(super) fields: JsonObject,
    pub(super) describe_tool: Option<Arc<DescribeTool>>,
    pub(super) deadline: CallerDeadline,
    /// The first stop of the session by a hook.
    pub(super) stopped: OnceLock<(Event, Stop)>,
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
    pub(super) fn executor(&self) -> Arc<Executor> {
        Arc::clone(&locked(&self.executor))
    }

    pub(super) fn facts_of(&self, tool: &str) -> ToolFacts {
        self.describe_tool.as_ref().map(|describe| describe(tool)).unwrap_or_default()
    }

    /// Remembers that a hook stopped the session.
    pub(super) fn note_stop(&self, verdict: &Verdict) {
        if let Some(stop) = &verdict.stop
            && stop.scope == StopScope::Session
        {
            self.stopped.get_or_init(|| (verdict.event, stop.clone()));
        }
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
    /// Whether the events of the newest error have fired.
    pub(super) error_told: AtomicBool,
}

impl Scope {
    /// Returns the driver around one tool call.
    pub fn tool_call<'a>(&self, call: ToolCall) -> ToolRun<'a> {
        ToolRun::new(self.clone(), call)
    }

    /// Returns the driver around the tool calls of one answer of the model.
    pub fn batch<'a>(&self, calls: Vec<ToolCall>) -> Batch<'a> {
        Batch::new(self.clone(), calls)
    }

    /// Returns the driver around one model call. In a turn it counts as the next iteration.
    pub fn model_call<'a>(&self, request: ModelRequest) -> ModelCall<'a> {
        ModelCall::new(self.clone(), request)
    }

    /// Returns the driver around a compaction of the conversation.
    pub fn compaction(&self, source: CompactionSource) -> Compaction {
        Compaction::new(self.clone(), source)
    }

    /// Returns an approval request for a call that is not driven yet, for hosts that ask
    /// beforehand. Pass the answer to [`ToolRun::approved`].
    pub fn approval_request(&self, call: &ToolCall) -> ApprovalRequest {
        ApprovalRequest::new(&self.session.session_id, call)
    }

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
        let named = |input: &mut Input| input.agent_name = Some(name.to_owned());
        let begun = self.fire_with(Event::SubagentStart, named).await;
        let run = async { run(begun.additional_context).await };
        let ended = AssertUnwindSafe(run).catch_unwind().await;
        let reason = if ended.is_ok() { "normal" } else { "error" };
        let named = |input: &mut Input| {
            input.agent_name = Some(name.to_owned());
            input.reason = Some(reason.to_owned());
        };
        let verdict = self.fire_with(Event::SubagentStop, named).await;
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
    pub async fn fire(&self, event: Event, mut input: Input) -> Verdict {
        if !self.has(event) {
            return Verdict::no_opinion(event);
        }
        self.fill(&mut input);
        let executor = self.session.executor();
        // Boxed, or every future of a host would carry its size.
        let verdict = Box::pin(executor.run(event, &input, self.options())).await;
        self.session.note_stop(&verdict);
        verdict
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
        let decided = self.session.executor().run_moment(events, &input, options).await;
        for verdict in &decided.verdicts {
            self.session.note_stop(verdict);
        }
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
        self.fire(event, input).await
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
        self.set_error_told(true);
    }

    pub(super) fn set_error_told(&self, told: bool) {
        if let Some(turn) = &self.turn {
            turn.error_told.store(told, Ordering::Relaxed);
        }
    }

    /// Counts a model call.
    pub(super) fn next_iteration(&self) {
        if let Some(turn) = &self.turn {
            turn.iteration.fetch_add(1, Ordering::Relaxed);
        }
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
        for (key, value) in &session.fields {
            if !input.extra.contains_key(key) {
                input.extra.insert(key.clone(), value.clone());
            }
        }
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
