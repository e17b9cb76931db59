//! A session of a host, from its first event to its last.

use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::FutureExt as _;
use serde::Deserialize;
use serde_json::Value;

use super::declared::DeclaredEvents;
use super::outcome::{Outcome, Refused, Trail, refuses};
use super::owed::Owed;
use super::scope::{CallerDeadline, DescribeTool, Scope, SessionFacts};
use super::tool_call::ToolFacts;
use super::turn::{Finished, Turn, TurnEnd, TurnState};
use crate::config::Diagnostic;
use crate::event::Event;
use crate::executor::Executor;
use crate::handler::panic_text;
use crate::locks::locked;
use crate::wire::{Input, Stop};

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Fields that every input has.
    common: Input,
    declared: DeclaredEvents,
    describe_tool: Option<Arc<DescribeTool>>,
    deadline: CallerDeadline,
}

impl SessionBuilder {
    /// Sets the agent's working directory (default: the executor's).
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.common.cwd = directory.as_ref().to_string_lossy().into_owned();
        self
    }

    /// Sets the agent's name.
    pub fn agent_name(mut self, name: impl Into<String>) -> Self {
        self.common.agent_name = Some(name.into());
        self
    }

    /// Sets the model.
    pub fn model(mut self, model_id: impl Into<String>) -> Self {
        self.common.model_id = Some(model_id.into());
        self
    }

    /// Adds a field of the host's own, such as a tenant, to the input of every event.
    pub fn field(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.common.extra.insert(key.into(), value.into());
        self
    }

    /// Makes this the session of a subagent of `parent`: hooks read the parent's id in
    /// `parent_session_id`. What is set about the parent (the directory, the model, fields, tools)
    /// holds here, too, unless it is set afterwards.
    pub fn parent(mut self, parent: &Session) -> Self {
        let SessionFacts { common, describe_tool, .. } = &*parent.scope.session;
        let Input { session_id, agent_name, .. } = self.common;
        self.common = Input { session_id, agent_name, ..common.clone() };
        self.describe_tool.clone_from(describe_tool);
        self.field("parent_session_id", common.session_id.as_str())
    }

    /// Sets a function that describes each tool by name: hooks read it, and matchers match the
    /// kind. It is called again when a hook renames a call, so that a new name does not bypass a
    /// guard for a kind of tools.
    pub fn tools(mut self, describe: impl Fn(&str) -> ToolFacts + Send + Sync + 'static) -> Self {
        self.describe_tool = Some(Arc::new(describe));
        self
    }

    /// Sets when the caller needs its answers: hooks that are late fail.
    pub fn deadline(mut self, deadline: CallerDeadline) -> Self {
        self.deadline = deadline;
        self
    }

    /// Declares the events that the host fires (default: [`DeclaredEvents::driven`]).
    pub fn declares(mut self, declared: DeclaredEvents) -> Self {
        self.declared = declared;
        self
    }

    /// Begins the session: fires `session_start`, and `on_session_resume` for a stored session.
    ///
    /// The first session of an executor logs the hooks on events that the host does not fire, and
    /// [`Session::unfired`] returns them.
    pub async fn start(self, executor: impl Into<Arc<Executor>>, source: SessionSource) -> Session {
        let executor = executor.into();
        executor.start_processes();
        let mut session = self.attach(executor);
        session.owed.is_due = true;
        if !session.executor().unfired_told.swap(true, Ordering::Relaxed) {
            for hook in &session.unfired {
                tracing::warn!("{hook}");
            }
        }
        let events = [Event::SessionStart, Event::OnSessionResume];
        let fired = if source == SessionSource::Resume { &events[..] } else { &events[..1] };
        for event in fired {
            let firing =
                session.fire_with(*event, |input| input.source = Some(source.name().into()));
            let verdict = firing.await;
            session.opening.push(verdict);
        }
        session
    }

    /// Returns a session that began elsewhere, for example in another process; fires nothing.
    pub fn attach(self, executor: impl Into<Arc<Executor>>) -> Session {
        let executor = executor.into();
        let unfired = self.declared.unfired(executor.hooks());
        let owed = Owed::new(&self.common.session_id, DROPPED, false);
        let facts = SessionFacts {
            executor: Mutex::new(executor),
            common: self.common,
            describe_tool: self.describe_tool,
            deadline: self.deadline,
            stopped: OnceLock::new(),
        };
        Session {
            scope: Scope { session: Arc::new(facts), turn: None },
            opening: Trail::default(),
            unfired,
            turns: AtomicU64::new(0),
            owed,
        }
    }
}

/// A session that began and must be [ended](Self::end).
///
/// * Order: `session_start` has fired when a host gets the session. `session_end` fires once, in the
///   first [`end`](Self::end).
/// * Drop: a drop can't await anything, so `session_end` does not fire; the log says so.
/// * Sharing: every method takes `&self`; calls, turns and model calls may run at once.
/// * Stop: once a hook has stopped the session, it begins no further turn.
#[must_use = "a session that is dropped without `end` fires no `session_end`"]
#[derive(Debug)]
pub struct Session {
    scope: Scope,
    opening: Trail,
    unfired: Vec<Diagnostic>,
    turns: AtomicU64,
    owed: Owed,
}

