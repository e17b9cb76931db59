//! The event's input, from stdin.

use std::io::{ErrorKind, IsTerminal};

use hookexec::wire::{JsonObject, parse_strict};
use hookexec::{Event, Input};
use hookexec_files::bounded::{MAX_MESSAGE, read_expected};
use serde_json::Value;

use crate::console::output;
use crate::error::{CommandError, OrCommandError as _, warn};

/// Reads stdin to its end, so that the writer never gets an error, whatever goes wrong later.
pub(crate) fn read_stdin() -> Result<Vec<u8>, CommandError> {
    let stdin = std::io::stdin().lock();
    if stdin.is_terminal() {
        output::talk(
            "reading the event's input, a JSON object, from the terminal; Ctrl-D ends it\n",
        );
    }
    match read_expected(stdin, 0, MAX_MESSAGE) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            let most = MAX_MESSAGE >> 20;
            Err(CommandError::data(format!("the input on stdin is larger than {most} MiB")))
        }
        read => read.or_data("can't read stdin"),
    }
}

/// Reads the input of `event` from `bytes`, for the subcommand `command`.
pub(crate) fn parse(command: &str, event: Event, bytes: &[u8]) -> Result<Input, CommandError> {
    let object = match read_object(command, bytes) {
        Ok(object) => object,
        Err(error) => return Err(error.hint(example(command, event))),
    };
    let mut input = match Input::from_json(object) {
        Ok(input) => input,
        Err(error) => {
            let key = error.key.unwrap_or_default();
            let message = format!("`{key}` in the input can't be read: {}", error.problem);
            let hint = if key == "hook_event_name" { NATIVE } else { SCHEMA };
            return Err(CommandError::data(message).hint(hint));
        }
    };
    if let Some(said) = input.hook_event_name
        && said != event
    {
        warn(&format!("the input says `{said}`, and `{event}` was asked for; it is run as that"));
    }
    if event.contract().tool_matched && input.tool().is_empty() {
        let message =
            format!("the input has no `tool_name`, so no hook could be chosen for `{event}`");
        return Err(CommandError::data(message).hint(example(command, event)));
    }
    hookexec_agents::add_tool_kinds(&mut input);
    Ok(input)
}

fn read_object(command: &str, bytes: &[u8]) -> Result<JsonObject, CommandError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).or_data("the input on stdin is not UTF-8")?;
    if text.trim().is_empty() {
        let message = format!("stdin is empty; `{command}` reads the event's input from it");
        return Err(CommandError::data(message));
    }
    match parse_strict(text).or_data("the input on stdin is not valid JSON")? {
        Value::Object(object) => Ok(object),
        _ => Err(CommandError::data("the input on stdin is not a JSON object")),
    }
}

const SCHEMA: &str = "`hookexec docs schema input` prints what an input looks like";

const NATIVE: &str = "a coding agent's own payload is read with `hookexec run --from AGENT`";

fn example(command: &str, event: Event) -> String {
    format!("for example: echo '{}' | hookexec {command} {event}", example_of(event))
}

/// Returns an input of `event`, to try it out.
pub(crate) fn example_of(event: Event) -> &'static str {
    if event.contract().tool_matched {
        r#"{"tool_name": "shell", "tool_input": {"cmd": "ls"}}"#
    } else {
        r#"{"session_id": "s1"}"#
    }
}
