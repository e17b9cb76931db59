//! Where a thing was written: a file, and a place in it.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::layers::Layer;

/// A configuration file as it was read.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceFile {
    /// Its path, as it is shown.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Who brought it in.
    pub layer: Layer,
    directory: PathBuf,
}

impl SourceFile {
    /// Returns a file of the given text.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let path = path.into();
        let absolute = std::path::absolute(&path);
        let directory = absolute.ok().and_then(|path| path.parent().map(Path::to_owned));
        Self {
            path,
            text: text.into(),
            layer: Layer::default(),
            directory: directory.unwrap_or_else(|| PathBuf::from("/")),
        }
    }

    /// Sets who brought it in.
    #[must_use]
    pub fn in_layer(self, layer: Layer) -> Self {
        Self { layer, ..self }
    }
}

/// A place in a configuration file.
///
/// A file that could not be read has no text, and a place in it is the file as a whole.
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

    /// Returns the directory that the file is in, as an absolute path.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.file.directory
    }

    /// Returns the bytes.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.position(self.range.start).0
    }

    /// Returns the column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.position(self.range.start).1
    }

    /// Returns line and column, from 1, of the character after the last one.
    #[must_use]
    pub fn end(&self) -> (usize, usize) {
        self.position(self.range.end)
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.file.text.as_bytes()[..at];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
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
        write!(formatter, "{}", self.path().display())?;
        if self.file.text.is_empty() { Ok(()) } else { write!(formatter, ":{}", self.line()) }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}:{}", self.column())
    }
}
