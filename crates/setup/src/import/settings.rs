//! The hooks in a coding agent's settings.

use std::collections::HashSet;

use hookexec::Event;
use hookexec::config::Diagnostic;
use hookexec_agents::{Agent, ImportFormat, NativeEvent};
use hookexec_files::node::Node;
use serde_json::{Value as Json, json};

use super::block::Import;
use super::tree::{mapping, set};
use super::yaml::consists_of;

/// Reads one settings file.
pub(super) struct Importer<'i, 'n> {
    pub(super) agent: Agent,
    pub(super) format: &'static ImportFormat,
    pub(super) import: &'i mut Import<'n>,
}

/// Returns how the hooks of an agent are imported, if they are.
pub(super) fn format(agent: Agent) -> Option<&'static ImportFormat> {
    agent.settings()?.import.as_ref()
}

/// Reads the hooks of a settings file. Returns `None` if it has none, which is reported.
pub(super) fn read<'n>(agent: Agent, import: &mut Import<'n>, root: &'n Node<'n>) -> Option<()> {
    let format = format(agent)?;
    let hooks = import.key(root, "hooks")?;
    import.timeout = Some(format.timeout);
    if let Some(permissions) = root.get("permissions") {
        let warning = Diagnostic::warning("`permissions` is left out")
            .hint("leave it in the settings; for other agents write hooks of `type: rule` by hand");
        import.reader.report(permissions, warning);
    }
    Importer { agent, format, import }.events(hooks)
}

impl<'n> Importer<'_, 'n> {
    /// Refuses what works in the agent alone, with what to do `instead`.
    pub(super) fn leave<T>(&mut self, node: &Node<'_>, what: &str, instead: &str) -> Option<T> {
        let title = self.agent.title();
        let hint = format!("leave it in the settings of {title}, or {instead} by hand");
        self.import.reader.refuse_with_hint(node, format!("{what} can't be imported"), hint)
    }

    fn events(&mut self, node: &'n Node<'n>) -> Option<()> {
        let events = self.import.reader.open_fields(node, "`hooks`")?;
        for (name, key, entries) in events.iter() {
            if !is_comment(name)
                && let Some(native) = self.native(name, key)
                && let Some(entries) = self.import.reader.list(entries, &format!("`{name}`"))
            {
                for entry in entries {
                    let _ = self.group(entry, native);
                }
            }
        }
        Some(())
    }

    /// Returns an event of the agent, if its hooks can be imported.
    fn native(&mut self, name: &str, key: &Node<'_>) -> Option<(&'static NativeEvent, Event)> {
        let reader = &mut self.import.reader;
        let Some(native) = self.agent.events().iter().find(|native| native.name == name) else {
            return reader.refuse(key, format!("unknown event `{name}`"));
        };
        for (refused, reason) in &self.format.not_importable {
            if *refused == name {
                let message = format!("hooks of `{name}` can't be imported: {reason}");
                return reader.refuse(key, message);
            }
        }
        let Some(event) = native.event else {
            let message = format!("hookexec has no event for `{name}`: {}", native.unmapped);
            return reader.refuse(key, message);
        };
        Some((native, event))
    }

    /// Adds hooks that share a matcher.
    fn group(
        &mut self,
        node: &'n Node<'n>,
        (native, event): (&'static NativeEvent, Event),
    ) -> Option<()> {
        let fields = self.import.reader.open_fields(node, "an entry")?;
        for (name, key, _) in fields.iter() {
            if !["matcher", "hooks", "sequential", "description"].contains(&name) {
                self.warn_of_unknown(name, key);
            }
        }
        let Some(hooks) = fields.get("hooks") else {
            return self.import.reader.refuse(node, "an entry needs `hooks`");
        };
        let hooks = self.import.reader.list(hooks, "`hooks`")?;
        let (place, matcher) = match fields.get("matcher") {
            Some(value) => (value, self.import.reader.value(value, "`matcher`")?),
            None => (node, String::new()),
        };
        let limits = self.limits(place, &matcher, (native, event))?;
        let is_claudes = self.format.speaks_claude(native, &matcher);
        for node in hooks {
            if let Some(hook) = self.hook(node, event, is_claudes) {
                self.import.add_hook(event, &limits, hook);
            }
        }
        Some(())
    }

    /// Says a matcher in our words: of tools as a `matcher`, of anything else as a `when`.
    fn limits(
        &mut self,
        place: &Node<'n>,
        matcher: &str,
        (native, event): (&NativeEvent, Event),
    ) -> Option<Node<'n>> {
        let mut limits = mapping(&place.span);
        let mut conditions = Vec::from_iter(condition(self.agent, native, event));
        let names = names(self.agent, self.format.searches, matcher);
        let is_limited = !["", "*"].contains(&matcher);
        if let Some(field) = matched_field(event)
            && is_limited
        {
            conditions.push(match names {
                Some(names) => json!({ "field": field, "in": names }),
                None => json!({ "field": field, "regex": matcher }),
            });
        } else if event.contract().tool_matched && is_limited {
            if is_permission_rule(matcher) {
                let what = format!("the permission rule `{matcher}`, which matches no tool,");
                return self.leave(place, &what, "name the tool alone and write a `when:`");
            }
            set(&mut limits, "matcher", pattern(self.agent, names, matcher));
        }
        match conditions.len() {
            0 => {}
            1 => set(&mut limits, "when", conditions.remove(0)),
            _ => set(&mut limits, "when", json!({ "all": conditions })),
        }
        Some(limits)
    }

    /// Warns of a key that hookexec does not know.
    pub(super) fn warn_of_unknown(&mut self, name: &str, key: &Node<'_>) {
        if !is_comment(name) {
            let message = format!("unknown key `{name}`: it is left out");
            self.import.reader.report(key, Diagnostic::warning(message));
        }
    }
}

