//! `policy:`: hooks files that many machines share.

use std::time::Duration;

use hookexec_files::kinds::Filled;
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use hookexec_files::source::Location;
use serde_json::Value as Json;

use super::keys::PolicyKeys;
use super::layer::{InLayer as _, Layer};
use super::source::Source;

/// `policy:` of one hooks file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PolicySettings {
    /// Where it comes from.
    pub source: Source,
    /// The public keys, one of which must have signed it.
    pub keys: Vec<String>,
    /// The name that it must have.
    pub name: Option<String>,
    /// How long the policy counts after the source last had it.
    pub expires: Option<Duration>,
    /// Where `policy:` stands.
    pub location: Location,
}

impl Kind<'_> for PolicySettings {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let errors = reader.errors();
        let is_own = matches!(reader.file().layer(), Layer::Managed | Layer::User);
        if !is_own || reader.file().is_drop_in() {
            let message =
                "only `hooks.yaml` of the administrator and of the user may name a policy";
            let hint = "move it to `~/.config/hookexec/hooks.yaml`; `hookexec check` without a \
                        file checks it there";
            return reader.refuse_with_hint(node, message, hint);
        }
        let keys: PolicyKeys<'_> = reader.value(node, what)?;
        let (source, PublicKeys(all)) = (keys.from?, keys.key?);
        if reader.errors() > errors {
            return None;
        }
        Some(Self {
            source,
            keys: all,
            name: keys.name.map(Filled::into_text),
            expires: keys.expires.map(|expires| expires.0),
            location: reader.location(node),
        })
    }

    fn schema() -> Json {
        PolicyKeys::schema()
    }
}

impl Kind<'_> for Source {
    const SCHEMA: &'static str = r#"{ "type": "string", "pattern": "^(https|file)://" }"#;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let text = Filled::read(reader, node, what)?.0;
        match text.parse() {
            Ok(source) => Some(source),
            Err(hint) => reader.refuse_with_hint(node, "this address is not a valid source", hint),
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// One public key, or several.
pub(crate) struct PublicKeys(pub(super) Vec<String>);

impl Kind<'_> for PublicKeys {
    const SCHEMA: &'static str = r##"{ "anyOf": [
        { "$ref": "#/definitions/text" },
        { "type": "array", "items": { "$ref": "#/definitions/text" } }
    ] }"##;

    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let mut keys = Vec::new();
        for item in node.one_or_many() {
            let Filled(key) = reader.value(item, what)?;
            if key.len() != 56 || !key.starts_with("RW") || !key.bytes().all(is_base64) {
                let hint =
                    "write the last line of the file that `minisign -G` made, `minisign.pub`";
                return reader.refuse_with_hint(item, format!("`{key}` is not a public key"), hint);
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return reader.refuse(node, format!("{what} is empty"));
        }
        Some(Self(keys))
    }
}
