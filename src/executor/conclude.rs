//! From answers to verdicts. At `approval` the verdict also says what a person answered.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::ask::HookId;
use super::dispatch::Executor;
use super::evaluate::Evaluation;
use super::explain::Course;
use super::fold::{fold, fold_all};
use super::outcome::Outcome;
use super::spans;
use super::time::{Deadlines, now};
use super::versions::{Version, changes, report};
use crate::config::Phase;
use crate::event::Event;
use crate::files::random_id;
use crate::wire::{ApprovalReport, Decision, Input, Verdict, call_digest};

const BECAME_REWRITER: &str = "it rewrote the input without `mutates: true`, so it was made to take \
                               turns with the other rewriters; set `mutates: true`";
const HAD_NO_TURN: &str = "it rewrote the input without `mutates: true`, and no turn came in which \
                           its rewrite counts, as beside a denial; set `mutates: true`";
const MAY_NOT_REWRITE: &str = "its rewrite is ignored, because it has `mutates: false`; set \
                               `mutates: true` or let it leave the input alone";
const HAD_ITS_TURN: &str =
    "it was asked once more, only to judge what others made of the input: its rewrite is ignored";
const WITHHELD: &str = "the response is withheld: its rewrite is ignored";
const OF_ANOTHER_INPUT: &str = "it is about an input that was rewritten";

/// The decision of the hooks of events that fire together.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a caller sets its fields")]
pub struct Decided {
    /// The verdict of each event that took part.
    pub verdicts: Vec<Verdict>,
    /// The verdict of all events together.
    pub verdict: Verdict,
    /// The input, if hooks rewrote it.
    pub rewritten: Option<Input>,
    /// How the hooks decided, if the caller wants to know it.
    pub course: Option<Course>,
}

impl Decided {
    /// Returns what is decided where no hook is for `events`.
    pub(crate) fn no_opinion(events: &[Event]) -> Self {
        let event = events.first().copied().unwrap_or_default();
        let verdict = Verdict::no_opinion(event);
        Self { verdicts: Vec::new(), verdict, rewritten: None, course: None }
    }
}

/// The verdicts of a moment, before the caller gets them.
pub(super) struct Concluded {
    /// That of each event that took part, and how long its hooks took.
    pub(super) verdicts: Vec<(Verdict, Duration)>,
    /// That of all events together, if they are more than one.
    pub(super) whole: Option<Box<Verdict>>,
}

impl Concluded {
    /// Returns the verdict of all events together.
    pub(super) fn into_verdict(mut self, event: Event) -> Verdict {
        match self.whole {
            Some(whole) => *whole,
            None if self.verdicts.is_empty() => Verdict::no_opinion(event),
            None => self.verdicts.swap_remove(0).0,
        }
    }
}

