//! Settles what hooks ask: by the hooks of `permission_request`, then by those of `approval`, which ask
//! a person.

use crate::config::Layer;
use crate::event::{Event, Permission};
use crate::executor::{BEFORE_TOOL, Decided, DispatchOptions, Executor, JudgedBefore};
use crate::wire::{
    ApprovalQuestion, ApprovalReason, ApprovalReport, Decision, HookReport, HookStatus, Input,
    Verdict, call_digest,
};

/// The remark on an allow at `permission_request` that does not reach up to the user's layer.
const OF_LOWER_LAYER: &str = "its allow is ignored: the agent asks for the user, and a hook answers \
                              for its own layer and lower ones";

/// The events before the tool whose hooks can ask.
pub(crate) const ASKING: [Event; 2] = [Event::ToolGuard, Event::PreToolUse];

/// A tool call that hooks have judged, for the hooks that answer in the user's place.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a caller sets its fields")]
pub struct Judged<'a> {
    /// The event that the host fired.
    pub event: Event,
    /// The verdict of each event.
    pub verdicts: &'a [Verdict],
    /// The call as it came.
    pub original: &'a Input,
    /// The call in its final form.
    pub input: &'a Input,
    /// How hooks are called.
    pub options: DispatchOptions<'a>,
    /// Whether the host would not come to `permission_request` by itself.
    pub consults: bool,
    /// Why the host itself asks, if it does.
    pub host_asks: Option<&'a str>,
    /// Whether a person may be asked: not when a policy is tried out.
    pub asks_person: bool,
}

/// One ask that is not settled.
#[derive(Debug, Clone, Copy)]
struct Ask {
    /// The rank of its layer.
    rank: usize,
    /// The event of the hook that asks.
    event: Event,
}

/// The asks of hooks, and of the host, about one call.
#[derive(Debug, Default)]
pub(crate) struct Asks(Vec<Ask>);

impl Asks {
    /// Adds what the hooks of `verdicts` ask.
    pub(crate) fn add(&mut self, verdicts: &[Verdict]) {
        for verdict in verdicts.iter().filter(|verdict| verdict.decision == Some(Decision::Ask)) {
            let event = verdict.event;
            let before = self.0.len();
            for hook in verdict.hooks.iter().filter(|hook| counts_as(hook, Decision::Ask)) {
                self.0.push(Ask { rank: hook.rank, event });
            }
            // A verdict that asks without a hook is as one of the highest layer.
            if self.0.len() == before {
                self.0.push(Ask { rank: Layer::Managed.rank(), event });
            }
        }
    }

    /// Settles what the hooks of `permission_request` or `approval` in `answers` allow: the asks of their
    /// own layer and of lower ones. Only a person settles what the mandatory guard asks. Where one of
    /// these hooks failed, nothing is settled.
    pub(crate) fn settle(&mut self, answers: &[Verdict]) {
        self.add(answers);
        for answer in answers {
            let is_answer = answer.event.contract().permission == Permission::Approves;
            if !is_answer || answer.hooks.iter().any(has_failed) {
                continue;
            }
            let allows = answer.hooks.iter().filter(|hook| counts_as(hook, Decision::Allow));
            let Some(by) = allows.map(|hook| hook.rank).min() else { continue };
            let by_person = answer.event == Event::Approval;
            self.0.retain(|ask| ask.rank < by || ask.event == Event::ToolGuard && !by_person);
        }
    }

