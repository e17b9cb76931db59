//! Reads test cases: `hooks.test.yaml` beside `hooks.yaml`.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Value as Json, json};

use super::case::{Case, CaseFile, Expectation, Expected, Stub, TextExpectation};
use crate::moment::Moment;
use hookexec::config::{Diagnostics, Location};
use hookexec::event::Event;
use hookexec::internal::reading::{self, At, Fields, Filled, Kind, Node, Reader, Value};
use hookexec::internal::{read_file, suggest};
use hookexec::wire::{Decision, Input, JsonObject, Output};
use hookexec::{later, section, words};
use hookexec_agents::{Agent, NativeCall};

/// What a file's name ends with, and what its hooks file's name ends with in that place.
pub(super) const ENDINGS: [(&str, &str); 2] = [(".test.yaml", ".yaml"), (".test.yml", ".yml")];

const CASE_HINT: &str =
    "write `- { name: ..., event: pre_tool_use, input: {...}, expect: { decision: deny } }`";

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
    expect "expect": Expectation, "an error",
        "what should come out; what is left out is not looked at";
}

section! {
    /// The keys of what is expected.
    pub(super) ExpectKeys<'n>, "`expect`":
    decision "decision": ExpectedDecision, "",
        "the decision; `none` when no hook should have an opinion";
    allowed "allowed": bool, "", "whether it may go on";
    message "message": TextExpectation, "",
        "the reasons: the exact text, `{ regex: ... }`, or `null` for none";
    updated_input "updated_input": ExpectedInput, "",
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
pub(super) struct OneOrMany(Vec<String>);
/// The name of an agent.
pub(super) struct AgentName(Agent);
/// A decision, or `null` for none.
pub(super) struct ExpectedDecision(Expected<Decision>);
/// Arguments, or `null` for none.
pub(super) struct ExpectedInput(Expected<JsonObject>);
/// Names of hooks and their places.
#[derive(Default)]
pub(super) struct HookNames(Vec<(String, Location)>);
/// An exit code of `run`.
pub(super) struct ExitCode(u8);
/// What hooks say that are not run.
#[derive(Default)]
pub(super) struct Stubs(Vec<(String, Location, Stub)>);

/// Returns the names of the events that are `wanted`.
pub(super) fn events(wanted: fn(Event) -> bool) -> Vec<&'static str> {
    Event::all().filter(|event| wanted(*event)).map(Event::name).collect()
}

impl CaseFile {
    /// Reads the cases of one file.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        Self::from_yaml(&read_file(path.as_ref())?, path)
    }

    /// Reads cases from `text`; `path` is what messages call it, and where `config` is looked for.
    ///
    /// # Errors
    /// All problems of the text.
    pub fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let path = path.as_ref();
        reading::read_text(path, text, |reader, root| case_file(reader, root, path))
    }
}

/// Returns the hooks file that a file of cases is named after.
fn named_after(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    ENDINGS.iter().find_map(|(ending, other)| {
        let stem = name.strip_suffix(ending).filter(|stem| !stem.is_empty())?;
        Some(path.with_file_name(format!("{stem}{other}")))
    })
}

fn case_file(reader: &mut Reader, root: &Node, path: &Path) -> Option<CaseFile> {
    let keys: FileKeys<'_> = reader.value(root, "")?;
    let directory = path.parent().unwrap_or_else(|| Path::new(""));
    let configs = if keys.fields.get("config").is_some() {
        keys.config?.0.iter().map(|written| directory.join(written)).collect()
    } else {
        vec![named_after(path).or_else(|| {
            let hint = "add `config: hooks.yaml`, or name the file `hooks.test.yaml`";
            reader.error_with_hint(root, "which hooks file is tested?", hint);
            None
        })?]
    };
    let Some(CaseList(list)) = keys.cases else {
        if keys.fields.lacks("cases") {
            reader.error_with_hint(root, "a file of cases needs `cases`", CASE_HINT);
        }
        return None;
    };
    let items = match &list.value {
        Value::List(items) if !items.is_empty() => items,
        value => {
            let is_empty = matches!(value, Value::List(_) | Value::Null);
            let problem = if is_empty { "is empty" } else { "must be a list" };
            reader.error_with_hint(list, format!("`cases` {problem}"), CASE_HINT);
            return None;
        }
    };
    let cases: Vec<Case> = items.iter().filter_map(|item| case(reader, item)).collect();
    for (index, case) in cases.iter().enumerate() {
        let first = cases[..index].iter().find(|other| other.name == case.name);
        if let (Some(first), Some(node)) = (first, items.get(index)) {
            let hint = format!("the first is on line {}", first.location.line());
            reader.error_with_hint(node, format!("two cases are called `{}`", case.name), hint);
        }
    }
    Some(CaseFile { path: path.to_owned(), configs, cases })
}

