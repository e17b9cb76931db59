//! The answers of Claude Code, which Codex, Qwen Code, Droid and Gemini CLI took over in part; and the
//! agents that have no others.
//!
//! No key leaves here that an agent might not know, for one unknown key makes Codex throw away a
//! denial. Which keys are filled is decided by the row of the event.

use serde_json::{Value, json};

use super::{
    Adapter, Agent, Answer, EntryMember, HookSettings, ImportFormat, Intolerance, Measured,
    NativeEvent, OffSwitch, PackageMark, Plan, ProjectPlace, Rewrite, Wanted, members, native,
    transcript,
};
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Input};

pub(super) static CODEX: Adapter = Adapter {
    measured: Some(Measured { program: "codex", version: "0.171.0" }),
    settings: Some(&HookSettings {
        directory: ".codex",
        directory_variable: Some("CODEX_HOME"),
        file: "hooks.json",
        project_place: ProjectPlace::EveryDirectory,
        lenient: false,
        intolerance: Intolerance::Members,
        switch_files: &["config.toml"],
        off_switches: &[
            OffSwitch::is(&["features", "hooks"], false),
            OffSwitch::is(&["features", "codex_hooks"], false),
            OffSwitch::managed_only(&["allow_managed_hooks_only"]),
        ],
        managed_files: &["/etc/codex/requirements.toml"],
        package: Some(PackageMark { file: "config.toml", keys: &["plugins"] }),
        // Codex waits no longer there, and warns at every start of a longer timeout.
        short_waits: &[("SessionEnd", 3), ("Interrupt", 3)],
        next_step: "NOT ACTIVE YET: run `hookexec install codex --approve`, or start `codex` and approve the \
                    hooks in `/hooks`. Until then Codex skips them silently, also in `codex exec`.",
        import: Some(ImportFormat {
            timeout: "10m",
            // Patches stand in hookexec's own input as they are.
            speaks_claude: |native, matcher| {
                native.event != Some(Event::TurnEnd) && !matcher.contains("apply_patch")
            },
            ..ImportFormat::BASE
        }),
        ..HookSettings::GROUPS
    }),
    transcripts: Some(&transcript::codex::TRANSCRIPTS),
    starts_in_project: true,
    ..Adapter::new(Agent::Codex, "codex", "Codex", native::CODEX, write_codex)
};

fn write_codex(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    if native.event == Some(Event::PreCompact) && plan.denies() {
        // A compaction is refused by ending the turn; this event has no key `decision`.
        let stopped = Plan { stop: Some(&plan.reason), ..Plan::default() };
        return write(native, None, &stopped);
    }
    write(native, None, plan)
}

pub(super) static DROID: Adapter = Adapter {
    measured: Some(Measured { program: "droid", version: "0.225.2" }),
    project: Some("FACTORY_PROJECT_DIR"),
    settings: Some(&HookSettings {
        directory: ".factory",
        home_variable: Some("FACTORY_HOME_OVERRIDE"),
        file: "hooks.json",
        older_file: Some("settings.json"),
        project_place: ProjectPlace::EveryDirectory,
        switch_files: &["settings.json"],
        root: &[],
        intolerance: Intolerance::Entries,
        off_switches: &[
            OffSwitch::is(&["hooksDisabled"], true).only_in("hooks.json"),
            OffSwitch::is(&["hooks", "hooksDisabled"], true).only_in("settings.json"),
        ],
        next_step: "Restart Droid and review the hooks in `/hooks`.",
        ..HookSettings::GROUPS
    }),
    // It has two forms of a denial; this one needs no parsing.
    denies_by_exit_code: true,
    ..Adapter::new(Agent::Droid, "droid", "Droid", native::DROID, write)
};

