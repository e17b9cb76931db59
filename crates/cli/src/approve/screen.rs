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

/// How many arguments are shown at once, and how much of one text.
const ARGUMENTS: usize = 30;
const LINES: usize = 40;
const LETTERS: usize = 4_000;

pub(super) const HELP: &str = "\
1 y         approves question 1, this once
1 s         approves the same call for the rest of its session, too
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

    /// Shows a question.
    pub(super) fn show(&self, number: u64, question: &Question) {
        self.say(&text(number, question, false));
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
            Some(Typed::View(number)) => {
                desk.question(number).map(|question| self.say(&text(number, &question, true)))
            }
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

/// Returns a question as text. Every line that a model wrote has a bar before it, so that it can't
/// pass for one of ours.
fn text(number: u64, question: &Question, whole: bool) -> String {
    let mut text = format!(
        "{BOLD}[{number}] {}{BOLD:#}, {} left\n",
        visible_line(&question.tool),
        clock(question.left())
    );
    let most = if whole { usize::MAX } else { ARGUMENTS };
    let mut is_cut = question.arguments.len() > most;
    for Argument { name, text: quoted, note, .. } in question.arguments.iter().take(most) {
        let (name, quoted) = (visible_line(name), visible(quoted));
        let _ = writeln!(text, "    `{}`{note}:", if whole { &*name } else { beginning(&name) });
        let part = if whole { &*quoted } else { beginning(&quoted) };
        for line in part.split('\n') {
            let _ = writeln!(text, "      | {line}");
        }
        if part.len() < quoted.len() {
            is_cut = true;
            let left = quoted[part.len()..].chars().count();
            let _ = writeln!(text, "      {BOLD}... and {left} characters more{BOLD:#}");
        }
    }
    if let Some(left @ 1..) = question.arguments.len().checked_sub(most) {
        let _ = writeln!(text, "    {BOLD}... and {left} arguments more{BOLD:#}");
    }
    for reason in &question.reasons {
        let _ = writeln!(text, "    asked by {}", visible_line(reason));
    }
    let _ = writeln!(text, "    from {}", visible_line(&question.origin()));
    let _ = writeln!(text, "    digest {}", visible_line(question.short_digest()));
    let all = if is_cut { format!(", all of it: {number} v") } else { String::new() };
    let _ = writeln!(
        text,
        "    approve: {number} y, for this session: {number} s, deny: {number} n REASON{all}"
    );
    text
}

/// Returns as much of a text as is shown at once.
fn beginning(text: &str) -> &str {
    let lines = text.match_indices('\n').nth(LINES - 1).map(|(at, _)| at);
    let letters = text.char_indices().nth(LETTERS).map(|(at, _)| at);
    let end = lines.into_iter().chain(letters).min().unwrap_or(text.len());
    &text[..end]
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
