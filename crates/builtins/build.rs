//! Writes the tables of tools and of their arguments as Rust, so that no start of the command reads them.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    let mut code = tools(&std::fs::read_to_string("data/tools.txt")?)?;
    code.push_str(&arguments(&std::fs::read_to_string("data/arguments.txt")?)?);
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("tools.rs"), code)?;
    Ok(())
}

fn tools(text: &str) -> Result<String, Box<dyn Error>> {
    let (mut toolsets, mut renamed) = (String::new(), String::new());
    for row in text.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        if let Some(head) = row.strip_prefix('[') {
            let (agents, forms) = head.split_once(']').ok_or(row)?;
            let end = if toolsets.is_empty() { "" } else { "] },\n" };
            let (agents, forms) = (list(agents), forms.trim_start());
            write!(toolsets, "{end}Toolset {{ agents: {agents}, forms: {forms:?}, tools: &[")?;
        } else if let Some(names) = row.strip_prefix("= ") {
            write!(renamed, "{}, ", list(names))?;
        } else {
            let (head, names) = row.split_once(": ").ok_or(row)?;
            let (kinds, special) = head.split_once(" !").unwrap_or((head, "nothing"));
            let kinds = if kinds == "-" { "&[]".to_owned() } else { list(kinds) };
            let special = special[..1].to_uppercase() + &special[1..];
            let names = list(names);
            writeln!(
                toolsets,
                "Tool {{ kinds: {kinds}, names: {names}, special: Special::{special} }},"
            )?;
        }
    }
    Ok(format!(
        "pub(super) static TOOLSETS: &[Toolset] = &[{toolsets}] }}];\n\
         static RENAMED: &[&[&str]] = &[{renamed}];\n"
    ))
}

fn arguments(text: &str) -> Result<String, Box<dyn Error>> {
    let mut rows = String::new();
    for row in text.lines().filter(|row| !row.starts_with('#')) {
        let (kinds, roles) = row.split_once(": ").ok_or(row)?;
        let (role, names) = roles.split_once(' ').ok_or(row)?;
        let (kinds, names) = (list(kinds), list(names));
        writeln!(rows, "Arguments {{ kinds: {kinds}, role: Role::{role}, names: {names} }},")?;
    }
    Ok(format!("static ARGUMENTS: &[Arguments] = &[{rows}];\n"))
}

fn list(words: &str) -> String {
    format!("&{:?}", words.split(' ').collect::<Vec<_>>())
}
