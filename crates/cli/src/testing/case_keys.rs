//! The keys of a file of cases, and what each may hold.

use serde_json::{Value as Json, json};

use super::case::{Expected, Stub, TextExpectation};
use hookexec::config::Location;
use hookexec::event::Event;
use hookexec::handler::{Failure, HandlerError};
use hookexec::internal::reading::{self, At, Fields, Filled, Kind, Node, Reader, Value};
use hookexec::wire::{Decision, JsonObject, Output};
use hookexec::{later, section, words};
use hookexec_agents::Agent;

section! {
    /// The keys at the top of a file.
    pub(super) FileKeys<'n>, "a file of cases":
    config "config": OneOrMany, "",
        "the hooks file, or several that add up, from the directory of this file; left out, \
         `x.test.yaml` is for `x.yaml`, `x.test.yml` is for `x.yml`";
    cases "cases": CaseList<'n>, "an error", "the cases";
}

section! {
    /// The keys of a case.
    pub(super) CaseKeys<'n>, "a case":
    name "name": Filled, "an error", "its name, which no other case of the file has";
    event "event": EventName<'n>, "an error",
        "the event; with `from` also in the agent's words, and only if its payload does not name \
         it";
    input "input": CaseInput<'n>, "", "the event's input";
    from "from": At<'n, AgentName>, "",
        "the agent whose payload it is: the case is judged as `hookexec run --from AGENT` does";
    payload "payload": Payload<'n>, "", "what the agent writes to standard input";
    stubs "stubs": Stubs, "none",
        "hooks that do not run, by name, each with the answer it gives; `{}` means no opinion";
    expect "expect": At<'n, Expectation>, "an error",
        "what should come out; what is left out is not looked at";
}

section! {
    /// What should come out; what is `None` is not looked at.
    #[derive(Debug, Clone)]
    pub(crate) Expectation, "`expect`":
    decision "decision": ExpectedDecision, "",
        "the decision; `none` when no hook should have an opinion";
    allowed "allowed": bool, "", "whether it may go on";
    message "message": TextExpectation, "",
        "the reasons: the exact text, `{ regex: ... }`, or `null` for none";
    updated_input "updated_input": Expected<JsonObject>, "",
        "the whole arguments of the tool after all rewrites; `null` when they must not change";
    additional_context "additional_context": TextExpectation, "",
        "the context for the model: the exact text, `{ regex: ... }`, or `null` for none";
    system_message "system_message": TextExpectation, "",
        "the warnings for the user: the exact text, `{ regex: ... }`, or `null` for none";
    ran "ran": HookNames, "", "the hooks that run, all of them, in any order";
    not_run "not_run": HookNames, "", "hooks that must not run";
    failed_open "failed_open": HookNames, "", "the hooks that failed while the event went on";
    exit_code "exit_code": ExitCode, "", "what `run` exits with";
}

section! {
    /// The keys of a text that is searched.
    pub(super) TextKeys<'n>, "an expected text":
    regex "regex": At<'n, Filled>, "", "a regular expression that is found in it";
}

later! {
    /// `cases:`.
    CaseList: json!({
        "type": "array",
        "minItems": 1,
        "items": reading::reference("case")
    });
    /// `event:` of a case.
    EventName: json!({ "anyOf": [{ "enum": events(|_| true) }, Filled::schema()] });
    /// `input:` of a case.
    CaseInput: reading::reference("input");
    /// `payload:` of a case.
    Payload: json!({ "type": "object" });
}

words! { Expected<Decision>:
    "allow" => Self::Is(Decision::Allow),
    "ask" => Self::Is(Decision::Ask),
    "deny" => Self::Is(Decision::Deny),
    "none" => Self::Nothing
}

/// One text that is not blank, or several.
pub(super) struct OneOrMany(pub(super) Vec<String>);
/// The name of an agent.
pub(super) struct AgentName(pub(super) Agent);
/// A decision, or `null` for none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpectedDecision(pub(super) Expected<Decision>);
/// Names of hooks and their places.
#[derive(Debug, Clone)]
pub(crate) struct HookNames(pub(super) Vec<(String, Location)>);
/// An exit code of `run`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ExitCode(pub(super) u8);
/// What hooks say that are not run.
#[derive(Default)]
pub(super) struct Stubs(pub(super) Vec<(String, Location, Stub)>);

/// Returns the names of the events that are `wanted`.
pub(super) fn events(wanted: fn(Event) -> bool) -> Vec<&'static str> {
    Event::all().filter(|event| wanted(*event)).map(Event::name).collect()
}

fn stub(reader: &mut Reader, node: &Node) -> Option<Stub> {
    const HINT: &str = "write the answer it gives, such as `{ decision: deny, reason: no }`; \
                        `{}` for none; `{ failure: timed out }` for a hook that fails";
    if matches!(node.value, Value::Null) {
        return Some(Ok(Some(Output::default()).into()));
    }
    let fields: Fields<'_> = reader.open_fields(node, "a stub")?;
    if let Some(value) = fields.get("failure") {
        if fields.iter().count() > 1 {
            return reader
                .refuse(node, "`failure` stands alone: a hook that failed gives no answer");
        }
        let cause = Filled::read(reader, value, "`failure`")?.0;
        return Some(Err(HandlerError::new(Failure::Other, cause)));
    }
    match Output::from_value(Json::read(reader, node, "")?) {
        Ok(output) if output.unknown_keys().next().is_none() => Some(Ok(Some(output).into())),
        Ok(output) => {
            for key in output.unknown_keys() {
                reader.error_with_hint(node, format!("{key}, in a stub"), HINT);
            }
            None
        }
        Err(error) => reader.refuse_with_hint(node, format!("a stub can't be read: {error}"), HINT),
    }
}

