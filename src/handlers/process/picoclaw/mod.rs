//! PicoClaw's hooks: their methods, the params of each, their answers, and the notifications of events.

mod answer;
mod params;
mod rewrite;

use crate::event::Event;

pub(super) use answer::read_output;
pub(super) use params::notification;

/// An event that PicoClaw has a method of its own for. Every other event is `hook.<event>`, with the
/// input as params and an answer of ours as result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    BeforeLlm,
    AfterLlm,
    BeforeTool,
    ApproveTool,
    AfterTool,
}

impl Stage {
    /// Returns PicoClaw's stage for `event`, if it has one.
    pub(super) const fn of(event: Event) -> Option<Self> {
        match event {
            Event::BeforeLlmCall => Some(Self::BeforeLlm),
            Event::AfterLlmCall => Some(Self::AfterLlm),
            Event::PreToolUse => Some(Self::BeforeTool),
            Event::PermissionRequest => Some(Self::ApproveTool),
            Event::PostToolUse => Some(Self::AfterTool),
            _ => None,
        }
    }

    pub(super) const fn method(self) -> &'static str {
        match self {
            Self::BeforeLlm => "hook.before_llm",
            Self::AfterLlm => "hook.after_llm",
            Self::BeforeTool => "hook.before_tool",
            Self::ApproveTool => "hook.approve_tool",
            Self::AfterTool => "hook.after_tool",
        }
    }

    /// Returns the mode that the handshake announces it with.
    pub(super) const fn mode(self) -> &'static str {
        match self {
            Self::BeforeLlm | Self::AfterLlm => "llm",
            Self::BeforeTool | Self::AfterTool => "tool",
            Self::ApproveTool => "approve",
        }
    }

    /// Returns the keys of its answer; the last one names the part that may be changed.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::BeforeLlm => &["action", "reason", "request"],
            Self::AfterLlm => &["action", "reason", "response"],
            Self::BeforeTool => &["action", "reason", "result", "call"],
            Self::ApproveTool => &["approved", "reason"],
            Self::AfterTool => &["action", "reason", "result"],
        }
    }

    /// Returns the actions that a process may answer with.
    const fn actions(self) -> &'static [&'static str] {
        match self {
            Self::BeforeTool => {
                &["continue", "modify", "respond", "deny_tool", "abort_turn", "hard_abort"]
            }
            Self::BeforeLlm | Self::AfterLlm | Self::AfterTool => {
                &["continue", "modify", "abort_turn", "hard_abort"]
            }
            Self::ApproveTool => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::process::{STAGES, Stage as Intercepted};

    #[test]
    fn the_shorthand_and_the_methods_mean_the_same_events() {
        for (name, Intercepted { event, .. }) in STAGES {
            assert_eq!(Stage::of(event).unwrap().method(), format!("hook.{name}"));
        }
    }
}
