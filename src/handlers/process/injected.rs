//! The tools that a process brought along. It may answer for them without being told so in `provides`.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use serde_json::Value;

use crate::locks::locked;
use crate::wire::same_json;

/// How many sessions are remembered with their tools.
const SESSIONS: usize = 1024;

/// The tools that processes added to model requests, session by session.
///
/// A tool belongs to the process that added it while no other defines it: a name that stood in
/// the request before, with another definition, is the host's or another process's.
#[derive(Debug, Default)]
pub(super) struct Injections(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    tools: HashMap<String, HashMap<String, Injection>>,
    /// The sessions, the oldest first.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Injection {
    /// `None` when two processes added the tool side by side: then it belongs to neither.
    owner: Option<String>,
    definition: Value,
}

impl Injections {
    /// Notes what `process` made of the tools of a model request: those that the host sent, and
    /// those that the hooks before it left.
    pub(super) fn note(
        &self,
        process: &str,
        session: &str,
        before: [&[Value]; 2],
        after: &[Value],
    ) {
        let before: Vec<(&str, &Value)> = before.into_iter().flat_map(named).collect();
        let added: Vec<(&str, &Value)> = named(after)
            .filter(|(name, _)| before.iter().all(|(known, _)| known != name))
            .collect();
        let mut sessions = locked(&self.0);
        if let Some(tools) = sessions.tools.get_mut(session) {
            for (name, definition) in before {
                // The same definition is what it added to an earlier request of a host that kept it.
                if tools.get(name).is_some_and(|ours| !same_json(&ours.definition, definition)) {
                    tools.remove(name);
                }
            }
        }
        if added.is_empty() {
            return;
        }
        let tools = sessions.of(session);
        for (name, definition) in added {
            let owner = match tools.get(name) {
                Some(Injection { owner, .. }) if owner.as_deref() != Some(process) => None,
                _ => Some(process.to_owned()),
            };
            tools.insert(name.to_owned(), Injection { owner, definition: definition.clone() });
        }
    }

    /// Forgets the tools of the processes that are not to be kept.
    pub(super) fn keep(&self, is_kept: impl Fn(&str) -> bool) {
        for tools in locked(&self.0).tools.values_mut() {
            tools.retain(|_, injection| injection.owner.as_deref().is_none_or(&is_kept));
        }
    }

    /// Returns whether `tool` belongs to `process` in `session`.
    pub(super) fn owns(&self, process: &str, session: &str, tool: &str) -> bool {
        let sessions = locked(&self.0);
        let injection = sessions.tools.get(session).and_then(|tools| tools.get(tool));
        injection.is_some_and(|injection| injection.owner.as_deref() == Some(process))
    }
}

impl Sessions {
    /// Returns the tools of a session; the oldest session is forgotten when there are too many.
    fn of(&mut self, session: &str) -> &mut HashMap<String, Injection> {
        if !self.tools.contains_key(session) {
            if self.order.len() == SESSIONS
                && let Some(oldest) = self.order.pop_front()
            {
                self.tools.remove(&oldest);
            }
            self.order.push_back(session.to_owned());
        }
        self.tools.entry(session.to_owned()).or_default()
    }
}

/// Returns the tools with their names, which stand in `function` or at the top.
fn named(tools: &[Value]) -> impl Iterator<Item = (&str, &Value)> {
    tools.iter().filter_map(|tool| {
        let name = tool.pointer("/function/name").or_else(|| tool.get("name"))?;
        Some((name.as_str()?, tool))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, about: &str) -> Value {
        json!({ "type": "function", "function": { "name": name, "description": about } })
    }

    #[test]
    fn a_tool_belongs_to_who_added_it_and_only_there() {
        let injections = Injections::default();
        let host = [tool("shell", "host")];
        let after = [tool("shell", "host"), tool("weather", "ours")];
        injections.note("w", "s1", [&host, &host], &after);
        assert!(injections.owns("w", "s1", "weather"));
        assert!(!injections.owns("w", "s1", "shell"));
        assert!(!injections.owns("other", "s1", "weather"));
        assert!(!injections.owns("w", "s2", "weather"));
        // A host that keeps the tools hands them back with the next request.
        injections.note("w", "s1", [&after, &after], &after);
        assert!(injections.owns("w", "s1", "weather"));
        let anthropic = [json!({ "name": "clock" })];
        injections.note("w", "s1", [&[], &[]], &anthropic);
        assert!(injections.owns("w", "s1", "clock"));
    }

    #[test]
    fn a_tool_that_somebody_else_defines_belongs_to_nobody_here() {
        let injections = Injections::default();
        injections.note("w", "s", [&[], &[]], &[tool("weather", "ours")]);
        let theirs = [tool("weather", "theirs")];
        injections.note("w", "s", [&theirs, &theirs], &theirs);
        assert!(!injections.owns("w", "s", "weather"));

        injections.note("a", "s", [&[], &[]], &[tool("clock", "x")]);
        injections.note("b", "s", [&[], &[]], &[tool("clock", "x")]);
        assert!(!injections.owns("a", "s", "clock") && !injections.owns("b", "s", "clock"));
        injections.note("a", "s", [&[], &[]], &[tool("clock", "x")]);
        assert!(!injections.owns("a", "s", "clock"));
    }

    #[test]
    fn a_tool_of_the_host_is_not_to_be_had_by_taking_it_out_first() {
        let injections = Injections::default();
        let host = [tool("shell", "host")];
        injections.note("a", "s", [&host, &host], &[]);
        injections.note("b", "s", [&host, &[]], &[tool("shell", "ours")]);
        assert!(!injections.owns("b", "s", "shell"));
        // Passing on what another process brought along makes it nobody else's.
        let weather = [tool("weather", "a")];
        injections.note("a", "s", [&[], &[]], &weather);
        injections.note("b", "s", [&[], &weather], &weather);
        assert!(injections.owns("a", "s", "weather") && !injections.owns("b", "s", "weather"));
    }

    #[test]
    fn the_oldest_sessions_are_forgotten() {
        let injections = Injections::default();
        for session in 0..=SESSIONS {
            injections.note("w", &session.to_string(), [&[], &[]], &[tool("weather", "ours")]);
        }
        assert!(!injections.owns("w", "0", "weather"));
        assert!(injections.owns("w", "1", "weather"));
        assert_eq!(locked(&injections.0).tools.len(), SESSIONS);
    }
}
