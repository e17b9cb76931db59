//! Decides what the failure of a hook means: by its `on_error`, or else by the event's contract.

use super::interpret::{Interpreter, cause_line};
use super::outcome::Outcome;
use crate::config::{FailedFile, OnError};
use crate::event::{Event, FailureMode, Permission};
use crate::wire::{Decision, HookStatus, Output};

pub(super) const KEPT_BACK: &str =
    "what it wrote may hold the response and is shown with `--verbose` only";

impl Interpreter<'_> {
    /// The hook could not give an answer. That of one that must not run, as of a file that can't be
    /// loaded, is never that it is late.
    pub(super) fn failed(&self, cause: &str) -> Outcome {
        let untrusted = self.bound.hook.untrusted.as_ref();
        let cause = untrusted.map_or(cause, |untrusted| &untrusted.cause);
        let on_error = self.bound.hook.on_error.unwrap_or(match self.contract.failure {
            FailureMode::Open => OnError::Warn,
            FailureMode::Ask => OnError::Ask,
            FailureMode::Closed => OnError::Block,
        });
        let mut outcome = self.failed_as(on_error, cause, HookStatus::Failed);
        if outcome.failed_open
            && self.bound.hook.on_error.is_none()
            && !self.contract.withholds()
            && let Some(output) = self.bound.handler.on_failure(self.contract.event)
        {
            outcome.failed_open = false;
            outcome.withholds = output.rewrites();
            *outcome.output = output;
        }
        let remedy = untrusted.map(|untrusted| &*untrusted.remedy);
        outcome.notices.extend(remedy.or(self.bound.handler.remedy()).map(str::to_owned));
        // The exit code that docker-agent shows for a hook that could not give an answer.
        outcome.exit_code = Some(-1);
        outcome
    }

    /// The hook could not give an answer, and `cause` may repeat what it wrote.
    pub(super) fn failed_with_words(&self, cause: &str) -> Outcome {
        // A hook that must not run wrote nothing: the cause is its file's.
        if !self.keeps_words_back() || self.bound.hook.untrusted.is_some() {
            return self.failed(cause);
        }
        let mut outcome = self.failed(KEPT_BACK);
        // The report has it; the model and the user read the reason.
        outcome.error = Some(cause.to_owned());
        outcome
    }

    /// Returns whether only the hook's valid answer is shown, and nothing else that it wrote: a response
    /// that is still to be redacted may stand in it.
    pub(super) fn keeps_words_back(&self) -> bool {
        self.contract.event == Event::ToolResponseTransform
    }

    /// An exit code other than 0 and 2: the hook's own error, which by convention blocks nothing.
    pub(super) fn erred(&self, code: i32, stderr: &str) -> Outcome {
        let cause = match self.cause(stderr) {
            "" => format!("exit code {code}"),
            line => format!("exit code {code}: {line}"),
        };
        let hook = &self.bound.hook;
        let on_error = hook.on_error.or(hook.on_exit_code).unwrap_or(OnError::Warn);
        let mut outcome = self.failed_as(on_error, &cause, HookStatus::Error);
        outcome.notices.extend(self.bound.handler.remedy().map(str::to_owned));
        outcome.exit_code = Some(code);
        outcome
    }

    /// Returns the cause of a failure in what a program wrote to stderr.
    pub(super) fn cause<'s>(&self, stderr: &'s str) -> &'s str {
        match cause_line(stderr) {
            "" => "",
            _ if self.keeps_words_back() => KEPT_BACK,
            line => line,
        }
    }

    /// Returns the failure for a fault in an answer, or `None` if the answer is stricter than the
    /// failure and therefore counts.
    pub(super) fn failed_unless_stricter(&self, output: &Output, cause: &str) -> Option<Outcome> {
        let failed = self.failed_with_words(cause);
        let stricter =
            output.decision > Some(Decision::Allow) && output.decision > failed.output.decision;
        if stricter { None } else { Some(failed) }
    }

    fn failed_as(&self, on_error: OnError, cause: &str, status: HookStatus) -> Outcome {
        let hook = &self.bound.hook;
        let (text, cause) = if hook.is_failed_file() {
            let text = FailedFile::message_at(&hook.location, cause);
            (text.clone(), text)
        } else {
            (format!("hook {} failed: {cause}", self.bound.title()), cause.to_owned())
        };
        let mut outcome = Outcome { status, error: Some(cause), ..Outcome::none(self.bound.index) };
        let decision = match on_error {
            OnError::Block => Some(Decision::Deny),
            OnError::Ask if self.contract.permission == Permission::None => Some(Decision::Deny),
            OnError::Ask => Some(Decision::Ask),
            OnError::Warn | OnError::Ignore => None,
        };
        if let Some(decision) = decision.filter(|_| self.contract.may_block) {
            outcome.output.decision = Some(decision);
            outcome.output.reason = Some(text);
            outcome.withholds = self.contract.withholds();
            return outcome;
        }
        outcome.failed_open = true;
        if on_error != OnError::Ignore {
            outcome.notices.push(text);
        }
        outcome
    }
}
