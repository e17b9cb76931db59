//! Which hooks of an event match an input.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::config::Hook;
use crate::event::Contract;
use crate::registry::Handler;
use crate::wire::Input;

/// How many tool names an event remembers the matching hooks of. Tool names come from a model, so
/// what is remembered must end somewhere.
const REMEMBERED: usize = 1024;
/// Up to how many bytes of a tool's name are remembered; nobody has a tool with a longer one.
const LONGEST_NAME: usize = 256;

/// A hook with the handler that was built for it.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) hook: Arc<Hook>,
    pub(crate) handler: Arc<dyn Handler>,
    /// Its place among the hooks of its event.
    pub(crate) index: usize,
    /// Equal for hooks that are defined alike.
    pub(crate) identity: usize,
}

impl Bound {
    /// Returns the hook's name and place, for messages.
    pub(crate) fn title(&self) -> String {
        format!("`{}` ({})", self.hook.label(), self.hook.location)
    }
}

/// The enabled hooks of one event, in config order.
pub(crate) struct Plan {
    pub(crate) contract: &'static Contract,
    pub(crate) hooks: Vec<Bound>,
    by_tool: RwLock<HashMap<Box<str>, Arc<[usize]>>>,
    /// Every hook, less those defined like an earlier one: the answer where no tool matters.
    all: Arc<[usize]>,
}

impl Plan {
    pub(crate) fn new(contract: &'static Contract, hooks: Vec<Bound>) -> Self {
        let all = first_of_each((0..hooks.len()).collect(), &hooks);
        Self { contract, hooks, by_tool: RwLock::default(), all }
    }

    /// Returns the hooks whose matcher matches, first of identical definitions kept; conditions
    /// are not looked at.
    pub(crate) fn matching(&self, input: &Input) -> Arc<[usize]> {
        if !self.contract.tool_matched {
            return Arc::clone(&self.all);
        }
        let key = input.tool();
        // By name alone is what is remembered; kinds come from adapters, which live for one event.
        if !input.tool_kinds.is_empty() || key.len() > LONGEST_NAME {
            return self.find(input);
        }
        let known = self.by_tool.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        if let Some(found) = known {
            return found;
        }
        let found = self.find(input);
        let mut by_tool = self.by_tool.write().unwrap_or_else(PoisonError::into_inner);
        if by_tool.len() < REMEMBERED {
            by_tool.insert(key.into(), Arc::clone(&found));
        }
        found
    }

    /// Returns why no hook can be chosen for `input` by its tool.
    pub(crate) fn no_choice(&self, input: &Input) -> Option<String> {
        let (event, tool) = (self.contract.event, input.tool());
        if !self.contract.tool_matched {
            None
        } else if tool.is_empty() {
            Some(format!("`{event}` came without a `tool_name`, so no hook could be chosen for it"))
        } else if tool.chars().any(char::is_control) {
            // No agent has such a tool, but who executes it may trim the name to one that it has.
            Some(format!(
                "`{event}` came for a tool named {tool:?}; no hook can be chosen by a name with control characters"
            ))
        } else {
            None
        }
    }

    fn find(&self, input: &Input) -> Arc<[usize]> {
        let indexes = (0..self.hooks.len()).filter(|index| self.matches(*index, input)).collect();
        first_of_each(indexes, &self.hooks)
    }

    /// Returns whether the hook's matcher matches the tool, by name, by kind or by the name that it
    /// has in the hook's dialect.
    pub(crate) fn matches(&self, index: usize, input: &Input) -> bool {
        let Hook { matcher, dialect, .. } = &*self.hooks[index].hook;
        matcher.matches(input.tool())
            || input.tool_kinds.iter().any(|kind| matcher.matches(kind))
            || dialect.is_some_and(|dialect| dialect.matches(matcher, input))
    }

    /// Returns whether the hook's condition holds for the input.
    pub(crate) fn condition_holds(&self, index: usize, input: &Input) -> bool {
        self.hooks[index].hook.when.as_ref().is_none_or(|condition| condition.holds(input))
    }
}

fn first_of_each(indexes: Vec<usize>, hooks: &[Bound]) -> Arc<[usize]> {
    let mut seen = std::collections::HashSet::with_capacity(indexes.len());
    indexes.into_iter().filter(|index| seen.insert(hooks[*index].identity)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    #[test]
    fn what_is_remembered_of_tool_names_has_an_end() {
        let plan = Plan::new(Event::PreToolUse.contract(), Vec::new());
        let look = |name: String| {
            let _ = plan.matching(&Input::for_tool(name, serde_json::Map::new()));
            plan.by_tool.read().unwrap().len()
        };
        assert_eq!(look("t".repeat(LONGEST_NAME + 1)), 0);
        assert_eq!(look("t".repeat(LONGEST_NAME)), 1);
        for number in 0..=REMEMBERED {
            assert!(look(number.to_string()) <= REMEMBERED);
        }
        assert_eq!(look("one more".to_owned()), REMEMBERED);
    }
}
