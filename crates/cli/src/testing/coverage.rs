//! Which hooks, matchers and conditions no case reached.

use std::path::PathBuf;

use serde::Serialize;

use hookexec::config::Hook;
use hookexec::internal::{Explanation, Selection};
use hookexec::wire::{HookStatus, Verdict};

/// What was reached of a configuration.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// One for each configured hook, in config order.
    hooks: Vec<Seen>,
    /// One for each matcher entry, in config order.
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Seen {
    enabled: bool,
    name: String,
    path: PathBuf,
    line: usize,
    condition: Option<String>,
    /// Its place in `entries`, when it stands below a matcher.
    entry: Option<usize>,
    ran: bool,
    held: bool,
    did_not_hold: bool,
}

#[derive(Debug)]
struct Entry {
    matcher: String,
    path: PathBuf,
    line: usize,
    matched: bool,
}

/// What the cases reached, and what they did not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageReport {
    /// How many things were reached.
    pub covered: usize,
    /// How many there are: a hook counts one, a matcher entry one, a condition two, for holding and
    /// for not holding. What is disabled does not count.
    pub total: usize,
    /// The share in percent, 100 when there is nothing to reach.
    pub percent: f64,
    /// What was not reached, in config order.
    pub gaps: Vec<Gap>,
}

/// A thing that no case reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// What is missing.
    pub kind: GapKind,
    /// The hook, or the matcher.
    pub name: String,
    /// The condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// What a case should do that none does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
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
            // Hooks of one entry stand side by side and share event, file and matcher.
            let entry = (hook.enabled && !hook.matcher.is_everything()).then(|| {
                if let Some((before, entry)) = last
                    && before.event == hook.event
                    && before.matcher.as_str() == hook.matcher.as_str()
                    && before.location.path() == hook.location.path()
                {
                    return entry;
                }
                coverage.entries.push(Entry {
                    matcher: hook.matcher.to_string(),
                    path: hook.location.path().to_owned(),
                    line: hook.location.line(),
                    matched: false,
                });
                coverage.entries.len() - 1
            });
            if let Some(entry) = entry {
                last = Some((hook, entry));
            }
            coverage.hooks.push(Seen {
                enabled: hook.enabled,
                name: hook.label(),
                path: hook.location.path().to_owned(),
                line: hook.location.line(),
                condition: hook.when.as_ref().map(ToString::to_string),
                entry,
                ran: false,
                held: false,
                did_not_hold: false,
            });
        }
        coverage
    }

    /// Notes what a case reached. `explanations` are those of every configured hook, in order.
    pub(super) fn observe(&mut self, explanations: &[Explanation], verdict: &Verdict) {
        let reports = Explanation::pair(explanations, verdict);
        for ((explanation, report), seen) in explanations.iter().zip(reports).zip(&mut self.hooks) {
            let ran = report.is_some_and(|report| report.status != HookStatus::Skipped);
            // A duplicate is done by its twin.
            let twin = matches!(explanation.selection, Selection::DuplicateOf(_));
            let matched = !matches!(
                explanation.selection,
                Selection::OtherEvent(_) | Selection::Disabled | Selection::NotMatched
            );
            seen.ran |= ran || twin;
            let holds = explanation.condition.as_ref().map(|trace| trace.holds);
            seen.held |= ran || twin || holds == Some(true);
            seen.did_not_hold |= twin || holds == Some(false);
            if let Some(entry) = seen.entry.filter(|_| matched || ran) {
                self.entries[entry].matched = true;
            }
        }
    }

    pub(super) fn report(&self) -> CoverageReport {
        let mut total = 0;
        let mut gaps = Vec::new();
        let mut entries_seen = 0;
        let mut count = |reached: bool, gap: &dyn Fn() -> Gap| {
            total += 1;
            if !reached {
                gaps.push(gap());
            }
        };
        for seen in self.hooks.iter().filter(|seen| seen.enabled) {
            if let Some(index) = seen.entry.filter(|index| *index == entries_seen) {
                entries_seen += 1;
                let entry = &self.entries[index];
                count(entry.matched, &|| Gap {
                    kind: GapKind::MatcherNeverMatched,
                    name: entry.matcher.clone(),
                    condition: None,
                    path: entry.path.clone(),
                    line: entry.line,
                });
            }
            let gap = |kind, condition: Option<String>| Gap {
                kind,
                name: seen.name.clone(),
                condition,
                path: seen.path.clone(),
                line: seen.line,
            };
            count(seen.ran, &|| gap(GapKind::HookNeverRan, None));
            if let Some(condition) = &seen.condition {
                let condition = || Some(condition.clone());
                count(seen.held, &|| gap(GapKind::ConditionNeverHeld, condition()));
                count(seen.did_not_hold, &|| gap(GapKind::ConditionAlwaysHeld, condition()));
            }
        }
        let covered = total - gaps.len();
        #[expect(clippy::cast_precision_loss, reason = "a file holds some thousand hooks at most")]
        let percent = if total == 0 { 100.0 } else { covered as f64 * 100.0 / total as f64 };
        CoverageReport { covered, total, percent, gaps }
    }
}