fn case(reader: &mut Reader, node: &Node) -> Option<Case> {
    let errors = reader.errors();
    let mut keys: CaseKeys<'_> = reader.value(node, "")?;
    let native = keys.fields.get("from").is_some();
    for key in ["name", "event", "expect"] {
        if keys.fields.lacks(key) && !(native && key == "event") {
            reader.error_with_hint(node, format!("a case needs `{key}`"), CASE_HINT);
        }
    }
    let moment = if native {
        native_call(reader, node, &mut keys).map(|call| Moment::Native(Box::new(call)))
    } else {
        own_call(reader, node, &keys)
    };
    if reader.errors() > errors {
        return None;
    }
    Some(Case {
        name: keys.name?.0,
        moment: moment?,
        stubs: keys.stubs.unwrap_or_default().0,
        expect: keys.expect?,
        location: reader.location(node),
    })
}

/// Reads the event and its input in words of ours.
fn own_call(reader: &mut Reader, node: &Node, keys: &CaseKeys<'_>) -> Option<Moment> {
    if let Some(Payload(payload)) = keys.payload {
        let hint = "add `from: AGENT`, or write `input` in place of `payload`";
        reader.error_with_hint(payload, "`payload` is an agent's, and no agent is named", hint);
    }
    let event = keys.event.as_ref().and_then(|EventName(node)| case_event(reader, node))?;
    let input = match keys.input {
        Some(CaseInput(input)) => case_input(reader, input, event),
        None if !keys.fields.lacks("input") => None,
        None if event.contract().tool_matched => {
            let hint = "add `input: { tool_name: shell, tool_input: { cmd: ls } }`";
            reader.error_with_hint(node, format!("a case of `{event}` needs an `input`"), hint);
            None
        }
        None => Some(Input::default()),
    };
    Some(Moment::Own(event, Box::new(input?)))
}

/// Reads an agent's payload, as `run --from AGENT` does.
fn native_call(reader: &mut Reader, node: &Node, keys: &mut CaseKeys<'_>) -> Option<NativeCall> {
    let AgentName(agent) = keys.from.take()?.value;
    if let Some(CaseInput(input)) = keys.input {
        let hint = "write `payload`: what the agent writes to standard input";
        reader.error_with_hint(input, "`input` does not go with `from`", hint);
        return None;
    }
    let Some(Payload(payload)) = keys.payload else {
        let hint =
            "add `payload: { hook_event_name: PreToolUse, tool_name: ..., tool_input: {...} }`";
        reader.error_with_hint(node, "a case with `from` needs the agent's `payload`", hint);
        return None;
    };
    let event = match keys.event {
        Some(EventName(node)) => Some(Filled::read(reader, node, "`event`")?.0),
        None => None,
    };
    let json = Json::read(reader, payload, "")?.to_string();
    match hookexec_agents::read(agent, event.as_deref(), json.as_bytes(), |_| None) {
        Ok(call) if call.event.is_some() => return Some(call),
        Ok(call) => {
            let message = format!("hookexec has no event for `{}`", call.native.name);
            reader.error(payload, message);
        }
        Err(error) => reader.error(payload, error.to_string()),
    }
    None
}

