//! Kiro, its command line and editor: exit code 2 refuses, plain text is context.

use super::{
    Adapter, Agent, Answer, EntryMember, EntryShape, HookSettings, NativeEvent, Plan, events,
};
use hookexec::wire::Input;

pub(super) static ADAPTER: Adapter = Adapter {
    settings: Some(&SETTINGS),
    denies_by_exit_code: true,
    ..Adapter::new(Agent::Kiro, "kiro", "Kiro", EVENTS, write)
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
events! {
    "SessionStart" => SessionStart: context;
    "agentSpawn" => SessionStart: context, on_demand;
    // The older kind cannot be blocked at the prompt; the refusal then only warns.
    "UserPromptSubmit" => UserPromptSubmit: blocks, context;
    "PreToolUse" => PreToolUse: blocks, denies_asks;
    "PostToolUse" => PostToolUse;
    "Stop" => Stop;
    unmapped:
        "PreTaskExec": "it is about Kiro's own list of tasks",
        "PostTaskExec": "it is about Kiro's own list of tasks",
        "PostFileSave": "it is about what the user does in the editor",
        "PostFileCreate": "it is about what the user does in the editor",
        "PostFileDelete": "it is about what the user does in the editor",
        "Manual": "the user starts it, not the agent";
}

fn write(_: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    match &plan.context {
        Some(context) => Answer::text(context),
        None => Answer::default(),
    }
}
