//! Reads test cases: `hooks.test.yaml` beside `hooks.yaml`.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::Regex;
use serde::Deserialize as _;
use serde_json::Value as Json;

use super::case::{Case, CaseFile, Expectation, Stub, TextExpectation};
use hookexec::audit::Expected;
use hookexec::config::{Diagnostic, Diagnostics, Location, SourceFile};
use hookexec::event::Event;
use hookexec::internal::suggest;
use hookexec::internal::{Fields, Node, Origin, Reader, Value, parse_yaml, read_file};
use hookexec::wire::{Decision, Input, JsonObject, Output};
use hookexec_agents::{Agent, NativeCall};

/// The keys at the top of a file.
pub(super) const FILE_KEYS: [&str; 2] = ["config", "cases"];
/// The keys of a case.
pub(super) const CASE_KEYS: [&str; 7] =
    ["name", "event", "input", "from", "payload", "stubs", "expect"];
/// The keys of what is expected.
pub(super) const EXPECT_KEYS: [&str; 10] = [
    "decision",
    "allowed",
    "message",
    "updated_input",
    "additional_context",
    "system_message",
    "ran",
    "not_run",
    "failed_open",
    "exit_code",
];
/// What a file's name ends with, and what its hooks file's name ends with in that place.
pub(super) const ENDINGS: [(&str, &str); 2] = [(".test.yaml", ".yaml"), (".test.yml", ".yml")];

pub(super) const DECISIONS: [(&str, Expected<Decision>); 4] = [
    ("allow", Expected::Is(Decision::Allow)),
    ("ask", Expected::Is(Decision::Ask)),
    ("deny", Expected::Is(Decision::Deny)),
    ("none", Expected::Nothing),
];

const CASE_HINT: &str =
    "write `- { name: ..., event: pre_tool_use, input: {...}, expect: { decision: deny } }`";

impl CaseFile {
    /// Reads the cases of one file.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        match read_file(path.as_ref(), Origin::Named) {
            Ok(text) => Self::from_yaml(&text, path),
            Err(problem) => Err(only(problem)),
        }
    }

    /// Reads cases from `text`; `path` is what messages call it, and where `config` is looked for.
    ///
    /// # Errors
    /// All problems of the text.
    pub fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = Arc::new(SourceFile::new(path.as_ref(), text));
        let root = parse_yaml(&source.text).map_err(|error| {
            let mut problem = Diagnostic::error(error.message);
            problem.hint = error.hint;
            only(problem.at(Location::new(Arc::clone(&source), error.range)))
        })?;
        let mut reader = CaseReader(Reader::new(Arc::clone(&source)));
        let cases = reader.case_file(&root, path.as_ref());
        let problems = reader.0.into_problems();
        match cases {
            Some(cases) if !problems.has_errors() => Ok(cases),
            _ => Err(problems),
        }
    }
}

fn only(problem: Diagnostic) -> Diagnostics {
    let mut problems = Diagnostics::default();
    problems.push(problem);
    problems
}

/// Returns the hooks file that a file of cases is named after.
fn named_after(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    ENDINGS.iter().find_map(|(ending, other)| {
        let stem = name.strip_suffix(ending).filter(|stem| !stem.is_empty())?;
        Some(path.with_file_name(format!("{stem}{other}")))
    })
}

/// Reads cases as the reader of hooks files reads hooks.
struct CaseReader(Reader);

impl Deref for CaseReader {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.0
    }
}

impl DerefMut for CaseReader {
    fn deref_mut(&mut self) -> &mut Reader {
        &mut self.0
    }
}

