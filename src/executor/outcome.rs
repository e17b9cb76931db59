//! The outcome of one hook under the event's contract.

use std::time::Duration;

use super::ask::HookId;
use super::select::Bound;
use super::versions::Version;
use crate::wire::{
    Decision, HookReport, HookStatus, Mode, Output, Usage, add_new, claude_code, join_new_lines,
    widest,
};

/// The outcome of one hook that was asked about one version of the input.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// The hook, and the version that it was asked about: set by the one who asked it.
    pub(super) hook: HookId,
    pub(super) version: Version,
    /// The version that its rewrite made, once it was applied.
    pub(super) made: Option<Version>,
    /// Whether its input had `"repeated": true`.
    pub(super) repeated: bool,
    pub(super) status: HookStatus,
    /// The answer, without what the event does not support.
    pub(super) output: Box<Output>,
    /// The answer of a hook whose mode keeps it from counting; `output` is empty then.
    pub(super) unenforced: Option<Box<Output>>,
    /// Why it failed, ended in error, or was skipped.
    pub(super) error: Option<String>,
    /// Remarks for the report.
    pub(super) warnings: Vec<String>,
    /// Remarks that the user must see; they are also in `system_message`.
    pub(super) notices: Vec<String>,
    /// Whether it ended in an error or failed while the event goes on.
    pub(super) failed_open: bool,
    pub(super) exit_code: Option<i32>,
    pub(super) stderr: String,
    /// Plain text that is not used.
    pub(super) stdout: String,
    pub(super) duration: Duration,
    pub(super) usage: Option<Usage>,
    /// Whether what it should have rewritten is kept from the model: it denied, or failed.
    pub(super) withholds: bool,
}

impl Outcome {
    /// Returns the outcome of a hook that has no opinion.
    pub(super) fn none() -> Self {
        Self::of(Box::default())
    }

    /// Returns the outcome of a hook that gave an answer. Each field is listed: the default of all would
    /// allocate an answer only to drop it.
    pub(super) fn of(output: Box<Output>) -> Self {
        Self {
            hook: HookId { place: 0, index: 0 },
            version: Version::ORIGINAL,
            made: None,
            repeated: false,
            status: HookStatus::default(),
            output,
            unenforced: None,
            error: None,
            warnings: Vec::new(),
            notices: Vec::new(),
            failed_open: false,
            exit_code: None,
            stderr: String::new(),
            stdout: String::new(),
            duration: Duration::ZERO,
            usage: None,
            withholds: false,
        }
    }

    /// Returns the outcome of a hook that did not run.
    pub(super) fn skipped(why: impl Into<String>) -> Self {
        Self { status: HookStatus::Skipped, error: Some(why.into()), ..Self::none() }
    }

    /// Returns whether the hook gave no valid answer.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.status, HookStatus::Failed | HookStatus::Error)
    }

    pub(super) fn denied(&self) -> bool {
        self.output.decision == Some(Decision::Deny)
    }

    /// Ignores an allow and an answer in the tool's place; the report says `why`.
    pub(super) fn drop_permission(&mut self, why: &str) {
        if self.output.decision == Some(Decision::Allow) {
            self.output.decision = None;
            self.warnings.push(format!("its allow is ignored: {why}"));
        }
        if self.output.respond.take().is_some() {
            self.warnings.push(format!("its answer in the tool's place is ignored: {why}"));
        }
    }

    /// Adds a later answer of the same hook to the same moment. Nothing takes back what it denied or
    /// asked, and of its texts each stays once.
    pub(super) fn with_next(mut self, next: Self) -> Self {
        let Self { output, unenforced, .. } = next;
        let is_stricter = output.decision > self.output.decision;
        let is_as_strict = output.decision == self.output.decision;
        if is_stricter {
            self.exit_code = next.exit_code;
            self.stderr = next.stderr;
        }
        let both = &mut self.output;
        claude_code::absorb(
            &mut both.claude_code, both.decision, output.claude_code, output.decision,
        );
        if is_stricter {
            both.decision = output.decision;
            both.reason = output.reason;
        } else if is_as_strict {
            join_new_lines(&mut both.reason, output.reason.as_deref());
        }
        both.stop = widest(both.stop.take(), output.stop);
        join_new_lines(&mut both.additional_context, output.additional_context.as_deref());
        join_new_lines(&mut both.system_message, output.system_message.as_deref());
        both.summary = both.summary.take().or(output.summary);
        both.respond = both.respond.take().or(output.respond);
        both.by = both.by.take().or(output.by);
        both.metadata.extend(output.metadata);
        both.suppress_output |= output.suppress_output;
        self.unenforced = match (self.unenforced, unenforced) {
            (Some(first), Some(second)) if second.decision > first.decision => Some(second),
            (first, second) => first.or(second),
        };
        self.status = self.status.max(next.status);
        self.error = self.error.or(next.error);
        self.failed_open |= next.failed_open;
        self.withholds |= next.withholds;
        self.made = self.made.or(next.made);
        add_new(&mut self.warnings, next.warnings);
        add_new(&mut self.notices, next.notices);
        if self.stdout.is_empty() {
            self.stdout = next.stdout;
        }
        self.duration += next.duration;
        self.usage = self.usage.into_iter().chain(next.usage).reduce(Usage::plus);
        self
    }

    /// Leaves of the outcome what the mode of the hook lets count.
    pub(super) fn put_under_mode_of(&mut self, bound: &Bound) {
        let mode = bound.hook.mode;
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
            if let Some(done) = would {
                let because = match &said.reason {
                    Some(why) => format!(": {why}"),
                    None => String::new(),
                };
                let title = bound.title();
                self.notices
                    .push(format!("hook {title} would have {done}{because} (`mode: warn`)"));
            }
        }
        self.unenforced = Some(said);
    }

    pub(super) fn report(&self, bound: &Bound) -> HookReport {
        let said = self.unenforced.as_deref().unwrap_or(&self.output);
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
            mode: if bound.hook.mode == Mode::Enforce { None } else { Some(bound.hook.mode) },
            decision: said.decision,
            reason: said.reason.clone(),
            withheld: self.withholds,
            rewrote: self.made.is_some() || said.rewrites(),
            exit_code: self.exit_code,
            // On a busy machine a clock is not more precise than a microsecond.
            duration_ms: (self.duration.as_secs_f64() * 1e6).round() / 1e3,
            usage: self.usage,
            error: self.error.clone(),
            warnings,
            stderr: unless_empty(&self.stderr),
            stdout: unless_empty(&self.stdout),
        }
    }
}

fn unless_empty(text: &str) -> Option<String> {
    if text.is_empty() { None } else { Some(text.to_owned()) }
}