impl Evaluation<'_> {
    /// Returns the final input, if it is not the one that came.
    pub(super) fn rewritten(&self) -> Option<Input> {
        let is_new = self.last != Version::ORIGINAL;
        if is_new { Some(self.moment.versions.input(self.last).clone()) } else { None }
    }

    /// Folds the answers into verdicts; with `starts_followers`, hooks in the background are started.
    pub(super) fn conclude(&mut self, starts_followers: bool) -> Concluded {
        let mut outcomes = self.outcomes();
        let mut concluded = self.fold_all(&outcomes);
        let has_followers = self.moment.stages.iter().any(|stage| stage.plan.has_followers());
        if starts_followers && has_followers {
            let event = self.moment.stages[0].event;
            outcomes.extend(self.start_followers(&concluded.into_verdict(event)));
            outcomes.sort_by_key(|outcome| outcome.hook);
            concluded = self.fold_all(&outcomes);
        }
        self.begin_spans();
        for stage in &self.moment.stages {
            let Some(span) = &stage.span else { continue };
            for (verdict, _) in &concluded.verdicts {
                if verdict.event == stage.event {
                    spans::tell_decision(span, verdict.decision);
                }
            }
        }
        concluded
    }

    /// Folds the outcomes of all events.
    fn fold_all(&self, outcomes: &[Outcome]) -> Concluded {
        let mut verdicts = Vec::with_capacity(self.moment.stages.len());
        let mut left = outcomes;
        for (place, stage) in self.moment.stages.iter().enumerate() {
            let count = left.partition_point(|outcome| outcome.hook.place == place);
            let (own, others) = left.split_at(count);
            left = others;
            if self.takes_part(place) || !own.is_empty() {
                verdicts.push((self.verdict_at(place, own), stage.took));
            }
        }
        let is_alone = self.moment.stages.len() == 1;
        let whole =
            if is_alone { None } else { Some(Box::new(self.fold_whole(outcomes, &verdicts))) };
        Concluded { verdicts, whole }
    }

    /// Takes all answers, and returns the outcomes by event: one for each hook, in config order.
    fn outcomes(&mut self) -> Vec<Outcome> {
        let mut answers = std::mem::take(&mut self.answers);
        // Those of one hook stay in the order in which they were given.
        answers.sort_by_key(|answer| answer.hook);
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(answers.len());
        for answer in answers {
            let outcome = self.settled(answer);
            match outcomes.pop_if(|known| known.hook == outcome.hook) {
                Some(first) => outcomes.push(first.with_next(outcome)),
                None => outcomes.push(outcome),
            }
        }
        outcomes
    }

    /// Returns what an answer comes to: an allow counts only if its hook has judged the final input, or
    /// made it.
    pub(super) fn settled(&self, mut outcome: Outcome) -> Outcome {
        let Outcome { hook, version, made, .. } = outcome;
        let input = self.moment.versions.input(version);
        let rewrites = outcome.output.rewrites() && changes(input, &outcome.output);
        // An answer that was kept says what the hook would say if it were asked once more.
        let is_final = version == self.judged() && !self.stands;
        let applied = if is_final { None } else { made };
        if rewrites && let Some(remark) = self.remark(hook, applied, &outcome) {
            let title = self.moment.bound(hook).title();
            outcome.notices.push(format!("hook {title}: {remark}"));
        }
        let is_about_final =
            if rewrites { self.has_made_judged(hook, version) } else { version == self.judged() };
        if !is_about_final || !self.is_of_last_name(hook, version) {
            outcome.drop_permission(OF_ANOTHER_INPUT);
        }
        outcome
    }

    /// Returns whether a hook that was called with a version is one of the tool's last name.
    fn is_of_last_name(&self, hook: HookId, version: Version) -> bool {
        let (judged, versions) = (self.judged(), &self.moment.versions);
        if versions.input(version).tool_name == versions.input(judged).tool_name {
            return true;
        }
        self.moment.matches(hook, judged)
    }

    /// Returns what is reported of a rewrite.
    fn remark(
        &self,
        hook: HookId,
        made: Option<Version>,
        outcome: &Outcome,
    ) -> Option<&'static str> {
        if self.became_rewriters.contains(&hook) {
            return Some(if self.turn_of(hook).is_some() { BECAME_REWRITER } else { HAD_NO_TURN });
        }
        // Not beside a denial, which prevents it.
        let prevents = self.moment.stages[hook.place].plan.contract.denial_prevents();
        if made.is_some() || prevents && outcome.denied() {
            return None;
        }
        if self.is_withheld {
            return Some(WITHHELD);
        }
        if self.moment.bound(hook).hook.phase == Phase::Judge {
            return Some(MAY_NOT_REWRITE);
        }
        Some(HAD_ITS_TURN)
    }

    /// Returns the verdict of one event alone.
    fn verdict_at(&self, place: usize, outcomes: &[Outcome]) -> Verdict {
        let stage = &self.moment.stages[place];
        if let Some(cause) = self.refusal_at(place) {
            let mut verdict = Verdict::denied(stage.event, cause);
            if stage.plan.contract.withholds() {
                self.report_rewrite(&mut verdict);
            }
            return verdict;
        }
        let mut verdict = fold(stage.event, &stage.plan.hooks, outcomes);
        if outcomes.iter().any(|outcome| outcome.made.is_some()) {
            self.report_rewrite(&mut verdict);
            self.deny_rewrite(&mut verdict);
        }
        if stage.event == Event::Approval {
            self.conclude_approval(outcomes, &mut verdict);
        }
        verdict
    }

    /// Returns the verdict of all events together, of which each has one of `verdicts`.
    fn fold_whole(&self, outcomes: &[Outcome], verdicts: &[(Verdict, Duration)]) -> Verdict {
        let mut said = Vec::with_capacity(outcomes.len());
        for outcome in outcomes {
            said.push((self.moment.bound(outcome.hook), outcome));
        }
        let mut whole = fold_all(self.moment.stages[0].event, &said, true);
        self.report_rewrite(&mut whole);
        self.deny_rewrite(&mut whole);
        // Events that no hook could be asked about.
        for (verdict, _) in verdicts {
            if verdict.hooks.is_empty() && !verdict.allowed {
                whole.absorb(verdict.clone());
            }
        }
        whole
    }

    /// Denies a call that hooks rewrote, where the agent can't replace its input.
    fn deny_rewrite(&self, verdict: &mut Verdict) {
        if self.stands
            && let Some(arguments) = &verdict.updated_input
        {
            let arguments = Value::Object(arguments.clone());
            let reason = format!("A hook changed the arguments. Call again with: {arguments}");
            verdict.absorb(Verdict::denied(verdict.event, reason));
        }
    }

    fn report_rewrite(&self, verdict: &mut Verdict) {
        if self.last != Version::ORIGINAL {
            let versions = &self.moment.versions;
            report(versions.original(), versions.input(self.last), verdict);
        }
    }

    /// Says in the verdict of `approval` what the answer is. No answer is a denial.
    fn conclude_approval(&self, outcomes: &[Outcome], verdict: &mut Verdict) {
        let versions = &self.moment.versions;
        let Some(asked) = &versions.input(self.judged()).approval else { return };
        if verdict.hooks.is_empty() {
            return;
        }
        let mut report = ApprovalReport {
            digest: asked.digest.clone(),
            id: Some(asked.id.clone()),
            ..ApprovalReport::default()
        };
        let answered = matches!(verdict.decision, Some(Decision::Allow | Decision::Deny));
        let outcome = outcomes
            .iter()
            .find(|outcome| outcome.error.is_none() && outcome.output.decision == verdict.decision);
        if answered && let Some(outcome) = outcome {
            report.decision = verdict.decision;
            report.by.clone_from(&outcome.output.by);
            report.channel = Some(self.moment.bound(outcome.hook).hook.label());
            report.answered = Some(format!("{:.0}", Timestamp::now()));
        }
        if verdict.decision.is_none() {
            let mut why = Vec::new();
            for outcome in outcomes {
                let title = self.moment.bound(outcome.hook).title();
                let problem = outcome.error.as_deref().unwrap_or("it gave no answer");
                why.push(format!("{title}: {problem}"));
            }
            let denied = format!("approval is needed, and none was given: {}", why.join("; "));
            verdict.absorb(Verdict::denied(Event::Approval, denied));
        }
        verdict.approval = Some(Box::new(report));
    }
}

