//! A whole file: which of its shapes it has, and the hooks of each event in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::condition::Condition;
use super::diagnostic::Diagnostic;
use super::hook::Place;
use super::keys::{Defaults, EntryKeys, FileKeys, PicoclawKeys};
use super::kinds::At;
use super::layer::Layer;
use super::model::{FileConfig, Hook, Limits, OnError};
use super::node::{Node, Value};
use super::reader::{Fields, MAX_SUGGESTIONS, Reader, spelling};
use crate::event::Event;
use crate::matcher::Matcher;
use crate::platform::MANAGED_DIRECTORY;
use crate::suggest;

/// Why a default can be without effect, and what to do.
const STRICTER: &str = "a default can only make events stricter; \
                        set `on_error` on the hook that you want to relax";

const ENTRY_HINT: &str = "write `- matcher: \"shell\"` with the hook below `hooks:`";

/// One file on its way in.
pub(super) struct Document {
    pub(super) reader: Reader,
    /// What is sound in it.
    pub(super) config: FileConfig,
    /// The processes that are left out because something is wrong with them.
    pub(super) broken_processes: Vec<String>,
    /// The hooks that processes ask for, by priority and name.
    pub(super) chain: BTreeMap<(i64, String), Vec<Hook>>,
}

impl Document {
    pub(super) fn new(reader: Reader) -> Self {
        Self {
            reader,
            config: FileConfig::default(),
            broken_processes: Vec::new(),
            chain: BTreeMap::new(),
        }
    }

    /// Reads the file.
    pub(super) fn read(&mut self, root: &Node) {
        if matches!(root.value, Value::Null) {
            self.nothing(root, "the file is empty", "`hooks: {}`");
            return;
        }
        let Some(fields) = self.reader.open_fields(root, "the file") else { return };
        if self.settings_of_an_agent(&fields) || self.whole_configuration(&fields) {
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
        for (name, key, value) in keys.fields.iter() {
            match name {
                "$schema" | "defaults" | "audit" | "policy" => {}
                "hooks" => self.hooks_block(value, &defaults),
                "layers" => self.layers(key, value),
                "processes" => self.processes(value, &defaults, None),
                _ if Event::from_name(name).is_some() => self.event(name, key, value, &defaults),
                _ => self.unknown_key(key, name),
            }
        }
        match &defaults.on_error {
            Some(At { node, value: OnError::Warn }) => {
                let problem = Diagnostic::warning("`on_error: warn` has no effect in `defaults`");
                self.reader.report(node, problem.hint(STRICTER));
            }
            Some(At { value: OnError::Ignore, .. }) => self.ignored_in_vain(),
            _ => {}
        }
    }

    /// Refuses the settings of Claude Code, whose other keys would each be a mistake here.
    fn settings_of_an_agent(&mut self, fields: &Fields<'_>) -> bool {
        let names = fields.get("hooks").and_then(Node::as_map).unwrap_or_default();
        let mut names = names.iter().filter_map(|(key, _)| Some((key, key.as_text()?)));
        if names.clone().any(|(_, name)| !name.starts_with(|it: char| it.is_ascii_uppercase())) {
            return false;
        }
        let native = names.find_map(|(key, name)| Some((key, name, event_of_claude_code(name)?)));
        let Some((key, name, event)) = native else { return false };
        let message = format!("`{name}` is an event of Claude Code: is this its settings file?");
        let hint = format!(
            "translate it with `hookexec init --from claude-code:FILE`; here the event is `{event}`"
        );
        self.reader.error_with_hint(key, message, hint);
        true
    }

    /// Refuses the whole configuration of PicoClaw or docker-agent, whose other keys would each be a
    /// mistake here.
    fn whole_configuration(&mut self, fields: &Fields<'_>) -> bool {
        let foreign = ["agents", "model_list", "channel_list"];
        let Some((name, key, _)) = fields.iter().find(|(name, ..)| foreign.contains(name)) else {
            return false;
        };
        let message = format!("`{name}` is not a key here: is this another agent's configuration?");
        let hint = "take its hooks out with `hookexec init --from picoclaw:FILE` or \
                    `hookexec init --from docker-agent:FILE --agent NAME`";
        self.reader.error_with_hint(key, message, hint);
        true
    }

    /// Warns of the first hook that `defaults: { on_error: ignore }` does not relax.
    fn ignored_in_vain(&mut self) {
        let hook = self.config.hooks.iter().find(|hook| hook.on_error.is_none());
        if let Some(hook) = hook {
            let message =
                format!("`on_error: ignore` in `defaults` has no effect on `{}`", hook.event);
            let problem = Diagnostic::warning(message).hint(STRICTER).at(hook.location.clone());
            self.reader.note(problem);
        }
    }

    /// Reads which layers an administrator allows below the managed one.
    fn layers(&mut self, key: &Node, value: &Node) {
        // A file of `hooks.d` is read after those that it would have to keep out.
        if self.reader.layer() != Layer::Managed || self.reader.is_drop_in() {
            let message = "only the administrator's file says which layers count";
            let hint = format!("move it to {MANAGED_DIRECTORY}/hooks.yaml");
            self.reader.error_with_hint(key, message, hint);
            return;
        }
        let Value::List(items) = &value.value else {
            self.reader.error_with_hint(value, "`layers` must be a list", "such as `[user]`");
            return;
        };
        let layers = items.iter().filter_map(|item| self.reader.value(item, "`layers`"));
        self.config.layers = Some(layers.collect());
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
        if self.reader.errors() > MAX_SUGGESTIONS {
            return None;
        }
        if let Some(hint) = spelling(name) {
            return Some(hint);
        }
        if let Some(event) = event_of_claude_code(name) {
            return Some(format!("Claude Code's `{name}` is `{event}` here"));
        }
        suggest::hint(name, known)
    }

    /// Reads a hooks block: events and their hooks, or PicoClaw's shorthand.
    pub(super) fn hooks_block(&mut self, node: &Node, defaults: &Defaults<'_>) {
        if matches!(node.value, Value::Null) {
            self.nothing(node, "`hooks` is empty", "`hooks: {}`");
            return;
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
            let hint = self
                .event_hint(name, Event::all().map(Event::name))
                .unwrap_or_else(|| "`hookexec docs events` lists them".to_owned());
            self.reader.error_with_hint(key, format!("unknown event `{name}`"), hint);
            return;
        };
        if matches!(value.value, Value::Null) {
            self.nothing(key, &format!("`{event}` is empty"), &format!("`{event}: []`"));
            return;
        }
        let items = value.one_or_many();
        if items.is_empty() {
            let warning = Diagnostic::warning(format!("`{event}` has no hooks"));
            self.reader.report(key, warning);
        }
        let mut place = Place { event, matcher: Matcher::everything(), when: None, defaults };
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
            self.reader.error_with_hint(key, message, hint);
            return;
        }
        self.config.hooks.extend(self.reader.hook(node, place));
    }

