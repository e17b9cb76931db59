//! Reads test cases: `hooks.test.yaml` beside `hooks.yaml`.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value as Json;

use super::keys::{
    AgentName, CASE_HINT, CaseInput, CaseKeys, CaseList, EventName, Expectation, FileKeys, Names,
    Payload, Stubs,
};
use hookexec::config::{Diagnostic, Diagnostics, Location, read_text};
use hookexec::{Event, Input};
use hookexec_agents::{NativeCall, Subject};
use hookexec_files::hooks_file::read_named;
use hookexec_files::kinds::{At, Filled};
use hookexec_files::node::{Node, Value};
use hookexec_files::paths::lexical;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind as _;
use hookexec_files::suggest;

/// How the name of a file of cases ends.
pub const ENDING: &str = ".test.yaml";

/// The cases of one file.
#[derive(Debug, Clone)]
pub(crate) struct CaseFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// The hooks file that is tested; of several, the hooks add up.
    pub(crate) configs: Vec<PathBuf>,
    /// The cases, in the order of the file.
    pub(crate) cases: Vec<Case>,
}

/// One event, and what the hooks should make of it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its name, which no other case of the file has.
    pub(crate) name: String,
    /// The event and its input.
    pub(crate) subject: Subject,
    /// The answers of hooks that do not run.
    pub(crate) stubs: Stubs,
    /// The expected result.
    pub(crate) expect: Expectation,
    /// Where it is written.
    pub(crate) location: Location,
}

impl Case {
    /// Returns every hook that the case names, with the place.
    pub(super) fn named_hooks(&self) -> Vec<(&String, &Location)> {
        let mut names = Vec::new();
        for (name, location, _) in &self.stubs.0 {
            names.push((name, location));
        }
        let expect = &self.expect;
        let lists = [&expect.ran, &expect.not_run, &expect.failed_open];
        for (name, location) in lists.into_iter().flatten().flat_map(|names| &names.0) {
            names.push((name, location));
        }
        names
    }
}

impl CaseFile {
    /// Reads the cases of one file.
    ///
    /// # Errors
    /// All problems of the file.
    pub(crate) fn load(path: &Path) -> Result<Self, Diagnostics> {
        Self::from_yaml(&read_named(path)?, path)
    }

    /// Reads cases from `text`; `path` is what messages call it, and where `config` is looked for.
    ///
    /// # Errors
    /// All problems of the text.
    pub(crate) fn from_yaml(text: &str, path: &Path) -> Result<Self, Diagnostics> {
        read_text(path, text, |reader, root| read_cases(reader, root, path))
    }
}

/// Returns the text of the file of cases at `path` with one more `case` of the hooks file `hooks`, an item
/// in its list. `old` is its text, if there is one.
///
/// # Errors
/// When the text would not be a file of cases, is about another hooks file, or has a case of this name.
pub fn with_case(
    path: &Path,
    old: Option<&str>,
    (name, case): (&str, &str),
    hooks: &Path,
) -> Result<String, Diagnostics> {
    if let Some(old) = old {
        let file = CaseFile::from_yaml(old, path)?;
        if let Some(known) = file.cases.iter().find(|known| known.name == name) {
            let problem = Diagnostic::error(format!("the case `{name}` is there already"));
            return Err(problem.at(known.location.clone()).into());
        }
        if !file.configs.iter().any(|config| lexical(config) == lexical(hooks)) {
            let problem = format!("its `config` names other hooks files than {}", hooks.display());
            let problem = Diagnostic::error(problem).at(Location::of_file(path));
            return Err(problem.hint("rename this file of cases").into());
        }
    }
    let mut text = old.unwrap_or("cases:\n").to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(case);
    if CaseFile::from_yaml(&text, path).is_ok() {
        return Ok(text);
    }
    let problem = Diagnostic::error("a case can't be added in the form that the file has");
    let hint = format!("add these lines to `cases` by hand:\n{case}");
    Err(problem.at(Location::of_file(path)).hint(hint).into())
}

/// Returns the hooks file that a file of cases is named after.
fn named_after(path: &Path) -> Option<PathBuf> {
    let stem = path.file_name()?.to_str()?.strip_suffix(ENDING)?;
    if stem.is_empty() { None } else { Some(path.with_file_name(format!("{stem}.yaml"))) }
}

