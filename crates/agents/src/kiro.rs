//! Kiro, its command line and editor: exit code 2 refuses, plain text is context.

use super::answer::Answer;
use super::native::{Ask, Deny, NativeEvent};
use super::plan::Plan;
use super::settings::{EntryMember, EntryShape, HookSettings};
use super::{Adapter, Agent, read};
use hookexec::event::Event;
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::Kiro,
    name: "kiro",
    title: "Kiro",
    events: &EVENTS,
    project: None,
    settings: Some(&SETTINGS),
    plugin: None,
    refine: read::plain,
    write,
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".kiro",
    file: "hooks/hookexec.json",
    root: &[],
    shape: EntryShape::Triggers,
    members: &[EntryMember::Type, EntryMember::Command],
    version: Some("\"v1\""),
    next_step: "Kiro reads the change at once. Agents with a file of their own have hooks of their own: \
                add the same commands there.",
    ..HookSettings::GROUPS
};

// The names of hook files; agent files write them in camelCase, but for agentSpawn.
static EVENTS: [NativeEvent; 12] = [
    NativeEvent::new("SessionStart", Event::SessionStart).context(),
    NativeEvent::new("agentSpawn", Event::SessionStart).context().on_demand(),
    // The older kind cannot be blocked at the prompt; the refusal then only warns.
    NativeEvent::new("UserPromptSubmit", Event::UserPromptSubmit).deny(Deny::Blocks).context(),
    NativeEvent::new("PreToolUse", Event::PreToolUse).deny(Deny::Blocks).ask(Ask::Denies),
    NativeEvent::new("PostToolUse", Event::PostToolUse),
    NativeEvent::new("Stop", Event::Stop),
    NativeEvent::unmapped("PreTaskExec"),
    NativeEvent::unmapped("PostTaskExec"),
    NativeEvent::unmapped("PostFileSave"),
    NativeEvent::unmapped("PostFileCreate"),
    NativeEvent::unmapped("PostFileDelete"),
    NativeEvent::unmapped("Manual"),
];

fn write(_: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    match plan.context.as_deref() {
        _ if plan.denies() => Answer::refusal(&plan.reason),
        Some(context) => Answer::text(context),
        None => Answer::silence(),
    }
}