fn condition(agent: Agent, native: &NativeEvent, event: Event) -> Option<Json> {
    let failed = json!({ "field": "tool_error", "equals": true });
    match event {
        Event::PostToolUse if native.failed_tool => Some(failed),
        Event::PostToolUse if agent.events().iter().any(|native| native.failed_tool) => {
            Some(json!({ "not": failed }))
        }
        Event::OnToolApprovalDecision => {
            Some(json!({ "field": "approval_decision", "equals": "deny" }))
        }
        _ => None,
    }
}

/// Returns the field that a matcher is about where it is not about the tool.
fn matched_field(event: Event) -> Option<&'static str> {
    match event {
        Event::SessionStart | Event::PreCompact | Event::AfterCompaction => Some("source"),
        Event::SessionEnd | Event::OnError => Some("reason"),
        Event::Notification => Some("notification_type"),
        Event::SubagentStart | Event::SubagentStop => Some("agent_type"),
        Event::OnToolApprovalDecision => Some("tool_name"),
        _ => None,
    }
}

/// Returns whether a key is a comment, as people write them into JSON.
fn is_comment(key: &str) -> bool {
    key.starts_with("//") || key.starts_with(['$', '_', '#'])
}

/// Returns the names that a matcher lists; `None` for an expression, which is searched for.
fn names(agent: Agent, searches: bool, matcher: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for name in matcher.split(['|', ',']).map(str::trim) {
        let is_tool = agent.tools().any(|(tool, _)| tool == name);
        let is_name = !searches && consists_of(name, "_- ");
        if !is_tool && !is_name {
            return None;
        }
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    Some(names)
}

/// Returns an expression that matches the whole name of each tool that a matcher matches, and under
/// other agents the kinds of the tools. Claude Code's names need none: its dialect knows what each tool
/// is called there.
fn pattern(agent: Agent, names: Option<Vec<String>>, matcher: &str) -> String {
    let Some(names) = names else { return format!(".*(?:{matcher}).*") };
    let mut all = Vec::new();
    for name in names {
        let kinds = if agent == Agent::ClaudeCode { Vec::new() } else { agent.tool_kinds(&name) };
        all.push(name);
        all.extend(kinds);
    }
    let mut seen = HashSet::new();
    all.retain(|name| seen.insert(name.clone()));
    all.join("|")
}

/// Returns whether a matcher is written like a rule of `permissions`: `Bash(git push:*)`.
fn is_permission_rule(matcher: &str) -> bool {
    matcher.starts_with(|first: char| first.is_ascii_alphabetic())
        && matcher.ends_with(')')
        && !matcher.contains('|')
}

#[cfg(test)]
mod tests {
    use hookexec::matcher::Matcher;

    use super::*;

    #[test]
    fn an_expression_is_found_anywhere_in_a_name() {
        for (expression, name, expected) in [
            ("mcp__memory__.*", "mcp__memory__store", true),
            ("mcp__.*__write.*", "mcp__fs__write_file", true),
            ("^Bash$", "Bash", true),
            ("^Bash$", "BashOutput", false),
            ("Bash.", "BashOutput", true),
            ("Edit|Write.*", "MultiEdit", true),
            ("Notebook.*|^Edit$", "Edit", true),
            ("a*", "b", true),
            ("(Web)+", "WebFetch", true),
        ] {
            let pattern = pattern(Agent::ClaudeCode, None, expression);
            let matches = Matcher::new(&pattern).unwrap().matches(name);
            assert_eq!(matches, expected, "{expression} as {pattern}: {name}");
        }
    }

    #[test]
    fn a_name_of_another_agent_brings_its_kinds() {
        for (agent, searches, matcher, expected) in [
            (Agent::ClaudeCode, false, "Edit, Write", "Edit|Write"),
            (Agent::Gemini, true, "run_shell_command", "run_shell_command|shell"),
            (Agent::Gemini, true, "write_", ".*(?:write_).*"),
        ] {
            let names = names(agent, searches, matcher);
            assert_eq!(pattern(agent, names, matcher), expected);
        }
    }

    #[test]
    fn a_permission_rule_is_not_an_expression() {
        for (matcher, expected) in [
            ("Bash(git push:*)", true),
            ("Write(/etc/**)", true),
            ("Bash(*)", true),
            ("(Web)+", false),
            ("Notebook(Edit|Read)", false),
            ("mcp__(fs|db)__.*", false),
            ("Task(Create|Update)", false),
        ] {
            assert_eq!(is_permission_rule(matcher), expected, "{matcher}");
        }
    }
}
