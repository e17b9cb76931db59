//! Problems as a person reads them: the line of the file, a caret, and what to do.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::source::Location;

impl Diagnostics {
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
            let mut mark = AnnotationKind::Primary.span(marked);
            if let Some(label) = &problem.label {
                mark = mark.label(annotate_snippets::normalize_untrusted_str(label));
            }
            let snippet = Snippet::source(excerpt)
                .line_start(location.line())
                .path(&*path)
                .fold(false)
                .annotation(mark);
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
    let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[range.start..].find('\n').map_or(text.len(), |newline| range.start + newline);
    let line = &text[start..end];
    (line, range.start - start..range.end.min(end) - start)
}
