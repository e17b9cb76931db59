//! The outcome of one hook under the event's contract.

use std::time::Duration;

use super::select::Bound;
use crate::wire::{Decision, HookReport, HookStatus, Mode, Output, Usage, decision_of};

/// The outcome of one hook.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The hook's place in config order.
    pub(super) index: usize,
    pub(super) status: HookStatus,
    /// The answer, without what the event does not support.
    pub(super) output: Box<Output>,
    /// Whether its answer counts, once that is decided.
    pub(super) mode: Option<Mode>,
    /// The answer of a hook whose mode keeps it from counting; `output` is empty then.
    pub(super) unenforced: Option<Box<Output>>,
    /// Why it failed, ended in error, or was skipped.
    pub(super) error: Option<String>,
    /// Remarks for the report.
    pub(super) warnings: Vec<String>,
    /// Remarks that the user must see; they are also in `system_message`.
    pub(super) notices: Vec<String>,
    /// Whether it failed because its time was over, and not by its own `timeout`.
    pub(super) is_late: bool,
    /// Whether it ended in an error or failed while the event goes on.
    pub(super) failed_open: bool,
    pub(super) exit_code: Option<i32>,
    pub(super) stderr: String,
    /// Plain text that is not used.
    pub(super) stdout: String,
    pub(super) duration: Duration,
    pub(super) usage: Option<Usage>,
    /// Whether it failed, and its rewrite replaces what could not be checked.
    pub(super) withholds: bool,
    /// Whether an earlier answer of it to the same event rewrote the input.
    pub(super) rewrote: bool,
    /// The state of the input that the answer is about, counted in rewrites.
    pub(super) generation: usize,
}

impl Outcome {
    /// Returns the outcome of a hook that has no opinion.
    pub(super) fn none(index: usize) -> Self {
        Self::of(index, Box::default())
    }

    /// Returns the outcome of a hook that gave an answer. Each field is listed: the default of all would
    /// allocate an answer only to drop it.
    pub(super) fn of(index: usize, output: Box<Output>) -> Self {
        Self {
            index,
            status: HookStatus::default(),
            output,
            mode: None,
            unenforced: None,
            error: None,
            warnings: Vec::new(),
            notices: Vec::new(),
            is_late: false,
            failed_open: false,
            exit_code: None,
            stderr: String::new(),
            stdout: String::new(),
            duration: Duration::ZERO,
            usage: None,
            withholds: false,
            rewrote: false,
            generation: 0,
        }
    }

    /// Returns the outcome of a hook that did not run.
    pub(super) fn skipped(index: usize, why: impl Into<String>) -> Self {
        Self { status: HookStatus::Skipped, error: Some(why.into()), ..Self::none(index) }
    }

    pub(super) fn denied(&self) -> bool {
        self.output.decision == Some(Decision::Deny)
    }

    /// Removes the answer's rewrite, and an allow that came with it; the report has `why`.
    pub(super) fn drop_rewrite(&mut self, why: impl Into<String>) {
        self.output.drop_rewrite();
        self.output.decision = self.output.decision.filter(|it| *it != Decision::Allow);
        self.warnings.push(why.into());
    }

    /// Merges the hook's second answer with its first: messages and an ask of the first stay, and if
    /// it failed or the denial `stays`, what it denied.
    pub(super) fn merged_with(mut self, first: &mut Self, stays: bool) -> Self {
        self.keep_denial_of(first, stays);
        self.rewrote |= first.rewrote || first.output.rewrites();
        if std::mem::take(&mut first.failed_open) && !self.failed_open {
            self.failed_open = true;
            self.notices.append(&mut first.notices);
            self.error = self.error.take().or(first.error.take());
        }
        let (told, now) = (std::mem::take(&mut first.output), &mut self.output);
        let asked = told.decision == Some(Decision::Ask) && now.decision < told.decision;
        if asked {
            (now.decision, now.reason) = (told.decision, told.reason);
        }
        now.additional_context = now.additional_context.take().or(told.additional_context);
        now.system_message = now.system_message.take().or(told.system_message);
        let metadata = std::mem::replace(&mut now.metadata, told.metadata);
        now.metadata.extend(metadata);
        for (key, value) in told.claude_code {
            if asked || decision_of(&key).is_none() {
                now.claude_code.entry(key).or_insert(value);
            }
        }
        now.suppress_output |= told.suppress_output;
        self.duration += first.duration;
        self.usage = self.usage.into_iter().chain(first.usage).reduce(Usage::plus);
        self
    }

