//! `add_context`: gives the model a text with fields of the input in it.

use std::sync::Arc;

use serde_json::Value;

use super::{Asked, Surroundings, Work};
use crate::names::OTHER_FIELDS;
use hookexec::registry::{BuiltinError, too_long};
use hookexec::{Input, Output};
use hookexec_files::{suggest, template};

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(Vec<String>),
}

pub(super) fn prepare(_: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    if args.is_empty() {
        return Err("it needs a text".into());
    }
    let mut parts = Vec::new();
    for (index, text) in args.iter().enumerate() {
        if index > 0 {
            parts.push(Part::Text("\n".to_owned()));
        }
        parse(text, &MARKS, &mut parts)?;
    }
    Ok(Arc::new(move |asked| {
        let text = render(&parts, asked)?;
        Ok(if text.trim().is_empty() { None } else { Some(Output::context(text)) })
    }))
}

/// The marks around a field, those first in which the others may stand.
const MARKS: [(&str, &str); 2] = [("{{", "}}"), ("${", "}")];

/// Adds the parts of a text whose fields have some of these marks.
fn parse(text: &str, marks: &[(&str, &str)], parts: &mut Vec<Part>) -> Result<(), BuiltinError> {
    let [(open, close), others @ ..] = marks else {
        parts.push(Part::Text(text.to_owned()));
        return Ok(());
    };
    for part in template::parts(text, open, close) {
        match part {
            template::Part::Text(text) => parse(text, others, parts)?,
            template::Part::Field(field) => parts.push(Part::Field(path(field.trim())?)),
            template::Part::Open(rest) => {
                return Err(format!("`{rest}` lacks its `{close}`").into());
            }
        }
    }
    Ok(())
}

pub(super) fn path(field: &str) -> Result<Vec<String>, BuiltinError> {
    let mut path = Vec::new();
    if let Some(pointer) = field.strip_prefix('/') {
        for key in pointer.split('/') {
            path.push(key.replace("~1", "/").replace("~0", "~"));
        }
        return whole(field, path);
    }
    for key in field.strip_prefix('.').unwrap_or(field).split('.') {
        if key.contains(|letter: char| !letter.is_alphanumeric() && !"_-".contains(letter)) {
            return Err(format!(
                "`{field}` is not a field; only fields can be inserted, such as `${{session_id}}`"
            )
            .into());
        }
        path.push(key.to_owned());
    }
    if field.starts_with('.') {
        path[0] = snake_case(&path[0]);
    }
    let known = [Input::FIELDS, OTHER_FIELDS].concat();
    if !known.contains(&&*path[0]) {
        let meant = suggest::did_you_mean(suggest::closest(&path[0], known));
        return Err(format!("`{field}`: inputs have no field `{}`{meant}", path[0]).into());
    }
    whole(field, path)
}

fn whole(field: &str, path: Vec<String>) -> Result<Vec<String>, BuiltinError> {
    if path.iter().any(String::is_empty) {
        return Err(format!("`{field}`: a part of the field's path is empty").into());
    }
    Ok(path)
}

/// Turns Go's `ToolUseID` into `tool_use_id`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let after_small = at > 0 && !letters[at - 1].is_uppercase();
        let before_small =
            at > 0 && matches!(letters.get(at + 1), Some(next) if next.is_lowercase());
        if letter.is_uppercase() && (after_small || before_small) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Joins the parts, with the fields in them. Stops where the text is too long: a large field may be
/// wanted many times.
fn render(parts: &[Part], asked: &Asked<'_>) -> Result<String, BuiltinError> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Field(path) => match asked.lookup(path).as_deref() {
                None | Some(Value::Null) => {}
                Some(Value::String(value)) => text.push_str(value),
                Some(value) => text.push_str(&serde_json::to_string(value)?),
            },
        }
        if text.len() > asked.max_output {
            return Err(too_long(asked.max_output).into());
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_names_become_ours() {
        for (go, ours) in [
            ("SessionID", "session_id"),
            ("ToolUseID", "tool_use_id"),
            ("HookEventName", "hook_event_name"),
            ("Cwd", "cwd"),
            ("CWD", "cwd"),
            ("", ""),
        ] {
            assert_eq!(snake_case(go), ours);
        }
    }
}
