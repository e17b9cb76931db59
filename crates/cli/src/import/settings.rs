//! The hooks in a coding agent's settings.

use std::path::Path;

use hookexec::Event;
use hookexec::config::Diagnostic;
use hookexec::internal::reading::{Fields, Node, Value};
use hookexec_agents::{Agent, ImportFormat, NativeEvent, ScriptWords};
use serde_json::{Value as Json, json};

use super::hooks::{Group, Import};
use super::matcher::{self, Alternatives};
use super::permissions;
use super::tree::{Strict, made, object};

/// A switch that agents have beside the hooks.
const SWITCHED_OFF: &str = "disableAllHooks";

/// What hooks of one event of an agent become here.
pub(super) struct Target {
    pub(super) event: Event,
    /// The words that the script reads and answers.
    pub(super) words: ScriptWords,
    /// Tells the event from another of the agent that stands for the same event of ours.
    condition: Option<Json>,
}

/// Reads one settings file.
pub(super) struct Importer<'n> {
    pub(super) agent: Agent,
    pub(super) format: &'static ImportFormat,
    pub(super) import: Import<'n>,
    /// The directory of the plugin that the file belongs to.
    pub(super) plugin: Option<String>,
}

/// Returns how the hooks of an agent are imported, if they are.
pub(super) fn format(agent: Agent) -> Option<&'static ImportFormat> {
    agent.settings()?.import.as_ref()
}

/// Reads the hooks and permissions of a settings file.
pub(super) fn read<'n>(
    (agent, format): (Agent, &'static ImportFormat),
    mut import: Import<'n>,
    root: &'n Node<'n>,
) -> Result<Import<'n>, String> {
    let Some(settings) = object(&mut import.reader, root, "the file") else { return Ok(import) };
    let permissions = settings.get("permissions").filter(|_| agent == Agent::ClaudeCode);
    let hooks = settings.get("hooks");
    if hooks.is_none() && permissions.is_none() {
        return Err("it has no `hooks`".to_owned());
    }
    if settings.get(SWITCHED_OFF).is_some_and(|off| matches!(off.value, Value::Bool(true))) {
        let title = agent.title();
        let message = format!("`{SWITCHED_OFF}` is set: under {title} none of these hooks run");
        import.reader.note(Diagnostic::warning(message));
    }
    if let Some(permissions) = permissions {
        permissions::add(permissions, &mut import);
    }
    let plugin = plugin_root(&import.source.path);
    let mut importer = Importer { agent, format, import, plugin };
    if let Some(hooks) = hooks {
        importer.events(hooks);
    }
    Ok(importer.import)
}

/// Returns the directory of the plugin that a `hooks/hooks.json` belongs to, absolute; `None` for
/// settings, which belong to no plugin.
fn plugin_root(path: &Path) -> Option<String> {
    let path = dunce::canonicalize(path).ok()?;
    let (file, directory) = (path.file_name()?.to_str()?, path.parent()?);
    if file.starts_with("settings") {
        return None;
    }
    let inside = ["hooks", ".claude-plugin"].iter().any(|name| directory.ends_with(name));
    let root = if inside { directory.parent()? } else { directory };
    root.to_str().map(str::to_owned)
}

impl<'n> Importer<'n> {
    fn events(&mut self, node: &'n Node<'n>) {
        let Some(events) = object(&mut self.import.reader, node, "`hooks`") else { return };
        for (name, key, entries) in events.iter() {
            let Some(target) = self.target(name, key) else { continue };
            let entries = self.import.reader.list(entries, &format!("`{name}`"));
            for entry in entries.unwrap_or_default() {
                if let Some(group) = self.group(entry, &target) {
                    self.import.add(target.event, group);
                }
            }
        }
    }

