//! The event `approval`: the question that its hooks pass on to a person, and what the answer is.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::dispatch::Executor;
use super::evaluate::Evaluation;
use super::outcome::Outcome;
use super::time::{Deadlines, now};
use crate::event::Event;
use crate::files::random_id;
use crate::wire::{ApprovalReport, Decision, Input, Verdict, call_digest};

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
        let hooks = plan.matching(&input);
        let hooks = hooks.iter().map(|index| &plan.hooks[*index]);
        let last = hooks.map(|bound| deadlines.until(bound, None).answer).max();
        let left = last.map(|end| end.saturating_duration_since(now()));
        let left = left.and_then(|left| SignedDuration::try_from(left).ok()).unwrap_or_default();
        let expires = Timestamp::now().checked_add(left).unwrap_or(Timestamp::MAX);
        // Without it the digest still binds an answer to the call.
        question.id = random_id().unwrap_or_default();
        question.digest = call_digest(&input);
        question.expires = format!("{expires:.0}");
        input.approval = Some(question);
        Some(Box::new(input))
    }
}

impl Evaluation<'_> {
    /// Says in the verdict of `approval` what the answer is. No answer is a denial.
    pub(super) fn conclude_approval(&self, outcomes: &[Outcome], verdict: &mut Verdict) {
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
