//! The parameters of a request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use crate::moment::Moment;

use hookexec::event::{Event, UnknownEvent};
use hookexec::internal::{CallerDeadline, deadline_of_hooks, tools};
use hookexec::lifecycle::{
    DeclaredEvents, Session, SessionBuilder, SessionSource, ToolFacts, TurnEnd, TurnState,
};
use hookexec::wire::{Input, JsonObject};
use hookexec_agents::{Agent, NativeCall, NativeEvent, UnknownAgent};

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

/// Which event fired.
pub(super) struct Fired {
    pub(super) event: Event,
    /// The agent whose event it is, and that event.
    native: Option<(Agent, &'static NativeEvent)>,
}

impl Fired {
    /// Returns what happened, with the `input` of the event in `project`.
    pub(super) fn moment(self, input: Input, project: String) -> Moment {
        match self.native {
            None => Moment::Own(self.event, Box::new(input)),
            Some((agent, native)) => {
                Moment::Native(Box::new(NativeCall::new(agent, native, input, project)))
            }
        }
    }
}

/// The parameters of one request, taken out one after another.
///
/// Values that belong to the host (arguments, messages, responses) are taken as they are: reading
/// them by serde would change numbers and objects that look like serde's own.
#[derive(Debug, Default)]
pub(super) struct Params {
    left: JsonObject,
    /// When the client needs the answer.
    until: Option<Instant>,
}

impl Params {
    pub(super) const fn new(params: JsonObject) -> Self {
        Self { left: params, until: None }
    }

    /// Checks that nothing is left: a misspelt parameter would be ignored.
    pub(super) fn end(self) -> Result<(), String> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("unknown parameter `{key}`")),
        }
    }

    pub(super) fn value(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key)
    }

    fn given(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key).filter(|value| !value.is_null())
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
        let number = self.given(key).map(|value| value.as_u64().ok_or(()));
        number.transpose().map_err(|()| format!("`{key}` must be a whole number"))
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

    /// Reads the directory in which the client works, and how long it waits, from now on.
    pub(super) fn client(&mut self) -> Result<(Option<String>, Option<Instant>), String> {
        let (project, within) = (self.text("project")?, self.number("within_ms")?);
        let within = within.map(Duration::from_millis);
        self.until = within.and_then(|within| deadline_of_hooks(Instant::now(), within));
        Ok((project, self.until))
    }

    /// Returns when the client needs the answer, once [`client`](Self::client) was read.
    pub(super) const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Reads which event fired: one of ours, or with `agent` one of that agent's.
    pub(super) fn fired(&mut self) -> Result<Fired, String> {
        let event = self.text("event").ok().flatten();
        let event = event.ok_or("`event` must be the name of an event")?;
        let Some(agent) = self.text("agent")? else {
            let event = event.parse().map_err(|error: UnknownEvent| error.to_string())?;
            return Ok(Fired { event, native: None });
        };
        let agent: Agent = agent.parse().map_err(|error: UnknownAgent| error.to_string())?;
        let native = agent.native_event(&event);
        match native.and_then(|native| Some((native, native.event?))) {
            Some((native, event)) => Ok(Fired { event, native: Some((agent, native)) }),
            None => Err(format!("no hook runs at the event `{event}` of {}", agent.title())),
        }
    }

    pub(super) fn input(&mut self) -> Result<Input, String> {
        let input = self.object("input")?.ok_or("`input` must be an object")?;
        Input::from_json(input).map_err(|error| format!("`input` can't be read: {error}"))
    }

    /// Reads the session. The deadline is that of this request until another one is set.
    pub(super) fn session(&mut self) -> Result<(SessionBuilder, CallerDeadline), String> {
        let params = self.given("session").ok_or("`session` is missing")?;
        let params: SessionParams =
            serde_json::from_value(params).map_err(|error| format!("`session`: {error}"))?;
        let SessionParams { session_id, cwd, agent_name, model_id, tools, fires } = params;
        let known = tools::of_agent(agent_name.as_deref().unwrap_or_default());
        let mut session = Session::builder(session_id).tools(move |name| {
            let mut facts = ToolFacts::default();
            facts.kinds = known.kinds(name, &JsonObject::new());
            facts.kinds.extend(tools.get(name).into_iter().flatten().cloned());
            facts
        });
        session = session.declares(DeclaredEvents::driven().and(fires));
        if let Some(cwd) = cwd {
            session = session.cwd(cwd);
        }
        if let Some(agent_name) = agent_name {
            session = session.agent_name(agent_name);
        }
        if let Some(model_id) = model_id {
            session = session.model(model_id);
        }
        let deadline = CallerDeadline::default();
        deadline.set(self.until);
        Ok((session.deadline(deadline.clone()), deadline))
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
        let response = self.text("response")?.map(TurnEnd::finished);
        let error = self.text("error")?.map(TurnEnd::failed);
        let reason = self.text("reason")?.map(|reason| match reason.as_str() {
            "canceled" => TurnEnd::Canceled,
            "hook_blocked" => TurnEnd::HookBlocked,
            "steered" => TurnEnd::Steered,
            _ => TurnEnd::Other(reason),
        });
        let mut ends = [response, error, reason].into_iter().flatten();
        match (ends.next(), ends.next()) {
            (Some(end), None) => Ok(end),
            _ => Err("give one of `response`, `error` and `reason`".to_owned()),
        }
    }
}
