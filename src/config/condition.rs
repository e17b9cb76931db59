//! `when:` conditions: one field and one operator a leaf, joined with `all`, `any`, `not`.

use std::borrow::Cow;
use std::fmt;
use std::slice::from_ref;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::describe::Memo;
use crate::platform::Platform;
use crate::wire::{Input, JsonObject, same_json};
use hookexec_files::pattern::Pattern;

/// A condition on an event's input: what stands below `when:`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(pub(super) Form);

/// The form of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// Every part holds.
    All(Vec<Condition>),
    /// At least one part holds.
    Any(Vec<Condition>),
    /// The part does not hold.
    Not(Box<Condition>),
    /// A field is as it should be.
    Leaf(Leaf),
    /// At least one item of a list meets the part.
    AnyOf(List, Box<Condition>),
    /// Every item of a list meets the part, and there is one.
    AllOf(List, Box<Condition>),
    /// Something in a list can't be known.
    Uncertain(List),
}

/// A list that describes a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    /// The commands that it runs.
    Commands,
    /// The files that it touches.
    Files,
}

impl List {
    /// The lists by name.
    pub(super) const NAMES: [(&'static str, Self); 2] =
        [("commands", Self::Commands), ("files", Self::Files)];

    fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Returns the keys of an item.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Commands => &[
                "program", "args", "pipeline", "piped", "redirections", "assignments", "wrappers",
                "uncertain",
            ],
            Self::Files => &["path", "touched", "certain"],
        }
    }

    /// Returns the items for an input, each as an input of its own.
    fn items(self, input: &Input, memo: &Memo) -> Vec<Input> {
        match self {
            Self::Commands => items_of(&memo.of(input).commands),
            Self::Files => items_of(&memo.of(input).files),
        }
    }

    fn is_uncertain(self, input: &Input, memo: &Memo) -> bool {
        match self {
            Self::Commands => memo.of(input).commands.iter().any(|command| command.uncertain),
            Self::Files => memo.of(input).files.iter().any(|file| !file.certain),
        }
    }
}

/// Returns an input for each item, whose fields are the keys of the item.
fn items_of<T: Serialize>(items: &[T]) -> Vec<Input> {
    let mut inputs = Vec::with_capacity(items.len());
    for item in items {
        let extra = match serde_json::to_value(item) {
            Ok(Value::Object(keys)) => keys,
            _ => JsonObject::new(),
        };
        inputs.push(Input { extra, ..Input::default() });
    }
    inputs
}

/// One field and one operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    pub(super) field: Field,
    pub(super) test: Test,
}

/// A path into the input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) written: Arc<str>,
    path: Arc<[String]>,
}

/// The operator of a condition, with its operand.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Equals(Value),
    In(Vec<Value>),
    Regex(Pattern),
    /// Only `**` goes across a `/`. On Windows `\` in a value counts as `/`, and case does not count.
    Glob {
        written: Arc<str>,
        pattern: Pattern,
    },
    Exists(bool),
}

/// Why a condition holds, or does not: the condition's own tree with the values that were seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Trace {
    /// Whether this part holds.
    pub holds: bool,
    /// The part: `all`, `any`, `not`, or a leaf such as `tool_input.cmd regex "^rm"`.
    pub condition: String,
    /// The value of a leaf's field; `None` when the field is missing, and above the leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The parts that were looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Trace>,
    /// Whether it looks at a field.
    #[serde(skip)]
    leaf: bool,
}

impl Condition {
    /// Returns whether `input` meets the condition. `memo` describes its tool call.
    pub fn holds(&self, input: &Input, memo: &Memo) -> bool {
        match &self.0 {
            Form::All(parts) => parts.iter().all(|part| part.holds(input, memo)),
            Form::Any(parts) => parts.iter().any(|part| part.holds(input, memo)),
            Form::Not(part) => !part.holds(input, memo),
            Form::AnyOf(list, part) => {
                let items = list.items(input, memo);
                items.iter().any(|item| part.holds(item, &Memo::default()))
            }
            Form::AllOf(list, part) => {
                let items = list.items(input, memo);
                !items.is_empty() && items.iter().all(|item| part.holds(item, &Memo::default()))
            }
            Form::Uncertain(list) => list.is_uncertain(input, memo),
            Form::Leaf(leaf) => leaf.test.holds(leaf.field.lookup(input).as_deref()),
        }
    }

    /// Returns why `input` meets it, or does not.
    pub fn explain(&self, input: &Input, memo: &Memo) -> Trace {
        let mut parts = Vec::new();
        match &self.0 {
            Form::Leaf(leaf) => {
                let value = leaf.field.lookup(input).map(Cow::into_owned);
                let holds = leaf.test.holds(value.as_ref());
                return Trace { holds, condition: self.head(), value, parts, leaf: true };
            }
            Form::AnyOf(list, part) | Form::AllOf(list, part) => {
                for item in list.items(input, memo) {
                    parts.push(part.explain(&item, &Memo::default()));
                }
            }
            _ => {
                for part in self.parts() {
                    parts.push(part.explain(input, memo));
                }
            }
        }
        let holds = self.holds(input, memo);
        Trace { holds, condition: self.head(), value: None, parts, leaf: false }
    }

