//! Hooks that were written for one agent, under any other.

use std::fmt;

use crate::event::Event;
use crate::matcher::Matcher;
use crate::wire::{Input, JsonObject, Output};

/// The words of an agent: a hook with its name in `dialect` reads and answers in them.
///
/// A call that a dialect can't express is a failure of the hook. It never becomes a payload without the
/// part that a guard looks at.
pub trait Dialect: fmt::Debug + Send + Sync {
    /// Returns the agent's name in `hooks.yaml`, such as `claude-code`.
    fn name(&self) -> &'static str;

    /// Returns the agent's name in text, such as `Claude Code`.
    fn title(&self) -> &'static str;

    /// Returns the variable that gives the agent's hooks the project's directory.
    fn project_variable(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether the agent has an event that stands for `event`.
    fn knows(&self, event: Event) -> bool;

    /// Returns whether exit code 2 at `event` keeps the model at work; in our own words it has no effect
    /// there.
    fn exit_code_continues(&self, event: Event) -> bool {
        let _ = event;
        false
    }

    /// Returns whether plain text that a hook prints at `event` is context for the model.
    fn takes_text(&self, event: Event) -> bool;

    /// Returns the names that the agent would give the tool; a matcher matches them, too.
    fn tool_names(&self, input: &Input) -> Vec<String>;

    /// Returns the payloads for a hook, one for each call of the agent that this call stands for: a
    /// patch of three files is three edits for an agent without patches. Each payload is written when it is
    /// needed, because it contains the whole event.
    ///
    /// # Errors
    /// When the dialect can't express the event or the call.
    fn payloads<'i>(
        &self,
        matcher: &Matcher,
        input: &'i Input,
    ) -> Result<Payloads<'i>, NotInDialect>;

    /// Translates a hook's answer about the dialect's payload back to our words: its changes, and what
    /// only the agent itself understands.
    ///
    /// # Errors
    /// When that is impossible. The changes are then removed from `output`.
    fn take_back(
        &self,
        matcher: &Matcher,
        input: &Input,
        output: &mut Output,
    ) -> Result<(), NotInDialect>;
}

/// Why an event, a call or a change can't be said in the words of an agent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
#[expect(clippy::exhaustive_structs, reason = "a dialect says it in a sentence")]
pub struct NotInDialect(pub String);

/// The payloads for one hook.
pub type Payloads<'i> = Box<dyn Iterator<Item = JsonObject> + Send + 'i>;