impl Deref for Session {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Session {
    /// Returns a builder; the id is the host's own.
    pub fn builder(session_id: impl Into<String>) -> SessionBuilder {
        SessionBuilder {
            common: Input::default().with_session(session_id),
            declared: DeclaredEvents::driven(),
            describe_tool: None,
            deadline: CallerDeadline::default(),
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

    /// Returns the stop by which a hook ended the session.
    pub fn stopped(&self) -> Option<&Stop> {
        self.scope.session.stopped.get().map(|(_, stop)| stop)
    }

    /// Returns the executor.
    pub fn executor(&self) -> Arc<Executor> {
        self.scope.session.executor()
    }

    /// Goes on with another executor, such as a [`successor`](Executor::successor) of the present one,
    /// from the next event on. Hooks that run now end under the old one.
    pub fn replace_executor(&self, executor: impl Into<Arc<Executor>>) {
        let executor = executor.into();
        executor.start_processes();
        *locked(&self.scope.session.executor) = executor;
    }

    /// Begins a turn with the user's prompt: `user_prompt_submit`, then `turn_start`.
    ///
    /// # Errors
    /// When a hook blocks the prompt, or has stopped the session; the turn has not begun then, and no
    /// `turn_end` follows.
    pub async fn turn(&self, prompt: impl Into<String>) -> Result<Turn, Box<Refused>> {
        let number = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        self.begin_turn(format!("turn-{number}"), Some(prompt.into())).await
    }

    /// Begins a turn whose id is the host's own: `user_prompt_submit` if there is a prompt, then
    /// `turn_start`.
    ///
    /// # Errors
    /// When a hook blocks the prompt, or has stopped the session, as in [`turn`](Self::turn).
    pub async fn begin_turn(
        &self,
        turn_id: impl Into<String>,
        prompt: Option<String>,
    ) -> Result<Turn, Box<Refused>> {
        let mut opening = Trail::default();
        if let Some((by, stop)) = self.scope.session.stopped.get() {
            return Err(Box::new(Refused::stopped(*by, stop, opening)));
        }
        let turn_id = turn_id.into();
        let state = TurnState { turn_id, prompt: prompt.clone(), ..TurnState::default() };
        let turn = self.attach_turn(state);
        if let Some(prompt) = prompt {
            let firing =
                turn.fire_with(Event::UserPromptSubmit, |input| input.prompt = Some(prompt));
            let verdict = firing.await;
            opening.push(verdict.clone());
            if refuses(&verdict) {
                return Err(Box::new(Refused::of(&verdict, opening)));
            }
        }
        Ok(turn.begin(opening).await)
    }

    /// Leaves the session open, to be [attached](SessionBuilder::attach) and ended elsewhere.
    pub fn detach(self) {
        self.owed.settle();
    }

    /// Runs a turn: begins it with the prompt, passes it to `work`, and ends it in every case.
    /// `turn_end` fires also when `work` panics, and the panic goes on afterwards.
    ///
    /// If hooks ended the turn, that is its end, even if `work` returns an error that a framework made
    /// from it. `work` returns what [`Turn::finish`] returned, so the `stop` hooks have been asked:
    ///
    /// ```compile_fail,E0271
    /// # async fn run(session: hookexec::lifecycle::Session) {
    /// session.run_turn("What is here?", async |_turn| Ok("Nothing.".to_owned())).await;
    /// # }
    /// ```
    pub async fn run_turn<F, R>(&self, prompt: impl Into<String>, work: F) -> Outcome<String>
    where
        F: FnOnce(Arc<Turn>) -> R,
        R: Future<Output = Result<Finished, TurnEnd>>,
    {
        let turn = match self.turn(prompt).await {
            Ok(turn) => Arc::new(turn),
            Err(refused) => return Outcome::ended(TurnEnd::Refused(refused)),
        };
        let theirs = Arc::clone(&turn);
        match AssertUnwindSafe(async move { work(theirs).await }).catch_unwind().await {
            Ok(end) => {
                let end = end.map_err(|end| turn.cause_of(end));
                let trail = turn.close(end.as_ref().err()).await;
                Outcome { end: end.map(|finished| finished.response), trail }
            }
            Err(payload) => {
                let message = panic_text(&*payload);
                turn.end(Err(TurnEnd::failed(format!("the turn panicked: {message}")))).await;
                panic::resume_unwind(payload)
            }
        }
    }

    /// Ends the session: `session_end` fires. A second call does nothing.
    pub async fn end(&self, reason: impl Into<String>) -> Trail {
        let mut trail = Trail::default();
        if !self.owed.settle() {
            return trail;
        }
        let reason = reason.into();
        trail.push(self.fire_with(Event::SessionEnd, |input| input.reason = Some(reason)).await);
        trail
    }
}

/// The log line of a session that is dropped.
const DROPPED: &str = "a session was dropped without `end`; its `session_end` hooks did not fire";
