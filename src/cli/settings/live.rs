//! The entries of hookexec where the agent looks for hooks, and what stands beside them.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;

use super::text::{EditError, member};
use hookexec::agents::{EntryMember, EntryShape, HookSettings};

/// An entry that the agent reads as a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Live {
    /// The agent's event that it stands under.
    pub(crate) event: String,
    pub(crate) command: String,
    /// The `timeout` beside it, in seconds.
    pub(crate) timeout: Option<f64>,
    /// Whether the agent is told to take its failure for a denial, where it can be told.
    pub(crate) fails_closed: bool,
    /// What stands around it that could keep it from being called or heard, as written.
    pub(crate) odd: Vec<String>,
}

/// Returns the entries of hooks under `root` whose commands are `ours`.
pub(super) fn entries(
    layout: &HookSettings,
    root: &[&'static str],
    text: &str,
    tree: &Node<'_>,
    ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<Live>, EditError> {
    let mut node = tree;
    for key in root {
        let Node::Object(object) = node else { return Ok(Vec::new()) };
        match member(object, key)? {
            Some(inner) => node = inner,
            None => return Ok(Vec::new()),
        }
    }
    let Node::Object(events) = node else { return Ok(Vec::new()) };
    let reader = Reader { text, ours, layout };
    let mut found = Vec::new();
    if layout.shape == EntryShape::Triggers {
        for entry in objects(member(events, "hooks")?) {
            found.extend(reader.trigger(entry)?);
        }
        return Ok(found);
    }
    for property in &events.properties {
        let event = property.name.as_str();
        for element in objects(member(events, event)?) {
            if layout.shape == EntryShape::List {
                found.extend(reader.hook(event, element)?);
                continue;
            }
            for entry in objects(member(element, "hooks")?) {
                let Some(mut live) = reader.hook(event, entry)? else { continue };
                live.odd.extend(reader.odd_in_group(element));
                found.push(live);
            }
        }
    }
    Ok(found)
}

fn objects<'o, 'a>(node: Option<&'o Node<'a>>) -> impl Iterator<Item = &'o Object<'a>> {
    let elements = match node {
        Some(Node::Array(array)) => array.elements.as_slice(),
        _ => &[],
    };
    elements.iter().filter_map(|element| match element {
        Node::Object(object) => Some(object),
        _ => None,
    })
}

struct Reader<'r> {
    text: &'r str,
    ours: &'r dyn Fn(&str) -> bool,
    layout: &'r HookSettings,
}

/// What says nothing about whether a hook is called.
const LABELS: [&str; 4] = ["name", "description", "statusMessage", "sequential"];

impl Reader<'_> {
    fn hook(&self, event: &str, entry: &Object<'_>) -> Result<Option<Live>, EditError> {
        let members = self.layout.members;
        let Some(command) = string(member(entry, "command")?).filter(|text| (self.ours)(text))
        else {
            return Ok(None);
        };
        let mut live = Live {
            event: event.to_owned(),
            command: command.to_owned(),
            timeout: number(member(entry, "timeout")?),
            fails_closed: true,
            odd: Vec::new(),
        };
        if self.layout.counts_milliseconds() {
            live.timeout = live.timeout.map(|timeout| timeout / 1000.0);
        }
        for (wanted, key, closed) in [
            (EntryMember::FailClosed, "failClosed", "true"),
            (EntryMember::OnFailure, "onFailure", "\"block\""),
        ] {
            if members.contains(&wanted) {
                let written = member(entry, key)?.map(|value| value.text(self.text));
                live.fails_closed &= written == Some(closed);
            }
        }
        if members.contains(&EntryMember::Type) && member(entry, "type")?.is_none() {
            live.odd.push("no `type`".to_owned());
        }
        let known = ["command", "timeout", "failClosed", "onFailure"];
        live.odd
            .extend(self.odd(entry, &known, |key, value| key == "type" && value == "\"command\""));
        Ok(Some(live))
    }

    fn odd_in_group(&self, group: &Object<'_>) -> Vec<String> {
        const EVERY: [&str; 4] = ["\"\"", "\"*\"", "\".*\"", "null"];
        self.odd(group, &["hooks"], |key, value| key == "matcher" && EVERY.contains(&value))
    }

    fn trigger(&self, entry: &Object<'_>) -> Result<Option<Live>, EditError> {
        let Some(Node::Object(action)) = member(entry, "action")? else { return Ok(None) };
        let event = string(member(entry, "trigger")?).unwrap_or_default();
        let Some(mut live) = self.hook(event, action)? else { return Ok(None) };
        live.timeout = number(member(entry, "timeout")?);
        let known = ["action", "trigger", "timeout"];
        live.odd.extend(self.odd(entry, &known, |key, value| key == "enabled" && value == "true"));
        Ok(Some(live))
    }

    /// Returns the members that are neither known nor `fine`, as they are written.
    fn odd(
        &self,
        object: &Object<'_>,
        known: &[&str],
        fine: impl Fn(&str, &str) -> bool,
    ) -> Vec<String> {
        let mut odd = Vec::new();
        for property in &object.properties {
            let (key, value) = (property.name.as_str(), property.value.text(self.text));
            if !known.contains(&key) && !LABELS.contains(&key) && !fine(key, value) {
                odd.push(format!("`{key}: {value}`"));
            }
        }
        odd
    }
}

fn string<'o>(node: Option<&'o Node<'_>>) -> Option<&'o str> {
    match node {
        Some(Node::StringLit(text)) => Some(&text.value),
        _ => None,
    }
}

fn number(node: Option<&Node<'_>>) -> Option<f64> {
    match node {
        Some(Node::NumberLit(number)) => number.value.parse().ok(),
        _ => None,
    }
}
