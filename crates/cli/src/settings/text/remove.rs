//! Taking a child out of its container, and what would be empty without it.

use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::Ranged as _;

use super::insert::{comma_after, line_indent};
use super::{EditError, parse};

/// Removes the last element that is doomed, or returns `None` when there is none.
pub(super) fn remove_last(text: &str, doomed: &Doomed<'_>) -> Result<Option<String>, EditError> {
    let Some(root) = parse(text)? else { return Ok(None) };
    Ok(doomed.last(&root, Some("")).map(|child| child.cut(text)))
}

/// A child of a container, by place.
#[derive(Clone, Copy)]
struct Child {
    start: usize,
    end: usize,
    previous_end: Option<usize>,
    /// Where the container's brackets are.
    open: usize,
    close: usize,
}

/// What is to go.
pub(super) struct Doomed<'d> {
    pub(super) ours: &'d dyn Fn(&str) -> bool,
    pub(super) kept: &'d [String],
}

impl Doomed<'_> {
    /// Returns the outermost thing that goes when the last element that is ours goes.
    ///
    /// `path` leads to `node` by members alone; behind a list there is none.
    fn last(&self, node: &Node<'_>, path: Option<&str>) -> Option<Child> {
        match node {
            Node::Array(array) => (0..array.elements.len()).rev().find_map(|index| {
                let element = &array.elements[index];
                if self.is_ours(element) {
                    return Some(element_of(array, index));
                }
                let inner = self.last(element, None)?;
                // A group that would be left without a hook goes as a whole.
                let empties = inner.is_alone(element, &LABELS);
                Some(if empties { element_of(array, index) } else { inner })
            }),
            Node::Object(object) => (0..object.properties.len()).rev().find_map(|index| {
                let property = &object.properties[index];
                let path = path.map(|path| format!("{path}/{}", property.name.as_str()));
                let inner = self.last(&property.value, path.as_deref())?;
                let kept = path.is_some_and(|path| self.kept.contains(&path));
                let empties = inner.is_alone(&property.value, &[]) && !kept;
                Some(if empties { member_of(object, index) } else { inner })
            }),
            _ => None,
        }
    }

    fn is_ours(&self, element: &Node<'_>) -> bool {
        let Node::Object(object) = element else { return false };
        object.properties.iter().any(|property| match &property.value {
            Node::StringLit(text) if property.name.as_str() == "command" => {
                (self.ours)(&text.value)
            }
            // Kiro's entries keep theirs in an object.
            Node::Object(_) => self.is_ours(&property.value),
            _ => false,
        })
    }
}

fn element_of(array: &Array<'_>, index: usize) -> Child {
    let range = array.elements[index].range();
    let previous_end = index.checked_sub(1).map(|index| array.elements[index].range().end);
    Child {
        start: range.start,
        end: range.end,
        previous_end,
        open: array.range.start,
        close: array.range.end - 1,
    }
}

fn member_of(object: &Object<'_>, index: usize) -> Child {
    let range = object.properties[index].range;
    let previous_end = index.checked_sub(1).map(|index| object.properties[index].range.end);
    Child {
        start: range.start,
        end: range.end,
        previous_end,
        open: object.range.start,
        close: object.range.end - 1,
    }
}

/// What a group of hooks may hold beside its hooks.
const LABELS: [&str; 4] = ["matcher", "name", "description", "sequential"];

impl Child {
    /// Returns whether `container` holds nothing else, members named in `labels` aside.
    fn is_alone(&self, container: &Node<'_>, labels: &[&str]) -> bool {
        let inside = self.open == container.range().start;
        match container {
            Node::Array(array) => inside && array.elements.len() == 1,
            Node::Object(object) => {
                let mut others = object.properties.iter().filter(|property| {
                    property.range.start != self.start && !labels.contains(&property.name.as_str())
                });
                inside && others.next().is_none()
            }
            _ => false,
        }
    }

    /// Returns the text without it: the inverse of [`Style::insert`](super::insert::Style::insert).
    fn cut(self, text: &str) -> String {
        let lead = self.lead(text);
        if let Some(comma) = comma_after(text, self.end, self.close) {
            return [&text[..lead], &text[comma + 1..]].concat();
        }
        if let Some(previous) = self.previous_end {
            let comma = comma_after(text, previous, self.start).unwrap_or(previous);
            let after = (comma + 1).min(lead);
            return [&text[..comma], &text[after..lead], &text[self.end..]].concat();
        }
        let tail = &text[self.end..self.close];
        let indent = line_indent(text, self.open);
        let made = [format!("\r\n{indent}"), format!("\n{indent}")];
        let rest = made.iter().find_map(|made| tail.strip_prefix(made.as_str()));
        let rest = rest.filter(|rest| !rest.contains('\n')).unwrap_or(tail);
        [&text[..lead], rest, &text[self.close..]].concat()
    }

    /// Returns where the blanks begin that were put before it: a new line, or one blank.
    fn lead(self, text: &str) -> usize {
        let before = &text[..self.start];
        let line = before.trim_end_matches([' ', '\t']);
        if let Some(above) = line.strip_suffix('\n') {
            above.strip_suffix('\r').unwrap_or(above).len()
        } else {
            before.strip_suffix(' ').unwrap_or(before).len()
        }
    }
}
