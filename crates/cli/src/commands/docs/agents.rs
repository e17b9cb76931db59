//! `hookexec docs agents`: which answers each coding agent takes.

use hookexec::event::{Event, Rewrite as Rewritten};
use hookexec_agents::{Agent, Ask, Deny, Measured, NativeEvent, Response, Rewrite};

use super::Shown;
use crate::CommandError;
use crate::commands::run::agent_name;
use crate::console::table::Table;

/// Shows the coding agents, their events and what each of them does with an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs agents codex")]
pub(crate) struct Args {
    /// Only these agents
    #[arg(value_name = "AGENT", value_parser = agent_name())]
    agents: Vec<Agent>,
    #[command(flatten)]
    shown: Shown,
}

impl Args {
    pub(crate) fn execute(self) -> Result<(), CommandError> {
        let chosen: Vec<Agent> =
            if self.agents.is_empty() { Agent::all().collect() } else { self.agents };
        let all: Vec<_> = chosen.iter().map(|agent| described(*agent)).collect();
        self.shown.show("agents", &all, || {
            chosen.iter().map(|agent| section(*agent)).collect::<Vec<_>>().join("\n")
        })
    }
}

fn described(agent: Agent) -> serde_json::Value {
    let tools: serde_json::Map<_, _> =
        agent.tools().map(|(name, kinds)| (name.to_owned(), kinds.into())).collect();
    serde_json::json!({
        "name": agent.name(),
        "title": agent.title(),
        "measured": agent.measured().map(|measured| measured.version),
        "events": agent.events(),
        "tools": tools,
    })
}

fn section(agent: Agent) -> String {
    format!("{} ({agent})\n{}\n\n{}", agent.title(), measured(agent), table(agent).text())
}

/// Says what the table rests on.
pub(crate) fn measured(agent: Agent) -> String {
    match agent.measured() {
        Some(Measured { version, .. }) => format!("Measured with version {version}."),
        None => "Documented only: no client was at hand.".to_owned(),
    }
}

pub(crate) fn table(agent: Agent) -> Table<9> {
    let mut table = Table::new([
        "its event", "event", "deny", "ask", "allow", "changed arguments", "changed response",
        "context", "also",
    ]);
    for native in agent.events() {
        if let Some(event) = native.event {
            let [deny, ask, allow, rewrite, response, context, also] = row(native, event)
                .map(|cell| if cell.is_empty() { "-".to_owned() } else { cell.to_owned() });
            let (name, event) = (native.name.to_owned(), event.to_string());
            table.row([name, event, deny, ask, allow, rewrite, response, context, also]);
        }
    }
    table
}

fn row(native: &NativeEvent, event: Event) -> [&'static str; 7] {
    let rewritten = event.contract().rewrite;
    [
        match native.deny {
            Deny::Blocks => "blocks",
            Deny::Tells | Deny::TellsAsContext => "the model reads it beside the response",
            Deny::GoesOn => "goes on working",
            _ => "",
        },
        match native.ask {
            Ask::Asks => "asks",
            Ask::Silence => "silence: it asks anyway",
            Ask::Denies => "denied",
            _ => "",
        },
        if native.allow { "said" } else { "" },
        match native.rewrite {
            Rewrite::Takes => "taken",
            Rewrite::TakesWithAllow => "taken, as an allow",
            _ if rewritten == Rewritten::ToolInput => "denied",
            _ => "",
        },
        match native.response {
            Response::Takes => "taken",
            Response::TakesOfMcp => "taken, of MCP tools",
            Response::AsReason => "taken, as a denial",
            _ if rewritten == Rewritten::ToolResponse => "lost",
            _ => "",
        },
        if native.context { "reaches the model" } else { "" },
        match (native.system_message, native.stop) {
            (true, true) => "message, end of turn",
            (true, false) => "message",
            (false, true) => "end of turn",
            (false, false) => "",
        },
    ]
}
