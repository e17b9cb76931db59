//! YAML text to a tree of [`Node`]s: the only module that names the YAML parser.
//!
//! Duplicate keys stay in the tree, so that the reader reports them along with everything else.

mod mistakes;

pub(super) use mistakes::odd_space;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput, StructureStyle, Tag};
use serde_json::Number;

use super::diagnostic::Diagnostic;
use super::node::{Node, Value};
use super::source::{Location, SourceFile};

/// How deep a file may nest. A hook with a plain condition needs ten levels; reading a level takes
/// some 40 KiB of stack in a debug build, and threads have 2 MiB.
const MAX_DEPTH: usize = 24;
/// How many values a file may hold, aliases expanded. Of a text that an alias repeats, each 20 bytes
/// count as one.
const MAX_NODES: usize = 50_000;

/// A mistake and its place, in bytes.
type Problem = (Diagnostic, Range<usize>);

/// Parses the text of a file, which has no byte order mark. A merge must not hide a key that
/// `must_show` tells.
///
/// # Errors
/// The first mistake in the YAML.
pub fn parse(file: &Arc<SourceFile>, must_show: fn(&str) -> bool) -> Result<Node<'_>, Diagnostic> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let tree = Tree {
        text: &file.text,
        parser: Parser::new_from_str_with_options(&file.text, options),
        anchors: HashMap::new(),
        must_show,
        nodes: 0,
        end: 0,
        open: Vec::new(),
    };
    tree.document().map_err(|(problem, range)| problem.at(Location::new(Arc::clone(file), range)))
}

/// The tree of one file while it is built from the parser's events.
struct Tree<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    /// The values that have an anchor; `None` until the value is complete.
    anchors: HashMap<usize, Option<Node<'t>>>,
    must_show: fn(&str) -> bool,
    nodes: usize,
    /// Where the last value ended.
    end: usize,
    /// Where the lists and mappings that are open began.
    open: Vec<usize>,
}

