//! Has a person answer what hooks ask: by the hooks of `approval`, once all rewriting is done.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::dispatch::{DispatchOptions, Executor, Observer};
use super::outcome::Outcome;
use super::rewrite::final_call;
use super::select::Bound;
use super::stage::Stage;
use super::time::Deadlines;
use crate::config::Layer;
use crate::event::{Event, Permission};
use crate::files::random_id;
use crate::wire::{
    ApprovalQuestion, ApprovalReason, ApprovalReport, Decision, Input, Verdict, call_digest,
};

/// The remark on an allow over the head of a higher layer.
const OUTRANKED: &str =
    "its allow is ignored: hooks of a higher layer decide on approvals of this tool";

/// A tool call that hooks have judged, for the hooks that answer in the user's place.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "only packages of this workspace use it")]
pub struct Judged<'a> {
    /// The event that the host fired.
    pub event: Event,
    /// What the hooks of each event decided.
    pub verdicts: &'a [Verdict],
    /// The call as it came.
    pub original: &'a Input,
    /// The call in its final form.
    pub input: &'a Input,
    /// What observes each hook.
    pub options: DispatchOptions<'a>,
    /// Whether the host would not come to `permission_request` by itself.
    pub consults: bool,
    /// Why the host itself asks, if it does.
    pub host_asks: Option<&'a str>,
    /// Whether a person may be asked: not when a policy is tried out.
    pub asks_person: bool,
}

impl Executor {
    /// Has the hooks of `permission_request` and of `approval` answer what the hooks of
    /// `verdict.event` leave to the user, about the call in its final form. [`dispatch`](Self::dispatch)
    /// has returned `verdict` on `input`.
    ///
    /// Without a hook of `approval` for this call the verdict stays as it is, but for the digest in
    /// [`Verdict::approval`], to which a host can bind an approval of its own.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn approve(&self, verdict: Verdict, input: &Input) -> Verdict {
        self.approve_observed(verdict, input, None).await
    }

    #[doc(hidden)]
    pub async fn approve_observed(
        &self,
        verdict: Verdict,
        input: &Input,
        observer: Option<&dyn Observer>,
    ) -> Verdict {
        if !is_left(verdict.event, &verdict) {
            return verdict;
        }
        // Boxed: most verdicts come nowhere near this, and all would carry its size.
        Box::pin(async move {
            let last = final_call(input, &verdict);
            let mut answered = verdict.clone();
            let judged = Judged {
                event: verdict.event,
                verdicts: &[verdict],
                original: input,
                input: &last,
                options: DispatchOptions { observer, ..DispatchOptions::default() },
                consults: false,
                host_asks: None,
                asks_person: true,
            };
            self.settle(&mut answered, &judged).await;
            answered
        })
        .await
    }

    /// Like [`approve`](Self::approve), for the verdict of a moment.
    #[doc(hidden)]
    pub async fn settle(&self, verdict: &mut Verdict, judged: &Judged<'_>) {
        let Judged { event, input, options, .. } = *judged;
        if !is_left(event, verdict) {
            return;
        }
        let asks = verdict.decision == Some(Decision::Ask);
        let mut verdicts = judged.verdicts.to_vec();
        let has_channel = |rank| judged.asks_person && self.has_channel(input, rank);
        if event != Event::PermissionRequest && (judged.consults || has_channel(judged.rank())) {
            let answer = Box::pin(self.run(Event::PermissionRequest, input, options)).await;
            verdicts.push(answer.clone());
            let is_granted = lifts_asks(&answer, judged.verdicts);
            take_answer(verdict, answer, is_granted);
        }
        if !is_left(event, verdict) {
            return;
        }
        let all = Judged { verdicts: &verdicts, ..*judged };
        let rank = all.rank();
        if asks {
            let digest = call_digest(&self.complete(event, input));
            let report = ApprovalReport { digest, ..ApprovalReport::default() };
            verdict.approval = Some(Box::new(report));
        }
        if has_channel(rank) {
            let answer = self.ask_person(&all, rank).await;
            let is_granted = answer.decision == Some(Decision::Allow);
            take_answer(verdict, answer, is_granted);
        }
    }

    /// Asks the hooks of `approval` that may answer what a hook of `rank` asks.
    #[doc(hidden)]
    pub async fn ask_person(&self, judged: &Judged<'_>, rank: Option<usize>) -> Verdict {
        let Judged { input, original, options, .. } = *judged;
        let is_changed = input.tool_input != original.tool_input;
        let question = ApprovalQuestion {
            reasons: judged.reasons(),
            original_input: original.tool_input.clone().filter(|_| is_changed),
            ..ApprovalQuestion::default()
        };
        let input = Input { approval: Some(Box::new(question)), ..input.clone() };
        let options = DispatchOptions { down_to: Some(asker(rank)), ..options };
        Box::pin(self.run(Event::Approval, &input, options)).await
    }

    /// Returns whether a hook of `approval` is for the call and may answer what a hook of `rank` asks.
    #[doc(hidden)]
    pub fn has_channel(&self, input: &Input, rank: Option<usize>) -> bool {
        let plan = self.plan(Event::Approval);
        !plan.hooks.is_empty() && {
            let asker = Some(asker(rank));
            plan.matching(input).iter().any(|it| may_answer(asker, plan.hooks[*it].rank()))
        }
    }

    /// Returns the input of `approval`, with what only this question has.
    pub(super) fn with_question(
        &self,
        input: &Input,
        (deadlines, down_to): (&Deadlines, Option<usize>),
    ) -> Input {
        let mut input = self.complete(Event::Approval, input).into_owned();
        let mut question = input.approval.take().unwrap_or_default();
        let plan = self.plan(Event::Approval);
        let hooks = plan.matching(&input);
        let hooks = hooks.iter().map(|index| &plan.hooks[*index]);
        let ends = hooks.filter(|bound| may_answer(down_to, bound.rank()));
        let last = ends.map(|bound| deadlines.until(bound).answer).max();
        let left = last.map(|end| end.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| SignedDuration::try_from(left).ok()).unwrap_or_default();
        let expires = Timestamp::now().checked_add(left).unwrap_or(Timestamp::MAX);
        // Without it the digest still binds an answer to the call.
        question.id = random_id().unwrap_or_default();
        question.digest = call_digest(&input);
        question.expires = format!("{expires:.0}");
        input.approval = Some(question);
        input
    }
}

