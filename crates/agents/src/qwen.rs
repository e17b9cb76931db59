//! Qwen Code: Claude Code's events and answers, Gemini's tools.

use super::{
    Adapter, Agent, EntryMember, HookSettings, Intolerance, Measured, NativeEvent, Wanted,
    claude_dialect, native,
};
use hookexec::event::Event;
use hookexec::wire::{Input, JsonObject};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "qwen", version: "0.24.4" }),
    project: Some("QWEN_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    refine,
    ..Adapter::new(Agent::Qwen, "qwen", "Qwen Code", native::QWEN, claude_dialect::write)
};

// Qwen Code has `hooksConfig.enabled` from Gemini CLI, and ignores it.
static SETTINGS: HookSettings = HookSettings {
    directory: ".qwen",
    members: &[EntryMember::Type, EntryMember::Name, EntryMember::Command, EntryMember::Seconds],
    intolerance: Intolerance::Matchers,
    managed_files: &[
        "/etc/qwen-code/settings.json",
        "/Library/Application Support/QwenCode/settings.json",
    ],
    next_step: "Restart Qwen Code. The last hook of the settings wins there: keep hookexec last.",
    ..HookSettings::GROUPS
};

fn refine(native: &NativeEvent, payload: &JsonObject, _: &mut Input) -> Wanted {
    // Fires with an empty prompt too, whenever results of tools go back to the model.
    let is_prompt = native.event == Some(Event::UserPromptSubmit) && payload.contains_key("prompt");
    for key in ["submitted_prompt", "prompt"] {
        if !is_prompt || payload.get(key).is_some_and(|prompt| prompt != "") {
            return Wanted::Yes;
        }
    }
    Wanted::No
}
