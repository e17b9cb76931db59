//! An agent's payload, read into the input of an event of ours.

use serde_json::Value;

use super::native::NativeEvent;
use super::payload::{self, arguments, one_argument, spoken, text, value};
use super::{ADAPTERS, Agent, adapter};
use hookexec::event::{Event, FailureMode};
use hookexec::internal::tools;
use hookexec::wire::{Input, JsonObject};

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
    /// What is wrong.
    pub cause: String,
}

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
    let fail = |native: Option<&NativeEvent>, cause: String| AgentInputError {
        agent,
        native: native.map(|native| native.name),
        cause,
    };
    let payload = payload::parse(stdin).map_err(|cause| fail(hinted, cause))?;
    let told =
        text(&payload, &["hook_event_name", "hookEventName", "agent_action_name", "hookName"]);
    let native = match (told.as_deref(), hinted) {
        // Copilot's PermissionRequest comes with the payload of permissionRequest.
        (Some(name), Some(hinted)) if hinted.name.eq_ignore_ascii_case(name) => hinted,
        (Some(name), hinted) => {
            let Some(found) = agent.native_event(name) else {
                return Err(fail(hinted, format!("unknown event `{name}`")));
            };
            // An event given in our own words names several of some agents'.
            if let Some(hinted) = hinted
                && hinted.event != found.event
            {
                let native = stricter(hinted, found);
                return Err(fail(
                    Some(native),
                    format!("it says `{name}`, configured is `{}`", hinted.name),
                ));
            }
            found
        }
        (None, Some(hinted)) => hinted,
        (None, None) => {
            let given = hint.map(|hint| format!("`{hint}` is none of this agent's"));
            let given = given.unwrap_or_else(|| "none was given".to_owned());
            return Err(fail(None, format!("it names no event, and {given}")));
        }
    };
    call(agent, native, payload, env).map_err(|cause| fail(Some(native), cause))
}

/// Returns the call that a payload of the event `native` is about, or what is wrong with it.
fn call(
    agent: Agent,
    native: &'static NativeEvent,
    payload: JsonObject,
    env: impl Fn(&str) -> Option<String>,
) -> Result<NativeCall, String> {
    let Some(event) = native.event else {
        let (input, project) = (Input::default(), String::new());
        return Ok(NativeCall { agent, native, event: None, input, project });
    };
    is_about_one_call(&payload)?;
    let tool_matched = event.contract().tool_matched;
    let mut input = common(agent, event, native, &payload, &env);
    let adapter = adapter(agent);
    let project = adapter.project.and_then(env).filter(|path| !path.is_empty());
    if let Some(value) = value(&payload, &TOOL_ARGUMENTS).filter(|_| tool_matched) {
        input.tool_input = Some(native.arguments(value)?);
    }
    let wanted = (adapter.refine)(native, &payload, &mut input);
    if let Wanted::Unusable(cause) = wanted {
        return Err(cause);
    }
    if tool_matched {
        let tool = input.tool_name.as_deref().filter(|tool| !tool.is_empty());
        let tool = tool.ok_or("it is about a tool, but names none")?;
        if tool.len() > tools::LONGEST {
            return Err("its tool has a name of no tool's length".to_owned());
        }
        input.tool_kinds = agent.toolset().kinds(tool, &payload);
        input.tool_input.get_or_insert_default();
    }
    input.native = Some(Value::Object(payload));
    let project = project.unwrap_or_else(|| input.cwd.clone());
    let event = (wanted == Wanted::Yes).then_some(event);
    Ok(NativeCall { agent, native, event, input, project })
}

/// Returns the event whose failure is the stricter one: a mistake must not let a tool through.
fn stricter(one: &'static NativeEvent, other: &'static NativeEvent) -> &'static NativeEvent {
    let rank = |native: &NativeEvent| match native.event.map(|event| event.contract().failure) {
        Some(FailureMode::Open) | None => 0,
        Some(FailureMode::Ask) => 1,
        Some(_) => 2,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// The keys under which agents name the tool.
const TOOL_NAMES: [&str; 2] = ["tool_name", "toolName"];
/// The keys under which agents give its arguments.
const TOOL_ARGUMENTS: [&str; 3] = ["tool_input", "toolInput", "toolArgs"];

/// Returns what is wrong with a payload that gives the tool two names, or two sets of arguments. Guards
/// would judge one of them, and the agent may run the other.
fn is_about_one_call(payload: &JsonObject) -> Result<(), String> {
    let names = TOOL_NAMES.map(|key| text(payload, &[key]));
    if let [Some(first), Some(second)] = names
        && first != second
    {
        return Err(format!("it gives the tool two names, `{first}` and `{second}`"));
    }
    let given = TOOL_ARGUMENTS.iter().filter_map(|key| Some((key, value(payload, &[key])?)));
    // The same arguments may be an object under one key and its text under the other.
    let mut given = given.map(|(key, value)| (key, value, arguments(value).ok()));
    let Some((first, value, read)) = given.next() else { return Ok(()) };
    match given.find(|(_, other, same)| *other != value && (same.is_none() || *same != read)) {
        Some((second, ..)) => {
            Err(format!("it gives the tool two sets of arguments, `{first}` and `{second}`"))
        }
        None => Ok(()),
    }
}

/// Whether an event is to be dispatched at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    No,
    /// Its payload can't be used, and why.
    Unusable(String),
}

