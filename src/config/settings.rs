//! `policy:`: hooks files that many machines share; and `audit:`: a log of decisions.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use hookexec_files::kinds::Filled;
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use hookexec_files::source::Location;
use serde_json::Value as Json;

use super::keys::{AuditKeys, PolicyKeys};
use super::layer::{InLayer as _, Layer};
use crate::directories;
use crate::paths::physical;

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
        let is_own = matches!(reader.file.layer(), Layer::Managed | Layer::User);
        if !is_own || reader.file.is_drop_in() {
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
            name: keys.name.map(|text| text.0),
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

/// `audit:` of one hooks file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditSettings {
    /// The file, absolute.
    pub path: PathBuf,
    /// Whether inputs are recorded, without secrets; what is long is cut.
    pub inputs: bool,
    /// Whether events are recorded, too, that no hook is configured for.
    pub all_events: bool,
    /// The size from which a new file is begun, in bytes.
    pub max_size: u64,
    /// How many full files are kept: `audit.jsonl.1` is the newest of them.
    pub keep: usize,
}

impl AuditSettings {
    /// Returns the settings of a log without inputs, of at most four files of 10 MiB.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), inputs: false, all_events: false, max_size: 10 << 20, keep: 3 }
    }
}

/// Whether inputs are recorded.
#[derive(Clone, Copy)]
pub(crate) struct AuditInput(pub(super) bool);

/// Whether all events are recorded, and not only those that a hook is configured for.
#[derive(Clone, Copy)]
pub(crate) struct AuditEvents(pub(super) bool);

impl Kind<'_> for AuditSettings {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let errors = reader.errors();
        let keys: AuditKeys<'_> = reader.value(node, what)?;
        let path = keys.path?;
        let mut settings = Self::new(log_path(reader, path.node, &path.value.0)?);
        settings.inputs = matches!(keys.input, Some(AuditInput(true)));
        settings.all_events = matches!(keys.events, Some(AuditEvents(true)));
        if let Some(size) = keys.max_size {
            settings.max_size = u64::try_from(size.0).unwrap_or(u64::MAX);
        }
        settings.keep = keys.keep.map_or(settings.keep, |keep| keep.0);
        if reader.errors() == errors { Some(settings) } else { None }
    }

    fn schema() -> serde_json::Value {
        AuditKeys::schema()
    }
}

/// Returns the place of the log: absolute, below the home directory, or beside the hooks file.
/// The agent's own directory changes, and would scatter it. The log of a project lies in the
/// project, because records are written and full files renamed with the rights of the user.
fn log_path(reader: &mut Reader, node: &Node, written: &str) -> Option<PathBuf> {
    let directory = reader.file.directory.to_path_buf();
    let mut path = directory.join(written);
    if let Some(rest) = written.strip_prefix("~/") {
        let Some(home) = directories::home_directory() else {
            return reader.refuse_with_hint(node, "the home directory is not known", "set HOME");
        };
        path = home.join(rest);
    }
    if Path::new(written).file_name().is_none() || written.ends_with('/') {
        return reader.refuse(node, format!("`{written}` is not a file"));
    }
    let project = directories::project_of(&directory);
    if reader.file.layer() == Layer::Project && !physical(&path).starts_with(physical(project)) {
        let message = format!("`{written}` is not in the project `{}`", project.display());
        let hint = "write a path below it, or move `audit` to your own hooks file";
        return reader.refuse_with_hint(node, message, hint);
    }
    Some(path)
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
