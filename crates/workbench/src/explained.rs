//! Joins the explanation of each hook with its report.

use hookexec::internal::{Explanation, Selection};
use hookexec::wire::{HookReport, HookStatus};
use hookexec::{Executor, Verdict};
use hookexec_agents::Subject;
use hookexec_builtins::builtins::Shipped;

/// Returns why a hook had no opinion, if it is a builtin that can say that.
pub fn why_no_opinion(
    subject: &Subject,
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
    builtin.why_no_opinion(&hook.hook.args, &executor.final_call(subject.input(), verdict))
}

/// Returns, for each of `explanations`, what the hook did; `None` when it did not run. `verdict` is from
/// the same executor and event.
pub fn reports_of<'v>(
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