    pub(crate) fn are_settled(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the rank of the highest layer that asks.
    fn highest(&self) -> Option<usize> {
        self.0.iter().map(|ask| ask.rank).min()
    }
}

/// Returns whether a hook decided so, and its answer counts.
fn counts_as(hook: &HookReport, decision: Decision) -> bool {
    hook.mode.is_none() && hook.decision == Some(decision)
}

/// Returns whether a hook failed in a way that must not be passed over.
fn has_failed(hook: &HookReport) -> bool {
    let failed = matches!(hook.status, HookStatus::Failed | HookStatus::Error);
    failed && hook.mode.is_none() && hook.decision.is_some()
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
    pub async fn approve(
        &self,
        mut verdict: Verdict,
        input: &Input,
        options: DispatchOptions<'_>,
    ) -> Verdict {
        if is_left(verdict.event, &verdict) {
            let judged = Judged {
                event: verdict.event,
                verdicts: &[verdict.clone()],
                original: input,
                input: &self.final_call(input, &verdict),
                options,
                consults: false,
                host_asks: None,
                asks_person: true,
            };
            // Boxed: most verdicts come nowhere near this, and all would carry its size.
            Box::pin(self.settle(&mut verdict, &judged)).await;
        }
        verdict
    }

    /// Like [`approve`](Self::approve), for the verdict of a moment. Returns the verdict of each event
    /// whose hooks were asked.
    pub async fn settle(&self, verdict: &mut Verdict, judged: &Judged<'_>) -> Vec<Verdict> {
        let Judged { event, input, .. } = *judged;
        let host_asks = judged.host_asks.is_some()
            && event.contract().permission == Permission::Decides
            && verdict.decision.is_none();
        if host_asks {
            verdict.decision = Some(Decision::Ask);
            verdict.allowed = false;
        }
        let mut answers = Vec::new();
        if !is_left(event, verdict) {
            return answers;
        }
        let is_asked = verdict.decision == Some(Decision::Ask);
        let has_channel = judged.asks_person && self.has_channel(input);
        let mut asks = Asks::default();
        if event != Event::PermissionRequest {
            asks.add(judged.verdicts);
        }
        // The agent comes to `permission_request` because it would ask its user.
        if host_asks || event == Event::PermissionRequest {
            asks.0.push(Ask { rank: Layer::User.rank(), event: Event::PermissionRequest });
        }
        if event == Event::PermissionRequest {
            asks.settle(judged.verdicts);
            if asks.are_settled() {
                let mut again = Box::pin(self.ask_again(judged)).await;
                asks.add(&again.verdicts);
                asks.settle(judged.verdicts);
                if asks.are_settled() && again.verdict.decision == Some(Decision::Ask) {
                    (again.verdict.decision, again.verdict.allowed) = (None, true);
                    again.verdict.message = None;
                }
                verdict.absorb(again.verdict);
            }
            leave_to_host(verdict, &asks);
        } else if judged.consults || has_channel {
            let asking = self.ask(Event::PermissionRequest, judged, &mut asks, verdict);
            answers.extend(Box::pin(asking).await);
        }
        if asks.are_settled() || verdict.decision == Some(Decision::Deny) {
            return answers;
        }
        // A hook of `permission_request` may have rewritten the call: a person is asked about the result.
        let last = self.final_call(input, verdict);
        let judged = &Judged { input: &last, ..*judged };
        if is_asked {
            let digest = call_digest(&self.complete(event, &last));
            let report = ApprovalReport { digest, ..ApprovalReport::default() };
            verdict.approval = Some(Box::new(report));
        }
        if has_channel {
            let asking = self.ask(Event::Approval, judged, &mut asks, verdict);
            answers.extend(Box::pin(asking).await);
        }
        answers
    }

    /// Asks the hooks before the tool once more about a call that `permission_request` allows: their
    /// earlier asks are not known here. They get the call as it came.
    async fn ask_again(&self, judged: &Judged<'_>) -> Decided {
        let options = DispatchOptions { judged: JudgedBefore::All, ..judged.options };
        self.run_moment(&ASKING, judged.original, options).await
    }

    /// Asks the hooks of `permission_request` or of `approval` about a call that `asks` are left for, and
    /// adds their answer to `verdict`. Returns the verdict of each event. If a hook of
    /// `permission_request` approves the call with other arguments, all hooks before the tool judge these.
    async fn ask(
        &self,
        event: Event,
        judged: &Judged<'_>,
        asks: &mut Asks,
        verdict: &mut Verdict,
    ) -> Vec<Verdict> {
        let mut decided = Decided::no_opinion(&[event]);
        if !self.plan(event).matching(judged.input).is_empty() {
            let mut input = Input { hook_event_name: Some(event), ..judged.input.clone() };
            let mut options = judged.options;
            let mut events = vec![event];
            if event == Event::Approval {
                input.approval = Some(Box::new(judged.question()));
                options.asked_by = asks.highest();
            } else {
                events.extend(BEFORE_TOOL);
                options.once_rewritten = &BEFORE_TOOL;
                options.judged = JudgedBefore::Named(judged.verdicts);
            }
            decided = self.run_moment(&events, &input, options).await;
        }
        asks.settle(&decided.verdicts);
        take_answer(verdict, decided.verdict, asks.are_settled());
        decided.verdicts
    }
}

/// Returns whether the user is to decide about the call: a hook asks, or the host does.
fn is_left(event: Event, verdict: &Verdict) -> bool {
    match event.contract().permission {
        _ if !event.contract().tool_matched || event == Event::Approval => false,
        Permission::None => false,
        Permission::Decides => verdict.decision == Some(Decision::Ask),
        Permission::Approves => verdict.decision != Some(Decision::Deny),
    }
}

/// Leaves to the host what its hooks of `permission_request` could not settle.
fn leave_to_host(verdict: &mut Verdict, asks: &Asks) {
    if verdict.decision == Some(Decision::Deny) {
        return;
    }
    if asks.are_settled() {
        if verdict.decision == Some(Decision::Ask) {
            verdict.message = None;
        }
        verdict.decision = Some(Decision::Allow);
        verdict.allowed = true;
    } else if verdict.decision == Some(Decision::Allow) {
        verdict.decision = None;
        let allows = verdict.hooks.iter_mut().filter(|hook| counts_as(hook, Decision::Allow));
        for hook in allows {
            hook.warnings.push(OF_LOWER_LAYER.to_owned());
        }
    }
}

/// Adds an answer to what hooks ask. If all asks are settled, the verdict is an allow.
fn take_answer(verdict: &mut Verdict, mut answer: Verdict, is_settled: bool) {
    if is_settled && answer.decision != Some(Decision::Deny) {
        verdict.decision = None;
        verdict.allowed = true;
        verdict.message = None;
        answer.decision = Some(Decision::Allow);
        answer.allowed = true;
    } else if answer.decision == Some(Decision::Allow) {
        // It settles some of the asks, and not all.
        answer.decision = None;
        answer.message = None;
    }
    verdict.absorb(answer);
}

impl Judged<'_> {
    /// Returns the question to a person, as far as the call alone tells it.
    fn question(&self) -> ApprovalQuestion {
        let is_changed = self.input.tool_input != self.original.tool_input;
        ApprovalQuestion {
            reasons: self.reasons(),
            original_input: self.original.tool_input.clone().filter(|_| is_changed),
            ..ApprovalQuestion::default()
        }
    }

    fn reasons(&self) -> Vec<ApprovalReason> {
        let mut reasons = Vec::new();
        for verdict in self.verdicts {
            for hook in &verdict.hooks {
                if verdict.decision == Some(Decision::Ask) && counts_as(hook, Decision::Ask) {
                    reasons.push(ApprovalReason {
                        hook: Some(hook.name.clone()),
                        event: Some(verdict.event),
                        reason: hook.reason.clone().unwrap_or_default(),
                    });
                }
            }
        }
        let host = match self.host_asks {
            None if reasons.is_empty() => Some("the agent asks for approval"),
            host => host,
        };
        reasons.extend(host.map(|reason| ApprovalReason {
            reason: reason.to_owned(),
            ..ApprovalReason::default()
        }));
        reasons
    }
}
