//! Reads `when:`, and `matcher:` with the patterns of people that can't match any tool.

use hookexec_files::diagnostic::Diagnostic;
use hookexec_files::kinds::{Filled, reference};
use hookexec_files::node::{Node, Value};
use hookexec_files::pattern::Pattern;
use hookexec_files::reader::{Fields, Reader};
use hookexec_files::section::Kind;
use serde_json::{Value as Json, json};

use super::condition::{Condition, Field, Form, Leaf, List, Test};
use super::keys::ConditionKeys;
use crate::matcher::Matcher;
use crate::platform::Platform;
use crate::suggest;
use crate::text::is_invisible;
use crate::wire::Input;

const OPERATORS: [&str; 5] = ["equals", "in", "regex", "glob", "exists"];

const ITEM_HINT: &str = "write `{ any: commands, field: program, in: [rm, dd] }`";

const HINT: &str = "write `{ field: tool_input.command, regex: '^rm ' }`, or join several with `all`, `any`, `not`";

/// The value of `all` or `any`.
pub(crate) enum Parts {
    Conditions(Vec<Condition>),
    Items,
}

impl Kind<'_> for Parts {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if node.as_text().is_some() {
            List::read(reader, node, what)?;
            return Some(Self::Items);
        }
        let Value::List(items) = &node.value else {
            return reader.refuse_with_hint(
                node,
                format!("{what} must be a list of conditions, not {}", node.kind()),
                format!("write `{}: [ {{ field: ..., equals: ... }} ]`", what.trim_matches('`')),
            );
        };
        if items.is_empty() {
            reader.error(node, format!("{what} is empty"));
        }
        Some(Self::Conditions(items.iter().filter_map(|item| reader.value(item, what)).collect()))
    }

    fn schema() -> Json {
        let conditions = json!({ "type": "array", "minItems": 1, "items": reference("condition") });
        json!({ "anyOf": [conditions, List::schema()] })
    }
}

/// The values of `in`.
pub(crate) struct Values(Vec<Json>);

/// The pattern of `regex`.
pub(crate) struct Expression(Pattern);

/// The pattern of `glob`.
pub(crate) struct Glob(Test);

impl Kind<'_> for Condition {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/condition" }"##;

    fn read(reader: &mut Reader, node: &Node, _: &str) -> Option<Self> {
        if matches!(node.value, Value::List(_)) {
            return reader.refuse_with_hint(
                node,
                "a condition must be a mapping, not a list",
                "write `all: [...]` when every one must hold, `any: [...]` when one is enough",
            );
        }
        let errors = reader.errors();
        let fields = reader.fields(node, "a condition", ConditionKeys::NAMES)?;
        let over = fields
            .iter()
            .find(|(name, _, node)| ["all", "any"].contains(name) && node.as_text().is_some());
        if let Some((name, key, node)) = over {
            let list = List::read(reader, node, &format!("`{name}`"))?;
            let part = Box::new(part_of(reader, key, fields, list)?);
            if reader.errors() > errors {
                return None;
            }
            let of = if name == "all" { Form::AllOf } else { Form::AnyOf };
            return Some(Self(of(list, part)));
        }
        let joins = ["all", "any", "not", "uncertain"];
        let join = fields.iter().find(|(name, ..)| joins.contains(name));
        if let Some((name, key, _)) = join
            && fields.iter().count() > 1
        {
            if reader.errors() == errors {
                let message = format!("`{name}` stands alone: nothing else goes beside it");
                reader.error_with_hint(key, message, "put every part into one `all: [...]`");
            }
            return None;
        }
        let is_join = join.is_some();
        let keys = ConditionKeys::of(reader, fields);
        let form = if is_join {
            join_of(keys)?
        } else if reader.errors() == errors {
            Form::Leaf(leaf(reader, node, keys)?)
        } else {
            return None;
        };
        if reader.errors() == errors { Some(Self(form)) } else { None }
    }
}

/// Returns a condition that stands alone in its mapping.
fn join_of(keys: ConditionKeys<'_>) -> Option<Form> {
    Some(match (keys.all, keys.any, keys.not) {
        (Some(Parts::Conditions(parts)), ..) => Form::All(parts),
        (_, Some(Parts::Conditions(parts)), _) => Form::Any(parts),
        (.., Some(part)) => Form::Not(Box::new(part)),
        _ => Form::Uncertain(keys.uncertain?),
    })
}

