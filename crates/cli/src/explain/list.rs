//! `hookexec explain` without an event: the configured hooks, and where each comes from.

use crate::CommandError;
use crate::config::{ConfigArgs, Purpose};
use crate::output::PlainFormat;
use crate::summary::HookSummary;
use crate::table::Table;

/// Lists the configured hooks: event, matcher, name (or else what it runs), file and line.
pub(super) fn show(config: &ConfigArgs, format: PlainFormat) -> Result<(), CommandError> {
    let loaded = config.load(Purpose::Show)?;
    loaded.notices.warn_untold("");
    let config = loaded.found.config;
    if config.files.is_empty() {
        return Err(CommandError::no_files());
    }
    let rows: Vec<HookSummary<'_>> = config.hooks.iter().map(HookSummary::of).collect();
    format.show(&rows, || table(&rows).text())
}

/// Returns what sets the hook apart from a plain one.
fn remarks(row: &HookSummary<'_>) -> String {
    let remarks = [
        (!row.enabled, "disabled"),
        (row.conditional, "when"),
        (row.mutates, "mutates"),
        (row.background, "background"),
    ];
    let said = remarks.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word);
    let said: Vec<&str> = said.chain(row.rollout.as_deref()).collect();
    if said.is_empty() { "-".to_owned() } else { said.join(", ") }
}

fn table(rows: &[HookSummary<'_>]) -> Table<8> {
    let mut table =
        Table::new(["event", "matches", "type", "name", "timeout", "also", "layer", "source"]);
    for row in rows {
        table.row([
            row.event.to_string(),
            row.matcher.clone().unwrap_or_else(|| "-".to_owned()),
            row.kind.to_owned(),
            row.name.clone(),
            format!("{:?}", row.timeout),
            remarks(row),
            row.layer.name().replace('_', " "),
            format!("{}:{}", row.file, row.line),
        ]);
    }
    table
}
