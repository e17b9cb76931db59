//! `OpenClaw`, by the plugin in `plugins/openclaw`.

use super::native::{Ask, Deny, NativeEvent, Rewrite};
use super::{Adapter, Agent, plugin, read};
use hookexec::event::Event;

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::OpenClaw,
    name: "openclaw",
    title: "OpenClaw",
    events: &EVENTS,
    project: None,
    settings: None,
    plugin: Some("plugins/openclaw"),
    refine: read::plain,
    write: plugin::write,
};

static EVENTS: [NativeEvent; 6] = [
    NativeEvent::new("session_start", Event::SessionStart).context().says(),
    NativeEvent::new("before_agent_run", Event::UserPromptSubmit)
        .deny(Deny::Blocks)
        .context()
        .says(),
    NativeEvent::new("before_tool_call", Event::PreToolUse)
        .deny(Deny::Blocks)
        .ask(Ask::Asks)
        .rewrite(Rewrite::Takes)
        .says(),
    // OpenClaw does not wait for this event: what is said here reaches the model with the next
    // prompt.
    NativeEvent::new("after_tool_call", Event::PostToolUse)
        .deny(Deny::TellsAsContext)
        .context()
        .says(),
    NativeEvent::new("agent_end", Event::Stop).says(),
    NativeEvent::new("session_end", Event::SessionEnd).says(),
];
