//! Factory's Droid.

use super::{
    Adapter, Agent, Answer, HookSettings, Intolerance, Measured, NativeEvent, OffSwitch, Plan,
    claude_dialect, events,
};
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "droid", version: "0.225.2" }),
    project: Some("FACTORY_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    ..Adapter::new(Agent::Droid, "droid", "Droid", EVENTS, write)
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

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    // Droid has two forms of a denial; this one needs no parsing.
    if plan.denies() {
        return Answer::refusal(&plan.reason);
    }
    claude_dialect::write(native, None, plan)
}
