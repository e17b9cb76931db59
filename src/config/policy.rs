//! `policy:`: hooks files that many machines share.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hookexec_files::kinds::Filled;
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use hookexec_files::source::Location;
use serde_json::Value as Json;

use super::keys::PolicyKeys;
use super::layer::{InLayer as _, Layer};

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
            expires: keys.expires,
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

/// Where a policy comes from: the address of an archive. Its signature is at the same address with
/// `.minisig` behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source(String);

impl FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let has_space = text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        match scheme {
            _ if has_space => Err("an address has no spaces"),
            "file" if rest.starts_with('/') => Ok(Self(text.to_owned())),
            "https" if host.contains('@') => Err("an address holds no user and no password"),
            "https" if rest.contains(['?', '#']) => {
                Err("an address holds no query: it would be in messages and in the log")
            }
            "https" if !host.is_empty() => Ok(Self(text.to_owned())),
            "oci" => {
                Err("fetch it with `oras pull` and write `file:///PATH`; see `hookexec docs fleet`")
            }
            _ => Err("write `https://HOST/FILE` or `file:///PATH`"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Source {
    /// Returns the path of a file; `None` for an address of a server.
    pub fn path(&self) -> Option<&str> {
        let path = self.0.strip_prefix("file://")?;
        // `file:///C:/x` on Windows.
        Some(if path.as_bytes().get(2) == Some(&b':') { &path[1..] } else { path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read() {
        for (text, path) in [
            ("file:///a/b", Some("/a/b")),
            ("file:///C:/b", Some("C:/b")),
            ("https://x.example/b", None),
        ] {
            let source: Source = text.parse().unwrap();
            assert_eq!((&*source.to_string(), source.path()), (text, path));
        }
    }

    #[test]
    fn an_address_that_is_not_a_source_is_refused() {
        for text in [
            "",
            "policy",
            "oci://host/policy:stable",
            "http://host/x",
            "https://me:secret@host.example/x",
            "https://host.example/x?sig=secret",
            "https://host.example?sig=secret",
            "https://host.example/x#part",
            "https://host.example/x y",
            "http://127.0.0.1/x",
            "file://x",
            "ftp://x",
            "https://",
        ] {
            assert!(text.parse::<Source>().is_err(), "{text}");
        }
    }
}