    /// Returns the stricter of two outcomes of one hook that ran once for each file. An allow for one
    /// is none for all of them, and neither silence nor an answer hides a failure.
    pub(super) fn or_stricter(self, next: Self) -> Self {
        let rank = |it: &Self| match it.output.decision {
            _ if it.output.stop.is_some() || it.withholds => 5,
            Some(Decision::Deny) => 5,
            Some(Decision::Ask) => 4,
            _ if it.error.is_some() => 3,
            None if !it.output.says_something() && it.stdout.is_empty() => 2,
            None => 1,
            Some(Decision::Allow) => 0,
        };
        let (mut first, mut second) =
            if rank(&next) > rank(&self) { (next, self) } else { (self, next) };
        first.failed_open |= second.failed_open;
        first.is_late |= second.is_late;
        first.notices.append(&mut second.notices);
        first.warnings.append(&mut second.warnings);
        first
    }

    /// Keeps what the hook denied, asked or stopped in its first answer if it `stays`, or if the hook has
    /// failed since: only another answer takes that back.
    pub(super) fn keep_denial_of(&mut self, first: &Self, stays: bool) {
        if !(stays || self.error.is_some()) || !first.output.denies_or_asks() {
            return;
        }
        let (first, own) = (&first.output, &mut self.output);
        if first.decision > own.decision {
            (own.decision, own.reason) = (first.decision, first.reason.clone());
        } else if stays && first.decision == own.decision {
            // A lower layer may have chosen what the second one quotes.
            let again = own.reason.take().filter(|why| first.reason.as_ref() != Some(why));
            let both: Vec<String> = first.reason.iter().cloned().chain(again).collect();
            own.reason = (!both.is_empty()).then(|| both.join("\n"));
        }
        let again = own.stop.take();
        own.stop = if stays { first.stop.clone().or(again) } else { again.or(first.stop.clone()) };
    }

    /// Leaves of the outcome what `bound`'s mode in this session lets count.
    pub(super) fn put_under_mode_of(&mut self, bound: &Bound, session: &str) {
        let mode = bound.hook.mode_in(session);
        self.mode = Some(mode);
        if mode == Mode::Enforce {
            return;
        }
        let said = std::mem::take(&mut self.output);
        self.withholds = false;
        if mode == Mode::Shadow {
            self.failed_open = false;
            self.warnings.append(&mut self.notices);
        } else {
            let would = match said.decision {
                Some(Decision::Deny) => Some("denied"),
                Some(Decision::Ask) => Some("asked"),
                _ if said.rewrites() => Some("rewritten"),
                _ => None,
            };
            let because = said.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            self.notices.extend(would.map(|done| {
                format!("hook {} would have {done}{because} (`mode: warn`)", bound.title())
            }));
        }
        self.unenforced = Some(said);
    }

    pub(super) fn report(&self, bound: &Bound) -> HookReport {
        let said = self.unenforced.as_deref().unwrap_or(&self.output);
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        let mut warnings = self.warnings.clone();
        warnings.extend(self.notices.iter().cloned());
        warnings.extend(said.unknown_keys());
        HookReport {
            name: bound.hook.label(),
            kind: bound.hook.kind.clone(),
            source: bound.hook.location.text(),
            rank: bound.rank(),
            metadata: self.output.metadata.keys().cloned().collect(),
            status: self.status,
            mode: Some(self.mode.unwrap_or(bound.hook.mode)).filter(|mode| *mode != Mode::Enforce),
            decision: said.decision,
            reason: said.reason.clone(),
            withheld: self.withholds,
            rewrote: self.rewrote || said.rewrites(),
            exit_code: self.exit_code,
            // On a busy machine a clock is not more precise than a microsecond.
            duration_ms: (self.duration.as_secs_f64() * 1e6).round() / 1e3,
            usage: self.usage,
            error: self.error.clone(),
            warnings,
            stderr: some(&self.stderr),
            stdout: some(&self.stdout),
        }
    }
}