fn case_event(reader: &mut Reader, node: &Node) -> Option<Event> {
    let name = Filled::read(reader, node, "`event`")?.0;
    let event = name.parse::<Event>().ok();
    if event.is_none() {
        let hint = suggest::hint(&name, Event::all().map(Event::name));
        let hint = hint.unwrap_or_else(|| "`hookexec events` lists them".to_owned());
        reader.error_with_hint(node, format!("unknown event `{name}`"), hint);
    }
    event
}

fn case_input(reader: &mut Reader, node: &Node, event: Event) -> Option<Input> {
    let errors = reader.errors();
    let fields = reader.open_fields(node, "`input`")?;
    for (name, key, _) in fields.iter().filter(|(name, ..)| !Input::FIELDS.contains(name)) {
        // Other keys are a host's own; one that is nearly ours is a slip that would make the
        // case prove nothing.
        if let Some(hint) = suggest::hint(name, Input::FIELDS.iter().copied()) {
            reader.error_with_hint(key, format!("unknown key `{name}` in `input`"), hint);
        }
    }
    let value = Json::read(reader, node, "")?;
    if reader.errors() > errors {
        return None;
    }
    let mut input = match Input::deserialize(&value) {
        Ok(input) => input,
        Err(error) => {
            let hint = "`hookexec schema input` prints what an input looks like";
            reader.error_with_hint(node, format!("`input` can't be read: {error}"), hint);
            return None;
        }
    };
    if event.contract().tool_matched && input.tool().is_empty() {
        reader.error_with_hint(node, format!("`{event}` needs a `tool_name`"), "add `tool_name`");
        return None;
    }
    hookexec_agents::add_tool_kinds(&mut input);
    Some(input)
}

fn stub(reader: &mut Reader, node: &Node) -> Option<Stub> {
    const HINT: &str = "write the answer it gives, such as `{ decision: deny, reason: no }`; \
                        `{}` for none; `{ failure: timed out }` for a hook that fails";
    if matches!(node.value, Value::Null) {
        return Some(Stub::Answer(Box::default()));
    }
    let fields: Fields<'_> = reader.open_fields(node, "a stub")?;
    if let Some(value) = fields.get("failure") {
        if fields.iter().count() > 1 {
            reader.error(node, "`failure` stands alone: a hook that failed gives no answer");
            return None;
        }
        return Filled::read(reader, value, "`failure`").map(|cause| Stub::Failure(cause.0));
    }
    match Output::from_value(Json::read(reader, node, "")?) {
        Ok(output) if output.unknown_keys().next().is_none() => {
            Some(Stub::Answer(Box::new(output)))
        }
        Ok(output) => {
            for key in output.unknown_keys() {
                reader.error_with_hint(node, format!("{key}, in a stub"), HINT);
            }
            None
        }
        Err(error) => {
            reader.error_with_hint(node, format!("a stub can't be read: {error}"), HINT);
            None
        }
    }
}

