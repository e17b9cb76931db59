//! YAML text to a tree of [`Node`]s: the only module that names the YAML parser.
//!
//! Duplicate keys stay in the tree, so that the reader reports them along with everything else.

mod mistakes;
mod scalar;

pub(super) use mistakes::odd_space;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Options, Parser, ScalarStyle, StrInput, StructureStyle, Tag};

use super::diagnostic::Diagnostic;
use super::node::{Node, Value};
use super::source::{Location, SourceFile};
use crate::event;

/// How deep a file may nest. A hook with a plain condition needs ten levels; reading a level takes
/// some 40 KiB of stack in a debug build, and threads have 2 MiB.
const MAX_DEPTH: usize = 24;
/// How many values a file may hold, aliases expanded.
const MAX_NODES: usize = 50_000;
/// How much text the aliases of a file may repeat, in bytes.
const MAX_REPEATED: usize = 1 << 20;

/// A text that is not valid YAML, or that exceeds a limit.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    /// What is wrong.
    pub(crate) message: String,
    /// Where, in bytes.
    pub(crate) range: Range<usize>,
    /// What to do.
    pub(crate) hint: Option<String>,
}

impl SyntaxError {
    fn new(message: impl Into<String>, range: Range<usize>) -> Self {
        Self { message: message.into(), range, hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the problem in `file`.
    pub(crate) fn at(self, file: &Arc<SourceFile>) -> Diagnostic {
        let problem = Diagnostic { hint: self.hint, ..Diagnostic::error(self.message) };
        problem.at(Location::new(Arc::clone(file), self.range))
    }
}

/// Parses `text`, which has no byte order mark.
pub(crate) fn parse(text: &str) -> Result<Node<'_>, SyntaxError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let parser = Parser::new_from_str_with_options(text, options);
    let tree = Tree {
        text,
        parser,
        anchors: HashMap::new(),
        nodes: 0,
        repeated: 0,
        end: 0,
        read: 0,
        open: Vec::new(),
    };
    tree.document()
}

/// The tree of one file while it is built from the parser's events.
struct Tree<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    /// The values that have an anchor; `None` until the value is complete.
    anchors: HashMap<usize, Option<Node<'t>>>,
    nodes: usize,
    /// The text that aliases have repeated so far, in bytes.
    repeated: usize,
    /// Where the last value ended.
    end: usize,
    /// How far the parser has read.
    read: usize,
    /// Where the brackets that are open began.
    open: Vec<usize>,
}

/// The entries of a mapping: key and value.
type Entries<'t> = Vec<(Node<'t>, Node<'t>)>;