fn read_cases(reader: &mut Reader, root: &Node, path: &Path) -> Option<CaseFile> {
    let keys: FileKeys<'_> = reader.value(root, "")?;
    let mut configs = Vec::new();
    if keys.fields.get("config").is_some() {
        let directory = path.parent().unwrap_or_else(|| Path::new(""));
        let Names(written) = keys.config?;
        configs.extend(written.into_iter().map(|(name, _)| directory.join(name)));
    } else {
        configs.extend(named_after(path));
    }
    if configs.is_empty() {
        let hint = "add `config: hooks.yaml`, or name the file `hooks.test.yaml`";
        return reader.refuse_with_hint(root, "which hooks file is tested?", hint);
    }
    let items = match keys.cases {
        Some(CaseList(Node { value: Value::List(items), .. })) if !items.is_empty() => items,
        Some(CaseList(list)) => {
            return reader.refuse_with_hint(list, "`cases` must be a list of cases", CASE_HINT);
        }
        None => return None,
    };
    let mut cases: Vec<Case> = Vec::new();
    for item in items {
        let Some(case) = read_case(reader, item) else { continue };
        if let Some(first) = cases.iter().find(|other| other.name == case.name) {
            let hint = format!("the first is on line {}", first.location.line());
            reader.error_with_hint(item, format!("two cases are called `{}`", case.name), hint);
        }
        cases.push(case);
    }
    Some(CaseFile { path: path.to_owned(), configs, cases })
}

fn read_case(reader: &mut Reader, node: &Node) -> Option<Case> {
    let errors = reader.errors();
    let keys: CaseKeys<'_> = reader.value(node, "")?;
    let native = keys.fields.get("from").is_some();
    if keys.payload.is_some() != native || native && keys.input.is_some() {
        let problem = "`from` and the agent's `payload` go together, without `input`";
        let hint = "write `event` and `input`, or `from: AGENT` and `payload`: what the agent writes \
                    to standard input";
        return reader.refuse_with_hint(node, problem, hint);
    }
    if !native && keys.fields.lacks("event") {
        reader.error_with_hint(node, "a case needs `event`", CASE_HINT);
    }
    let subject = if native {
        read_native(reader, &keys).map(|call| Subject::Native(Box::new(call)))
    } else {
        read_own(reader, node, &keys)
    };
    if let Some(At { node, .. }) = &keys.expect
        && node.as_map().is_some_and(<[_]>::is_empty)
    {
        let hint = format!("add one of: {}", Expectation::NAMES.join(", "));
        reader.error_with_hint(node, "a case that expects nothing proves nothing", hint);
    }
    if reader.errors() > errors {
        return None;
    }
    Some(Case {
        name: keys.name?.0,
        subject: subject?,
        stubs: keys.stubs.unwrap_or_default(),
        expect: keys.expect?.value,
        location: reader.location(node),
    })
}

/// Reads the event and its input in words of ours.
fn read_own(reader: &mut Reader, node: &Node, keys: &CaseKeys<'_>) -> Option<Subject> {
    let EventName(written) = keys.event.as_ref()?;
    let name = Filled::read(reader, written, "`event`")?.0;
    let Ok(event) = name.parse::<Event>() else {
        let hint = suggest::hint(&name, Event::all().map(Event::name));
        let hint = hint.unwrap_or_else(|| "`hookexec docs events` lists them".to_owned());
        return reader.refuse_with_hint(written, format!("unknown event `{name}`"), hint);
    };
    let input = match keys.input {
        Some(CaseInput(input)) => read_input(reader, input, event)?,
        None if !keys.fields.lacks("input") => return None,
        None if event.contract().tool_matched => {
            let hint = "add `input: { tool_name: shell, tool_input: { cmd: ls } }`";
            let problem = format!("a case of `{event}` needs an `input`");
            return reader.refuse_with_hint(node, problem, hint);
        }
        None => Input::default(),
    };
    Some(Subject::Own(event, Box::new(input)))
}

/// Reads an agent's payload, as `run --from AGENT` does.
fn read_native(reader: &mut Reader, keys: &CaseKeys<'_>) -> Option<NativeCall> {
    let AgentName(agent) = keys.from.as_ref()?;
    let Payload(payload) = keys.payload.as_ref()?;
    let mut event = None;
    if let Some(EventName(written)) = &keys.event {
        event = Some(Filled::read(reader, written, "`event`")?.0);
    }
    let json = Json::read(reader, payload, "")?.to_string();
    match hookexec_agents::read(*agent, event.as_deref(), json.as_bytes(), |_| None) {
        Ok(call) if call.event.is_some() => Some(call),
        Ok(call) => {
            let problem = format!("hookexec has no event for `{}`", call.native.name);
            reader.refuse(payload, problem)
        }
        Err(error) => {
            let hint = "write all that the agent writes to standard input; if that does not name \
                        the event, add it to the case: `event: PreToolUse`";
            reader.refuse_with_hint(payload, error.to_string(), hint)
        }
    }
}

