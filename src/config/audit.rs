//! `audit:`: a log of decisions.

use std::path::{Path, PathBuf};

use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;

use super::keys::AuditKeys;
use super::layer::{InLayer as _, Layer};
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
#[derive(Clone, Copy, Default)]
pub(crate) struct AuditInput(pub(super) bool);

/// Whether events are recorded, too, that no hook is configured for.
#[derive(Clone, Copy, Default)]
pub(crate) struct AuditEvents(pub(super) bool);

impl Kind<'_> for AuditSettings {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let errors = reader.errors();
        let keys: AuditKeys<'_> = reader.value(node, what)?;
        let path = keys.path?;
        let mut settings = Self::new(log_path(reader, path.node, &path.value.0)?);
        settings.inputs = keys.input.unwrap_or_default().0;
        settings.all_events = keys.events.unwrap_or_default().0;
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
    let directory = reader.file().directory().to_owned();
    let path = match written.strip_prefix("~/") {
        None => directory.join(written),
        Some(rest) => match directories::home_directory() {
            Some(home) => home.join(rest),
            None => {
                return reader.refuse_with_hint(
                    node,
                    "the home directory is not known",
                    "set HOME",
                );
            }
        },
    };
    if Path::new(written).file_name().is_none() || written.ends_with('/') {
        return reader.refuse(node, format!("`{written}` is not a file"));
    }
    let project = directories::project_of(&directory);
    if reader.file().layer() == Layer::Project && !physical(&path).starts_with(physical(project)) {
        let message = format!("`{written}` is not in the project `{}`", project.display());
        let hint = "write a path below it, or move `audit` to your own hooks file";
        return reader.refuse_with_hint(node, message, hint);
    }
    Some(path)
}
