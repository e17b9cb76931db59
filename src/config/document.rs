//! A whole file: which of its shapes it has, and the hooks of each event in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hookexec_files::diagnostic::{Diagnostic, Diagnostics};
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::{Fields, Reader, spelling};
use hookexec_files::source::{Location, SourceFile};
use hookexec_files::yaml;

use super::builder::FileConfig;
use super::hook::{Groups, Place, RULE_KEYS, read_hook};
use super::keys::{
    Defaults, EntryHooks, EntryKeys, FileKeys, HookKeys, PicoclawDefaults, PicoclawKeys,
};
use super::layer::{InLayer as _, Layer};
use super::model::{Hook, Limits};
use crate::event::Event;
use crate::matcher::Matcher;
use crate::platform::MANAGED_DIRECTORY;
use crate::suggest;

const ENTRY_HINT: &str = "write `- matcher: \"shell\"` with the hook below `hooks:`";

/// One file on its way in.
pub(super) struct Document {
    pub(super) reader: Reader,
    /// The parts of it that are sound.
    pub(super) config: FileConfig,
    /// Hooks with errors, as far as they could be read: others may find more in them.
    pub(super) broken_hooks: Vec<Hook>,
    /// The hooks that processes ask for, by priority and name.
    pub(super) chain: BTreeMap<(i64, String), Vec<Hook>>,
    groups: Arc<Groups>,
}

impl Document {
    pub(super) fn new(mut reader: Reader) -> Self {
        reader.parent_of = parent_of;
        let location = Location::new(Arc::clone(&reader.file), 0..0);
        Self {
            reader,
            config: FileConfig { location, ..FileConfig::default() },
            broken_hooks: Vec::new(),
            chain: BTreeMap::new(),
            groups: Arc::default(),
        }
    }

    /// Reads the file.
    pub(super) fn read(&mut self, root: &Node) {
        if matches!(root.value, Value::Null) {
            return self.nothing(root, "the file is empty", "`hooks: {}`");
        }
        let Some(fields) = self.reader.open_fields(root, "the file") else { return };
        if self.is_of_an_agent(&fields) {
            return;
        }
        self.file(fields);
        self.add_chain();
    }

    /// Adds the hooks of processes after those that the file names itself.
    fn add_chain(&mut self) {
        let chain = std::mem::take(&mut self.chain);
        self.config.hooks.extend(chain.into_values().flatten());
    }

    fn file(&mut self, fields: Fields<'_>) {
        let keys = FileKeys::of(&mut self.reader, fields);
        let defaults = keys.defaults.unwrap_or_default();
        self.config.limits = Limits {
            deadline: defaults.deadline,
            max_parallel: defaults.max_parallel.as_ref().map(|count| count.0),
            http_hosts: defaults.http_hosts.clone().map(|hosts| hosts.into_iter().collect()),
        };
        self.config.audit = keys.audit;
        self.config.policy = keys.policy;
        self.groups = Arc::new(keys.groups.unwrap_or_default());
        for (name, key, value) in keys.fields.iter() {
            match name {
                "$schema" | "defaults" | "audit" | "policy" | "groups" => {}
                "hooks" => self.hooks_block(value, &defaults),
                "layers" => self.layers(key, value),
                "processes" => self.processes(value, &defaults, &PicoclawDefaults::default()),
                _ if Event::from_name(name).is_some() => self.event(name, key, value, &defaults),
                _ => self.unknown_key(key, name),
            }
        }
    }

    /// Refuses the settings of Claude Code, and the whole configuration of PicoClaw or docker-agent:
    /// each of their other keys would be a mistake here.
    fn is_of_an_agent(&mut self, fields: &Fields<'_>) -> bool {
        for (name, key, _) in fields.iter() {
            if ["agents", "model_list", "channel_list"].contains(&name) {
                let message =
                    format!("`{name}` is not a key here: is this another agent's configuration?");
                let hint = "take its hooks out with `hookexec init --from picoclaw:FILE` or \
                            `hookexec init --from docker-agent:FILE --agent NAME`";
                self.reader.error_with_hint(key, message, hint);
                return true;
            }
        }
        let hooks = fields.get("hooks").and_then(Node::as_map).unwrap_or_default();
        let mut names = hooks.iter().filter_map(|(key, _)| key.as_text());
        if !names.all(|name| name.starts_with(|first: char| first.is_ascii_uppercase())) {
            return false;
        }
        for (key, _) in hooks {
            if let Some(name) = key.as_text()
                && let Some(event) = event_of_claude_code(name)
            {
                let message =
                    format!("`{name}` is an event of Claude Code: is this its settings file?");
                let hint = format!(
                    "translate it with `hookexec init --from claude-code:FILE`; here the event is \
                     `{event}`"
                );
                self.reader.error_with_hint(key, message, hint);
                return true;
            }
        }
        false
    }

