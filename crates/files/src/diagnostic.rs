//! Problems of a configuration, each with the place it stands at.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use super::source::Location;
use crate::text::line_start;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct Diagnostic {
    /// Where; `None` without a text to point at, such as for a missing file.
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    pub location: Option<Location>,
    /// How bad it is.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub message: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Returns an error.
    pub fn error(message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Self { location: None, severity, message, hint: None }
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

    /// Sets the remedy.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the problem and the remedy, on one line.
    pub fn with_hint(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
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
        self.0.sort_by_cached_key(|problem| {
            let location = problem.location.as_ref()?;
            let rank = files.iter().position(|file| file == location.path());
            Some((rank.unwrap_or(usize::MAX), location.range().start))
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

    /// Returns all problems as a text for a terminal, each with the line it stands on.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut parts = Vec::new();
        // How many problems are shown: who has more begins at the top anyway.
        for problem in self.iter().take(50) {
            parts.push(one(&renderer, problem) + "\n");
        }
        let hidden = self.iter().count() - parts.len();
        if hidden > 0 {
            parts.push(format!("... and {hidden} more\n"));
        }
        parts.join("\n")
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
            // An error type around it shows this text alone: with the column and the remedy.
            if let Some(location) = &diagnostic.location {
                write!(formatter, "{location:?}: ")?;
            }
            formatter.write_str(&diagnostic.message)?;
            if let Some(hint) = &diagnostic.hint {
                write!(formatter, "; {hint}")?;
            }
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

fn one(renderer: &Renderer, problem: &Diagnostic) -> String {
    let level = match problem.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut group = level.primary_title(&problem.message).elements(Vec::<Element<'_>>::new());
    let path;
    if let Some(location) = &problem.location {
        path = location.path().to_string_lossy();
        if location.file().text.is_empty() {
            group = group.element(Origin::path(&*path));
        } else {
            let (excerpt, marked) = excerpt(location);
            let snippet = Snippet::source(excerpt)
                .line_start(location.line())
                .path(&*path)
                .fold(false)
                .annotation(AnnotationKind::Primary.span(marked));
            group = group.element(snippet);
        }
    }
    if let Some(hint) = &problem.hint {
        let hint = annotate_snippets::normalize_untrusted_str(hint);
        group = group.element(Level::HELP.message(hint));
    }
    renderer.render(&[group])
}

/// Returns the line of a place, and the place in it. The renderer is given no more than it shows:
/// it would read the whole text once per problem.
fn excerpt(location: &Location) -> (&str, Range<usize>) {
    let text = &*location.file().text;
    // A place may be one byte of a character that has several.
    let range = location.range();
    let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
    let start = line_start(text, range.start);
    let end = text[range.start..].find('\n').map_or(text.len(), |newline| range.start + newline);
    let line = &text[start..end];
    (line, range.start - start..range.end.min(end) - start)
}
