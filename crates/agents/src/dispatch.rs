//! One event of an agent is several of ours: all that are about the same moment.
//!
//! An agent knows one moment before a tool call where hookexec has three events, and a hook that is
//! configured and never called is worse than none. The order is that of the drivers in
//! [`lifecycle`](hookexec::lifecycle).

use std::time::Instant;

use serde_json::Value;

use super::native::{self, Ask};
use super::own_commands;
use super::read::NativeCall;
use super::{Agent, NativeEvent};
use hookexec::asks::Judged;
use hookexec::executor::{
    BEFORE_TOOL, Course, DispatchOptions, Explanation, JudgedBefore, Selection,
};
use hookexec::wire::{Stop, StopScope};
use hookexec::{Event, Executor, Input, Rewrite, Verdict};

/// Returns whether each configured hook would run for `call`, and why not: first the files that failed, once
/// for each event that they fail, then the hooks in config order. Nothing is run.
pub fn explain(executor: &Executor, call: &NativeCall) -> Vec<Explanation> {
    let mut merged = Vec::new();
    let mut configured: Vec<Explanation> = Vec::new();
    for event in call.native.fires(call.agent) {
        let mut explanations = executor.explain(event, &call.input);
        let hooks = explanations.split_off(executor.failed_files(event));
        merged.extend(explanations);
        if configured.is_empty() {
            configured = hooks;
            continue;
        }
        for (known, other) in configured.iter_mut().zip(hooks) {
            if !matches!(other.selection, Selection::OtherEvent(_)) {
                *known = other;
            }
        }
    }
    merged.extend(configured);
    merged
}

/// Returns the verdict on a call that the server left without one. Where the event fails closed it is
/// denied, and each hook that matches has failed, by its own `on_error`.
pub fn without_server(executor: &Executor, call: &NativeCall, problem: &str) -> Verdict {
    let event = call.event.unwrap_or(Event::Notification);
    let mut verdict = Verdict::failed(event, &format!("hookexec: {problem}"));
    let mut moment = Moment::new(call);
    moment.give_up(executor, call, problem);
    verdict.absorb(moment.into_verdict(call));
    verdict
}

/// Returns the verdict on `call` when hookexec itself is stuck, and what the hooks said can't be
/// known. If a hook is configured for one of its events, the call is denied and the turn ends, where
/// the event can be denied, and a response that a hook could have redacted is withheld.
pub fn unanswered(executor: &Executor, call: &NativeCall, why: &str) -> Verdict {
    let Moment { events, verdict, .. } = Moment::new(call);
    let event = call.event.unwrap_or(Event::Notification);
    if let Some(verdict) = verdict {
        return verdict;
    }
    if !events.iter().any(|event| executor.has(*event)) {
        return Verdict::no_opinion(event);
    }
    // A permission request without an answer is the user's to decide.
    let mut verdict = if event.contract().may_block && event != Event::PermissionRequest {
        let mut denied = Verdict::denied(event, why);
        // A hook may have said so, and is not heard any more.
        denied.stop = Some(Stop::new(StopScope::Turn, why));
        denied
    } else {
        Verdict::failed(event, why)
    };
    let withheld = Value::from(format!("withheld by hookexec: {why}"));
    for hook in executor.hooks() {
        if !hook.enabled || !hook.phase.is_answered() || !events.contains(&hook.event) {
            continue;
        }
        match hook.event.contract().rewrite {
            Rewrite::ToolResponse if call.input.tool_response.is_some() => {
                verdict.updated_tool_response = Some(withheld.clone());
            }
            Rewrite::Response if call.input.response.is_some() => {
                verdict.updated_response = Some(withheld.clone());
            }
            _ => {}
        }
    }
    verdict
}

/// Returns the events that `event` of an agent stands for, in order.
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

/// The events that follow from another one of the same moment.
const FOLLOWING: [Event; 4] =
    [Event::OnSessionResume, Event::TurnStart, Event::TurnEnd, Event::BeforeCompaction];

/// Returns whether hooks that answer in the user's place are asked along with the guards: where
/// the agent itself would not come to them with what a guard asks.
fn consults_approvers(agent: Agent, native: &NativeEvent) -> bool {
    let mut events = agent.events().iter();
    native.ask == Ask::Denies
        || !events.any(|native| native.event == Some(Event::PermissionRequest))
}

impl NativeEvent {
    /// Returns the events whose hooks run when this one fires, in order.
    pub fn fires(&self, agent: Agent) -> Vec<Event> {
        let mut events = self.event.map(moments).unwrap_or_default();
        if self.event == Some(Event::PreToolUse) && consults_approvers(agent, self) {
            events.push(Event::PermissionRequest);
        }
        if matches!(self.event, Some(Event::PreToolUse | Event::PermissionRequest)) {
            events.push(Event::Approval);
        }
        events
    }
}

/// One moment of an agent on its way through our events.
///
/// It keeps what the hooks decided while a person is asked: the caller may stop [`run`](Self::run) then
/// and [give up](Self::give_up).
#[derive(Debug)]
pub struct Moment {
    /// The events that fire, in order.
    events: Vec<Event>,
    /// The verdict of the hooks of all events, once they are done.
    verdict: Option<Verdict>,
    /// Whether the hooks of `approval` ask a person what is left to ask.
    asks_person: bool,
    /// Whether the caller wants to know how the hooks decided.
    shows_course: bool,
    /// How they decided.
    course: Option<Course>,
}

