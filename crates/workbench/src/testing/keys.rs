//! The keys of a file of test cases, what each may hold, and their JSON schema.

use std::fmt::{self, Display};

use regex::Regex;
use serde_json::{Map, Value as Json, json};

use hookexec::config::Location;
use hookexec::wire::JsonObject;
use hookexec::{Decision, Event, Failure, HandlerError, HandlerResult, Output, schema};
use hookexec_agents::Agent;
use hookexec_files::kinds::{At, Filled, reference};
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use hookexec_files::{later, section, words};

pub(super) const CASE_HINT: &str =
    "write `- { name: ..., event: pre_tool_use, input: {...}, expect: { decision: deny } }`";

section! {
    /// The keys at the top of a file.
    pub(super) FileKeys<'n>, "a file of cases":
    config "config": Names, "",
        "the hooks file, or several that add up, from the directory of this file; left out, \
         `x.test.yaml` is for `x.yaml`";
    cases "cases": CaseList<'n>, "an error" ("a file of cases needs `cases`", CASE_HINT),
        "the cases";
}

section! {
    /// The keys of a case.
    pub(super) CaseKeys<'n>, "a case":
    name "name": Filled, "an error" ("a case needs `name`", CASE_HINT),
        "its name, which no other case of the file has";
    event "event": EventName<'n>, "",
        "the event; with `from` also in the agent's words, and only if its payload does not name \
         it";
    input "input": CaseInput<'n>, "", "the event's input";
    from "from": AgentName, "",
        "the agent whose payload it is: the case is judged as `hookexec run --from AGENT` does";
    payload "payload": Payload<'n>, "", "what the agent writes to standard input";
    stubs "stubs": Stubs, "none",
        "hooks that do not run, by name, each with the answer it gives; `{}` means no opinion";
    expect "expect": At<'n, Expectation>, "an error" ("a case needs `expect`", CASE_HINT),
        "what should come out; what is left out is not looked at";
}

section! {
    /// The expected result; a field that is `None` is not compared.
    #[derive(Debug, Clone)]
    pub(crate) Expectation, "`expect`":
    decision "decision": DecisionWord, "",
        "the decision; `none` when no hook should have an opinion";
    allowed "allowed": bool, "", "whether it may go on";
    message "message": ExpectedText, "",
        "the reasons: the exact text, `{ regex: ... }`, or `null` for none";
    updated_input "updated_input": ExpectedArguments, "",
        "the whole arguments of the tool after all rewrites; `null` when they must not change";
    additional_context "additional_context": ExpectedText, "",
        "the context for the model: the exact text, `{ regex: ... }`, or `null` for none";
    system_message "system_message": ExpectedText, "",
        "the warnings for the user: the exact text, `{ regex: ... }`, or `null` for none";
    ran "ran": Names, "", "the hooks that run, all of them, in any order";
    not_run "not_run": Names, "", "hooks that must not run";
    failed_open "failed_open": Names, "", "the hooks that failed while the event went on";
}

section! {
    /// The keys of a text that is searched.
    PatternKeys<'n>, "an expected text":
    regex "regex": At<'n, Filled>, "an error", "a regular expression that is found in it";
}

later! {
    /// `cases:`.
    CaseList: json!({ "type": "array", "minItems": 1, "items": reference("case") });
    /// `event:` of a case.
    EventName: json!({
        "anyOf": [{ "enum": Event::all().map(Event::name).collect::<Vec<_>>() }, Filled::schema()]
    });
    /// `input:` of a case.
    CaseInput: reference("input");
    /// `payload:` of a case.
    Payload: json!({ "type": "object" });
}

/// A decision, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecisionWord(pub(super) Option<Decision>);

words! { DecisionWord:
    "allow" => Self(Some(Decision::Allow)),
    "ask" => Self(Some(Decision::Ask)),
    "deny" => Self(Some(Decision::Deny)),
    "none" => Self(None)
}

/// The arguments of a tool after a rewrite, or `None` if there must be no rewrite.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedArguments(pub(super) Option<JsonObject>);

/// A text that should come out.
#[derive(Debug, Clone)]
pub(crate) enum ExpectedText {
    /// There is none.
    Absent,
    /// It is this one.
    Is(String),
    /// A regular expression is found in it.
    Matches(Regex),
}

impl ExpectedText {
    /// Returns whether `found` is what is expected.
    pub(super) fn holds(&self, found: Option<&str>) -> bool {
        match (self, found) {
            (Self::Absent, found) => found.is_none(),
            (_, None) => false,
            // Whether a YAML text ends in a newline is a matter of its style.
            (Self::Is(text), Some(found)) => found.trim_end() == text.trim_end(),
            (Self::Matches(pattern), Some(found)) => pattern.is_match(found),
        }
    }
}

impl Display for ExpectedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("nothing"),
            Self::Is(text) => formatter.write_str(text),
            Self::Matches(pattern) => write!(formatter, "a text in which `{pattern}` is found"),
        }
    }
}

/// One name or several, each with its place.
#[derive(Debug, Clone)]
pub(crate) struct Names(pub(super) Vec<(String, Location)>);

/// The name of an agent.
pub(super) struct AgentName(pub(super) Agent);

/// The answer that stands in for a hook.
pub(crate) type Stub = Result<HandlerResult, HandlerError>;

/// Answers that stand in for hooks, each with the name of its hook and the place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stubs(pub(super) Vec<(String, Location, Stub)>);

