//! An agent's payload, read into the input of an event of ours.

use std::iter;

use serde_json::Value;

use super::native::NativeEvent;
use super::payload::{self, PayloadError, arguments, one_argument, spoken, text, value};
use super::{ADAPTERS, Agent, adapter, tool_kinds};
use hookexec::wire::JsonObject;
use hookexec::{Event, FailureMode, Input};

/// One call of an agent: what happened, in our words, and where the answer goes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NativeCall {
    /// The agent.
    pub agent: Agent,
    /// Its event.
    pub native: &'static NativeEvent,
    /// The event it stands for, or `None` when there is nothing to do and nothing to say.
    pub event: Option<Event>,
    /// The input of that event.
    pub input: Input,
    /// The project: what the agent says it is, else its working directory.
    pub project: String,
}

impl NativeCall {
    /// Returns a call that another process has read with [`read`].
    pub fn new(
        agent: Agent,
        native: &'static NativeEvent,
        input: Input,
        project: impl Into<String>,
    ) -> Self {
        Self { agent, native, event: native.event, input, project: project.into() }
    }
}

/// Why an agent's payload cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unusable payload from {}: {cause}", agent.title())]
#[non_exhaustive]
pub struct AgentInputError {
    /// The agent.
    pub agent: Agent,
    /// Its event, as far as it is known.
    pub native: Option<&'static str>,
    /// The problem.
    pub cause: String,
}

impl AgentInputError {
    pub(super) fn new(agent: Agent, native: Option<&NativeEvent>, cause: &PayloadError) -> Self {
        Self { agent, native: native.map(|native| native.name), cause: cause.to_string() }
    }
}

/// The keys under which agents name the tool.
const TOOL_NAMES: [&str; 2] = ["tool_name", "toolName"];
/// The keys under which agents give its arguments.
const TOOL_ARGUMENTS: [&str; 3] = ["tool_input", "toolInput", "toolArgs"];

/// Reads what an agent wrote to standard input.
///
/// `hint` is the event that the agent's configuration stands under; it is needed where the payload
/// names none, and keeps a broken payload on a guarded event a denial. `env` looks up variables.
///
/// # Errors
/// When the payload is not a JSON object, its event is unknown or another than `hint`, or it is about
/// a tool without naming one.
pub fn read(
    agent: Agent,
    hint: Option<&str>,
    stdin: &[u8],
    env: impl Fn(&str) -> Option<String>,
) -> Result<NativeCall, AgentInputError> {
    let hinted = hint.and_then(|name| agent.native_event(name));
    let payload =
        payload::parse(stdin).map_err(|cause| AgentInputError::new(agent, hinted, &cause))?;
    let native = event_of(agent, hint, hinted, &payload)?;
    read_call(agent, native, payload, env)
        .map_err(|cause| AgentInputError::new(agent, Some(native), &cause))
}

/// Returns the event of a payload. `hinted` is the event that `hint` names.
fn event_of(
    agent: Agent,
    hint: Option<&str>,
    hinted: Option<&'static NativeEvent>,
    payload: &JsonObject,
) -> Result<&'static NativeEvent, AgentInputError> {
    const KEYS: [&str; 4] = ["hook_event_name", "hookEventName", "agent_action_name", "hookName"];
    let cause = match (text(payload, &KEYS), hinted, hint) {
        (None, Some(hinted), _) => return Ok(hinted),
        (None, None, Some(hint)) => PayloadError::EventOfAnotherAgent(hint.to_owned()),
        (None, None, None) => PayloadError::NoEvent,
        // Copilot's PermissionRequest comes with the payload of permissionRequest.
        (Some(name), Some(hinted), _) if hinted.name.eq_ignore_ascii_case(&name) => {
            return Ok(hinted);
        }
        (Some(name), ..) => match (agent.native_event(&name), hinted) {
            (None, _) => PayloadError::UnknownEvent(name),
            // An event given in our own words names several of some agents'.
            (Some(found), Some(hinted)) if found.event != hinted.event => {
                let cause = PayloadError::OtherEvent(name, hinted.name);
                // A mistake must not let a tool through.
                let is_stricter = strictness(found) > strictness(hinted);
                let failing = if is_stricter { found } else { hinted };
                return Err(AgentInputError::new(agent, Some(failing), &cause));
            }
            (Some(found), _) => return Ok(found),
        },
    };
    Err(AgentInputError::new(agent, hinted, &cause))
}

