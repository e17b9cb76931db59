//! Mistral Vibe: three native, and an entry that denies whenever its hook fails.

use super::payload::value;
use super::{
    Adapter, Agent, Answer, EntryMember, HookSettings, Measured, NativeEvent, Plan, Wanted,
    members, native,
};
use hookexec::wire::JsonObject;
use hookexec::{Event, Input};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "vibe", version: "3.0.3" }),
    settings: Some(&HookSettings {
        directory: ".vibe",
        directory_variable: Some("VIBE_HOME"),
        file: "hooks.toml",
        members: &[
            EntryMember::NameOfEvent,
            EntryMember::Event("type"),
            EntryMember::Command,
            EntryMember::Seconds,
            EntryMember::Strict,
        ],
        next_step: "Restart Mistral Vibe. The hooks of a project run only when its folder is trusted.",
        ..HookSettings::TABLES
    }),
    refine,
    ..Adapter::new(Agent::Vibe, "vibe", "Mistral Vibe", native::VIBE, write)
};

fn refine(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
    if native.event == Some(Event::PostToolUse) {
        // What the model reads. `tool_output` is null if a tool answers with text alone, and may lack
        // parts of the text.
        if let Some(text) = value(payload, &["tool_output_text"]) {
            input.tool_response = Some(text.clone());
        }
        if let Some(error) = value(payload, &["tool_error"]) {
            input.tool_error = Some(true);
            input.tool_response.get_or_insert_with(|| error.clone());
        }
    }
    // It also fires for every subagent that is done, as if that were the session.
    let of_subagent =
        native.event == Some(Event::Stop) && value(payload, &["parent_session_id"]).is_some();
    if of_subagent { Wanted::No } else { Wanted::Yes }
}

fn write(_: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    let specific = members! {
        "tool_input": plan.rewrite,
        "additional_context": plan.context,
    };
    Answer::json(members! {
        "decision": plan.denial().map(|_| "deny"),
        "reason": plan.denial(),
        "system_message": plan.system_message,
        "hook_specific_output": if specific.is_empty() { None } else { Some(specific) },
    })
}
