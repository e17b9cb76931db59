//! Writes the tables of `data` as Rust, so that no start of the command reads them.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

/// The code of a table, or the row that can't be read.
type Table = Result<String, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    write_table("secrets", secrets)?;
    write_table("names", names)
}

fn write_table(name: &str, table: fn(&str) -> Table) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(format!("data/{name}.txt"))?;
    let directory = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&directory).join(format!("{name}.rs")), table(&text)?)?;
    Ok(())
}

fn secrets(text: &str) -> Table {
    Ok(format!("static NOUNS: &[(&str, &[&str])] = &[{}];\n", items(text)?))
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
