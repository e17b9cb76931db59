//! The inputs of one moment, each once: the one that came, and those that hooks made of it.

use std::borrow::Cow;
use std::iter::repeat_with;
use std::sync::OnceLock;

use super::dispatch::DescribeTool;
use super::rewrite::{rewritten, same};
use crate::describe::{DescribeCall, Memo};
use crate::event::Event;
use crate::handler::Shared;
use crate::wire::{Input, Output};

/// The input that came is the first version.
pub(super) const ORIGINAL: usize = 0;

/// One version, as the hooks of one event get it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    pub(super) version: usize,
    pub(super) event: Event,
    /// The place of the event in the moment.
    pub(super) place: usize,
    pub(super) repeated: bool,
}

/// All inputs of one moment. The caller's input is never changed.
pub(super) struct Versions<'e> {
    original: Version<'e>,
    rewritten: Vec<Version<'static>>,
    /// How many events fire together.
    events: usize,
    /// Reads tool calls, if anything does.
    describer: Option<&'static dyn DescribeCall>,
    describe_tool: Option<&'e DescribeTool>,
}

struct Version<'e> {
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

impl Version<'_> {
    fn input(&self) -> &Input {
        match &self.input {
            Held::Given(input) => input,
            Held::Own(input) => input,
        }
    }
}

impl<'e> Version<'e> {
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
        let original = Version::new(held, describer);
        Self { original, rewritten: Vec::new(), events, describer, describe_tool }
    }

    fn version(&self, number: usize) -> &Version<'_> {
        match number.checked_sub(1) {
            None => &self.original,
            Some(place) => &self.rewritten[place],
        }
    }

    /// Returns the input of a version, whatever event it is shown at.
    pub(super) fn input(&self, number: usize) -> &Input {
        self.version(number).input()
    }

    /// Returns whether hooks gave the call another tool's name.
    pub(super) fn is_renamed(&self, number: usize) -> bool {
        self.input(number).tool_name != self.input(ORIGINAL).tool_name
    }

    /// Returns an input as hooks are shown it, and what is made of it at most once.
    pub(super) fn shown(&self, sight: Sight) -> (&Input, &Shared) {
        let version = self.version(sight.version);
        if !sight.repeated && version.input().hook_event_name == Some(sight.event) {
            return (version.input(), &version.shared);
        }
        let shown = version.shown.get_or_init(|| {
            let places = self.events * 2;
            repeat_with(OnceLock::new).take(places).collect()
        });
        let place = sight.place * 2 + usize::from(sight.repeated);
        let (input, shared) = &**shown[place].get_or_init(|| Box::new(self.make_shown(sight)));
        (input, shared)
    }

    fn make_shown(&self, sight: Sight) -> (Input, Shared) {
        let version = self.version(sight.version);
        let mut input = version.input().clone();
        input.hook_event_name = Some(sight.event);
        input.repeated = sight.repeated;
        (input, version.shared.with_same_call())
    }

    /// Returns the version that an answer makes of another one; the same one if it changes nothing.
    pub(super) fn rewrite(&mut self, number: usize, output: &Output) -> usize {
        let before = self.input(number);
        let Some(mut next) = rewritten(before, output, self.describer) else { return number };
        if next.tool_name != before.tool_name
            && let Some(describe) = self.describe_tool
        {
            describe(&mut next);
        }
        self.number_of(next)
    }

    /// Returns the version that has the arguments of another one and the tool's first name.
    pub(super) fn under_first_name(&mut self, number: usize) -> usize {
        let mut next = self.input(number).clone();
        let first = self.input(ORIGINAL);
        next.tool_name.clone_from(&first.tool_name);
        next.tool_kinds.clone_from(&first.tool_kinds);
        next.tool_category.clone_from(&first.tool_category);
        next.tool_read_only = first.tool_read_only;
        self.number_of(next)
    }

    /// Returns the number of an input, which is a new version if it is none yet.
    fn number_of(&mut self, next: Input) -> usize {
        for known in 0..=self.rewritten.len() {
            if same(self.input(known), &next) {
                return known;
            }
        }
        self.rewritten.push(Version::new(Held::Own(Box::new(next)), self.describer));
        self.rewritten.len()
    }

    /// Returns a copy of every input, which outlives the moment.
    pub(super) fn all(&self) -> Vec<Input> {
        let mut inputs = vec![self.original.input().clone()];
        for version in &self.rewritten {
            inputs.push(version.input().clone());
        }
        inputs
    }
}
