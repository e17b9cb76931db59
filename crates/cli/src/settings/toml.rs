//! Edits of the list `[[hooks]]` of a TOML text that keep its comments, order and other entries.

use jsonc_parser::cst::CstInputValue;
use serde_json::Value;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike};

use super::text::refuse_mark;

/// The key of the list.
const HOOKS: &str = "hooks";

/// Returns the value of a text.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    Ok(members(parse(text)?.iter()))
}

fn members<'t>(table: impl Iterator<Item = (&'t str, &'t Item)>) -> Value {
    table.map(|(key, item)| (key.to_owned(), of_item(item))).collect()
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => members(table.iter()),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| members(table.iter())).collect(),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
        toml_edit::Value::Array(list) => list.iter().map(of_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            let members = table.iter().map(|(key, value)| (key.to_owned(), of_value(value)));
            members.collect()
        }
    }
}

/// Appends a hook.
pub(super) fn append(text: &str, hook: CstInputValue) -> Result<String, String> {
    let mut document = parse(text)?;
    let mut table = Table::new();
    let members = if let CstInputValue::Object(members) = hook { members } else { Vec::new() };
    for (key, value) in members {
        table.insert(&key, item(value)?);
    }
    // Comments that stand alone stay on top.
    table.decor_mut().set_prefix(if document.is_empty() { text } else { "\n" });
    if document.is_empty() {
        document.set_trailing("");
    }
    let list = document.entry(HOOKS).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    match list {
        Item::ArrayOfTables(tables) => tables.push(table),
        Item::Value(toml_edit::Value::Array(list)) => list.push(table.into_inline_table()),
        _ => return Err(format!("`{HOOKS}` is not a list")),
    }
    Ok(written(&document, text))
}

/// Removes every hook with a command that is `ours`, and the list if that leaves it empty. Comments
/// above the hooks stay.
pub(super) fn remove(text: &str, ours: impl Fn(&str) -> bool) -> Result<String, String> {
    let mut document = parse(text)?;
    let is_ours =
        |hook: &dyn TableLike| hook.get("command").and_then(Item::as_str).is_some_and(&ours);
    let mut comments = String::new();
    let (before, left) = match document.get_mut(HOOKS) {
        Some(Item::ArrayOfTables(tables)) => {
            for table in tables.iter().filter(|table| is_ours(*table)) {
                let above = table.decor().prefix().and_then(|prefix| prefix.as_str());
                comments.extend(above.filter(|above| !above.trim().is_empty()));
            }
            let before = tables.len();
            tables.retain(|table| !is_ours(table));
            (before, tables.len())
        }
        Some(Item::Value(toml_edit::Value::Array(list))) => {
            let before = list.len();
            list.retain(|hook| !hook.as_inline_table().is_some_and(|hook| is_ours(hook)));
            (before, list.len())
        }
        _ => (0, 0),
    };
    if left == before {
        return Ok(text.to_owned());
    }
    if left == 0 {
        document.remove(HOOKS);
    }
    let trailing = document.trailing().as_str().unwrap_or_default();
    document.set_trailing(comments + trailing);
    Ok(written(&document, text))
}

/// Returns the text of a document with the line ends that it had `before`.
fn written(document: &DocumentMut, before: &str) -> String {
    let text = document.to_string();
    if before.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    refuse_mark(text)?;
    text.parse().map_err(|error| invalid(&error))
}

fn invalid(error: &dyn std::fmt::Display) -> String {
    format!("it is not valid TOML: {error}")
}

fn item(value: CstInputValue) -> Result<Item, String> {
    Ok(match value {
        CstInputValue::String(text) => toml_edit::value(text),
        CstInputValue::Bool(value) => toml_edit::value(value),
        CstInputValue::Number(number) => {
            let number: i64 = number.parse().map_err(|_| number)?;
            toml_edit::value(number)
        }
        _ => return Err("a hook holds texts, numbers and switches only".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use jsonc_parser::json;

    use super::*;

    fn installed(text: &str) -> String {
        let hook = json!({ "event": "Stop", "command": "hookexec 1", "timeout": 60 });
        append(&append(text, hook.clone()).unwrap(), hook).unwrap()
    }

    fn removed(text: &str) -> String {
        remove(text, |command| command.starts_with("hookexec ")).unwrap()
    }

    #[test]
    fn what_stands_there_stays_as_it_is() {
        let mine = "[[hooks]]\ncommand = \"mine\"   # and my comment\n";
        for (before, after) in [
            ("", ""),
            ("# mine\n", "# mine\n"),
            ("a = 1\n", "a = 1\n"),
            ("a = 1", "a = 1\n"),
            (
                "a  =  1\n[b] # table\nc = [ 1,\n2 ]\n# end\n",
                "a  =  1\n[b] # table\nc = [ 1,\n2 ]\n# end\n",
            ),
            (mine, mine),
            ("a = 1\r\n# b\r\n[c]\r\n", "a = 1\r\n# b\r\n[c]\r\n"),
            ("hooks = [{ command = \"mine\" }]\n", "hooks = [{ command = \"mine\" }]\n"),
        ] {
            let with = installed(before);
            let value = value(&with).unwrap();
            let hooks = value["hooks"].as_array().unwrap();
            let ours = hooks
                .iter()
                .filter(|hook| hook["command"] == "hookexec 1" && hook["timeout"] == 60);
            assert_eq!(ours.count(), 2, "{with}");
            assert_eq!(removed(&with), after, "{with}");
        }
        assert!(installed(mine).starts_with(mine));
    }

    #[test]
    fn a_text_that_the_agent_cannot_read_is_not_edited() {
        for text in ["a = ", "a = 1\na = 2\n", "hooks = 1\n"] {
            assert!(append(text, json!({ "command": "x" })).is_err(), "{text}");
        }
    }
}
