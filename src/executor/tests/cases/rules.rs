//! What a hook of a case does: the first rule whose conditions hold gives its answer.

use regex::{NoExpand, Regex};
use serde_json::{Value, json};

use super::super::object;
use crate::event::Event;
use crate::wire::{Decision, Input, InputChange, Output, ToolResult};

/// The keys of tool inputs whose value is the text of the input.
const TEXT_KEYS: [&str; 3] = ["command", "content", "url"];

#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rule {
    has: Option<String>,
    has_word: Option<String>,
    has_pattern: Option<String>,
    lacks: Option<String>,
    begins: Option<String>,
    lacks_start: Option<String>,
    exactly: Option<String>,
    /// The first call in this process, or any later one.
    call: Option<usize>,
    repeated: Option<bool>,
    tool_is_not: Option<String>,

    replace: Option<(String, String)>,
    replace_word: Option<(String, String)>,
    replace_pattern: Option<(String, String)>,
    prefix: Option<String>,
    append: Option<String>,
    after_first_word: Option<String>,
    becomes: Option<String>,
    rename: Option<String>,
    allow: bool,
    ask: Option<String>,
    deny: Option<String>,
    /// A result in the tool's place.
    answer: Option<String>,
    crash: bool,
    context: Option<String>,
    message: Option<String>,
    silent: bool,
}

/// Returns the answer of a hook with `rules` to its call number `call`, from 1.
pub(super) fn answer_by(
    rules: &[Rule],
    event: Event,
    input: &Input,
    call: usize,
) -> Result<Option<Output>, String> {
    let text = text_of(event, input);
    let Some(rule) = rules.iter().find(|rule| rule.holds(input, &text, call)) else {
        return Ok(None);
    };
    if rule.crash {
        return Err("it crashed".to_owned());
    }
    Ok(Some(rule.answer(event, input, &text)))
}

/// Returns the text that the hook reads: of the response, of the call, or the prompt.
pub(super) fn text_of(event: Event, input: &Input) -> String {
    if is_after_tool(event) {
        let response = input.tool_response.as_ref();
        return response.map(plain).unwrap_or_default();
    }
    let key = text_key(input);
    let argument = input.tool_input.as_ref().and_then(|arguments| arguments.get(key));
    let argument = argument.map(plain);
    argument.or_else(|| input.prompt.clone()).unwrap_or_default()
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_after_tool(event: Event) -> bool {
    matches!(event, Event::PostToolUse | Event::ToolResponseTransform)
}

/// Returns the key of the text among the arguments.
fn text_key(input: &Input) -> &'static str {
    let Some(arguments) = &input.tool_input else { return TEXT_KEYS[0] };
    let key = TEXT_KEYS.into_iter().find(|key| arguments.contains_key(*key));
    key.unwrap_or(TEXT_KEYS[0])
}

fn word(word: &str) -> Regex {
    Regex::new(&format!(r"\b{}\b", regex::escape(word))).unwrap()
}

impl Rule {
    fn holds(&self, input: &Input, text: &str, call: usize) -> bool {
        let is_number = |number: usize| number == call.min(2);
        let in_text = |pattern: &String| Regex::new(pattern).unwrap().is_match(text);
        self.has.as_ref().is_none_or(|part| text.contains(part))
            && self.has_word.as_ref().is_none_or(|found| word(found).is_match(text))
            && self.has_pattern.as_ref().is_none_or(in_text)
            && self.lacks.as_ref().is_none_or(|part| !text.contains(part))
            && self.begins.as_ref().is_none_or(|start| text.starts_with(start))
            && self.lacks_start.as_ref().is_none_or(|start| !text.starts_with(start))
            && self.exactly.as_ref().is_none_or(|whole| text == whole)
            && self.call.is_none_or(is_number)
            && self.repeated.is_none_or(|repeated| repeated == input.repeated)
            && self.tool_is_not.as_ref().is_none_or(|tool| input.tool() != tool)
    }

    fn answer(&self, event: Event, input: &Input, text: &str) -> Output {
        let rewritten = self.rewritten(text);
        let mut output = if rewritten == text {
            Output::default()
        } else if is_after_tool(event) {
            Output::tool_response(rewritten)
        } else if event == Event::PermissionRequest {
            // An approval takes the arguments as a whole.
            let mut arguments = input.tool_input.clone().unwrap_or_default();
            arguments.insert(text_key(input).to_owned(), rewritten.into());
            let updated_input = Some(InputChange::Replace(arguments));
            Output { updated_input, ..Output::default() }
        } else {
            Output::patch_input(object(json!({ text_key(input): rewritten })))
        };
        output.updated_tool_name.clone_from(&self.rename);
        output.respond = self.answer.as_ref().map(ToolResult::text);
        output.additional_context.clone_from(&self.context);
        output.system_message.clone_from(&self.message);
        output.reason = self.deny.clone().or_else(|| self.ask.clone());
        output.decision = self.decision();
        output
    }

    fn decision(&self) -> Option<Decision> {
        if self.deny.is_some() {
            Some(Decision::Deny)
        } else if self.ask.is_some() {
            Some(Decision::Ask)
        } else if self.allow {
            Some(Decision::Allow)
        } else {
            None
        }
    }

    fn rewritten(&self, text: &str) -> String {
        let mut text = self.becomes.clone().unwrap_or_else(|| text.to_owned());
        if let Some((from, to)) = &self.replace {
            text = text.replace(from, to);
        }
        if let Some((from, to)) = &self.replace_word {
            text = word(from).replace_all(&text, NoExpand(to)).into_owned();
        }
        if let Some((from, to)) = &self.replace_pattern {
            let from = Regex::new(from).unwrap();
            text = from.replace_all(&text, NoExpand(to)).into_owned();
        }
        if let Some(more) = &self.after_first_word {
            let end = text.find(' ').unwrap_or(text.len());
            text.insert_str(end, more);
        }
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let append = self.append.as_deref().unwrap_or_default();
        format!("{prefix}{text}{append}")
    }
}
