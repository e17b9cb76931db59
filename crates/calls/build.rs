//! Writes the tables of `data` as Rust, so that no start of the command reads them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

/// The code of a table, or the row that can't be read.
type Table = Result<String, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    write_table("kinds", kinds)?;
    write_table("tools", tools)?;
    write_table("arguments", arguments)?;
    write_table("wrappers", wrappers)?;
    write_table("names", names)
}

fn write_table(name: &str, table: fn(&str) -> Table) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("data/{name}.txt"))?;
    let directory = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&directory).join(format!("{name}.rs")), table(&text)?)?;
    Ok(())
}

fn kinds(text: &str) -> Table {
    let (mut kinds, count) = (String::new(), rows(text).len());
    for (kind, does) in rows(text) {
        write!(kinds, "({kind:?}, {does:?}), ")?;
    }
    Ok(format!(
        "/// The neutral kinds of tools, with what each of them does.\n\
         pub const TOOL_KINDS: [(&str, &str); {count}] = [{kinds}];\n"
    ))
}

/// Writes the tools of each agent, and the tool of each name in all agents.
fn tools(text: &str) -> Table {
    let (mut toolsets, mut renamed) = (String::new(), String::new());
    // The kinds of each tool in all agents, and what sets it apart.
    let mut all: BTreeMap<String, (Vec<&str>, &str)> = BTreeMap::new();
    for section in text.split("\n[").skip(1) {
        let (head, body) = section.split_once('\n').ok_or(section)?;
        let (agents, forms) = head.split_once(']').ok_or(head)?;
        let mut tools = String::new();
        for (head, names) in rows(body) {
            if let Some(names) = head.strip_prefix("= ") {
                write!(renamed, "{}, ", list(names))?;
                continue;
            }
            let (kinds, special) = head.split_once(" !").unwrap_or((head, "nothing"));
            let kinds = kinds.trim_start_matches('-');
            for name in names.split_whitespace() {
                let known = all.entry(name.to_owned()).or_insert((Vec::new(), "nothing"));
                for kind in kinds.split_whitespace() {
                    if !known.0.contains(&kind) {
                        known.0.push(kind);
                    }
                }
                if special != "nothing" {
                    known.1 = special;
                }
            }
            tools += &tool(&list(kinds), &list(&names), special);
        }
        let (agents, forms) = (list(agents), forms.trim_start());
        writeln!(toolsets, "Toolset {{ agents: {agents}, forms: {forms:?}, tools: &[{tools}] }},")?;
    }
    let mut tools = String::new();
    for (name, (kinds, special)) in all {
        tools += &tool(&format!("&{kinds:?}"), &list(&name), special);
    }
    Ok(format!(
        "static TOOLSETS: &[Toolset] = &[{toolsets}];\n\
         static TOOLS: &[Tool] = &[{tools}];\n\
         static RENAMED: &[&[&str]] = &[{renamed}];\n"
    ))
}

fn tool(kinds: &str, names: &str, special: &str) -> String {
    let special = capitalized(special);
    format!("Tool {{ kinds: {kinds}, names: {names}, special: Special::{special} }},\n")
}

fn arguments(text: &str) -> Table {
    let mut all = String::new();
    for (kinds, roles) in rows(text) {
        let (role, names) = roles.split_once(' ').ok_or(kinds)?;
        let (kinds, names) = (list(kinds), list(names));
        writeln!(all, "Arguments {{ kinds: {kinds}, role: Role::{role}, names: {names} }},")?;
    }
    Ok(format!("static ARGUMENTS: &[Arguments] = &[{all}];\n"))
}

fn wrappers(text: &str) -> Table {
    let mut wrappers = String::new();
    for (head, body) in rows(text) {
        let (programs, subcommands) = head.split_once(' ').unwrap_or((head, ""));
        let (mut begin, mut skip, mut starts) = ("Nowhere".to_owned(), "0", "None".to_owned());
        let mut lists = BTreeMap::new();
        for part in body.split(" ; ") {
            let (key, rest) = part.split_once(' ').unwrap_or((part, ""));
            match key {
                "skip" => skip = rest,
                "starts" => starts = format!("Some({})", list(rest)),
                "text" | "flags" | "value" | "shows" | "moves" | "marks" => {
                    lists.insert(key, rest);
                }
                _ => {
                    begin = capitalized(key);
                    lists.insert("text", rest);
                }
            }
        }
        let programs = list(&programs.replace('|', " "));
        write!(wrappers, "Row {{ programs: {programs}, begin: Begin::{begin}, skip: {skip}, ")?;
        write!(wrappers, "starts: {starts}, ")?;
        for field in ["text", "flags", "value", "shows", "moves", "marks"] {
            write!(wrappers, "{field}: {}, ", list(lists.remove(field).unwrap_or_default()))?;
        }
        write!(wrappers, "subcommands: &[")?;
        for part in subcommands.split_whitespace() {
            write!(wrappers, "{}, ", list(&part.replace('|', " ")))?;
        }
        writeln!(wrappers, "] }},")?;
    }
    Ok(format!("static ROWS: &[Row] = &[{wrappers}];\n"))
}

fn names(text: &str) -> Table {
    let mut lists = String::new();
    for (name, words) in rows(text) {
        writeln!(lists, "pub(crate) static {name}: &[&str] = {};", list(&words))?;
    }
    Ok(lists)
}

/// Returns the head of each row, and its body with the lines that go on. A word that ends with `|` goes
/// on, too.
fn rows(text: &str) -> Vec<(&str, String)> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let (Some(more), Some((_, body))) = (line.strip_prefix("  "), rows.last_mut()) {
            if !body.ends_with('|') {
                body.push(' ');
            }
            body.push_str(more);
            continue;
        }
        let (head, body) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        rows.push((head, body.to_owned()));
    }
    rows
}

/// Returns the name of a variant.
fn capitalized(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn list(words: &str) -> String {
    format!("&{:?}", words.split_whitespace().collect::<Vec<_>>())
}
