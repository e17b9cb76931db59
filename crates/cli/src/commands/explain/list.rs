//! `hookexec explain` without an event: the configured hooks, and where each comes from.

use hookexec::config::Hook;
use hookexec::wire::Mode;
use hookexec_files::kinds::Words as _;
use serde_json::json;

use crate::CommandError;
use crate::config::{ConfigArgs, Purpose};
use crate::console::output::PlainFormat;
use crate::console::table::Table;

/// Lists the configured hooks: event, matcher, name (or else what it runs), file and line.
pub(super) fn show(config: &ConfigArgs, format: PlainFormat) -> Result<(), CommandError> {
    let loaded = config.load(Purpose::Show)?;
    loaded.notices.warn_untold("");
    let config = loaded.found.config;
    if config.files.is_empty() {
        return Err(CommandError::no_files());
    }
    let mut rows = Vec::new();
    let mut table =
        Table::new(["event", "matches", "type", "name", "timeout", "also", "layer", "source"]);
    for hook in &config.hooks {
        let Hook { event, kind, command, timeout, location, .. } = hook;
        let (name, also, layer) = (hook.label(), other_keys(hook), hook.layer());
        let (file, line) = (location.path().display().to_string(), location.line());
        let mut row = json!({
            "event": event,
            "name": name,
            "type": kind,
            "also": also,
            "timeout_ms": timeout.as_millis(),
            "file": file,
            "line": line,
            "layer": layer,
        });
        let mut matches = "-".to_owned();
        if event.contract().tool_matched {
            matches = hook.matcher.to_string();
            row["matcher"] = json!(matches);
        }
        if command.is_some() {
            row["command"] = json!(command);
        }
        rows.push(row);
        table.row([
            event.to_string(),
            matches,
            kind.clone(),
            name,
            format!("{timeout:?}"),
            if also.is_empty() { "-".to_owned() } else { also.join(", ") },
            layer.name().replace('_', " "),
            format!("{file}:{line}"),
        ]);
    }
    format.show(&rows, || table.text())
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
