//! How the hooks of one moment decide together: the page "How hooks decide" of
//! `docs/configuration.md`, in its order and with its words.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tokio::time::timeout_at;

use super::ask::{Asked, HookId, Moment, Stage};
use super::dispatch::{DispatchOptions, Executor};
use super::explain::Taken;
use super::outcome::Outcome;
use super::spans;
use super::time::{BY_CALLER, Deadlines, now, share};
use super::versions::{Version, Versions, changes};
use crate::config::Phase;
use crate::event::{Contract, Event};
use crate::wire::{HookStatus, Input, Output};

/// The evaluation of one moment: events that fire together, about one input.
pub(super) struct Evaluation<'e> {
    pub(super) moment: Moment<'e>,
    /// All answers, in the order in which they were given.
    pub(super) answers: Vec<Outcome>,
    /// The version that the last turn left.
    pub(super) last: Version,
    /// The turns of this round.
    turns: Vec<Turn>,
    /// The judges that rewrote: they are rewriters for the rest of the moment.
    pub(super) became_rewriters: Vec<HookId>,
    /// The rewriters that failed in a turn: they take no other, and are not asked to judge. One that
    /// failed as a judge only takes its turn in a later round, or its rewrite would be lost.
    failed_in_turn: Vec<HookId>,
    /// Whether the events take part that follow from the others.
    has_followed: bool,
    /// Whether a placeholder is the response.
    pub(super) is_withheld: bool,
    /// Whether the caller can't replace what hooks rewrite.
    pub(super) stands: bool,
    /// How many rounds have begun.
    round: usize,
    /// The answers in the order in which they were taken, if the caller wants to know it.
    pub(super) taken: Option<Vec<Taken>>,
}

/// The turn of a rewriter: the version that it got, and the one that it left.
pub(super) struct Turn {
    hook: HookId,
    got: Version,
    left: Version,
}

impl<'e> Evaluation<'e> {
    pub(super) fn new(
        executor: &'e Executor,
        events: &[Event],
        input: &'e Input,
        options: &DispatchOptions<'e>,
    ) -> Self {
        let event = events.first().copied().unwrap_or_default();
        let input = match events {
            [only] => executor.complete(*only, input),
            _ => executor.complete(input.hook_event_name.unwrap_or(event), input),
        };
        let mut stages = Vec::with_capacity(events.len());
        for event in events {
            stages.push(Stage::new(*event, executor.plan(*event), &input, options));
        }
        let plans = events.iter().map(|event| executor.plan(*event));
        let deadlines = Deadlines::new(plans, options.until);
        let moment = Moment {
            executor,
            stages,
            versions: Versions::new(input, events.len(), executor.describer, options.describe_tool),
            deadlines,
            asked_by: options.asked_by,
            given_up: None,
        };
        Self {
            moment,
            answers: Vec::new(),
            last: Version::ORIGINAL,
            turns: Vec::new(),
            became_rewriters: Vec::new(),
            failed_in_turn: Vec::new(),
            has_followed: false,
            is_withheld: false,
            stands: options.stands,
            round: 0,
            taken: if options.shows_course { Some(Vec::new()) } else { None },
        }
    }

    /// Runs the hooks until the caller needs the answer. All have been stopped by then, but one that
    /// blocks its thread: it fails, and so does each that could not answer for it.
    pub(super) async fn run_until(&mut self, until: Option<Instant>) {
        let Some(until) = until else { return self.run().await };
        // The time that hooks have to end once they were stopped at the caller's limit.
        if timeout_at((until + Duration::from_millis(50)).into(), self.run()).await.is_err() {
            self.give_up(BY_CALLER);
        }
    }

    /// Runs the hooks, then those of the events that follow from the others.
    async fn run(&mut self) {
        for place in 0..self.moment.stages.len() {
            if let Some(cause) = self.refusal_at(place) {
                return self.withhold_everything(&cause);
            }
        }
        self.run_rounds().await;
        if self.moment.stages.iter().any(|stage| stage.follows) && !self.is_denied() {
            self.has_followed = true;
            self.ask_judges().await;
        }
    }

    /// Runs the hooks, round by round. A round that makes no judge a rewriter is the last one, and so is
    /// a round with a denial.
    async fn run_rounds(&mut self) {
        loop {
            self.take_turns().await;
            let before = self.became_rewriters.len();
            self.ask_judges().await;
            if self.became_rewriters.len() == before || self.is_denied() {
                return;
            }
        }
    }

    /// Ends the evaluation with every missing answer failed, with the reason `why`.
    pub(super) fn give_up(&mut self, why: &str) {
        self.moment.given_up = Some(why.to_owned());
        // Nothing is awaited any more.
        let _ = self.run().now_or_never();
    }

    /// Returns why no hook can be chosen by the tool's name, where the event is denied for that.
    pub(super) fn refusal_at(&self, place: usize) -> Option<String> {
        let plan = self.moment.stages[place].plan;
        if plan.hooks.is_empty() || !plan.contract.may_block {
            return None;
        }
        plan.why_no_choice(self.moment.versions.original())
    }

