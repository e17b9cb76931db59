//! The terminal: shows questions, and reads what a person types.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::sync::Mutex;
use std::time::Duration;

use anstream::AutoStream;
use anstyle::Style;
use hookexec::internal::locked;
use tokio::sync::mpsc::{self, Receiver};

use super::desk::{Choice, Desk};
use super::question::{Argument, Question};
use crate::plain::{coloured, visible, visible_line};

const BOLD: Style = Style::new().bold();

/// How many arguments are shown at once, and how many rows of one text.
const ARGUMENTS: usize = 30;
const ROWS: usize = 40;
/// How many rows of what was decided are shown.
const REMARK: usize = 3;

/// What stands before a line of the call, and before a row that continues a line.
const BAR: &str = "      | ";
const FURTHER: &str = "      : ";
/// The widest row.
const COLUMNS: usize = 80;

pub(super) const HELP: &str = "\
1 y         approves question 1, this once
1 s         approves the same call in the same session, until this command ends
1 n REASON  denies question 1, and tells the model why
1 v         shows all of question 1
Enter       lists the open questions
Ctrl-D      ends; open questions are denied then
";

/// The terminal that this command was started in.
pub(super) struct Screen(Mutex<AutoStream<File>>);

impl Screen {
    pub(super) fn new(screen: File) -> Self {
        Self(Mutex::new(AutoStream::auto(screen)))
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
        rows(&mut text, "", &visible_line(remark), self.columns(), REMARK);
        self.say(&text);
    }

    /// Shows a question.
    pub(super) fn show(&self, number: u64, question: &Question) {
        self.say(&text(number, question, self.columns(), false));
    }

    /// Returns how wide a row may be. The terminal would wrap a wider one, without a bar.
    fn columns(&self) -> usize {
        let size = terminal_size::terminal_size_of(locked(&self.0).as_inner());
        // A terminal without a size says 0.
        let columns = size.map(|(width, _)| usize::from(width.0)).filter(|columns| *columns > 0);
        columns.map_or(COLUMNS, |columns| columns.min(COLUMNS))
    }

    /// Does what a person typed.
    pub(super) fn obey(&self, typed: &str, desk: &Desk) {
        let done = match Typed::read(typed) {
            Some(Typed::List) => {
                let open = desk.open();
                for (number, question) in &open {
                    self.show(*number, question);
                }
                if open.is_empty() {
                    self.say("no question is open\n");
                }
                Ok(())
            }
            Some(Typed::View(number)) => desk
                .question(number)
                .map(|question| self.say(&text(number, &question, self.columns(), true))),
            Some(Typed::Answer(number, choice)) => desk
                .question(number)
                .and_then(|it| desk.answer(number, &it.digest, &choice, "terminal")),
            None => Err(format!("`{}` is not understood. Type:\n{HELP}", typed.trim())),
        };
        if let Err(problem) = done {
            self.say(&format!("{}\n", problem.trim_end()));
        }
    }
}

/// Returns the lines that are typed at `keyboard`, until it ends.
pub(super) fn lines(keyboard: File) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in BufReader::new(keyboard).lines() {
            let line = match line {
                Ok(line) => line,
                // It is not UTF-8, so it is not understood either.
                Err(error) if error.kind() == ErrorKind::InvalidData => "?".to_owned(),
                Err(_) => break,
            };
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    List,
    View(u64),
    Answer(u64, Choice),
}

impl Typed {
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Some(Self::List);
        }
        let (number, rest) = text.split_once(char::is_whitespace)?;
        let number = number.parse().ok()?;
        let rest = rest.trim_start();
        let (word, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let choice = match (word, reason.trim()) {
            ("y", "") => Choice::Once,
            ("s", "") => Choice::Session,
            ("n", reason) => Choice::Deny(reason.to_owned()),
            ("v", "") => return Some(Self::View(number)),
            _ => return None,
        };
        Some(Self::Answer(number, choice))
    }
}

