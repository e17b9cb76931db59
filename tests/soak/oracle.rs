//! What a verdict may be, from what its hooks were told to say and what may have happened to them.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use hookexec::wire::{HookReport, HookStatus};
use hookexec::{Contract, Decision, FailureMode, Permission, Verdict};

use crate::plan::{Plan, Say};

/// What came of many dispatches.
#[derive(Debug, Default)]
pub(crate) struct Count {
    pub(crate) dispatches: usize,
    /// Hooks that said what they were told to say.
    pub(crate) answered: usize,
    /// Hooks that failed.
    pub(crate) failed: usize,
    /// Children that the killer killed.
    pub(crate) killed: usize,
    /// Hooks that failed though they were told to answer.
    pub(crate) killed_and_noticed: usize,
    /// Hooks by type.
    pub(crate) by_type: BTreeMap<String, usize>,
    /// Verdicts by decision.
    pub(crate) by_decision: BTreeMap<String, usize>,
    /// Verdicts that may not be.
    pub(crate) wrong: Vec<String>,
}

impl Count {
    /// Counts a verdict, and judges it.
    pub(crate) fn add(&mut self, plan: &Plan, verdict: &Verdict, killed: bool) {
        self.dispatches += 1;
        self.killed += usize::from(killed);
        *self.by_decision.entry(format!("{:?}", verdict.decision)).or_default() += 1;
        for report in &verdict.hooks {
            let failed = report.status == HookStatus::Failed;
            self.failed += usize::from(failed);
            self.answered += usize::from(!failed);
            self.killed_and_noticed += usize::from(failed && plan.say != Say::Die);
            *self.by_type.entry(report.kind.clone()).or_default() += 1;
        }
        if let Err(problem) = judge(plan, verdict) {
            self.wrong.push(format!("{problem}: {plan:?}: {verdict:#?}"));
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.dispatches += other.dispatches;
        self.answered += other.answered;
        self.failed += other.failed;
        self.killed += other.killed;
        self.killed_and_noticed += other.killed_and_noticed;
        for (kind, count) in other.by_type {
            *self.by_type.entry(kind).or_default() += count;
        }
        for (decision, count) in other.by_decision {
            *self.by_decision.entry(decision).or_default() += count;
        }
        self.wrong.extend(other.wrong);
    }
}

/// Judges each hook by what it was told, and the verdict by its hooks.
fn judge(plan: &Plan, verdict: &Verdict) -> Result<(), String> {
    let contract = plan.event().contract();
    let expected = if plan.runs_all() { 3 } else { 1 };
    if verdict.hooks.len() != expected {
        return Err(format!("{expected} hooks should have run"));
    }
    for report in &verdict.hooks {
        judge_hook(plan, contract, report)?;
    }
    let strictest = verdict.hooks.iter().filter_map(|hook| hook.decision).max();
    let open = verdict
        .hooks
        .iter()
        .filter(|hook| hook.status == HookStatus::Failed && hook.decision.is_none());
    let open: Vec<&String> = open.map(|hook| &hook.name).collect();
    let checks = [
        (verdict.decision == strictest, "the strictest hook does not decide"),
        (
            verdict.allowed == (strictest <= Some(Decision::Allow)),
            "`allowed` and `decision` differ",
        ),
        (verdict.failed_open.iter().eq(open.iter().copied()), "`failed_open` is wrong"),
        (
            open.iter().all(|name| {
                verdict.system_message.as_ref().is_some_and(|text| text.contains(*name))
            }),
            "a failure is not told",
        ),
    ];
    match checks.into_iter().find(|(holds, _)| !holds) {
        Some((_, problem)) => Err(problem.to_owned()),
        None => Ok(()),
    }
}

/// A hook has either said what it was told to say, or failed as the contract has it. There is no third.
fn judge_hook(plan: &Plan, contract: &Contract, report: &HookReport) -> Result<(), String> {
    let problem = |text: &str| Err(format!("{}: {text}", report.name));
    if report.status == HookStatus::Failed {
        let error = report.error.as_deref().unwrap_or_default();
        let dead = ["SIGKILL", "(number 9)", "it died"].iter().any(|cause| error.contains(cause));
        if report.kind == "builtin" && plan.say != Say::Die {
            return problem("nobody can kill a builtin");
        }
        return match (report.decision == failure(contract), dead) {
            (false, _) => problem("a failure is not what the contract says"),
            (_, false) => problem("a failure without the cause"),
            _ => Ok(()),
        };
    }
    if plan.say == Say::Die {
        return problem("it died, and that was not noticed");
    }
    if report.decision != stated(plan.say, contract) {
        return problem("it did not say this");
    }
    let word = plan.word();
    let explains = report.decision > Some(Decision::Allow);
    if explains && report.reason.as_deref() != Some(word.as_str()) {
        return problem("this is the answer to another call");
    }
    Ok(())
}

/// Returns what the event makes of what a hook says.
fn stated(say: Say, contract: &Contract) -> Option<Decision> {
    match say {
        Say::Silence | Say::Die => None,
        _ if !contract.may_block => None,
        Say::Allow => Some(Decision::Allow),
        Say::Ask if contract.permission != Permission::None => Some(Decision::Ask),
        Say::Ask | Say::Deny => Some(Decision::Deny),
    }
}

/// Returns what the event makes of a hook's failure.
fn failure(contract: &Contract) -> Option<Decision> {
    match contract.failure {
        FailureMode::Closed => Some(Decision::Deny),
        FailureMode::Ask => Some(Decision::Ask),
        _ => None,
    }
}
