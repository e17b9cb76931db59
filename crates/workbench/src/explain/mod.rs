//! The hooks of an event: what became of each of them, and why.

mod course;

use hookexec::executor::{Course, Explanation, Selection};
use hookexec::wire::{HookReport, HookStatus, Mode};
use hookexec::{Event, Executor, Verdict};
use hookexec_agents::Subject;
use serde::Serialize;
use serde_with_macros::skip_serializing_none;

pub use course::{Change, ExplainedCourse, ExplainedStep};

/// An event explained.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub struct Explained {
    /// The event.
    pub event: Event,
    /// The agent's own event.
    pub native: Option<&'static str>,
    /// The agent.
    pub agent: Option<String>,
    /// The events of the moment.
    #[serde(skip_serializing_if = "is_one")]
    pub events: Vec<Event>,
    /// The tool that is called.
    pub tool: Option<String>,
    /// Every hook of the event, in config order.
    pub hooks: Vec<ExplainedHook>,
    /// How many hooks are configured for other events.
    pub of_other_events: usize,
    /// How the hooks decided. Missing when nothing was run.
    pub course: Option<ExplainedCourse>,
    /// Missing when nothing was run.
    pub verdict: Option<Verdict>,
}

fn is_one(events: &[Event]) -> bool {
    events.len() == 1
}

/// A hook explained.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub struct ExplainedHook {
    /// Which hook it is, and whether it would run.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// Its report, when it ran.
    pub report: Option<HookReport>,
    /// The effect of its answer on the verdict.
    pub effect: Option<Effect>,
}

/// The effect of a hook's decision on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is the verdict.
    Decides,
    /// A stricter decision won.
    Overruled,
    /// The hook's mode keeps its answer from counting.
    NotEnforced,
}

impl Explained {
    /// Explains what an executor makes of an event. `ran` is the verdict, if it ran, and how it came about.
    pub fn new(
        executor: &Executor,
        subject: &Subject,
        ran: Option<(Verdict, Option<Course>)>,
    ) -> Self {
        let (event, native, agent) = match subject {
            Subject::Own(event, _) => (*event, None, None),
            Subject::Native(call) => {
                let event = call.event.unwrap_or(Event::Notification);
                (event, Some(call.native.name), Some(call.agent.to_string()))
            }
        };
        let (verdict, course) = ran.unzip();
        let explanations = subject.explain(executor);
        let mut reports = vec![None; explanations.len()];
        if let Some(verdict) = &verdict {
            reports = reports_of(&explanations, verdict);
        }
        let (mut hooks, mut of_other_events) = (Vec::new(), 0);
        for (explanation, report) in explanations.into_iter().zip(reports) {
            if matches!(explanation.selection, Selection::OtherEvent(_)) {
                of_other_events += 1;
                continue;
            }
            let mut hook = ExplainedHook { explanation, report: None, effect: None };
            if let (Some(report), Some(verdict)) = (report, &verdict) {
                hook.effect = effect(report, verdict);
                hook.report = Some(report.clone());
            }
            hooks.push(hook);
        }
        Self {
            event,
            native,
            agent,
            events: subject.events(),
            tool: subject.input().tool_name.clone(),
            hooks,
            of_other_events,
            course: course.flatten().map(ExplainedCourse::new),
            verdict,
        }
    }
}

fn effect(report: &HookReport, verdict: &Verdict) -> Option<Effect> {
    // What the report says of a failure's decision is what its failure means for the event.
    let decision = report.decision?;
    Some(if report.mode.is_some_and(|mode| mode != Mode::Enforce) {
        Effect::NotEnforced
    } else if Some(decision) == verdict.decision {
        Effect::Decides
    } else {
        Effect::Overruled
    })
}

/// Returns why a hook had no opinion, if it says that.
pub fn why_no_opinion(report: &HookReport) -> Option<&str> {
    if report.status != HookStatus::Ok || report.decision.is_some() {
        return None;
    }
    report.reason.as_deref()
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
