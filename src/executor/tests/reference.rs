//! The page "How hooks decide" as plain code, to be read beside the page. The engine must
//! be equal to it in every world. [`WorldHook::answer`](super::world::WorldHook::answer) says what
//! an answer or a failure means at its event.

use std::collections::{BTreeMap, BTreeSet};

use super::world::{HookCall, Payload, Played, World, WorldAnswer};
use crate::event::Event::ToolResponseTransform;
use crate::wire::Decision;

const DENIED: Option<Decision> = Some(Decision::Deny);

struct Moment<'w> {
    world: &'w World,
    rewriters: BTreeSet<usize>,
    /// Every answer by its hook and its input: a hook is called once for each input.
    answers: BTreeMap<(usize, Payload), WorldAnswer>,
    calls: Vec<HookCall>,
    /// The rewriters that failed in a turn: they have failed for the whole moment.
    failed_turns: BTreeSet<usize>,
    /// What each turn of this round got and left.
    turns: BTreeMap<usize, (Payload, Payload)>,
    current: Payload,
    is_withheld: bool,
}

/// Returns what comes out of a world, and the number of rounds.
pub(super) fn evaluate(world: &World) -> (Played, usize) {
    let declared = (0..world.hooks.len()).filter(|hook| world.hooks[*hook].is_declared());
    let mut moment = Moment {
        world,
        rewriters: declared.collect(),
        answers: BTreeMap::new(),
        calls: Vec::new(),
        failed_turns: BTreeSet::new(),
        turns: BTreeMap::new(),
        current: world.input.clone(),
        is_withheld: false,
    };
    let mut rounds = 0;
    loop {
        rounds += 1;
        moment.take_turns();
        let undeclared = moment.judge();
        if moment.decision() == DENIED || undeclared.is_empty() {
            return (moment.result(), rounds);
        }
        moment.rewriters.extend(undeclared);
    }
}

impl Moment<'_> {
    /// Step 1: rewriters take turns, from the original input on.
    fn take_turns(&mut self) {
        self.current = self.world.input.clone();
        self.turns.clear();
        let mut order: Vec<usize> = self.rewriters.iter().copied().collect();
        order.sort_by_key(|&index| {
            let hook = &self.world.hooks[index];
            let event = self.world.events.iter().position(|event| *event == hook.event);
            let layer = std::cmp::Reverse(hook.layer.rank());
            (hook.event == ToolResponseTransform, layer, event, index)
        });
        for index in order {
            let (hook, got) = (&self.world.hooks[index], self.current.clone());
            if self.failed_turns.contains(&index) || !hook.matches(&got) {
                continue;
            }
            let answer = self.ask(index, &got, false);
            if answer.failed {
                self.failed_turns.insert(index);
            }
            let is_prevented = hook.event.contract().denial_prevents() && answer.decision == DENIED;
            if self.is_withheld {
                self.current = got.withheld();
            } else if !is_prevented {
                self.current = answer.rewrite.unwrap_or_else(|| got.clone());
            }
            self.turns.insert(index, (got, self.current.clone()));
        }
    }

    /// Step 2: judges judge the final input, all at once, and under the tool's first name, too.
    /// Returns the judges that rewrite: they are rewriters for the rest of the moment (step 3).
    fn judge(&mut self) -> BTreeSet<usize> {
        let last = self.last();
        let (mut asked, mut undeclared) = (Vec::new(), BTreeSet::new());
        for payload in [last.clone(), last.under(self.world.input.tool)] {
            for (index, hook) in self.world.hooks.iter().enumerate() {
                let has_left_it = self.turns.get(&index).is_some_and(|(_, left)| *left == last);
                if !has_left_it && !self.failed_turns.contains(&index) && hook.matches(&payload) {
                    asked.push((index, payload.clone()));
                }
            }
        }
        for (index, payload) in asked {
            let repeated = self.calls.iter().any(|call| call.hook == index);
            let answer = self.ask(index, &payload, repeated);
            if answer.rewrite.is_some() && self.world.hooks[index].may_become_rewriter() {
                undeclared.insert(index);
            }
        }
        &undeclared - &self.rewriters
    }

    /// Returns the kept answer, or calls the hook.
    fn ask(&mut self, index: usize, payload: &Payload, repeated: bool) -> WorldAnswer {
        let (hook, key) = (&self.world.hooks[index], (index, payload.clone()));
        if !self.answers.contains_key(&key) {
            self.answers.insert(key.clone(), hook.answer(payload));
            self.calls.push(HookCall { hook: index, payload: payload.clone(), repeated });
        }
        let answer = self.answers[&key].clone();
        self.is_withheld |= hook.event == ToolResponseTransform && answer.decision == DENIED;
        answer
    }

    /// Returns the final input: what is executed, or what the model reads.
    fn last(&self) -> Payload {
        let current = if self.is_withheld { self.current.withheld() } else { self.current.clone() };
        if self.world.response_stands { self.world.input.clone() } else { current }
    }

    /// Returns whether a hook of the last name has judged the final input, or made it.
    fn is_about_last(&self, (index, asked): &(usize, Payload), answer: &WorldAnswer) -> bool {
        let (last, turn) = (self.last(), self.turns.get(index));
        let has_made_it = turn.is_some_and(|(got, left)| got == asked && *left == last);
        let is_about_it = if answer.rewrite.is_some() { has_made_it } else { *asked == last };
        is_about_it && self.world.hooks[*index].is_for(last.tool)
    }

    /// Step 4: the strictest answer counts. An allow counts only about the final input.
    fn decision(&self) -> Option<Decision> {
        let counted = self.answers.iter().filter(|(asked, answer)| {
            answer.decision > Some(Decision::Allow) || self.is_about_last(asked, answer)
        });
        counted.filter_map(|(_, answer)| answer.decision).max()
    }

    fn result(mut self) -> Played {
        let decision = self.decision();
        let from_the_top = |index: &usize| (self.world.hooks[*index].layer.rank(), *index);
        let responds = self.answers.iter().filter(|(asked, answer)| {
            answer.responds && decision != DENIED && self.is_about_last(asked, answer)
        });
        let responder = responds.map(|((index, _), _)| *index).min_by_key(from_the_top);
        self.calls.sort();
        Played { decision, input: self.last(), responder, calls: self.calls }
    }
}
