//! Where a thing was written: a file, and a place in it.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::directories::DROP_INS;
use crate::files::real;
use crate::plain::line;

/// A configuration file as it was read.
#[derive(Debug)]
#[non_exhaustive]
pub struct SourceFile {
    /// Its path, as it is shown.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// A mark of the program that reads it, for its own use.
    pub tag: u8,
    /// The directory that it is in, as an absolute path.
    pub directory: Arc<Path>,
    /// Where each line begins, in bytes; counted on first use, which for most files is never.
    line_starts: OnceLock<Vec<usize>>,
    /// Its path in one line, whatever its name is: each report of a hook shows it to a model and on a
    /// screen.
    shown: String,
}

impl PartialEq for SourceFile {
    fn eq(&self, other: &Self) -> bool {
        // The rest follows from these, and may not be known yet of one of them.
        let Self { path, text, tag, directory, line_starts: _, shown: _ } = self;
        (path, text, tag, directory) == (&other.path, &other.text, &other.tag, &other.directory)
    }
}

impl Eq for SourceFile {}

impl SourceFile {
    /// Returns a file of the given text.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let absolute = std::path::absolute(&path);
        let directory = absolute.as_deref().ok().and_then(Path::parent);
        let directory = directory.unwrap_or(Path::new("/")).into();
        let (shown, line_starts) = (line(&path.to_string_lossy()), OnceLock::new());
        Self { path, text, tag: 0, directory, line_starts, shown }
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let mut starts = vec![0];
            for (newline, _) in self.text.match_indices('\n') {
                starts.push(newline + 1);
            }
            starts
        })
    }

    /// Returns whether it stands in a `hooks.d`.
    pub fn is_drop_in(&self) -> bool {
        let directory = self.path.parent().and_then(Path::file_name);
        directory.is_some_and(|name| name == DROP_INS)
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
    pub fn new(file: Arc<SourceFile>, range: Range<usize>) -> Self {
        let end = range.end.min(file.text.len());
        let start = range.start.min(end);
        Self { file, range: start..end }
    }

    /// Returns the place of a problem of the file at `path` as a whole.
    pub fn of_file(path: &Path) -> Self {
        Self::new(Arc::new(SourceFile::new(path, "")), 0..0)
    }

    /// Returns the file.
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Returns the directory that the file is in, as an absolute path.
    pub fn directory(&self) -> &Path {
        &self.file.directory
    }

    /// Returns the place as text, as it is displayed.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.file.shown.len() + ":100000".len());
        let _ = write!(text, "{self}");
        text
    }

    /// Returns the place as text, with the absolute path of its file; links before it are followed.
    pub fn absolute(&self) -> String {
        let path = real(self.directory()).join(self.path().file_name().unwrap_or_default());
        format!("{}:{}", path.display(), self.line())
    }

    /// Returns the bytes.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line_of(self.range.start)
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> usize {
        self.position(self.range.start).1
    }

    fn line_of(&self, at: usize) -> usize {
        self.file.line_starts().partition_point(|start| *start <= at)
    }

    /// Returns the line and the column of the byte `at`, both from 1.
    fn position(&self, at: usize) -> (usize, usize) {
        let (line, text) = (self.line_of(at), &self.file.text);
        // A place inside of a character is the character's.
        let before = &text[self.file.line_starts()[line - 1]..text.floor_char_boundary(at)];
        (line, before.chars().count() + 1)
    }
}

impl Serialize for Location {
    /// Writes `path`, and `line`, `column`, `end_line` and `end_column` unless it is a whole file.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path().to_string_lossy())?;
        if !self.file.text.is_empty() {
            let (end_line, end_column) = self.position(self.range.end);
            map.serialize_entry("line", &self.line())?;
            map.serialize_entry("column", &self.column())?;
            map.serialize_entry("end_line", &end_line)?;
            map.serialize_entry("end_column", &end_column)?;
        }
        map.end()
    }
}

impl Default for Location {
    /// Returns the place of a hook that no file holds: one made by a program.
    fn default() -> Self {
        static PROGRAM: LazyLock<Arc<SourceFile>> =
            LazyLock::new(|| Arc::new(SourceFile::new("<program>", "")));
        Self { file: Arc::clone(&PROGRAM), range: 0..0 }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file.shown)?;
        if self.file.text.is_empty() { Ok(()) } else { write!(formatter, ":{}", self.line()) }
    }
}

/// The place with its column: `hooks.yaml:3:7`.
impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")?;
        if self.file.text.is_empty() { Ok(()) } else { write!(formatter, ":{}", self.column()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_line_whatever_its_file_is_called() {
        let place = Location::of_file(Path::new("a\nb\u{1b}[2J.yaml"));
        assert_eq!(place.to_string(), "a\u{fffd}b\u{fffd}[2J.yaml");
    }

    #[test]
    fn files_are_the_same_whether_their_lines_were_counted_or_not() {
        let files = || Arc::new(SourceFile::new("x", "a\nb"));
        let (one, other) = (Location::new(files(), 2..3), Location::new(files(), 2..3));
        assert_eq!(one.line(), 2);
        assert!(one == other);
        assert!(one != Location::new(Arc::new(SourceFile::new("x", "a\nc")), 2..3));
    }

    #[test]
    fn lines_and_columns_are_counted_in_characters_from_one() {
        let file = Arc::new(SourceFile::new("x", "ab\né: ö\n\nz"));
        let at = |range: Range<usize>| {
            let location = Location::new(Arc::clone(&file), range);
            ((location.line(), location.column()), location.position(location.range.end))
        };
        assert_eq!(at(0..2), ((1, 1), (1, 3)));
        assert_eq!(at(2..3), ((1, 3), (2, 1)));
        assert_eq!(at(7..9), ((2, 4), (2, 5)));
        assert_eq!(at(8..8), ((2, 4), (2, 4)));
        assert_eq!(at(10..10), ((3, 1), (3, 1)));
        assert_eq!(at(11..99), ((4, 1), (4, 2)));
        assert_eq!(Location::default().line(), 1);
    }
}