/// Returns the rank that a question has: that of the hook, else the user's. After a hook of the user
/// has asked, an agent asks by an event of its own about the same call.
fn asker(rank: Option<usize>) -> usize {
    rank.unwrap_or(Layer::User.rank())
}

/// Returns whether a hook of `rank` may answer what one of `down_to` asks.
pub(super) fn may_answer(down_to: Option<usize>, rank: usize) -> bool {
    down_to.is_none_or(|down_to| rank <= down_to)
}

/// Returns whether the user is to decide about the call: a hook asks, or the host does, and no hook
/// answered.
fn is_left(event: Event, verdict: &Verdict) -> bool {
    match event.contract().permission {
        _ if !event.contract().tool_matched || event == Event::Approval => false,
        Permission::None => false,
        Permission::Decides => verdict.decision == Some(Decision::Ask),
        Permission::Approves => {
            verdict.decision == Some(Decision::Ask) || verdict.decision.is_none() && verdict.allowed
        }
    }
}

/// Returns whether an allow of `permission_request` in `answer` lifts what `verdicts` ask. A hook
/// answers for its own layer and those below, and no hook answers the mandatory guard in the user's
/// place. What only the host asks, a hook of any layer answers.
pub(crate) fn lifts_asks(answer: &Verdict, verdicts: &[Verdict]) -> bool {
    let lifts = |asked: &Verdict| {
        let by = answer.rank_of(Decision::Allow);
        asked.event != Event::ToolGuard && by.is_some_and(|by| by <= rank_of_ask(asked))
    };
    answer.decision == Some(Decision::Allow) && asking(verdicts).all(lifts)
}

/// Returns the verdicts that ask.
fn asking(verdicts: &[Verdict]) -> impl Iterator<Item = &Verdict> {
    verdicts.iter().filter(|verdict| verdict.decision == Some(Decision::Ask))
}

/// Returns the rank of the highest layer that asks. A verdict that asks without a hook is as one of
/// the highest layer.
fn rank_of_ask(asked: &Verdict) -> usize {
    asked.rank_of(Decision::Ask).unwrap_or_default()
}

/// Adds an answer to what hooks ask. One that grants it takes the ask away.
fn take_answer(verdict: &mut Verdict, answer: Verdict, is_granted: bool) {
    if is_granted {
        verdict.decision = None;
        verdict.allowed = true;
        verdict.message = None;
    }
    verdict.absorb(answer);
}

