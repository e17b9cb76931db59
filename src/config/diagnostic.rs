//! Problems of a configuration, each with the place it stands at.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::source::Location;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Allowed, and probably not meant.
    Warning,
    /// Nothing runs.
    Error,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where; `None` without a text to point at, such as for a missing file.
    pub location: Option<Location>,
    /// A word beside the caret.
    pub label: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Returns an error.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            location: None,
            label: None,
            hint: None,
        }
    }

    /// Returns a warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// Returns whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Sets the place.
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Sets the word beside the caret.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Sets what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Serialize for Diagnostic {
    /// Writes the place as `path`, `line`, `column`, `end_line` and `end_column`, which are left
    /// out when there is none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(location) = &self.location {
            map.serialize_entry("path", &location.path().to_string_lossy())?;
            if !location.file().text.is_empty() {
                let (end_line, end_column) = location.end();
                map.serialize_entry("line", &location.line())?;
                map.serialize_entry("column", &location.column())?;
                map.serialize_entry("end_line", &end_line)?;
                map.serialize_entry("end_column", &end_column)?;
            }
        }
        map.serialize_entry("severity", &self.severity)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(label) = &self.label {
            map.serialize_entry("label", label)?;
        }
        if let Some(hint) = &self.hint {
            map.serialize_entry("hint", hint)?;
        }
        map.end()
    }
}

/// All problems that were found, in the order of the files.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
#[must_use]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a problem.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds many.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(diagnostics);
    }

    /// Brings the problems into the order of `files`, and within a file into that of the text.
    pub fn sort(&mut self, files: &[PathBuf]) {
        let mut ranks: HashMap<&Path, usize> = HashMap::new();
        for file in files {
            let next = ranks.len();
            ranks.entry(file).or_insert(next);
        }
        self.0.sort_by_cached_key(|problem| {
            problem.location.as_ref().map(|location| {
                let rank = ranks.get(location.path()).copied().unwrap_or(usize::MAX);
                (rank, location.range().start)
            })
        });
        // An alias brings what is wrong with its anchor along each time it is used.
        self.0.dedup();
    }

    /// Returns the problems.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(problem: Diagnostic) -> Self {
        Self(vec![problem])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The place and what is wrong, in one line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(formatter, "{location}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{diagnostic}")?;
        }
        Ok(())
    }
}

/// The whole report, with the lines and a caret below each place: what a program shows whose `main`
/// returns the problems as its error.
impl fmt::Debug for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\n{}", self.render(false))
    }
}

impl std::error::Error for Diagnostics {}
