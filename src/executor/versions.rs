//! The inputs of a moment: the one that came, and what answers make of it. Each is made once.

use std::borrow::Cow;
use std::iter::repeat_with;
use std::sync::OnceLock;

use super::dispatch::{DescribeTool, Executor};
use crate::describe::{DescribeCall, Memo};
use crate::event::Event;
use crate::handler::Shared;
use crate::wire::{Input, InputChange, Output, RequestChange, Verdict};

/// One input of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(usize);

impl Version {
    /// The input that came.
    pub(super) const ORIGINAL: Self = Self(0);

    /// Returns its number for people, from 1 on.
    pub(super) fn number(self) -> usize {
        self.0 + 1
    }
}

/// All inputs of one moment. The caller's input is never changed.
pub(super) struct Versions<'e> {
    original: Entry<'e>,
    rewritten: Vec<Entry<'static>>,
    /// How many events fire together.
    events: usize,
    /// Reads tool calls, if anything does.
    describer: Option<&'static dyn DescribeCall>,
    describe_tool: Option<&'e DescribeTool>,
}

struct Entry<'e> {
    input: Held<'e>,
    /// Values that are made of the input at most once, for all hooks.
    shared: Shared,
    /// The input as it is shown where that differs: two places for each event, by `repeated`.
    shown: OnceLock<Vec<OnceLock<Shown>>>,
}

/// An input as it is shown, and what is made of it at most once.
type Shown = Box<(Input, Shared)>;

/// An input. A copy is boxed: every moment would carry its size.
enum Held<'e> {
    Given(&'e Input),
    Own(Box<Input>),
}

impl Entry<'_> {
    fn input(&self) -> &Input {
        match &self.input {
            Held::Given(input) => input,
            Held::Own(input) => input,
        }
    }
}

impl<'e> Entry<'e> {
    fn new(input: Held<'e>, describer: Option<&'static dyn DescribeCall>) -> Self {
        Self { input, shared: Shared::new(Memo::new(describer)), shown: OnceLock::new() }
    }
}

impl<'e> Versions<'e> {
    pub(super) fn new(
        original: Cow<'e, Input>,
        events: usize,
        describer: Option<&'static dyn DescribeCall>,
        describe_tool: Option<&'e DescribeTool>,
    ) -> Self {
        let held = match original {
            Cow::Borrowed(input) => Held::Given(input),
            Cow::Owned(input) => Held::Own(Box::new(input)),
        };
        let original = Entry::new(held, describer);
        Self { original, rewritten: Vec::new(), events, describer, describe_tool }
    }

    fn entry(&self, version: Version) -> &Entry<'_> {
        match version.0.checked_sub(1) {
            None => &self.original,
            Some(place) => &self.rewritten[place],
        }
    }

    /// Returns the input of a version, whatever event it is shown at.
    pub(super) fn input(&self, version: Version) -> &Input {
        self.entry(version).input()
    }

    /// Returns the input that came.
    pub(super) fn original(&self) -> &Input {
        self.original.input()
    }

    /// Returns whether hooks gave the call another tool's name.
    pub(super) fn is_renamed(&self, version: Version) -> bool {
        self.input(version).tool_name != self.original().tool_name
    }

    /// Returns a version as the hooks of `event`, which has this place in the moment, are shown it, and
    /// what is made of it at most once.
    pub(super) fn shown(
        &self,
        version: Version,
        event: Event,
        place: usize,
        repeated: bool,
    ) -> (&Input, &Shared) {
        let entry = self.entry(version);
        if !repeated && entry.input().hook_event_name == Some(event) {
            return (entry.input(), &entry.shared);
        }
        let shown = entry.shown.get_or_init(|| {
            let places = self.events * 2;
            repeat_with(OnceLock::new).take(places).collect()
        });
        let (input, shared) = &**shown[place * 2 + usize::from(repeated)].get_or_init(|| {
            let mut input = entry.input().clone();
            input.hook_event_name = Some(event);
            input.repeated = repeated;
            Box::new((input, entry.shared.with_same_call()))
        });
        (input, shared)
    }

    /// Returns the version that an answer makes of another one; the same one if it changes nothing.
    pub(super) fn rewrite(&mut self, version: Version, output: &Output) -> Version {
        let before = self.input(version);
        let Some(mut next) = rewritten(before, output, self.describer) else { return version };
        if next.tool_name != before.tool_name
            && let Some(describe) = self.describe_tool
        {
            describe(&mut next);
        }
        self.version_of(next)
    }

    /// Returns the version that has the arguments of another one and the tool's first name.
    pub(super) fn under_first_name(&mut self, version: Version) -> Version {
        let mut next = self.input(version).clone();
        let first = self.original();
        next.tool_name.clone_from(&first.tool_name);
        next.tool_kinds.clone_from(&first.tool_kinds);
        next.tool_category.clone_from(&first.tool_category);
        next.tool_read_only = first.tool_read_only;
        self.version_of(next)
    }

    /// Returns the version of an input, which is a new one if it is none yet.
    fn version_of(&mut self, next: Input) -> Version {
        for number in 0..=self.rewritten.len() {
            if same(self.input(Version(number)), &next) {
                return Version(number);
            }
        }
        self.rewritten.push(Entry::new(Held::Own(Box::new(next)), self.describer));
        Version(self.rewritten.len())
    }

    /// Returns a copy of every input, which outlives the moment.
    pub(super) fn all(&self) -> Vec<Input> {
        let mut inputs = vec![self.original().clone()];
        for entry in &self.rewritten {
            inputs.push(entry.input().clone());
        }
        inputs
    }
}

/// Knows the kinds of a tool, if anything does.
type Describer = Option<&'static dyn DescribeCall>;