impl Moment {
    /// Returns the moment of `call`, before any of its hooks ran.
    pub fn new(call: &NativeCall) -> Self {
        let resumes = call.input.source.as_deref() == Some("resume");
        let mut events = call.event.map(moments).unwrap_or_default();
        events.retain(|event| resumes || *event != Event::OnSessionResume);
        if call.event == Some(Event::PermissionRequest) && call.agent == Agent::ClaudeCode {
            events.extend(BEFORE_TOOL);
        }
        let mut verdict = own_commands::denial(call, &call.input);
        if events.is_empty() {
            verdict.get_or_insert(Verdict::no_opinion(call.event.unwrap_or(Event::Notification)));
        }
        Self { events, verdict, asks_person: true, shows_course: false, course: None }
    }

    /// Runs the hooks for an agent that needs the answer by `until`. Those that are late fail by their own
    /// `on_error`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn run(&mut self, executor: &Executor, call: &NativeCall, until: Option<Instant>) {
        if let Some(verdict) = &mut self.verdict {
            if verdict.decision.is_some() {
                executor.record_own(verdict, &call.input).await;
            }
            return;
        }
        let shows_course = self.shows_course;
        let options = DispatchOptions { until, shows_course, ..options(call) };
        let decided = executor.run_moment(&self.events, &call.input, options).await;
        self.course = decided.course;
        let verdict = self.verdict.insert(decided.verdict);
        if let Some(rewritten) = &decided.rewritten
            && let Some(mut denial) = own_commands::denial(call, rewritten)
        {
            executor.record_own(&mut denial, rewritten).await;
            verdict.absorb(denial);
            return;
        }
        // No agent calls another tool at a hook's word: that ends in a denial.
        if verdict.updated_tool_name.is_some() {
            return;
        }
        let judged = Judged {
            event: call.event.unwrap_or(Event::Notification),
            verdicts: &decided.verdicts,
            original: &call.input,
            input: decided.rewritten.as_ref().unwrap_or(&call.input),
            options: DispatchOptions { until, ..DispatchOptions::default() },
            consults: consults_approvers(call.agent, call.native),
            host_asks: None,
            asks_person: self.asks_person,
        };
        executor.settle(verdict, &judged).await;
    }

    /// Has all hooks fail, by their own `on_error`, unless they have decided.
    pub fn give_up(&mut self, executor: &Executor, call: &NativeCall, why: &str) {
        let events = &self.events;
        self.verdict.get_or_insert_with(|| {
            executor.fail_moment(events, Some(&call.input), options(call), why)
        });
    }

    /// Returns what the hooks of `call` have said together.
    pub fn into_verdict(self, call: &NativeCall) -> Verdict {
        let event = call.event.unwrap_or(Event::Notification);
        let mut verdict = self.verdict.unwrap_or_else(|| Verdict::no_opinion(event));
        verdict.event = event;
        if event == Event::PermissionRequest
            && let Some(arguments) = verdict.updated_input.take()
        {
            // They come with an approval alone.
            verdict.claude_code.insert("updatedInput".to_owned(), Value::Object(arguments));
        }
        verdict
    }
}

/// Returns how the events of `call` run together.
fn options(call: &NativeCall) -> DispatchOptions<'static> {
    let mut options = DispatchOptions::default();
    match call.event {
        Some(Event::PermissionRequest) => {
            options.once_rewritten = &BEFORE_TOOL;
            options.judged = JudgedBefore::All;
        }
        Some(Event::PreToolUse) => options.stands = call.native.rewrite == native::Rewrite::No,
        Some(Event::PostToolUse | Event::AfterLlmCall) => {
            options.stands = call.native.response_stands(Some(&call.input));
        }
        _ => options.following = &FOLLOWING,
    }
    options
}

/// An event in our words, or an agent's call.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "each caller handles both")]
pub enum Subject {
    /// An event, in our words.
    Own(Event, Box<Input>),
    /// A call of an agent.
    Native(Box<NativeCall>),
}

impl Subject {
    /// Runs the hooks, and asks a person what is left to ask. The caller needs the answer by `until`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn answer(&self, executor: &Executor, until: Option<Instant>) -> Verdict {
        match self {
            Self::Own(event, input) => {
                let options = DispatchOptions { until, ..DispatchOptions::default() };
                let verdict = executor.run(*event, input, options).await;
                executor.approve(verdict, input, options).await
            }
            Self::Native(call) => {
                let mut moment = Moment::new(call);
                moment.run(executor, call, until).await;
                moment.into_verdict(call)
            }
        }
    }

    /// Says of each configured hook whether it runs, and why not.
    pub fn explain(&self, executor: &Executor) -> Vec<Explanation> {
        match self {
            Self::Own(event, input) => executor.explain(*event, input),
            Self::Native(call) => explain(executor, call),
        }
    }

    /// Runs the hooks to try a policy out: no person is asked. Returns how the hooks decided if
    /// `shows_course`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn try_out(
        &self,
        executor: &Executor,
        shows_course: bool,
    ) -> (Verdict, Option<Course>) {
        match self {
            Self::Own(event, input) if executor.concerns(*event, input) => {
                let options = DispatchOptions { shows_course, ..DispatchOptions::default() };
                let decided = executor.run_moment(&[*event], input, options).await;
                (decided.verdict, decided.course)
            }
            Self::Own(event, _) => (Verdict::no_opinion(*event), None),
            Self::Native(call) => {
                let mut moment = Moment { asks_person: false, shows_course, ..Moment::new(call) };
                moment.run(executor, call, None).await;
                let course = moment.course.take();
                (moment.into_verdict(call), course)
            }
        }
    }

    /// Returns the events whose hooks run, in order.
    pub fn events(&self) -> Vec<Event> {
        match self {
            Self::Own(event, _) => vec![*event],
            Self::Native(call) => call.native.fires(call.agent),
        }
    }

    /// Returns the input, in our words.
    pub fn input(&self) -> &Input {
        match self {
            Self::Own(_, input) => input,
            Self::Native(call) => &call.input,
        }
    }
}
