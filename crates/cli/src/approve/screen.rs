//! The terminal of a person, and a question in it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::Duration;

use anstream::AutoStream;
use anstyle::Style;
use hookexec::internal::locked;

use super::question::{ENTRIES, Question, cut};
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
        let remark: String = visible_line(remark).chars().take(REMARK).collect();
        let mut text = String::new();
        rows(&mut text, "", &remark, self.columns());
        self.say(&text);
    }

    /// Shows a question.
    pub(super) fn show(&self, id: &str, question: &Question) {
        self.say(&text(id, question, self.columns(), false));
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
pub(super) fn text(id: &str, question: &Question, columns: usize, is_whole: bool) -> String {
    let mut sheet = Sheet { text: String::new(), columns, is_whole };
    let most = if is_whole { usize::MAX } else { ENTRIES };
    let head = format!("[{id}] {}, {} left", question.tool, clock(question.left()));
    let _ = write!(sheet.text, "{BOLD}");
    sheet.part("", &head);
    let _ = write!(sheet.text, "{BOLD:#}");
    for argument in question.arguments.iter().take(most) {
        sheet.part("    ", &format!("`{}`{}:", argument.name, argument.note));
        sheet.part(BAR, &argument.text);
    }
    sheet.more(question.arguments.len(), most, "arguments");
    for reason in question.reasons.iter().take(most) {
        sheet.part("    ", &format!("asked by {reason}"));
    }
    sheet.more(question.reasons.len(), most, "reasons");
    sheet.part("    ", &format!("from {}", question.origin));
    sheet.part("    ", &format!("digest {}", question.short_digest()));
    if !is_whole && question.is_cut() {
        sheet.note(&format!("this is not all of it: hookexec approve show {id}"));
    }
    let _ = writeln!(sheet.text, "    allow: hookexec approve allow {id}");
    let _ = writeln!(sheet.text, "    deny:  hookexec approve deny {id} REASON");
    sheet.text
}

/// A question that is being written.
struct Sheet {
    text: String,
    columns: usize,
    is_whole: bool,
}

impl Sheet {
    /// Writes a text, or its first rows; `first` stands before each line.
    fn part(&mut self, first: &str, text: &str) {
        let (shown, left) = if self.is_whole { (text, 0) } else { cut(text) };
        rows(&mut self.text, first, shown, self.columns);
        if left > 0 {
            self.note(&format!("... and {left} characters more"));
        }
    }

    /// Says how many of `count` things are left out.
    fn more(&mut self, count: usize, most: usize, what: &str) {
        if count > most {
            self.note(&format!("... and {} {what} more", count - most));
        }
    }

    fn note(&mut self, note: &str) {
        let _ = writeln!(self.text, "    {BOLD}{note}{BOLD:#}");
    }
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
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
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
