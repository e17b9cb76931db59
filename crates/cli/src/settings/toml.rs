//! Edits of the list `[[hooks]]` of a TOML text that keep its comments, order and other entries.

use jsonc_parser::cst::CstInputValue as Json;
use serde_json::Value;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use super::edit::Members;
use super::text::refuse_mark;

/// The key of the list.
const HOOKS: &str = "hooks";

/// Returns the value of a text.
pub(crate) fn value(text: &str) -> Result<Value, String> {
    Ok(of_item(parse(text)?.as_item()))
}

fn of_item(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect();
    }
    match item {
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| of_item(&Item::Table(table.clone()))).collect()
        }
        Item::Value(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Item::Value(toml_edit::Value::Integer(number)) => (*number.value()).into(),
        Item::Value(toml_edit::Value::Float(number)) => (*number.value()).into(),
        Item::Value(toml_edit::Value::Boolean(flag)) => (*flag.value()).into(),
        Item::Value(toml_edit::Value::Array(list)) => {
            list.iter().map(|value| of_item(&Item::Value(value.clone()))).collect()
        }
        other => other.to_string().into(),
    }
}

/// Appends hooks.
pub(super) fn with(text: &str, hooks: impl Iterator<Item = Members>) -> Result<String, String> {
    let mut document = parse(text)?;
    for hook in hooks {
        let mut table = Table::new();
        for (key, value) in hook {
            let item = match value {
                Json::String(text) => toml_edit::value(text),
                Json::Bool(value) => toml_edit::value(value),
                Json::Number(number) => {
                    toml_edit::value(number.parse::<i64>().map_err(|_| number)?)
                }
                _ => continue,
            };
            table.insert(&key, item);
        }
        // Comments that stand alone stay on top.
        table.decor_mut().set_prefix(if document.is_empty() { text } else { "\n" });
        if document.is_empty() {
            document.set_trailing("");
        }
        let list = document.entry(HOOKS).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let tables = list.as_array_of_tables_mut();
        let tables = tables.ok_or("`hooks` is not a list of tables, `[[hooks]]`")?;
        tables.push(table);
    }
    Ok(written(&document, text))
}

/// Removes every hook with a command that is `ours`, and the list if that leaves it empty. Comments
/// above the hooks stay.
pub(super) fn remove(text: &str, ours: impl Fn(&str) -> bool) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some(tables) = document.get_mut(HOOKS).and_then(Item::as_array_of_tables_mut) else {
        return Ok(text.to_owned());
    };
    let is_ours = |hook: &Table| hook.get("command").and_then(Item::as_str).is_some_and(&ours);
    let mut comments = String::new();
    for table in tables.iter().filter(|table| is_ours(table)) {
        let above = table.decor().prefix().and_then(|prefix| prefix.as_str());
        comments.extend(above.filter(|above| !above.trim().is_empty()));
    }
    let before = tables.len();
    tables.retain(|table| !is_ours(table));
    let left = tables.len();
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
    text.parse().map_err(|error| format!("it is not valid TOML: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> Members {
        vec![
            ("event".to_owned(), "Stop".into()),
            ("command".to_owned(), "hookexec 1".into()),
            ("timeout".to_owned(), 60.into()),
        ]
    }

    fn installed(text: &str) -> String {
        with(&with(text, [hook()].into_iter()).unwrap(), [hook()].into_iter()).unwrap()
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
        for text in ["a = ", "a = 1\na = 2\n", "hooks = 1\n", "hooks = [{ command = 'x' }]\n"] {
            assert!(with(text, [hook()].into_iter()).is_err(), "{text}");
        }
    }
}
