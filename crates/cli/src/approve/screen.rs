//! The terminal of a person, and a question in it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use anstream::AutoStream;
use anstyle::Style;
use hookexec::internal::locked;
use hookexec::internal::text::shortened;

use super::question::Shown;
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
        rows(&mut text, "", &shortened(&visible_line(remark), REMARK), self.columns());
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

/// Returns a question as text. Every row that a model wrote has a bar before it, so that it can't
/// pass for one of ours.
pub(super) fn text(question: &Shown, columns: usize) -> String {
    let Shown { id, tool, digest, seconds, parts, more, is_cut } = question;
    let mut text = BOLD.to_string();
    rows(&mut text, "", &format!("[{id}] {tool}, {} left", clock(*seconds)), columns);
    let _ = write!(text, "{BOLD:#}");
    for part in parts {
        rows(&mut text, "    ", &format!("{}:", part.title), columns);
        rows(&mut text, BAR, &part.text, columns);
        if part.left > 0 {
            let _ = writeln!(text, "    {BOLD}... and {} characters more{BOLD:#}", part.left);
        }
    }
    if *more > 0 {
        let _ = writeln!(text, "    {BOLD}... and {more} parts more{BOLD:#}");
    }
    rows(&mut text, "    ", digest, columns);
    if *is_cut {
        let _ = writeln!(text, "    {BOLD}not all of it{BOLD:#}: hookexec approve show {id}");
    }
    let _ = writeln!(text, "    allow: hookexec approve allow {id}");
    let _ = writeln!(text, "    deny:  hookexec approve deny {id} REASON");
    text
}

/// Writes a text in rows that the terminal does not wrap; `first` stands before each line.
fn rows(out: &mut String, first: &str, text: &str, columns: usize) {
    let mut used = first.len();
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
}

/// Returns a time as minutes and seconds.
fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
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
            rows(&mut shown, BAR, text, 12);
            assert_eq!(shown, expected, "{text:?}");
        }
        // However narrow it is, all is shown.
        let mut narrow = String::new();
        rows(&mut narrow, "", "abcdefghij", 4);
        assert_eq!(narrow.matches(char::is_alphabetic).count(), 10);
    }
}