/// Reads the call that a payload of the event `native` is about.
pub(super) fn read_call(
    agent: Agent,
    native: &'static NativeEvent,
    payload: JsonObject,
    env: impl Fn(&str) -> Option<String>,
) -> Result<NativeCall, PayloadError> {
    let Some(event) = native.event else {
        return Ok(NativeCall::new(agent, native, Input::default(), ""));
    };
    check_one_call(&payload)?;
    let tool_matched = event.contract().tool_matched;
    let mut input = common(agent, event, native, &payload);
    input.cwd = working_directory(agent, &payload, &env);
    let row = adapter(agent);
    // An agent that starts hooks in the project has no variable of its own for it.
    let variable = if row.starts_in_project { Some("PWD") } else { row.project };
    let project = variable.and_then(env).filter(|path| !path.is_empty());
    if let Some(given) = value(&payload, &TOOL_ARGUMENTS)
        && tool_matched
    {
        input.tool_input = Some(native.arguments(given)?);
    }
    let is_wanted = (row.refine)(native, &payload, &mut input)?;
    let event = if is_wanted { Some(event) } else { None };
    if tool_matched {
        let tool = input.tool_name.as_deref().unwrap_or_default();
        if tool.is_empty() {
            return Err(PayloadError::NoTool);
        }
        // The names of all servers and agents are far shorter.
        if tool.len() > 512 {
            return Err(PayloadError::LongTool);
        }
        let arguments = &*input.tool_input.get_or_insert_default();
        input.tool_kinds = tool_kinds::kinds(agent.toolset(), tool, arguments, &payload);
    }
    input.native = Some(Value::Object(payload));
    let project = project.unwrap_or_else(|| input.cwd.clone());
    Ok(NativeCall { agent, native, event, input, project })
}

/// Returns how strict the failure of an event is.
fn strictness(native: &NativeEvent) -> u8 {
    let Some(event) = native.event else { return 0 };
    match event.contract().failure {
        FailureMode::Open => 0,
        FailureMode::Ask => 1,
        _ => 2,
    }
}

/// Checks that a payload does not give the tool two names, or two sets of arguments. Guards would judge
/// one of them, and the agent may run the other.
fn check_one_call(payload: &JsonObject) -> Result<(), PayloadError> {
    let names = TOOL_NAMES.map(|key| text(payload, &[key]));
    if let [Some(first), Some(second)] = names
        && first != second
    {
        return Err(PayloadError::TwoNames(first, second));
    }
    let mut first: Option<(&'static str, &Value)> = None;
    for key in TOOL_ARGUMENTS {
        let Some(given) = value(payload, &[key]) else { continue };
        match first {
            None => first = Some((key, given)),
            Some((_, known)) if is_same(known, given) => {}
            Some((known, _)) => return Err(PayloadError::TwoArguments(known, key)),
        }
    }
    Ok(())
}

/// Returns whether two sets of arguments are the same. One may be an object and the other its text.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other
        || matches!((arguments(one), arguments(other)), (Ok(one), Ok(other)) if one == other)
}

impl NativeEvent {
    /// Reads the arguments of a tool call. Arguments that can't be read are an error at an event that
    /// decides. A hook that only observes gets them as one argument.
    pub(super) fn arguments(&self, value: &Value) -> Result<JsonObject, PayloadError> {
        match arguments(value) {
            Err(_) if !self.is_deciding() => Ok(one_argument(value)),
            read => read,
        }
    }
}