/// Reads what an item of `list` must meet: `where`, or a field and its operator.
fn part_of(reader: &mut Reader, key: &Node, fields: Fields<'_>, list: List) -> Option<Condition> {
    if reader.names.is_some() {
        return reader.refuse(key, "a condition on an item can't look at another list");
    }
    let count = fields.iter().filter(|(name, ..)| !["all", "any"].contains(name)).count();
    let has_part = fields.iter().any(|(name, ..)| name == "where");
    if count == 0 || has_part && count > 1 || fields.iter().count() > count + 1 {
        let message = "beside a list stands `where`, or one `field` and its operator";
        return reader.refuse_with_hint(key, message, ITEM_HINT);
    }
    reader.names = Some(list.keys());
    let keys = ConditionKeys::of(reader, fields);
    let part = match keys.part {
        Some(part) => Some(part),
        None if has_part => None,
        None => leaf(reader, key, keys).map(|leaf| Condition(Form::Leaf(leaf))),
    };
    reader.names = None;
    part
}

/// Reads a field and its operator.
fn leaf(reader: &mut Reader, node: &Node, keys: ConditionKeys<'_>) -> Option<Leaf> {
    if keys.field.is_none() {
        return reader.refuse_with_hint(node, "a condition needs a `field`", HINT);
    }
    let mut operators = keys.fields.iter().filter(|(name, ..)| OPERATORS.contains(name));
    if operators.next().is_none() {
        let hint = format!("add one of {}", OPERATORS.join(", "));
        reader.error_with_hint(node, "a condition needs an operator", hint);
    } else if let Some((name, key, _)) = operators.next() {
        reader.error_with_hint(
            key,
            format!("a second operator, `{name}`, in one condition"),
            "write two conditions and join them with `all`",
        );
    }
    let test = if let Some(value) = keys.equals {
        Test::Equals(value)
    } else if let Some(values) = keys.within {
        Test::In(values.0)
    } else if let Some(Expression(pattern)) = keys.regex {
        Test::Regex(pattern)
    } else if let Some(glob) = keys.glob {
        glob.0
    } else {
        Test::Exists(keys.exists?)
    };
    Some(Leaf { field: keys.field?, test })
}

impl Kind<'_> for Field {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let written = Filled::read(reader, node, what)?.0;
        let Some(field) = Self::parse(&written) else {
            return reader.refuse_with_hint(
                node,
                format!("`field: {written}` is not a valid path"),
                "write keys joined by dots (`tool_input.command`) or a JSON pointer \
                 (`/tool_input/command`)",
            );
        };
        let top = field.top();
        if let Some(keys) = reader.names {
            if !keys.contains(&top) {
                let message = format!("an item of the list has no `{top}`");
                return reader.refuse_with_hint(
                    node,
                    message,
                    format!("its keys are {}", keys.join(", ")),
                );
            }
            return Some(field);
        }
        if Input::OF_CALLS.contains(&top) {
            let message = format!("`{top}` is a list that is made when a condition asks for it");
            return reader.refuse_with_hint(node, message, ITEM_HINT);
        }
        let known = [Input::FIELDS, &Input::CARRIED, &Input::OF_CONTROL_EVENTS];
        if !known.concat().contains(&top) {
            let warning = Diagnostic::warning(format!("no input of ours has a field `{top}`"));
            let hint = match suggest::hint(top, Input::FIELDS.iter().copied()) {
                Some(hint) => hint,
                None => format!("a tool's arguments are below `tool_input`: `tool_input.{top}`"),
            };
            reader.report(node, warning.hint(hint));
        }
        Some(field)
    }

    fn schema() -> Json {
        Filled::schema()
    }
}

impl Kind<'_> for Values {
    const SCHEMA: &'static str = r#"{ "type": "array", "minItems": 1 }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let Value::List(items) = &node.value else {
            let message = format!("{what} must be a list, not {}", node.kind());
            return reader.refuse_with_hint(node, message, "for one value use `equals`");
        };
        if items.is_empty() {
            reader.error(node, format!("{what} is empty: the condition could never hold"));
        }
        Some(Self(items.iter().filter_map(|item| reader.value(item, what)).collect()))
    }
}

