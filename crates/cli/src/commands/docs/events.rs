//! `hookexec docs events`: the contract table.

use hookexec::event::{ContextMode, Contract, Event, FailureMode, Permission, Rewrite};

use super::{Shown, fields};
use crate::CommandError;
use crate::commands::run::event_name;
use crate::console::table::{SCREEN, Table, wrap};
use crate::input::example_of;

/// Shows the events and what hooks can do at each
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs events pre_tool_use")]
pub(crate) struct Args {
    /// Only this one
    #[arg(value_name = "NAME", value_parser = event_name(), hide_possible_values = true)]
    event: Option<Event>,

    #[command(flatten)]
    shown: Shown,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        let Some(event) = self.event else {
            let contracts: Vec<&Contract> = Event::all().map(Event::contract).collect();
            return self.shown.show("events", &contracts, || table(&contracts).text());
        };
        let contract = event.contract();
        self.shown.show("events", contract, || {
            let input = example_of(event);
            let row = table(&[contract]).text();
            let mut text = format!("{row}\n{}\n", fields::table(event).text());
            for line in wrap(&format!("Fired by: {}.", fields::fired_by(event)), SCREEN) {
                text.push_str(&line);
                text.push('\n');
            }
            format!("{text}\nTry it: echo '{input}' | hookexec run {event} --format text\n")
        })
    }
}

pub(crate) fn table(contracts: &[&Contract]) -> Table<9> {
    let mut table = Table::new([
        "event", "tool", "may block", "on failure", "permission", "rewrites", "context", "also",
        "fires",
    ]);
    for contract in contracts {
        table.row(row(contract).map(|cell| if cell.is_empty() { "-" } else { cell }.to_owned()));
    }
    table
}

fn row(contract: &Contract) -> [&str; 9] {
    [
        contract.event.name(),
        if contract.tool_matched { "yes" } else { "" },
        if contract.may_block { "yes" } else { "" },
        match contract.failure {
            FailureMode::Ask => "asks",
            FailureMode::Closed if contract.withholds() => "withholds",
            FailureMode::Closed => "denies",
            _ => "goes on",
        },
        match contract.permission {
            Permission::Decides => "decides",
            Permission::Approves => "approves",
            _ => "",
        },
        match (contract.rewrite, contract.transforms) {
            (Rewrite::ToolInput, false) => "tool input",
            (Rewrite::ToolInput, true) => "tool input, in turn",
            (Rewrite::Request, _) => "request, in turn",
            (Rewrite::Response, _) => "response, in turn",
            (Rewrite::ToolResponse, false) => "tool response",
            (Rewrite::ToolResponse, true) => "tool response, in turn",
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
            _ if contract.may_continue => "continue",
            _ => "",
        },
        contract.fires,
    ]
}