impl Judged<'_> {
    /// Returns the rank of the highest layer that asks. What the host asks is the user's to answer.
    pub fn rank(&self) -> Option<usize> {
        let host = self.event == Event::PermissionRequest || self.host_asks.is_some();
        let host = host.then_some(Layer::User.rank());
        asking(self.verdicts).map(rank_of_ask).chain(host).min()
    }

    fn reasons(&self) -> Vec<ApprovalReason> {
        let hooks = asking(self.verdicts).flat_map(|verdict| {
            let asks = verdict.hooks.iter().filter(|hook| hook.decision == Some(Decision::Ask));
            asks.filter(|hook| hook.mode.is_none()).map(|hook| ApprovalReason {
                hook: Some(hook.name.clone()),
                event: Some(verdict.event),
                reason: hook.reason.clone().unwrap_or_default(),
            })
        });
        let mut reasons: Vec<ApprovalReason> = hooks.collect();
        let host = self.host_asks.or(reasons.is_empty().then_some("the agent asks for approval"));
        reasons.extend(host.map(|reason| ApprovalReason {
            reason: reason.to_owned(),
            ..ApprovalReason::default()
        }));
        reasons
    }
}

impl Stage<'_> {
    /// Keeps the hooks of layers that may answer a hook of `down_to`.
    pub(super) fn keep_down_to(&mut self, down_to: usize) {
        let hooks = &self.plan.hooks;
        let matching = self.current.matching.iter().copied();
        let kept = matching.filter(|index| may_answer(Some(down_to), hooks[*index].rank()));
        self.current.matching = kept.collect();
    }

    /// Notes that a hook of `approval` was no longer waited for.
    pub(super) fn withdrawn(index: usize) -> Outcome {
        Outcome::skipped(index, "another hook answered first")
    }

    /// Says in the verdict of `approval` what the answer is. No answer is a denial.
    pub(super) fn conclude(&self, verdict: &mut Verdict) {
        let Some(asked) = &self.current.input().approval else { return };
        if verdict.hooks.is_empty() {
            return;
        }
        let mut report = ApprovalReport {
            digest: asked.digest.clone(),
            id: Some(asked.id.clone()),
            ..ApprovalReport::default()
        };
        let mut outcomes = self.outcomes().filter(|(_, outcome)| {
            outcome.error.is_none() && outcome.output.decision == verdict.decision
        });
        let answered = matches!(verdict.decision, Some(Decision::Allow | Decision::Deny));
        if let Some((bound, outcome)) = outcomes.next().filter(|_| answered) {
            report.decision = verdict.decision;
            report.by.clone_from(&outcome.output.by);
            report.channel = Some(bound.hook.label());
            report.answered = Some(format!("{:.0}", Timestamp::now()));
        }
        if verdict.decision.is_none() {
            let silent = self.outcomes().map(|(bound, outcome)| match &outcome.error {
                Some(error) => format!("{}: {error}", bound.title()),
                None => format!("{}: it gave no answer", bound.title()),
            });
            let why: Vec<String> = silent.collect();
            let denied = format!("approval is needed, and none was given: {}", why.join("; "));
            verdict.absorb(Verdict::denied(Event::Approval, denied));
        }
        verdict.approval = Some(Box::new(report));
    }

    /// Drops what allows a call over the head of a higher layer: after an allow the hooks that it has for
    /// approvals of the tool are not asked.
    pub(super) fn drop_outranked_allows(&mut self) {
        let allows = |it: &Outcome| it.output.decision == Some(Decision::Allow);
        let later: &[Event] = match self.event {
            Event::ToolGuard | Event::PreToolUse => &[Event::PermissionRequest, Event::Approval],
            Event::PermissionRequest => &[Event::Approval],
            _ => return,
        };
        if !self.record.outcomes.iter().any(allows) {
            return;
        }
        let asked = later.iter().map(|event| {
            let plan = self.executor.plan(*event);
            if plan.hooks.is_empty() {
                return None;
            }
            let matching = plan.matching(self.current.input());
            let bounds = matching.iter().map(|index| &plan.hooks[*index]);
            bounds.filter(|bound| bound.hook.phase.is_answered()).map(Bound::rank).min()
        });
        let Some(highest) = asked.flatten().min() else { return };
        for outcome in self.record.outcomes.iter_mut().filter(|it| allows(it)) {
            if self.plan.hooks[outcome.index].rank() > highest {
                outcome.output.decision = None;
                outcome.warnings.push(OUTRANKED.to_owned());
            }
        }
    }

    /// Returns whether `outcome` ends the wait for the others: the first answer of a person counts. A
    /// failure does not answer.
    pub(super) fn is_last_word(&self, outcome: &Outcome) -> bool {
        let decision = outcome.output.decision;
        self.event == Event::Approval
            && outcome.error.is_none()
            && matches!(decision, Some(Decision::Allow | Decision::Deny))
    }
}
