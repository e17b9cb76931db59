//! Which hooks of an event match an input.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::config::{Hook, Phase};
use crate::counts::Counter;
use crate::dialect::Dialect;
use crate::event::{Contract, Rewrite};
use crate::handler::{Handler, Shared};
use crate::wire::Input;

/// How many bytes of a tool's name matchers take: the work of a pattern grows with the name, which a
/// model chooses.
const MAX_TOOL_NAME: usize = 1024;

/// A hook with the handler that was built for it.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) hook: Arc<Hook>,
    pub(crate) handler: Arc<dyn Handler>,
    /// Equal for identical hooks.
    pub(crate) identity: usize,
    /// Counts its runs, if they are limited.
    pub(crate) counter: Option<Arc<Counter>>,
    /// The words that it reads and answers in, if they are an agent's.
    pub(crate) dialect: Option<&'static dyn Dialect>,
}

impl Bound {
    /// Returns whether the hook is a rewriter: it runs in turn, before the others, on the result of
    /// the one before.
    pub(crate) fn is_rewriter(&self) -> bool {
        let contract = self.hook.event.contract();
        let event_takes_rewrites = contract.rewrite != Rewrite::None;
        let hook_rewrites = contract.transforms || self.handler.rewrites();
        match self.hook.phase {
            // `permission_request` takes no rewrite, but Claude Code takes new arguments with an
            // approval. `stop` can't be blocked, and has nothing to rewrite.
            Phase::Mutate => event_takes_rewrites || contract.may_block,
            Phase::Validate | Phase::Judge => event_takes_rewrites && hook_rewrites,
            Phase::Observe | Phase::Background => false,
        }
    }

    /// Returns how far below the top the hook's layer is.
    pub(crate) fn rank(&self) -> usize {
        self.hook.layer().rank()
    }

    /// Returns the hook's name and place, for messages.
    pub(crate) fn title(&self) -> String {
        format!("`{}` ({})", self.hook.label(), self.hook.location)
    }
}

/// The enabled hooks of one event, in config order.
pub(crate) struct Plan {
    pub(crate) contract: &'static Contract,
    pub(crate) hooks: Vec<Bound>,
    /// The rewriters, in config order.
    pub(crate) rewriters: Vec<usize>,
    /// The shortest deadline of a layer that has hooks here, other than those in the background.
    pub(crate) shortest_deadline: Option<Duration>,
    by_tool: RwLock<HashMap<Box<str>, Arc<[usize]>>>,
    /// Every hook without duplicates: the result for events without a tool.
    pub(crate) all: Arc<[usize]>,
    /// Whether the tool's name alone decides which hooks match. A dialect has names of its own,
    /// which depend on more.
    by_name_alone: bool,
}

impl Plan {
    pub(crate) fn new(contract: &'static Contract, hooks: Vec<Bound>) -> Self {
        let all = without_duplicates((0..hooks.len()).collect(), &hooks);
        let mut by_name_alone = true;
        let mut rewriters = Vec::new();
        let mut shortest_deadline: Option<Duration> = None;
        for (index, bound) in hooks.iter().enumerate() {
            by_name_alone &= bound.dialect.is_none();
            if bound.is_rewriter() {
                rewriters.push(index);
            }
            if let Some(deadline) = bound.hook.limits.deadline
                && bound.hook.phase.is_answered()
            {
                shortest_deadline = Some(shortest_deadline.unwrap_or(deadline).min(deadline));
            }
        }
        let by_tool = RwLock::default();
        Self { contract, hooks, rewriters, shortest_deadline, by_tool, all, by_name_alone }
    }

