//! Plain tables: aligned columns for people.

use std::fmt::Write as _;

use crate::plain;

/// How wide a screen is.
pub(crate) const SCREEN: usize = 80;

/// A table with a heading per column.
pub(crate) struct Table<const COLUMNS: usize> {
    pub(crate) rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// Returns a table of the given headings and no rows.
    pub(crate) fn new(headings: [&str; COLUMNS]) -> Self {
        Self { rows: vec![headings.map(str::to_owned)] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells.map(|cell| plain::line(&cell)));
    }

    /// Returns the rows for a screen of 80 columns: side by side where they fit, the last column
    /// wrapped where the others leave room for it, else one row below the other.
    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let last = widths.last().copied().unwrap_or_default();
        let others = widths.iter().sum::<usize>() - last + 2 * COLUMNS.saturating_sub(1);
        // The least that a wrapped column needs.
        if others + last.min(28) <= SCREEN { self.columns(widths, others) } else { self.records() }
    }

    /// Returns the rows as aligned columns, two spaces apart, without trailing blanks. The last column
    /// is wrapped behind the `others`.
    fn columns(&self, widths: [usize; COLUMNS], others: usize) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let Some((last, first)) = row.split_last() else { continue };
            let mut lead = String::new();
            for (cell, width) in first.iter().zip(widths) {
                let _ = write!(lead, "{cell:width$}  ");
            }
            for line in wrap(last, SCREEN - others) {
                push_line(&mut text, &format!("{lead}{line}"));
                lead = " ".repeat(others);
            }
        }
        text
    }

    /// Returns each row as its first cell and, below it, the others with their headings; without
    /// those that say nothing.
    fn records(&self) -> String {
        let Some((headings, rows)) = self.rows.split_first() else { return String::new() };
        let mut text = String::new();
        for row in rows {
            push_line(&mut text, &row[0]);
            let mut said = Vec::new();
            for (cell, heading) in row.iter().zip(headings).skip(1) {
                if !["", "-"].contains(&cell.as_str()) {
                    said.push(format!("{heading}: {cell}"));
                }
            }
            push_wrapped(&mut text, "    ", &said.join("; "));
        }
        text
    }

    fn widths(&self) -> [usize; COLUMNS] {
        let mut widths = [0; COLUMNS];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        widths
    }
}

/// Adds a line without trailing blanks.
fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Adds the lines of a text that is cut at blanks, each behind `indent`.
pub(crate) fn push_wrapped(text: &mut String, indent: &str, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    for line in wrap(&words.join(" "), SCREEN - indent.len()) {
        push_line(text, &format!("{indent}{line}"));
    }
}

/// Returns the lines of a text that is cut at blanks; a word that is too long stays whole.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else if let Some(last) = lines.last_mut() {
            if line > 0 {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_fits_a_screen() {
        let long = "words ".repeat(20);
        let narrow = |cells: [&str; 3]| {
            let mut table = Table::new(["name", "kind", "what it does"]);
            table.row(cells.map(str::to_owned));
            table.text()
        };
        assert_eq!(narrow(["a", "b", "c"]), "name  kind  what it does\na     b     c\n");
        let wrapped = narrow(["a", "b", &long]);
        assert!(wrapped.lines().nth(2).unwrap().starts_with("            words"), "{wrapped}");
        let records = narrow([&long, "-", &long]);
        assert!(records.contains("\n    what it does: words"), "{records}");
        assert!(!records.contains("kind"), "{records}");
        for text in [wrapped, records.lines().skip(1).collect::<Vec<_>>().join("\n")] {
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}
