//! Gemini CLI.

use serde_json::Value;

use super::payload::text;
use super::{
    Adapter, Agent, Answer, EntryMember, HookSettings, ImportFormat, Intolerance, Measured,
    NativeEvent, OffSwitch, OffValue, PackageMark, Plan, Wanted, claude_dialect, members, native,
    transcript,
};
use hookexec::wire::JsonObject;
use hookexec::{Event, Input};

pub(super) static ADAPTER: Adapter = Adapter {
    measured: Some(Measured { program: "gemini", version: "0.61.0" }),
    project: Some("GEMINI_PROJECT_DIR"),
    settings: Some(&HookSettings {
        directory: ".gemini",
        home_variable: Some("GEMINI_CLI_HOME"),
        members: &[
            EntryMember::Type,
            EntryMember::Name,
            EntryMember::Command,
            EntryMember::Milliseconds,
        ],
        off_switches: &[
            OffSwitch::is(&["hooksConfig", "enabled"], false),
            // `/hooks disable hookexec` writes the name there.
            OffSwitch::new(&["hooksConfig", "disabled"], OffValue::NamesUs),
            OffSwitch::new(&["hooks"], OffValue::NoObject),
        ],
        intolerance: Intolerance::Matchers,
        managed_files: &[
            "/etc/gemini-cli/settings.json",
            "/Library/Application Support/GeminiCli/settings.json",
        ],
        package: Some(PackageMark { file: "extensions/hookexec/gemini-extension.json", keys: &[] }),
        next_step: "Restart Gemini CLI. The hooks of a project run only when its folder is trusted.",
        import: Some(ImportFormat {
            searches: true,
            shell: Some("bash"),
            // What Gemini CLI says of a tool is what hookexec says of it, under the same names.
            speaks_claude: |_, _| false,
            not_importable: &[("BeforeModel", LLM_REQUEST), ("AfterModel", LLM_REQUEST)],
            ..ImportFormat::BASE
        }),
        ..HookSettings::GROUPS
    }),
    transcripts: Some(&transcript::gemini::TRANSCRIPTS),
    refine,
    ..Adapter::new(Agent::Gemini, "gemini", "Gemini CLI", native::GEMINI, write)
};

const LLM_REQUEST: &str = "they are given `llm_request`, which only Gemini CLI has";

fn refine(native: &NativeEvent, payload: &JsonObject, input: &mut Input) -> Wanted {
    if let Some(Value::Object(request)) = payload.get("llm_request") {
        input.model_id = text(request, &["model"]);
        if native.event == Some(Event::BeforeLlmCall) {
            input.messages = request.get("messages").and_then(Value::as_array).cloned();
            input.options = request.get("config").and_then(Value::as_object).cloned();
        }
    }
    if native.event == Some(Event::AfterLlmCall) {
        input.response = payload.get("llm_response").cloned();
    }
    Wanted::Yes
}

fn write(native: &NativeEvent, _: Option<&Input>, plan: &Plan<'_>) -> Answer {
    let specific = members! {
        // The only key of the dialect in this spelling.
        "tool_input": plan.rewrite,
        "additionalContext": plan.context,
    };
    let denial = plan.denial().map(|_| "deny");
    Answer::json(claude_dialect::answer(native, plan, denial, specific))
}
