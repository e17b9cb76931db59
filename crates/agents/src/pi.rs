//! Pi, by the extension in `plugins/pi`.

use super::{
    Adapter, Agent, Measured, OffSwitch, OffValue, PackageMark, Plugin, PluginFile, events, plugin,
};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "pi", version: "0.87.1" }),
    plugin: Some(&PLUGIN),
    ..Adapter::new(Agent::Pi, "pi", "Pi", EVENTS, plugin::write)
};

static PLUGIN: Plugin = Plugin {
    source: "plugins/pi",
    file: Some(PluginFile {
        text: include_str!("../plugins/pi/hookexec.ts"),
        is_in_config: false,
        directory: ".pi/agent",
        project: ".pi",
        file: "extensions/hookexec.ts",
    }),
    package: PackageMark { file: "../settings.json", keys: &["packages"] },
    off_switches: &[OffSwitch { keys: &["extensions"], off: OffValue::Excludes }],
};

events! {
    "session_start" => SessionStart: context, says;
    "input" => UserPromptSubmit: blocks, context, says;
    // Without a user in front of it, the extension denies what a hook asks.
    "tool_call" => PreToolUse: blocks, asks, rewrites, says;
    "tool_result" => PostToolUse: tells_as_context, replaces_response, context, says;
    "agent_end" => Stop: says;
    "session_shutdown" => SessionEnd: says;
    unmapped:
        "user_bash": "the user runs the command, not the model";
}
