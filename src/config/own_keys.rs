//! The keys of a hook that only its type knows. They are kept as they are written, and the type reads
//! them when its handler is built.

use std::collections::BTreeMap;
use std::sync::Arc;

use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::build_error::BuildError;
use super::document::parent_of;
use super::keys::HookKeys;
use super::model::Hook;

/// The `groups:` of a file, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(BTreeMap<String, Vec<String>>);

/// The keys of one hook that only its type knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OwnKeys {
    mapping: Option<Arc<Node<'static>>>,
    groups: Arc<Groups>,
}

impl OwnKeys {
    pub(super) fn new(hook: &Node, entries: &[(&Node, &Node)], groups: Arc<Groups>) -> Self {
        let entries = entries.iter().map(|(key, value)| (key.to_static(), value.to_static()));
        let value = Value::Map(entries.collect());
        let mapping = Some(Arc::new(Node { value, span: hook.span.clone() }));
        Self { mapping, groups }
    }
}

impl Groups {
    /// Returns the items of a group that the file of the hook defines.
    pub fn get(&self, name: &str) -> Option<&[String]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Returns the names of the groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Hook {
    /// Reads the keys of the hook's type with `read`, for example as a mapping that
    /// `hookexec_files::section` declares.
    ///
    /// # Errors
    /// All mistakes that the reader was told, each at its place.
    pub fn read_own_keys<'h, T>(
        &'h self,
        read: impl FnOnce(&mut Reader, &'h Node<'h>) -> Option<T>,
    ) -> Result<T, BuildError> {
        static NONE: Node<'static> = Node { value: Value::Map(Vec::new()), span: 0..0 };
        let mut reader = Reader::new(Arc::clone(self.location.file()));
        let value = read(&mut reader, self.own.mapping.as_deref().unwrap_or(&NONE));
        let problems = reader.into_problems();
        match value {
            Some(value) if !problems.has_errors() => Ok(value),
            _ => Err(BuildError::of_problems(problems)),
        }
    }

    /// Reads the parameters in `with`; without it they are an empty object.
    ///
    /// # Errors
    /// The mistakes that serde finds in them, at `with`.
    pub fn parameters<P: DeserializeOwned>(&self) -> Result<P, BuildError> {
        let with = self.with.clone().unwrap_or_else(|| json!({}));
        P::deserialize(with).map_err(|error| BuildError::new(format!("`with`: {error}")).at("with"))
    }

    /// Returns the names of the keys that are written, first those that only the hook's type knows.
    pub fn written_keys(&self) -> impl Iterator<Item = &str> {
        let own = self.own.mapping.as_deref().and_then(Node::as_map).unwrap_or_default();
        let own = own.iter().filter_map(|(key, _)| key.as_text());
        own.chain(self.key_locations.0.iter().map(|(key, _)| *key))
    }

    /// Returns the groups that the hook's file defines.
    pub fn groups(&self) -> &Groups {
        &self.own.groups
    }

    /// Returns the mistakes of the keys that a hook of its type does not take. `known` are those that
    /// it takes.
    pub(crate) fn unknown_own_keys(&self, known: &[&str]) -> Option<BuildError> {
        let mapping = self.own.mapping.as_deref()?;
        let mut reader = Reader::new(Arc::clone(self.location.file()));
        reader.parent_of = parent_of;
        let known = [HookKeys::NAMES, known].concat();
        reader.fields(mapping, "a hook", &known);
        let problems = reader.into_problems();
        if problems.has_errors() { Some(BuildError::of_problems(problems)) } else { None }
    }
}

impl Kind<'_> for Groups {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut groups = BTreeMap::new();
        for (name, key, value) in reader.open_fields(node, what)?.iter() {
            if !name.starts_with('@') || name.len() < 2 {
                let hint = format!("write `\"@{}\"`", name.trim_start_matches('@'));
                reader.error_with_hint(key, format!("the group `{name}` needs an `@`"), hint);
            }
            groups.insert(name.to_owned(), reader.value(value, &format!("`{name}`"))?);
        }
        Some(Self(groups))
    }

    fn schema() -> serde_json::Value {
        json!({
            "type": "object",
            "propertyNames": { "pattern": "^@." },
            "additionalProperties": <Vec<String>>::schema()
        })
    }
}
