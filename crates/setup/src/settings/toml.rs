//! Edits of the list `[[hooks]]` of a TOML text that keep its comments, order and other entries.

use std::fmt::Write as _;

use jsonc_parser::cst::CstInputValue as Json;
use serde_json::Value;
use toml_edit::de::from_document;
use toml_edit::{DocumentMut, Item, Table, Value as Toml};

use super::SettingsError;
use super::edit::Members;

/// The key of the list.
const HOOKS: &str = "hooks";

/// Returns the value of a text.
pub(crate) fn value(text: &str) -> Result<Value, SettingsError> {
    // Every TOML value has a JSON value.
    Ok(from_document(parse(text)?).unwrap_or_default())
}

/// Appends hooks at the end of the text.
pub(super) fn with(text: &str, hooks: &[Members]) -> Result<String, SettingsError> {
    if parse(text)?.get(HOOKS).is_some_and(|list| !list.is_array_of_tables()) {
        return Err(SettingsError::OtherKind(HOOKS.to_owned(), "a list of tables, `[[hooks]]`"));
    }
    let mut new = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        new.push('\n');
    }
    for hook in hooks {
        if !new.is_empty() {
            new.push('\n');
        }
        let _ = writeln!(new, "[[{HOOKS}]]");
        for (key, value) in hook {
            let value = match value {
                Json::String(text) => Toml::from(text).to_string(),
                Json::Number(number) => number.clone(),
                Json::Bool(flag) => flag.to_string(),
                _ => continue,
            };
            let _ = writeln!(new, "{key} = {value}");
        }
    }
    Ok(with_line_ends_of(text, new))
}

/// Removes every hook with a command that is `ours`, and the list if that leaves it empty. Comments
/// above the hooks stay.
pub(super) fn remove(text: &str, ours: impl Fn(&str) -> bool) -> Result<String, SettingsError> {
    let mut document = parse(text)?;
    let Some(Item::ArrayOfTables(tables)) = document.get_mut(HOOKS) else {
        return Ok(text.to_owned());
    };
    let mut comments = String::new();
    let before = tables.len();
    tables.retain(|hook| {
        let command = hook.get("command").and_then(Item::as_str);
        let is_ours = matches!(command, Some(command) if ours(command));
        if is_ours {
            comments += &comment_above(hook);
        }
        !is_ours
    });
    if tables.len() == before {
        return Ok(text.to_owned());
    }
    if tables.is_empty() {
        document.remove(HOOKS);
    }
    let trailing = document.trailing().as_str().unwrap_or_default();
    document.set_trailing(comments + trailing);
    Ok(with_line_ends_of(text, document.to_string()))
}

/// Returns the comment above a table, without the blank line that follows it.
fn comment_above(table: &Table) -> String {
    let above = table.decor().prefix().and_then(|prefix| prefix.as_str());
    let above = above.unwrap_or_default().trim_end();
    if above.is_empty() { String::new() } else { format!("{above}\n") }
}

fn with_line_ends_of(before: &str, text: String) -> String {
    if before.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

fn parse(text: &str) -> Result<DocumentMut, SettingsError> {
    if text.starts_with('\u{feff}') {
        return Err(SettingsError::ByteOrderMark);
    }
    Ok(text.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook() -> Members {
        let members: [(&str, Json); 3] =
            [("event", "Stop".into()), ("command", "hookexec 1".into()), ("timeout", 60.into())];
        members.map(|(key, value)| (key.to_owned(), value)).into()
    }

    fn installed(text: &str) -> String {
        with(&with(text, &[hook()]).unwrap(), &[hook()]).unwrap()
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
            assert!(with(text, &[hook()]).is_err(), "{text}");
        }
    }
}
