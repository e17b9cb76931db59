//! `OpenCode`, by the plugin in `examples/agents/opencode`; Kilo runs the same plugin.

use super::native::{Ask, Deny, NativeEvent, Response, Rewrite};
use super::tools::{Mcp, Tools};
use super::{Adapter, Agent, plugin, read};
use crate::event::Event;

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::OpenCode,
    name: "opencode",
    title: "OpenCode",
    events: &EVENTS,
    tools: TOOLS,
    mcp: Mcp::Joined("_"),
    project: None,
    plugin: Some("examples/agents/opencode"),
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

// A tool that is not listed is taken for one of an MCP server: `server_tool`.
const TOOLS: Tools = &[
    ("bash", &["shell"]),
    ("write", &["write"]),
    ("edit", &["edit"]),
    ("multiedit", &["edit"]),
    ("patch", &["edit", "write"]),
    ("apply_patch", &["edit", "write"]),
    ("read", &["read"]),
    ("list", &["list"]),
    ("glob", &["glob"]),
    ("grep", &["grep"]),
    ("codesearch", &["search"]),
    ("webfetch", &["fetch"]),
    ("websearch", &["search"]),
    ("task", &["subagent"]),
    ("plan_enter", &[]),
    ("plan_exit", &[]),
];
