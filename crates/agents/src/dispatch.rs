//! One event of an agent is several of ours: all that are about the same moment.
//!
//! An agent knows one moment before a tool call where hookexec has three events, and a hook that is
//! configured and never called is worse than none. The order is that of the drivers in
//! [`lifecycle`](hookexec::lifecycle).

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Instant;

use serde_json::Value;

use super::native::Ask;
use super::own_commands;
use super::read::NativeCall;
use super::{Agent, NativeEvent};
use hookexec::event::{Event, Rewrite};
use hookexec::executor::{Executor, Wish};
use hookexec::wire::{Decision, Input, Verdict};

/// Runs the hooks of every event that `call` stands for and folds their verdicts into one.
///
/// # Panics
/// When it is not called within a Tokio runtime that has time and I/O enabled.
pub async fn dispatch(executor: &Executor, call: &NativeCall) -> Verdict {
    let mut moment = Moment::new(call);
    moment.run(executor, call, None).await;
    moment.into_verdict()
}

/// Returns the events that fire together with `event`, in order.
fn moments(event: Event) -> Vec<Event> {
    match event {
        Event::PreToolUse => vec![Event::ToolInputTransform, Event::ToolGuard, Event::PreToolUse],
        Event::PostToolUse => vec![Event::ToolResponseTransform, Event::PostToolUse],
        Event::SessionStart => vec![Event::SessionStart, Event::OnSessionResume],
        Event::UserPromptSubmit => vec![Event::UserPromptSubmit, Event::TurnStart],
        Event::Stop => vec![Event::Stop, Event::TurnEnd],
        Event::PreCompact => vec![Event::PreCompact, Event::BeforeCompaction],
        other => vec![other],
    }
}

/// Returns whether hooks that answer in the user's place are asked along with the guards: where
/// the agent itself would not come to them with what a guard asks.
fn consults_approvers(agent: Agent, native: &NativeEvent) -> bool {
    native.ask == Ask::Denies
        || !agent.events().iter().any(|native| native.event == Some(Event::PermissionRequest))
}

impl NativeEvent {
    /// Returns the events whose hooks run when this one fires, in order.
    #[must_use]
    pub fn fires(&self, agent: Agent) -> Vec<Event> {
        let mut events: Vec<Event> = self.event.map(moments).unwrap_or_default();
        if self.event == Some(Event::PreToolUse) && consults_approvers(agent, self) {
            events.push(Event::PermissionRequest);
        }
        events
    }
}

/// One moment of an agent on its way through our events.
///
/// It keeps what the hooks of one event have said while those of the next run, so that nothing is
/// lost when the caller stops [`run`](Self::run) and [gives up](Self::give_up).
#[derive(Debug)]
pub struct Moment {
    /// The events whose hooks have not answered yet, in order.
    left: VecDeque<Event>,
    /// The input, once a hook rewrote it.
    rewritten: Option<Input>,
    verdict: Verdict,
    /// Whether the mandatory guard asks; no hook can answer that in the user's place.
    guard_asks: bool,
    /// Whether the arguments are others than those the mandatory guard saw.
    unguarded: bool,
    /// Whether the response is another one than `tool_response_transform` left.
    untransformed: bool,
    /// Until when the hooks of the project may run that others run after.
    project_until: OnceLock<Instant>,
}

impl Moment {
    /// Returns the moment of `call`, before any of its hooks ran.
    #[must_use]
    pub fn new(call: &NativeCall) -> Self {
        let resumes = call.input.source.as_deref() == Some("resume");
        let mut left: VecDeque<Event> = call.event.map(moments).unwrap_or_default().into();
        left.retain(|event| resumes || *event != Event::OnSessionResume);
        let denial = own_commands::denial(call);
        if denial.is_some() {
            left.clear();
        }
        let no_opinion = || Verdict::no_opinion(call.event.unwrap_or(Event::Notification));
        Self {
            left,
            rewritten: None,
            verdict: denial.unwrap_or_else(no_opinion),
            guard_asks: false,
            unguarded: false,
            untransformed: false,
            project_until: OnceLock::new(),
        }
    }

