//! The terminal of a person, and a question in it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use anstream::AutoStream;
use anstyle::Style;
use hookexec::internal::locked;
use hookexec::internal::text::shortened;

use super::question::Question;
use crate::error::{CommandError, OrCommandError as _};
use crate::plain::{coloured, visible_line};
use crate::system;

const BOLD: Style = Style::new().bold();

/// How much is shown of what became of a question.
const REMARK: usize = 240;

/// The beginning of a line of the call, and of a row that continues a line.
const BAR: &str = "      | ";
const FURTHER: &str = "      : ";
/// The widest row.
const COLUMNS: usize = 80;
/// How many parts of a question are shown, and how many rows of one.
const PARTS: usize = 30;
const ROWS: usize = 40;

/// The terminal that this command was started in.
pub(super) struct Screen(Mutex<AutoStream<File>>);

impl Screen {
    /// Opens the terminal of the person who started this.
    pub(super) fn of_person() -> Result<Self, CommandError> {
        let hint = "run it in a terminal of its own, outside of the agent";
        if !std::io::stdin().is_terminal() {
            let problem = "a person answers here: stdin is not a terminal";
            return Err(CommandError::usage(problem).hint(hint));
        }
        let opened = system::terminal().or_usage("can't open the terminal");
        let (_, screen) = opened.map_err(|error| error.hint(hint))?;
        Ok(Self(Mutex::new(AutoStream::auto(screen))))
    }

    /// Writes `text`, without what a terminal would obey.
    pub(super) fn say(&self, text: &str) {
        let mut screen = locked(&self.0);
        // There is nowhere left to report a failure to.
        let _ = screen.write_all(coloured(text).as_bytes()).and_then(|()| screen.flush());
    }

    /// Writes what became of a question. It may hold what a model wrote.
    pub(super) fn remark(&self, remark: &str) {
        let mut text = String::new();
        let remark = visible_line(remark);
        let _ = rows(&mut text, "", &shortened(&remark, REMARK), self.columns(), usize::MAX);
        self.say(&text);
    }

    /// Returns how wide a row may be. The terminal would wrap a wider one, without a bar.
    pub(super) fn columns(&self) -> usize {
        let size = terminal_size::terminal_size_of(locked(&self.0).as_inner());
        // A terminal without a size says 0.
        match size {
            Some((width, _)) if width.0 > 0 => usize::from(width.0).min(COLUMNS),
            _ => COLUMNS,
        }
    }
}

/// Returns a question as text: all of it, or the beginnings of its parts. Every row that a model wrote
/// has a bar before it, so that it can't pass for one of ours.
pub(super) fn text(question: &Question, id: &str, columns: usize, is_whole: bool) -> String {
    let Question { tool, digest, parts, .. } = question;
    let (most_parts, most) = if is_whole { (usize::MAX, usize::MAX) } else { (PARTS, ROWS) };
    let seconds = question.left().as_secs();
    let head = format!("[{id}] {tool}, {}:{:02} left", seconds / 60, seconds % 60);
    let mut text = BOLD.to_string();
    let mut is_all = rows(&mut text, "", &head, columns, most) && parts.len() <= most_parts;
    let _ = write!(text, "{BOLD:#}");
    for part in parts.iter().take(most_parts) {
        is_all &= rows(&mut text, "    ", &format!("{}:", part.title), columns, most);
        is_all &= rows(&mut text, BAR, &part.text, columns, most);
    }
    let _ = writeln!(text, "    {digest}");
    if !is_all {
        let _ = writeln!(text, "    {BOLD}not all of it{BOLD:#}: hookexec approve show {id}");
    }
    let _ = writeln!(text, "    allow: hookexec approve allow {id}");
    let _ = writeln!(text, "    deny:  hookexec approve deny {id} REASON");
    text
}

/// Writes at most `most` rows of a text, which the terminal does not wrap; `first` stands before each
/// line. Returns whether that is all of it.
fn rows(out: &mut String, first: &str, text: &str, columns: usize, most: usize) -> bool {
    let (mut row, mut used) = (1, first.len());
    out.push_str(first);
    for letter in text.chars() {
        // How wide a terminal draws other letters depends on it, and is 2 at most.
        let width = if letter.is_ascii() { 1 } else { 2 };
        let before = match letter {
            '\n' => first,
            _ if used + width > columns && used > FURTHER.len() => FURTHER,
            _ => "",
        };
        if letter == '\n' || !before.is_empty() {
            row += 1;
            if row > most {
                let _ = writeln!(out, "\n    {BOLD}...{BOLD:#}");
                return false;
            }
            out.push('\n');
            out.push_str(before);
            used = before.len();
        }
        if letter != '\n' {
            out.push(letter);
            used += width;
        }
    }
    out.push('\n');
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_continues_a_line_has_a_bar() {
        for (text, expected) in [
            ("", "      | \n"),
            ("abcd\n\nef", "      | abcd\n      | \n      | ef\n"),
            ("abcdefghij", "      | abcd\n      : efgh\n      : ij\n"),
            ("aéb文c", "      | aéb\n      : 文c\n"),
            ("     [1] x", "      |     \n      :  [1]\n      :  x\n"),
        ] {
            let mut shown = String::new();
            assert!(rows(&mut shown, BAR, text, 12, ROWS));
            assert_eq!(shown, expected, "{text:?}");
        }
        // However narrow it is, all is shown.
        let mut narrow = String::new();
        assert!(rows(&mut narrow, "", "abcdefghij", 4, ROWS));
        assert_eq!(narrow.matches(char::is_alphabetic).count(), 10);
    }

    #[test]
    fn a_text_is_cut_behind_its_last_row() {
        let cut = "\n    \u{1b}[1m...\u{1b}[0m\n";
        for (text, is_all, expected) in [
            ("a\nb", true, "a\nb\n".to_owned()),
            ("a\nb\nc", false, format!("a\nb{cut}")),
            ("a\nb\n", false, format!("a\nb{cut}")),
        ] {
            let mut shown = String::new();
            assert_eq!(rows(&mut shown, "", text, 80, 2), is_all, "{text:?}");
            assert_eq!(shown, expected, "{text:?}");
        }
    }
}
