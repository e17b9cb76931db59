//! `hookexec docs builtins`: the functions that hooks of type `builtin` can call.

use std::fmt::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser};
use hookexec::Event;
use hookexec_builtins::{Shipped, shipped};
use serde_json::{Value, json};

use super::Shown;
use crate::CommandError;
use crate::console::table::{Table, push_wrapped};

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

fn section(builtin: &Shipped) -> String {
    let mut page = format!("{}\n\n{}.\n", builtin.usage(), builtin.about());
    let arguments = builtin.arguments();
    if !arguments.is_empty() {
        page.push_str("\nArguments:\n");
    }
    for argument in arguments {
        let optional = if argument.optional { " (optional)" } else { "" };
        let _ = writeln!(page, "  {}{optional}", argument.usage);
        push_wrapped(&mut page, "      ", &argument.about);
    }
    page.push_str("\nEvents:\n");
    push_wrapped(&mut page, "  ", &events(builtin));
    for paragraph in builtin.details().split("\n\n").filter(|text| !text.is_empty()) {
        page.push('\n');
        // Each item of a list begins a line.
        for item in paragraph.replace("\n* ", "\n\n* ").split("\n\n") {
            push_wrapped(&mut page, "", item);
        }
    }
    page.push_str("\nExample:\n");
    for line in builtin.example().lines() {
        let _ = writeln!(page, "  {line}");
    }
    page
}

pub(crate) fn events(builtin: &Shipped) -> String {
    let names: Vec<&str> = builtin.events().map(Event::name).collect();
    if names.len() == Event::all().len() { "all".to_owned() } else { names.join(", ") }
}
