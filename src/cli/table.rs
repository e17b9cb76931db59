//! Plain tables: aligned columns for people, Markdown for documents.

use super::plain;

/// A table with a heading per column.
pub(crate) struct Table<const COLUMNS: usize> {
    rows: Vec<[String; COLUMNS]>,
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

    /// Returns the rows as aligned columns, two spaces apart, without trailing blanks.
    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// Returns the rows as a Markdown table.
    pub(crate) fn markdown(&self) -> String {
        let mut lines: Vec<String> =
            self.rows.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
        lines.insert(1, format!("|{}\n", "---|".repeat(COLUMNS)));
        lines.concat()
    }

    fn widths(&self) -> [usize; COLUMNS] {
        std::array::from_fn(|column| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        })
    }
}
