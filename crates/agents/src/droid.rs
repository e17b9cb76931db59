//! Factory's Droid.

use super::answer::Answer;
use super::native::{Ask, Deny, NativeEvent, Rewrite};
use super::plan::Plan;
use super::settings::HookSettings;
use super::{Adapter, Agent, claude_dialect, read};
use hookexec::event::Event;
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::Droid,
    name: "droid",
    title: "Droid",
    events: &EVENTS,
    project: Some("FACTORY_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    plugin: None,
    refine: read::plain,
    write,
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".factory",
    file: "hooks.json",
    older_file: Some("settings.json"),
    root: &[],
    next_step: "Restart Droid and review the hooks in `/hooks`.",
    ..HookSettings::GROUPS
};

// The first hook that decides wins: an allow said here could undo another's denial. Changed
// arguments are taken without one (measured with 0.225.2). `droid exec` never fires
// UserPromptSubmit.
static EVENTS: [NativeEvent; 10] = [
    NativeEvent::new("SessionStart", Event::SessionStart).context().says(),
    NativeEvent::new("UserPromptSubmit", Event::UserPromptSubmit)
        .deny(Deny::Blocks)
        .context()
        .says(),
    NativeEvent::new("PreToolUse", Event::PreToolUse)
        .deny(Deny::Blocks)
        .ask(Ask::Denies)
        .rewrite(Rewrite::Takes)
        .says(),
    // Exit code 2 would tell the reason alone, and leave no room for a message to the user.
    NativeEvent::new("PostToolUse", Event::PostToolUse).deny(Deny::TellsAsContext).context().says(),
    NativeEvent::new("Stop", Event::Stop).deny(Deny::GoesOn),
    NativeEvent::new("SubagentStop", Event::SubagentStop).deny(Deny::GoesOn),
    NativeEvent::new("PreCompact", Event::PreCompact),
    NativeEvent::new("Notification", Event::Notification),
    NativeEvent::new("SessionEnd", Event::SessionEnd),
    NativeEvent::unmapped("SubagentStart"),
];

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    // Droid has two forms of a denial; this one needs no parsing.
    if plan.denies() {
        return Answer::refusal(&plan.reason);
    }
    claude_dialect::write(native, plan, None)
}
