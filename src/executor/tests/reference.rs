//! The page "How hooks decide together" as plain code: slow, without time, and written to be read
//! beside the page. The engine must come to the same result in every world.

use std::collections::{BTreeMap, BTreeSet};

use super::world::{HookCall, Payload, Played, World, WorldAnswer, can_rewrite};
use crate::config::OnError;
use crate::event::{Event, FailureMode, Permission};
use crate::wire::Decision;

/// What a turn of a rewriter got and what it left.
struct Turn {
    got: Payload,
    left: Payload,
}

struct Moment<'w> {
    world: &'w World,
    rewriters: BTreeSet<usize>,
    /// Rewriters that failed: they have failed for the whole moment.
    failed: BTreeSet<usize>,
    /// Every answer of the moment. A hook is called once for each input.
    answers: BTreeMap<(usize, Payload), WorldAnswer>,
    calls: Vec<HookCall>,
    /// The turns of this round.
    turns: BTreeMap<usize, Turn>,
    /// The input as the rewriters leave it.
    current: Payload,
    is_withheld: bool,
}

/// Returns the result of a world, and after how many rounds it was reached.
pub(super) fn evaluate(world: &World) -> (Played, usize) {
    let declared = (0..world.hooks.len()).filter(|hook| world.hooks[*hook].is_declared());
    let mut moment = Moment {
        world,
        rewriters: declared.collect(),
        failed: BTreeSet::new(),
        answers: BTreeMap::new(),
        calls: Vec::new(),
        turns: BTreeMap::new(),
        current: world.input.clone(),
        is_withheld: false,
    };
    let mut rounds = 0;
    loop {
        rounds += 1;
        moment.take_turns();
        let undeclared = moment.judge();
        if moment.decision() == Some(Decision::Deny) || undeclared.is_empty() {
            return (moment.result(), rounds);
        }
        moment.rewriters.extend(undeclared);
    }
}

impl Moment<'_> {
    /// Step 1. The lowest layer first; in a layer by event, then as in the file. The hooks of
    /// `tool_response_transform` come after all others.
    fn take_turns(&mut self) {
        self.current = self.world.input.clone();
        self.turns.clear();
        let mut order: Vec<usize> = self.rewriters.iter().copied().collect();
        order.sort_by_key(|&index| {
            let hook = &self.world.hooks[index];
            let event = self.world.events.iter().position(|event| *event == hook.event);
            let is_last = hook.event == Event::ToolResponseTransform;
            (is_last, std::cmp::Reverse(hook.layer.rank()), event, index)
        });
        for index in order {
            let (hook, got) = (&self.world.hooks[index], self.current.clone());
            if self.failed.contains(&index) || !hook.matches(&got) {
                continue;
            }
            let answer = self.ask(index, &got, false);
            let is_denied = self.decision_of(index, &answer) == Some(Decision::Deny);
            let is_applied = !(is_denied && hook.event.contract().denial_prevents());
            if self.is_withheld {
                self.current = got.withheld();
            } else if let Some(new) = answer.rewrite.filter(|_| is_applied) {
                self.current = new;
            }
            self.turns.insert(index, Turn { got, left: self.current.clone() });
        }
    }

    /// Step 2. Returns the judges that rewrite, which are rewriters from now on (step 3).
    fn judge(&mut self) -> BTreeSet<usize> {
        let judged = self.judged();
        let called: BTreeSet<usize> = self.answers.keys().map(|(index, _)| *index).collect();
        let mut asked = BTreeSet::new();
        // The hooks of the first name of the tool judge under the first name.
        for payload in [judged.under(self.world.input.tool), judged.clone()] {
            for (index, hook) in self.world.hooks.iter().enumerate() {
                let has_left_it = self.turns.get(&index).is_some_and(|turn| turn.left == judged);
                if !self.failed.contains(&index) && !has_left_it && hook.matches(&payload) {
                    asked.insert((index, payload.clone()));
                }
            }
        }
        let mut undeclared = BTreeSet::new();
        for (index, payload) in asked {
            let repeated = self.rewriters.contains(&index) && called.contains(&index);
            let answer = self.ask(index, &payload, repeated);
            if answer.rewrite.is_some() && self.world.hooks[index].may_become_rewriter() {
                undeclared.insert(index);
            }
        }
        &undeclared - &self.rewriters
    }

    /// Returns the kept answer of a hook, or calls it.
    fn ask(&mut self, hook: usize, payload: &Payload, repeated: bool) -> WorldAnswer {
        let key = (hook, payload.clone());
        if !self.answers.contains_key(&key) {
            self.answers.insert(key.clone(), self.world.hooks[hook].answer(payload));
            self.calls.push(HookCall { hook, payload: payload.clone(), repeated });
        }
        let answer = self.answers[&key].clone();
        if answer.failed && self.rewriters.contains(&hook) {
            self.failed.insert(hook);
        }
        let is_denied = self.decision_of(hook, &answer) == Some(Decision::Deny);
        self.is_withheld |=
            is_denied && self.world.hooks[hook].event == Event::ToolResponseTransform;
        answer
    }

    /// Returns what an answer decides. A failure decides by `on_error`, else by the event.
    fn decision_of(&self, index: usize, answer: &WorldAnswer) -> Option<Decision> {
        let hook = &self.world.hooks[index];
        let contract = hook.event.contract();
        match hook.on_error {
            _ if !answer.failed && answer.responds => answer.decision.max(Some(Decision::Allow)),
            _ if !answer.failed => answer.decision,
            Some(OnError::Warn | OnError::Ignore) => None,
            Some(OnError::Block) => Some(Decision::Deny),
            Some(OnError::Ask) if contract.permission == Permission::None => Some(Decision::Deny),
            Some(OnError::Ask) => Some(Decision::Ask),
            None if hook.event == Event::ToolResponseTransform => Some(Decision::Deny),
            None => match contract.failure {
                FailureMode::Closed => Some(Decision::Deny),
                FailureMode::Ask => Some(Decision::Ask),
                FailureMode::Open => None,
            },
        }
    }

    /// Returns what is executed, or what the model reads.
    fn judged(&self) -> Payload {
        match self.is_withheld {
            _ if self.world.response_stands => self.world.input.clone(),
            true => self.current.withheld(),
            false => self.current.clone(),
        }
    }

    /// Returns whether the hook has judged the final input, or made it.
    fn is_about_final(&self, index: usize, asked: &Payload, answer: &WorldAnswer) -> bool {
        let turn = self.turns.get(&index).filter(|turn| turn.got == *asked);
        match answer.rewrite {
            None => *asked == self.judged(),
            Some(_) => turn.is_some_and(|turn| turn.left == self.judged()),
        }
    }

    /// Step 4: the strictest answer of the moment counts.
    fn decision(&self) -> Option<Decision> {
        let counted = self.answers.iter().map(|((index, asked), answer)| {
            let counts = |decision: &Decision| {
                *decision != Decision::Allow || self.is_about_final(*index, asked, answer)
            };
            self.decision_of(*index, answer).filter(counts)
        });
        counted.max().flatten()
    }

    fn result(mut self) -> Played {
        let decision = self.decision();
        let responds = |wanted: &usize| {
            self.answers.iter().any(|((index, asked), answer)| {
                index == wanted && answer.responds && self.is_about_final(*index, asked, answer)
            })
        };
        let responder = self.world.from_the_top().into_iter().find(responds);
        self.calls.sort();
        let responder = responder.filter(|_| decision != Some(Decision::Deny));
        Played { decision, input: self.judged(), responder, calls: self.calls }
    }
}
