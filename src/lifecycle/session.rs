//! A session of a host, from its first event to its last.

use std::fmt;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures_util::FutureExt as _;

use super::approval::ApprovalRequest;
use super::batch::Batch;
use super::compaction::{Compaction, CompactionSource};
use super::declared::DeclaredEvents;
use super::model_call::{ModelCall, ModelRequest};
use super::scope::{DescribeTool, Scope, SessionFacts};
use super::tool_call::{ToolCall, ToolFacts, message_of};
use super::tool_run::ToolRun;
use super::trail::{Refused, Trail};
use super::turn::{Turn, TurnEnd, TurnState};
use crate::config::Diagnostic;
use crate::event::Event;
use crate::executor::Executor;
use crate::wire::{Input, Verdict};

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionSource {
    /// It is new.
    Startup,
    /// It was stored and goes on.
    Resume,
    /// Its conversation was cleared.
    Clear,
    /// Its conversation was compacted.
    Compact,
}

impl SessionSource {
    const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
        }
    }
}

/// Collects the fields that all events of a session have in common.
#[must_use = "a session begins with `start`"]
pub struct SessionBuilder {
    session_id: String,
    cwd: String,
    agent_name: Option<String>,
    model_id: Option<String>,
    declared: DeclaredEvents,
    describe_tool: Option<Arc<DescribeTool>>,
    until: Option<Instant>,
}

impl fmt::Debug for SessionBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SessionBuilder")
            .field("session_id", &self.session_id)
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}

impl SessionBuilder {
    /// Sets the agent's working directory (default: the executor's).
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.cwd = directory.as_ref().to_string_lossy().into_owned();
        self
    }

    /// Sets the agent's name.
    pub fn agent_name(mut self, name: impl Into<String>) -> Self {
        self.agent_name = Some(name.into());
        self
    }

    /// Sets the model.
    pub fn model(mut self, model_id: impl Into<String>) -> Self {
        self.model_id = Some(model_id.into());
        self
    }

    /// Sets a function that describes each tool by name: hooks read it, and matchers match the
    /// kind. It is called again when a hook renames a call, so that a new name does not bypass a
    /// guard for a kind of tools.
    pub fn tools(mut self, describe: impl Fn(&str) -> ToolFacts + Send + Sync + 'static) -> Self {
        self.describe_tool = Some(Arc::new(describe));
        self
    }

    /// Sets when the caller needs its answer: hooks that are late fail. For a session that is attached for
    /// one request.
    #[doc(hidden)]
    pub fn until(mut self, deadline: Option<Instant>) -> Self {
        self.until = deadline;
        self
    }

    /// Declares the events that the host fires (default: [`DeclaredEvents::driven`]).
    pub fn declares(mut self, declared: DeclaredEvents) -> Self {
        self.declared = declared;
        self
    }

    /// Begins the session: fires `session_start`, and `on_session_resume` for a stored session.
    ///
    /// The log names hooks on events that the host does not fire, and [`Session::unfired`] returns
    /// them.
    pub async fn start(self, executor: impl Into<Arc<Executor>>, source: SessionSource) -> Session {
        let mut session = self.attach(executor);
        session.owes_end = true;
        session.scope.session.executor.start_processes();
        for hook in &session.unfired {
            tracing::warn!("{hook}");
        }
        let named = |input: &mut Input| input.source = Some(source.name().to_owned());
        let verdict = session.scope.fire_with(Event::SessionStart, named).await;
        session.opening.push(verdict);
        if source == SessionSource::Resume {
            let verdict = session.scope.fire_with(Event::OnSessionResume, named).await;
            session.opening.push(verdict);
        }
        session
    }

    /// Returns a session that began elsewhere, for example in another process; fires nothing.
    pub fn attach(self, executor: impl Into<Arc<Executor>>) -> Session {
        let Self { session_id, cwd, agent_name, model_id, declared, describe_tool, until } = self;
        let executor = executor.into();
        let unfired = declared.unfired(executor.hooks());
        let facts =
            SessionFacts { executor, session_id, cwd, agent_name, model_id, describe_tool, until };
        Session {
            scope: Scope { session: Arc::new(facts), turn: None },
            opening: Trail::default(),
            unfired,
            turns: AtomicU64::new(0),
            owes_end: false,
        }
    }
}

