//! Windsurf's Cascade: exit code 2 is its only answer.

use serde_json::Value;

use super::payload::{PayloadError, text};
use super::{Adapter, Agent, Answer, EntryMember, HookSettings, NativeEvent, Wanted, native};
use hookexec::event::Event;
use hookexec::wire::{Input, JsonObject};

pub(super) static ADAPTER: Adapter = Adapter {
    settings: Some(&SETTINGS),
    refine,
    starts_in_project: true,
    denies_by_exit_code: true,
    ..Adapter::new(Agent::Windsurf, "windsurf", "Windsurf", native::WINDSURF, |_, _, _| {
        Answer::default()
    })
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".codeium/windsurf",
    project: Some((".windsurf", "hooks.json")),
    members: &[EntryMember::Command],
    next_step: "Restart Windsurf.",
    ..HookSettings::LISTS
};

fn refine(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
    let empty = JsonObject::new();
    let info = match payload.get("tool_info").and_then(Value::as_object) {
        Some(info) => info,
        None if native.is_deciding() => return Wanted::Unusable(PayloadError::ToolInfo),
        None => &empty,
    };
    match native.event {
        Some(Event::UserPromptSubmit) => input.prompt = text(info, &["user_prompt"]),
        Some(Event::Stop) => input.stop_response = text(info, &["response"]),
        Some(_) => match tool_call(native, info, input) {
            Ok(arguments) => input.tool_input = Some(arguments),
            Err(cause) => return Wanted::Unusable(cause),
        },
        None => {}
    }
    Wanted::Yes
}

/// Reads a tool call into the input, and returns its arguments.
fn tool_call(
    native: &NativeEvent,
    info: &JsonObject,
    input: &mut Input,
) -> Result<JsonObject, PayloadError> {
    let mut arguments = info.clone();
    let renamed = rename_command(&mut arguments);
    if native.is_deciding() {
        renamed?;
    }
    if native.event == Some(Event::PostToolUse) && input.tool_response.is_none() {
        let response = arguments.remove("response");
        input.tool_response = response.or_else(|| arguments.remove("mcp_result"));
    }
    if native.tool != Some("mcp_tool") {
        return Ok(arguments);
    }
    let server = text(info, &["mcp_server_name"]).unwrap_or_default();
    let tool = text(info, &["mcp_tool_name"]).unwrap_or_default();
    input.tool_name = if tool.is_empty() { None } else { Some(format!("mcp__{server}__{tool}")) };
    match info.get("mcp_tool_arguments") {
        Some(given) => native.arguments(given),
        None => Ok(JsonObject::new()),
    }
}

/// Gives the command line the word that every other agent has for it.
///
/// # Errors
/// When another command has that word, too: which one runs is not known.
fn rename_command(arguments: &mut JsonObject) -> Result<(), PayloadError> {
    if let (Some(command), Some(line)) = (arguments.get("command"), arguments.get("command_line"))
        && command != line
    {
        return Err(PayloadError::TwoCommands);
    }
    if let Some(command) = arguments.remove("command_line") {
        arguments.insert("command".to_owned(), command);
    }
    Ok(())
}
