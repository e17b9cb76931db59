//! The current input while hooks rewrite it. The caller's input is never changed.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::select::Plan;
use crate::handler::Shared;
use crate::tools::kinds_of;
use crate::wire::{Input, InputChange, Output, RequestChange, Verdict};

/// One state of an event's input, shared by all hooks that see it.
pub(super) struct Current<'a> {
    plan: &'a Plan,
    original: Cow<'a, Input>,
    rewritten: Option<Input>,
    /// Values derived from this state, each computed at most once.
    shared: Shared,
    /// The same state for hooks that run a second time.
    repeated: OnceLock<Box<(Input, Shared)>>,
    /// The hooks that match the tool by its current name or an earlier one.
    pub(super) matching: Arc<[usize]>,
    /// The number of rewrites that led to it.
    pub(super) generation: usize,
    /// Whether a hook has withheld it; nothing may replace it then.
    pub(super) sealed: bool,
}

impl<'a> Current<'a> {
    pub(super) fn new(plan: &'a Plan, original: Cow<'a, Input>) -> Self {
        Self {
            plan,
            matching: plan.matching(&original),
            original,
            rewritten: None,
            shared: Shared::default(),
            repeated: OnceLock::new(),
            generation: 0,
            sealed: false,
        }
    }

    /// Returns the state for an unreadable input, which every hook may match.
    pub(super) fn unknown(plan: &'a Plan) -> Self {
        let matching = Arc::clone(&plan.all);
        Self { matching, ..Self::new(plan, Cow::Owned(Input::default())) }
    }

    pub(super) fn original(&self) -> &Input {
        &self.original
    }

    pub(super) fn input(&self) -> &Input {
        self.rewritten.as_ref().unwrap_or(&self.original)
    }

    /// Returns the input for a hook, and the values derived from it.
    pub(super) fn shown(&self, repeated: bool) -> (&Input, &Shared) {
        if !repeated {
            return (self.input(), &self.shared);
        }
        let (input, shared) = &**self.repeated.get_or_init(|| {
            Box::new((Input { repeated: true, ..self.input().clone() }, Shared::default()))
        });
        (input, shared)
    }

    /// Returns whether a hook has renamed the tool.
    pub(super) fn is_renamed(&self) -> bool {
        self.input().tool_name != self.original.tool_name
    }

    /// Replaces the input by `next`.
    pub(super) fn set(&mut self, next: Input) {
        if next.tool_name != self.input().tool_name {
            self.matching = self.plan.matching_too(&self.matching, &next);
        }
        self.rewritten = Some(next);
        self.shared = Shared::default();
        self.repeated = OnceLock::new();
        self.generation += 1;
    }

    /// Writes the differences from the original input to the verdict.
    pub(super) fn report(self, verdict: &mut Verdict) {
        let Self { original, rewritten: Some(rewritten), .. } = self else { return };
        let Input {
            tool_name,
            tool_input,
            messages,
            model_id,
            tools,
            options,
            response,
            tool_response,
            ..
        } = rewritten;
        verdict.updated_tool_name = changed(tool_name, original.tool_name.as_ref());
        verdict.updated_input = changed(tool_input, original.tool_input.as_ref());
        verdict.updated_messages = changed(messages, original.messages.as_ref());
        verdict.updated_response = changed(response, original.response.as_ref());
        verdict.updated_tool_response = changed(tool_response, original.tool_response.as_ref());
        let request = RequestChange {
            model: changed(model_id, original.model_id.as_ref()),
            tools: changed(tools, original.tools.as_ref()),
            options: changed(options, original.options.as_ref()),
        };
        verdict.updated_request = (!request.is_empty()).then_some(request);
    }
}

/// Returns `input` as `output` rewrites it, if that changes it.
pub(super) fn rewritten(input: &Input, output: &Output) -> Option<Input> {
    if !output.rewrites() {
        return None;
    }
    let mut next = input.clone();
    change(&mut next, output);
    (next != *input).then_some(next)
}

/// Gives the call another tool's name, and the kinds of that tool. Other facts about the old tool
/// are removed.
fn rename(input: &mut Input, name: &str) {
    if input.tool() == name {
        return;
    }
    input.tool_name = Some(name.to_owned());
    input.tool_kinds = kinds_of(input.agent_name.as_deref(), name);
    (input.tool_category, input.tool_read_only) = (None, None);
}

fn changed<T: PartialEq>(now: Option<T>, before: Option<&T>) -> Option<T> {
    if now.as_ref() == before { None } else { now }
}

/// Applies the rewrites of one answer, key by key.
fn change(input: &mut Input, output: &Output) {
    if let Some(name) = &output.updated_tool_name {
        rename(input, name);
    }
    match &output.updated_input {
        Some(InputChange::Patch(keys)) => {
            let arguments = input.tool_input.get_or_insert_default();
            arguments.extend(keys.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        Some(InputChange::Replace(arguments)) => input.tool_input = Some(arguments.clone()),
        None => {}
    }
    if let Some(messages) = &output.updated_messages {
        input.messages = Some(messages.clone());
    }
    if let Some(RequestChange { model, tools, options }) = &output.updated_request {
        input.model_id = model.clone().or_else(|| input.model_id.take());
        input.tools = tools.clone().or_else(|| input.tools.take());
        input.options = options.clone().or_else(|| input.options.take());
    }
    if let Some(response) = &output.updated_response {
        input.response = Some(response.clone());
    }
    if let Some(response) = &output.updated_tool_response {
        input.tool_response = Some(response.clone());
    }
}