// Qwen Code has Gemini's tools.
pub(super) static QWEN: Adapter = Adapter {
    measured: Some(Measured { program: "qwen", version: "0.24.4" }),
    project: Some("QWEN_PROJECT_DIR"),
    // Qwen Code has `hooksConfig.enabled` from Gemini CLI, and ignores it.
    settings: Some(&HookSettings {
        directory: ".qwen",
        directory_variable: Some("QWEN_HOME"),
        members: &[
            EntryMember::Type,
            EntryMember::Name,
            EntryMember::Command,
            EntryMember::Seconds,
        ],
        intolerance: Intolerance::Matchers,
        last_hook_wins: true,
        managed_files: &[
            "/etc/qwen-code/settings.json",
            "/etc/qwen-code/system-defaults.json",
            "/Library/Application Support/QwenCode/settings.json",
            "/Library/Application Support/QwenCode/system-defaults.json",
            "$QWEN_CODE_SYSTEM_SETTINGS_PATH",
            "$QWEN_CODE_SYSTEM_DEFAULTS_PATH",
        ],
        next_step: "Restart Qwen Code. The last hook of the settings wins there: keep hookexec last.",
        ..HookSettings::GROUPS
    }),
    refine: refine_qwen,
    ..Adapter::new(Agent::Qwen, "qwen", "Qwen Code", native::QWEN, write)
};

fn refine_qwen(native: &NativeEvent, payload: &JsonObject, _: &mut Input) -> Wanted {
    // Fires with an empty prompt too, whenever results of tools go back to the model.
    let is_prompt = native.event == Some(Event::UserPromptSubmit) && payload.contains_key("prompt");
    for key in ["submitted_prompt", "prompt"] {
        if !is_prompt || payload.get(key).is_some_and(|prompt| prompt != "") {
            return Wanted::Yes;
        }
    }
    Wanted::No
}

/// Writes a plan for an agent that takes no new response of a tool.
pub(super) fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    Answer::json(said(native, plan, None))
}

/// Returns the members of an answer; `response` is the tool's new response, in the shape the agent
/// wants.
///
/// A denial of a tool call is said twice, `decision: block` and `permissionDecision: deny`: of all
/// forms in JSON only this one was seen to stop the tool in every agent of the family.
pub(super) fn said(native: &NativeEvent, plan: &Plan<'_>, response: Option<&Value>) -> JsonObject {
    let permission = native.event == Some(Event::PermissionRequest);
    let denial = if plan.denies() && !permission { Some("block") } else { None };
    answer(native, plan, denial, specific(native, plan, response))
}

/// Returns what every event may answer: the word of a `denial` if it is one, and what is `specific`
/// to the event, with the event's name.
pub(super) fn answer(
    native: &NativeEvent,
    plan: &Plan<'_>,
    denial: Option<&str>,
    mut specific: JsonObject,
) -> JsonObject {
    if !specific.is_empty() {
        specific.insert("hookEventName".to_owned(), native.name.into());
    }
    members! {
        // `false` ends the turn.
        "continue": plan.stop.map(|_| false),
        "stopReason": plan.stop,
        "systemMessage": plan.system_message,
        "decision": denial,
        "reason": denial.and(plan.denial()),
        "hookSpecificOutput": if specific.is_empty() { None } else { Some(specific) },
    }
}

fn specific(native: &NativeEvent, plan: &Plan<'_>, response: Option<&Value>) -> JsonObject {
    match native.event {
        Some(Event::PreToolUse) => {
            let is_forced = plan.rewrite.is_some() && native.rewrite == Rewrite::TakesWithAllow;
            let decision = plan.decision.or(if is_forced { Some(Decision::Allow) } else { None });
            members! {
                "permissionDecision": decision,
                "permissionDecisionReason": decision.and(plan.reason()),
                "updatedInput": plan.rewrite,
                "additionalContext": plan.context,
            }
        }
        Some(Event::PermissionRequest) => {
            let decision = match plan.denial() {
                Some(why) => Some(json!({ "behavior": "deny", "message": why })),
                None if plan.allows() => Some(json!({ "behavior": "allow" })),
                None => None,
            };
            members! { "decision": decision }
        }
        Some(Event::PostToolUse) => members! {
            "additionalContext": plan.context,
            "updatedToolOutput": response,
        },
        _ => members! { "additionalContext": plan.context },
    }
}