/// Reads what agents say alike, whichever spelling they chose.
fn common(agent: Agent, event: Event, native: &NativeEvent, payload: &JsonObject) -> Input {
    let mut input = Input::default();
    let session = ["session_id", "sessionId", "conversation_id", "trajectory_id"];
    input.session_id = text(payload, &session).unwrap_or_default();
    input.hook_event_name = Some(event);
    input.agent_name = Some(agent.name().to_owned());
    input.model_id = text(payload, &["model", "model_name"]);
    input.turn_id = text(payload, &["turn_id", "prompt_id", "generation_id", "execution_id"]);
    input.source = text(payload, &["source", "trigger"]);
    if input.source.as_deref() == Some("new") {
        // Copilot's word for a session that is not resumed.
        input.source = Some("startup".to_owned());
    }
    let reason = text(payload, &["reason", "stop_reason", "stopReason", "status"]);
    input.reason = reason.or(error_of(payload));
    if event.contract().tool_matched {
        // An event that is about one tool knows it best.
        input.tool_name = native.tool.map(str::to_owned).or_else(|| text(payload, &TOOL_NAMES));
        input.tool_use_id =
            text(payload, &["tool_call_id", "tool_use_id", "toolCallId", "toolUseId"]);
    }
    for key in Input::CARRIED {
        if let Some(carried) = value(payload, &[key]) {
            input.extra.insert(key.to_owned(), carried.clone());
        }
    }
    add_event_fields(event, native, payload, &mut input);
    input
}

/// Reads what agents say alike, and only at some events.
fn add_event_fields(event: Event, native: &NativeEvent, payload: &JsonObject, input: &mut Input) {
    match event {
        // An agent that does not say how a session began has no other way to begin one.
        Event::SessionStart if input.source.is_none() => input.source = Some("startup".to_owned()),
        Event::PostToolUse => {
            let keys = ["tool_response", "tool_result", "toolResult", "tool_output"];
            let error = error_of(payload);
            let has_error = error.is_some();
            input.tool_response = value(payload, &keys).cloned().or(error.map(Value::String));
            let says_so = value(payload, &["is_error"]) == Some(&Value::Bool(true));
            let failed = native.failed_tool || has_error || says_so;
            input.tool_error = Some(failed || fails(input.tool_response.as_ref()));
            input.tool_duration_ms =
                value(payload, &["duration_ms", "duration"]).and_then(milliseconds);
        }
        Event::UserPromptSubmit => input.prompt = prompt_of(payload).or(text(payload, &["prompt"])),
        Event::Stop | Event::SubagentStop => {
            input.stop_response = text(payload, &["last_assistant_message", "prompt_response"]);
            input.last_user_message = prompt_of(payload);
        }
        Event::Notification => input.notification_message = text(payload, &["message"]),
        Event::OnToolApprovalDecision => input.approval_decision = Some("deny".to_owned()),
        Event::TurnEnd => input.reason = input.reason.take().or(Some("interrupted".to_owned())),
        Event::AfterCompaction => input.summary = text(payload, &["compact_summary"]),
        _ => {}
    }
}

/// Returns the text of an error, which some agents wrap in an object.
fn error_of(payload: &JsonObject) -> Option<String> {
    let inner = payload.get("error").unwrap_or(&Value::Null)["message"].as_str();
    text(payload, &["error", "error_message"]).or(inner.map(str::to_owned))
}

/// Returns the prompt under whichever key has one; a list of parts as it is, in JSON.
fn prompt_of(payload: &JsonObject) -> Option<String> {
    for key in ["submitted_prompt", "prompt"] {
        if let Some(prompt) = value(payload, &[key])
            && prompt != ""
        {
            return Some(spoken(prompt).into_owned());
        }
    }
    None
}

