//! Runs hooks that were written for one agent under any other agent.
//!
//! Such a hook reads an event in the words of its own agent, and answers in those words. The
//! adapters translate an agent's payload to an [`Input`]; this module translates back. A call that
//! the dialect can't express is a failure of the hook. It never becomes a payload without the part
//! that a guard looks at.

mod arguments;
mod payload;
mod view;

use serde::Serialize;

use crate::event::Event;
use crate::matcher::Matcher;
use crate::wire::{Input, InputChange, JsonObject, Output};
use view::View;

/// Claude Code's event for a failed tool call.
const FAILED_TOOL: &str = "PostToolUseFailure";

const CLAUDE_CODE: [(&str, Event); 15] = [
    ("SessionStart", Event::SessionStart),
    ("UserPromptSubmit", Event::UserPromptSubmit),
    ("PreToolUse", Event::PreToolUse),
    ("PermissionRequest", Event::PermissionRequest),
    ("PostToolUse", Event::PostToolUse),
    (FAILED_TOOL, Event::PostToolUse),
    ("Stop", Event::Stop),
    ("SubagentStart", Event::SubagentStart),
    ("SubagentStop", Event::SubagentStop),
    ("PreCompact", Event::PreCompact),
    ("PostCompact", Event::AfterCompaction),
    ("PermissionDenied", Event::OnToolApprovalDecision),
    ("Notification", Event::Notification),
    ("StopFailure", Event::OnError),
    ("SessionEnd", Event::SessionEnd),
];

/// The agent whose words a command hook reads and answers in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Claude Code's.
    ClaudeCode,
}

impl Dialect {
    /// Returns the dialects, each with its name in `hooks.yaml`.
    pub(crate) const NAMES: [(&'static str, Self); 1] = [("claude-code", Self::ClaudeCode)];

    /// Returns the agent's name, such as `claude-code`.
    pub fn agent(self) -> &'static str {
        "claude-code"
    }

    /// Returns the agent's name in text, such as `Claude Code`.
    pub fn title(self) -> &'static str {
        "Claude Code"
    }

    /// Returns the variable that gives the agent's hooks the project's directory.
    pub fn project_variable(self) -> &'static str {
        "CLAUDE_PROJECT_DIR"
    }

    /// Returns the names of the agent's events, each with the event that it stands for.
    pub fn events(self) -> &'static [(&'static str, Event)] {
        &CLAUDE_CODE
    }

    /// Returns whether the agent has an event that stands for `event`.
    pub(crate) fn knows(self, event: Event) -> bool {
        self.events().iter().any(|(_, known)| *known == event)
    }

    /// Returns whether exit code 2 at `event` keeps the model at work; in our own dialect it has no effect
    /// there.
    pub(crate) fn exit_code_continues(self, event: Event) -> bool {
        matches!((self, event), (Self::ClaudeCode, Event::Stop | Event::SubagentStop))
    }

    /// Returns whether plain text that a hook prints at `event` is context for the model.
    pub(crate) fn takes_text(self, event: Event) -> bool {
        matches!((self, event), (Self::ClaudeCode, Event::SessionStart | Event::UserPromptSubmit))
    }

    /// Returns whether `matcher` matches one of the names that the agent would give the tool.
    pub(crate) fn matches(self, matcher: &Matcher, input: &Input) -> bool {
        view::names(self, input).iter().any(|name| matcher.matches(name))
    }

    /// Returns the payloads for the hook, one for each call of the agent that this call stands for:
    /// a patch of three files is three edits for an agent without patches. Each payload is written
    /// when it is needed, because it contains the whole event.
    ///
    /// # Errors
    /// When the dialect can't express the event or the call.
    pub fn payloads<'i>(
        self,
        matcher: &Matcher,
        input: &'i Input,
    ) -> Result<impl Iterator<Item = JsonObject> + use<'i>, String> {
        if payload::event_name(self, input).is_none() {
            return Err(format!("{} has no such event", self.title()));
        }
        let views = self.views(matcher, input)?;
        Ok(views.into_iter().map(move |(name, view)| payload::write(self, input, &name, &view)))
    }

    /// Translates a hook's changes to the dialect's payload back to the words of this call.
    ///
    /// # Errors
    /// When that is impossible. The changes are then removed from `output`.
    pub(crate) fn take_back(
        self,
        matcher: &Matcher,
        input: &Input,
        output: &mut Output,
    ) -> Result<(), String> {
        if output.hook_event_name.as_deref() == payload::event_name(self, input) {
            output.hook_event_name = None;
        }
        payload::take_back_response(self, input, output);
        let Some(change) = output.updated_input.take() else { return Ok(()) };
        let views = self.views(matcher, input)?;
        let [(_, view)] = &views[..] else {
            return Err(format!(
                "it changed one of the {} calls that `{}` stands for in the words of {}, which can't be carried over",
                views.len(),
                input.tool(),
                self.title(),
            ));
        };
        output.updated_input = Some(match &view.call {
            Some(call) => InputChange::Replace(call.take_back(change)?),
            None => change,
        });
        Ok(())
    }

    /// Returns the views of the call that `matcher` matches, each with the name to show.
    fn views(self, matcher: &Matcher, input: &Input) -> Result<Vec<(String, View)>, String> {
        let views = view::views(self, input)?;
        let named = |view: &View| view.names.iter().find(|name| matcher.matches(name)).cloned();
        if views.iter().any(|view| named(view).is_some()) {
            return Ok(views.into_iter().filter_map(|view| Some((named(&view)?, view))).collect());
        }
        // The matcher matched a name of another agent, or a kind.
        Ok(views.into_iter().map(|view| (view.names[0].clone(), view)).collect())
    }
}
