//! The hooks in a coding agent's settings, and what hooks.yaml has for them.

use std::path::Path;
use std::sync::Arc;

use hookexec::Event;
use hookexec::config::{Command, Diagnostic, Diagnostics, Location, Severity};
use hookexec::internal::SourceFile;
use hookexec::internal::reading::{Fields, Node, Reader, Value};
use hookexec_agents::Agent;
use jsonc_parser::ast::Value as Json;

use super::format::{Format, Target};
use super::json::{list, object, string, tree};
use super::matcher::{self, Alternatives};
use super::mcp::{self, Server};
use super::permissions;
use super::yaml::{self, Group, Hook};
use crate::settings::text;
use serde_json::json;

/// What an import comes to.
#[derive(Default)]
pub(super) struct Import {
    /// The groups of hooks, by event in the order in which the events first appear.
    pub(super) events: Vec<(Event, Vec<Group>)>,
    /// The MCP servers that hooks call.
    pub(super) servers: Vec<Server>,
    /// What can't be imported, as errors, and what is imported as something else.
    pub(super) problems: Diagnostics,
    /// How many entries that call hookexec were skipped.
    pub(super) own_entries: usize,
}

impl Import {
    /// Returns the groups of an event.
    pub(super) fn groups(&mut self, event: Event) -> &mut Vec<Group> {
        let place = self.events.iter().position(|(known, _)| *known == event);
        let place = place.unwrap_or_else(|| {
            self.events.push((event, Vec::new()));
            self.events.len() - 1
        });
        &mut self.events[place].1
    }
}

/// A switch that agents have beside the hooks.
const SWITCHED_OFF: &str = "disableAllHooks";

