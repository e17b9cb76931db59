//! `audit_log`: writes down what happens, a line of JSON each.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::secrets::Redactor;
use super::{Surroundings, Work, arguments};
use hookexec::Input;
use hookexec::registry::BuiltinError;
use hookexec::wire::JsonObject;
use hookexec_files::files::append_private;
use hookexec_files::text;

/// The longest text that is kept whole, in bytes.
const LONGEST_TEXT: usize = 4096;
/// The fields of a record that would be too long.
const KEPT: [&str; 6] =
    ["time", "session_id", "cwd", "hook_event_name", "tool_name", "tool_use_id"];
/// The longest record, in bytes.
const LONGEST_RECORD: usize = 64 << 10;

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let path = arguments::at_most_one(args)?.ok_or("it needs the file to write to, `PATH`")?;
    let path = place(surroundings, path)?;
    let redactor = Redactor::new(surroundings.env());
    let surroundings = surroundings.clone();
    Ok(Arc::new(move |input| {
        let line = line_of(&redactor, &surroundings.timestamp(), input)?;
        match append_private(&path, &line) {
            Ok(()) => Ok(None),
            Err(error) => {
                Err(format!("the audit log {} can't be written: {error}", path.display()).into())
            }
        }
    }))
}

/// Returns the file of the log. A relative path would lie in the agent's directory, which changes and may be
/// hostile.
fn place(surroundings: &Surroundings, path: &str) -> Result<PathBuf, BuiltinError> {
    let place = match (path.strip_prefix("~/"), surroundings.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => return Err(format!("`{path}`: the home directory is not known").into()),
        (None, _) => PathBuf::from(path),
    };
    if !place.is_absolute() || place.file_name().is_none() {
        return Err(format!(
            "`{path}` must be a file, absolute or below the home directory: `~/...`"
        )
        .into());
    }
    Ok(place)
}

/// Returns the line to write.
fn line_of(redactor: &Redactor, time: &str, input: &Input) -> serde_json::Result<Vec<u8>> {
    let Value::Object(mut fields) = serde_json::to_value(input)? else { return Ok(Vec::new()) };
    clean(redactor, &mut fields);
    fields.insert("time".to_owned(), time.into());
    let mut line = serde_json::to_vec(&fields)?;
    if line.len() >= LONGEST_RECORD {
        fields.retain(|name, _| KEPT.contains(&name.as_str()));
        fields.insert(
            "left_out".into(),
            format!("the record would take {} bytes", line.len()).into(),
        );
        line = serde_json::to_vec(&fields)?;
    }
    line.push(b'\n');
    Ok(line)
}

/// Tells how an input was changed for a log.
#[derive(Debug, Clone, Copy)]
pub struct Cleaned {
    /// Whether secrets were taken out.
    pub redacted: bool,
    /// Whether something long was cut.
    pub cut: bool,
}

/// Makes an input fit for a log: without secrets, with every long text cut, and of a model request
/// only the number of its messages and tools.
pub fn clean(redactor: &Redactor, fields: &mut JsonObject) -> Cleaned {
    let mut cut = false;
    for name in ["messages", "tools"] {
        if let Some(Value::Array(items)) = fields.get(name) {
            let count = items.len().into();
            fields.remove(name);
            fields.insert(format!("{name}_count"), count);
            cut = true;
        }
    }
    // Before the cutting: the rest of a secret that was cut could not be recognised.
    let redacted = redactor.redact_object(fields);
    cut |= shorten(fields.values_mut());
    Cleaned { redacted, cut }
}

/// Cuts every long text inside values, and returns whether there was one.
fn shorten<'v>(values: impl IntoIterator<Item = &'v mut Value>) -> bool {
    let mut cut = false;
    for value in values {
        match value {
            Value::String(long) if long.len() > LONGEST_TEXT => {
                *long = text::cut(long, LONGEST_TEXT).into_owned();
                cut = true;
            }
            Value::Array(items) => cut |= shorten(items),
            Value::Object(object) => cut |= shorten(object.values_mut()),
            _ => {}
        }
    }
    cut
}