    /// Reads which layers an administrator allows below the managed one.
    fn layers(&mut self, key: &Node, value: &Node) {
        // A file of `hooks.d` is read after those that it would have to keep out.
        let file = &self.reader.file;
        if file.layer() != Layer::Managed || file.is_drop_in() {
            let message = "only the administrator's file says which layers count";
            let hint = format!("move it to {MANAGED_DIRECTORY}/hooks.yaml");
            return self.reader.error_with_hint(key, message, hint);
        }
        self.config.layers = self.reader.value(value, "`layers`");
    }

    fn unknown_key(&mut self, key: &Node, name: &str) {
        let keys = FileKeys::NAMES;
        let known = keys.iter().copied().chain(Event::all().map(Event::name));
        let hint = self.event_hint(name, known).unwrap_or_else(|| {
            format!("known here: {}, or the name of an event", keys[1..].join(", "))
        });
        self.reader.error_with_hint(key, format!("unknown key `{name}`"), hint);
    }

    /// Returns what an unknown event or key at the top was probably meant to be.
    fn event_hint<'n>(&self, name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
        if self.reader.is_hopeless() {
            return None;
        }
        if let Some(hint) = spelling(name) {
            return Some(hint);
        }
        match event_of_claude_code(name) {
            Some(event) => Some(format!("Claude Code's `{name}` is `{event}` here")),
            None => suggest::hint(name, known),
        }
    }

    /// Reads a hooks block: events and their hooks, or PicoClaw's shorthand.
    pub(super) fn hooks_block(&mut self, node: &Node, defaults: &Defaults<'_>) {
        if matches!(node.value, Value::Null) {
            let hint = "indent the events below it, or remove `hooks:`; to configure no hooks, say \
                        so: `hooks: {}`";
            return self.reader.error_with_hint(node, "`hooks` is empty", hint);
        }
        let Some(fields) = self.reader.open_fields(node, "`hooks`") else { return };
        let keys = PicoclawKeys::of(&mut self.reader, fields);
        for (name, key, value) in keys.fields.iter() {
            if !PicoclawKeys::NAMES.contains(&name) {
                self.event(name, key, value, defaults);
            }
        }
        self.picoclaw(keys, defaults);
    }

    /// Refuses an empty value: it looks like a policy without hooks, and is mostly a file that is
    /// still being written.
    fn nothing(&mut self, node: &Node, what: &str, explicit: &str) {
        let hint = format!("to configure no hooks, say so: {explicit}");
        self.reader.error_with_hint(node, what, hint);
    }

    fn event(&mut self, name: &str, key: &Node, value: &Node, defaults: &Defaults<'_>) {
        let Some(event) = Event::from_name(name) else {
            let hint = self.event_hint(name, Event::all().map(Event::name));
            let hint = hint.unwrap_or_else(|| "`hookexec docs events` lists them".to_owned());
            return self.reader.error_with_hint(key, format!("unknown event `{name}`"), hint);
        };
        if matches!(value.value, Value::Null) {
            return self.nothing(key, &format!("`{event}` is empty"), &format!("`{event}: []`"));
        }
        let items = value.one_or_many();
        if items.is_empty() {
            let warning = Diagnostic::warning(format!("`{event}` has no hooks"));
            self.reader.report(key, warning);
        }
        let groups = &Arc::clone(&self.groups);
        let matcher = Matcher::everything();
        let mut place =
            Place { event, matcher, matcher_location: None, when: None, defaults, groups };
        for item in items {
            if event.contract().tool_matched {
                self.entry(item, &mut place);
            } else {
                self.flat_hook(item, &place);
            }
        }
    }

    /// Reads a hook of an event that has no tools to choose from.
    fn flat_hook(&mut self, node: &Node, place: &Place<'_>) {
        let event = place.event;
        for (key, _) in node.as_map().unwrap_or_default() {
            let (message, hint) = match key.as_text() {
                Some("matcher") => (
                    format!("a `matcher` on `{event}`, which is about no tool"),
                    "remove it; `when:` narrows by content on every event",
                ),
                Some("hooks") => (
                    format!("the hooks of `{event}` stand directly in its list"),
                    "move them out of `hooks:`, one level up",
                ),
                _ => continue,
            };
            return self.reader.error_with_hint(key, message, hint);
        }
        self.add_hook(node, place, self.reader.errors());
    }

    /// Reads a hook. It is sound if no error was found after the first `errors`.
    fn add_hook(&mut self, node: &Node, place: &Place<'_>, errors: usize) {
        let Some(hook) = read_hook(&mut self.reader, node, place) else { return };
        if self.reader.errors() == errors {
            self.config.hooks.push(hook);
        } else {
            self.broken_hooks.push(hook);
        }
    }

    /// Reads a matcher entry: which tools, and the hooks for them.
    fn entry(&mut self, node: &Node, place: &mut Place<'_>) {
        let event = place.event;
        let is_hook = node.get("type").or(node.get("command")).is_some();
        if is_hook && node.get("hooks").is_none() {
            let message = format!("a hook in the place of a matcher entry of `{event}`");
            return self.reader.error_with_hint(node, message, ENTRY_HINT);
        }
        let errors = self.reader.errors();
        let Some(keys) = self.reader.value::<EntryKeys<'_>>(node, "") else { return };
        let written = keys.fields.get("matcher");
        place.matcher_location = written.map(|matcher| self.reader.location(matcher));
        place.matcher = keys.matcher.unwrap_or_else(Matcher::everything);
        place.when = keys.when.map(Arc::new);
        let Some(EntryHooks(hooks)) = keys.hooks else { return };
        let items = match &hooks.value {
            Value::Null => &[],
            _ => hooks.one_or_many(),
        };
        if items.is_empty() {
            let hint = "an entry without hooks does nothing; add one or remove the entry";
            self.reader.error_with_hint(hooks, "`hooks` is empty", hint);
        }
        // Below a broken matcher the hooks are read for their own mistakes, and then left out: they
        // are for unknown tools.
        let is_sound = self.reader.errors() == errors;
        for item in items {
            let errors = if is_sound { self.reader.errors() } else { errors };
            self.add_hook(item, place, errors);
        }
    }
}

