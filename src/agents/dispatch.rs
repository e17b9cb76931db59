//! One event of an agent is several of ours: all that are about the same moment.
//!
//! An agent knows one moment before a tool call where hookexec has three events, and a hook that is
//! configured and never called is worse than none. The order is that of the drivers in
//! [`lifecycle`](crate::lifecycle).

use std::borrow::Cow;

use super::native::Ask;
use super::read::NativeCall;
use super::{Agent, NativeEvent};
use crate::event::Event;
use crate::executor::Executor;
use crate::wire::{Decision, Input, Verdict};

/// Runs the hooks of every event that `call` stands for and folds their verdicts into one.
///
/// # Panics
/// When it is not called within a Tokio runtime that has time and I/O enabled.
pub async fn dispatch(executor: &Executor, call: &NativeCall) -> Verdict {
    let Some(event) = call.event else { return Verdict::no_opinion(Event::Notification) };
    let mut run = Run::new(executor, &call.input, event);
    for step in moments(event) {
        if step == Event::OnSessionResume && call.input.source.as_deref() != Some("resume") {
            continue;
        }
        run.fire(step).await;
        if run.is_over() {
            return run.verdict;
        }
    }
    if event == Event::PreToolUse {
        run.guard_again().await;
        if consults_approvers(call.agent, call.native) {
            run.approve().await;
        }
    }
    run.verdict
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
struct Run<'r> {
    executor: &'r Executor,
    input: Cow<'r, Input>,
    verdict: Verdict,
    /// Whether the mandatory guard asks; no hook can answer that in the user's place.
    guard_asks: bool,
    /// Whether the arguments are others than those the mandatory guard saw.
    unguarded: bool,
}

impl<'r> Run<'r> {
    fn new(executor: &'r Executor, input: &'r Input, event: Event) -> Self {
        Self {
            executor,
            input: Cow::Borrowed(input),
            verdict: Verdict::no_opinion(event),
            guard_asks: false,
            unguarded: false,
        }
    }

    async fn fire(&mut self, event: Event) {
        if !self.executor.has(event) {
            return;
        }
        let verdict = self.executor.dispatch(event, &self.input).await;
        if event == Event::ToolGuard {
            self.guard_asks |= verdict.decision == Some(Decision::Ask);
            self.unguarded = false;
        }
        if let Some(arguments) = &verdict.updated_input {
            self.input.to_mut().tool_input = Some(arguments.clone());
            self.unguarded = true;
        }
        if let Some(response) = &verdict.updated_tool_response {
            self.input.to_mut().tool_response = Some(response.clone());
        }
        merge(&mut self.verdict, verdict);
    }

    /// Returns whether nothing that follows could matter: it is denied, ended, or about another
    /// tool, which no agent calls at a hook's word.
    fn is_over(&self) -> bool {
        self.verdict.decision == Some(Decision::Deny)
            || self.verdict.stop.is_some()
            || self.verdict.updated_tool_name.is_some()
    }

    /// Shows the mandatory guard the arguments that will be executed.
    async fn guard_again(&mut self) {
        if self.unguarded {
            self.fire(Event::ToolGuard).await;
        }
    }

    /// Asks the hooks that answer in the user's place, when a hook asks.
    async fn approve(&mut self) {
        let asks = self.verdict.decision == Some(Decision::Ask);
        if !asks || !self.executor.has(Event::PermissionRequest) {
            return;
        }
        let answer = self.executor.dispatch(Event::PermissionRequest, &self.input).await;
        if answer.decision == Some(Decision::Allow) && !self.guard_asks {
            self.verdict.decision = None;
            self.verdict.allowed = true;
            self.verdict.message = None;
        }
        merge(&mut self.verdict, answer);
    }
}

/// Adds a later verdict on the same moment: the strictest decision counts, and what was said last
/// of a thing that only one can say.
fn merge(verdict: &mut Verdict, next: Verdict) {
    let join = |before: &mut Option<String>, after: Option<String>| match (before, after) {
        (Some(before), Some(after)) => {
            before.push('\n');
            before.push_str(&after);
        }
        (before, after) => *before = before.take().or(after),
    };
    if next.decision > verdict.decision {
        verdict.decision = next.decision;
        verdict.message = next.message;
        verdict.exit_code = next.exit_code;
        verdict.stderr = next.stderr;
    } else if next.decision == verdict.decision {
        join(&mut verdict.message, next.message);
    }
    verdict.allowed &= next.allowed;
    verdict.hooks.extend(next.hooks);
    join(&mut verdict.additional_context, next.additional_context);
    join(&mut verdict.system_message, next.system_message);
    verdict.updated_input = next.updated_input.or(verdict.updated_input.take());
    verdict.updated_tool_name = next.updated_tool_name.or(verdict.updated_tool_name.take());
    verdict.updated_messages = next.updated_messages.or(verdict.updated_messages.take());
    verdict.updated_request = next.updated_request.or(verdict.updated_request.take());
    verdict.updated_response = next.updated_response.or(verdict.updated_response.take());
    verdict.updated_tool_response =
        next.updated_tool_response.or(verdict.updated_tool_response.take());
    verdict.summary = verdict.summary.take().or(next.summary);
    verdict.metadata.extend(next.metadata);
    verdict.respond = verdict.respond.take().or(next.respond);
    verdict.stop = verdict.stop.take().or(next.stop);
    verdict.suppress_output |= next.suppress_output;
    verdict.failed_open.extend(next.failed_open);
}
