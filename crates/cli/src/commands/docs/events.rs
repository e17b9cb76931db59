//! `hookexec docs events`: the contract table; with a name, the fields of the event's input and the
//! agents that fire it.

use hookexec::{ContextMode, Contract, Event, FailureMode, Permission, Rewrite, schema};
use hookexec_agents::{Agent, field_names};
use serde_json::Value;

use super::Shown;
use crate::CommandError;
use crate::commands::run::event_name;
use crate::console::table::{Table, push_wrapped};
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
            let mut text = format!("{row}\n{}\n", fields(event).text());
            push_wrapped(&mut text, "", &format!("Fired by: {}.", fired_by(event)));
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

/// Returns the table of the fields, with their types and meanings.
fn fields(event: Event) -> Table<3> {
    let schema = schema::input();
    let mut table = Table::new(["field", "type", "meaning"]);
    for name in field_names(event) {
        let field = &schema["properties"][name];
        let (kind, described) = match name {
            // They are read out of the call, and stand in no payload.
            "commands" => ("list", "The commands that the call runs"),
            "files" => ("list", "The files that the call touches"),
            // A key of Claude Code's payload.
            "stop_hook_active" => ("true, false", "Whether a hook kept the model at work before"),
            _ => (kind(field), field["description"].as_str().unwrap_or_default()),
        };
        let meaning = described.split([';', '.']).next().unwrap_or_default().replace('\n', " ");
        table.row([name, kind, &*meaning].map(str::to_owned));
    }
    table
}

/// Names the type of a field.
fn kind(field: &Value) -> &'static str {
    let named = match &field["type"] {
        Value::Array(types) => types.first(),
        named => Some(named),
    };
    match named.and_then(Value::as_str) {
        Some("string") => "text",
        Some("boolean") => "true, false",
        Some("integer" | "number") => "number",
        Some("array") => "list",
        Some("object") => "mapping",
        _ if field.to_string().contains("definitions/Event\"") => "text",
        _ if field.to_string().contains("#/definitions/") => "mapping",
        _ => "any value",
    }
}

/// Names the agents that fire the event, each with its own name for the event.
fn fired_by(event: Event) -> String {
    let mut agents: Vec<String> = Vec::new();
    for agent in Agent::all() {
        let names: Vec<&str> = agent.firing(event).iter().map(|native| native.name).collect();
        if !names.is_empty() {
            agents.push(format!("{} ({})", agent.title(), names.join(", ")));
        }
    }
    if agents.is_empty() { "no coding agent".to_owned() } else { agents.join(", ") }
}
