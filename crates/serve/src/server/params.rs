//! The parameters of a request.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hookexec::executor::deadline_of_hooks;
use hookexec::lifecycle::{
    CallerDeadline, DeclaredEvents, Finished, Session, SessionBuilder, SessionSource, ToolFacts,
    Turn, TurnEnd, TurnState,
};
use hookexec::wire::JsonObject;
use hookexec::{Event, Input};
use hookexec_agents::{Agent, NativeCall, Subject, tools};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::protocol::Refusal;

/// The values that all events of a session have in common.
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

const IN_ALL_METHODS: [&str; 5] = ["session", "turn", "project", "version", "within_ms"];

/// The parameters of one request, taken out one after another. `null` counts as missing.
///
/// Values that belong to the host (arguments, messages, responses) are taken as they are: reading
/// them by serde would change numbers and objects that look like serde's own.
#[derive(Debug, Default)]
pub(super) struct Params(pub(super) JsonObject);

impl Params {
    /// Checks that there are only `known` ones: a misspelt parameter would be ignored.
    pub(super) fn check(&self, known: &[&str]) -> Result<(), Refusal> {
        for key in self.0.keys() {
            if !IN_ALL_METHODS.contains(&key.as_str()) && !known.contains(&key.as_str()) {
                return Err(Refusal::params(format!("unknown parameter `{key}`")));
            }
        }
        Ok(())
    }

    /// Takes a value, which may be `null`.
    pub(super) fn value(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    fn given(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    /// Takes a value that is not the host's.
    fn read<T: DeserializeOwned>(&mut self, key: &str, kind: &str) -> Result<Option<T>, Refusal> {
        self.parsed(key).map_err(|_| Refusal::params(format!("`{key}` must be {kind}")))
    }

    fn parsed<T: DeserializeOwned>(&mut self, key: &str) -> serde_json::Result<Option<T>> {
        let Some(value) = self.given(key) else { return Ok(None) };
        serde_json::from_value(value)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, Refusal> {
        self.read(key, "a text")
    }

    pub(super) fn required(&mut self, key: &str) -> Result<String, Refusal> {
        self.text(key)?.ok_or_else(|| missing(key))
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, Refusal> {
        self.read(key, "true or false")
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<u64>, Refusal> {
        self.read(key, "a whole number")
    }

    pub(super) fn object(&mut self, key: &str) -> Result<Option<JsonObject>, Refusal> {
        match self.given(key) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(Refusal::params(format!("`{key}` must be an object"))),
        }
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Vec<Value>, Refusal> {
        match self.given(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(Refusal::params(format!("`{key}` must be a list"))),
        }
    }

    /// Returns when the client needs the answer.
    pub(super) fn deadline(&mut self) -> Result<Option<Instant>, Refusal> {
        let Some(within) = self.number("within_ms")? else { return Ok(None) };
        Ok(deadline_of_hooks(Instant::now(), Duration::from_millis(within)))
    }

    /// Reads which event fired, one of ours or with `agent` one of that agent's, and its input. An
    /// input that can't be read leaves the event known.
    pub(super) fn subject(&mut self) -> Result<(Event, Result<Subject, Refusal>), Refusal> {
        let Ok(Some(name)) = self.text("event") else {
            return Err(Refusal::params("`event` must be the name of an event"));
        };
        let Some(agent) = self.text("agent")? else {
            let event =
                name.parse::<Event>().map_err(|error| Refusal::params(error.to_string()))?;
            let subject = self.input().map(|input| Subject::Own(event, Box::new(input)));
            return Ok((event, subject));
        };
        let agent = agent.parse::<Agent>().map_err(|error| Refusal::params(error.to_string()))?;
        if let Some(native) = agent.native_event(&name)
            && let Some(event) = native.event
        {
            let project = self.0.get("project").and_then(Value::as_str).unwrap_or_default();
            let project = project.to_owned();
            let call = self.input().map(|input| NativeCall::new(agent, native, input, project));
            return Ok((event, call.map(|call| Subject::Native(Box::new(call)))));
        }
        let agent = agent.title();
        Err(Refusal::params(format!("no hook runs at the event `{name}` of {agent}")))
    }

    fn input(&mut self) -> Result<Input, Refusal> {
        match self.object("input")?.map(Input::from_json) {
            Some(Ok(mut input)) => {
                hookexec_agents::add_tool_kinds(&mut input);
                Ok(input)
            }
            Some(Err(error)) => Err(Refusal::params(format!("`input` can't be read: {error}"))),
            None => Err(Refusal::params("`input` must be an object")),
        }
    }

    /// Reads the session, whose hooks end by `deadline`.
    pub(super) fn session(&mut self, deadline: &CallerDeadline) -> Result<SessionBuilder, Refusal> {
        let SessionParams { session_id, cwd, agent_name, model_id, tools, fires } =
            self.state("session")?.ok_or_else(|| missing("session"))?;
        let known = tools::of_agent(agent_name.as_deref().unwrap_or_default());
        let mut session = Session::builder(session_id)
            .declares(DeclaredEvents::driven().and(fires))
            .deadline(deadline.clone())
            .tools(move |name: &str| {
                let mut facts = ToolFacts::default();
                facts.kinds = known.kinds(name, &JsonObject::new());
                facts.kinds.extend(tools.get(name).into_iter().flatten().cloned());
                facts
            });
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

    pub(super) fn turn(&mut self) -> Result<Option<TurnState>, Refusal> {
        self.state("turn")
    }

    /// Takes the state of a session or a turn, which says itself what is wrong with it.
    fn state<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, Refusal> {
        self.parsed(key).map_err(|error| Refusal::params(format!("`{key}`: {error}")))
    }

    pub(super) fn source(&mut self) -> Result<SessionSource, Refusal> {
        let source = self.read("source", "startup, resume, clear or compact")?;
        Ok(source.unwrap_or(SessionSource::Startup))
    }

    /// Reads how a turn ends: by `response`, `error` or `reason`. With a response `stop` fires, unless
    /// `turn.finish` fired it and the hooks let the model stop.
    pub(super) async fn turn_end(
        &mut self,
        turn: &Turn,
    ) -> Result<Result<Finished, TurnEnd>, Refusal> {
        let response = match (self.text("response")?, self.text("error")?, self.text("reason")?) {
            (Some(response), None, None) => response,
            (None, Some(error), None) => return Ok(Err(TurnEnd::failed(error))),
            (None, None, Some(reason)) => return Ok(Err(TurnEnd::Other(reason))),
            _ => return Err(Refusal::params("give one of `response`, `error` and `reason`")),
        };
        if !turn.state().stopped {
            if let Ok(finished) = turn.finish(response).await {
                return Ok(Ok(finished));
            }
            tracing::warn!(
                turn_id = %turn.id(),
                "a `stop` hook wants the model to go on, but the turn is ended: \
                 call `turn.finish` before `turn.end`"
            );
        }
        Ok(Err(TurnEnd::Other("normal".to_owned())))
    }
}

/// Returns the error that a parameter is missing.
pub(super) fn missing(key: &str) -> Refusal {
    Refusal::params(format!("`{key}` is missing"))
}
