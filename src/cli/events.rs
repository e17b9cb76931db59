//! `hookexec events`: the contract table.

use hookexec::event::{ContextMode, Contract, Event, FailureMode, Permission, Rewrite};

use super::error::CommandError;
use super::exit::Exit;
use super::output;
use super::table::Table;

/// Shows the events and what hooks can do at each
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec events --format json")]
pub(crate) struct Args {
    /// How to show them
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// An aligned table
    Text,
    /// An array of objects, one for each event
    Json,
    /// A Markdown table
    Markdown,
}

impl Args {
    pub(crate) fn execute(self) -> Result<Exit, CommandError> {
        let contracts: Vec<&Contract> = Event::all().map(Event::contract).collect();
        match self.format {
            Format::Json => output::print_json(&contracts)?,
            Format::Text => output::print(&table(&contracts).text())?,
            Format::Markdown => output::print(&table(&contracts).markdown())?,
        }
        Ok(Exit::Success)
    }
}

fn table(contracts: &[&Contract]) -> Table<9> {
    let mut table = Table::new([
        "event",
        "tool",
        "may block",
        "on failure",
        "permission",
        "rewrites",
        "context",
        "also",
        "fires",
    ]);
    for contract in contracts {
        table.row(row(contract).map(|cell| if cell.is_empty() { "-" } else { cell }.to_owned()));
    }
    table
}

fn row(contract: &Contract) -> [&str; 9] {
    let yes = |flag: bool| if flag { "yes" } else { "" };
    [
        contract.event.name(),
        yes(contract.tool_matched),
        yes(contract.may_block),
        match contract.failure {
            FailureMode::Ask => "asks",
            FailureMode::Closed => "denies",
            _ => "goes on",
        },
        match contract.permission {
            Permission::Decides => "decides",
            Permission::Approves => "approves",
            _ => "",
        },
        match contract.rewrite {
            Rewrite::ToolInput => "tool input",
            Rewrite::Request => "request",
            Rewrite::Response => "response",
            Rewrite::ToolResponse => "tool response",
            _ => "",
        },
        match contract.context {
            ContextMode::Json => "JSON",
            ContextMode::Text => "JSON, text",
            _ => "",
        },
        match (contract.summary, contract.metadata, contract.may_respond) {
            (true, ..) => "summary",
            (_, true, true) => "metadata, respond",
            (_, true, _) => "metadata",
            (_, _, true) => "respond",
            _ => "",
        },
        contract.fires,
    ]
}