/// Reads the `hooks` of an agent's settings file at `path`.
pub(super) fn read(format: Format, source: SourceFile, path: &Path) -> Result<Import, String> {
    let source = Arc::new(source);
    let mut importer = Importer {
        format,
        reader: Reader::new(Arc::clone(&source)),
        servers: mcp::Files::of(path, plugin_root(path).as_deref()),
        plugin: plugin_root(path),
        names: Vec::new(),
        import: Import::default(),
    };
    let Some(root @ Json::Object(_)) = text::parse(&source.text)? else {
        return Err("it is not a JSON object".to_owned());
    };
    let root = tree(&root);
    if let Some(settings) = object(&mut importer.reader, &root, "the file") {
        importer.settings(&settings)?;
    }
    Ok(Import { problems: importer.reader.into_problems(), ..importer.import })
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

/// Reads one settings file.
pub(super) struct Importer {
    pub(super) format: Format,
    pub(super) reader: Reader,
    pub(super) plugin: Option<String>,
    pub(super) servers: mcp::Files,
    /// The names that hooks have got so far.
    pub(super) names: Vec<String>,
    pub(super) import: Import,
}

impl Importer {
    fn settings(&mut self, settings: &Fields<'_>) -> Result<(), String> {
        let is_claudes = self.format.agent == Agent::ClaudeCode;
        let permissions = settings.get("permissions").filter(|_| is_claudes);
        let hooks = settings.get("hooks");
        if hooks.is_none() && permissions.is_none() {
            return Err("it has no `hooks`".to_owned());
        }
        if settings.get(SWITCHED_OFF).is_some_and(|off| matches!(off.value, Value::Bool(true))) {
            let title = self.format.agent.title();
            let message = format!("`{SWITCHED_OFF}` is set: under {title} none of these hooks run");
            self.reader.note(Diagnostic::warning(message));
        }
        if let Some(permissions) = permissions {
            for group in permissions::groups(permissions, &mut self.reader) {
                self.add(Event::PreToolUse, Some(group));
            }
        }
        if let Some(hooks) = hooks {
            self.events(hooks);
        }
        Ok(())
    }

    fn events<'n>(&mut self, node: &'n Node<'n>) {
        let Some(events) = object(&mut self.reader, node, "`hooks`") else { return };
        for (name, key, entries) in events.iter() {
            let known = self.format.agent.events().iter().find(|native| native.name == name);
            let Some(native) = known else {
                self.reader.error(key, format!("unknown event `{name}`"));
                continue;
            };
            let target = self.format.target(native);
            let target = target.map_err(|reason| self.reader.error(key, reason));
            let Ok(target) = target else { continue };
            for entry in list(&mut self.reader, entries, &format!("`{name}`")) {
                let group = self.group(entry, &target);
                self.add(target.event, group);
            }
        }
    }

    /// Adds what of a group loads as it is written, and reports the rest.
    fn add(&mut self, event: Event, group: Option<Group>) {
        let Some(mut group) = group else { return };
        let hooks = std::mem::take(&mut group.hooks);
        let alone = |hook: Hook| Group { hooks: vec![hook], ..group.clone() };
        let any = Hook::new(group.location.clone(), "command", Command::Text("true".to_owned()));
        if !hooks.is_empty() && self.loads(&group.location, yaml::problems(event, alone(any), &[]))
        {
            let mut sound = Vec::new();
            for hook in hooks {
                let problems = yaml::problems(event, alone(hook.clone()), &self.import.servers);
                if self.loads(&hook.location, problems) {
                    sound.push(hook);
                }
            }
            group.hooks = sound;
        }
        if !group.hooks.is_empty() {
            self.import.groups(event).push(group);
        }
    }

    /// Reports the problems of what was written for a place, and returns whether there are none.
    fn loads(&mut self, place: &Location, problems: Option<Diagnostics>) -> bool {
        let problems = problems.unwrap_or_default();
        for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
            self.reader.note(Diagnostic::error(&problem.message).at(place.clone()));
        }
        !problems.has_errors()
    }

    /// Reads hooks that share a matcher.
    fn group<'n>(&mut self, node: &'n Node<'n>, target: &Target) -> Option<Group> {
        let members = object(&mut self.reader, node, "an entry")?;
        let mut group = Group {
            location: self.reader.location(node),
            matcher: None,
            condition: target.condition.clone(),
            hooks: Vec::new(),
        };
        if let Some(matcher) = members.get("matcher") {
            self.matcher(matcher, target, &mut group)?;
        }
        for (name, key, value) in members.iter() {
            match name {
                "hooks" => {
                    for hook in list(&mut self.reader, value, "`hooks`") {
                        group.hooks.extend(self.hook(hook, target, group.matcher.as_deref()));
                    }
                }
                "matcher" | "sequential" | "description" => {}
                _ => self.left_out(name, key),
            }
        }
        Some(group)
    }

    /// Reports a key that hookexec does not know.
    pub(super) fn left_out(&mut self, name: &str, key: &Node<'_>) {
        let message = format!("unknown key `{name}`: it is left out");
        self.reader.report(key, Diagnostic::warning(message));
    }

    /// Says a matcher in our words: of tools as a matcher, of anything else as a condition.
    fn matcher(&mut self, node: &Node<'_>, target: &Target, group: &mut Group) -> Option<()> {
        let written = string(&mut self.reader, node, "`matcher`")?;
        let alternatives = Alternatives::of(self.format.import.matching, &written);
        if matches!(alternatives, Alternatives::Everything) {
            return Some(());
        }
        let fields = matched_fields(target.event);
        if fields.is_empty() && !target.event.contract().tool_matched {
            // There is nothing that it could be about; the agents ignore it.
            return Some(());
        }
        let pattern = alternatives.pattern(self.format.agent);
        if let Some((message, hint)) = matcher::problem(self.format.agent, &written, &pattern) {
            return self.reader.refuse_with_hint(node, message, hint);
        }
        if fields.is_empty() {
            group.matcher = Some(pattern);
            return Some(());
        }
        let (test, value) = match alternatives {
            Alternatives::Names(names) => ("in", json!(names)),
            _ => ("regex", json!(written)),
        };
        let leaf = |field: &&str| json!({ "field": field, test: value });
        let condition = match fields {
            [field] => leaf(field),
            fields => json!({ "any": fields.iter().map(leaf).collect::<Vec<_>>() }),
        };
        group.condition = Some(match group.condition.take() {
            Some(other) => json!({ "all": [other, condition] }),
            None => condition,
        });
        Some(())
    }
}

/// Returns the fields that a matcher is about where it is not about the tool.
fn matched_fields(event: Event) -> &'static [&'static str] {
    match event {
        Event::SessionStart | Event::PreCompact | Event::AfterCompaction => &["source"],
        Event::SessionEnd | Event::OnError => &["reason"],
        Event::Notification => &["notification_type"],
        Event::SubagentStart | Event::SubagentStop => &["agent_type"],
        Event::OnToolApprovalDecision => &["tool_name"],
        _ => &[],
    }
}
