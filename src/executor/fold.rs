//! Folds what the hooks said into one verdict: in config order, never in the order they finished.

use super::outcome::Outcome;
use super::select::Bound;
use crate::event::Event;
use crate::wire::{Decision, HookStatus, Stop, Verdict};

/// Folds `outcomes`, which are in config order. What was rewritten is not its business.
pub(super) fn fold(event: Event, hooks: &[Bound], outcomes: &[Outcome]) -> Verdict {
    let mut verdict = Verdict::no_opinion(event);
    verdict.decision = outcomes.iter().filter_map(|outcome| outcome.output.decision).max();
    verdict.allowed = verdict.decision.is_none_or(|decision| decision == Decision::Allow);

    let winners = || {
        outcomes.iter().filter(|outcome| {
            outcome.output.decision.is_some() && outcome.output.decision == verdict.decision
        })
    };
    verdict.message = joined(winners().map(|outcome| outcome.output.reason.as_deref()));
    if !verdict.allowed
        && let Some(decider) = winners().next()
    {
        verdict.exit_code = decider.exit_code;
        verdict.stderr = (!decider.stderr.is_empty()).then(|| decider.stderr.clone());
    }

    verdict.additional_context =
        joined(outcomes.iter().map(|outcome| outcome.output.additional_context.as_deref()));
    verdict.system_message = joined(outcomes.iter().flat_map(|outcome| {
        let notices = outcome.notices.iter().map(|notice| Some(notice.as_str()));
        std::iter::once(outcome.output.system_message.as_deref()).chain(notices)
    }));
    verdict.summary = outcomes
        .iter()
        .find_map(|outcome| outcome.output.summary.clone().filter(|summary| !summary.is_empty()));
    for outcome in outcomes {
        let metadata = outcome.output.metadata.iter();
        verdict.metadata.extend(metadata.map(|(key, value)| (key.clone(), value.clone())));
        verdict.suppress_output |= outcome.output.suppress_output;
        verdict.stop = widest(verdict.stop.take(), outcome.output.stop.clone());
    }
    if verdict.decision != Some(Decision::Deny) {
        verdict.respond = outcomes.iter().find_map(|outcome| outcome.output.respond.clone());
    }
    verdict.hooks = outcomes.iter().map(|outcome| outcome.report(&hooks[outcome.index])).collect();
    verdict.failed_open = outcomes
        .iter()
        .filter(|outcome| outcome.failed_open && outcome.status != HookStatus::Skipped)
        .map(|outcome| hooks[outcome.index].hook.label())
        .collect();
    verdict
}

/// The wider stop wins; of two alike, the first in config order.
fn widest(before: Option<Stop>, next: Option<Stop>) -> Option<Stop> {
    match (before, next) {
        (Some(before), Some(next)) if next.scope > before.scope => Some(next),
        (before, next) => before.or(next),
    }
}

fn joined<'a>(parts: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let parts: Vec<&str> = parts.flatten().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}
