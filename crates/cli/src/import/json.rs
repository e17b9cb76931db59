//! Reads a JSON text with comments, and says of each mistake where it stands.

use std::sync::Arc;

use hookexec::config::{Diagnostic, Diagnostics, Location};
use hookexec::internal::SourceFile;
use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;

/// Reads values and collects what is wrong with them.
pub(super) struct Reader {
    source: Arc<SourceFile>,
    pub(super) problems: Diagnostics,
}

impl Reader {
    pub(super) fn new(source: &Arc<SourceFile>) -> Self {
        Self { source: Arc::clone(source), problems: Diagnostics::default() }
    }

    pub(super) fn string(&mut self, node: &Node<'_>, what: &str) -> Option<String> {
        match node {
            Node::StringLit(text) => Some(text.value.to_string()),
            _ => self.refuse(node, format!("{what} must be a string"), ""),
        }
    }

    /// Returns the text of a member that must be there; `what` is the object.
    pub(super) fn required(
        &mut self,
        object: &Members<'_, '_>,
        key: &str,
        what: &str,
    ) -> Option<String> {
        match object.get(key) {
            Some(value) => self.string(value, &format!("`{key}`")),
            None => self.refuse(object.node, format!("{what} needs a `{key}`"), ""),
        }
    }

    pub(super) fn boolean(&mut self, node: &Node<'_>, what: &str) -> Option<bool> {
        match node {
            Node::BooleanLit(truth) => Some(truth.value),
            _ => self.refuse(node, format!("{what} must be true or false"), ""),
        }
    }

    pub(super) fn list<'n, 'a>(&mut self, node: &'n Node<'a>, what: &str) -> Vec<&'n Node<'a>> {
        if let Node::Array(array) = node {
            return array.elements.iter().collect();
        }
        self.error(node, format!("{what} must be a list"), "");
        Vec::new()
    }

    /// Returns the strings of a list; messages call each of them `item`.
    pub(super) fn strings(
        &mut self,
        node: &Node<'_>,
        what: &str,
        item: &str,
    ) -> Option<Vec<String>> {
        self.list(node, what).into_iter().map(|node| self.string(node, item)).collect()
    }

    /// Returns the members of an object in which every key stands once, without comments.
    pub(super) fn object<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        what: &str,
    ) -> Option<Members<'n, 'a>> {
        let Node::Object(object) = node else {
            return self.refuse(node, format!("{what} must be an object"), "");
        };
        self.no_key_twice(object)?;
        let members = object.properties.iter();
        let members = members.filter(|member| !is_comment(member.name.as_str())).collect();
        Some(Members { node, members })
    }

    fn no_key_twice(&mut self, object: &Object<'_>) -> Option<()> {
        for (index, member) in object.properties.iter().enumerate() {
            let name = member.name.as_str();
            let same = |other: &&ObjectProp<'_>| other.name.as_str() == name && !is_comment(name);
            if let Some(first) = object.properties[..index].iter().find(same) {
                let line = self.place(&first.name).line();
                let hint = format!("keep one of them; the first is on line {line}");
                return self.refuse(&member.name, format!("the key `{name}` appears twice"), &hint);
            }
        }
        Some(())
    }

    pub(super) fn left_out(&mut self, member: &ObjectProp<'_>) {
        let name = member.name.as_str();
        self.warning(&member.name, format!("unknown key `{name}`: it is left out"), "");
    }

    pub(super) fn error(&mut self, node: &impl Ranged, message: impl Into<String>, hint: &str) {
        self.report(Diagnostic::error(message), node, hint);
    }

    /// Reports an error, and returns `None` in the place of what was to be read.
    pub(super) fn refuse<T>(
        &mut self,
        node: &impl Ranged,
        message: impl Into<String>,
        hint: &str,
    ) -> Option<T> {
        self.error(node, message, hint);
        None
    }

    /// Reports an error at the beginning of a line.
    pub(super) fn error_on_line(&mut self, line: usize, message: String) {
        let above = self.source.text.split_inclusive('\n').take(line - 1);
        let start = above.map(str::len).sum();
        let place = Location::new(Arc::clone(&self.source), start..start);
        self.problems.push(Diagnostic::error(message).at(place));
    }

    pub(super) fn warning(&mut self, node: &impl Ranged, message: impl Into<String>, hint: &str) {
        self.report(Diagnostic::warning(message), node, hint);
    }

    fn report(&mut self, mut problem: Diagnostic, node: &impl Ranged, hint: &str) {
        if !hint.is_empty() {
            problem = problem.hint(hint);
        }
        self.problems.push(problem.at(self.place(node)));
    }

    pub(super) fn line(&self, node: &impl Ranged) -> usize {
        self.place(node).line()
    }

    fn place(&self, node: &impl Ranged) -> Location {
        let range = node.range();
        Location::new(Arc::clone(&self.source), range.start..range.end)
    }
}

/// An object and its members.
pub(super) struct Members<'n, 'a> {
    pub(super) node: &'n Node<'a>,
    members: Vec<&'n ObjectProp<'a>>,
}

impl<'n, 'a> Members<'n, 'a> {
    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'n Node<'a>> {
        self.iter().find(|member| member.name.as_str() == key).map(|member| &member.value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'n ObjectProp<'a>> {
        self.members.iter().copied()
    }
}

/// Returns whether a key is one of those that people write comments under.
fn is_comment(key: &str) -> bool {
    key.starts_with("//") || key.starts_with(['$', '_', '#'])
}
