//! Qwen Code: Claude Code's events and answers, Gemini's tools.

use super::answer::Answer;
use super::native::{Ask, Deny, NativeEvent};
use super::plan::Plan;
use super::read::Wanted;
use super::settings::{EntryMember, HookSettings};
use super::{Adapter, Agent, claude_dialect};
use hookexec::event::Event;
use hookexec::wire::{Input, JsonObject};

pub(super) static ADAPTER: Adapter = Adapter {
    agent: Agent::Qwen,
    name: "qwen",
    title: "Qwen Code",
    events: &EVENTS,
    project: Some("QWEN_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    plugin: None,
    refine,
    write,
};

// Qwen Code has `hooksConfig.enabled` from Gemini CLI, and ignores it.
static SETTINGS: HookSettings = HookSettings {
    directory: ".qwen",
    members: &[EntryMember::Type, EntryMember::Name, EntryMember::Command, EntryMember::Seconds],
    byte_order_mark: true,
    managed_files: &[
        "/etc/qwen-code/settings.json",
        "/Library/Application Support/QwenCode/settings.json",
    ],
    next_step: "Restart Qwen Code. The last hook of the settings wins there: keep hookexec last.",
    ..HookSettings::GROUPS
};

static EVENTS: [NativeEvent; 18] = [
    NativeEvent::new("SessionStart", Event::SessionStart).context().says(),
    NativeEvent::new("UserPromptSubmit", Event::UserPromptSubmit)
        .deny(Deny::Blocks)
        .context()
        .says(),
    // The last hook of the configuration wins: an allow said here could undo another's denial.
    NativeEvent::new("PreToolUse", Event::PreToolUse).deny(Deny::Blocks).ask(Ask::Asks).says(),
    NativeEvent::new("PermissionRequest", Event::PermissionRequest)
        .deny(Deny::Blocks)
        .ask(Ask::Silence),
    // Qwen Code drops the reason of a block after the tool, and passes context on.
    NativeEvent::new("PostToolUse", Event::PostToolUse).deny(Deny::TellsAsContext).context().says(),
    NativeEvent::new("PostToolUseFailure", Event::PostToolUse)
        .failed_tool()
        .deny(Deny::TellsAsContext)
        .context()
        .says(),
    NativeEvent::new("Stop", Event::Stop).deny(Deny::GoesOn).says(),
    NativeEvent::new("SubagentStop", Event::SubagentStop),
    NativeEvent::new("PreCompact", Event::PreCompact),
    NativeEvent::new("PostCompact", Event::AfterCompaction),
    NativeEvent::new("Notification", Event::Notification),
    NativeEvent::new("StopFailure", Event::OnError),
    NativeEvent::new("PermissionDenied", Event::OnToolApprovalDecision),
    NativeEvent::new("SessionEnd", Event::SessionEnd),
    NativeEvent::unmapped("PostToolBatch"),
    NativeEvent::unmapped("SubagentStart"),
    NativeEvent::unmapped("TodoCreated"),
    NativeEvent::unmapped("TodoCompleted"),
];

fn refine(native: &NativeEvent, payload: &JsonObject, _: &mut Input) -> Wanted {
    // Fires with an empty prompt too, whenever results of tools go back to the model.
    let mut prompts = ["submitted_prompt", "prompt"].iter().filter_map(|key| payload.get(*key));
    let empty = payload.get("prompt").is_some() && prompts.all(|prompt| prompt == "");
    let results = native.event == Some(Event::UserPromptSubmit) && empty;
    if results { Wanted::No } else { Wanted::Yes }
}

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    claude_dialect::write(native, plan, None)
}