fn read_input(reader: &mut Reader, node: &Node, event: Event) -> Option<Input> {
    let errors = reader.errors();
    for (name, key, _) in reader.open_fields(node, "`input`")?.iter() {
        // Other keys are a host's own; one that is nearly ours is a slip that would make the
        // case prove nothing.
        if !Input::FIELDS.contains(&name)
            && let Some(hint) = suggest::hint(name, Input::FIELDS.iter().copied())
        {
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
        return reader.refuse(node, format!("`{event}` needs a `tool_name` in its `input`"));
    }
    hookexec_agents::add_tool_kinds(&mut input);
    Some(input)
}

#[cfg(test)]
mod tests {
    use super::super::keys::DecisionWord;
    use super::*;

    fn problems(text: &str) -> String {
        lines(&CaseFile::from_yaml(text, Path::new("hooks.test.yaml")).unwrap_err())
    }

    fn lines(problems: &Diagnostics) -> String {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
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
    expect: { decision: none, message: { regex: "^no" }, updated_input: null, ran: [guard], allowed: false }
"#;
        let file = CaseFile::from_yaml(text, Path::new("a/hooks.test.yaml")).unwrap();
        assert_eq!(file.configs, [Path::new("a/hooks.yaml")]);
        let case = &file.cases[0];
        assert_eq!(case.location.to_string(), "a/hooks.test.yaml:3");
        assert_eq!(case.stubs.0.len(), 3);
        assert!(matches!(&case.stubs.0[2].2, Err(error) if error.message == "timed out"));
        assert_eq!(case.expect.decision, Some(DecisionWord(None)));
        assert!(case.expect.updated_input.as_ref().is_some_and(|wanted| wanted.0.is_none()));
        assert_eq!(case.expect.allowed, Some(false));
    }

    #[test]
    fn every_problem_is_named_with_its_line() {
        let text = "
cases:
  - { name: a, event: pre_tool_usee, expect: { decision: deny } }
  - { name: b, event: pre_tool_use, input: { tool_nam: shell }, expect: { decision: den } }
  - { name: c, event: stop, expect: {} }
  - { name: d, event: stop, expekt: { allowed: true } }
  - { name: e, event: stop, stubs: { x: { decisio: deny } }, expect: { allowed: maybe, mesage: x } }
  - { name: f, event: pre_tool_use, expect: { message: { regex: '(' }, system_message: {} } }
";
        let said = problems(text);
        for wanted in [
            "hooks.test.yaml:3: unknown event `pre_tool_usee`",
            "hooks.test.yaml:4: unknown key `tool_nam` in `input`",
            "hooks.test.yaml:4: unknown value `den` for `decision`",
            "hooks.test.yaml:5: a case that expects nothing proves nothing",
            "hooks.test.yaml:6: unknown key `expekt` in a case",
            "hooks.test.yaml:7: unknown key `decisio`; did you mean `decision`?, in a stub",
            "hooks.test.yaml:7: `allowed` must be `true` or `false`",
            "hooks.test.yaml:7: unknown key `mesage` in `expect`",
            "hooks.test.yaml:8: a case of `pre_tool_use` needs an `input`",
            "hooks.test.yaml:8: not a valid regular expression",
            "hooks.test.yaml:8: `system_message` needs `regex`",
        ] {
            assert!(said.contains(wanted), "{wanted}\n{said}");
        }
    }

    #[test]
    fn names_are_unique_and_something_must_be_there() {
        let twice = "cases:\n- { name: a, event: stop, expect: { allowed: true } }\n- { name: a, event: stop, expect: { allowed: true } }\n";
        assert_eq!(problems(twice), "hooks.test.yaml:3: two cases are called `a`");
        assert_eq!(problems("cases: []"), "hooks.test.yaml:1: `cases` must be a list of cases");
        let nameless = CaseFile::from_yaml("cases: []", Path::new("x.yaml")).unwrap_err();
        assert_eq!(lines(&nameless), "x.yaml:1: which hooks file is tested?");
    }
}
