//! A whole file: which of its shapes it has, and the hooks of each event in it.

use std::sync::Arc;

use super::condition::Condition;
use super::defaults::Defaults;
use super::hook::Place;
use super::model::Config;
use super::node::{Node, Value};
use super::reader::Reader;
use crate::event::Event;
use crate::executor::Matcher;
use crate::suggest;

/// The keys at the top of a file, beside the events of a hooks block without `hooks:`.
pub(super) const KEYS: [&str; 4] = ["$schema", "defaults", "processes", "hooks"];
/// The keys of a matcher entry.
pub(super) const ENTRY_KEYS: [&str; 4] = ["matcher", "hooks", "when", "preempt_yolo"];

impl Reader {
    /// Reads a whole file into `config`.
    pub(super) fn document(&mut self, root: &Node, config: &mut Config) {
        if matches!(root.value, Value::Null) {
            return;
        }
        let Some(fields) = self.open_fields(root, "the file") else { return };
        let defaults = fields.get("defaults").map(|node| self.defaults(node)).unwrap_or_default();
        config.max_parallel = config.max_parallel.or(defaults.max_parallel);
        config.deadline = config.deadline.or(defaults.deadline);
        for (name, key, value) in fields.iter() {
            match name {
                "hooks" => self.hooks_block(value, &defaults, config),
                "processes" => self.processes(value, config),
                "$schema" | "defaults" => {}
                _ if name.parse::<Event>().is_err() => self.unknown_top_key(key, name),
                _ => self.event(name, key, value, &defaults, config),
            }
        }
    }

    fn unknown_top_key(&mut self, key: &Node, name: &str) {
        let known = KEYS.into_iter().chain(Event::all().map(Event::name));
        let hint = match suggest::closest(name, known) {
            Some(suggestion) => format!("did you mean `{suggestion}`?"),
            None => "known here: hooks, defaults, processes".to_owned(),
        };
        self.error_with_hint(key, format!("unknown key `{name}`"), hint);
    }

    fn processes(&mut self, node: &Node, config: &mut Config) {
        let Some(fields) = self.open_fields(node, "`processes`") else { return };
        for (name, key, value) in fields.iter() {
            if let Some(process) = self.process(name, key, value) {
                config.processes.insert(name.to_owned(), process);
            }
        }
    }

    /// Reads a hooks block: event names and their hooks.
    fn hooks_block(&mut self, node: &Node, defaults: &Defaults, config: &mut Config) {
        let Some(fields) = self.open_fields(node, "`hooks`") else { return };
        for (name, key, value) in fields.iter() {
            self.event(name, key, value, defaults, config);
        }
    }

    fn event(
        &mut self,
        name: &str,
        key: &Node,
        value: &Node,
        defaults: &Defaults,
        config: &mut Config,
    ) {
        let event = match name.parse::<Event>() {
            Ok(event) => event,
            Err(unknown) => {
                let hint = match unknown.suggestion {
                    Some(suggestion) => format!("did you mean `{suggestion}`?"),
                    None => "`hookexec events` lists them".to_owned(),
                };
                self.error_with_hint(key, format!("unknown event `{name}`"), hint);
                return;
            }
        };
        let mut place = Place { event, matcher: Matcher::everything(), when: None, defaults };
        for item in value.one_or_many() {
            if event.contract().tool_matched {
                self.entry(item, &mut place, config);
            } else {
                config.hooks.extend(self.hook(item, &place));
            }
        }
    }

    /// Reads a matcher entry: which tools, and the hooks for them.
    fn entry(&mut self, node: &Node, place: &mut Place<'_>, config: &mut Config) {
        let Some(fields) = self.fields(node, "a matcher entry", &ENTRY_KEYS) else { return };
        let matcher = fields.get("matcher").map(|value| self.matcher(value));
        place.matcher = matcher.flatten().unwrap_or_else(Matcher::everything);
        let when: Option<Condition> = fields.get("when").and_then(|value| self.condition(value));
        place.when = when.map(Arc::new);
        let Some(hooks) = fields.get("hooks") else {
            self.error(node, "a matcher entry needs `hooks`");
            return;
        };
        if hooks.one_or_many().is_empty() {
            self.error(hooks, "`hooks` is empty");
        }
        for item in hooks.one_or_many() {
            config.hooks.extend(self.hook(item, place));
        }
    }

    fn matcher(&mut self, node: &Node) -> Option<Matcher> {
        let pattern = self.text(node, "`matcher`")?;
        match Matcher::new(&pattern) {
            Ok(matcher) => Some(matcher),
            Err(error) => {
                self.error(node, error.to_string());
                None
            }
        }
    }
}
