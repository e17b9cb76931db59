//! The tools that a process brought along. It may answer for them without being told so in `provides`.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use serde_json::Value;

use crate::locks::locked;
use crate::wire::same_json;

/// The tools that processes added to model requests, session by session, the oldest session first.
///
/// A tool belongs to the process that added it while no other defines it: a name that stood in
/// the request before, with another definition, is the host's or another process's.
#[derive(Debug, Default)]
pub(super) struct Injections(Mutex<VecDeque<Session>>);

#[derive(Debug)]
struct Session {
    id: String,
    tools: HashMap<String, Injection>,
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
        let mut sessions = locked(&self.0);
        let at = match sessions.iter().position(|known| known.id == session) {
            Some(at) => at,
            None => sessions.len(),
        };
        let mut before_names = Vec::new();
        for (name, definition) in named(before[0]).chain(named(before[1])) {
            before_names.push(name);
            // The same definition is what it added to an earlier request of a host that kept it.
            if let Some(Session { tools, .. }) = sessions.get_mut(at)
                && tools.get(name).is_some_and(|ours| !same_json(&ours.definition, definition))
            {
                tools.remove(name);
            }
        }
        for (name, definition) in named(after) {
            if before_names.contains(&name) {
                continue;
            }
            if at == sessions.len() {
                sessions.push_back(Session { id: session.to_owned(), tools: HashMap::new() });
            }
            let tools = &mut sessions[at].tools;
            let owner = match tools.get(name) {
                Some(Injection { owner, .. }) if owner.as_deref() != Some(process) => None,
                _ => Some(process.to_owned()),
            };
            tools.insert(name.to_owned(), Injection { owner, definition: definition.clone() });
        }
        // Later sessions push the oldest ones out.
        if sessions.len() > 1024 {
            sessions.pop_front();
        }
    }

    /// Forgets the tools of the processes that are not to be kept.
    pub(super) fn keep(&self, kept: &[&str]) {
        for session in &mut *locked(&self.0) {
            session.tools.retain(|_, injection| match &injection.owner {
                Some(owner) => kept.contains(&owner.as_str()),
                None => true,
            });
        }
    }

    /// Returns whether `tool` belongs to `process` in `session`.
    pub(super) fn owns(&self, process: &str, session: &str, tool: &str) -> bool {
        let sessions = locked(&self.0);
        let Some(session) = sessions.iter().find(|known| known.id == session) else { return false };
        let Some(injection) = session.tools.get(tool) else { return false };
        injection.owner.as_deref() == Some(process)
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
        // A process that passes on the tool of another one does not own it.
        let weather = [tool("weather", "a")];
        injections.note("a", "s", [&[], &[]], &weather);
        injections.note("b", "s", [&[], &weather], &weather);
        assert!(injections.owns("a", "s", "weather") && !injections.owns("b", "s", "weather"));
    }

    #[test]
    fn the_oldest_sessions_are_forgotten() {
        let injections = Injections::default();
        for session in 0..=1024 {
            injections.note("w", &session.to_string(), [&[], &[]], &[tool("weather", "ours")]);
        }
        assert!(!injections.owns("w", "0", "weather"));
        assert!(injections.owns("w", "1", "weather"));
        assert_eq!(locked(&injections.0).len(), 1024);
    }
}