    /// Returns what hooks of the agent's event become.
    fn target(&mut self, name: &str, key: &Node<'_>) -> Option<Target> {
        let reader = &mut self.import.reader;
        let Some(native) = self.agent.events().iter().find(|native| native.name == name) else {
            return reader.refuse(key, format!("unknown event `{name}`"));
        };
        let Some(event) = native.event else {
            let message = format!("hookexec has no event for `{name}`: {}", native.unmapped);
            return reader.refuse(key, message);
        };
        let mut refused = self.format.not_importable.iter();
        if let Some((_, reason)) = refused.find(|(refused, _)| *refused == name) {
            return reader.refuse(key, format!("hooks of `{name}` can't be imported: {reason}"));
        }
        let condition = condition(self.agent, native, event);
        Some(Target { event, words: (self.format.words)(native), condition })
    }

    /// Reads hooks that share a matcher.
    fn group(&mut self, node: &'n Node<'n>, target: &Target) -> Option<Group<'n>> {
        let members = object(&mut self.import.reader, node, "an entry")?;
        let mut group = Group {
            place: node.span.clone(),
            matcher: None,
            condition: target.condition.as_ref().map(|condition| made(condition, &(0..0))),
            hooks: Vec::new(),
        };
        if let Some(matcher) = members.get("matcher") {
            self.matcher(matcher, target, &mut group)?;
        }
        self.left_out(&members, &["hooks", "matcher", "sequential", "description"]);
        let Some(hooks) = members.get("hooks") else {
            return self.import.reader.refuse(node, "an entry needs `hooks`");
        };
        let matcher = group.matcher.as_ref().and_then(Node::as_text).unwrap_or_default().to_owned();
        for hook in self.import.reader.list(hooks, "`hooks`")? {
            group.hooks.extend(self.hook(hook, target, &matcher));
        }
        Some(group)
    }

    /// Warns of the keys that hookexec does not know.
    pub(super) fn left_out(&mut self, fields: &Fields<'_>, known: &[&str]) {
        for (name, key, _) in fields.iter() {
            if !known.contains(&name) {
                let message = format!("unknown key `{name}`: it is left out");
                self.import.reader.report(key, Diagnostic::warning(message));
            }
        }
    }

    /// Says a matcher in our words: of tools as a matcher, of anything else as a condition.
    fn matcher(&mut self, node: &Node<'_>, target: &Target, group: &mut Group<'n>) -> Option<()> {
        let Strict(written) = self.import.reader.value(node, "`matcher`")?;
        let alternatives = Alternatives::of(self.format.matching, &written);
        let field = matched_field(target.event);
        let (test, value) = match alternatives {
            Alternatives::Everything => return Some(()),
            _ if field.is_none() && target.event.contract().tool_matched => {
                if matcher::is_permission_rule(self.agent, &written) {
                    let message = format!(
                        "the matcher `{written}` is a permission rule, which matches no tool"
                    );
                    let hint = "name the tool alone, and look at its arguments with `when:` or in \
                                the script";
                    return self.import.reader.refuse_with_hint(node, message, hint);
                }
                let pattern = alternatives.pattern(self.agent);
                group.matcher = Some(made(&pattern.into(), &node.span));
                return Some(());
            }
            Alternatives::Names(names) => ("in", json!(names)),
            Alternatives::Expression(expression) => ("regex", json!(expression)),
        };
        // Without a field there is nothing that it could be about; the agents ignore it.
        let Some(field) = field else { return Some(()) };
        let condition = json!({ "field": field, test: value });
        let condition = match &target.condition {
            Some(other) => json!({ "all": [other, condition] }),
            None => condition,
        };
        group.condition = Some(made(&condition, &node.span));
        Some(())
    }
}

fn condition(agent: Agent, native: &NativeEvent, event: Event) -> Option<Json> {
    let is_failure = |row: &NativeEvent| row.event == Some(event) && row.failed_tool;
    let failed = json!({ "field": "tool_error", "equals": true });
    match event {
        Event::PostToolUse if native.failed_tool => Some(failed),
        Event::PostToolUse if agent.events().iter().any(is_failure) => {
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