    /// Step 1: rewriters take turns, from the original input on. Each is matched when its turn comes, and
    /// gets what the ones before it left.
    async fn take_turns(&mut self) {
        self.begin_spans();
        (self.last, self.is_withheld) = (Version::ORIGINAL, false);
        self.turns.clear();
        self.round += 1;
        let order = self.turn_order();
        let end = if order.is_empty() { None } else { self.moment.deadlines.end_of_turns() };
        for (position, hook) in order.iter().enumerate() {
            if self.failed_in_turn.contains(hook) || !self.takes_part(hook.place) {
                continue;
            }
            if let Some(number) = self.kept(*hook, self.last) {
                self.take_turn(number);
                continue;
            }
            let share = end.and_then(|_| share(end, self.waiting(&order[position..])));
            let started = now();
            let mut answer = None;
            if let Some(asked) = self.moment.choose(*hook, self.last, false) {
                answer = self.moment.call(asked, share).await;
            }
            self.moment.stages[hook.place].took += now().saturating_duration_since(started);
            if let Some(answer) = answer {
                self.answers.push(answer);
                self.take_turn(self.answers.len() - 1);
            }
        }
    }

    /// Returns the rewriters in the order of their turns: those of the lowest layer first, in a layer in
    /// the order of the events, then of the files. What takes secrets out of a response comes last.
    fn turn_order(&self) -> Vec<HookId> {
        let mut order = Vec::new();
        for (place, stage) in self.moment.stages.iter().enumerate() {
            if !stage.only_judges() {
                for index in &stage.plan.rewriters {
                    order.push(HookId { place, index: *index });
                }
            }
        }
        order.extend(&self.became_rewriters);
        order.sort_by_key(|hook| {
            let bound = self.moment.bound(*hook);
            let is_last = self.contract(*hook).withholds();
            (is_last, Reverse(bound.rank()), hook.place, hook.index)
        });
        order
    }

    /// Returns how many of the rewriters still to come are for the tool.
    fn waiting(&self, order: &[HookId]) -> usize {
        let mut waiting = 0;
        for hook in order {
            let is_out = self.failed_in_turn.contains(hook);
            waiting += usize::from(!is_out && self.moment.matches(*hook, self.last));
        }
        waiting
    }

    /// Takes the answer of a hook whose turn it is.
    fn take_turn(&mut self, number: usize) {
        let outcome = &self.answers[number];
        let (hook, got) = (outcome.hook, outcome.version);
        if outcome.status == HookStatus::Failed {
            self.failed_in_turn.push(hook);
        }
        if self.withholds(number) {
            self.withhold(number);
        } else if self.may_rewrite(hook, outcome) {
            let next = self.moment.versions.rewrite(self.last, &outcome.output);
            if next != self.last {
                self.answers[number].made = Some(next);
                self.last = next;
            }
        }
        self.turns.push(Turn { hook, got, left: self.last });
        self.note(number, Some(self.last));
    }

    fn note(&mut self, answer: usize, left: Option<Version>) {
        if let Some(taken) = &mut self.taken {
            taken.push(Taken { answer, round: self.round, left });
        }
    }

    /// Returns whether a rewrite is of use: nothing rewrites a response that is withheld, and a denial
    /// prevents what it comes with.
    fn may_rewrite(&self, hook: HookId, outcome: &Outcome) -> bool {
        let is_prevented = outcome.denied() && self.contract(hook).denial_prevents();
        outcome.output.rewrites() && !is_prevented && !self.is_withheld
    }