/// A session that began and must be [ended](Self::end).
///
/// * Order: `session_start` has fired when a host gets the session. `session_end` fires once, in
///   [`end`](Self::end), which consumes the session.
/// * Drop: a drop can't await anything, so `session_end` does not fire; the log says so.
/// * Sharing: every method but `end` takes `&self`; calls, turns and model calls may run at once.
#[must_use = "a session that is dropped without `end` fires no `session_end`"]
#[derive(Debug)]
pub struct Session {
    scope: Scope,
    opening: Trail,
    unfired: Vec<Diagnostic>,
    turns: AtomicU64,
    owes_end: bool,
}

impl Session {
    /// Returns a builder; the id is the host's own.
    pub fn builder(session_id: impl Into<String>) -> SessionBuilder {
        SessionBuilder {
            session_id: session_id.into(),
            cwd: String::new(),
            agent_name: None,
            model_id: None,
            declared: DeclaredEvents::driven(),
            describe_tool: None,
            until: None,
        }
    }

    /// Returns the hooks' answers at the start of the session: context for the model, and messages.
    pub const fn opening(&self) -> &Trail {
        &self.opening
    }

    /// Returns the configured hooks that this host never calls.
    pub fn unfired(&self) -> &[Diagnostic] {
        &self.unfired
    }

    /// Returns the executor.
    pub fn executor(&self) -> &Arc<Executor> {
        &self.scope.session.executor
    }

    /// Begins a turn with the user's prompt: `user_prompt_submit`, then `turn_start`.
    ///
    /// # Errors
    /// When a hook blocks the prompt; the turn has not begun then, and no `turn_end` follows.
    pub async fn turn(&self, prompt: impl Into<String>) -> Result<Turn, Box<Refused>> {
        self.begin_turn(self.next_turn_id(), Some(prompt.into())).await
    }

    /// Begins a turn without a prompt of the user: fires only `turn_start`.
    pub async fn turn_without_prompt(&self) -> Turn {
        let state = TurnState { turn_id: self.next_turn_id(), ..TurnState::default() };
        self.attach_turn(state).begin(Trail::default()).await
    }

    /// Begins a turn whose id is the host's own: `user_prompt_submit` if there is a prompt, then
    /// `turn_start`.
    ///
    /// # Errors
    /// When a hook blocks the prompt, as in [`turn`](Self::turn).
    pub async fn begin_turn(
        &self,
        turn_id: impl Into<String>,
        prompt: Option<String>,
    ) -> Result<Turn, Box<Refused>> {
        let turn_id = turn_id.into();
        let state = TurnState { turn_id, prompt: prompt.clone(), ..TurnState::default() };
        let turn = self.attach_turn(state);
        let mut opening = Trail::default();
        if let Some(prompt) = prompt {
            let submit = |input: &mut Input| input.prompt = Some(prompt);
            let verdict = turn.scope().fire_with(Event::UserPromptSubmit, submit).await;
            let (trail, verdict) = Refused::read(opening, verdict)?;
            opening = trail;
            opening.push(verdict);
        }
        Ok(turn.begin(opening).await)
    }

    /// Returns a turn that began elsewhere, for example in another process; fires nothing.
    pub fn attach_turn(&self, state: TurnState) -> Turn {
        Turn::new(&self.scope, state)
    }

    /// Leaves the session open, to be [attached](SessionBuilder::attach) and ended elsewhere.
    pub fn detach(mut self) {
        self.owes_end = false;
    }

