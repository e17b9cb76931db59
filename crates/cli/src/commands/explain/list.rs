//! `hookexec explain` without an event: the configured hooks, and where each comes from.

use std::time::Duration;

use hookexec::Event;
use hookexec::config::{Command, Hook, Layer};
use hookexec::wire::Mode;
use hookexec_files::kinds::Words as _;
use serde::{Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

use crate::CommandError;
use crate::config::{ConfigArgs, Purpose};
use crate::console::output::PlainFormat;
use crate::console::table::Table;

/// A hook in the list.
#[skip_serializing_none]
#[derive(Serialize)]
struct Row<'h> {
    event: Event,
    /// Which tools it is for; missing on events without a tool.
    matcher: Option<String>,
    /// Its name, or what it runs.
    name: String,
    #[serde(rename = "type")]
    kind: &'h str,
    command: Option<&'h Command>,
    /// The keys that set it apart from a plain one.
    also: Vec<String>,
    #[serde(rename = "timeout_ms", serialize_with = "milliseconds")]
    timeout: Duration,
    file: String,
    line: usize,
    layer: Layer,
}

/// Lists the configured hooks: event, matcher, name (or else what it runs), file and line.
pub(super) fn show(config: &ConfigArgs, format: PlainFormat) -> Result<(), CommandError> {
    let loaded = config.load(Purpose::Show)?;
    loaded.notices.warn_untold("");
    let config = loaded.found.config;
    if config.files.is_empty() {
        return Err(CommandError::no_files());
    }
    let rows: Vec<Row<'_>> = config.hooks.iter().map(Row::of).collect();
    format.show(&rows, || table(&rows).text())
}

impl<'h> Row<'h> {
    fn of(hook: &'h Hook) -> Self {
        let is_matched = hook.event.contract().tool_matched;
        Self {
            event: hook.event,
            matcher: if is_matched { Some(hook.matcher.to_string()) } else { None },
            name: hook.label(),
            kind: &hook.kind,
            command: hook.command.as_ref(),
            also: other_keys(hook),
            timeout: hook.timeout,
            file: hook.location.path().display().to_string(),
            line: hook.location.line(),
            layer: hook.layer(),
        }
    }
}

fn table(rows: &[Row<'_>]) -> Table<8> {
    let mut table =
        Table::new(["event", "matches", "type", "name", "timeout", "also", "layer", "source"]);
    for row in rows {
        table.row([
            row.event.to_string(),
            row.matcher.clone().unwrap_or_else(|| "-".to_owned()),
            row.kind.to_owned(),
            row.name.clone(),
            format!("{:?}", row.timeout),
            if row.also.is_empty() { "-".to_owned() } else { row.also.join(", ") },
            row.layer.name().replace('_', " "),
            format!("{}:{}", row.file, row.line),
        ]);
    }
    table
}

/// Returns the keys that have no column of their own.
fn other_keys(hook: &Hook) -> Vec<String> {
    let mut keys = Vec::new();
    if !hook.enabled {
        keys.push("disabled".to_owned());
    }
    if let Some((word, _)) = Mode::WORDS.iter().find(|(_, mode)| *mode == hook.mode)
        && hook.mode != Mode::Enforce
    {
        keys.push(format!("mode {word}"));
    }
    for key in hook.written_keys() {
        let has_place =
            ["command", "enabled", "matcher", "mode", "name", "timeout", "type"].contains(&key);
        if !has_place {
            keys.push(key.to_owned());
        }
    }
    // That of the matcher entry.
    if hook.when.is_some() && hook.key_locations.get("when").is_none() {
        keys.push("when".to_owned());
    }
    keys
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    duration.as_millis().serialize(serializer)
}
