//! Why a hook would run or not: what `dispatch` decides before it starts anything.

use std::sync::Arc;

use serde::Serialize;

use super::dispatch::Executor;
use crate::config::Hook;
use crate::config::condition::Trace;
use crate::describe::Memo;
use crate::event::Event;
use crate::wire::Input;

/// Why one configured hook would run for an input, or would not.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The hook's name, or what it runs.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it is configured.
    pub source: String,
    /// The event that it is configured for; for a failed file, the event that it fails.
    pub event: Event,
    /// Its matcher, on an event matched by tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Its condition with the values of the input, if it has one that was evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<Trace>,
    /// Whether it would run, and why not.
    pub selection: Selection,
    /// The hook itself.
    #[serde(skip)]
    pub hook: Arc<Hook>,
}

/// Whether a hook would run.
///
/// This holds for the input as it comes. A hook that rewrites may change what matches after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Selection {
    /// It would run.
    Runs,
    /// It would fail, for this reason: its file can't be loaded, or a person must approve it.
    Untrusted(String),
    /// It is configured for another event.
    OtherEvent(Event),
    /// `enabled: false`.
    Disabled,
    /// Its matcher matches neither the tool's name nor its kind.
    NotMatched,
    /// Its condition does not hold.
    ConditionFails,
    /// An identical hook is configured before it, at this place.
    DuplicateOf(String),
}

impl Executor {
    /// Returns for every configured hook, in config order, whether `dispatch` would run it, and why
    /// not. Nothing is run.
    pub fn explain(&self, event: Event, input: &Input) -> Vec<Explanation> {
        let input = self.complete(event, input);
        // Failed files come first, as in the plan. They are not configured hooks.
        let hooks = self.failures(event).chain(&self.configured);
        hooks.map(|hook| self.explain_hook(hook, event, &input)).collect()
    }

    /// Returns how many files fail `event`: their explanations come first.
    pub fn failed_files(&self, event: Event) -> usize {
        self.failures(event).count()
    }

    /// Returns the hooks that stand for the files that fail `event`.
    fn failures(&self, event: Event) -> impl Iterator<Item = &Arc<Hook>> {
        let hooks = self.plans[event.index()].hooks.iter().map(|bound| &bound.hook);
        hooks.filter(|hook| hook.is_failed_file())
    }

    fn explain_hook(&self, hook: &Arc<Hook>, event: Event, input: &Input) -> Explanation {
        let plan = &self.plans[event.index()];
        let mut condition = None;
        let memo = Memo::new(self.describer);
        let index = plan.hooks.iter().position(|bound| Arc::ptr_eq(&bound.hook, hook));
        let selection = if hook.event != event {
            Selection::OtherEvent(hook.event)
        } else if let Some(index) = index {
            let identity = plan.hooks[index].identity;
            let matched = plan.matching(input);
            let twin = matched.iter().find(|other| plan.hooks[**other].identity == identity);
            match twin {
                Some(first) if *first < index && plan.matches(index, input) => {
                    Selection::DuplicateOf(plan.hooks[*first].hook.location.to_string())
                }
                Some(first) if *first == index => {
                    condition = hook.when.as_ref().map(|when| when.explain(input, &memo));
                    match &condition {
                        Some(trace) if !trace.holds => Selection::ConditionFails,
                        _ => match &hook.untrusted {
                            Some(why) => Selection::Untrusted(why.cause.to_string()),
                            None => Selection::Runs,
                        },
                    }
                }
                _ => Selection::NotMatched,
            }
        } else {
            Selection::Disabled
        };
        Explanation {
            name: hook.label(),
            kind: hook.kind.clone(),
            source: hook.location.to_string(),
            event: hook.event,
            matcher: if hook.event.contract().tool_matched {
                Some(hook.matcher.to_string())
            } else {
                None
            },
            condition,
            selection,
            hook: Arc::clone(hook),
        }
    }
}