impl Kind<'_> for Names {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut names = Vec::new();
        for item in node.one_or_many() {
            let name = Filled::read(reader, item, what)?;
            names.push((name.0, reader.location(item)));
        }
        Some(Self(names))
    }

    fn schema() -> Json {
        json!({ "anyOf": [Filled::schema(), { "type": "array", "items": Filled::schema() }] })
    }
}

impl Kind<'_> for AgentName {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match Filled::read(reader, node, what)?.0.parse::<Agent>() {
            Ok(agent) => Some(Self(agent)),
            Err(error) => reader.refuse(node, error.to_string()),
        }
    }

    fn schema() -> Json {
        json!({ "enum": Agent::all().map(Agent::name).collect::<Vec<_>>() })
    }
}

impl Kind<'_> for ExpectedText {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match &node.value {
            Value::Null => return Some(Self::Absent),
            Value::Map(_) => {}
            _ => return reader.value(node, what).map(Self::Is),
        }
        let keys: PatternKeys<'_> = reader.value(node, what)?;
        if keys.fields.lacks("regex") {
            return reader.refuse(node, format!("{what} needs `regex`"));
        }
        let At { node, value: Filled(pattern) } = keys.regex?;
        match Regex::new(&pattern) {
            Ok(pattern) => Some(Self::Matches(pattern)),
            Err(error) => reader.refuse(node, format!("not a valid regular expression: {error}")),
        }
    }

    fn schema() -> Json {
        reference("text")
    }
}

impl Kind<'_> for ExpectedArguments {
    const SCHEMA: &'static str = r#"{ "type": ["object", "null"] }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        match reader.value(node, what)? {
            Json::Null => Some(Self(None)),
            Json::Object(arguments) => Some(Self(Some(arguments))),
            _ => reader.expected(what, "the whole arguments of the tool, or `null`", node),
        }
    }
}

impl Kind<'_> for Stubs {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut stubs = Vec::new();
        for (name, key, value) in reader.open_fields(node, what)?.iter() {
            if let Some(stub) = read_stub(reader, value) {
                stubs.push((name.to_owned(), reader.location(key), stub));
            }
        }
        Some(Self(stubs))
    }

    fn schema() -> Json {
        let answer = reference("answer");
        json!({ "type": "object", "additionalProperties": { "anyOf": [
            { "type": "null" },
            {
                "type": "object",
                "properties": { "failure": {
                    "description": "The hook fails, for this cause.",
                    "type": "string"
                } },
                "required": ["failure"],
                "additionalProperties": false
            },
            { "allOf": [answer], "not": { "required": ["failure"] } }
        ] } })
    }
}

fn read_stub(reader: &mut Reader, node: &Node) -> Option<Stub> {
    const HINT: &str = "write the answer it gives, such as `{ decision: deny, reason: no }`; \
                        `{}` for none; `{ failure: timed out }` for a hook that fails";
    let fields = match Json::read(reader, node, "")? {
        Json::Null => JsonObject::new(),
        Json::Object(fields) => fields,
        _ => return reader.expected("a stub", "a mapping", node),
    };
    if let Some(cause) = fields.get("failure") {
        return match cause.as_str() {
            Some(cause) if fields.len() == 1 => Some(Err(HandlerError::new(Failure::Other, cause))),
            _ => reader.refuse_with_hint(node, "`failure` stands alone, and is a text", HINT),
        };
    }
    let output = match Output::from_value(fields.into()) {
        Ok(output) => output,
        Err(error) => {
            return reader.refuse_with_hint(node, format!("a stub can't be read: {error}"), HINT);
        }
    };
    let unknown: Vec<String> = output.unknown_keys().collect();
    if unknown.is_empty() {
        return Some(Ok(Some(output).into()));
    }
    reader.refuse_with_hint(node, format!("{}, in a stub", unknown.join(", ")), HINT)
}

/// Returns the JSON schema (draft 7) of a file of cases, for editors.
pub fn cases_schema() -> Json {
    let plain = json!({ "type": ["string", "number", "boolean", "null"] });
    let mut definitions = Map::new();
    define(&mut definitions, "input", schema::input());
    define(&mut definitions, "answer", schema::output());
    define(&mut definitions, "text", json!({ "anyOf": [plain, PatternKeys::schema()] }));
    let mut case = CaseKeys::schema();
    case["properties"]["expect"]["minProperties"] = 1.into();
    case["description"] = "One event, and what the hooks should make of it.".into();
    define(&mut definitions, "case", case);
    let mut schema = FileKeys::schema();
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["$id"] = "https://json.schemastore.org/hookexec-cases.json".into();
    schema["title"] = "hookexec: hooks.test.yaml".into();
    schema["description"] = "Test cases of a hooks file; `hookexec test` runs them.".into();
    schema["definitions"] = definitions.into();
    schema
}

/// Adds a definition, and its own definitions, which are looked for at the top of the document.
fn define(definitions: &mut JsonObject, name: &str, mut schema: Json) {
    if let Some(Json::Object(own)) = schema.get_mut("definitions").map(Json::take) {
        definitions.extend(own);
    }
    if let Json::Object(schema) = &mut schema {
        schema.retain(|key, _| !["$schema", "definitions", "title"].contains(&key.as_str()));
    }
    definitions.insert(name.to_owned(), schema);
}