/// Puts into the verdict what differs between the input that the event came with and the final one.
pub(super) fn report(original: &Input, last: &Input, verdict: &mut Verdict) {
    verdict.updated_tool_name = changed(last.tool_name.as_ref(), original.tool_name.as_ref());
    verdict.updated_input = changed(last.tool_input.as_ref(), original.tool_input.as_ref());
    verdict.updated_messages = changed(last.messages.as_ref(), original.messages.as_ref());
    verdict.updated_response = changed(last.response.as_ref(), original.response.as_ref());
    verdict.updated_tool_response =
        changed(last.tool_response.as_ref(), original.tool_response.as_ref());
    let request = RequestChange {
        model: changed(last.model_id.as_ref(), original.model_id.as_ref()),
        tools: changed(last.tools.as_ref(), original.tools.as_ref()),
        options: changed(last.options.as_ref(), original.options.as_ref()),
    };
    verdict.updated_request = if request.is_empty() { None } else { Some(request) };
}

/// Returns whether two inputs of a moment are the same in all that hooks can rewrite.
pub(super) fn same(one: &Input, other: &Input) -> bool {
    one.tool_name == other.tool_name
        && one.tool_input == other.tool_input
        && one.tool_response == other.tool_response
        && one.messages == other.messages
        && one.response == other.response
        && one.model_id == other.model_id
        && one.tools == other.tools
        && one.options == other.options
}

/// Returns `input` as `output` rewrites it, if that changes it.
pub(super) fn rewritten(input: &Input, output: &Output, describer: Describer) -> Option<Input> {
    if !changes(input, output) {
        return None;
    }
    let mut next = input.clone();
    change(&mut next, output, describer);
    Some(next)
}

/// Returns whether `output` changes `input`, by the keys that it rewrites alone: an input can be
/// large.
pub(super) fn changes(input: &Input, output: &Output) -> bool {
    let changes_arguments = match (&output.updated_input, &input.tool_input) {
        (Some(InputChange::Patch(keys)), Some(known)) => {
            keys.iter().any(|(key, new)| known.get(key) != Some(new))
        }
        (Some(InputChange::Patch(keys)), None) => !keys.is_empty(),
        (Some(InputChange::Replace(new)), known) => known.as_ref() != Some(new),
        (None, _) => false,
    };
    let renames = match &output.updated_tool_name {
        Some(name) => input.tool() != name,
        None => false,
    };
    let changes_request = match &output.updated_request {
        Some(RequestChange { model, tools, options }) => {
            differs(model.as_ref(), input.model_id.as_ref())
                || differs(tools.as_ref(), input.tools.as_ref())
                || differs(options.as_ref(), input.options.as_ref())
        }
        None => false,
    };
    renames
        || changes_arguments
        || changes_request
        || differs(output.updated_messages.as_ref(), input.messages.as_ref())
        || differs(output.updated_response.as_ref(), input.response.as_ref())
        || differs(output.updated_tool_response.as_ref(), input.tool_response.as_ref())
}

fn differs<T: PartialEq>(new: Option<&T>, now: Option<&T>) -> bool {
    new.is_some() && new != now
}

impl Executor {
    /// Returns the tool call of `input` as the hooks of `verdict` rewrote it.
    pub(crate) fn final_call(&self, input: &Input, verdict: &Verdict) -> Input {
        let mut input = input.clone();
        let output = Output {
            updated_tool_name: verdict.updated_tool_name.clone(),
            updated_input: verdict.updated_input.clone().map(InputChange::Replace),
            ..Output::default()
        };
        change(&mut input, &output, self.describer);
        input
    }
}

/// Gives the call another tool's name, and the kinds of that tool. Other facts about the old tool
/// are removed.
fn rename(input: &mut Input, name: &str, describer: Describer) {
    if input.tool() == name {
        return;
    }
    input.tool_name = Some(name.to_owned());
    input.tool_kinds = match describer {
        Some(describer) => describer.kinds(input.agent_name.as_deref(), name),
        None => Vec::new(),
    };
    (input.tool_category, input.tool_read_only) = (None, None);
}

fn changed<T: PartialEq + Clone>(now: Option<&T>, before: Option<&T>) -> Option<T> {
    if now == before { None } else { now.cloned() }
}

fn set<T: Clone>(field: &mut Option<T>, new: Option<&T>) {
    if new.is_some() {
        *field = new.cloned();
    }
}

/// Applies the rewrites of one answer, key by key. Copies of what is rewritten go or follow: hooks after
/// a redactor must not find there what it took out.
fn change(input: &mut Input, output: &Output, describer: Describer) {
    if let Some(name) = &output.updated_tool_name {
        rename(input, name, describer);
    }
    match &output.updated_input {
        Some(InputChange::Patch(keys)) => {
            let arguments = input.tool_input.get_or_insert_default();
            for (key, value) in keys {
                arguments.insert(key.clone(), value.clone());
            }
        }
        Some(InputChange::Replace(arguments)) => input.tool_input = Some(arguments.clone()),
        None => {}
    }
    set(&mut input.messages, output.updated_messages.as_ref());
    if let Some(RequestChange { model, tools, options }) = &output.updated_request {
        set(&mut input.model_id, model.as_ref());
        set(&mut input.tools, tools.as_ref());
        set(&mut input.options, options.as_ref());
    }
    if let Some(response) = &output.updated_response {
        input.response = Some(response.clone());
        if input.stop_response.is_some() {
            let text = response.as_str().or_else(|| response.get("content")?.as_str());
            input.stop_response = text.map(str::to_owned);
        }
    }
    if let Some(response) = &output.updated_tool_response {
        input.tool_response = Some(response.clone());
        if input.reason.is_some() {
            input.reason = response.as_str().map(str::to_owned);
        }
    }
    if output.rewrites() {
        input.native = None;
    }
}
