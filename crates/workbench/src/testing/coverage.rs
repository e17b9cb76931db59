//! Which hooks and conditions no case reached.

use std::path::PathBuf;

use serde::Serialize;

use crate::explain::take_report;
use hookexec::Verdict;
use hookexec::config::Hook;
use hookexec::executor::{Explanation, Selection};
use hookexec::wire::HookStatus;

/// The parts of a configuration that the cases reached, and the gaps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The hooks file; several are joined by commas.
    pub config: String,
    /// How many things were reached.
    pub covered: usize,
    /// How many there are: a hook counts one, a condition two, for holding and for not holding.
    /// Hooks that are disabled do not count.
    pub total: usize,
    /// The share in percent, 100 when there is nothing to reach.
    pub percent: f64,
    /// The gaps, in config order.
    pub gaps: Vec<Gap>,
}

/// A thing that no case reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The kind of gap.
    pub kind: GapKind,
    /// The hook.
    pub name: String,
    /// Its matcher, if it matched no case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Its condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// A kind of gap: something that no case does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// Run the hook.
    HookNeverRan,
    /// Fit the rule.
    RuleNeverFitted,
    /// Meet the condition.
    ConditionNeverHeld,
    /// Fail the condition.
    ConditionAlwaysHeld,
}

/// The goals that the cases reached of one hook.
#[derive(Clone, Default)]
pub(super) struct Goals {
    matched: bool,
    ran: bool,
    had_opinion: bool,
    held: bool,
    did_not_hold: bool,
}

/// Notes what a case reached. `explanations` are those of every configured hook, in order.
pub(super) fn note(all: &mut [Goals], explanations: &[Explanation], verdict: &Verdict) {
    let mut reports = verdict.hooks.iter().collect();
    for (explanation, goals) in explanations.iter().zip(all) {
        let report = take_report(explanation, &mut reports);
        // A duplicate is done by its twin.
        let is_twin = matches!(explanation.selection, Selection::DuplicateOf(_));
        let (ran, had_opinion) = match report {
            Some(report) => (report.status != HookStatus::Skipped, report.decision.is_some()),
            None => (false, false),
        };
        let holds = explanation.condition.as_ref().map(|trace| trace.holds);
        goals.matched |= matches!(explanation.selection, Selection::ConditionFails);
        goals.ran |= ran || is_twin;
        goals.had_opinion |= is_twin || had_opinion;
        goals.held |= ran || is_twin || holds == Some(true);
        goals.did_not_hold |= is_twin || holds == Some(false);
    }
}

impl Coverage {
    /// Returns what was reached of the `hooks` of the configuration `config`.
    pub(super) fn new(config: &str, hooks: &[Hook], goals: &[Goals]) -> Self {
        let (mut total, mut gaps) = (0, Vec::new());
        for (hook, reached) in hooks.iter().zip(goals) {
            if !hook.enabled {
                continue;
            }
            let mut goals = vec![(GapKind::HookNeverRan, reached.ran)];
            if reached.ran && hook.kind == "rule" {
                goals = vec![(GapKind::RuleNeverFitted, reached.had_opinion)];
            }
            if hook.when.is_some() {
                goals.push((GapKind::ConditionNeverHeld, reached.held));
                goals.push((GapKind::ConditionAlwaysHeld, reached.did_not_hold));
            }
            total += goals.len();
            for (kind, is_reached) in goals {
                if !is_reached {
                    gaps.push(Gap::new(kind, hook, reached));
                }
            }
        }
        let covered = total - gaps.len();
        #[expect(clippy::cast_precision_loss, reason = "a file holds some thousand hooks at most")]
        let percent = if total == 0 { 100.0 } else { covered as f64 * 100.0 / total as f64 };
        Self { config: config.to_owned(), covered, total, percent, gaps }
    }
}

impl Gap {
    fn new(kind: GapKind, hook: &Hook, reached: &Goals) -> Self {
        let matches_all = hook.matcher.is_everything() || reached.matched || reached.ran;
        Self {
            kind,
            name: hook.label(),
            matcher: if matches_all { None } else { Some(hook.matcher.to_string()) },
            condition: hook.when.as_ref().map(ToString::to_string),
            path: hook.location.path().to_owned(),
            line: hook.location.line(),
        }
    }
}
