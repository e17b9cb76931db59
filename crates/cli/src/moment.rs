//! The subject of a verdict: an event in our words, or an agent's call.

use hookexec::internal::builtins::Shipped;
use hookexec::internal::{Course, DispatchOptions, Explanation, Selection};
use hookexec::wire::{HookReport, HookStatus};
use hookexec::{Event, Executor, Input, Verdict};
use hookexec_agents::NativeCall;

/// An event in our words, or an agent's call.
#[derive(Debug, Clone)]
pub(crate) enum Moment {
    /// An event, in our words.
    Own(Event, Box<Input>),
    /// A call of an agent.
    Native(Box<NativeCall>),
}

impl Moment {
    /// Says of each configured hook whether it runs, and why not.
    pub(crate) fn explain(&self, executor: &Executor) -> Vec<Explanation> {
        match self {
            Self::Own(event, input) => executor.explain(*event, input),
            Self::Native(call) => hookexec_agents::explain(executor, call),
        }
    }

    /// Runs the hooks.
    pub(crate) async fn dispatch(&self, executor: &Executor) -> Verdict {
        match self {
            Self::Own(event, input) => executor.dispatch(*event, input).await,
            Self::Native(call) => hookexec_agents::dispatch(executor, call).await,
        }
    }

    /// Runs the hooks, and returns how they decided.
    pub(crate) async fn dispatch_with_course(
        &self,
        executor: &Executor,
    ) -> (Verdict, Option<Course>) {
        let (event, input) = match self {
            Self::Own(event, input) => (*event, input),
            Self::Native(call) => {
                return hookexec_agents::dispatch_with_course(executor, call).await;
            }
        };
        if !executor.concerns(event, input) {
            return (Verdict::no_opinion(event), None);
        }
        let options = DispatchOptions { shows_course: true, ..DispatchOptions::default() };
        let decided = executor.run_moment(&[event], input, options).await;
        (decided.verdict, decided.course)
    }

    /// Returns why a hook had no opinion, if it is a builtin that can say that.
    pub(crate) fn why_no_opinion(
        &self,
        executor: &Executor,
        hook: &Explanation,
        report: &HookReport,
        verdict: &Verdict,
    ) -> Option<String> {
        if report.status != HookStatus::Ok || report.decision.is_some() {
            return None;
        }
        let builtin = Shipped::of_hook(&hook.hook)?;
        // Guards judge what the rewriters made of the call.
        builtin.why_no_opinion(&hook.hook.args, &executor.final_call(self.input(), verdict))
    }

    /// Returns the events whose hooks run, in order.
    pub(crate) fn events(&self) -> Vec<Event> {
        match self {
            Self::Own(event, _) => vec![*event],
            Self::Native(call) => call.native.fires(call.agent),
        }
    }

    /// Returns the input, in our words.
    pub(crate) fn input(&self) -> &Input {
        match self {
            Self::Own(_, input) => input,
            Self::Native(call) => &call.input,
        }
    }
}

/// Returns, for each of `explanations`, what the hook did; `None` when it did not run. `verdict` is from
/// the same executor and event.
pub(crate) fn reports_of<'v>(
    explanations: &[Explanation],
    verdict: &'v Verdict,
) -> Vec<Option<&'v HookReport>> {
    // Reports are in config order, too: of two identical ones, the first belongs to the first hook.
    let mut left: Vec<&HookReport> = verdict.hooks.iter().collect();
    let mut reports = Vec::with_capacity(explanations.len());
    for explanation in explanations {
        reports.push(take_report(explanation, &mut left));
    }
    reports
}

fn take_report<'v>(
    explanation: &Explanation,
    left: &mut Vec<&'v HookReport>,
) -> Option<&'v HookReport> {
    // A hook that does not match the original input may match a rewritten one. These never run.
    if matches!(
        explanation.selection,
        Selection::OtherEvent(_) | Selection::Disabled | Selection::DuplicateOf(_)
    ) {
        return None;
    }
    let place = left.iter().position(|report| {
        report.name == explanation.name
            && report.source == explanation.source
            && report.kind == explanation.kind
    })?;
    Some(left.remove(place))
}
