//! Reads `when:`.

use hookexec_files::diagnostic::Diagnostic;
use hookexec_files::kinds::{Filled, reference};
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::{Fields, Reader};
use hookexec_files::section::Kind;
use serde_json::{Value as Json, json};

use super::condition::{Condition, Field, Form, Leaf, List, Test};
use super::keys::ConditionKeys;
use super::matcher::looks_around;
use crate::suggest;
use crate::wire::Input;
use hookexec_files::pattern::{Pattern, PatternError};

const OPERATORS: [&str; 5] = ["equals", "in", "regex", "glob", "exists"];

const ITEM_HINT: &str = "write `{ any: commands, field: program, in: [rm, dd] }`";

const HINT: &str =
    "write `{ field: tool_input.cmd, regex: '^rm ' }`, or join several with `all`, `any`, `not`";

/// The value of `all` or `any`.
pub(crate) enum Parts {
    Conditions(Vec<Condition>),
    Items,
}

impl Kind<'_> for Parts {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if node.as_text().is_some() {
            return List::read(reader, node, what).map(|_| Self::Items);
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
        if let Some((name, key, _)) = join.filter(|_| fields.iter().count() > 1) {
            if reader.errors() == errors {
                let message = format!("`{name}` stands alone: nothing else goes beside it");
                reader.error_with_hint(key, message, "put every part into one `all: [...]`");
            }
            return None;
        }
        let is_join = join.is_some();
        let keys = ConditionKeys::of(reader, fields);
        let condition = if is_join {
            if let Some(Parts::Conditions(parts)) = keys.all {
                Some(Form::All(parts))
            } else if let Some(Parts::Conditions(parts)) = keys.any {
                Some(Form::Any(parts))
            } else if let Some(part) = keys.not {
                Some(Form::Not(Box::new(part)))
            } else {
                keys.uncertain.map(Form::Uncertain)
            }
        } else if reader.errors() == errors {
            leaf(reader, node, keys).map(Form::Leaf)
        } else {
            None
        };
        condition.filter(|_| reader.errors() == errors).map(Self)
    }
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

/// Returns a pattern; a broken one is reported.
fn checked<T>(
    reader: &mut Reader,
    node: &Node,
    what: &str,
    pattern: Result<T, PatternError>,
    hint: Option<&str>,
) -> Option<T> {
    match pattern {
        Ok(pattern) => Some(pattern),
        Err(cause) => {
            let mut problem = Diagnostic::error(format!("not a valid {what}: {cause}"));
            problem.hint = hint.map(str::to_owned);
            reader.report(node, problem);
            None
        }
    }
}

impl Kind<'_> for Field {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let written = Filled::read(reader, node, what)?.0;
        let field = match Self::parse(&written) {
            Ok(field) => field,
            Err(cause) => {
                return reader.refuse_with_hint(
                    node,
                    format!("`field: {written}`: {cause}"),
                    "write keys joined by dots (`tool_input.cmd`) or a JSON pointer \
                     (`/tool_input/cmd`)",
                );
            }
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
        let hint =
            if looks_around(&text) { Some("join conditions with `all` and `not`") } else { None };
        checked(reader, node, "regular expression", Pattern::new(&text), hint).map(Self)
    }
}

impl Kind<'_> for Glob {
    const SCHEMA: &'static str = r##"{ "$ref": "#/definitions/text" }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = String::read(reader, node, what)?;
        checked(reader, node, "glob", Test::glob(&text), None).map(Self)
    }
}

#[cfg(test)]
mod tests;
