//! The use that a program makes of its operands and of the values of its options.

use std::borrow::Cow;

use super::arguments::Arguments;
use hookexec::describe::Touched;
use hookexec_calls::Word;

/// A set of uses of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Touch(u8);

impl Touch {
    pub(super) const NONE: Self = Self(0);
    pub(super) const READ: Self = Self(1);
    pub(super) const WRITE: Self = Self(2);
    pub(super) const EDIT: Self = Self(4);
    pub(super) const DELETE: Self = Self(8);
    pub(super) const CHANGE: Self = Self(14);
    pub(super) const ANY: Self = Self(15);

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether nothing of `other` is outside of it.
    pub(super) fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns what a patch does with a file.
    pub(super) fn of_patch(touched: Touched) -> Self {
        match touched {
            Touched::Write => Self::WRITE,
            Touched::Delete => Self::DELETE,
            _ => Self::EDIT,
        }
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A part of a row: some words of a command, and what the program does with them.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub(super) touch: Touch,
    /// Whether the program deletes or changes what was there: it is a target.
    pub(super) is_target: bool,
    pub(super) which: Which,
    /// The options of which one must be there.
    pub(super) condition: &'static [&'static str],
}

/// The words of a command that a use is for.
#[derive(Debug, Clone)]
pub(super) enum Which {
    All,
    First,
    Last,
    ButLast,
    Rest,
    /// The value of an option.
    Value(&'static str),
    /// The rest of an operand behind such a beginning: `of=`.
    Behind(&'static str),
}

/// A word of a command that is a path, and what the command does with it.
#[derive(Debug)]
pub(super) struct UsedWord<'c> {
    pub(super) word: &'c Word,
    /// The part of the text that is the path.
    pub(super) text: Cow<'c, str>,
    pub(super) touch: Touch,
    pub(super) is_target: bool,
}

impl<'c> UsedWord<'c> {
    /// Returns a word that is used as a whole, and not as a target.
    pub(super) fn of(word: &'c Word, touch: Touch) -> Self {
        Self { word, text: Cow::Borrowed(&word.text), touch, is_target: false }
    }

    /// Returns this use of a part of the word, or of what it stands for.
    pub(super) fn with_text(&self, text: impl Into<Cow<'c, str>>) -> Self {
        Self { text: text.into(), ..*self }
    }
}

/// Returns the words of a command that may be paths. The last row that is for a word counts; a word
/// that no row is for is read.
pub(super) fn uses<'c>(arguments: &Arguments<'c>) -> Vec<UsedWord<'c>> {
    let mut words = Vec::new();
    let mut rows = arguments.row.uses.clone();
    rows.retain(|one| {
        let mut options = one.condition.iter();
        one.condition.is_empty() || options.any(|option| arguments.has(option))
    });
    let operands = arguments.file_operands();
    let is_fetcher = matches!(arguments.program.as_deref(), Some("curl" | "wget"));
    // `-e SCRIPT` and `-f FILE` stand for the first operand of a filter.
    let has_first = !arguments
        .options
        .iter()
        .any(|option| option.value.is_some() && matches!(&*option.name, "-e" | "-f"));
    let last = operands.len().saturating_sub(1);
    // `mv -t DIR FILES`
    let names_destination = arguments.has("-t") && arguments.row.takes_value("-t");
    for (at, word) in operands.iter().enumerate() {
        let mut used = UsedWord::of(word, Touch::READ);
        for one in &rows {
            let is_for = match one.which {
                Which::All => true,
                Which::First => at == 0 && has_first,
                Which::Last => at == last && !names_destination,
                Which::ButLast => at < last || operands.len() == 1 || names_destination,
                Which::Rest => at > 0 || !has_first,
                Which::Behind(beginning) => word.text.starts_with(beginning),
                Which::Value(_) => false,
            };
            if is_for {
                (used.touch, used.is_target) = (one.touch, one.is_target);
                if let Which::Behind(beginning) = one.which {
                    used.text = Cow::Borrowed(&word.text[beginning.len()..]);
                }
            }
        }
        // To `curl`, `a.b/c` is an address.
        if is_fetcher && word.is_known() && !used.text.contains(":/") {
            used.text = Cow::Owned(format!("http://{}", used.text));
        }
        words.push(used);
    }
    for option in &arguments.options {
        let Some((word, text)) = option.value else { continue };
        let mut used = UsedWord::of(word, Touch::READ).with_text(text);
        for one in &rows {
            let is_for = match one.which {
                Which::Value(name) => arguments.row.first_name(name) == option.name,
                Which::All => one.touch == Touch::NONE,
                _ => false,
            };
            if is_for {
                (used.touch, used.is_target) = (one.touch, one.is_target);
            }
        }
        // `-d @FILE` is the text in the file, and so is `--data-urlencode NAME@FILE`.
        let is_file = match text.find('@') {
            Some(0) => text.len() > 1,
            Some(_) => option.word.text.starts_with("--data-u"),
            None => false,
        };
        if is_file && used.touch == Touch::NONE {
            used.touch = Touch::READ;
        }
        words.push(used);
    }
    words.retain(|used| used.touch != Touch::NONE);
    words
}
