//! Where a thing was written: a file, and a place in it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A configuration file as it was read.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFile {
    /// Its path, as it is shown.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl SourceFile {
    /// Returns a file of the given text.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// A place in a configuration file.
#[derive(Clone, PartialEq, Eq)]
pub struct Location {
    file: Arc<SourceFile>,
    range: Range<usize>,
}

impl Location {
    /// Returns the place that the bytes `range` of `file` are.
    #[must_use]
    pub fn new(file: Arc<SourceFile>, range: Range<usize>) -> Self {
        let end = range.end.min(file.text.len());
        let start = range.start.min(end);
        Self { file, range: start..end }
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Returns the directory that the file is in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        match self.file.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// Returns the bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.before().iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// Returns the column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        let before = self.before();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        String::from_utf8_lossy(&before[start..]).chars().count() + 1
    }

    fn before(&self) -> &[u8] {
        &self.file.text.as_bytes()[..self.range.start]
    }
}

impl Default for Location {
    /// Returns the place of a hook that no file holds: one made by a program.
    fn default() -> Self {
        let file = SourceFile::new("<program>", "");
        Self { file: Arc::new(file), range: 0..0 }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path().display(), self.line())
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}:{}", self.column())
    }
}
