//! `hookexec docs agents`: which answers each coding agent takes.

use hookexec_agents::{Agent, Intolerance, Measured};

use super::Shown;
use crate::CommandError;
use crate::commands::run::agent_name;
use crate::console::output;
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
        if self.shown.page && !self.agents.is_empty() {
            let pages = self.agents.iter().map(|agent| super::page(agent.name()));
            return output::print_data(&pages.collect::<String>());
        }
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
        agent.toolset().named().map(|(name, kinds)| (name.to_owned(), kinds.into())).collect();
    serde_json::json!({
        "name": agent.name(),
        "title": agent.title(),
        "measured": agent.facts().measured.map(|measured| measured.version),
        "events": agent.events(),
        "tools": tools,
    })
}

fn section(agent: Agent) -> String {
    let (title, table) = (agent.title(), table(agent).text());
    format!("{title} ({agent})\n{}\n\n{table}{}", measured(agent), off(agent))
}

/// Says what the table rests on.
pub(crate) fn measured(agent: Agent) -> String {
    match agent.facts().measured {
        Some(Measured { version, .. }) => format!("Measured with version {version}."),
        None => "Documented only: no client was at hand.".to_owned(),
    }
}

/// Says what turns the agent's hooks off, as `doctor` finds it.
pub(crate) fn off(agent: Agent) -> String {
    let mut causes: Vec<String> =
        agent.facts().off_switches.iter().map(ToString::to_string).collect();
    if let Some(layout) = agent.settings() {
        causes.extend(match layout.intolerance {
            Intolerance::Members | Intolerance::Entries => {
                Some("one entry that it can't read".to_owned())
            }
            Intolerance::Matchers => {
                Some("in one event: a `matcher` that is not a text".to_owned())
            }
            _ => None,
        });
        if layout.names_events() {
            causes.push("an entry of a project with the name of one of hookexec".to_owned());
        }
    }
    if causes.is_empty() {
        return String::new();
    }
    format!("\nTurned off by:\n\n* {}\n", causes.join("\n* "))
}

pub(crate) fn table(agent: Agent) -> Table<3> {
    let mut table = Table::new(["its event", "event", "answers"]);
    for native in agent.events() {
        if let Some(event) = native.event {
            table.row([native.name.to_owned(), event.to_string(), native.answers(event)]);
        }
    }
    table
}
