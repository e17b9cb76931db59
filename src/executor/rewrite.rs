//! The current input while hooks rewrite it. The caller's input is never changed.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::dispatch::DescribeTool;
use super::select::Plan;
use crate::handler::Shared;
use crate::tools::kinds_of;
use crate::wire::{Input, InputChange, Output, RequestChange, Verdict};

/// How many other names hooks may give one call.
const MAX_RENAMES: usize = 4;

/// The input of an event: as it came, and as it is now.
pub(super) struct Current<'a> {
    plan: &'a Plan,
    describe_tool: Option<&'a DescribeTool>,
    original: Original<'a>,
    rewritten: Option<Box<Input>>,
    /// Values derived from the input as it is now, each computed at most once for all hooks.
    shared: Shared,
    /// The same for the input as it came, once it was rewritten.
    first: Shared,
    /// The input as it is now, for hooks that run a second time.
    repeated: OnceLock<Box<(Input, Shared)>>,
    /// The tool's earlier names.
    earlier: Vec<Named>,
    /// The hooks that match the tool, by its name now or by one that it had before.
    pub(super) matching: Arc<[usize]>,
    /// The number of rewrites that led to it.
    pub(super) generation: usize,
    /// Whether a failed redactor replaced the input; nothing may replace it again.
    pub(super) sealed: bool,
}

/// The input as it came. A copy is boxed: every event would carry its size.
enum Original<'a> {
    Given(&'a Input),
    Completed(Box<Input>),
}

impl Deref for Original<'_> {
    type Target = Input;

    fn deref(&self) -> &Input {
        match self {
            Self::Given(input) => input,
            Self::Completed(input) => input,
        }
    }
}

/// What an input says of a tool beside its arguments.
#[derive(Debug, Clone, PartialEq)]
struct Named {
    name: Option<String>,
    kinds: Vec<String>,
    category: Option<String>,
    read_only: Option<bool>,
}

impl Named {
    fn of(input: &Input) -> Self {
        Self {
            name: input.tool_name.clone(),
            kinds: input.tool_kinds.clone(),
            category: input.tool_category.clone(),
            read_only: input.tool_read_only,
        }
    }

    fn in_place(self, input: &mut Input) {
        let Self { name, kinds, category, read_only } = self;
        (input.tool_name, input.tool_kinds) = (name, kinds);
        (input.tool_category, input.tool_read_only) = (category, read_only);
    }
}

impl<'a> Current<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        original: Cow<'a, Input>,
        describe_tool: Option<&'a DescribeTool>,
    ) -> Self {
        Self {
            plan,
            describe_tool,
            matching: plan.matching(&original),
            original: match original {
                Cow::Borrowed(input) => Original::Given(input),
                Cow::Owned(input) => Original::Completed(Box::new(input)),
            },
            rewritten: None,
            shared: Shared::default(),
            first: Shared::default(),
            repeated: OnceLock::new(),
            earlier: Vec::new(),
            generation: 0,
            sealed: false,
        }
    }

    /// Returns the state for an unreadable input, which every hook may match.
    pub(super) fn unknown(plan: &'a Plan) -> Self {
        let matching = Arc::clone(&plan.all);
        Self { matching, ..Self::new(plan, Cow::Owned(Input::default()), None) }
    }

    pub(super) fn original(&self) -> &Input {
        &self.original
    }

    pub(super) fn input(&self) -> &Input {
        self.rewritten.as_deref().unwrap_or(&self.original)
    }

    /// Returns the input as it came, and what is made of it at most once.
    pub(super) fn as_it_came(&self) -> (&Input, &Shared) {
        let is_new = self.rewritten.is_some();
        (&self.original, if is_new { &self.first } else { &self.shared })
    }

    /// Returns the input, if a hook rewrote it, and forgets it.
    pub(super) fn take_rewritten(&mut self) -> Option<Input> {
        self.rewritten.take().map(|input| *input)
    }

    /// Returns the input as a hook is shown it, and what is made of it at most once.
    pub(super) fn shown(&self, repeated: bool) -> (&Input, &Shared) {
        if !repeated {
            return (self.input(), &self.shared);
        }
        let (input, shared) = &**self.repeated.get_or_init(|| {
            Box::new((
                Input { repeated: true, ..self.input().clone() },
                self.shared.with_same_call(),
            ))
        });
        (input, shared)
    }

    /// Returns the input with each name that the tool had before, and what was known of that tool.
    pub(super) fn under_earlier_names(&self, repeated: bool) -> impl Iterator<Item = Input> {
        self.earlier.iter().map(move |named| {
            let mut input = self.shown(repeated).0.clone();
            named.clone().in_place(&mut input);
            input
        })
    }

    /// Returns why the call can't be called `name`, if hooks have renamed it too often: each name that
    /// it had is one more reading of every condition.
    pub(super) fn too_many_names(&self, name: &str) -> Option<String> {
        let is_known = |named: &Named| named.name.as_deref() == Some(name);
        let is_new = self.input().tool() != name && !self.earlier.iter().any(is_known);
        (is_new && self.earlier.len() >= MAX_RENAMES).then(|| {
            format!("hooks gave the call another tool's name more than {MAX_RENAMES} times")
        })
    }

    /// Returns whether the tool has another name than the one the event came with.
    pub(super) fn is_renamed(&self) -> bool {
        self.input().tool_name != self.original.tool_name
    }

    /// Replaces the input by `next`.
    pub(super) fn set(&mut self, mut next: Input) {
        if next.tool_name != self.input().tool_name {
            if let Some(describe) = self.describe_tool {
                describe(&mut next);
            }
            let named = Named::of(self.input());
            if !self.earlier.contains(&named) {
                self.earlier.push(named);
            }
            self.matching = self.plan.matching_too(&self.matching, &next);
        }
        let shared = std::mem::take(&mut self.shared);
        if self.rewritten.replace(Box::new(next)).is_none() {
            self.first = shared;
        }
        self.repeated = OnceLock::new();
        self.generation += 1;
    }

    /// Takes over what a hook of another event of the same moment made of the input.
    pub(super) fn follow(&mut self, next: &Input, generation: usize) {
        let hook_event_name = self.original.hook_event_name;
        self.set(Input { hook_event_name, ..next.clone() });
        self.generation = generation;
    }

    /// Puts into the verdict what differs from the input that the event came with.
    pub(super) fn report(&self, verdict: &mut Verdict) {
        let Self { original, rewritten: Some(rewritten), .. } = self else { return };
        verdict.updated_tool_name =
            changed(rewritten.tool_name.as_ref(), original.tool_name.as_ref());
        verdict.updated_input =
            changed(rewritten.tool_input.as_ref(), original.tool_input.as_ref());
        verdict.updated_messages = changed(rewritten.messages.as_ref(), original.messages.as_ref());
        verdict.updated_response = changed(rewritten.response.as_ref(), original.response.as_ref());
        verdict.updated_tool_response =
            changed(rewritten.tool_response.as_ref(), original.tool_response.as_ref());
        let request = RequestChange {
            model: changed(rewritten.model_id.as_ref(), original.model_id.as_ref()),
            tools: changed(rewritten.tools.as_ref(), original.tools.as_ref()),
            options: changed(rewritten.options.as_ref(), original.options.as_ref()),
        };
        verdict.updated_request = (!request.is_empty()).then_some(request);
    }
}

