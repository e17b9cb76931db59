//! Reads test cases: `hooks.test.yaml` beside `hooks.yaml`.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value as Json;

use super::case::{Case, CaseFile};
use super::case_keys::{
    AgentName, CaseInput, CaseKeys, CaseList, EventName, Expectation, FileKeys, Payload,
};
use crate::moment::Moment;
use hookexec::config::Diagnostics;
use hookexec::event::Event;
use hookexec::internal::reading::{self, At, Filled, Kind, Node, Reader, Value};
use hookexec::internal::{read_file, suggest};
use hookexec::wire::Input;
use hookexec_agents::NativeCall;

/// What a file's name ends with, and what its hooks file's name ends with in that place.
pub(super) const ENDINGS: [(&str, &str); 2] = [(".test.yaml", ".yaml"), (".test.yml", ".yml")];

const CASE_HINT: &str =
    "write `- { name: ..., event: pre_tool_use, input: {...}, expect: { decision: deny } }`";

impl CaseFile {
    /// Reads the cases of one file.
    ///
    /// # Errors
    /// All problems of the file.
    pub(crate) fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        Self::from_yaml(&read_file(path.as_ref())?, path)
    }

    /// Reads cases from `text`; `path` is what messages call it, and where `config` is looked for.
    ///
    /// # Errors
    /// All problems of the text.
    pub(crate) fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
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
            reader.refuse_with_hint(root, "which hooks file is tested?", hint)
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
            return reader.refuse_with_hint(list, format!("`cases` {problem}"), CASE_HINT);
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
    if let Some(At { node, .. }) = &keys.expect
        && matches!(&node.value, Value::Map(entries) if entries.is_empty())
    {
        let hint = format!("add one of: {}", Expectation::NAMES.join(", "));
        reader.error_with_hint(node, "a case that expects nothing proves nothing", hint);
    }
    if reader.errors() > errors {
        return None;
    }
    Some(Case {
        name: keys.name?.0,
        moment: moment?,
        stubs: keys.stubs.unwrap_or_default().0,
        expect: keys.expect?.value,
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
            reader.refuse_with_hint(node, format!("a case of `{event}` needs an `input`"), hint)
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
        return reader.refuse_with_hint(input, "`input` does not go with `from`", hint);
    }
    let Some(Payload(payload)) = keys.payload else {
        let hint =
            "add `payload: { hook_event_name: PreToolUse, tool_name: ..., tool_input: {...} }`";
        return reader.refuse_with_hint(
            node,
            "a case with `from` needs the agent's `payload`",
            hint,
        );
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
        let hint = hint.unwrap_or_else(|| "`hookexec docs events` lists them".to_owned());
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
            let hint = "`hookexec docs schema input` prints what an input looks like";
            return reader.refuse_with_hint(node, format!("`input` can't be read: {error}"), hint);
        }
    };
    if event.contract().tool_matched && input.tool().is_empty() {
        return reader.refuse_with_hint(
            node,
            format!("`{event}` needs a `tool_name`"),
            "add `tool_name`",
        );
    }
    hookexec_agents::add_tool_kinds(&mut input);
    Some(input)
}

#[cfg(test)]
mod tests {
    use super::super::case::Expected;
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
        assert!(matches!(&case.stubs[2].2, Err(error) if error.message == "timed out"));
        let decision = case.expect.decision.as_ref().map(|decision| &decision.0);
        assert_eq!(decision, Some(&Expected::Nothing));
        assert_eq!(case.expect.updated_input, Some(Expected::Nothing));
        assert_eq!(case.expect.exit_code.map(|code| code.0), Some(2));
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
