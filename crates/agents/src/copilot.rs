//! GitHub Copilot CLI. Its events have two spellings, such as `preToolUse` and `PreToolUse`; two of them also
//! have another name.

use serde_json::{Value, json};

use super::payload::spoken;
use super::{
    Adapter, Agent, Answer, HookSettings, Measured, NativeEvent, Plan, ProjectPlace,
    TrustedFolders, members, native,
};
use hookexec::{Event, Input};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "copilot", version: "1.0.102" }),
    project: Some("CLAUDE_PROJECT_DIR"),
    settings: Some(&HookSettings {
        directory: ".copilot",
        directory_variable: Some("COPILOT_HOME"),
        file: "hooks/hookexec.json",
        project: Some((".github/hooks", "hookexec.json")),
        project_place: ProjectPlace::Root,
        switch_files: &[
            "../copilot/settings.json",
            "../copilot/settings.local.json",
            "../../.claude/settings.json",
            "../../.claude/settings.local.json",
        ],
        lenient: false,
        version: Some("1"),
        trusted_folders: Some(TrustedFolders {
            // Version 1.0.102 writes the second key.
            list: ("config.json", &["trusted_folders", "trustedFolders"]),
            variable: "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS",
            program: "copilot -p",
        }),
        next_step: "Restart Copilot CLI. The hooks of a project run only when its folder is trusted. It also \
                    loads a project's settings of Claude Code: with hookexec in both, every hook runs twice.",
        ..HookSettings::LISTS
    }),
    ..Adapter::new(Agent::Copilot, "copilot", "Copilot CLI", native::COPILOT, write)
};

fn write(native: &NativeEvent, input: Option<&Input>, plan: &Plan<'_>) -> Answer {
    let failed = matches!(input, Some(input) if input.tool_error == Some(true));
    Answer::json(match native.event {
        // Read at the top level in both spellings.
        Some(Event::PreToolUse) => members! {
            "permissionDecision": plan.decision,
            "permissionDecisionReason": plan.decision.and(plan.reason()),
            "modifiedArgs": plan.rewrite,
            "additionalContext": plan.context,
        },
        Some(Event::PermissionRequest) => members! {
            "behavior": plan.denial().map(|_| "deny"),
            "message": plan.denial(),
        },
        _ => members! {
            "decision": plan.denial().map(|_| "block"),
            "reason": plan.denial(),
            // Ignored in any other spelling, also where results come in that other one.
            "modifiedResult": plan.response.map(|response| json!({
                "resultType": if failed { "failure" } else { "success" },
                "textResultForLlm": result_text(response),
            })),
            "additionalContext": plan.context,
        },
    })
}

/// Returns the text of a result, whether a hook wrote a text or changed the object it was given.
fn result_text(response: &Value) -> std::borrow::Cow<'_, str> {
    let inner = response.get("textResultForLlm").or(response.get("text_result_for_llm"));
    spoken(inner.unwrap_or(response))
}
