//! `OpenCode`, by the plugin in `plugins/opencode`; Kilo runs the same plugin.

use super::native::events;
use super::{Adapter, Agent, Measured, plugin};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "opencode", version: "1.18.33" }),
    plugin: Some("plugins/opencode"),
    ..Adapter::new(Agent::OpenCode, "opencode", "OpenCode", EVENTS, plugin::write)
};

// No plugin hook can ask the user: `permission.ask` is never called.
events! {
    "session.created" => SessionStart: context, says;
    "chat.message" => UserPromptSubmit: blocks, context, says;
    "tool.execute.before" => PreToolUse: blocks, denies_asks, rewrites, says;
    // Does not fire for a tool that failed.
    "tool.execute.after" => PostToolUse: tells_as_context, replaces_response, context, says;
    "session.idle" => Stop: says;
    "session.deleted" => SessionEnd: says;
}