/// Returns `input` as `output` rewrites it, if that changes it.
pub(super) fn rewritten(input: &Input, output: &Output) -> Option<Input> {
    if !changes(input, output) {
        return None;
    }
    let mut next = input.clone();
    change(&mut next, output);
    Some(next)
}

/// Returns whether `output` changes `input`, by the keys that it rewrites alone: an input can be
/// large.
pub(super) fn changes(input: &Input, output: &Output) -> bool {
    let arguments = input.tool_input.as_ref();
    let changes_arguments = match &output.updated_input {
        Some(InputChange::Patch(keys)) => {
            let value = |key: &String| arguments.and_then(|arguments| arguments.get(key));
            keys.iter().any(|(key, new)| value(key) != Some(new))
        }
        Some(InputChange::Replace(new)) => arguments != Some(new),
        None => false,
    };
    let changes_request = output.updated_request.as_ref().is_some_and(|request| {
        differs(request.model.as_ref(), input.model_id.as_ref())
            || differs(request.tools.as_ref(), input.tools.as_ref())
            || differs(request.options.as_ref(), input.options.as_ref())
    });
    output.updated_tool_name.as_ref().is_some_and(|name| input.tool() != name)
        || changes_arguments
        || changes_request
        || differs(output.updated_messages.as_ref(), input.messages.as_ref())
        || differs(output.updated_response.as_ref(), input.response.as_ref())
        || differs(output.updated_tool_response.as_ref(), input.tool_response.as_ref())
}

fn differs<T: PartialEq>(new: Option<&T>, now: Option<&T>) -> bool {
    new.is_some() && new != now
}

/// Returns the tool call of `input` as the hooks of `verdict` rewrote it.
pub fn final_call(input: &Input, verdict: &Verdict) -> Input {
    let mut input = input.clone();
    let output = Output {
        updated_tool_name: verdict.updated_tool_name.clone(),
        updated_input: verdict.updated_input.clone().map(InputChange::Replace),
        ..Output::default()
    };
    change(&mut input, &output);
    input
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

fn changed<T: PartialEq + Clone>(now: Option<&T>, before: Option<&T>) -> Option<T> {
    if now == before { None } else { now.cloned() }
}

/// Applies the rewrites of one answer, key by key. Copies of what is rewritten follow.
fn change(input: &mut Input, output: &Output) {
    if let Some(name) = &output.updated_tool_name {
        rename(input, name);
    }
    if let Some(change) = &output.updated_input {
        let before = input.tool_input.clone().unwrap_or_default();
        match change {
            InputChange::Patch(keys) => {
                let arguments = input.tool_input.get_or_insert_default();
                arguments.extend(keys.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            InputChange::Replace(arguments) => input.tool_input = Some(arguments.clone()),
        }
        input.retell_arguments(&before);
    }
    if let Some(messages) = &output.updated_messages
        && let Some(before) = input.messages.replace(messages.clone())
    {
        input.retell(&Value::Array(before), &Value::Array(messages.clone()));
    }
    if let Some(RequestChange { model, tools, options }) = &output.updated_request {
        input.model_id = model.clone().or_else(|| input.model_id.take());
        if let Some(tools) = tools
            && let Some(before) = input.tools.replace(tools.clone())
        {
            input.retell(&Value::Array(before), &Value::Array(tools.clone()));
        }
        if let Some(options) = options
            && let Some(before) = input.options.replace(options.clone())
        {
            input.retell(&Value::Object(before), &Value::Object(options.clone()));
        }
    }
    if let Some(response) = &output.updated_response
        && let Some(before) = input.response.replace(response.clone())
    {
        input.retell_response(&before, response);
    }
    if let Some(response) = &output.updated_tool_response
        && let Some(before) = input.tool_response.replace(response.clone())
    {
        input.retell_tool_response(&before, response);
    }
}
