//! GitHub Copilot CLI, with either spelling of its events: `preToolUse` or `PreToolUse`.

use serde::Serialize;
use serde_json::{Value, json};

use super::answer::Answer;
use super::native::NativeEvent;
use super::payload::spoken;
use super::plan::Plan;
use super::settings::{ClaudeCodeHooks, HookSettings, ImportFormat, Matching, ScriptWords};
use super::{Adapter, Agent, Measured};
use hookexec::event::Event;
use hookexec::wire::{Decision, Input, JsonObject};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "copilot", version: "1.0.102" }),
    project: Some("CLAUDE_PROJECT_DIR"),
    settings: Some(&SETTINGS),
    ..Adapter::new(Agent::Copilot, "copilot", "Copilot CLI", EVENTS, write)
};

static SETTINGS: HookSettings = HookSettings {
    directory: ".copilot",
    directory_variable: Some("COPILOT_HOME"),
    file: "hooks/hookexec.json",
    project: Some((".github/hooks", "hookexec.json")),
    lenient: false,
    version: Some("1"),
    claude_code_hooks: Some(ClaudeCodeHooks {
        of_user: false,
        remedy: "`hookexec uninstall claude-code --scope project` if all here use their own settings",
    }),
    next_step: "Restart Copilot CLI. The hooks of a project run only when its folder is trusted.",
    import: Some(ImportFormat {
        files: "a file in .github/hooks, also of VS Code",
        matching: Matching::Whole,
        timeout: "30s",
        shell: Some("bash"),
        command_keys: &["linux", "bash", "exec", "command"],
        any_failure_denies: true,
        // The spelling of VS Code comes with a payload like Claude Code's.
        words: |native| {
            let is_vs_code = native.name.starts_with(char::is_uppercase);
            if is_vs_code { ScriptWords::ClaudeCode } else { ScriptWords::Foreign }
        },
        ..ImportFormat::BASE
    }),
    ..HookSettings::LISTS
};

const SESSION_START: NativeEvent = NativeEvent::new("SessionStart", Event::SessionStart).context();
const PROMPT: NativeEvent =
    NativeEvent::new("UserPromptSubmit", Event::UserPromptSubmit).blocks().context();
const PRE_TOOL_USE: NativeEvent =
    NativeEvent::new("PreToolUse", Event::PreToolUse).blocks().asks().allows().rewrites().context();
// With --allow-all-tools silence lets it through. The last hook wins: an allow said here could undo
// another's denial.
const PERMISSION_REQUEST: NativeEvent =
    NativeEvent::new("PermissionRequest", Event::PermissionRequest).blocks().denies_asks();
const POST_TOOL_USE: NativeEvent = NativeEvent::new("PostToolUse", Event::PostToolUse)
    .tells_as_context()
    .replaces_response()
    .context();
const FAILURE: NativeEvent = NativeEvent::new("PostToolUseFailure", Event::PostToolUse)
    .failed_tool()
    .tells_as_context()
    .context();

const EVENTS: &[NativeEvent] = &[
    SESSION_START,
    PROMPT,
    PRE_TOOL_USE,
    PERMISSION_REQUEST,
    POST_TOOL_USE,
    FAILURE,
    NativeEvent::new("Stop", Event::Stop).goes_on(),
    NativeEvent::new("SubagentStart", Event::SubagentStart).context(),
    NativeEvent::new("SubagentStop", Event::SubagentStop).goes_on(),
    NativeEvent::new("PreCompact", Event::PreCompact),
    NativeEvent::new("Notification", Event::Notification),
    NativeEvent::new("ErrorOccurred", Event::OnError),
    NativeEvent::new("SessionEnd", Event::SessionEnd),
    NativeEvent { name: "sessionStart", ..SESSION_START }.on_demand(),
    NativeEvent { name: "userPromptSubmitted", ..PROMPT }.on_demand(),
    NativeEvent { name: "preToolUse", ..PRE_TOOL_USE }.on_demand(),
    NativeEvent { name: "permissionRequest", ..PERMISSION_REQUEST }.on_demand(),
    NativeEvent { name: "postToolUse", ..POST_TOOL_USE }.on_demand(),
    NativeEvent { name: "postToolUseFailure", ..FAILURE }.on_demand(),
    NativeEvent::new("agentStop", Event::Stop).goes_on().on_demand(),
    NativeEvent::new("subagentStart", Event::SubagentStart).context().on_demand(),
    NativeEvent::new("subagentStop", Event::SubagentStop).goes_on().on_demand(),
    NativeEvent::new("preCompact", Event::PreCompact).on_demand(),
    NativeEvent::new("notification", Event::Notification).on_demand(),
    NativeEvent::new("errorOccurred", Event::OnError).on_demand(),
    NativeEvent::new("sessionEnd", Event::SessionEnd).on_demand(),
    NativeEvent::unmapped("userPromptTransformed", "`user_prompt_submit` has the prompt"),
    NativeEvent::unmapped("preMcpToolCall", "`preToolUse` fires for the same call"),
];

/// The answer before a tool call; it is read at the top level in both spellings.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_args: Option<&'p JsonObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'p str>,
}

/// The answer to every other event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Said<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'p str>,
}

fn write(native: &NativeEvent, input: Option<&Input>, plan: &Plan<'_>) -> Answer {
    let reason = (!plan.reason.is_empty()).then_some(plan.reason.as_str());
    match native.event {
        Some(Event::PreToolUse) => {
            if plan.decision.is_none() && plan.rewrite.is_none() && plan.context.is_none() {
                return Answer::silence();
            }
            Answer::json(&ToolCall {
                permission_decision: plan.decision,
                permission_decision_reason: plan.decision.and(reason),
                modified_args: plan.rewrite,
                additional_context: plan.context.as_deref(),
            })
        }
        Some(Event::PermissionRequest) if plan.denies() => {
            Answer::json(&json!({ "behavior": "deny", "message": plan.reason }))
        }
        Some(Event::PermissionRequest) => Answer::silence(),
        _ => {
            // Ignored in any other spelling, also where results come in that other one.
            let result = plan.response.map(|response| {
                json!({
                    "resultType": result_type(input),
                    "textResultForLlm": result_text(response),
                })
            });
            if !plan.denies() && result.is_none() && plan.context.is_none() {
                return Answer::silence();
            }
            Answer::json(&Said {
                decision: plan.denies().then_some("block"),
                reason: plan.denies().then_some(&plan.reason),
                modified_result: result,
                additional_context: plan.context.as_deref(),
            })
        }
    }
}

fn result_type(input: Option<&Input>) -> &'static str {
    match input.and_then(|input| input.tool_error) {
        Some(true) => "failure",
        _ => "success",
    }
}

/// Returns the text of a result, whether a hook wrote a text or changed the object it was given.
fn result_text(response: &Value) -> std::borrow::Cow<'_, str> {
    let inner =
        ["textResultForLlm", "text_result_for_llm"].iter().find_map(|key| response.get(key));
    spoken(inner.unwrap_or(response))
}
