//! Which hooks, matchers and conditions no case reached.

use crate::moment::reports_of;
use std::path::PathBuf;

use serde::Serialize;

use hookexec::config::Hook;
use hookexec::internal::{Explanation, Selection};
use hookexec::wire::{HookStatus, Verdict};

/// What was reached of a configuration.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Each thing that can be reached: the gap that it is while no case has, and whether one has.
    goals: Vec<(Gap, bool)>,
    /// What each configured hook can reach, as places in `goals`, in config order.
    hooks: Vec<Vec<usize>>,
}

/// What the cases reached, and what they did not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CoverageReport {
    /// How many things were reached.
    pub(crate) covered: usize,
    /// How many there are: a hook counts one, a matcher entry one, a condition two, for holding and
    /// for not holding. What is disabled does not count.
    pub(crate) total: usize,
    /// The share in percent, 100 when there is nothing to reach.
    pub(crate) percent: f64,
    /// What was not reached, in config order.
    pub(crate) gaps: Vec<Gap>,
}

/// A thing that no case reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Gap {
    /// What is missing.
    pub(crate) kind: GapKind,
    /// The hook, or the matcher.
    pub(crate) name: String,
    /// The condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) condition: Option<String>,
    /// The file.
    pub(crate) path: PathBuf,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// What a case should do that none does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GapKind {
    /// Run the hook.
    HookNeverRan,
    /// Call a tool that the matcher matches.
    MatcherNeverMatched,
    /// Meet the condition.
    ConditionNeverHeld,
    /// Fail the condition.
    ConditionAlwaysHeld,
}

impl Coverage {
    pub(super) fn of<'h>(hooks: impl Iterator<Item = &'h Hook>) -> Self {
        let mut coverage = Self::default();
        let mut last: Option<(&Hook, usize)> = None;
        for hook in hooks {
            let mut goals = Vec::new();
            if hook.enabled {
                if !hook.matcher.is_everything() {
                    // Hooks of one entry stand side by side and share event, file and matcher.
                    let same = last.filter(|(before, _)| {
                        before.event == hook.event
                            && before.matcher.as_str() == hook.matcher.as_str()
                            && before.location.path() == hook.location.path()
                    });
                    let name = hook.matcher.to_string();
                    let kind = GapKind::MatcherNeverMatched;
                    let place = same
                        .map_or_else(|| coverage.add(kind, name, hook, None), |(_, place)| place);
                    last = Some((hook, place));
                    goals.push(place);
                }
                goals.push(coverage.add(GapKind::HookNeverRan, hook.label(), hook, None));
                for condition in hook.when.iter().map(ToString::to_string) {
                    for kind in [GapKind::ConditionNeverHeld, GapKind::ConditionAlwaysHeld] {
                        let condition = Some(condition.clone());
                        goals.push(coverage.add(kind, hook.label(), hook, condition));
                    }
                }
            }
            coverage.hooks.push(goals);
        }
        coverage
    }

    /// Adds something that can be reached, and returns its place.
    fn add(&mut self, kind: GapKind, name: String, at: &Hook, condition: Option<String>) -> usize {
        let (path, line) = (at.location.path().to_owned(), at.location.line());
        self.goals.push((Gap { kind, name, condition, path, line }, false));
        self.goals.len() - 1
    }

    /// Notes what a case reached. `explanations` are those of every configured hook, in order.
    pub(super) fn observe(&mut self, explanations: &[Explanation], verdict: &Verdict) {
        let reports = reports_of(explanations, verdict);
        for ((explanation, report), goals) in explanations.iter().zip(reports).zip(&self.hooks) {
            let ran = report.is_some_and(|report| report.status != HookStatus::Skipped);
            // A duplicate is done by its twin.
            let twin = matches!(explanation.selection, Selection::DuplicateOf(_));
            let matched = !matches!(
                explanation.selection,
                Selection::OtherEvent(_) | Selection::Disabled | Selection::NotMatched
            );
            let holds = explanation.condition.as_ref().map(|trace| trace.holds);
            for goal in goals {
                let (gap, reached) = &mut self.goals[*goal];
                *reached |= match gap.kind {
                    GapKind::MatcherNeverMatched => matched || ran,
                    GapKind::HookNeverRan => ran || twin,
                    GapKind::ConditionNeverHeld => ran || twin || holds == Some(true),
                    GapKind::ConditionAlwaysHeld => twin || holds == Some(false),
                };
            }
        }
    }

    pub(super) fn report(&self) -> CoverageReport {
        let missed = self.goals.iter().filter(|(_, reached)| !reached);
        let gaps: Vec<Gap> = missed.map(|(gap, _)| gap.clone()).collect();
        let total = self.goals.len();
        let covered = total - gaps.len();
        #[expect(clippy::cast_precision_loss, reason = "a file holds some thousand hooks at most")]
        let percent = if total == 0 { 100.0 } else { covered as f64 * 100.0 / total as f64 };
        CoverageReport { covered, total, percent, gaps }
    }
}
