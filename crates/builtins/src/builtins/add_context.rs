//! `add_context`: gives the model a text with fields of the input in it.

use std::sync::Arc;

use serde_json::Value;

use super::{Asked, Surroundings, Work};
use hookexec::registry::{BuiltinError, too_long};
use hookexec::wire::{Input, Output};
use hookexec_files::{suggest, template};

/// Fields that docker-agent has and that are kept among the other keys of an input.
const OTHER_FIELDS: &str = "\
    safety_policy steering_messages parent_session_id from_agent to_agent agent_switch_kind \
    from_agent_models previous_max_iterations new_max_iterations safety_label usage cost \
    input_tokens output_tokens context_limit compaction_reason worktree_path worktree_branch \
    worktree_source_dir skill prompt_file";

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
    let texts: Vec<Vec<Part>> = args.iter().map(|arg| parse(arg)).collect::<Result<_, _>>()?;
    Ok(Arc::new(move |asked| {
        let text = render(&texts, asked)?;
        Ok(if text.trim().is_empty() { None } else { Some(Output::context(text)) })
    }))
}

fn parse(text: &str) -> Result<Vec<Part>, BuiltinError> {
    let mut parts = Vec::new();
    for part in template::parts(text, "{{", "}}") {
        parts.push(match part {
            template::Part::Text(text) => Part::Text(text.to_owned()),
            template::Part::Field(field) => Part::Field(path(field.trim())?),
            template::Part::Open(rest) => return Err(format!("`{rest}` lacks its `}}}}`").into()),
        });
    }
    Ok(parts)
}

pub(super) fn path(field: &str) -> Result<Vec<String>, BuiltinError> {
    if let Some(pointer) = field.strip_prefix('/') {
        return whole(
            field,
            pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect(),
        );
    }
    let mut path: Vec<String> =
        field.strip_prefix('.').unwrap_or(field).split('.').map(str::to_owned).collect();
    if field.starts_with('.') {
        path[0] = snake_case(&path[0]);
    }
    if !path.iter().all(|key| is_plain(key)) {
        return Err(format!(
            "`{{{{{field}}}}}` is not a field; only fields can be inserted, such as `{{{{session_id}}}}`"
        ).into());
    }
    if !known_fields().any(|name| name == path[0]) {
        let meant = suggest::closest(&path[0], known_fields());
        return Err(format!(
            "`{{{{{field}}}}}`: inputs have no field `{}`{}",
            path[0],
            suggest::did_you_mean(meant)
        )
        .into());
    }
    whole(field, path)
}

fn is_plain(key: &str) -> bool {
    key.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
}

fn known_fields() -> impl Iterator<Item = &'static str> + Clone {
    Input::FIELDS.iter().copied().chain(OTHER_FIELDS.split(' '))
}

fn whole(field: &str, path: Vec<String>) -> Result<Vec<String>, BuiltinError> {
    if path.iter().any(String::is_empty) {
        return Err(format!("`{{{{{field}}}}}`: a part of the field's path is empty").into());
    }
    Ok(path)
}

/// Turns Go's `ToolUseID` into `tool_use_id`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let after_small = at > 0 && !letters[at - 1].is_uppercase();
        let before_small = at > 0 && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (after_small || before_small) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Joins the texts, with the fields in them. Stops where the text is too long: a large field may be
/// wanted many times.
fn render(texts: &[Vec<Part>], asked: &Asked<'_>) -> Result<String, BuiltinError> {
    let mut text = String::new();
    for (index, parts) in texts.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
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
