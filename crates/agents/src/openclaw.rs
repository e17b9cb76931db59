//! `OpenClaw`, by the plugin in `plugins/openclaw`.

use super::{Adapter, Agent, Measured, OffSwitch, OffValue, PackageMark, Plugin, events, plugin};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "openclaw", version: "2026.9.6" }),
    plugin: Some(&PLUGIN),
    ..Adapter::new(Agent::OpenClaw, "openclaw", "OpenClaw", EVENTS, plugin::write)
};

static PLUGIN: Plugin = Plugin {
    source: "plugins/openclaw",
    file: None,
    package: PackageMark { file: ".openclaw/openclaw.json", keys: &["plugins", "entries"] },
    off_switches: &[
        OffSwitch::is(&["plugins", "enabled"], false),
        OffSwitch::is(&["plugins", "entries", "hookexec", "enabled"], false),
        OffSwitch { keys: &["plugins", "deny"], off: OffValue::NamesUs },
        OffSwitch { keys: &["plugins", "allow"], off: OffValue::LacksUs },
    ],
};

events! {
    "session_start" => SessionStart: context, says;
    "before_agent_run" => UserPromptSubmit: blocks, context, says;
    "before_tool_call" => PreToolUse: blocks, asks, rewrites, says;
    // Where OpenClaw does not wait for the plugin after a tool, the plugin keeps the text for the next
    // prompt.
    "after_tool_call" => PostToolUse: tells_as_context, context, says;
    "agent_end" => Stop: says;
    "session_end" => SessionEnd: says;
}
