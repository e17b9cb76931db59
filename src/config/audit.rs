//! `audit:`: a log of decisions.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::node::{Node, Value};
use super::reader::Reader;

/// `audit:` of one hooks file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditSettings {
    /// The file, absolute.
    pub path: PathBuf,
    /// Whether inputs are recorded.
    pub input: AuditInput,
    /// Whether events are recorded, too, that no hook is configured for.
    pub all_events: bool,
    /// The size from which a new file is begun, in bytes.
    pub max_size: u64,
    /// How many full files are kept: `audit.jsonl.1` is the newest of them.
    pub keep: usize,
}

impl AuditSettings {
    /// Returns the settings of a log without inputs, of at most four files of 10 MiB.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            input: AuditInput::None,
            all_events: false,
            max_size: 10 << 20,
            keep: 3,
        }
    }
}

/// Whether inputs are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditInput {
    /// They are not.
    #[default]
    None,
    /// Without secrets; what is long is cut.
    Redacted,
}

/// The keys of `audit:`.
pub(super) const KEYS: [&str; 5] = ["path", "input", "events", "max_size", "keep"];

/// The values of `input`.
pub(super) const INPUT: [(&str, AuditInput); 2] =
    [("none", AuditInput::None), ("redacted", AuditInput::Redacted)];

/// The values of `events`: whether those are recorded that no hook is configured for.
pub(super) const EVENTS: [(&str, bool); 2] = [("hooked", false), ("all", true)];

/// The most files that may be kept beside the current one.
pub(super) const MAX_KEEP: u64 = 100;

impl Reader {
    pub(super) fn audit(&mut self, node: &Node) -> Option<AuditSettings> {
        let errors = self.errors();
        let fields = self.fields(node, "`audit`", &KEYS)?;
        if fields.lacks("path") {
            let hint = "add `path: ~/.local/state/hookexec/audit.jsonl`";
            self.error_with_hint(node, "`audit` needs a `path`", hint);
        }
        let path = self.audit_path(fields.get("path")?)?;
        let mut settings = AuditSettings::new(path);
        for (name, _, value) in fields.iter() {
            match name {
                "input" => {
                    settings.input = self.choice(value, "`input`", &INPUT).unwrap_or_default();
                }
                "events" => {
                    settings.all_events =
                        self.choice(value, "`events`", &EVENTS).unwrap_or_default();
                }
                "max_size" => {
                    let size = self.size(value, "`max_size`").unwrap_or_default();
                    settings.max_size = u64::try_from(size).unwrap_or(u64::MAX);
                }
                "keep" => settings.keep = self.keep(value).unwrap_or_default(),
                _ => {}
            }
        }
        (self.errors() == errors).then_some(settings)
    }

    /// Reads the place of the log: absolute, below the home directory, or beside the hooks file. The
    /// agent's own directory changes, and would scatter it.
    fn audit_path(&mut self, node: &Node) -> Option<PathBuf> {
        let written = self.filled_text(node, "`path`")?;
        let path = if let Some(rest) = written.strip_prefix("~/") {
            let Some(home) = crate::directories::home_directory() else {
                self.error_with_hint(node, "the home directory is not known", "set HOME");
                return None;
            };
            home.join(rest)
        } else {
            self.location(node).directory().join(&written)
        };
        if Path::new(&written).file_name().is_none() || written.ends_with('/') {
            self.error(node, format!("`{written}` is no file"));
            return None;
        }
        Some(path)
    }

    fn keep(&mut self, node: &Node) -> Option<usize> {
        let count = match &node.value {
            Value::Number(number) => number.as_u64().filter(|count| (1..=MAX_KEEP).contains(count)),
            _ => None,
        };
        if count.is_none() {
            self.error(node, format!("`keep` must be a number from 1 to {MAX_KEEP}"));
        }
        count.and_then(|count| usize::try_from(count).ok())
    }
}
