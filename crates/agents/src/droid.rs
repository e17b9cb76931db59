//! Factory's Droid.

use super::{
    Adapter, Agent, HookSettings, Intolerance, Measured, OffSwitch, claude_dialect, events,
};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "droid", version: "0.225.2" }),
    project: Some("FACTORY_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    // It has two forms of a denial; this one needs no parsing.
    denies_by_exit_code: true,
    ..Adapter::new(Agent::Droid, "droid", "Droid", EVENTS, claude_dialect::write)
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".factory",
    file: "hooks.json",
    older_file: Some("settings.json"),
    switch_files: &["settings.json"],
    root: &[],
    intolerance: Intolerance::Entries,
    off_switches: &[
        OffSwitch::is(&["hooksDisabled"], true),
        OffSwitch::is(&["hooks", "hooksDisabled"], true),
    ],
    next_step: "Restart Droid and review the hooks in `/hooks`.",
    ..HookSettings::GROUPS
};

// The first hook that decides wins: an allow said here could undo another's denial. Changed
// arguments are taken without one (measured with 0.225.2). `droid exec` never fires
// UserPromptSubmit.
events! {
    "SessionStart" => SessionStart: context, says;
    "UserPromptSubmit" => UserPromptSubmit: blocks, context, says;
    "PreToolUse" => PreToolUse: blocks, denies_asks, rewrites, says;
    // Exit code 2 would tell the reason alone, and leave no room for a message to the user.
    "PostToolUse" => PostToolUse: tells_as_context, context, says;
    "Stop" => Stop: goes_on;
    "SubagentStart" => SubagentStart;
    "SubagentStop" => SubagentStop: goes_on;
    "PreCompact" => PreCompact;
    "Notification" => Notification;
    "SessionEnd" => SessionEnd;
}
