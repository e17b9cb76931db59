//! `hookexec docs builtins`: the functions that hooks of type `builtin` can call.

use clap::builder::{PossibleValue, PossibleValuesParser};
use hookexec_builtins::{Shipped, shipped};
use serde_json::{Value, json};

use super::Shown;
use crate::CommandError;
use crate::console::table::Table;

/// Shows the builtins: functions that hooks call by name, without a process
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs builtins audit_log")]
pub(crate) struct Args {
    /// Everything about this one
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = names())]
    name: Option<String>,
    #[command(flatten)]
    shown: Shown,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        shipped().map(|builtin| PossibleValue::new(builtin.name).help(builtin.about())),
    )
}

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        match self.name.as_deref().and_then(Shipped::named) {
            None => {
                let all: Vec<Value> = shipped().map(described).collect();
                self.shown.show("builtins", &all, || table().text())
            }
            Some(builtin) => self.shown.show("builtins", &described(builtin), || section(builtin)),
        }
    }
}

pub(crate) fn table() -> Table<2> {
    let mut table = Table::new(["builtin", "what it does"]);
    for builtin in shipped() {
        table.row([builtin.name, builtin.about()].map(str::to_owned));
    }
    table
}

fn described(builtin: &Shipped) -> Value {
    json!({
        "name": builtin.name,
        "about": builtin.about(),
        "usage": builtin.usage(),
        "arguments": builtin.arguments(),
        "events": builtin.events().collect::<Vec<_>>(),
        "details": builtin.details(),
        "example": builtin.example(),
    })
}

/// Returns what the page of the builtins says of one.
fn section(builtin: &Shipped) -> String {
    let (_, rest) =
        super::page("builtins").split_once(&format!("### {}\n", builtin.name)).unwrap_or_default();
    let end = rest.find("\n### ").or(rest.find("\n<!-- end"));
    format!("{}\n{}", builtin.name, &rest[..end.unwrap_or(rest.len())])
}
