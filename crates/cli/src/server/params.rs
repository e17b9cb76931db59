//! The parameters of a request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hookexec::event::{Event, UnknownEvent};
use hookexec::internal::{CallerDeadline, deadline_of_hooks, tools};
use hookexec::lifecycle::{
    DeclaredEvents, Session, SessionBuilder, SessionSource, ToolFacts, TurnEnd, TurnState,
};
use hookexec::wire::{Input, JsonObject};
use hookexec_agents::{Agent, NativeCall, UnknownAgent};
use serde::Deserialize;
use serde_json::Value;

use crate::moment::Moment;

/// What all events of a session have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionParams {
    session_id: String,
    cwd: Option<String>,
    agent_name: Option<String>,
    model_id: Option<String>,
    /// The kinds of the host's tools, by name.
    #[serde(default)]
    tools: BTreeMap<String, Vec<String>>,
    /// Events that the host fires itself, by `dispatch`.
    #[serde(default)]
    fires: Vec<Event>,
}

/// The parameters of one request, taken out one after another.
///
/// Values that belong to the host (arguments, messages, responses) are taken as they are: reading
/// them by serde would change numbers and objects that look like serde's own.
#[derive(Debug, Default)]
pub(super) struct Params(JsonObject);

impl Params {
    pub(super) const fn new(params: JsonObject) -> Self {
        Self(params)
    }

    /// Checks that nothing is left: a misspelt parameter would be ignored.
    pub(super) fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("unknown parameter `{key}`")),
        }
    }

    pub(super) fn value(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    fn given(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` must be a text")),
        }
    }

    pub(super) fn required(&mut self, key: &str) -> Result<String, String> {
        self.text(key)?.ok_or_else(|| format!("`{key}` is missing"))
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(format!("`{key}` must be true or false")),
        }
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<u64>, String> {
        match self.given(key).map(|value| value.as_u64()) {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => Err(format!("`{key}` must be a whole number")),
        }
    }

    pub(super) fn object(&mut self, key: &str) -> Result<Option<JsonObject>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("`{key}` must be an object")),
        }
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, String> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(_) => Err(format!("`{key}` must be a list")),
        }
    }

    /// Returns when the client needs the answer.
    pub(super) fn deadline(&mut self) -> Result<Option<Instant>, String> {
        let within = self.number("within_ms")?.map(Duration::from_millis);
        Ok(within.and_then(|within| deadline_of_hooks(Instant::now(), within)))
    }

    /// Reads which event fired, one of ours or with `agent` one of that agent's, and its input. An
    /// input that can't be read leaves the event known.
    pub(super) fn moment(&mut self) -> Result<(Event, Result<Moment, String>), String> {
        let name = self.text("event").ok().flatten();
        let name = name.ok_or("`event` must be the name of an event")?;
        let Some(agent) = self.text("agent")? else {
            let event = name.parse().map_err(|error: UnknownEvent| error.to_string())?;
            let input = self.input();
            return Ok((event, input.map(|input| Moment::Own(event, Box::new(input)))));
        };
        let agent: Agent = agent.parse().map_err(|error: UnknownAgent| error.to_string())?;
        let native = agent.native_event(&name);
        let Some((native, event)) = native.and_then(|native| Some((native, native.event?))) else {
            return Err(format!("no hook runs at the event `{name}` of {}", agent.title()));
        };
        let project = self.0.get("project").and_then(Value::as_str).unwrap_or_default().to_owned();
        let call = self.input().map(|input| NativeCall::new(agent, native, input, project));
        Ok((event, call.map(|call| Moment::Native(Box::new(call)))))
    }

    fn input(&mut self) -> Result<Input, String> {
        let input = self.object("input")?.ok_or("`input` must be an object")?;
        Input::from_json(input).map_err(|error| format!("`input` can't be read: {error}"))
    }

    /// Reads the session, whose hooks end by `deadline`.
    pub(super) fn session(&mut self, deadline: &CallerDeadline) -> Result<SessionBuilder, String> {
        let params = self.given("session").ok_or("`session` is missing")?;
        let params: SessionParams =
            serde_json::from_value(params).map_err(|error| format!("`session`: {error}"))?;
        let SessionParams { session_id, cwd, agent_name, model_id, tools, fires } = params;
        let known = tools::of_agent(agent_name.as_deref().unwrap_or_default());
        let describe = move |name: &str| {
            let mut facts = ToolFacts::default();
            facts.kinds = known.kinds(name, &JsonObject::new());
            facts.kinds.extend(tools.get(name).into_iter().flatten().cloned());
            facts
        };
        let mut session = Session::builder(session_id)
            .tools(describe)
            .declares(DeclaredEvents::driven().and(fires))
            .deadline(deadline.clone());
        if let Some(cwd) = cwd {
            session = session.cwd(cwd);
        }
        if let Some(agent_name) = agent_name {
            session = session.agent_name(agent_name);
        }
        if let Some(model_id) = model_id {
            session = session.model(model_id);
        }
        Ok(session)
    }

    pub(super) fn turn(&mut self) -> Result<Option<TurnState>, String> {
        let turn = self.given("turn").map(serde_json::from_value).transpose();
        turn.map_err(|error| format!("`turn`: {error}"))
    }

    pub(super) fn source(&mut self) -> Result<SessionSource, String> {
        match self.text("source")?.as_deref() {
            None | Some("startup") => Ok(SessionSource::Startup),
            Some("resume") => Ok(SessionSource::Resume),
            Some("clear") => Ok(SessionSource::Clear),
            Some("compact") => Ok(SessionSource::Compact),
            Some(other) => {
                let known = "known are startup, resume, clear and compact";
                Err(format!("unknown `source` `{other}`; {known}"))
            }
        }
    }

    /// Reads how a turn ends: by `response`, `error` or `reason`.
    pub(super) fn turn_end(&mut self) -> Result<TurnEnd, String> {
        match (self.text("response")?, self.text("error")?, self.text("reason")?) {
            (Some(response), None, None) => Ok(TurnEnd::finished(response)),
            (None, Some(error), None) => Ok(TurnEnd::failed(error)),
            (None, None, Some(reason)) => Ok(match reason.as_str() {
                "canceled" => TurnEnd::Canceled,
                "hook_blocked" => TurnEnd::HookBlocked,
                "steered" => TurnEnd::Steered,
                _ => TurnEnd::Other(reason),
            }),
            _ => Err("give one of `response`, `error` and `reason`".to_owned()),
        }
    }
}