impl Kind<'_> for Expression {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/text" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = String::read(reader, node, what)?;
        let cause = match Pattern::new(&text) {
            Ok(pattern) => return Some(Self(pattern)),
            Err(cause) => cause,
        };
        let mut problem = Diagnostic::error(format!("not a valid regular expression: {cause}"));
        if looks_around(&text) {
            problem = problem.hint("join conditions with `all` and `not`");
        }
        reader.report(node, problem);
        None
    }
}

impl Kind<'_> for Glob {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/text" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = String::read(reader, node, what)?;
        match Pattern::glob(&text, Platform::HERE.has_drives) {
            Ok(pattern) => Some(Self(Test::Glob { written: text.into(), pattern })),
            Err(cause) => reader.refuse(node, format!("not a valid glob: {cause}")),
        }
    }
}

const DEAD_HINT: &str = "a name has no space, comma, slash, curly quote or invisible character: join \
                         names with `|`, and put straight quotes around them";

const CURLY_QUOTES: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

impl Kind<'_> for Matcher {
    const SCHEMA: &'static str = r#"{ "type": "string" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if let Value::List(items) = &node.value {
            let names: Vec<&str> = items.iter().filter_map(Node::as_text).collect();
            let hint = format!("join the names with `|`: `matcher: \"{}\"`", names.join("|"));
            return reader.refuse_with_hint(node, format!("{what} must be text, not a list"), hint);
        }
        let owned: String;
        let pattern = match node.as_text() {
            Some(text) if !text.contains('\0') => text,
            _ => {
                owned = reader.value(node, what)?;
                &owned
            }
        };
        if let Some(tool) = tool_of_rule(pattern) {
            let message =
                format!("{what} is a permission rule of Claude Code, and not the name of a tool");
            let hint = format!(
                "write `matcher: {tool}`, and on the same entry \
                 `when: {{ field: tool_input.command, regex: ... }}`"
            );
            return reader.refuse_with_hint(node, message, hint);
        }
        if is_dead(pattern) {
            let message = format!("{what} can't match the name of any tool");
            return reader.refuse_with_hint(node, message, DEAD_HINT);
        }
        match Self::new(pattern) {
            Ok(matcher) => Some(matcher),
            Err(error) => {
                let cause = error.cause;
                let message = format!("{what} is not a valid regular expression: {cause}");
                reader.refuse_with_hint(node, message, regex_hint(pattern))
            }
        }
    }
}

/// Returns what to do about a pattern that is not a valid regular expression.
fn regex_hint(pattern: &str) -> &'static str {
    if looks_around(pattern) {
        "name the tools that are meant, or exclude some with \
         `when: { not: { field: tool_name, regex: '^(read|list)$' } }`"
    } else if pattern.starts_with('*') || pattern.split('|').any(|part| part == "*") {
        "a matcher is a regular expression: write `.*` for anything, or `*` alone"
    } else {
        "a matcher is a regular expression over the whole name of the tool"
    }
}

/// Returns whether `pattern` uses look-ahead or look-behind, which most other engines have.
fn looks_around(pattern: &str) -> bool {
    ["(?!", "(?=", "(?<!", "(?<="].iter().any(|part| pattern.contains(part))
}

/// Returns the tool of a pattern that is a rule of Claude Code's permissions, such as
/// `Bash(git push:*)`.
fn tool_of_rule(pattern: &str) -> Option<&str> {
    let (tool, rule) = pattern.strip_suffix(')')?.split_once('(')?;
    let is_name = tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if tool.is_empty() || !is_name || rule.contains('|') { None } else { Some(tool) }
}

/// Returns whether a matcher is written so that no tool's name can match it: a guard that never runs
/// looks exactly like one that allows.
fn is_dead(pattern: &str) -> bool {
    let in_slashes = pattern.len() > 1 && pattern.starts_with('/') && pattern.ends_with('/');
    let is_list = pattern.contains(',') && !pattern.contains('{');
    in_slashes || is_list || pattern.contains(is_in_no_name)
}

fn is_in_no_name(letter: char) -> bool {
    letter.is_whitespace() || is_invisible(letter) || CURLY_QUOTES.contains(&letter)
}

#[cfg(test)]
mod tests;