impl<'t> Tree<'t> {
    fn document(mut self) -> Result<Node<'t>, Problem> {
        let mut root = None;
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamEnd => {
                    return Ok(root.unwrap_or(Node { value: Value::Null, span: 0..0 }));
                }
                Event::DocumentStart(..) if root.is_some() => {
                    let error = Diagnostic::error("a second document begins here");
                    let hint = "a file holds one document; remove the `---` or split the file";
                    return Err((error.hint(hint), place));
                }
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => root = Some(self.node(event, place, 0)?),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Range<usize>), Problem> {
        match self.parser.next() {
            Some(Ok((event, span))) => {
                let place = span.byte_range().unwrap_or(0..0);
                if event.is_node() {
                    self.end = self.end.max(place.end);
                }
                Ok((event, place))
            }
            Some(Err(error)) => Err(mistakes::explain(&error, self.text, &self.open, self.end)),
            None => {
                let end = self.text.len();
                Err((Diagnostic::error("the file ends too early"), end..end))
            }
        }
    }

    /// Reads the value that begins with `event`, inside of `depth` others.
    fn node(
        &mut self,
        event: Event<'t>,
        place: Range<usize>,
        depth: usize,
    ) -> Result<Node<'t>, Problem> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err((Diagnostic::error(format!("more than {MAX_NODES} values")), place));
        }
        if let Some(tag) = event.tag() {
            return Err(self.unknown_tag(tag, place));
        }
        let anchor = event.anchor_id();
        if event.scalar().is_none() && !event.is_alias() {
            if depth >= MAX_DEPTH {
                return Err(too_deep(place));
            }
            self.anchors.extend(anchor.map(|anchor| (anchor, None)));
        }
        let value = match event {
            Event::Alias(anchor) => return self.alias(anchor, place, depth),
            Event::Scalar(content, ScalarStyle::Plain, ..) => plain_scalar(content),
            Event::Scalar(content, ..) => Value::Text(content),
            Event::SequenceStart(style, ..) => {
                self.open.push(place.start);
                self.list(style, depth)?
            }
            Event::MappingStart(style, ..) => {
                self.open.push(place.start);
                self.map(style, depth)?
            }
            event => return Err((Diagnostic::error(format!("unexpected {event:?}")), place)),
        };
        let end = match value {
            Value::List(_) | Value::Map(_) => self.end.max(place.end),
            _ => place.end,
        };
        let node = Node { value, span: place.start..end };
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, Some(node.clone()));
        }
        Ok(node)
    }

    fn list(&mut self, style: StructureStyle, depth: usize) -> Result<Value<'t>, Problem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, place) => {
                    self.close(style, &place);
                    return Ok(Value::List(items));
                }
                (event, place) => items.push(self.node(event, place, depth + 1)?),
            }
        }
    }

    fn map(&mut self, style: StructureStyle, depth: usize) -> Result<Value<'t>, Problem> {
        let mut entries = Vec::new();
        let mut merge: Option<Node<'t>> = None;
        loop {
            let (event, place) = self.next()?;
            if event == Event::MappingEnd {
                self.close(style, &place);
                if let Some(source) = &merge {
                    merge_into(&mut entries, source, self.must_show)?;
                }
                return Ok(Value::Map(entries));
            }
            let merges = event.scalar() == Some(("<<", ScalarStyle::Plain));
            let key = self.node(event, place, depth + 1)?;
            let (event, place) = self.next()?;
            let value = self.node(event, place, depth + 1)?;
            if !merges {
                entries.push((key, value));
            } else if merge.is_none() {
                merge = Some(Node { span: key.span, ..value });
            } else {
                let error = Diagnostic::error("a second `<<` in one mapping");
                return Err((error.hint("merge several with one: `<<: [*a, *b]`"), key.span));
            }
        }
    }

    /// Ends a list or a mapping: one in brackets ends with its bracket, another one with its last
    /// value.
    fn close(&mut self, style: StructureStyle, place: &Range<usize>) {
        if style == StructureStyle::Flow {
            self.end = self.end.max(place.end);
        }
        self.open.pop();
    }

    /// Returns a copy of the value that has the anchor; the copy keeps the place of the original.
    fn alias(
        &mut self,
        anchor: usize,
        place: Range<usize>,
        depth: usize,
    ) -> Result<Node<'t>, Problem> {
        let Some(Some(node)) = self.anchors.get(&anchor) else {
            return Err((Diagnostic::error("an alias inside of its own anchor"), place));
        };
        let node = node.clone();
        self.count_copy(&node, &place, depth)?;
        Ok(node)
    }

    /// Counts the values and the text that an alias repeats inside of `depth` others.
    fn count_copy(
        &mut self,
        node: &Node<'_>,
        place: &Range<usize>,
        depth: usize,
    ) -> Result<(), Problem> {
        self.nodes += 1 + node.as_text().unwrap_or_default().len() / 20;
        if self.nodes > MAX_NODES {
            let message = format!("the aliases expand to more than {MAX_NODES} values");
            return Err((Diagnostic::error(message).hint("write the values out"), place.clone()));
        }
        if depth > MAX_DEPTH {
            return Err(too_deep(place.clone()));
        }
        match &node.value {
            Value::List(items) => {
                for item in items {
                    self.count_copy(item, place, depth + 1)?;
                }
            }
            Value::Map(entries) => {
                for (key, value) in entries {
                    self.count_copy(key, place, depth + 1)?;
                    self.count_copy(value, place, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses a tag: readers of YAML disagree on what each of them means.
    fn unknown_tag(&self, tag: &Tag, place: Range<usize>) -> Problem {
        let written = tag.original();
        let before = self.text.get(..place.start).and_then(|text| text.rfind(&written));
        let range = before.map_or(place, |start| start..start + written.len());
        let error = Diagnostic::error(format!("unknown tag `{written}`"));
        (error.hint("put quotes around a text that begins with `!`"), range)
    }
}

/// Adds the entries of `source`, a mapping or a list of them, whose keys are not there yet.
fn merge_into<'t>(
    entries: &mut Vec<(Node<'t>, Node<'t>)>,
    source: &Node<'t>,
    must_show: fn(&str) -> bool,
) -> Result<(), Problem> {
    for mapping in source.one_or_many() {
        let Value::Map(merged) = &mapping.value else {
            let error = Diagnostic::error("`<<` needs a mapping to merge");
            let hint = "merge an alias of a mapping: `<<: *name`";
            return Err((error.hint(hint), source.span.clone()));
        };
        for (key, value) in merged {
            let name = key.as_text();
            if name.is_none() || !entries.iter().any(|(known, _)| known.as_text() == name) {
                entries.push((key.clone(), value.clone()));
            } else if let Some(name) = name
                && must_show(name)
            {
                let message = format!("the key `{name}` appears twice after this merge");
                let error =
                    Diagnostic::error(message).hint("write the hooks of both into one list");
                return Err((error, source.span.clone()));
            }
        }
    }
    Ok(())
}

fn too_deep(place: Range<usize>) -> Problem {
    (Diagnostic::error(format!("nested deeper than {MAX_DEPTH} levels")), place)
}

/// Returns the value of a scalar without quotes.
///
/// A number is what JSON takes for one, also with a `+` or without the 0 before the point, and what
/// begins with `0x` or `0o`. What readers of YAML disagree on (`0777`, `1_000`, `yes`) is text.
fn plain_scalar(content: Cow<'_, str>) -> Value<'_> {
    if content.is_empty() || content == "~" || content.eq_ignore_ascii_case("null") {
        return Value::Null;
    }
    for flag in [true, false] {
        if content.eq_ignore_ascii_case(if flag { "true" } else { "false" }) {
            return Value::Bool(flag);
        }
    }
    match number(&content) {
        Some(number) => Value::Number(number),
        None => Value::Text(content),
    }
}

fn number(content: &str) -> Option<Number> {
    let sign = if content.starts_with('-') { "-" } else { "" };
    let unsigned = content.strip_prefix(['+', '-']).unwrap_or(content);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = content.strip_prefix(prefix)
            && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        {
            return u64::from_str_radix(digits, radix).ok().map(Number::from);
        }
    }
    // A path such as `./x` begins like a number, and most numbers are read as they stand.
    if !unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte)) {
        return None;
    }
    let zero = if unsigned.starts_with('.') { "0" } else { "" };
    if unsigned.len() == content.len() && zero.is_empty() {
        return content.parse().ok();
    }
    format!("{sign}{zero}{unsigned}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plain_scalar_is() {
        for (text, json) in [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("TRUE", "true"),
            ("false", "false"),
            ("0", "0"),
            ("42", "42"),
            ("-3", "-3"),
            ("+3", "3"),
            ("1.5", "1.5"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1e3", "1e3"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("0x1F", "31"),
            ("0o17", "15"),
        ] {
            let value = match plain_scalar(text.into()) {
                Value::Null => "null".to_owned(),
                Value::Bool(flag) => flag.to_string(),
                Value::Number(number) => number.to_string(),
                value => panic!("{text}: {value:?}"),
            };
            // A float may be written in another way.
            let [value, json] = [&*value, json].map(str::to_lowercase);
            assert!(value == json || value == json.replace('e', "e+"), "{text}: {value}");
        }
        for text in [
            "yes", "off", "0777", "007", "1_000", "0b1", "0X1F", "0x", "0x+1", "-0x1", "1.", "+",
            "-", ".", "..", "+-1", "--1", ".inf", "-.NaN", "inf", "5s", "1:30", "1e", "0o9", "ten",
        ] {
            assert!(matches!(plain_scalar(text.into()), Value::Text(_)), "{text}");
        }
    }
}
