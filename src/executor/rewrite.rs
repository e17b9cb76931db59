//! The input as it stands while hooks rewrite it. The caller's own is never touched.

use std::borrow::Cow;

use crate::registry::Shared;
use crate::wire::{Input, InputChange, Output, RequestChange, Verdict};

/// One state of an event's input, shared by all hooks that see it.
pub(super) struct Current<'a> {
    original: Cow<'a, Input>,
    rewritten: Option<Input>,
    /// What is made of this state at most once.
    pub(super) shared: Shared,
    /// How many rewrites led to it.
    pub(super) generation: usize,
}

impl<'a> Current<'a> {
    pub(super) fn new(original: Cow<'a, Input>) -> Self {
        Self { original, rewritten: None, shared: Shared::default(), generation: 0 }
    }

    pub(super) fn original(&self) -> &Input {
        &self.original
    }

    pub(super) fn input(&self) -> &Input {
        self.rewritten.as_ref().unwrap_or(&self.original)
    }

    /// Applies what `output` rewrites and returns whether that changed anything.
    pub(super) fn apply(&mut self, output: &Output) -> bool {
        let Some(next) = rewritten(self.input(), output) else { return false };
        self.rewritten = Some(next);
        self.shared = Shared::default();
        self.generation += 1;
        true
    }

    /// Puts into the verdict what differs from the input that the event came with.
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

/// Returns `input` as `output` rewrites it, when that is another input.
pub(super) fn rewritten(input: &Input, output: &Output) -> Option<Input> {
    if !output.rewrites() {
        return None;
    }
    let mut next = input.clone();
    change(&mut next, output);
    (next != *input).then_some(next)
}

fn changed<T: PartialEq>(now: Option<T>, before: Option<&T>) -> Option<T> {
    if now.as_ref() == before { None } else { now }
}

/// Applies the rewrites of one answer, key by key.
fn change(input: &mut Input, output: &Output) {
    if let Some(name) = &output.updated_tool_name {
        input.tool_name = Some(name.clone());
        // The kind was that of the old tool; a guard by kind must not rest on it.
        input.tool_kinds.clear();
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
