//! `hookexec list`: what is configured, and where it comes from.

use crate::summary::HookSummary;
use hookexec::Event;
use hookexec::config::Hook;

use super::CommandError;
use super::config::ConfigArgs;
use super::output::PlainFormat;
use super::table::Table;

/// Lists the configured hooks: event, matcher, name (or else what it runs), file and line
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec list pre_tool_use --format json")]
pub(crate) struct Args {
    /// Only the hooks of this event
    #[arg(value_parser = super::run::EVENT, hide_possible_values = true)]
    event: Option<Event>,

    /// How to write the list
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        let config = self.config.load_to_show()?.config;
        if config.files.is_empty() {
            return Err(CommandError::no_files());
        }
        let wanted = |hook: &&Hook| self.event.is_none_or(|event| hook.event == event);
        let rows: Vec<HookSummary<'_>> =
            config.hooks.iter().filter(wanted).map(HookSummary::of).collect();
        self.format.show(&rows, || table(&rows).text())
    }
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