/// Returns whether a tool's response says itself that the call failed.
fn fails(response: Option<&Value>) -> bool {
    let Some(Value::Object(response)) = response else { return false };
    let kind = value(response, &["result_type", "resultType"]).unwrap_or(&Value::Null);
    kind.as_str().unwrap_or("success") != "success"
        || value(response, &["error"]).is_some()
        || value(response, &["is_error", "isError"]) == Some(&Value::Bool(true))
}

fn milliseconds(value: &Value) -> Option<u64> {
    // Some agents write a fraction; the digits before the point are enough.
    value.as_u64().or_else(|| value.to_string().split('.').next()?.parse().ok())
}

/// Returns the working directory: the payload's, else the agent's project.
fn working_directory(
    agent: Agent,
    payload: &JsonObject,
    env: impl Fn(&str) -> Option<String>,
) -> String {
    let own = payload.get("cwd").unwrap_or(&Value::Null);
    let inner = &payload.get("tool_info").unwrap_or(&Value::Null)["cwd"];
    let root = &payload.get("workspace_roots").unwrap_or(&Value::Null)[0];
    for named in [own, inner, root] {
        if let Value::String(directory) = named
            && !directory.is_empty()
        {
            return directory.clone();
        }
    }
    // An agent that grew out of another one may set the variable of that one as well.
    for adapter in iter::once(adapter(agent)).chain(&ADAPTERS) {
        if let Some(name) = adapter.project
            && let Some(directory) = env(name)
            && !directory.is_empty()
        {
            return directory;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_of(agent: Agent, event: &str, payload: &str) -> Result<Option<String>, String> {
        let call = read(agent, Some(event), payload.as_bytes(), |_| None);
        call.map(|call| call.input.tool_name).map_err(|error| error.cause)
    }

    #[test]
    fn a_tool_has_one_name() {
        let read = |payload| tool_of(Agent::ClaudeCode, "PreToolUse", payload);
        assert_eq!(read(r#"{"toolName": "Bash"}"#), Ok(Some("Bash".to_owned())));
        assert_eq!(
            read(r#"{"tool_name": "Bash", "toolName": "Bash"}"#),
            Ok(Some("Bash".to_owned()))
        );
        let cause = read(r#"{"tool_name": "x", "toolName": "Bash"}"#).unwrap_err();
        assert_eq!(cause, "it gives the tool two names, `x` and `Bash`");
        // The event is about one tool, whatever else the payload says.
        let payload = r#"{"tool_name": "x", "tool_info": {"command_line": "ls"}}"#;
        let named = tool_of(Agent::Windsurf, "pre_run_command", payload).unwrap().unwrap();
        assert_ne!(named, "x");
    }

    #[test]
    fn a_tool_has_one_set_of_arguments() {
        let read = |keys: &str| {
            let payload = format!(r#"{{"toolName": "bash", {keys}}}"#);
            tool_of(Agent::Copilot, "preToolUse", &payload)
        };
        for keys in [
            r#""toolArgs": {"a": 1}"#,
            r#""toolArgs": {"a": 1}, "tool_input": null"#,
            r#""toolArgs": {"a": 1}, "tool_input": {"a": 1}"#,
            r#""toolArgs": "{\"a\": 1}", "tool_input": {"a": 1}"#,
        ] {
            assert_eq!(read(keys), Ok(Some("bash".to_owned())), "{keys}");
        }
        for keys in [
            r#""toolArgs": "{\"a\": 1}", "tool_input": {"a": 2}"#,
            r#""toolArgs": {"a": 1}, "tool_input": {}"#,
            r#""toolArgs": "{oops", "tool_input": {"a": 1}"#,
            r#""toolArgs": {"a": 1}, "tool_input": 5"#,
        ] {
            let cause = read(keys).unwrap_err();
            let expected = "it gives the tool two sets of arguments, `tool_input` and `toolArgs`";
            assert_eq!(cause, expected, "{keys}");
        }
    }
}
