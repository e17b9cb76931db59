//! `hookexec docs events`: the contract table.

use std::fmt::Write as _;

use hookexec::event::{ContextMode, Contract, Event, FailureMode, Permission, Rewrite};

use super::Shown;
use crate::CommandError;
use crate::input::example_of;
use crate::run::event_name;
use crate::table::Table;

/// Shows the events and what hooks can do at each
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs events pre_tool_use")]
pub(crate) struct Args {
    /// Only this one, in sentences
    #[arg(value_name = "NAME", value_parser = event_name(), hide_possible_values = true)]
    event: Option<Event>,

    #[command(flatten)]
    shown: Shown,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        if let Some(contract) = self.event.map(Event::contract) {
            return self.shown.show("events", contract, || sentences(contract));
        }
        let contracts: Vec<&Contract> = Event::all().map(Event::contract).collect();
        self.shown.show("events", &contracts, || table(&contracts).text())
    }
}

/// Returns what a hook of one event is for, in sentences.
fn sentences(contract: &Contract) -> String {
    let mut page = format!("{}: {}\n\n", contract.event, contract.fires);
    let mut say = |sentence: &str| {
        let _ = writeln!(page, "  {sentence}");
    };
    say(if contract.tool_matched {
        "A matcher chooses its hooks by the name of the tool."
    } else {
        "It has no tool: its hooks have no matcher."
    });
    say(match (contract.may_block, contract.permission) {
        _ if contract.may_continue => {
            "A hook that answers `{\"decision\": \"block\", \"reason\": ...}` keeps the model at work."
        }
        (false, _) => "Nothing can be blocked; a denial is ignored with a warning.",
        (true, Permission::Decides) => "A hook may deny it, allow it, or have the user asked.",
        (true, Permission::Approves) => "A hook may allow or deny it in the user's place.",
        (true, _) => "A hook may deny it.",
    });
    say(match contract.failure {
        FailureMode::Closed => "A hook that can't answer denies it (`on_error` says otherwise).",
        FailureMode::Ask => {
            "When a hook can't answer, the user is asked (unless `on_error` says otherwise)."
        }
        _ => "A hook that can't answer is warned of, and it goes on (`on_error` says otherwise).",
    });
    say(match contract.rewrite {
        Rewrite::ToolInput => "A hook may rewrite the tool's arguments (`updated_input`).",
        Rewrite::Request => {
            "A hook may rewrite the request to the model (`updated_messages`, `updated_request`)."
        }
        Rewrite::Response => "A hook may rewrite what the model answered (`updated_response`).",
        Rewrite::ToolResponse => {
            "A hook may rewrite what the tool returned (`updated_tool_response`)."
        }
        _ => "Nothing can be rewritten.",
    });
    match contract.context {
        ContextMode::Json => say("Context for the model comes as `additional_context` in JSON."),
        ContextMode::Text => {
            say("What a hook prints is context for the model, as text or in JSON.");
        }
        _ => {}
    }
    if contract.summary {
        say("A hook may give the summary itself (`summary`).");
    }
    if contract.metadata {
        say("A hook may add `metadata`.");
    }
    if contract.may_respond {
        say("A hook may answer in the tool's place (`respond`).");
    }
    let input = example_of(contract.event);
    page + &format!("\nTry it: echo '{input}' | hookexec run {} --format text\n", contract.event)
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
    let yes = |flag: bool| if flag { "yes" } else { "" };
    [
        contract.event.name(),
        yes(contract.tool_matched),
        yes(contract.may_block),
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
