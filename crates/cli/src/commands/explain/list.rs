//! `hookexec explain` without an event: the configured hooks, and where each comes from.

use crate::CommandError;
use crate::config::{ConfigArgs, Purpose};
use crate::console::output::PlainFormat;
use crate::console::table::Table;
use hookexec_workbench::summary::HookSummary;

/// Lists the configured hooks: event, matcher, name (or else what it runs), file and line.
pub(super) fn show(config: &ConfigArgs, format: PlainFormat) -> Result<(), CommandError> {
    let loaded = config.load(Purpose::Show)?;
    loaded.notices.warn_untold("");
    let config = loaded.found.config;
    if config.files.is_empty() {
        return Err(CommandError::no_files());
    }
    let mut rows = Vec::new();
    for hook in &config.hooks {
        rows.push(HookSummary::of(hook, &config));
    }
    format.show(&rows, || table(&rows).text())
}

fn table(rows: &[HookSummary]) -> Table<8> {
    let mut table =
        Table::new(["event", "matches", "type", "name", "timeout", "also", "layer", "source"]);
    for row in rows {
        table.row([
            row.event.to_string(),
            row.matcher.clone().unwrap_or_else(|| "-".to_owned()),
            row.kind.clone(),
            row.name.clone(),
            format!("{:?}", row.timeout),
            remarks(row),
            row.layer.name().replace('_', " "),
            format!("{}:{}", row.file, row.line),
        ]);
    }
    table
}

/// Returns the keys that set the hook apart from a plain one.
fn remarks(row: &HookSummary) -> String {
    let mut remarks = Vec::new();
    for (key, value) in &row.settings {
        match key.as_str() {
            "enabled" => remarks.push("disabled".to_owned()),
            "mode" => remarks.push(format!("{key} {value}")),
            key => remarks.push(key.to_owned()),
        }
    }
    if remarks.is_empty() { "-".to_owned() } else { remarks.join(", ") }
}
