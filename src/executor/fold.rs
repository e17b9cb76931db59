//! Folds the hooks' answers into one verdict: texts of higher layers first, then in config order, and
//! never in the order in which the hooks finished.

use std::borrow::Cow;

use super::outcome::Outcome;
use super::select::Bound;
use crate::event::{Event, Permission};
use crate::wire::claude_code::decision_of;
use crate::wire::{Decision, HookStatus, Verdict, join, join_new_lines, widest};

/// Why a key that belongs to a decision is ignored.
const NOT_ALONE: &str =
    "it counts only with the decision of its own hook, and another hook decided";

/// Folds `outcomes`, which are in config order. Rewrites are handled elsewhere.
pub(super) fn fold(event: Event, hooks: &[Bound], outcomes: &[Outcome]) -> Verdict {
    // Most events have one hook, and then nothing is allocated.
    if let [only] = outcomes {
        return fold_all(event, &[(&hooks[only.hook.index], only)], false);
    }
    let mut said = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        said.push((&hooks[outcome.hook.index], outcome));
    }
    fold_all(event, &said, false)
}

/// A hook and what it said.
type Said<'o> = (&'o Bound, &'o Outcome);

/// Folds the answers of the hooks of one event, or of all events `of_moment`. Texts of higher layers come
/// first: an agent may cut what comes last. A line that several hooks give, as a failed hooks file does at
/// each event, appears once.
pub(super) fn fold_all(event: Event, said: &[Said<'_>], of_moment: bool) -> Verdict {
    let mut by_layer = Cow::Borrowed(said);
    if !said.is_sorted_by_key(|(bound, _)| bound.rank()) {
        by_layer.to_mut().sort_by_key(|(bound, _)| bound.rank());
    }
    let mut verdict = Verdict::no_opinion(event);
    decide(&mut verdict, &by_layer, of_moment);
    let mut decider = None;
    for (_, outcome) in &*by_layer {
        let output = &outcome.output;
        if output.decision.is_some() && output.decision == verdict.decision {
            decider = decider.or(Some(outcome));
            join_new_lines(&mut verdict.message, output.reason.as_deref());
        }
        if let Some(context) = &output.additional_context
            && !context.is_empty()
        {
            join(&mut verdict.additional_context, Some(context.clone()));
        }
        if verdict.summary.is_none()
            && let Some(summary) = &output.summary
            && !summary.is_empty()
        {
            verdict.summary = Some(summary.clone());
        }
        join_new_lines(&mut verdict.system_message, output.system_message.as_deref());
        for notice in &outcome.notices {
            verdict.tell(notice);
        }
    }
    if !verdict.allowed
        && let Some(decider) = decider
    {
        verdict.exit_code = decider.exit_code;
        // The response that is to be redacted may stand in what a redactor wrote.
        let is_shown = !decider.withholds && !decider.stderr.is_empty();
        verdict.stderr = if is_shown { Some(decider.stderr.clone()) } else { None };
    }
    let ignored = pass_on_keys_of_claude_code(&mut verdict, &by_layer);
    for remark in &ignored {
        verdict.tell(remark);
    }
    let layers = by_layer.chunk_by(|(one, _), (next, _)| one.rank() == next.rank());
    for (_, outcome) in layers.rev().flatten() {
        for (key, value) in &outcome.output.metadata {
            verdict.metadata.insert(key.clone(), value.clone());
        }
        verdict.suppress_output |= outcome.output.suppress_output;
    }
    if verdict.decision != Some(Decision::Deny) {
        verdict.respond = by_layer.iter().find_map(|(_, outcome)| outcome.output.respond.clone());
        if verdict.respond.is_some() {
            // An answer in the tool's place ranks as an allow.
            verdict.decision = verdict.decision.max(Some(Decision::Allow));
        }
    }
    verdict.hooks.reserve_exact(said.len());
    for (bound, outcome) in said {
        verdict.hooks.push(outcome.report(bound));
        if outcome.failed_open && outcome.status != HookStatus::Skipped {
            let name = bound.hook.label();
            if !of_moment || !verdict.failed_open.contains(&name) {
                verdict.failed_open.push(name);
            }
        }
    }
    verdict
}

/// Sets what the hooks decide together, and whether it can go on.
fn decide(verdict: &mut Verdict, by_layer: &[Said<'_>], of_moment: bool) {
    for (bound, outcome) in by_layer {
        let decision = outcome.output.decision;
        // An allow at an event without a permission to decide is none for the other events of a moment.
        let permits = !of_moment || bound.hook.event.contract().permission != Permission::None;
        if decision > verdict.decision && (permits || decision != Some(Decision::Allow)) {
            verdict.decision = decision;
        }
        verdict.stop = widest(verdict.stop.take(), outcome.output.stop.clone());
    }
    if verdict.event.contract().may_continue && verdict.stop.is_some() {
        // A hook that ends the turn outranks one that keeps the model at work.
        verdict.decision = None;
    }
    verdict.allowed = verdict.decision.is_none_or(|decision| decision == Decision::Allow);
}

/// Puts the keys that only Claude Code understands into the verdict: the first value of each counts.
/// Returns a remark on each other one.
fn pass_on_keys_of_claude_code(verdict: &mut Verdict, by_layer: &[Said<'_>]) -> Vec<String> {
    let mut ignored = Vec::new();
    for said in by_layer {
        let (bound, outcome) = said;
        for (key, value) in &outcome.output.claude_code {
            if key_counts(key, *said, verdict.decision, by_layer) {
                let first = verdict.claude_code.entry(key.clone()).or_insert_with(|| value.clone());
                if first != value {
                    let remark = format!("an earlier hook gives another `{key}`, which counts");
                    ignored.push(format!("hook {}: {remark}", bound.title()));
                }
            } else if decision_of(key) == verdict.decision
                && verdict.claude_code.get(key) != Some(value)
            {
                ignored.push(format!("hook {}: `{key}` is ignored: {NOT_ALONE}", bound.title()));
            }
        }
    }
    ignored
}

/// Returns whether a key counts if a hook gives it, where the verdict is `decided`. A key that belongs
/// to a decision is taken from the highest layer that decided so. A call is deferred if every hook that
/// asks defers it.
fn key_counts(
    key: &str,
    (bound, outcome): Said<'_>,
    decided: Option<Decision>,
    by_layer: &[Said<'_>],
) -> bool {
    let Some(decision) = decision_of(key) else { return true };
    if decided != Some(decision) || outcome.output.decision != decided {
        return false;
    }
    let mut deciders = by_layer.iter().filter(|(_, other)| other.output.decision == decided);
    if decision == Decision::Ask {
        for (_, other) in deciders.clone() {
            if !other.output.claude_code.contains_key(key) {
                return false;
            }
        }
    }
    deciders.next().is_some_and(|(highest, _)| highest.rank() == bound.rank())
}

#[cfg(test)]
mod laws {
    //! The laws of folding, for any outcomes.

    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::config::{Command, Hook};
    use crate::handler::Silent;
    use crate::wire::{Output, Stop, StopScope};

    fn hooks(count: usize) -> Vec<Bound> {
        let bound = |index: usize| Bound {
            counter: None,
            dialect: None,
            hook: Arc::new(Hook::new(
                Event::PreToolUse,
                "command",
                Command::Text(format!("hook {index}")),
            )),
            handler: Arc::new(Silent),
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
                let mut outcome = Outcome::none();
                *outcome.output = Output {
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
                outcome.hook.index = index;
            }
            outcomes
        })
    }

    fn folded(outcomes: &[Outcome]) -> Verdict {
        let count = outcomes.iter().map(|outcome| outcome.hook.index + 1).max().unwrap_or(0);
        fold(Event::PreToolUse, &hooks(count), outcomes)
    }

    #[test]
    fn what_drops_an_allow_drops_its_permissions() {
        let approval = || {
            let decision = json!({"behavior": "allow", "updatedPermissions": []});
            let answer = json!({"hook_specific_output": {"decision": decision}});
            Outcome::of(Box::new(Output::from_value(answer).unwrap()))
        };
        let given = |outcome| {
            let verdict = fold(Event::PermissionRequest, &hooks(1), &[outcome]);
            verdict.claude_code.contains_key("updatedPermissions")
        };
        assert!(given(approval()));
        let mut rewritten = approval();
        rewritten.drop_permission("late");
        assert!(!given(rewritten));
        // A denial takes the place of the allow, and of what came with it.
        let second = Outcome::of(Box::new(Output::deny("no")));
        assert!(!given(approval().with_next(second)));
    }

    proptest! {
        #[test]
        fn adding_a_denial_never_yields_permission(mut outcomes in outcomes(), at in 0_usize..6) {
            let mut denial = Outcome::none();
            denial.hook.index = outcomes.len();
            *denial.output = Output::deny("no");
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
            more.push(Outcome::none());
            more[outcomes.len()].hook.index = outcomes.len();
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