    /// Runs the hooks. Those that are late at `deadline` fail by their own `on_error`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn run(&mut self, executor: &Executor, call: &NativeCall, deadline: Option<Instant>) {
        if self.is_over() {
            return;
        }
        while let Some(event) = self.left.front().copied() {
            self.fire(event, executor, call, deadline).await;
            self.left.pop_front();
            if self.untransformed {
                // The redactors see the response that the model will see, also if it is objected
                // to.
                self.fire_again(Event::ToolResponseTransform, executor, call, deadline).await;
            }
            if self.is_over() {
                self.left.clear();
                return;
            }
            if event == Event::PermissionRequest {
                self.guard_approved(call);
            }
        }
        if call.event == Some(Event::PreToolUse) {
            if self.unguarded {
                // The mandatory guard sees the arguments that will be executed.
                self.fire_again(Event::ToolGuard, executor, call, deadline).await;
            }
            if consults_approvers(call.agent, call.native) {
                self.approve(executor, call, deadline).await;
            }
        }
    }

    /// Leaves the background hooks that have not started to another process, if `executor` is
    /// [handing them over](Executor::handing_over_background). It leaves out events that can be
    /// rewritten: their background hooks would see what a redactor has not looked at.
    pub fn hand_over_background(&self, executor: &Executor, call: &NativeCall) {
        for event in self.left.iter().filter(|it| it.contract().rewrite == Rewrite::None) {
            let input = self.rewritten.as_ref().unwrap_or(&call.input);
            executor.hand_over(*event, input);
        }
    }

    /// Has the hooks fail, by their own `on_error`, that have not answered yet.
    pub fn give_up(&mut self, executor: &Executor, call: &NativeCall, why: &str) {
        let guard = (self.unguarded && !self.is_over()).then_some(Event::ToolGuard);
        let redactors = self.untransformed.then_some(Event::ToolResponseTransform);
        for event in std::mem::take(&mut self.left).into_iter().chain(guard).chain(redactors) {
            let input = self.rewritten.as_ref().unwrap_or(&call.input);
            self.verdict.absorb(executor.failed(event, Some(input), why));
        }
    }

    /// Returns what the hooks have said together.
    #[must_use]
    pub fn into_verdict(self) -> Verdict {
        self.verdict
    }

    async fn fire(
        &mut self,
        event: Event,
        executor: &Executor,
        call: &NativeCall,
        deadline: Option<Instant>,
    ) {
        if !executor.has(event) {
            return;
        }
        let again: &[Event] = match call.event {
            Some(Event::PreToolUse) => &[Event::ToolGuard, Event::PermissionRequest],
            Some(Event::PostToolUse) => &[Event::ToolResponseTransform],
            _ => &[],
        };
        let mut later = self.left.iter().chain(again).filter(|it| **it != event);
        let others_follow = later.any(|event| executor.has_others(*event));
        let project_until = Some(&self.project_until);
        let wish = Wish { deadline, others_follow, project_until, observer: None };
        let mut verdict = self.ask(event, executor, call, wish).await;
        if self.verdict.withholds() {
            verdict.updated_tool_response = None;
        }
        if event == Event::ToolResponseTransform {
            self.untransformed = false;
        }
        if event == Event::ToolGuard {
            self.guard_asks |= verdict.decision == Some(Decision::Ask);
            self.unguarded = false;
        }
        if verdict.updated_input.is_some() || verdict.updated_tool_response.is_some() {
            let input = self.rewritten.get_or_insert_with(|| call.input.clone());
            if let Some(arguments) = &verdict.updated_input {
                input.tool_input = Some(arguments.clone());
                self.unguarded = true;
            }
            if let Some(response) = &verdict.updated_tool_response {
                input.tool_response = Some(response.clone());
                // What a hook withheld holds nothing that could be redacted.
                self.untransformed = event != Event::ToolResponseTransform && !verdict.withholds();
            }
        }
        self.verdict.absorb(verdict);
    }

    async fn ask(
        &self,
        event: Event,
        executor: &Executor,
        call: &NativeCall,
        wish: Wish<'_>,
    ) -> Verdict {
        executor.run(event, self.rewritten.as_ref().unwrap_or(&call.input), wish).await
    }

    /// Runs the hooks of `event` once more, on what later hooks rewrote.
    async fn fire_again(
        &mut self,
        event: Event,
        executor: &Executor,
        call: &NativeCall,
        deadline: Option<Instant>,
    ) {
        self.say_repeated(true);
        self.fire(event, executor, call, deadline).await;
        self.say_repeated(false);
    }

    fn say_repeated(&mut self, repeated: bool) {
        if let Some(input) = &mut self.rewritten {
            input.repeated = repeated;
        }
    }

    /// Returns whether nothing that follows could matter: it is denied, ended, or about another
    /// tool, which no agent calls at a hook's word.
    fn is_over(&self) -> bool {
        self.verdict.decision == Some(Decision::Deny)
            || self.verdict.stop.is_some()
            || self.verdict.updated_tool_name.is_some()
    }

    /// Has the guards see the arguments with which a hook approved the call: they judged others.
    fn guard_approved(&mut self, call: &NativeCall) {
        let changed = self.verdict.claude_code.get("updatedInput").cloned();
        let Some(Value::Object(arguments)) = changed else { return };
        self.rewritten.get_or_insert_with(|| call.input.clone()).tool_input = Some(arguments);
        self.left.extend([Event::ToolGuard, Event::PreToolUse]);
    }

    /// Asks the hooks that answer in the user's place, when a hook asks.
    async fn approve(&mut self, executor: &Executor, call: &NativeCall, deadline: Option<Instant>) {
        let asks = self.verdict.decision == Some(Decision::Ask);
        if !asks || !executor.has(Event::PermissionRequest) {
            return;
        }
        let wish = Wish { deadline, ..Wish::default() };
        let answer = self.ask(Event::PermissionRequest, executor, call, wish).await;
        if answer.decision == Some(Decision::Allow) && !self.guard_asks {
            self.verdict.decision = None;
            self.verdict.allowed = true;
            self.verdict.message = None;
        }
        self.verdict.absorb(answer);
    }
}