    /// Step 2: judges are matched on the final input and judge it, all at once. A rewriter whose turn left
    /// another input is a judge now.
    async fn ask_judges(&mut self) {
        self.begin_spans();
        let judged = self.judged();
        let mut versions = [Some(judged), None];
        if self.moment.versions.is_renamed(judged) {
            // Hooks of the tool's first name judge the call under that name.
            versions[1] = Some(self.moment.versions.under_first_name(judged));
        }
        let mut asked = Vec::new();
        for place in 0..self.moment.stages.len() {
            if !self.takes_part(place) {
                continue;
            }
            for version in versions.into_iter().flatten() {
                for index in self.moment.matching(place, version).iter() {
                    let hook = HookId { place, index: *index };
                    if !self.is_judge(hook, judged) || self.kept(hook, version).is_some() {
                        continue;
                    }
                    let is_asked = asked.iter().any(|asked: &Asked<'_>| asked.hook == hook);
                    let repeated = is_asked || self.was_called(hook);
                    asked.extend(self.moment.choose(hook, version, repeated));
                }
            }
        }
        let (before, started) = (self.answers.len(), now());
        self.moment.call_all(asked, &mut self.answers).await;
        let took = now().saturating_duration_since(started);
        for (place, stage) in self.moment.stages.iter_mut().enumerate() {
            if self.answers[before..].iter().any(|answer| answer.hook.place == place) {
                stage.took += took;
            }
        }
        for number in 0..self.answers.len() {
            if self.withholds(number) {
                self.withhold(number);
            } else {
                self.take_judgement(number);
            }
            if number >= before {
                self.note(number, None);
            }
        }
    }

    /// Begins the span of each event that takes part by now.
    pub(super) fn begin_spans(&mut self) {
        if !spans::are_read() {
            return;
        }
        for place in 0..self.moment.stages.len() {
            let takes_part = self.takes_part(place);
            let stage = &mut self.moment.stages[place];
            if takes_part && stage.span.is_none() && !stage.plan.hooks.is_empty() {
                let input = self.moment.versions.original();
                stage.span = Some(spans::of_event(stage.event, input));
            }
        }
    }

    /// Returns the version that judges judge: the one that will be executed, or that the model will read.
    pub(super) fn judged(&self) -> Version {
        if self.stands { Version::ORIGINAL } else { self.last }
    }

    /// Returns whether a hook is asked about the version `judged`.
    fn is_judge(&self, hook: HookId, judged: Version) -> bool {
        if !self.moment.bound(hook).hook.phase.is_answered() {
            return false;
        }
        if !self.is_rewriter(hook) {
            return true;
        }
        let has_left_it = matches!(self.turn_of(hook), Some(turn) if turn.left == judged);
        !has_left_it && !self.failed_in_turn.contains(&hook)
    }

    /// Returns whether what a hook made of a version in this round is the version that is judged.
    pub(super) fn has_made_judged(&self, hook: HookId, got: Version) -> bool {
        let turn = self.turn_of(hook);
        matches!(turn, Some(turn) if turn.got == got && turn.left == self.judged())
    }

    /// Returns the turn of a hook in the last round.
    pub(super) fn turn_of(&self, hook: HookId) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.hook == hook)
    }

    /// Returns whether a hook was called before.
    fn was_called(&self, hook: HookId) -> bool {
        self.answers.iter().any(|answer| answer.hook == hook)
            || self.moment.stages[hook.place].was_called(self.moment.bound(hook))
    }

    /// Step 3: a judge that rewrites is a rewriter for the rest of the moment.
    fn take_judgement(&mut self, number: usize) {
        let outcome = &self.answers[number];
        let hook = outcome.hook;
        let bound = self.moment.bound(hook);
        let may_become = bound.hook.phase == Phase::Validate
            && !self.is_rewriter(hook)
            && !self.moment.stages[hook.place].only_judges();
        let input = self.moment.versions.input(outcome.version);
        if may_become && self.may_rewrite(hook, outcome) && changes(input, &outcome.output) {
            self.became_rewriters.push(hook);
        }
    }

    pub(super) fn is_rewriter(&self, hook: HookId) -> bool {
        self.moment.bound(hook).is_rewriter() || self.became_rewriters.contains(&hook)
    }

    /// Returns whether an answer keeps the response from the model.
    fn withholds(&self, number: usize) -> bool {
        let outcome = &self.answers[number];
        outcome.withholds && self.contract(outcome.hook).withholds()
    }

    /// Makes a placeholder the response, whatever others rewrite.
    fn withhold(&mut self, number: usize) {
        if self.is_withheld {
            return;
        }
        let outcome = &self.answers[number];
        let label = self.moment.bound(outcome.hook).hook.label();
        let did = if outcome.error.is_some() { "failed" } else { "denied it" };
        let placeholder = format!("[withheld by hookexec: hook `{label}` {did}]");
        self.answers[number].made = Some(self.replace_response(placeholder));
    }

    /// Withholds the response of a tool for which no hook can be chosen.
    fn withhold_everything(&mut self, cause: &str) {
        for stage in &self.moment.stages {
            if stage.plan.contract.withholds() && !stage.plan.hooks.is_empty() {
                self.replace_response(format!("[withheld by hookexec: {cause}]"));
                return;
            }
        }
    }

    fn replace_response(&mut self, placeholder: String) -> Version {
        let output = Output::tool_response(placeholder);
        self.last = self.moment.versions.rewrite(self.last, &output);
        self.is_withheld = true;
        self.last
    }

    /// Returns whether an event takes part: some do only once the input is rewritten, and some only
    /// after the others.
    pub(super) fn takes_part(&self, place: usize) -> bool {
        let stage = &self.moment.stages[place];
        let is_awake = !stage.sleeps || self.last != Version::ORIGINAL;
        is_awake && (!stage.follows || self.has_followed)
    }

    /// Returns the answer that a hook gave to a version: it is called once for each.
    fn kept(&self, hook: HookId, version: Version) -> Option<usize> {
        self.answers.iter().position(|answer| answer.hook == hook && answer.version == version)
    }

    /// Returns whether a hook denied. A hook that ends the turn outranks one that keeps the model at work.
    fn is_denied(&self) -> bool {
        let mut is_denied = false;
        for answer in &self.answers {
            if self.contract(answer.hook).may_continue && answer.output.stop.is_some() {
                return false;
            }
            is_denied |= answer.denied();
        }
        is_denied
    }

    fn contract(&self, hook: HookId) -> &'static Contract {
        self.moment.stages[hook.place].plan.contract
    }
}