/// Returns the event whose name is written as Claude Code writes its own: `PreToolUse`.
fn event_of_claude_code(name: &str) -> Option<Event> {
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    Event::all().find(|event| event.name().replace('_', "").eq_ignore_ascii_case(name))
}

/// Reads the hooks block of another program's file.
pub fn hooks_block(reader: &mut Reader, node: &Node) -> Vec<Hook> {
    let empty = Reader::new(Arc::clone(&reader.file));
    let mut document = Document::new(std::mem::replace(reader, empty));
    document.hooks_block(node, &Defaults::default());
    document.add_chain();
    *reader = document.reader;
    document.config.hooks
}

/// Returns the key below which another one belongs: `with` for a parameter of http, mcp and model hooks,
/// `hooks` for a key that hooks have.
pub(super) fn parent_of(key: &str) -> Option<&'static str> {
    match key {
        "api" | "api_key" | "arguments" | "headers" | "model" | "prompt" | "secret" | "server"
        | "tool" | "url" => Some("with"),
        _ if HookKeys::NAMES.contains(&key) || RULE_KEYS.contains(&key) => Some("hooks"),
        _ => None,
    }
}

/// Returns whether a merge in a file must not hide the key: one of two lists of hooks would be lost.
pub(super) fn is_event(key: &str) -> bool {
    Event::from_name(key).is_some()
}

/// Reads `text` with `read`; `path` is what messages call it.
///
/// # Errors
/// All problems of the text.
pub fn read_text<T>(
    path: &Path,
    text: &str,
    read: impl FnOnce(&mut Reader, &Node) -> Option<T>,
) -> Result<T, Diagnostics> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file = Arc::new(SourceFile::new(path, text));
    let root = yaml::parse(&file, is_event)?;
    let mut reader = Reader::new(Arc::clone(&file));
    reader.parent_of = parent_of;
    let value = read(&mut reader, &root);
    reader.finish(value)
}
