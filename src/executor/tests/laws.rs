//! The laws of the evaluation, in random worlds, and that the engine is equal to its model.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use super::reference::evaluate;
use super::world::*;
use super::*;

const CASES: u32 = 20_000;

/// A way to find out what comes out of a world: the engine, or the model.
type Play = fn(&World) -> Played;

fn with_the_engine(world: &World) -> Played {
    world.play(&[]).0
}

fn with_the_model(world: &World) -> Played {
    evaluate(world).0
}

fn is_denied(played: &Played) -> bool {
    played.decision == Some(Decision::Deny)
}

/// Returns how strict a decision is. An allow spares the user's question, so it is looser than none.
fn strictness(decision: Option<Decision>) -> u8 {
    match decision {
        Some(Decision::Allow) => 0,
        None => 1,
        Some(Decision::Ask) => 2,
        Some(Decision::Deny) => 3,
    }
}

/// Law 1: no denial and no ask that a hook gave is missing in the verdict.
fn no_denial_and_no_ask_is_lost(world: &World, played: &Played) -> TestCaseResult {
    for call in &played.calls {
        let given = world.hooks[call.hook].answer(&call.payload).decision;
        if given > Some(Decision::Allow) {
            prop_assert!(played.decision >= given, "{call:?} is lost: {played:#?}");
        }
    }
    Ok(())
}

/// Law 1, for the texts: the verdict tells every reason of its decision.
fn every_reason_is_told(world: &World, played: &Played, verdict: &Verdict) -> TestCaseResult {
    let told = verdict.message.as_deref().unwrap_or_default();
    for call in &played.calls {
        let answer = world.hooks[call.hook].answer(&call.payload);
        if !answer.failed
            && answer.decision > Some(Decision::Allow)
            && answer.decision == played.decision
        {
            prop_assert!(told.contains(&reason_of(call.hook)), "{call:?} is not told: {told}");
        }
    }
    Ok(())
}

/// Law 2: unless the verdict is a denial, every hook that matches the final input was called with
/// it, has made it, or failed. After a rename, judges of the first name judge under that name.
fn every_hook_that_matches_has_judged(world: &World, played: &Played) -> TestCaseResult {
    if is_denied(played) {
        return Ok(());
    }
    for (index, hook) in world.hooks.iter().enumerate() {
        let (mut called, mut is_excused) = (BTreeSet::new(), false);
        for call in played.calls.iter().filter(|call| call.hook == index) {
            let answer = hook.answer(&call.payload);
            called.insert(&call.payload);
            is_excused |= answer.failed || answer.rewrite.as_ref() == Some(&played.input);
        }
        let first = played.input.under(world.input.tool);
        let may_rewrite = hook.is_declared() || hook.may_become_rewriter();
        if hook.matches(&played.input) {
            prop_assert!(is_excused || called.contains(&played.input), "{index}: {played:#?}");
        }
        if hook.matches(&first) && !may_rewrite {
            prop_assert!(is_excused || called.contains(&first), "{index}: {played:#?}");
        }
    }
    Ok(())
}

/// Law 4: a hook that says nothing changes nothing. Its number in the world is `added`.
fn silence_changes_nothing(play: Play, world: &World, added: usize) -> TestCaseResult {
    let mut expected = world.clone();
    expected.hooks.remove(added);
    let mut played = play(world);
    played.calls.retain(|call| call.hook != added);
    for number in played.calls.iter_mut().map(|call| &mut call.hook).chain(&mut played.responder) {
        *number -= usize::from(*number > added);
    }
    prop_assert_eq!(played, play(&expected));
    Ok(())
}

