//! The tables of the documentation say what the command shows.
//!
//! To regenerate them: `UPDATE=1 cargo test generated`.

use std::fmt::Write as _;
use std::path::Path;

use hookexec::Event;
use hookexec_agents::Agent;
use hookexec_builtins::{Shipped, shipped};

use crate::commands::docs::{agents, builtins, events};
use crate::console::table::Table;

#[test]
fn the_events_page_holds_the_contract_table() {
    let contracts: Vec<_> = Event::all().map(Event::contract).collect();
    let table = markdown(&events::table(&contracts));
    assert_eq!(table.lines().count(), Event::all().len() + 2);
    assert_embedded("events", &table);
}

#[test]
fn the_page_of_each_agent_says_which_answers_it_takes() {
    for agent in Agent::all() {
        assert_embedded(&format!("agents/{agent}"), &section(agent));
    }
}

#[test]
fn the_builtins_page_describes_every_builtin() {
    let sections: Vec<String> = shipped().map(builtin).collect();
    let table = markdown(&builtins::table());
    assert_embedded("builtins", &format!("{table}\n{}", sections.join("\n")));
}

fn section(agent: Agent) -> String {
    let mut table = agents::table(agent);
    for [name, event, _] in &mut table.rows[1..] {
        (*name, *event) = (format!("`{name}`"), format!("`{event}`"));
    }
    let silent: Vec<[String; 3]> = table.rows.extract_if(1.., |row| row[2] == "-").collect();
    let mut text = format!("{}\n\n{}", agents::measured(agent), markdown(&table));
    if !silent.is_empty() {
        let names: Vec<String> =
            silent.iter().map(|[name, event, _]| format!("{name} ({event})")).collect();
        let _ = writeln!(text, "\nOnly observed: {}.", names.join(", "));
    }
    let unmapped: Vec<_> = agent.events().iter().filter(|native| native.event.is_none()).collect();
    if !unmapped.is_empty() {
        text.push_str("\nAnswered with silence:\n\n");
    }
    let mut reasons: Vec<&str> = Vec::new();
    for reason in unmapped.iter().map(|native| native.unmapped) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    for reason in reasons {
        let of_reason = unmapped.iter().filter(|native| native.unmapped == reason);
        let names: Vec<String> = of_reason.map(|native| format!("`{}`", native.name)).collect();
        let _ = writeln!(text, "* {}: {reason}", names.join(", "));
    }
    let mut kinds: Vec<String> = Vec::new();
    for (kind, _) in hookexec_calls::tools::TOOL_KINDS {
        let tools = agent.toolset().named().filter(|(_, kinds)| kinds.contains(&kind));
        let tools: Vec<String> = tools.map(|(tool, _)| format!("`{tool}`")).collect();
        if !tools.is_empty() {
            kinds.push(format!("`{kind}` is {}", tools.join(", ")));
        }
    }
    let _ = writeln!(text, "\nTools: {}.", kinds.join("; "));
    text.push_str(&agents::off(agent));
    text
}

fn builtin(builtin: &Shipped) -> String {
    let mut section = format!("### {}\n\n{}.\n", builtin.name, builtin.about());
    for line in builtin.arguments().lines() {
        if let Some(more) = line.strip_prefix("    ") {
            let _ = write!(section, " {more}");
        } else if let Some(optional) = line.strip_prefix('[') {
            let _ = write!(section, "\n* `{}` (optional):", optional.trim_end_matches(']'));
        } else {
            let _ = write!(section, "\n* `{line}`:");
        }
    }
    if !builtin.arguments().is_empty() {
        section.push('\n');
    }
    if !builtin.details().is_empty() {
        let _ = write!(section, "\n{}\n", builtin.details().trim_end());
    }
    let events: Vec<&str> = builtin.events().map(Event::name).collect();
    let is_all = events.len() == Event::all().len();
    let events = if is_all { "all".to_owned() } else { format!("`{}`", events.join("`, `")) };
    let _ = write!(section, "\nEvents: {events}.\n");
    let _ = write!(section, "\n```yaml\n{}\n```\n", builtin.example());
    section
}

fn markdown<const COLUMNS: usize>(table: &Table<COLUMNS>) -> String {
    let lines = table.rows.iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let mut lines: Vec<String> = lines.collect();
    lines.insert(1, format!("|{}\n", "---|".repeat(COLUMNS)));
    lines.concat()
}

/// Checks the part of a page that shows what the subcommand `name` says; `UPDATE=1` writes it.
fn assert_embedded(name: &str, expected: &str) {
    const END: &str = "<!-- end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{name}.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = format!("<!-- begin: hookexec docs {} -->\n", name.replace('/', " "));
    let (head, rest) = text.split_once(&begin).unwrap();
    let (found, tail) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(path, format!("{head}{begin}{expected}{END}{tail}")).unwrap();
    } else if found != expected {
        let line = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
        let line = head.lines().count() + line + 2;
        panic!("docs/{name}.md is out of date from line {line} on: UPDATE=1 cargo test generated");
    }
}
