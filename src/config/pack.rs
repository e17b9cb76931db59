//! `use:`: hooks of bundles that others publish.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::assembly::Assembly;
use super::diagnostic::Diagnostic;
use super::keys::PackKeys;
use super::kinds::{At, Filled};
use super::node::Node;
use super::reader::Reader;
use super::section::Kind;
use super::source::{Location, SourceFile};
use crate::policy::{Source, Store};

/// How many packs a file may use: each is hashed when hooks are loaded.
const MAX_PACKS: usize = 32;

/// A pack: a bundle whose hooks a hooks file uses, and what is known about it on this machine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Pack {
    /// Where it comes from.
    pub source: Source,
    /// The public keys, one of which must have signed what an update takes; any when empty.
    pub keys: Vec<String>,
    /// The SHA-256 of its archive, in hexadecimal; `None` is an error of the file.
    pub digest: Option<String>,
    /// Where the digest stands, or else the source.
    pub location: Location,
    /// What is written between the source and a digest that is added behind it.
    pub joint: String,
    /// Where it is kept; `None` when no home directory is known.
    pub store: Option<Store>,
    /// Whether it is on this machine as its digest says.
    pub found: bool,
    /// Its files, as far as they are known.
    pub files: Vec<PathBuf>,
}

/// The packs of one file.
pub(crate) struct Packs(pub(super) Vec<Pack>);

impl Kind<'_> for Packs {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let items = reader.list(node, what)?;
        if items.len() > MAX_PACKS {
            let problem = format!("a hooks file uses {MAX_PACKS} packs at most");
            return reader.refuse_with_hint(node, problem, "publish several as one");
        }
        Some(Self(items.iter().filter_map(|item| pack(reader, item)).collect()))
    }

    fn schema() -> Json {
        json!({ "type": "array", "items": PackKeys::schema() })
    }
}

fn pack(reader: &mut Reader, node: &Node) -> Option<Pack> {
    let errors = reader.errors();
    let keys: PackKeys<'_> = reader.value(node, "")?;
    if reader.errors() != errors {
        // With a key that can't be read, any signature would do.
        return None;
    }
    if keys.fields.lacks("bundle") {
        let hint = "add `bundle: oci://HOST/REPOSITORY:TAG`";
        reader.error_with_hint(node, "a pack needs `bundle`", hint);
    }
    let At { node: written, value: source } = keys.bundle?;
    let (place, digest) = match keys.digest {
        Some(At { node, value: Digest(digest) }) => (node, Some(digest)),
        None if keys.fields.lacks("digest") => {
            let problem = Diagnostic::error(format!("the pack {source} is not pinned"));
            let path = reader.location(node).path().display().to_string();
            let hint = format!("run `hookexec bundle update {path}`: it adds the `digest`");
            reader.report(node, problem.hint(hint));
            (written, None)
        }
        None => return None,
    };
    // `{ bundle: X }` goes on behind a comma, and any other mapping on the next line.
    let start = Location::new(Arc::clone(&reader.file), node.span.clone());
    let is_flow = reader.file.text.get(start.range()).is_some_and(|text| text.starts_with('{'));
    let indent = " ".repeat(start.column() - 1);
    let joint = if is_flow { ", digest: ".to_owned() } else { format!("\n{indent}digest: ") };
    Some(Pack {
        joint,
        source,
        keys: keys.key.map(|keys| keys.0).unwrap_or_default(),
        digest,
        location: reader.location(place),
        store: None,
        found: false,
        files: Vec::new(),
    })
}

/// Returns the packs of a text, as far as they can be read.
pub fn packs_of(text: &str) -> Vec<Pack> {
    let mut packs = Vec::new();
    let file = Arc::new(SourceFile::new("hooks.yaml", text));
    Assembly::default().evaluate(file, |config| packs = std::mem::take(&mut config.packs));
    packs
}

/// The digest of an archive, in hexadecimal.
pub(crate) struct Digest(String);

impl Kind<'_> for Digest {
    const SCHEMA: &'static str = r#"{ "type": "string", "pattern": "^sha256:[0-9a-f]{64}$" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = Filled::read(reader, node, what)?.0;
        let is_hex = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match text.strip_prefix("sha256:") {
            Some(hex) if hex.len() == 64 && hex.bytes().all(is_hex) => Some(Self(hex.to_owned())),
            _ => {
                let hint = "write `sha256:` and 64 hexadecimal digits, as `hookexec bundle build` \
                            shows them; `hookexec bundle update FILE` adds them, too";
                reader.refuse_with_hint(node, format!("`{text}` is not a digest"), hint)
            }
        }
    }
}
