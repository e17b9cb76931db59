//! `audit:`: a log of decisions.

use std::path::{Path, PathBuf};

use super::Layer;
use super::keys::AuditKeys;
use super::node::Node;
use super::reader::Reader;
use super::section::Kind;
use crate::directories;
use crate::paths::physical;

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

/// Whether events are recorded, too, that no hook is configured for.
#[derive(Clone, Copy)]
pub(crate) struct AuditEvents(pub(super) bool);

impl Kind<'_> for AuditSettings {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let errors = reader.errors();
        let keys: AuditKeys<'_> = reader.value(node, what)?;
        if keys.fields.lacks("path") {
            let hint = "add `path: audit.jsonl`: a file beside this one";
            reader.error_with_hint(node, "`audit` needs a `path`", hint);
        }
        let path = keys.path?;
        let mut settings = Self::new(reader.audit_path(path.node, &path.value.0)?);
        settings.inputs = keys.input.is_some_and(|it| it.0);
        settings.all_events = keys.events.is_some_and(|it| it.0);
        if let Some(size) = keys.max_size {
            settings.max_size = u64::try_from(size.0).unwrap_or(u64::MAX);
        }
        settings.keep = keys.keep.map_or(settings.keep, |keep| keep.0);
        (reader.errors() == errors).then_some(settings)
    }

    fn schema() -> serde_json::Value {
        AuditKeys::schema()
    }
}

impl Reader {
    /// Returns the place of the log: absolute, below the home directory, or beside the hooks file.
    /// The agent's own directory changes, and would scatter it. The log of a project lies in the
    /// project, because records are written and full files renamed with the rights of the user.
    fn audit_path(&mut self, node: &Node, written: &str) -> Option<PathBuf> {
        let path = if let Some(rest) = written.strip_prefix("~/") {
            let Some(home) = directories::home_directory() else {
                return self.refuse_with_hint(node, "the home directory is not known", "set HOME");
            };
            home.join(rest)
        } else {
            self.location(node).directory().join(written)
        };
        if Path::new(written).file_name().is_none() || written.ends_with('/') {
            return self.refuse(node, format!("`{written}` is not a file"));
        }
        let location = self.location(node);
        let project = directories::project_of(location.directory());
        let in_project = || physical(&path).starts_with(physical(project));
        if location.file().layer == Layer::Project && !in_project() {
            let message = format!("`{written}` is not in the project `{}`", project.display());
            let hint = "write a path below it, or move `audit` to your own hooks file";
            return self.refuse_with_hint(node, message, hint);
        }
        Some(path)
    }
}
