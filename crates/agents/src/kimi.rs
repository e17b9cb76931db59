//! Kimi Code: Claude Code's events; exit code 2 refuses, and one text is context.

use serde_json::Value;

use super::payload::text;
use super::{
    Adapter, Agent, Answer, EntryMember, HookSettings, Intolerance, Measured, NativeEvent, Plan,
    Wanted, members, native,
};
use hookexec::event::Event;
use hookexec::wire::{Input, JsonObject};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "kimi", version: "2.1.0" }),
    settings: Some(&SETTINGS),
    denies_by_exit_code: true,
    refine,
    ..Adapter::new(Agent::Kimi, "kimi", "Kimi Code", native::KIMI, write)
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".kimi-code",
    directory_variable: Some("KIMI_CODE_HOME"),
    file: "config.toml",
    only_of_user: true,
    intolerance: Intolerance::Entries,
    members: &[EntryMember::Event("event"), EntryMember::Command, EntryMember::Seconds],
    // With one longer timeout it reads no hook at all.
    longest_wait: 600,
    next_step: "Restart Kimi Code.",
    ..HookSettings::TABLES
};

fn refine(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
    match native.event {
        // A list of parts. One that has more than texts stays as it is, in JSON.
        Some(Event::UserPromptSubmit) => {
            if let Some(Value::Array(parts)) = payload.get("prompt") {
                let texts: Option<Vec<&str>> =
                    parts.iter().map(|part| part["text"].as_str()).collect();
                input.prompt = texts.map(|texts| texts.join("\n")).or(input.prompt.take());
            }
        }
        Some(Event::SubagentStop) => input.stop_response = text(payload, &["response"]),
        _ => {}
    }
    Wanted::Yes
}

fn write(_: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    Answer::json(members! { "message": plan.context })
}
