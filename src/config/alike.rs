//! Which hooks may be defined like another one.

use std::collections::HashMap;

use super::model::{Command, Hook};
use crate::event::Event;

/// How many hooks run the same for the same event.
///
/// A hook that is alone with what it runs is like no other. Nothing else of it has to be compared to
/// know that, which spares nearly all hooks of nearly all files a comparison of everything.
pub(crate) struct Alike<'h>(HashMap<(Event, Option<&'h Command>), usize>);

impl<'h> Alike<'h> {
    pub(crate) fn of(hooks: impl Iterator<Item = &'h Hook>) -> Self {
        let mut counts = HashMap::new();
        for hook in hooks {
            *counts.entry((hook.event, hook.command.as_ref())).or_default() += 1;
        }
        Self(counts)
    }

    /// Returns whether another of the hooks may be defined like `hook`.
    pub(crate) fn may_repeat(&self, hook: &Hook) -> bool {
        self.0.get(&(hook.event, hook.command.as_ref())) != Some(&1)
    }
}