    /// Reads a matcher entry: which tools, and the hooks for them.
    fn entry(&mut self, node: &Node, place: &mut Place<'_>) {
        let event = place.event;
        let has = |name: &str| {
            let entries = node.as_map().unwrap_or_default();
            entries.iter().any(|(key, _)| key.as_text() == Some(name))
        };
        if !has("hooks") && (has("type") || has("command")) {
            let message = format!("a hook in the place of a matcher entry of `{event}`");
            self.reader.error_with_hint(node, message, ENTRY_HINT);
            return;
        }
        let errors = self.reader.errors();
        let Some(keys) = self.reader.value::<EntryKeys<'_>>(node, "") else { return };
        place.matcher = keys.matcher.unwrap_or_else(Matcher::everything);
        place.when = keys.when.map(Condition).map(Arc::new);
        if let Some(At { node, value: true }) = keys.preempt_yolo
            && event != Event::PreToolUse
        {
            // docker-agent runs such a guard before every approval: `pre_tool_use` always does.
            let message = format!("`preempt_yolo` on `{event}`: it belongs to `pre_tool_use`");
            self.reader.error(node, message);
        }
        let Some(super::keys::EntryHooks(hooks)) = keys.hooks else {
            if keys.fields.lacks("hooks") {
                self.reader.error_with_hint(node, "a matcher entry needs `hooks`", ENTRY_HINT);
            }
            return;
        };
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
        let sound = self.reader.errors() == errors;
        for item in items {
            let Some(hook) = self.reader.hook(item, place) else { continue };
            if sound {
                self.config.hooks.push(hook);
            } else {
                self.reader.broken_hooks.push(hook);
            }
        }
    }
}

/// Returns the event whose name is written as Claude Code writes its own: `PreToolUse`.
fn event_of_claude_code(name: &str) -> Option<Event> {
    let mut ours = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !ours.is_empty() {
            ours.push('_');
        }
        ours.push(letter.to_ascii_lowercase());
    }
    let is_theirs = name.starts_with(|first: char| first.is_ascii_uppercase());
    ours.parse().ok().filter(|_| is_theirs)
}

impl Reader {
    /// Reads the hooks block of another program's file.
    pub fn hooks_block(&mut self, node: &Node) -> Vec<Hook> {
        let mut document =
            Document::new(std::mem::replace(self, Self::new(Arc::clone(&self.file))));
        document.hooks_block(node, &Defaults::default());
        document.add_chain();
        *self = document.reader;
        document.config.hooks
    }
}
