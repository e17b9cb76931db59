//! What the hooks of an agent's event become here.

use hookexec::Event;
use hookexec_agents::{Agent, HookSettings, ImportFormat, NativeEvent, ScriptWords};
use serde_json::{Value, json};

/// One agent's settings, as far as an import has to know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    pub(super) agent: Agent,
    pub(super) settings: &'static HookSettings,
    pub(super) import: &'static ImportFormat,
}

/// What hooks of one event of an agent become here.
pub(super) struct Target {
    pub(super) event: Event,
    /// The words that the script reads and answers.
    pub(super) words: ScriptWords,
    /// Tells the event from another of the agent that stands for the same event of ours.
    pub(super) condition: Option<Value>,
}

impl Format {
    pub(super) fn of(agent: Agent) -> Option<Self> {
        let settings = agent.settings()?;
        Some(Self { agent, settings, import: settings.import.as_ref()? })
    }

    /// Returns what hooks of the agent's event become, or why they can't be imported.
    pub(super) fn target(&self, native: &'static NativeEvent) -> Result<Target, String> {
        let event = native.event.ok_or_else(|| {
            format!("hookexec has no event for `{}`: {}", native.name, native.unmapped)
        })?;
        let mut known = self.import.not_importable.iter();
        if let Some((_, reason)) = known.find(|(name, _)| *name == native.name) {
            return Err(format!("hooks of `{}` can't be imported: {reason}", native.name));
        }
        Ok(Target {
            event,
            words: (self.import.words)(native),
            condition: self.condition(native, event),
        })
    }

    fn condition(&self, native: &NativeEvent, event: Event) -> Option<Value> {
        let other = |row: &NativeEvent| row.event == Some(event) && row.failed_tool;
        let failed = json!({ "field": "tool_error", "equals": true });
        match event {
            Event::PostToolUse if native.failed_tool => Some(failed),
            Event::PostToolUse if self.agent.events().iter().any(other) => {
                Some(json!({ "not": failed }))
            }
            Event::OnToolApprovalDecision => {
                Some(json!({ "field": "approval_decision", "equals": "deny" }))
            }
            _ => None,
        }
    }
}
