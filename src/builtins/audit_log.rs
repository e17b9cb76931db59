//! `audit_log`: writes down what happens, a line of JSON each.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::{Value, json};

use super::secrets::Redactor;
use super::{Argument, Prepared, Shipped, Surroundings, arguments, text};
use crate::handlers::builtin::BuiltinError;
use crate::wire::{Input, JsonObject};

pub(super) const AUDIT_LOG: Shipped = Shipped {
    name: "audit_log",
    about: "Writes each event to a file as a line of JSON, without secrets",
    arguments: &[Argument {
        usage: "PATH",
        optional: false,
        about: "The file; absolute, or below the home directory as `~/...`.",
    }],
    details: "A record is the event's input with `time` (RFC 3339, UTC) before it. Secrets are taken \
              out as by `redact_secrets`; a text over 4 KiB is cut, and of a model request only the \
              number of its messages and tools is kept, so that a record stays below 64 KiB. Each is \
              appended by one write: any number of processes may share the file. The file is made \
              with mode 0600, its directory with 0700; a link or anything else that is no regular \
              file is refused, and so is a file that another user owns or may write. When a record can't be written the hook fails: on an event that fails \
              closed nothing happens unseen. `on_error: warn` changes that.",
    example: "post_tool_use:\n  - hooks:\n      - { type: builtin, command: audit_log, args: [\"~/.local/state/agent/audit.jsonl\"] }",
    suits: |_| true,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

/// The longest text that is kept whole, in bytes.
const LONGEST_TEXT: usize = 4096;
/// The longest record, in bytes.
const LONGEST_RECORD: usize = 64 * 1024;

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    let path = arguments::at_most_one(args)?.ok_or("it needs the file to write to, `PATH`")?;
    let path = place(surroundings, path)?;
    let redactor = Redactor::new(surroundings.env());
    let surroundings = surroundings.clone();
    Ok(Box::new(move |input| {
        let record = record(&redactor, &surroundings.timestamp(), input)?;
        append(&path, &record).map_err(|error| {
            BuiltinError::from(format!(
                "the audit log {} can't be written: {error}",
                path.display()
            ))
        })?;
        Ok(None)
    }))
}

/// The agent's directory changes and may be hostile: a relative path would lead anywhere.
fn place(surroundings: &Surroundings, path: &str) -> Result<PathBuf, String> {
    let place = match (path.strip_prefix("~/"), surroundings.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => return Err(format!("`{path}`: the home directory is not known")),
        (None, _) => PathBuf::from(path),
    };
    if !place.is_absolute() || place.file_name().is_none() {
        return Err(format!(
            "`{path}` must be a file, absolute or below the home directory: `~/...`"
        ));
    }
    Ok(place)
}

/// Returns the line to write.
fn record(redactor: &Redactor, time: &str, input: &Input) -> serde_json::Result<Vec<u8>> {
    let Value::Object(mut fields) = serde_json::to_value(input)? else { return Ok(Vec::new()) };
    clean(redactor, &mut fields);
    let mut line = serialised(time, fields)?;
    if line.len() >= LONGEST_RECORD {
        let size = line.len();
        let known = ["session_id", "cwd", "hook_event_name", "tool_name", "tool_use_id"];
        let mut short: JsonObject = known
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), input.field(name)?.into_owned())))
            .collect();
        clean(redactor, &mut short);
        short.insert("left_out".into(), json!(format!("the record would take {size} bytes")));
        line = serialised(time, short)?;
    }
    Ok(line)
}

fn serialised(time: &str, fields: JsonObject) -> serde_json::Result<Vec<u8>> {
    /// Keeps `time` first whatever the order of the others.
    #[derive(serde::Serialize)]
    struct Record<'a> {
        time: &'a str,
        #[serde(flatten)]
        fields: JsonObject,
    }
    let mut line = serde_json::to_vec(&Record { time, fields })?;
    line.push(b'\n');
    Ok(line)
}

/// What was done to an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cleaned {
    /// Whether secrets were taken out.
    pub(crate) redacted: bool,
    /// Whether something long was cut.
    pub(crate) cut: bool,
}

/// Makes an input fit for a log: without secrets, with every long text cut, and of a model request
/// only the number of its messages and tools.
pub(crate) fn clean(redactor: &Redactor, fields: &mut JsonObject) -> Cleaned {
    let mut cut = false;
    for name in ["messages", "tools"] {
        if let Some(Value::Array(items)) = fields.get(name) {
            let count = items.len().into();
            fields.remove(name);
            fields.insert(format!("{name}_count"), count);
            cut = true;
        }
    }
    // Before the cutting: of a secret that is cut, nobody would recognise the rest.
    let redacted = redactor.redact_object(fields);
    cut |= shorten_all(fields.values_mut());
    Cleaned { redacted, cut }
}

/// Cuts every long text inside `value`, and returns whether there was one.
fn shorten(value: &mut Value) -> bool {
    match value {
        Value::String(long) if long.len() > LONGEST_TEXT => {
            *long = text::cut(long, LONGEST_TEXT);
            true
        }
        Value::Array(items) => shorten_all(items.iter_mut()),
        Value::Object(object) => shorten_all(object.values_mut()),
        _ => false,
    }
}

/// Cuts every one of `values`, and returns whether any was.
fn shorten_all<'v>(values: impl Iterator<Item = &'v mut Value>) -> bool {
    let mut cut = false;
    for value in values {
        cut |= shorten(value);
    }
    cut
}

/// How often a file may be taken away while something is appended to it.
const ATTEMPTS: usize = 10;

/// Appends `line` by one write, which the system does not mix with another's.
pub(crate) fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    for _ in 0..ATTEMPTS {
        if append_to(&mut open(path)?, line)? {
            return Ok(());
        }
    }
    Err(io::Error::other("it was taken away again and again"))
}

/// Appends `line`, and returns whether the file has a name: when it was taken away between being
/// opened and written, nobody will read the line.
fn append_to(file: &mut File, line: &[u8]) -> io::Result<bool> {
    let data = file.metadata()?;
    let owner = data.uid();
    if !data.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if owner != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!(
            "it belongs to another user (uid {owner}); move it away"
        )));
    }
    if data.mode() & 0o022 != 0 {
        return Err(io::Error::other("other users may write it; run `chmod go-w` on it"));
    }
    let written = file.write(line)?;
    if written < line.len() {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "only a part could be written"));
    }
    Ok(file.metadata()?.nlink() > 0)
}

fn open(path: &Path) -> io::Result<File> {
    // Without NONBLOCK a named pipe in its place would hold the agent up.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(flags.bits().cast_signed());
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            }
            options.open(path)
        }
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Err(io::Error::other("it is a link"))
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_in_a_file_that_was_taken_away_is_known_to_be_lost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut opened = open(&path).unwrap();
        assert!(append_to(&mut opened, b"a\n").unwrap());
        std::fs::rename(&path, directory.path().join("log.1")).unwrap();
        assert!(append_to(&mut opened, b"b\n").unwrap(), "it is read under its new name");
        std::fs::remove_file(directory.path().join("log.1")).unwrap();
        assert!(!append_to(&mut opened, b"c\n").unwrap());
        append(&path, b"c\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"c\n");
    }
}