/// Returns a question as text. Every row that a model wrote has a bar before it, so that it can't
/// pass for one of ours.
fn text(number: u64, question: &Question, columns: usize, whole: bool) -> String {
    let mut text = BOLD.to_string();
    let tool = visible_line(&question.tool);
    let head = format!("[{number}] {tool}, {} left", clock(question.left()));
    rows(&mut text, "", &head, columns, usize::MAX);
    let _ = write!(text, "{BOLD:#}");
    let (arguments, most) = if whole { (usize::MAX, usize::MAX) } else { (ARGUMENTS, ROWS) };
    let mut is_cut = question.arguments.len() > arguments;
    for Argument { name, text: quoted, note, .. } in question.arguments.iter().take(arguments) {
        let name = format!("`{}`{note}:", visible_line(name));
        is_cut |= rows(&mut text, "    ", &name, columns, most);
        is_cut |= rows(&mut text, BAR, &visible(quoted), columns, most);
    }
    if let Some(left @ 1..) = question.arguments.len().checked_sub(arguments) {
        let _ = writeln!(text, "    {BOLD}... and {left} arguments more{BOLD:#}");
    }
    let reasons = question.reasons.iter().map(|reason| format!("asked by {reason}"));
    for line in reasons.chain([format!("from {}", question.origin())]) {
        rows(&mut text, "    ", &visible_line(&line), columns, usize::MAX);
    }
    let _ = writeln!(text, "    digest {}", visible_line(question.short_digest()));
    let all = if is_cut { format!(", all of it: {number} v") } else { String::new() };
    let _ = writeln!(
        text,
        "    approve: {number} y, for this session: {number} s, deny: {number} n REASON{all}"
    );
    text
}

/// Writes a text in rows that the terminal does not wrap, and at most `most` of them; `first` stands
/// before each line. Returns whether more is left, which it says.
fn rows(out: &mut String, first: &str, text: &str, columns: usize, most: usize) -> bool {
    let (mut row, mut used) = (1, first.len());
    out.push_str(first);
    for (at, letter) in text.char_indices() {
        // How wide a terminal draws other letters depends on it, and is 2 at most.
        let width = if letter.is_ascii() { 1 } else { 2 };
        let before = match letter {
            '\n' => first,
            _ if used + width > columns && used > FURTHER.len() => FURTHER,
            _ => "",
        };
        if letter == '\n' || !before.is_empty() {
            if row == most {
                let left = text[at..].chars().count();
                let _ = writeln!(out, "\n      {BOLD}... and {left} characters more{BOLD:#}");
                return true;
            }
            row += 1;
            used = before.len();
            out.push('\n');
            out.push_str(before);
        }
        if letter != '\n' {
            out.push(letter);
            used += width;
        }
    }
    out.push('\n');
    false
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
        let shown = |text: &str, most| {
            let mut shown = String::new();
            let is_cut = rows(&mut shown, BAR, text, 12, most);
            (anstream::adapter::strip_str(&shown).to_string(), is_cut)
        };
        for (text, expected) in [
            ("", "      | \n"),
            ("abcd\n\nef", "      | abcd\n      | \n      | ef\n"),
            ("abcdefghij", "      | abcd\n      : efgh\n      : ij\n"),
            ("aéb文c", "      | aéb\n      : 文c\n"),
            ("     [1] x", "      |     \n      :  [1]\n      :  x\n"),
        ] {
            assert_eq!(shown(text, usize::MAX), (expected.to_owned(), false), "{text:?}");
        }
        let cut = "      | abcd\n      | ef\n      ... and 3 characters more\n";
        assert_eq!(shown("abcd\nef\ngh", 2), (cut.to_owned(), true));
        let cut = "      | abcd\n      : efgh\n      ... and 2 characters more\n";
        assert_eq!(shown("abcdefghij", 2), (cut.to_owned(), true));
        // However narrow it is, all is shown.
        let mut narrow = String::new();
        rows(&mut narrow, "", "abcdefghij", 4, usize::MAX);
        assert_eq!(narrow.matches(char::is_alphabetic).count(), 10);
    }

    #[test]
    fn only_whole_commands_are_understood() {
        for (typed, expected) in [
            ("", Some(Typed::List)),
            ("  ", Some(Typed::List)),
            ("1 y", Some(Typed::Answer(1, Choice::Once))),
            (" 12  s ", Some(Typed::Answer(12, Choice::Session))),
            ("3 n", Some(Typed::Answer(3, Choice::Deny(String::new())))),
            ("3 n not  on Friday", Some(Typed::Answer(3, Choice::Deny("not  on Friday".into())))),
            ("4 v", Some(Typed::View(4))),
            ("y", None),
            ("1", None),
            ("1 yes", None),
            ("1 y 2 y", None),
            ("1 Y", None),
            ("-1 y", None),
            ("1y", None),
        ] {
            assert_eq!(Typed::read(typed), expected, "{typed:?}");
        }
    }
}