    /// Returns whether it looks at what a tool call does.
    pub(crate) fn looks_at_calls(&self) -> bool {
        match &self.0 {
            Form::AnyOf(..) | Form::AllOf(..) | Form::Uncertain(_) => true,
            _ => self.parts().iter().any(Self::looks_at_calls),
        }
    }

    /// Returns the conditions that it joins.
    fn parts(&self) -> &[Self] {
        match &self.0 {
            Form::All(parts) | Form::Any(parts) => parts,
            Form::Not(part) | Form::AnyOf(_, part) | Form::AllOf(_, part) => from_ref(part),
            Form::Leaf(_) | Form::Uncertain(_) => &[],
        }
    }

    /// Returns it as it could be written, without its parts.
    fn head(&self) -> String {
        match &self.0 {
            Form::All(_) => "all".to_owned(),
            Form::Any(_) => "any".to_owned(),
            Form::Not(_) => "not".to_owned(),
            Form::AnyOf(list, _) => format!("any of the {}", list.name()),
            Form::AllOf(list, _) => format!("all of the {}", list.name()),
            Form::Uncertain(list) => format!("uncertain {}", list.name()),
            Form::Leaf(leaf) => leaf.to_string(),
        }
    }
}

impl Field {
    /// Reads a path: keys joined by dots, or a JSON pointer. No part of it is empty, and a dotted one has
    /// no blank, `$` or bracket.
    pub(super) fn parse(written: &str) -> Option<Self> {
        let mut is_valid = true;
        let path: Vec<String> = if let Some(pointer) = written.strip_prefix('/') {
            pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
        } else {
            is_valid =
                !written.contains(|letter: char| letter.is_whitespace() || "$[]".contains(letter));
            written.split('.').map(str::to_owned).collect()
        };
        is_valid &= !path.iter().any(String::is_empty);
        if is_valid { Some(Self { written: written.into(), path: path.into() }) } else { None }
    }

    /// Returns the value of the field.
    pub(super) fn lookup<'i>(&self, input: &'i Input) -> Option<Cow<'i, Value>> {
        input.lookup(&self.path)
    }

    /// Returns the key at the top of the input.
    pub(super) fn top(&self) -> &str {
        &self.path[0]
    }
}

impl Test {
    fn holds(&self, value: Option<&Value>) -> bool {
        let Some(value) = value else { return matches!(self, Self::Exists(false)) };
        match self {
            Self::Equals(wanted) => same_json(wanted, value),
            Self::In(wanted) => wanted.iter().any(|wanted| same_json(wanted, value)),
            Self::Regex(pattern) => found(pattern, value, false),
            Self::Glob { pattern, .. } => found(pattern, value, Platform::HERE.has_drives),
            Self::Exists(wanted) => *wanted,
        }
    }
}

/// Returns whether the text of `value` matches; a list matches when one of its items does, so
/// that a guard on a command line sees an argument vector too. With `slashes`, `\` counts as `/`.
pub(super) fn found(pattern: &Pattern, value: &Value, slashes: bool) -> bool {
    match value {
        Value::String(text) if slashes => pattern.is_match(&text.replace('\\', "/")),
        Value::String(text) => pattern.is_match(text),
        Value::Number(number) => pattern.is_match(&number.to_string()),
        Value::Bool(flag) => pattern.is_match(if *flag { "true" } else { "false" }),
        Value::Array(items) => items.iter().any(|item| found(pattern, item, slashes)),
        Value::Null | Value::Object(_) => false,
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field.written;
        match &self.test {
            Test::Equals(value) => write!(formatter, "{field} equals {value}"),
            Test::In(values) => {
                write!(formatter, "{field} in {}", Value::Array(values.clone()))
            }
            Test::Regex(pattern) => write!(formatter, "{field} regex {:?}", pattern.as_str()),
            Test::Glob { written, .. } => write!(formatter, "{field} glob {written:?}"),
            Test::Exists(wanted) => write!(formatter, "{field} exists {wanted}"),
        }
    }
}

impl fmt::Display for Condition {
    /// Shows the condition on one line, as it could be written.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.head())?;
        for (index, part) in self.parts().iter().enumerate() {
            write!(formatter, "{}{part}", if index == 0 { "(" } else { ", " })?;
        }
        formatter.write_str(if self.parts().is_empty() { "" } else { ")" })
    }
}

impl fmt::Display for Trace {
    /// Shows a line per part, indented, each with its outcome and the value seen.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn line(trace: &Trace, depth: usize, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            let outcome = if trace.holds { "yes" } else { "no " };
            write!(formatter, "{outcome} {:indent$}{}", "", trace.condition, indent = 2 * depth)?;
            if trace.leaf {
                match &trace.value {
                    Some(value) => write!(formatter, "  (is {value})")?,
                    None => formatter.write_str("  (is missing)")?,
                }
            }
            for part in &trace.parts {
                writeln!(formatter)?;
                line(part, depth + 1, formatter)?;
            }
            Ok(())
        }
        line(self, 0, formatter)
    }
}