impl CaseReader {
    fn case_file(&mut self, root: &Node, path: &Path) -> Option<CaseFile> {
        let fields = self.fields(root, "a file of cases", &FILE_KEYS)?;
        let configs = match fields.get("config") {
            Some(value) => self.tested(value, path)?,
            None => vec![named_after(path).or_else(|| {
                let hint = "add `config: hooks.yaml`, or name the file `hooks.test.yaml`";
                self.error_with_hint(root, "which hooks file is tested?", hint);
                None
            })?],
        };
        let Some(list) = fields.get("cases") else {
            if fields.lacks("cases") {
                self.error_with_hint(root, "a file of cases needs `cases`", CASE_HINT);
            }
            return None;
        };
        let items = match &list.value {
            Value::List(items) if !items.is_empty() => items,
            Value::List(_) | Value::Null => {
                self.error_with_hint(list, "`cases` is empty", CASE_HINT);
                return None;
            }
            _ => {
                self.error_with_hint(list, "`cases` must be a list", CASE_HINT);
                return None;
            }
        };
        let cases: Vec<Case> = items.iter().filter_map(|item| self.case(item)).collect();
        self.names_are_unique(items, &cases);
        Some(CaseFile { path: path.to_owned(), configs, cases })
    }

    /// Reads the hooks file that is tested, or several.
    fn tested(&mut self, node: &Node, path: &Path) -> Option<Vec<PathBuf>> {
        let items = match &node.value {
            Value::List(items) if items.is_empty() => {
                self.error(node, "`config` is empty");
                return None;
            }
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let directory = path.parent().unwrap_or_else(|| Path::new(""));
        let join = |written: String| directory.join(written);
        items.iter().map(|item| self.filled_text(item, "`config`").map(join)).collect()
    }

    fn names_are_unique(&mut self, items: &[Node], cases: &[Case]) {
        for (index, case) in cases.iter().enumerate() {
            let first = cases[..index].iter().find(|other| other.name == case.name);
            if let (Some(first), Some(node)) = (first, items.get(index)) {
                let hint = format!("the first stands on line {}", first.location.line());
                self.error_with_hint(node, format!("two cases are called `{}`", case.name), hint);
            }
        }
    }

    fn case(&mut self, node: &Node) -> Option<Case> {
        let errors = self.errors();
        let fields = self.fields(node, "a case", &CASE_KEYS)?;
        let native = fields.get("from").is_some();
        for key in ["name", "event", "expect"] {
            if fields.lacks(key) && !(native && key == "event") {
                self.error_with_hint(node, format!("a case needs `{key}`"), CASE_HINT);
            }
        }
        let name = fields.get("name").and_then(|value| self.filled_text(value, "`name`"));
        let call = if native { self.native_call(node, &fields) } else { None };
        let (event, input) = if native {
            let told = call.as_ref().and_then(|call| Some((call.event?, call.input.clone())));
            told.unzip()
        } else {
            self.own_call(node, &fields)
        };
        let stubs = fields.get("stubs").map(|value| self.stubs(value)).unwrap_or_default();
        let expect = fields.get("expect").and_then(|value| self.expectation(value));
        if self.errors() > errors {
            return None;
        }
        let location = self.location(node);
        Some(Case {
            name: name?,
            event: event?,
            input: input?,
            call,
            stubs,
            expect: expect?,
            location,
        })
    }

    /// Reads the event and its input in words of ours.
    fn own_call(&mut self, node: &Node, fields: &Fields<'_>) -> (Option<Event>, Option<Input>) {
        if let Some(payload) = fields.get("payload") {
            let hint = "add `from: AGENT`, or write `input` in place of `payload`";
            self.error_with_hint(payload, "`payload` is an agent's, and no agent is named", hint);
        }
        let event = fields.get("event").and_then(|value| self.case_event(value));
        let input = event.and_then(|event| match fields.get("input") {
            Some(value) => self.case_input(value, event),
            None if fields.lacks("input") => self.no_input(node, event),
            None => None,
        });
        (event, input)
    }

    /// Reads an agent's payload, as `run --from AGENT` does.
    fn native_call(&mut self, node: &Node, fields: &Fields<'_>) -> Option<NativeCall> {
        let agent = self.agent(fields.get("from")?)?;
        if let Some(input) = fields.get("input") {
            let hint = "write `payload`: what the agent writes to standard input";
            self.error_with_hint(input, "`input` does not go with `from`", hint);
            return None;
        }
        let Some(payload) = fields.get("payload") else {
            let hint =
                "add `payload: { hook_event_name: PreToolUse, tool_name: ..., tool_input: {...} }`";
            self.error_with_hint(node, "a case with `from` needs the agent's `payload`", hint);
            return None;
        };
        let event = match fields.get("event") {
            Some(value) => Some(self.filled_text(value, "`event`")?),
            None => None,
        };
        let json = self.json(payload)?.to_string();
        match hookexec_agents::read(agent, event.as_deref(), json.as_bytes(), |_| None) {
            Ok(call) if call.event.is_some() => Some(call),
            Ok(call) => {
                let message = format!("hookexec has no event for `{}`", call.native.name);
                self.error(payload, message);
                None
            }
            Err(error) => {
                self.error(payload, error.to_string());
                None
            }
        }
    }

    fn agent(&mut self, node: &Node) -> Option<Agent> {
        let name = self.filled_text(node, "`from`")?;
        match name.parse() {
            Ok(agent) => Some(agent),
            Err(error) => {
                self.error(node, error.to_string());
                None
            }
        }
    }

    fn case_event(&mut self, node: &Node) -> Option<Event> {
        let name = self.filled_text(node, "`event`")?;
        if let Ok(event) = name.parse::<Event>() {
            return Some(event);
        }
        let hint = match suggest::closest(&name, Event::all().map(Event::name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`hookexec events` lists them".to_owned(),
        };
        self.error_with_hint(node, format!("unknown event `{name}`"), hint);
        None
    }

    fn no_input(&mut self, node: &Node, event: Event) -> Option<Input> {
        if event.contract().tool_matched {
            let hint = "add `input: { tool_name: shell, tool_input: { cmd: ls } }`";
            self.error_with_hint(node, format!("a case of `{event}` needs an `input`"), hint);
            return None;
        }
        Some(Input::default())
    }

    fn case_input(&mut self, node: &Node, event: Event) -> Option<Input> {
        let errors = self.errors();
        let fields = self.open_fields(node, "`input`")?;
        for (name, key, _) in fields.iter().filter(|(name, ..)| !Input::FIELDS.contains(name)) {
            // Other keys are a host's own; one that is nearly ours is a slip that would make the
            // case prove nothing.
            if let Some(meant) = suggest::closest(name, Input::FIELDS) {
                let hint = format!("did you mean `{meant}`?");
                self.error_with_hint(key, format!("unknown key `{name}` in `input`"), hint);
            }
        }
        let value = self.json(node)?;
        if self.errors() > errors {
            return None;
        }
        let mut input = match Input::deserialize(&value) {
            Ok(input) => input,
            Err(error) => {
                let hint = "`hookexec schema input` prints what an input looks like";
                self.error_with_hint(node, format!("`input` can't be read: {error}"), hint);
                return None;
            }
        };
        if event.contract().tool_matched && input.tool().is_empty() {
            let hint = "add `tool_name`";
            self.error_with_hint(node, format!("`{event}` needs a `tool_name`"), hint);
            return None;
        }
        hookexec_agents::add_tool_kinds(&mut input);
        Some(input)
    }

    fn stubs(&mut self, node: &Node) -> Vec<(String, Location, Stub)> {
        let Some(fields) = self.open_fields(node, "`stubs`") else { return Vec::new() };
        let mut stubs = Vec::new();
        for (name, key, value) in fields.iter() {
            if let Some(stub) = self.stub(value) {
                stubs.push((name.to_owned(), self.location(key), stub));
            }
        }
        stubs
    }

    fn stub(&mut self, node: &Node) -> Option<Stub> {
        const HINT: &str = "write the answer it gives, such as `{ decision: deny, reason: no }`; `{}` for none; \
                            `{ failure: timed out }` for a hook that fails";
        if matches!(node.value, Value::Null) {
            return Some(Stub::Answer(Box::default()));
        }
        let fields = self.open_fields(node, "a stub")?;
        if let Some(value) = fields.get("failure") {
            if fields.iter().count() > 1 {
                self.error(node, "`failure` stands alone: a hook that failed gives no answer");
                return None;
            }
            return self.filled_text(value, "`failure`").map(Stub::Failure);
        }
        let value = self.json(node)?;
        match Output::from_value(value) {
            Ok(output) if output.unknown_keys.is_empty() => Some(Stub::Answer(Box::new(output))),
            Ok(output) => {
                for key in &output.unknown_keys {
                    self.error_with_hint(node, format!("{key}, in a stub"), HINT);
                }
                None
            }
            Err(error) => {
                self.error_with_hint(node, format!("a stub can't be read: {error}"), HINT);
                None
            }
        }
    }

    fn expectation(&mut self, node: &Node) -> Option<Expectation> {
        let errors = self.errors();
        let fields = self.fields(node, "`expect`", &EXPECT_KEYS)?;
        if fields.iter().count() == 0 {
            let hint = format!("add one of: {}", EXPECT_KEYS.join(", "));
            self.error_with_hint(node, "a case that expects nothing proves nothing", hint);
        }
        let mut expect = Expectation::default();
        for (name, _, value) in fields.iter() {
            match name {
                "decision" => expect.decision = self.expected_decision(value),
                "allowed" => expect.allowed = self.boolean(value, "`allowed`"),
                "message" => expect.message = self.expected_text(value, "`message`"),
                "additional_context" => {
                    expect.additional_context = self.expected_text(value, "`additional_context`");
                }
                "system_message" => {
                    expect.system_message = self.expected_text(value, "`system_message`");
                }
                "updated_input" => expect.updated_input = self.expected_input(value),
                "ran" => expect.ran = Some(self.hook_names(value, "`ran`")),
                "not_run" => expect.not_run = self.hook_names(value, "`not_run`"),
                "failed_open" => {
                    expect.failed_open = Some(self.hook_names(value, "`failed_open`"));
                }
                "exit_code" => expect.exit_code = self.expected_exit_code(value),
                _ => {}
            }
        }
        (self.errors() == errors).then_some(expect)
    }

    fn expected_decision(&mut self, node: &Node) -> Option<Expected<Decision>> {
        if matches!(node.value, Value::Null) {
            return Some(Expected::Nothing);
        }
        self.choice(node, "`decision`", &DECISIONS)
    }

    /// Reads a text, `{ regex: ... }`, or `null` for no text at all.
    fn expected_text(&mut self, node: &Node, what: &str) -> Option<TextExpectation> {
        match &node.value {
            Value::Null => Some(TextExpectation::Absent),
            Value::Map(_) => {
                let fields = self.fields(node, what, &["regex"])?;
                let value = fields.get("regex")?;
                let written = self.filled_text(value, "`regex`")?;
                match Regex::new(&written) {
                    Ok(regex) => Some(TextExpectation::Matches(regex)),
                    Err(error) => {
                        self.error(value, format!("not a valid regular expression: {error}"));
                        None
                    }
                }
            }
            _ => self.text(node, what).map(TextExpectation::Is),
        }
    }

    fn expected_input(&mut self, node: &Node) -> Option<Expected<JsonObject>> {
        match self.json(node)? {
            Json::Null => Some(Expected::Nothing),
            Json::Object(object) => Some(Expected::Is(object)),
            _ => {
                let hint =
                    "write the whole arguments of the tool, or `null` when they must not change";
                self.error_with_hint(node, "`updated_input` must be a mapping", hint);
                None
            }
        }
    }

    fn expected_exit_code(&mut self, node: &Node) -> Option<u8> {
        let code = match &node.value {
            Value::Number(number) => number.as_u64().filter(|code| [0, 2, 3].contains(code)),
            _ => None,
        };
        if code.is_none() {
            let hint = "`run` answers with 0 (go on), 2 (denied) or 3 (ask)";
            self.error_with_hint(node, "`exit_code` must be 0, 2 or 3", hint);
        }
        code.and_then(|code| u8::try_from(code).ok())
    }

    fn hook_names(&mut self, node: &Node, what: &str) -> Vec<(String, Location)> {
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            Value::Text(_) => std::slice::from_ref(node),
            _ => {
                self.error(node, format!("{what} must be a list of hooks, by name"));
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        for item in items {
            if let Some(name) = self.filled_text(item, "the name of a hook") {
                names.push((name, self.location(item)));
            }
        }
        names
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