impl Kind<'_> for OneOrMany {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let items = node.one_or_many();
        if items.is_empty() {
            reader.error(node, format!("{what} is empty"));
            return None;
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

impl Kind<'_> for Expectation {
    fn read(reader: &mut Reader, node: &Node, _: &str) -> Option<Self> {
        let errors = reader.errors();
        let keys: ExpectKeys<'_> = reader.value(node, "")?;
        if keys.fields.iter().next().is_none() {
            let names: Vec<&str> = ExpectKeys::KEYS.iter().map(|key| key.name).collect();
            let hint = format!("add one of: {}", names.join(", "));
            reader.error_with_hint(node, "a case that expects nothing proves nothing", hint);
        }
        let expect = Self {
            decision: keys.decision.map(|decision| decision.0),
            allowed: keys.allowed,
            message: keys.message,
            updated_input: keys.updated_input.map(|input| input.0),
            additional_context: keys.additional_context,
            system_message: keys.system_message,
            ran: keys.ran.map(|names| names.0),
            not_run: keys.not_run.unwrap_or_default().0,
            failed_open: keys.failed_open.map(|names| names.0),
            exit_code: keys.exit_code.map(|code| code.0),
        };
        (reader.errors() == errors).then_some(expect)
    }

    fn schema() -> Json {
        reading::reference("expectation")
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

impl Kind<'_> for ExpectedInput {
    const SCHEMA: &'static str = r#"{ "type": ["object", "null"] }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        Some(Self(match reader.value(node, what)? {
            Json::Null => Expected::Nothing,
            Json::Object(object) => Expected::Is(object),
            _ => {
                let hint =
                    "write the whole arguments of the tool, or `null` when they must not change";
                reader.error_with_hint(node, format!("{what} must be a mapping"), hint);
                return None;
            }
        }))
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
            reader.error(node, format!("{what} must be a list of hooks, by name"));
            return None;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        CaseFile::from_yaml(text, "hooks.test.yaml").unwrap_err().to_string()
    }

    #[test]
    fn a_normal_file_is_read() {
        let text = r#"
cases:
  - name: no rm
    event: pre_tool_use
    input: { tool_name: shell, tool_input: { cmd: rm x }, own_key: 3 }
    stubs:
      logger: {}
      guard: { decision: deny, reason: no }
      slow: { failure: timed out }
    expect: { decision: none, message: { regex: "^no" }, updated_input: null, ran: [guard], exit_code: 2 }
"#;
        let file = CaseFile::from_yaml(text, "a/hooks.test.yaml").unwrap();
        assert_eq!(file.configs, [Path::new("a/hooks.yaml")]);
        let case = &file.cases[0];
        assert_eq!(case.location.to_string(), "a/hooks.test.yaml:3");
        assert_eq!(case.stubs.len(), 3);
        assert!(matches!(&case.stubs[2].2, Stub::Failure(why) if why == "timed out"));
        assert_eq!(case.expect.decision, Some(Expected::Nothing));
        assert_eq!(case.expect.updated_input, Some(Expected::Nothing));
        assert_eq!(case.expect.exit_code, Some(2));
    }

    #[test]
    fn every_problem_is_named_with_its_line() {
        let text = "
cases:
  - { name: a, event: pre_tool_usee, expect: { decision: deny } }
  - { name: b, event: pre_tool_use, input: { tool_nam: shell }, expect: { decision: den } }
  - { name: c, event: stop, expect: {} }
  - { name: d, event: stop, expekt: { allowed: true } }
  - { name: e, event: stop, stubs: { x: { decisio: deny } }, expect: { exit_code: 1, mesage: x } }
  - { name: f, event: pre_tool_use, expect: { message: { regex: '(' } } }
";
        let said = problems(text);
        for wanted in [
            "hooks.test.yaml:3: unknown event `pre_tool_usee`",
            "hooks.test.yaml:4: unknown key `tool_nam` in `input`",
            "hooks.test.yaml:4: unknown value `den` for `decision`",
            "hooks.test.yaml:5: a case that expects nothing proves nothing",
            "hooks.test.yaml:6: unknown key `expekt` in a case",
            "hooks.test.yaml:7: unknown key `decisio`; did you mean `decision`?, in a stub",
            "hooks.test.yaml:7: `exit_code` must be 0, 2 or 3",
            "hooks.test.yaml:7: unknown key `mesage` in `expect`",
            "hooks.test.yaml:8: a case of `pre_tool_use` needs an `input`",
            "hooks.test.yaml:8: not a valid regular expression",
        ] {
            assert!(said.contains(wanted), "{wanted}\n{said}");
        }
    }

    #[test]
    fn names_are_unique_and_something_must_be_there() {
        let twice = "cases:\n- { name: a, event: stop, expect: { allowed: true } }\n- { name: a, event: stop, expect: { allowed: true } }\n";
        assert_eq!(problems(twice), "hooks.test.yaml:3: two cases are called `a`");
        assert_eq!(problems("cases: []"), "hooks.test.yaml:1: `cases` is empty");
        let nameless = CaseFile::from_yaml("cases: []", "x.yaml").unwrap_err().to_string();
        assert_eq!(nameless, "x.yaml:1: which hooks file is tested?");
    }
}
