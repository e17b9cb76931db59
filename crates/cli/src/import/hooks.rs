//! The hooks of an import, in the words of hooks.yaml: each value keeps the place that it came from.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hookexec::Event;
use hookexec::config::{Diagnostics, Severity};
use hookexec::internal::SourceFile;
use hookexec::internal::reading::{Node, Reader, Value, hooks_block};

use super::tree::{Mapping, made};
use super::yaml::{Writer, Written};

type Entries<'n> = Vec<(Node<'n>, Node<'n>)>;

/// Hooks on their way from a file of another engine.
pub(super) struct Import<'n> {
    pub(super) source: Arc<SourceFile>,
    /// Knows what can't be imported, as errors, and what is imported as something else.
    pub(super) reader: Reader,
    /// The entries of `processes:`.
    pub(super) processes: Entries<'n>,
    /// The entries of `hooks:`.
    pub(super) hooks: Entries<'n>,
    /// How many entries that call hookexec were skipped.
    pub(super) own_entries: usize,
}

/// The part of a hooks file that an import comes to.
pub(super) struct Imported {
    pub(super) written: Written,
    pub(super) problems: Diagnostics,
    pub(super) own_entries: usize,
    /// How many hooks hookexec takes.
    pub(super) sound: usize,
}

/// Hooks that share a matcher and a condition.
pub(super) struct Group<'n> {
    pub(super) place: Range<usize>,
    /// The matcher, of an event that is about tools.
    pub(super) matcher: Option<Node<'n>>,
    pub(super) condition: Option<Node<'n>>,
    pub(super) hooks: Vec<Mapping<'n>>,
}

impl<'n> Import<'n> {
    pub(super) fn new(path: &Path, text: &str) -> Self {
        let source = Arc::new(SourceFile::new(path, text));
        let reader = Reader::new(Arc::clone(&source));
        Self { source, reader, processes: Vec::new(), hooks: Vec::new(), own_entries: 0 }
    }

    /// Adds hooks of an event.
    pub(super) fn add(&mut self, event: Event, group: Group<'n>) {
        let Group { place, matcher, condition, mut hooks } = group;
        if hooks.is_empty() {
            return;
        }
        let items = if event.contract().tool_matched {
            let mut entry = Mapping::new(place);
            entry.put("matcher", matcher.unwrap_or_else(|| made(&"*".into(), &(0..0))));
            if let Some(condition) = condition {
                entry.put("when", condition);
            }
            let hooks = hooks.into_iter().map(Mapping::into_node).collect();
            entry.put("hooks", Node { value: Value::List(hooks), span: 0..0 });
            vec![entry.into_node()]
        } else {
            for hook in &mut hooks {
                if let Some(condition) = &condition {
                    hook.put("when", condition.clone());
                }
            }
            hooks.into_iter().map(Mapping::into_node).collect()
        };
        let known = self.hooks.iter_mut().find(|(key, _)| key.as_text() == Some(event.name()));
        let Some((_, value)) = known else {
            let list = Node { value: Value::List(items), span: 0..0 };
            self.hooks.push((made(&event.name().into(), &(0..0)), list));
            return;
        };
        // A mapping stands for a list of one.
        let mut all = value.one_or_many().to_vec();
        all.extend(items);
        value.value = Value::List(all);
    }

    /// Returns the hooks that hookexec takes as YAML, and the problems of the others.
    pub(super) fn finish(mut self) -> Imported {
        let block = Node { value: Value::Map(self.hooks.clone()), span: 0..0 };
        let sound = hooks_block(&mut self.reader, &block).len();
        let mut problems = self.reader.into_problems();
        problems.sort(std::slice::from_ref(&self.source.path));
        let mut errors = Vec::new();
        for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
            errors.extend(problem.location.as_ref().map(|location| location.range().start));
        }
        take_out(&mut self.hooks, &errors);
        // They are compiled into PicoClaw. One that is switched on is an error.
        self.hooks.retain(|(key, _)| key.as_text() != Some("builtins"));
        let mut writer = Writer::new(self.source);
        if !self.processes.is_empty() {
            writer.section("processes", &self.processes);
        }
        writer.section("hooks", &self.hooks);
        Imported { problems, own_entries: self.own_entries, sound, written: writer.written }
    }
}

/// Takes out the smallest of a hook, a matcher entry, a process and an event that has an error in it.
pub(super) fn take_out(hooks: &mut Entries<'_>, errors: &[usize]) {
    hooks.retain_mut(|(key, value)| match &mut value.value {
        _ if has_any(key, errors) => false,
        Value::Map(processes) if key.as_text() == Some("processes") => {
            processes.retain(|(name, process)| !has_any(name, errors) && !has_any(process, errors));
            true
        }
        _ => keep_sound(value, errors),
    });
}

/// Takes out what has an error in it, and returns whether anything is left.
fn keep_sound(node: &mut Node<'_>, errors: &[usize]) -> bool {
    if !has_any(node, errors) {
        return true;
    }
    match &mut node.value {
        Value::List(items) => {
            items.retain_mut(|item| keep_sound(item, errors));
            !items.is_empty()
        }
        // Without its matcher or condition the hooks of an entry would be for other calls.
        Value::Map(keys) => {
            let mut has_hooks = false;
            for (key, value) in keys {
                if has_any(key, errors) {
                    return false;
                }
                if key.as_text() == Some("hooks") {
                    has_hooks = keep_sound(value, errors);
                } else if has_any(value, errors) {
                    return false;
                }
            }
            has_hooks
        }
        _ => false,
    }
}

fn has_any(node: &Node<'_>, errors: &[usize]) -> bool {
    errors.iter().any(|error| is_within(*error, node))
}

/// Returns whether an error stands in a value. An alias has the values of its anchor, with the places
/// that they have there.
fn is_within(error: usize, node: &Node<'_>) -> bool {
    let is_in_entry =
        |(key, value): &(Node<'_>, Node<'_>)| is_within(error, key) || is_within(error, value);
    let is_inside = match &node.value {
        Value::List(items) => items.iter().any(|item| is_within(error, item)),
        Value::Map(entries) => entries.iter().any(is_in_entry),
        _ => false,
    };
    is_inside || node.span.contains(&error)
}
