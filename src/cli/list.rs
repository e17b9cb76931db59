//! `hookexec list`: what is configured, and where it comes from.

use std::time::Duration;

use hookexec::Event;
use hookexec::config::{Command, Hook, Layer};
use serde::{Serialize, Serializer};

use super::config::ConfigArgs;
use super::error::CommandError;
use super::exit::Exit;
use super::output;
use super::table::Table;

/// Lists the configured hooks: for which event, what they match, what they run, where they stand
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec list pre_tool_use --format json")]
pub(crate) struct Args {
    /// Only the hooks of this event
    #[arg(value_parser = super::run::EventParser)]
    event: Option<Event>,

    #[command(flatten)]
    config: ConfigArgs,

    /// How to write the list
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// An aligned table
    Text,
    /// An array of objects
    Json,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let config = self.config.load()?;
        if config.files.is_empty() {
            return Err(CommandError::no_files());
        }
        let wanted = |hook: &&Hook| self.event.is_none_or(|event| hook.event == event);
        let rows: Vec<Row<'_>> = config.hooks.iter().filter(wanted).map(Row::of).collect();
        match self.format {
            Format::Json => output::print_json(&rows)?,
            Format::Text => output::print(&table(&rows).text())?,
        }
        Ok(Exit::Success)
    }
}

/// A hook as it is listed.
#[derive(Serialize)]
struct Row<'c> {
    event: Event,
    /// Missing on events without a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<String>,
    name: String,
    #[serde(rename = "type")]
    kind: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'c Command>,
    #[serde(rename = "timeout_ms", serialize_with = "milliseconds")]
    timeout: Duration,
    enabled: bool,
    conditional: bool,
    mutates: bool,
    background: bool,
    file: String,
    line: usize,
    layer: Layer,
}

impl<'c> Row<'c> {
    fn of(hook: &'c Hook) -> Self {
        Self {
            event: hook.event,
            matcher: hook.event.contract().tool_matched.then(|| hook.matcher.to_string()),
            name: hook.label(),
            kind: &hook.kind,
            command: hook.command.as_ref(),
            timeout: hook.timeout,
            enabled: hook.enabled,
            conditional: hook.when.is_some(),
            mutates: hook.mutates,
            background: hook.background,
            file: hook.location.path().display().to_string(),
            line: hook.location.line(),
            layer: hook.layer(),
        }
    }

    /// Returns what sets the hook apart from a plain one.
    fn remarks(&self) -> String {
        let remarks = [
            (!self.enabled, "disabled"),
            (self.conditional, "when"),
            (self.mutates, "mutates"),
            (self.background, "background"),
        ];
        let said: Vec<&str> =
            remarks.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
        if said.is_empty() { "-".to_owned() } else { said.join(", ") }
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
            row.remarks(),
            layer(row.layer).to_owned(),
            format!("{}:{}", row.file, row.line),
        ]);
    }
    table
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Managed => "managed",
        Layer::User => "user",
        Layer::Project => "project",
        Layer::CommandLine => "command line",
        _ => "program",
    }
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    duration.as_millis().serialize(serializer)
}