/// Law 5, as far as calls show it: a hook that is never a rewriter is called at most once in each
/// round for each of the two names of the tool, and a rewriter for its turn, too.
fn it_ends(world: &World, played: &Played) -> TestCaseResult {
    let undeclared = world.hooks.iter().filter(|hook| hook.may_become_rewriter()).count();
    for (index, hook) in world.hooks.iter().enumerate() {
        let is_judge = !hook.is_declared() && !hook.may_become_rewriter();
        let in_a_round = if is_judge { 2 } else { 3 };
        let calls = played.calls.iter().filter(|call| call.hook == index).count();
        prop_assert!(calls <= in_a_round * (undeclared + 1), "{index}: {played:#?}");
    }
    let distinct: BTreeSet<_> =
        played.calls.iter().map(|call| (call.hook, &call.payload)).collect();
    prop_assert_eq!(distinct.len(), played.calls.len(), "a hook is called once for each input");
    Ok(())
}

/// Law 6: raising the layer of a judge that only denies or asks never makes the verdict looser.
fn a_higher_guard_is_no_looser(play: Play, world: &World, guard: usize) -> TestCaseResult {
    if world.hooks[guard].is_declared() {
        return Ok(());
    }
    let mut raised = world.clone();
    raised.hooks[guard].layer = match world.hooks[guard].layer {
        Layer::Project => Layer::User,
        _ => Layer::Managed,
    };
    let (before, after) = (play(world).decision, play(&raised).decision);
    prop_assert!(strictness(after) >= strictness(before), "{before:?} became {after:?}");
    Ok(())
}

/// Returns worlds with one more hook at any place of the files, and its number.
fn with_one_more(change: fn(&mut WorldHook)) -> impl Strategy<Value = (World, usize)> {
    (world(), genes(), any::<prop::sample::Index>()).prop_map(move |(mut world, genes, at)| {
        let mut added = WorldHook::random(genes, &world.events);
        change(&mut added);
        let at = at.index(world.hooks.len() + 1);
        world.hooks.insert(at, added);
        (world, at)
    })
}

fn with_a_silent_hook() -> impl Strategy<Value = (World, usize)> {
    with_one_more(|hook| hook.rules.clear())
}

/// Returns worlds with a hook that only denies or asks; it is a judge if its event has judges.
fn with_a_guard() -> impl Strategy<Value = (World, usize)> {
    with_one_more(|hook| {
        hook.mutates = None;
        for rule in &mut hook.rules {
            let decision = rule.says.decision.filter(|decision| *decision > Decision::Allow);
            rule.says = RuleAnswer { decision, ..RuleAnswer::default() };
        }
    })
}

/// Returns how many milliseconds each hook takes.
fn delays() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(0_u64..4, 6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_model_keeps_the_laws(
        world in world(),
        silent in with_a_silent_hook(),
        guarded in with_a_guard(),
    ) {
        let (played, rounds) = evaluate(&world);
        no_denial_and_no_ask_is_lost(&world, &played)?;
        every_hook_that_matches_has_judged(&world, &played)?;
        it_ends(&world, &played)?;
        let undeclared = world.hooks.iter().filter(|hook| hook.may_become_rewriter()).count();
        prop_assert!(rounds <= undeclared + 1);
        silence_changes_nothing(with_the_model, &silent.0, silent.1)?;
        a_higher_guard_is_no_looser(with_the_model, &guarded.0, guarded.1)?;
    }

    #[test]
    fn the_engine_is_equal_to_the_model(world in world(), delays in delays()) {
        let (played, verdict) = world.play(&delays);
        no_denial_and_no_ask_is_lost(&world, &played)?;
        every_reason_is_told(&world, &played, &verdict)?;
        every_hook_that_matches_has_judged(&world, &played)?;
        it_ends(&world, &played)?;
        prop_assert_eq!(&played, &with_the_engine(&world), "law 3: the order of finishing counts");
        prop_assert_eq!(played, with_the_model(&world));
    }

    #[test]
    fn a_silent_hook_changes_nothing(silent in with_a_silent_hook()) {
        silence_changes_nothing(with_the_engine, &silent.0, silent.1)?;
    }

    #[test]
    fn a_guard_of_a_higher_layer_is_no_looser(guarded in with_a_guard()) {
        a_higher_guard_is_no_looser(with_the_engine, &guarded.0, guarded.1)?;
    }
}
