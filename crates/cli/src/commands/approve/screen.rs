//! The terminal of a person, and a question in it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use anstream::AutoStream;
use anstyle::Style;
use hookexec_files::locks::locked;
use hookexec_files::text::shortened;
use hookexec_serve::approve::{self, Question};

use crate::console::table::SCREEN;
use crate::error::{CommandError, OrCommandError as _};
use crate::plain::{coloured, visible_line};
use crate::system;

const BOLD: Style = Style::new().bold();

/// The beginning of a line of the call, and of a row that continues a line.
const BAR: &str = "      | ";
const FURTHER: &str = "      : ";

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

    /// Returns how wide a row may be. The terminal would wrap a wider one, without a bar.
    pub(super) fn columns(&self) -> usize {
        let size = terminal_size::terminal_size_of(locked(&self.0).as_inner());
        // A terminal without a size says 0.
        match size {
            Some((width, _)) if width.0 > 0 => usize::from(width.0).min(SCREEN),
            _ => SCREEN,
        }
    }
}

impl approve::Screen for Screen {
    fn ask(&self, question: &Question, id: &str) {
        self.say(&text(question, id, self.columns(), false));
    }

    fn remark(&self, remark: &str) {
        let mut text = String::new();
        let remark = visible_line(remark);
        // The longest remark on a question.
        rows(&mut text, "", &shortened(&remark, 240), self.columns());
        self.say(&text);
    }

    fn whole(question: &Question, id: &str, columns: usize) -> String {
        text(question, id, columns, true)
    }
}

/// Returns a question as text: all of it, or the beginning. Every row that a model wrote has a bar
/// before it, so that it can't pass for one of ours.
fn text(question: &Question, id: &str, columns: usize, is_whole: bool) -> String {
    let Question { tool, digest, parts, .. } = question;
    let seconds = question.left().as_secs();
    let head = format!("[{id}] {tool}, {}:{:02} left", seconds / 60, seconds % 60);
    let mut text = BOLD.to_string();
    rows(&mut text, "", &head, columns);
    let _ = write!(text, "{BOLD:#}");
    let mut call = String::new();
    for part in parts {
        rows(&mut call, "    ", &format!("{}:", part.title), columns);
        rows(&mut call, BAR, &part.text, columns);
    }
    let mut cut = "";
    // How many rows of a call are shown.
    if !is_whole && let Some((end, _)) = call.match_indices('\n').nth(60) {
        call.truncate(end + 1);
        cut = "    ...\n";
    }
    let _ = writeln!(text, "{call}{cut}    {digest}");
    if !cut.is_empty() {
        let _ = writeln!(text, "    {BOLD}not all of it{BOLD:#}: hookexec approve show {id}");
    }
    let _ = writeln!(text, "    allow: hookexec approve allow {id}");
    let _ = writeln!(text, "    deny:  hookexec approve deny {id} REASON");
    text
}

/// Writes the rows of a text, which the terminal does not wrap; `first` stands before each line.
fn rows(out: &mut String, first: &str, text: &str, columns: usize) {
    let mut used = first.len();
    out.push_str(first);
    for letter in text.chars() {
        // How wide a terminal draws other letters depends on it, and is 2 at most.
        let width = if letter.is_ascii() { 1 } else { 2 };
        let is_full = used + width > columns && used > FURTHER.len();
        if letter == '\n' || is_full {
            let before = if letter == '\n' { first } else { FURTHER };
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
