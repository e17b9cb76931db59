//! Filters an answer down to what its event supports, and reports what was dropped.

use super::interpret::Interpreter;
use super::outcome::Outcome;
use crate::event::{ContextMode, Event, Permission, Rewrite};
use crate::wire::{Decision, HookStatus, Output, StopScope};

impl Interpreter<'_> {
    /// Returns the outcome of an answer: what the event supports, and a notice for the rest.
    pub(super) fn answered(&self, mut output: Box<Output>) -> Outcome {
        if let Some(problem) = output.lacks_an_answer(self.input) {
            return self.failed_with_words(&problem);
        }
        let mut dropped: Vec<String> = Vec::new();
        let contract = self.contract;
        let event = contract.event;

        if let Some(dialect) = &self.bound.dialect
            && let Err(error) = dialect.take_back(&self.bound.hook.matcher, self.input, &mut output)
        {
            let cause = error.to_string();
            if let Some(failed) = self.failed_unless_stricter(&output, &cause) {
                return failed;
            }
            dropped.push(cause);
        }
        if output.respond.is_some() {
            if !contract.may_respond {
                output.respond = None;
                dropped.push(format!("nothing can answer in a tool's place at `{event}`"));
            } else if let Some(cause) = self.bound.handler.refuses_response(self.input) {
                output.respond = None;
                if let Some(failed) = self.failed_unless_stricter(&output, &cause) {
                    return failed;
                }
                dropped.push(cause);
            }
        }
        if let Some(name) = &output.hook_event_name
            && !same_event(name, event.name())
        {
            dropped.push(format!("its answer says it is for `{name}`, not for `{event}`"));
        }
        self.keep_decision(&mut output, &mut dropped);
        let before = dropped.len();
        self.keep_rewrites(&mut output, &mut dropped);
        if dropped.len() > before && output.decision == Some(Decision::Allow) {
            // It allowed the input that it wanted, which is not the current one.
            output.decision = None;
        }
        let takes_context = contract.context != ContextMode::None;
        let context = unusable("context", &mut output.additional_context, takes_context);
        let summary = unusable("summary", &mut output.summary, contract.summary);
        for what in [context, summary].into_iter().flatten() {
            dropped.push(format!("`{event}` takes no {what}"));
        }
        if event == Event::Approval {
            if let Some(problem) = self.is_not_bound(&output)
                && let Some(failed) = self.failed_unless_stricter(&output, &problem)
            {
                return failed;
            }
        } else if output.digest.take().is_some() | output.by.take().is_some() {
            dropped.push(format!("`digest` and `by` mean nothing at `{event}`"));
        }
        if !output.metadata.is_empty() && !contract.metadata {
            output.metadata.clear();
            dropped.push(format!("`{event}` takes no metadata"));
        }

        if contract.withholds() && output.response_is_null {
            dropped.push(
                "`updated_tool_response` is null; write \"\" for an empty response".to_owned(),
            );
        }
        // What should have been redacted is not.
        if contract.withholds()
            && let Some(cause) = dropped.first()
            && let Some(failed) = self.failed_unless_stricter(&output, cause)
        {
            return failed;
        }
        if self.bound.hook.strict_output
            && let Some(problem) = output.unknown_keys().chain(dropped.iter().cloned()).next()
        {
            let cause = format!("{problem} (`strict_output`)");
            if let Some(failed) = self.failed_unless_stricter(&output, &cause) {
                return failed;
            }
        }
        let status = match output.decision {
            Some(Decision::Deny) => HookStatus::Blocked,
            _ => HookStatus::Ok,
        };
        let mut notices = Vec::new();
        for problem in dropped {
            notices.push(format!("hook {}: {problem}; ignored", self.bound.title()));
        }
        let withholds = contract.withholds() && output.decision == Some(Decision::Deny);
        Outcome { status, notices, withholds, ..Outcome::of(output) }
    }

    /// Returns why an allow of a person is not one of this call.
    fn is_not_bound(&self, output: &Output) -> Option<String> {
        let asked = self.input.approval.as_ref().map(|asked| &asked.digest);
        match &output.digest {
            _ if output.decision != Some(Decision::Allow) => None,
            given if given.is_some() && given.as_ref() == asked => None,
            Some(_) => {
                Some("it allowed another call: its `digest` is not that of the input".into())
            }
            None => Some(
                "it allowed without a `digest`; print {\"decision\": \"allow\", \"digest\": \
                 \"...\"} with `approval.digest` of the input"
                    .into(),
            ),
        }
    }

    fn keep_decision(&self, output: &mut Output, dropped: &mut Vec<String>) {
        let contract = self.contract;
        let event = contract.event;
        if let Some(stop) = &output.stop {
            if contract.may_stop() {
                // A stop is a denial, also without a decision.
                let reason = stop.reason.clone();
                output.decision = Some(Decision::Deny);
                output.reason =
                    output.reason.take().or(if reason.is_empty() { None } else { Some(reason) });
                return;
            }
            if contract.may_continue {
                // The model must stop, whatever other hooks want.
                output.decision = None;
                return;
            }
            let what = match stop.scope {
                StopScope::Turn => "turn",
                StopScope::Session => "session",
            };
            output.stop = None;
            output.decision = None;
            dropped.push(format!("`{event}` can't end the {what}"));
            return;
        }
        match output.decision {
            Some(Decision::Deny) if !(contract.may_block || contract.may_continue) => {
                output.decision = None;
                dropped.push(format!("`{event}` can't be blocked"));
            }
            Some(Decision::Ask) if contract.permission == Permission::None => {
                if contract.may_block {
                    output.decision = Some(Decision::Deny);
                } else {
                    output.decision = None;
                    dropped.push(format!("`{event}` can't ask"));
                }
            }
            Some(Decision::Allow) if !contract.may_block => output.decision = None,
            _ => {}
        }
    }

    fn keep_rewrites(&self, output: &mut Output, dropped: &mut Vec<String>) {
        let rewrite = self.contract.rewrite;
        let (is_call, is_request) = (rewrite == Rewrite::ToolInput, rewrite == Rewrite::Request);
        let (is_response, is_tool_response) =
            (rewrite == Rewrite::Response, rewrite == Rewrite::ToolResponse);
        let may_change_arguments = is_call || self.may_approve_with_arguments;
        let mut keys = Vec::new();
        keys.extend(unusable("updated_input", &mut output.updated_input, may_change_arguments));
        keys.extend(unusable("updated_tool_name", &mut output.updated_tool_name, is_call));
        keys.extend(unusable("updated_messages", &mut output.updated_messages, is_request));
        keys.extend(unusable("updated_request", &mut output.updated_request, is_request));
        keys.extend(unusable("updated_response", &mut output.updated_response, is_response));
        let response = &mut output.updated_tool_response;
        keys.extend(unusable("updated_tool_response", response, is_tool_response));
        for key in keys {
            dropped.push(format!("`{key}` can't be used at `{}`", self.contract.event));
        }
        // As in docker-agent, an empty list is not a rewrite: no model takes a call without messages.
        if output.updated_messages.as_ref().is_some_and(Vec::is_empty) {
            output.updated_messages = None;
        }
    }
}

/// Takes away what an answer has under `key`, unless it may have it. Returns the key if there was
/// something.
fn unusable<T>(key: &'static str, value: &mut Option<T>, may_have: bool) -> Option<&'static str> {
    if may_have || value.take().is_none() { None } else { Some(key) }
}

/// Returns whether a name in an answer is the event's name, in any agent's spelling.
fn same_event(name: &str, event: &str) -> bool {
    name.replace('_', "").eq_ignore_ascii_case(&event.replace('_', ""))
}
