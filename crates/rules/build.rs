//! Writes the tables of `data` as Rust, so that no start of the command reads them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

/// The code of a table, or the row that can't be read.
type Table = Result<String, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    write_table("options", options)?;
    write_table("groups", groups)?;
    write_table("functions", functions)?;
    write_table("names", names)
}

fn write_table(name: &str, table: fn(&str) -> Table) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("data/{name}.txt"))?;
    let directory = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&directory).join(format!("{name}.rs")), table(&text)?)?;
    Ok(())
}

/// Writes the lines of the table of options, and for each program the numbers of its lines.
fn options(text: &str) -> Table {
    let mut lines = String::new();
    let mut programs: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (head, body)) in rows(text).iter().enumerate() {
        let (names, subcommands) = head.split_once(' ').unwrap_or((head, ""));
        for name in names.split('|').filter(|name| !name.is_empty()) {
            programs.entry(name.to_owned()).or_default().push(at);
        }
        let subcommands = list(&subcommands.replace('|', " "));
        writeln!(lines, "Line {{ subcommands: {subcommands}, {} }},", parts(body)?)?;
    }
    let mut numbers = String::new();
    for (name, lines) in programs {
        writeln!(numbers, "({name:?}, &{lines:?}),")?;
    }
    Ok(format!(
        "static LINES: &[Line] = &[{lines}];\n\
         static PROGRAMS: &[(&str, &[usize])] = &[{numbers}];\n"
    ))
}

/// Returns the fields of a line of the table of options.
fn parts(body: &str) -> Table {
    let is_long = body.split([';', ' ']).any(|part| part == "long");
    let (mut flags, mut twins, mut uses) = (Vec::new(), String::new(), String::new());
    let mut lists: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in body.split(';').map(str::trim) {
        let Some((kind, words)) = part.split_once(": ") else {
            for item in part.split_whitespace() {
                if item.starts_with('-') {
                    write!(twins, "{}, ", list(&item.replace('=', " ")))?;
                } else {
                    flags.push(item.to_owned());
                }
            }
            continue;
        };
        let (words, condition) = words.split_once(" if ").unwrap_or((words, ""));
        let (words, condition) = (spelled(words, is_long), spelled(condition, is_long));
        if let "value" | "ok" | "x" | "like" | "sub" = kind {
            lists.entry(kind).or_default().extend(words);
            continue;
        }
        let (touch, is_target) = match kind {
            "read" => ("READ", false),
            "write" => ("WRITE", true),
            "into" => ("WRITE", false),
            "edit" => ("EDIT", true),
            "delete" => ("DELETE", true),
            "none" => ("NONE", false),
            _ => return Err(format!("`{kind}` is not a part of a row: {body}").into()),
        };
        for word in words {
            let which = match &*word {
                "all" => "All".to_owned(),
                "first" => "First".to_owned(),
                "last" => "Last".to_owned(),
                "butlast" => "ButLast".to_owned(),
                "rest" => "Rest".to_owned(),
                option if option.starts_with('-') => format!("Value({option:?})"),
                beginning => format!("Behind({beginning:?})"),
            };
            writeln!(
                uses,
                "Use {{ touch: Touch::{touch}, is_target: {is_target}, which: Which::{which}, \
                 condition: &{condition:?} }},"
            )?;
        }
    }
    let mut fields = format!("flags: &{flags:?}, twins: &[{twins}], uses: &[{uses}]");
    for (kind, field) in [
        ("value", "values"),
        ("ok", "harmless"),
        ("x", "hazards"),
        ("like", "like"),
        ("sub", "known_subcommands"),
    ] {
        write!(fields, ", {field}: &{:?}", lists.remove(kind).unwrap_or_default())?;
    }
    Ok(fields)
}

/// Returns the words of a list; `-abc` is three options where one dash has one letter.
fn spelled(words: &str, is_long: bool) -> Vec<String> {
    let mut spelled = Vec::new();
    for word in words.split([',', ' ']).filter(|word| !word.is_empty()) {
        match word.strip_prefix('-') {
            Some(letters) if !is_long && letters.len() > 1 && !letters.contains(['-', '=']) => {
                spelled.extend(letters.chars().map(|letter| format!("-{letter}")));
            }
            _ => spelled.push(word.to_owned()),
        }
    }
    spelled
}

fn groups(text: &str) -> Table {
    Ok(format!("static SHIPPED: &[(&str, &[&str])] = &[{}];\n", items(text)?))
}

/// Returns the head of each row, and the items of its body.
fn items(text: &str) -> Table {
    let mut all = String::new();
    for (name, body) in rows(text) {
        let items: Vec<&str> = body.split(", ").collect();
        writeln!(all, "({name:?}, &{items:?}),")?;
    }
    Ok(all)
}

fn functions(text: &str) -> Table {
    let mut functions = String::new();
    for (command, names) in rows(text) {
        let module = command.strip_prefix("of ").unwrap_or_default();
        let command = if module.is_empty() { command } else { "" };
        let names: Vec<&str> = names.split(", ").collect();
        writeln!(
            functions,
            "Function {{ command: {command:?}, module: {module:?}, names: &{names:?} }},"
        )?;
    }
    Ok(format!("static FUNCTIONS: &[Function] = &[{functions}];\n"))
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

fn list(words: &str) -> String {
    format!("&{:?}", words.split_whitespace().collect::<Vec<_>>())
}
