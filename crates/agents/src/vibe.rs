//! Mistral Vibe: three events, and an entry that denies whenever its hook fails.

use serde::Serialize;

use super::answer::Answer;
use super::native::{NativeEvent, events};
use super::payload::value;
use super::plan::Plan;
use super::read::Wanted;
use super::settings::{EntryMember, HookSettings};
use super::{Adapter, Agent, Measured};
use hookexec::event::Event;
use hookexec::wire::{Input, JsonObject};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "vibe", version: "3.0.3" }),
    settings: Some(&SETTINGS),
    refine,
    ..Adapter::new(Agent::Vibe, "vibe", "Mistral Vibe", EVENTS, write)
};

static SETTINGS: HookSettings = HookSettings {
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
};

events! {
    "pre_tool" => PreToolUse: blocks, denies_asks, rewrites, says;
    // A denial takes the place of what the model reads.
    "post_tool" => PostToolUse: tells_as_context, response_as_reason, context, says;
    // Three times in a turn at most.
    "post_agent" => Stop: goes_on, says;
}

fn refine(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
    if native.event == Some(Event::PostToolUse) {
        // What the model reads. `tool_output` is null if a tool answers with text alone, and may lack parts
        // of the text.
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

#[derive(Serialize)]
struct Said<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'p>>,
}

#[derive(Serialize)]
struct Specific<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_input: Option<&'p JsonObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'p str>,
}

fn write(_: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    let (tool_input, context) = (plan.rewrite, plan.context.as_deref());
    let specific = (tool_input.is_some() || context.is_some())
        .then_some(Specific { tool_input, additional_context: context });
    if !plan.denies() && plan.system_message.is_none() && specific.is_none() {
        return Answer::silence();
    }
    Answer::json(&Said {
        decision: plan.denies().then_some("deny"),
        reason: plan.denies().then_some(&plan.reason),
        system_message: plan.system_message.as_deref(),
        hook_specific_output: specific,
    })
}
