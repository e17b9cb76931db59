//! `OpenCode`, by the plugin in `plugins/opencode`.

use super::{
    Adapter, Agent, Measured, PackageMark, Plugin, PluginFile, events, plugin, transcript,
};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "opencode", version: "1.18.33" }),
    plugin: Some(&PLUGIN),
    transcripts: Some(&transcript::OPENCODE),
    ..Adapter::new(Agent::OpenCode, "opencode", "OpenCode", EVENTS, plugin::write)
};

pub(super) const TEXT: &str = include_str!("../plugins/opencode/hookexec.js");

static PLUGIN: Plugin = Plugin {
    source: "plugins/opencode",
    file: Some(PluginFile {
        text: TEXT,
        is_in_config: true,
        directory: "opencode",
        project: ".opencode",
        file: "plugin/hookexec.js",
    }),
    package: PackageMark { file: "../opencode.json", keys: &["plugin"] },
    off_switches: &[],
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
