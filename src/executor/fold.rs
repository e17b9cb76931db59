//! Folds the hooks' answers into one verdict: in config order, never in the order they finished.

use super::outcome::Outcome;
use super::select::Bound;
use crate::event::Event;
use crate::wire::{Decision, HookStatus, Stop, Verdict};

/// Folds `outcomes`, which are in config order. Rewrites are handled elsewhere.
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
    let mut differing = Vec::new();
    for outcome in outcomes {
        for (key, value) in &outcome.output.claude_code {
            let first = verdict.claude_code.entry(key.clone()).or_insert_with(|| value.clone());
            if first != value {
                let title = hooks[outcome.index].title();
                differing.push(format!(
                    "hook {title}: an earlier hook gives another `{key}`, which counts"
                ));
            }
        }
        let metadata = outcome.output.metadata.iter();
        verdict.metadata.extend(metadata.map(|(key, value)| (key.clone(), value.clone())));
        verdict.suppress_output |= outcome.output.suppress_output;
        verdict.stop = widest(verdict.stop.take(), outcome.output.stop.clone());
    }
    if !differing.is_empty() {
        let said = verdict.system_message.iter().chain(&differing);
        verdict.system_message = joined(said.map(|text| Some(text.as_str())));
    }
    if event.contract().may_continue && verdict.stop.is_some() {
        // A hook that ends the turn outranks one that keeps the model at work.
        (verdict.decision, verdict.allowed, verdict.message) = (None, true, None);
        (verdict.exit_code, verdict.stderr) = (None, None);
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

/// The wider stop wins; of two equal ones, the first in config order.
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

#[cfg(test)]
mod laws {
    //! The laws of folding, for any outcomes.

    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::config::{Command, Hook};
    use crate::handler::{BoxFuture, Call, Handler, HandlerError, HandlerResult};
    use crate::wire::{Output, StopScope};

    struct Silent;

    impl Handler for Silent {
        fn run<'a>(
            &'a self,
            _: &'a Call<'a>,
        ) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
            Box::pin(async { Ok(HandlerResult::from(None)) })
        }
    }

    fn hooks(count: usize) -> Vec<Bound> {
        let bound = |index: usize| Bound {
            hook: Arc::new(Hook::new(
                Event::PreToolUse,
                "command",
                Command::Text(format!("hook {index}")),
            )),
            handler: Arc::new(Silent),
            index,
            identity: index,
        };
        (0..count).map(bound).collect()
    }

    fn decision() -> impl Strategy<Value = Option<Decision>> {
        prop_oneof![
            Just(None),
            Just(Some(Decision::Allow)),
            Just(Some(Decision::Ask)),
            Just(Some(Decision::Deny)),
        ]
    }

    fn outcome() -> impl Strategy<Value = Outcome> {
        let text = || proptest::option::of("[a-z]{0,3}");
        let stop = proptest::option::of((any::<bool>(), "[a-z]{0,2}"));
        (decision(), text(), text(), text(), stop, any::<bool>()).prop_map(
            |(decision, reason, context, warning, stop, failed_open)| {
                let mut outcome = Outcome::none(0);
                outcome.output = Output {
                    decision,
                    reason,
                    additional_context: context,
                    system_message: warning,
                    stop: stop.map(|(session, reason)| {
                        Stop::new(
                            if session { StopScope::Session } else { StopScope::Turn },
                            reason,
                        )
                    }),
                    ..Output::default()
                };
                outcome.failed_open = failed_open;
                outcome
            },
        )
    }

    fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
        proptest::collection::vec(outcome(), 0..6).prop_map(|mut outcomes| {
            for (index, outcome) in outcomes.iter_mut().enumerate() {
                outcome.index = index;
            }
            outcomes
        })
    }

    fn folded(outcomes: &[Outcome]) -> Verdict {
        let count = outcomes.iter().map(|outcome| outcome.index + 1).max().unwrap_or(0);
        fold(Event::PreToolUse, &hooks(count), outcomes)
    }

    proptest! {
        #[test]
        fn adding_a_denial_never_yields_permission(mut outcomes in outcomes(), at in 0_usize..6) {
            let mut denial = Outcome::none(outcomes.len());
            denial.output = Output::deny("no");
            outcomes.insert(at.min(outcomes.len()), denial);
            let verdict = folded(&outcomes);
            prop_assert_eq!(verdict.decision, Some(Decision::Deny));
            prop_assert!(!verdict.allowed);
            prop_assert!(verdict.respond.is_none());
        }

        #[test]
        fn the_strictest_decision_wins_wherever_it_stands(outcomes in outcomes()) {
            let verdict = folded(&outcomes);
            let strictest = outcomes.iter().filter_map(|outcome| outcome.output.decision).max();
            prop_assert_eq!(verdict.decision, strictest);
            prop_assert_eq!(verdict.allowed, strictest.is_none_or(|found| found == Decision::Allow));
        }

        #[test]
        fn a_hook_without_an_opinion_changes_nothing_but_the_report(outcomes in outcomes()) {
            let mut more = outcomes.clone();
            more.push(Outcome::none(outcomes.len()));
            let mut with = folded(&more);
            with.hooks.pop();
            let mut without = folded(&outcomes);
            without.hooks.truncate(outcomes.len());
            prop_assert_eq!(with, without);
        }

        #[test]
        fn every_hook_is_reported_in_config_order(outcomes in outcomes()) {
            let verdict = folded(&outcomes);
            let names: Vec<_> = verdict.hooks.iter().map(|hook| hook.name.clone()).collect();
            let expected: Vec<_> = (0..outcomes.len()).map(|index| format!("hook {index}")).collect();
            prop_assert_eq!(names, expected);
        }

        #[test]
        fn nothing_that_was_said_is_lost(outcomes in outcomes()) {
            let verdict = folded(&outcomes);
            let context = verdict.additional_context.unwrap_or_default();
            let warnings = verdict.system_message.unwrap_or_default();
            for outcome in &outcomes {
                let said = |text: &Option<String>| text.clone().unwrap_or_default();
                prop_assert!(context.contains(&said(&outcome.output.additional_context)));
                prop_assert!(warnings.contains(&said(&outcome.output.system_message)));
                if outcome.output.decision == verdict.decision && verdict.decision.is_some() {
                    prop_assert!(said(&verdict.message).contains(&said(&outcome.output.reason)));
                }
                if let Some(stop) = &outcome.output.stop {
                    prop_assert!(verdict.stop.as_ref().is_some_and(|found| found.scope >= stop.scope));
                }
            }
        }
    }
}
