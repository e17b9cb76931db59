//! `hookexec docs builtins`: the functions that hooks of type `builtin` can call.

use clap::builder::{PossibleValue, PossibleValuesParser};
use hookexec_builtins::{Shipped, shipped};

use crate::CommandError;
use crate::console::output;
use crate::console::table::Table;

/// Shows the builtins: functions that hooks call by name, without a process
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec docs builtins audit_log")]
pub(crate) struct Args {
    /// Everything about this one
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = names())]
    name: Option<String>,

    /// Prints the whole page of the documentation that holds the table
    #[arg(long)]
    page: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        shipped().map(|builtin| PossibleValue::new(builtin.name).help(builtin.about())),
    )
}

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        match self.name.as_deref().and_then(Shipped::named) {
            _ if self.page => output::print_data(super::page("builtins")),
            None => output::print(&table().text()),
            Some(builtin) => output::print(&section(builtin)),
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

/// Returns what the page of the builtins says of one.
fn section(builtin: &Shipped) -> String {
    let (_, rest) =
        super::page("builtins").split_once(&format!("### {}\n", builtin.name)).unwrap_or_default();
    let end = rest.find("\n### ").or(rest.find("\n<!-- end"));
    format!("{}\n{}", builtin.name, &rest[..end.unwrap_or(rest.len())])
}