impl NativeEvent {
    /// Reads the arguments of a tool call. What can't be read keeps an event that decides from
    /// being about nothing; a hook that only hears of the call gets it as it is.
    pub(super) fn arguments(&self, value: &Value) -> Result<JsonObject, String> {
        match arguments(value) {
            Err(_) if !self.is_deciding() => Ok(one_argument(value)),
            read => read,
        }
    }
}

/// Adds the kinds of the tool where the input names an agent and no kinds, as [`read`] does for the
/// agent's own payload. Guards by kind, such as `matcher: shell`, then match.
pub fn add_tool_kinds(input: &mut Input) {
    let agent = input.agent_name.as_deref().and_then(|name| name.parse::<Agent>().ok());
    if let (Some(agent), Some(tool), true) = (agent, &input.tool_name, input.tool_kinds.is_empty())
    {
        let none = JsonObject::new();
        let payload = input.native.as_ref().and_then(|native| native.as_object()).unwrap_or(&none);
        input.tool_kinds = agent.toolset().kinds(tool, payload);
    }
}

/// Reads what agents say alike, whichever spelling they chose.
fn common(
    agent: Agent,
    event: Event,
    native: &NativeEvent,
    payload: &JsonObject,
    env: impl Fn(&str) -> Option<String>,
) -> Input {
    let text = |keys: &[&str]| text(payload, keys);
    let value = |keys: &[&str]| value(payload, keys);
    let tool_matched = event.contract().tool_matched;
    // Whichever of them says something; a list of parts as it is, in JSON.
    let prompts = || ["submitted_prompt", "prompt"].iter().filter_map(|key| value(&[*key]));
    let prompt = prompts().map(spoken).find(|prompt| !prompt.is_empty()).map(Into::into);
    let error = text(&["error", "error_message"])
        .or_else(|| Some(payload.get("error")?.get("message")?.as_str()?.to_owned()));
    let mut input = Input::default();
    input.session_id =
        text(&["session_id", "sessionId", "conversation_id", "trajectory_id"]).unwrap_or_default();
    input.cwd = working_directory(agent, payload, env);
    input.hook_event_name = Some(event);
    input.agent_name = Some(agent.name().to_owned());
    input.model_id = text(&["model", "model_name"]);
    input.turn_id = text(&["turn_id", "prompt_id", "generation_id", "execution_id"]);
    // Copilot's word for a session that is not resumed.
    input.source = text(&["source", "trigger"])
        .map(|source| if source == "new" { "startup".to_owned() } else { source });
    input.reason = text(&["reason", "stop_reason", "stopReason", "status"]).or(error.clone());
    if tool_matched {
        // An event that is about one tool knows it best.
        input.tool_name = native.tool.map(str::to_owned).or_else(|| text(&TOOL_NAMES));
        input.tool_use_id = text(&["tool_call_id", "tool_use_id", "toolCallId", "toolUseId"]);
    }
    match event {
        // Who does not say how a session began has no other way to begin one.
        Event::SessionStart if input.source.is_none() => input.source = Some("startup".to_owned()),
        Event::PostToolUse => {
            let failed = native.failed_tool || error.is_some();
            input.tool_response =
                value(&["tool_response", "tool_result", "toolResult", "tool_output"])
                    .cloned()
                    .or(error.map(Value::String));
            let failed = failed || fails(input.tool_response.as_ref());
            input.tool_error = Some(failed);
            input.tool_duration_ms = value(&["duration_ms", "duration"]).and_then(milliseconds);
        }
        Event::UserPromptSubmit => input.prompt = prompt.or(text(&["prompt"])),
        Event::Stop | Event::SubagentStop => {
            input.stop_response = text(&["last_assistant_message", "prompt_response"]);
            input.last_user_message = prompt;
        }
        Event::Notification => input.notification_message = text(&["message"]),
        Event::OnToolApprovalDecision => input.approval_decision = Some("deny".to_owned()),
        Event::TurnEnd => input.reason = input.reason.take().or(Some("interrupted".to_owned())),
        Event::AfterCompaction => input.summary = text(&["compact_summary"]),
        _ => {}
    }
    for key in Input::CARRIED {
        if let Some(value) = payload.get(key).filter(|value| !value.is_null()) {
            input.extra.insert(key.to_owned(), value.clone());
        }
    }
    input
}

/// Returns whether a tool's response says itself that the call failed.
fn fails(response: Option<&Value>) -> bool {
    let Some(Value::Object(response)) = response else { return false };
    let kind = text(response, &["result_type", "resultType"]);
    kind.is_some_and(|kind| kind != "success")
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
    // An agent that grew out of another one may set the variable of that one as well.
    let others = ADAPTERS.iter().filter_map(|adapter| adapter.project);
    let mut projects = adapter(agent).project.into_iter().chain(others);
    let nonempty = |text: &String| !text.is_empty();
    let roots = || Some(payload.get("workspace_roots")?.get(0)?.as_str()?.to_owned());
    let inner = || Some(payload.get("tool_info")?.get("cwd")?.as_str()?.to_owned());
    text(payload, &["cwd"])
        .filter(nonempty)
        .or_else(|| inner().filter(nonempty))
        .or_else(|| roots().filter(nonempty))
        .or_else(|| projects.find_map(|name| env(name).filter(nonempty)))
        .unwrap_or_default()
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
