//! Writes the tables of `data` as Rust.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

/// Each word of a row, and the fields that it sets.
const WORDS: [(&str, &str); 18] = [
    ("failed_tool", "failed_tool: true"),
    ("blocks", "deny: Deny::Blocks"),
    ("tells", "deny: Deny::Tells"),
    ("tells_as_context", "deny: Deny::TellsAsContext"),
    ("goes_on", "deny: Deny::GoesOn"),
    ("asks", "ask: Ask::Asks"),
    ("asks_by_itself", "ask: Ask::Silence"),
    ("denies_asks", "ask: Ask::Denies"),
    ("allows", "allow: true"),
    ("rewrites", "rewrite: Rewrite::Takes"),
    ("rewrites_with_allow", "rewrite: Rewrite::TakesWithAllow"),
    ("replaces_response", "response: Response::Takes"),
    ("replaces_response_of_mcp", "response: Response::TakesOfMcp"),
    ("response_as_reason", "response: Response::AsReason"),
    ("context", "context: true"),
    ("says", "system_message: true"),
    ("stops", "stop: true"),
    ("on_demand", "on_demand: true"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    let text = std::fs::read_to_string("data/events.txt")?;
    let directory = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&directory).join("events.rs"), events(&text)?)?;
    Ok(())
}

/// Returns the code of the table of events, or the row that can't be read.
fn events(text: &str) -> Result<String, Box<dyn Error>> {
    let mut tables = String::new();
    for row in text.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        if let Some(agent) = row.strip_prefix('[') {
            let end = if tables.is_empty() { "" } else { "];\n" };
            let agent = agent.strip_suffix(']').ok_or(row)?;
            writeln!(tables, "{end}pub(super) const {agent}: &[NativeEvent] = &[")?;
        } else if let Some((name, row)) = row.split_once(" = ") {
            let (event, words) = row.split_once(' ').unwrap_or((row, ""));
            write!(tables, "NativeEvent {{ ")?;
            for word in words.split_whitespace() {
                match (word.strip_prefix("tool="), WORDS.iter().find(|(known, _)| *known == word)) {
                    (Some(tool), _) => write!(tables, "tool: Some({tool:?}), ")?,
                    (None, Some((_, field))) => write!(tables, "{field}, ")?,
                    (None, None) => return Err(format!("`{word}` is not a word of {name}").into()),
                }
            }
            writeln!(tables, "..NativeEvent::new({name:?}, Event::{event}) }},")?;
        } else {
            let (name, why) = row.split_once(": ").ok_or(row)?;
            writeln!(tables, "NativeEvent::unmapped({name:?}, {why:?}),")?;
        }
    }
    Ok(tables + "];\n")
}