impl<'t> Tree<'t> {
    fn document(mut self) -> Result<Node<'t>, SyntaxError> {
        let mut root = None;
        loop {
            let (event, place) = self.next()?;
            match event {
                Event::StreamEnd => {
                    return Ok(root.unwrap_or(Node { value: Value::Null, span: 0..0 }));
                }
                Event::DocumentStart(..) if root.is_some() => {
                    let error = SyntaxError::new("a second document begins here", place);
                    let hint = "a file holds one document; remove the `---` or split the file";
                    return Err(error.hint(hint));
                }
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => root = Some(self.node(event, place, 0)?),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Range<usize>), SyntaxError> {
        match self.parser.next() {
            Some(Ok((event, span))) => {
                let place = span.byte_range().unwrap_or(0..0);
                self.read = self.read.max(place.end);
                if event.is_node() {
                    self.end = self.end.max(place.end);
                }
                Ok((event, place))
            }
            Some(Err(error)) => Err(mistakes::explain(&error, self.text, &self.open, self.read)),
            None => {
                let end = self.text.len();
                Err(SyntaxError::new("the file ends too early", end..end))
            }
        }
    }

    /// Reads the value that begins with `event`, inside of `depth` others.
    fn node(
        &mut self,
        event: Event<'t>,
        place: Range<usize>,
        depth: usize,
    ) -> Result<Node<'t>, SyntaxError> {
        self.count(1, 0, &place)?;
        if let Some(tag) = event.tag() {
            return Err(self.unknown_tag(tag, &place));
        }
        let anchor = event.anchor_id();
        if event.scalar().is_none() && !event.is_alias() {
            if depth >= MAX_DEPTH {
                return Err(too_deep(&place));
            }
            self.anchors.extend(anchor.map(|anchor| (anchor, None)));
        }
        let value = match event {
            Event::Alias(anchor) => return self.alias(anchor, &place, depth),
            Event::Scalar(content, ScalarStyle::Plain, ..) => scalar::plain(content),
            Event::Scalar(content, ..) => Value::Text(content),
            Event::SequenceStart(style, ..) => {
                self.open(style, &place);
                self.list(style, depth)?
            }
            Event::MappingStart(style, ..) => {
                self.open(style, &place);
                self.map(style, depth)?
            }
            event => return Err(SyntaxError::new(format!("unexpected {event:?}"), place)),
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

    fn list(&mut self, style: StructureStyle, depth: usize) -> Result<Value<'t>, SyntaxError> {
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

    fn map(&mut self, style: StructureStyle, depth: usize) -> Result<Value<'t>, SyntaxError> {
        let mut entries = Vec::new();
        let mut merge: Option<Node<'t>> = None;
        loop {
            let (event, place) = self.next()?;
            if event == Event::MappingEnd {
                self.close(style, &place);
                if let Some(source) = &merge {
                    merge_into(&mut entries, source)?;
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
                let error = SyntaxError::new("a second `<<` in one mapping", key.span);
                return Err(error.hint("merge several with one: `<<: [*a, *b]`"));
            }
        }
    }

    /// Remembers where a list or a mapping in brackets begins.
    fn open(&mut self, style: StructureStyle, place: &Range<usize>) {
        if style == StructureStyle::Flow {
            self.open.push(place.start);
        }
    }

    /// Ends a list or a mapping: one in brackets ends with its bracket, another one with its last
    /// value.
    fn close(&mut self, style: StructureStyle, place: &Range<usize>) {
        if style == StructureStyle::Flow {
            self.end = self.end.max(place.end);
            self.open.pop();
        }
    }

    /// Returns a copy of the value that has the anchor; the copy keeps the place of the original.
    fn alias(
        &mut self,
        anchor: usize,
        place: &Range<usize>,
        depth: usize,
    ) -> Result<Node<'t>, SyntaxError> {
        let Some(Some(node)) = self.anchors.get(&anchor) else {
            return Err(SyntaxError::new("an alias inside of its own anchor", place.clone()));
        };
        let node = node.clone();
        let size = Size::of(&node);
        if depth + size.levels > MAX_DEPTH {
            return Err(too_deep(place));
        }
        self.count(size.nodes, size.text, place)?;
        Ok(node)
    }

    /// Counts values, and the text of those that an alias repeats.
    fn count(
        &mut self,
        nodes: usize,
        repeated: usize,
        place: &Range<usize>,
    ) -> Result<(), SyntaxError> {
        self.nodes += nodes;
        self.repeated += repeated;
        if self.nodes <= MAX_NODES && self.repeated <= MAX_REPEATED {
            return Ok(());
        }
        if nodes == 1 && repeated == 0 {
            return Err(SyntaxError::new(format!("more than {MAX_NODES} values"), place.clone()));
        }
        let message =
            format!("the aliases expand to more than {MAX_NODES} values or {MAX_REPEATED} bytes");
        Err(SyntaxError::new(message, place.clone()).hint("write the values out"))
    }

    /// Refuses a tag: readers of YAML disagree on what each of them means.
    fn unknown_tag(&self, tag: &Tag, place: &Range<usize>) -> SyntaxError {
        let written = tag.original();
        let before = self.text.get(..place.start).and_then(|text| text.rfind(&written));
        let range = before.map_or(place.clone(), |start| start..start + written.len());
        let error = SyntaxError::new(format!("unknown tag `{written}`"), range);
        error.hint("put quotes around a text that begins with `!`")
    }
}

/// What a value adds to the tree when an alias repeats it.
#[derive(Default)]
struct Size {
    nodes: usize,
    text: usize,
    levels: usize,
}

impl Size {
    fn of(node: &Node<'_>) -> Self {
        let mut size = Self { nodes: 1, ..Self::default() };
        let mut add = |part: &Node<'_>| {
            let part = Self::of(part);
            size.nodes += part.nodes;
            size.text += part.text;
            size.levels = size.levels.max(part.levels + 1);
        };
        match &node.value {
            Value::Text(text) => size.text = text.len(),
            Value::List(items) => items.iter().for_each(add),
            Value::Map(entries) => entries.iter().for_each(|(key, value)| {
                add(key);
                add(value);
            }),
            _ => {}
        }
        size
    }
}

/// Adds the entries of `source`, a mapping or a list of them, whose keys are not there yet.
///
/// An event that is there already is an error: the merge would hide one of the two lists of hooks.
fn merge_into<'t>(entries: &mut Entries<'t>, source: &Node<'t>) -> Result<(), SyntaxError> {
    for mapping in source.one_or_many() {
        let Value::Map(merged) = &mapping.value else {
            let error = SyntaxError::new("`<<` needs a mapping to merge", source.span.clone());
            return Err(error.hint("merge an alias of a mapping: `<<: *name`"));
        };
        for (key, value) in merged {
            let name = key.as_text();
            if name.is_none() || !entries.iter().any(|(known, _)| known.as_text() == name) {
                entries.push((key.clone(), value.clone()));
            } else if let Some(event) = name.and_then(event::Event::from_name) {
                let message = format!("the key `{event}` appears twice after this merge");
                let error = SyntaxError::new(message, source.span.clone());
                return Err(error.hint("write the hooks of both into one list"));
            }
        }
    }
    Ok(())
}

fn too_deep(place: &Range<usize>) -> SyntaxError {
    SyntaxError::new(format!("nested deeper than {MAX_DEPTH} levels"), place.clone())
}