impl Executor {
    /// Returns whether a hook of `approval` is for the call.
    pub(crate) fn has_channel(&self, input: &Input) -> bool {
        let plan = self.plan(Event::Approval);
        !plan.hooks.is_empty() && !plan.matching(input).is_empty()
    }

    /// Returns the input of `approval`, with what only this question has; `None` at other events.
    pub(super) fn question(
        &self,
        events: &[Event],
        input: &Input,
        until: Option<Instant>,
    ) -> Option<Box<Input>> {
        if events != [Event::Approval] {
            return None;
        }
        let mut input = self.complete(Event::Approval, input).into_owned();
        let mut question = input.approval.take().unwrap_or_default();
        let plan = self.plan(Event::Approval);
        let deadlines = Deadlines::new(std::iter::once(plan), until);
        let now = now();
        let mut last = now;
        for index in plan.matching(&input).iter() {
            last = last.max(deadlines.until(&plan.hooks[*index], None).answer);
        }
        let left = SignedDuration::try_from(last - now).unwrap_or_default();
        let expires = Timestamp::now().checked_add(left).unwrap_or(Timestamp::MAX);
        // Without it the digest still binds an answer to the call.
        question.id = random_id().unwrap_or_default();
        question.digest = call_digest(&input);
        question.expires = format!("{expires:.0}");
        input.approval = Some(question);
        Some(Box::new(input))
    }
}