    /// Returns the hooks whose matcher matches, without duplicates. Conditions are not evaluated.
    pub(crate) fn matching(&self, input: &Input) -> Arc<[usize]> {
        if !self.contract.tool_matched {
            return Arc::clone(&self.all);
        }
        let tool = input.tool();
        // The cache is by name, so the result must depend on nothing else: the kinds of a tool come
        // from an adapter, which lives for one event, and of a long name no matcher is asked.
        let is_cached =
            self.by_name_alone && input.tool_kinds.is_empty() && tool.len() <= MAX_TOOL_NAME;
        if is_cached {
            let by_tool = self.by_tool.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = by_tool.get(tool) {
                return Arc::clone(known);
            }
        }
        let indexes = (0..self.hooks.len()).filter(|index| self.matches(*index, input)).collect();
        let found = without_duplicates(indexes, &self.hooks);
        if is_cached {
            let mut by_tool = self.by_tool.write().unwrap_or_else(PoisonError::into_inner);
            // A model that makes up names must not fill the memory.
            if by_tool.len() < 1024 {
                by_tool.insert(tool.into(), Arc::clone(&found));
            }
        }
        found
    }

    /// Returns why no hook can be chosen for `input` by its tool.
    pub(crate) fn why_no_choice(&self, input: &Input) -> Option<String> {
        let (event, tool) = (self.contract.event, input.tool());
        // Nearly every name is plain.
        let is_plain = tool.bytes().all(|byte| byte.is_ascii_graphic());
        if !self.contract.tool_matched || is_plain && (1..=MAX_TOOL_NAME).contains(&tool.len()) {
            return None;
        }
        let problem = if tool.is_empty() {
            "without a `tool_name`, so no hook could be chosen for it".to_owned()
        } else if tool.len() > MAX_TOOL_NAME {
            format!(
                "for a tool whose name is longer than {MAX_TOOL_NAME} bytes; no tool has such a name"
            )
        } else if tool.contains(char::is_control) || tool.trim() != tool {
            // No agent has such a tool, but an agent may trim the name to one that it has.
            format!(
                "for a tool named {tool:?}; no hook can be chosen by a name with control characters, or with spaces around it"
            )
        } else {
            return None;
        };
        Some(format!("`{event}` came {problem}"))
    }

    /// Returns whether the hook's matcher matches the tool, by name, by kind or by the name that it
    /// has in the hook's dialect.
    pub(crate) fn matches(&self, index: usize, input: &Input) -> bool {
        let Bound { hook, dialect, .. } = &self.hooks[index];
        let matcher = &hook.matcher;
        // A name too long to match: an event that can't be denied runs every hook then.
        if input.tool().len() > MAX_TOOL_NAME
            || matcher.matches(input.tool())
            || input.tool_kinds.iter().any(|kind| matcher.matches(kind))
        {
            return true;
        }
        let Some(dialect) = dialect else { return false };
        dialect.tool_names(input).iter().any(|name| matcher.matches(name))
    }

    /// Returns whether the hook is to be called, as far as its condition says. For a long input the
    /// condition is evaluated on another thread, once the hook is called.
    pub(crate) fn may_concern(&self, index: usize, (input, shared): (&Input, &Shared)) -> bool {
        let Some(when) = &self.hooks[index].hook.when else { return true };
        shared.is_long(input) || when.holds(input, &shared.memo)
    }
}

/// Removes the hooks that are identical to an earlier one.
fn without_duplicates(mut indexes: Vec<usize>, hooks: &[Bound]) -> Arc<[usize]> {
    // Most events have no hooks; the default takes no memory.
    if indexes.is_empty() {
        return Arc::default();
    }
    let mut seen = HashSet::new();
    indexes.retain(|index| seen.insert(hooks[*index].identity));
    indexes.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    #[test]
    fn what_is_cached_of_tool_names_has_an_end() {
        let plan = Plan::new(Event::PreToolUse.contract(), Vec::new());
        let look = |name: String| {
            let _ = plan.matching(&Input::for_tool(name, serde_json::Map::new()));
            plan.by_tool.read().unwrap().len()
        };
        assert_eq!(look("t".repeat(MAX_TOOL_NAME + 1)), 0);
        assert_eq!(look("t".repeat(MAX_TOOL_NAME)), 1);
        for number in 0..=1024 {
            assert!(look(number.to_string()) <= 1024);
        }
        assert_eq!(look("one more".to_owned()), 1024);
    }
}