    /// Begins a turn, passes it to `run`, and ends it in every case: `turn_end` fires also when
    /// `run` panics, and the panic goes on afterwards.
    ///
    /// # Errors
    /// When a hook blocks the prompt.
    pub async fn run_turn<F, R>(
        &self,
        prompt: impl Into<String>,
        run: F,
    ) -> Result<Trail, Box<Refused>>
    where
        F: FnOnce(Arc<Turn>) -> R,
        R: Future<Output = TurnEnd>,
    {
        let turn = Arc::new(self.turn(prompt).await?);
        let theirs = Arc::clone(&turn);
        match AssertUnwindSafe(async move { run(theirs).await }).catch_unwind().await {
            Ok(end) => Ok(turn.close(end).await),
            Err(payload) => {
                let error = format!("the turn panicked: {}", message_of(payload.as_ref()));
                turn.close(TurnEnd::Failed { error }).await;
                panic::resume_unwind(payload)
            }
        }
    }

    /// Returns the driver around one tool call outside a turn; see [`Turn::tool_call`].
    pub fn tool_call<'a>(&self, call: ToolCall) -> ToolRun<'a> {
        ToolRun::new(self.scope.clone(), call)
    }

    /// Returns the driver around the tool calls of one answer outside a turn.
    pub fn batch<'a>(&self, calls: Vec<ToolCall>) -> Batch<'a> {
        Batch::new(self.scope.clone(), calls)
    }

    /// Returns the driver around one model call outside a turn; see [`Turn::model_call`].
    pub fn model_call<'a>(&self, request: ModelRequest) -> ModelCall<'a> {
        ModelCall::new(self.scope.clone(), request)
    }

    /// Returns an approval request for a call that is not driven yet, for hosts that ask
    /// beforehand. Pass the answer to [`ToolRun::approved`].
    pub fn approval_request(&self, call: &ToolCall) -> ApprovalRequest {
        ApprovalRequest::new(&self.scope.session.session_id, call)
    }

    /// Returns the driver around a compaction of the conversation.
    pub fn compaction(&self, source: CompactionSource) -> Compaction {
        Compaction::new(self.scope.clone(), source)
    }

    /// Runs a subagent. `subagent_start` fires before it, and `run` gets the context that its hooks
    /// have for the subagent. `subagent_stop` fires in every case, with `reason` `error` after a
    /// panic.
    ///
    /// The subagent's own events belong to a session of its own. A `subagent_stop` hook can't keep
    /// the subagent at work here, because the driver does not know how to continue it.
    pub async fn subagent<T, F: Future<Output = T>>(
        &self,
        name: &str,
        run: impl FnOnce(Option<String>) -> F,
    ) -> T {
        let named = |input: &mut Input| input.agent_name = Some(name.to_owned());
        let begun = self.scope.fire_with(Event::SubagentStart, named).await;
        let run = async { run(begun.additional_context).await };
        let ended = AssertUnwindSafe(run).catch_unwind().await;
        let reason = if ended.is_ok() { "normal" } else { "error" };
        let named = |input: &mut Input| {
            input.agent_name = Some(name.to_owned());
            input.reason = Some(reason.to_owned());
        };
        let verdict = self.scope.fire_with(Event::SubagentStop, named).await;
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
        self.scope.notify(Event::Notification, level, message).await
    }

    /// Fires an event that no driver fires: `on_user_input`, `user_steering_messages_submit`,
    /// `user_followup_submit`, `on_agent_switch`, `worktree_create`.
    ///
    /// The fields that all events have in common are filled in.
    #[must_use = "the event may have been blocked"]
    pub async fn fire(&self, event: Event, input: Input) -> Verdict {
        self.scope.fire(event, input).await
    }

    /// Ends the session: `session_end` fires.
    pub async fn end(mut self, reason: impl Into<String>) -> Trail {
        self.owes_end = false;
        let reason = reason.into();
        let mut trail = Trail::default();
        let named = |input: &mut Input| input.reason = Some(reason);
        trail.push(self.scope.fire_with(Event::SessionEnd, named).await);
        trail
    }

    fn next_turn_id(&self) -> String {
        format!("turn-{}", self.turns.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.owes_end {
            tracing::warn!(
                session_id = %self.scope.session.session_id,
                "a session was dropped without `end`; its `session_end` hooks did not fire"
            );
        }
    }
}
