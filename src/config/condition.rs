//! `when:` conditions: one field and one operator a leaf, joined with `all`, `any`, `not`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Number, Value};

use crate::pattern::Pattern;
use crate::wire::{Input, same_json};

/// A condition on an event's input.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Condition {
    /// Every part holds.
    All(Vec<Condition>),
    /// At least one part holds.
    Any(Vec<Condition>),
    /// The part does not hold.
    Not(Box<Condition>),
    /// A field is as it should be.
    Leaf(Leaf),
}

/// One field and one operator.
#[derive(Debug, Clone)]
pub struct Leaf {
    field: Field,
    test: Test,
}

/// A path into the input.
#[derive(Debug, Clone)]
pub(super) struct Field {
    written: Arc<str>,
    path: Arc<[String]>,
}

/// What a field is compared with.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Equals(Value),
    In(Vec<Value>),
    Regex(Pattern),
    Glob { written: Arc<str>, pattern: Pattern },
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
}

impl Condition {
    /// Returns whether `input` meets the condition.
    #[must_use]
    pub fn holds(&self, input: &Input) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(input)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(input)),
            Self::Not(part) => !part.holds(input),
            Self::Leaf(leaf) => leaf.test.holds(input.lookup(&leaf.field.path).as_deref()),
        }
    }

    /// Returns about how many states its patterns have.
    pub(super) fn states(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::states).sum(),
            Self::Not(part) => part.states(),
            Self::Leaf(leaf) => match &leaf.test {
                Test::Regex(pattern) | Test::Glob { pattern, .. } => pattern.states(),
                Test::Equals(_) | Test::In(_) | Test::Exists(_) => 0,
            },
        }
    }

    /// Returns why `input` meets the condition, or does not.
    #[must_use]
    pub fn explain(&self, input: &Input) -> Trace {
        let (condition, parts) = match self {
            Self::All(parts) => ("all", parts.iter().map(|part| part.explain(input)).collect()),
            Self::Any(parts) => ("any", parts.iter().map(|part| part.explain(input)).collect()),
            Self::Not(part) => ("not", vec![part.explain(input)]),
            Self::Leaf(leaf) => {
                let value = input.lookup(&leaf.field.path).map(Cow::into_owned);
                let holds = leaf.test.holds(value.as_ref());
                return Trace { holds, condition: leaf.to_string(), value, parts: Vec::new() };
            }
        };
        Trace { holds: self.holds(input), condition: condition.to_owned(), value: None, parts }
    }
}

impl Leaf {
    pub(super) fn new(field: Field, test: Test) -> Self {
        Self { field, test }
    }
}

impl Field {
    /// Reads a path: keys joined by dots, or a JSON pointer.
    pub(super) fn parse(written: &str) -> Result<Self, &'static str> {
        let path: Vec<String> = if let Some(pointer) = written.strip_prefix('/') {
            pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect()
        } else {
            written.split('.').map(str::to_owned).collect()
        };
        if path.iter().any(String::is_empty) {
            return Err("a part of the path is empty");
        }
        let dotted = !written.starts_with('/');
        if dotted
            && written.contains(|letter: char| letter.is_whitespace() || "$[]".contains(letter))
        {
            return Err("a blank, `$` or a bracket in it");
        }
        Ok(Self { written: written.into(), path: path.into() })
    }

    /// Returns the key at the top of the input.
    pub(super) fn top(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }
}

impl Test {
    /// Returns the test of a glob, in which only `**` goes across a `/`.
    pub(super) fn glob(written: &str) -> Result<Self, String> {
        Ok(Self::Glob { written: written.into(), pattern: Pattern::glob(written)? })
    }

    fn holds(&self, value: Option<&Value>) -> bool {
        if let Self::Exists(wanted) = self {
            return value.is_some() == *wanted;
        }
        let Some(value) = value else { return false };
        match self {
            Self::Equals(wanted) => same(wanted, value),
            Self::In(wanted) => wanted.iter().any(|wanted| same(wanted, value)),
            Self::Regex(pattern) | Self::Glob { pattern, .. } => found(pattern, value),
            Self::Exists(_) => false,
        }
    }
}

/// Returns whether the text of `value` matches; a list matches when one of its items does, so
/// that a guard on a command line sees an argument vector too.
fn found(pattern: &Pattern, value: &Value) -> bool {
    match value {
        Value::String(text) => pattern.is_match(text),
        Value::Number(number) => pattern.is_match(&number.to_string()),
        Value::Bool(flag) => pattern.is_match(if *flag { "true" } else { "false" }),
        Value::Array(items) => items.iter().any(|item| found(pattern, item)),
        Value::Null | Value::Object(_) => false,
    }
}

/// Returns whether two values are equal. Types count, `3` is not `"3"`; how a number is written
/// does not, `3` is `3.0`.
fn same(left: &Value, right: &Value) -> bool {
    same_json(left, right, same_number)
}

/// Returns whether numbers are equal to whoever reads them: a tool reads most as floats, to which
/// `10.0000000000000000000000001` is `10`. Integers it reads digit by digit, for they may be names.
fn same_number(left: &Number, right: &Number) -> bool {
    /// Beyond it there are integers that a float can't tell apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let integer = |number: &Number| !number.to_string().contains(['.', 'e', 'E']);
    let floats = left.as_f64().zip(right.as_f64());
    #[expect(clippy::float_cmp, reason = "equal is what is asked")]
    let equal = floats.is_some_and(|(left, right)| left == right);
    let exact = floats.is_none_or(|(float, _)| float.abs() < EXACT);
    left == right || equal && (exact || !(integer(left) && integer(right)))
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
        let (name, parts) = match self {
            Self::All(parts) => ("all", parts.as_slice()),
            Self::Any(parts) => ("any", parts.as_slice()),
            Self::Not(part) => ("not", std::slice::from_ref(&**part)),
            Self::Leaf(leaf) => return leaf.fmt(formatter),
        };
        write!(formatter, "{name}(")?;
        for (index, part) in parts.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}{part}")?;
        }
        formatter.write_str(")")
    }
}

impl fmt::Display for Trace {
    /// Shows a line per part, indented, each with its outcome and the value seen.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn line(trace: &Trace, depth: usize, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            let outcome = if trace.holds { "yes" } else { "no " };
            write!(formatter, "{outcome} {:indent$}{}", "", trace.condition, indent = 2 * depth)?;
            if trace.parts.is_empty() {
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
