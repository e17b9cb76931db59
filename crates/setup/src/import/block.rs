//! The `hooks` block that an import builds, hook by hook.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hookexec::Event;
use hookexec::config::{Diagnostics, hooks_block};
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::source::SourceFile;

use super::yaml::{self, Entries, NOWHERE, list_of, made, mapping, put, set};

/// The keys that PicoClaw has in its block beside events.
const PICOCLAWS_KEYS: [&str; 4] = ["enabled", "defaults", "builtins", "processes"];

/// Hooks on their way from a file of another engine.
pub(super) struct Import<'n> {
    /// Knows what can't be imported, as errors, and what is imported as something else.
    pub(super) reader: Reader,
    /// How long a hook may take without a `timeout`, if the engine says so.
    pub(super) timeout: Option<&'static str>,
    /// The keys of PicoClaw.
    settings: Entries<'n>,
    /// The items of each event, each with one hook.
    events: BTreeMap<Event, Vec<Node<'n>>>,
    /// How many hooks there are so far.
    pub(super) hook_count: usize,
    /// How many entries that call hookexec were skipped.
    pub(super) own_entries: usize,
}

/// The part of a hooks file that an import comes to.
pub struct Imported {
    /// The keys of a hooks file.
    pub yaml: String,
    /// The hooks that are left out, and those that are doubtful.
    pub problems: Diagnostics,
    /// How many hooks the YAML has.
    pub hooks: usize,
    /// How many entries that call hookexec were skipped.
    pub own_entries: usize,
}

impl<'n> Import<'n> {
    pub(super) fn new(path: &Path, text: &str) -> Self {
        let reader = Reader::new(Arc::new(SourceFile::new(path, text)));
        let (settings, events) = (Vec::new(), BTreeMap::new());
        Self { reader, timeout: None, settings, events, hook_count: 0, own_entries: 0 }
    }

    /// Returns a key of the whole file that must be there.
    pub(super) fn key(&mut self, root: &'n Node<'n>, name: &str) -> Option<&'n Node<'n>> {
        let fields = self.reader.open_fields(root, "the file")?;
        match fields.get(name) {
            Some(value) => Some(value),
            None => self.reader.refuse(root, format!("the file has no `{name}`")),
        }
    }

    /// Adds a hook, if hookexec takes it, behind the `limits` of its group: a matcher and a condition.
    pub(super) fn add_hook(&mut self, event: Event, limits: &Node<'n>, mut hook: Node<'n>) {
        let kind = hook.get("type").and_then(Node::as_text).unwrap_or_default();
        // A model hook of ours has its model in `with`; the prompt of docker-agent's is a template.
        if kind == "evaluator" || kind == "model" && hook.get("model").is_some() {
            let problem = format!("a hook of type `{kind}` can't be imported");
            let hint = "write a hook of `type: model` by hand (`hookexec docs configuration`)";
            self.reader.error_with_hint(&hook, problem, hint);
            return;
        }
        if event.contract().tool_matched {
            let mut item = limits.clone();
            put(&mut item, "hooks", list_of(vec![hook]));
            hook = item;
        } else if let Value::Map(entries) = &mut hook.value {
            entries.extend_from_slice(limits.as_map().unwrap_or_default());
        }
        let items = list_of(vec![hook.clone()]);
        if self.check(vec![(made(event.name(), &NOWHERE), items)]) {
            self.events.entry(event).or_default().push(hook);
        }
    }

    /// Adds a hooks block that another program writes as hookexec does. Returns `None` if PicoClaw's
    /// keys in it have an error: its processes have them in common.
    pub(super) fn add_block(&mut self, node: &'n Node<'n>) -> Option<()> {
        let fields = self.reader.open_fields(node, "`hooks`")?;
        for (name, key, value) in fields.iter() {
            if PICOCLAWS_KEYS.contains(&name) {
                self.settings.push((key.clone(), value.clone()));
            } else if let Ok(event) = name.parse() {
                self.add_items(event, value);
            } else {
                self.reader.error(key, format!("unknown event `{name}`"));
            }
        }
        if self.check(self.settings.clone()) { Some(()) } else { None }
    }

    fn add_items(&mut self, event: Event, items: &Node<'n>) {
        for item in items.one_or_many() {
            let errors = self.reader.errors();
            // A key that stands twice could hide a guard.
            if item.as_map().is_some() {
                let _ = self.reader.open_fields(item, "an entry");
            }
            if self.reader.errors() > errors {
                continue;
            }
            let Some(hooks) = item.get("hooks") else {
                self.add_hook(event, &mapping(&NOWHERE), item.clone());
                continue;
            };
            let mut limits = item.clone();
            if let Value::Map(entries) = &mut limits.value {
                entries.retain(|(key, _)| key.as_text() != Some("hooks"));
            }
            let hooks = hooks.one_or_many();
            if hooks.is_empty() {
                self.reader.error(item, "an entry without a hook in `hooks`");
            }
            for hook in hooks {
                self.add_hook(event, &limits, hook.clone());
            }
        }
    }

    /// Reads a hooks block as hookexec does, and returns whether it has no error.
    fn check(&mut self, block: Entries<'n>) -> bool {
        let errors = self.reader.errors();
        let block = Node { value: Value::Map(block), span: NOWHERE };
        let hooks = hooks_block(&mut self.reader, &block).len();
        if self.reader.errors() > errors {
            return false;
        }
        self.hook_count += hooks;
        true
    }

    /// Returns the block as YAML, and what is not in it, if the file could be read.
    pub(super) fn finish(self, is_read: Option<()>) -> Result<Imported, Diagnostics> {
        let mut file = mapping(&NOWHERE);
        if let Some(timeout) = self.timeout {
            set(&mut file, "defaults", serde_json::json!({ "timeout": timeout }));
        }
        let mut block = Node { value: Value::Map(self.settings), span: NOWHERE };
        for (event, items) in self.events {
            put(&mut block, event.name(), list_of(items));
        }
        put(&mut file, "hooks", block);
        let yaml = yaml::written(&self.reader, &file);
        let mut problems = self.reader.problems;
        problems.sort(&[]);
        if is_read.is_none() {
            return Err(problems);
        }
        Ok(Imported { yaml, problems, hooks: self.hook_count, own_entries: self.own_entries })
    }
}
