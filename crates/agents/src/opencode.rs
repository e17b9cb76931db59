//! `OpenCode`, by the plugin in `plugins/opencode`; Kilo runs the same plugin.

use super::native::{Ask, Deny, NativeEvent, Response, Rewrite};
use super::{Adapter, Agent, plugin, read};
use hookexec::event::Event;

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::OpenCode,
    name: "opencode",
    title: "OpenCode",
    events: &EVENTS,
    project: None,
    settings: None,
    plugin: Some("plugins/opencode"),
    refine: read::plain,
    write: plugin::write,
};

// No plugin hook can ask the user: `permission.ask` is never called.
static EVENTS: [NativeEvent; 6] = [
    NativeEvent::new("session.created", Event::SessionStart).context().says(),
    NativeEvent::new("chat.message", Event::UserPromptSubmit).deny(Deny::Blocks).context().says(),
    NativeEvent::new("tool.execute.before", Event::PreToolUse)
        .deny(Deny::Blocks)
        .ask(Ask::Denies)
        .rewrite(Rewrite::Takes)
        .says(),
    // Does not fire for a tool that failed.
    NativeEvent::new("tool.execute.after", Event::PostToolUse)
        .deny(Deny::TellsAsContext)
        .response(Response::Takes)
        .context()
        .says(),
    NativeEvent::new("session.idle", Event::Stop).says(),
    NativeEvent::new("session.deleted", Event::SessionEnd).says(),
];