impl Kind<'_> for OneOrMany {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let items = node.one_or_many();
        if items.is_empty() {
            return reader.refuse(node, format!("{what} is empty"));
        }
        let texts = items.iter().map(|item| Filled::read(reader, item, what).map(|text| text.0));
        texts.collect::<Option<_>>().map(Self)
    }

    fn schema() -> Json {
        let items = json!({ "type": "array", "minItems": 1, "items": Filled::schema() });
        json!({ "anyOf": [Filled::schema(), items] })
    }
}

impl Kind<'_> for AgentName {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let name = Filled::read(reader, node, what)?.0;
        name.parse()
            .map(Self)
            .map_err(|error: hookexec_agents::UnknownAgent| reader.error(node, error.to_string()))
            .ok()
    }

    fn schema() -> Json {
        json!({ "enum": Agent::all().map(Agent::name).collect::<Vec<_>>() })
    }
}

impl Kind<'_> for Stubs {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut stubs = Vec::new();
        for (name, key, value) in reader.open_fields(node, what)?.iter() {
            if let Some(stub) = stub(reader, value) {
                stubs.push((name.to_owned(), reader.location(key), stub));
            }
        }
        Some(Self(stubs))
    }

    fn schema() -> Json {
        let answer = reading::reference("answer");
        json!({ "type": "object", "additionalProperties": { "anyOf": [
            { "type": "null" },
            {
                "type": "object",
                "properties": { "failure": {
                    "description": "The hook fails, for this cause.",
                    "type": "string",
                    "pattern": "\\S"
                } },
                "required": ["failure"],
                "additionalProperties": false
            },
            { "allOf": [answer], "not": { "required": ["failure"] } }
        ] } })
    }
}

impl Expectation {
    /// Returns every hook that is named, with the place.
    pub(super) fn named_hooks(&self) -> impl Iterator<Item = &(String, Location)> {
        let lists = [&self.ran, &self.not_run, &self.failed_open];
        lists.into_iter().flatten().flat_map(|names| &names.0)
    }
}

impl Kind<'_> for ExpectedDecision {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let is_null = matches!(node.value, Value::Null);
        if is_null { Some(Expected::Nothing) } else { reader.value(node, what) }.map(Self)
    }

    fn schema() -> Json {
        let mut schema = Expected::<Decision>::schema();
        if let Some(words) = schema["enum"].as_array_mut() {
            words.push(Json::Null);
        }
        schema
    }
}

/// A text, `{ regex: ... }`, or `null` for no text at all.
impl Kind<'_> for TextExpectation {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match &node.value {
            Value::Null => Some(Self::Absent),
            Value::Map(_) => {
                let At { node, value } = reader.value::<TextKeys<'_>>(node, what)?.regex?;
                let regex = regex::Regex::new(&value.0).map_err(|error| {
                    reader.error(node, format!("not a valid regular expression: {error}"));
                });
                regex.ok().map(Self::Matches)
            }
            _ => reader.value(node, what).map(Self::Is),
        }
    }

    fn schema() -> Json {
        reading::reference("text")
    }
}

/// Arguments, or `null` for none.
impl Kind<'_> for Expected<JsonObject> {
    const SCHEMA: &'static str = r#"{ "type": ["object", "null"] }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match reader.value(node, what)? {
            Json::Null => Some(Self::Nothing),
            Json::Object(object) => Some(Self::Is(object)),
            _ => {
                let hint =
                    "write the whole arguments of the tool, or `null` when they must not change";
                reader.refuse_with_hint(node, format!("{what} must be a mapping"), hint)
            }
        }
    }
}

impl Kind<'_> for ExitCode {
    const SCHEMA: &'static str = r#"{ "enum": [0, 2, 3] }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let code = node.as_number().and_then(serde_json::Number::as_u64);
        let code = code.filter(|code| [0, 2, 3].contains(code));
        if code.is_none() {
            let hint = "`run` answers with 0 (go on), 2 (denied) or 3 (ask)";
            reader.error_with_hint(node, format!("{what} must be 0, 2 or 3"), hint);
        }
        code.and_then(|code| u8::try_from(code).ok()).map(Self)
    }
}

impl Kind<'_> for HookNames {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if !matches!(node.value, Value::List(_) | Value::Text(_)) {
            return reader.refuse(node, format!("{what} must be a list of hooks, by name"));
        }
        let mut names = Vec::new();
        for item in node.one_or_many() {
            if let Some(name) = Filled::read(reader, item, "the name of a hook") {
                names.push((name.0, reader.location(item)));
            }
        }
        Some(Self(names))
    }

    fn schema() -> Json {
        json!({ "anyOf": [Filled::schema(), { "type": "array", "items": Filled::schema() }] })
    }
}
