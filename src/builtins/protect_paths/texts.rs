//! The texts of one call, bounded.

use std::collections::BTreeMap;
use std::path::Path;

use crate::paths::lexical;

/// How many texts of one call are looked at.
const MOST: usize = 100_000;
/// How many bytes they may have together.
const MOST_BYTES: usize = 16 << 20;
/// The longest path the system takes.
const LONGEST: usize = 4096;
/// What may stand right before or behind a path within a word.
const JOINTS: [char; 17] =
    ['=', ':', ',', '@', '(', ')', '[', ']', '{', '}', '"', '\'', '`', '+', ';', '#', '%'];

/// Why a call can't be checked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unchecked(pub(super) &'static str);

pub(super) const TOO_MANY: Unchecked = Unchecked("the call names more paths than can be checked");

/// What a wildcard in a text matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wildcards {
    /// Itself only.
    None,
    /// Names that do not begin with a dot, as in a shell.
    Visible,
    /// All names.
    All,
}

/// Texts, each once, in order.
#[derive(Debug, Default)]
pub(super) struct Texts {
    found: BTreeMap<String, Wildcards>,
    bytes: usize,
}

impl Texts {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Wildcards)> {
        self.found.iter().map(|(text, wildcards)| (text.as_str(), *wildcards))
    }

    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    pub(super) fn add(&mut self, text: &str, wildcards: Wildcards) -> Result<(), Unchecked> {
        if let Some(known) = self.found.get_mut(text) {
            *known = wildcards.max(*known);
            return Ok(());
        }
        self.bytes += text.len();
        if self.found.len() == MOST || self.bytes > MOST_BYTES {
            return Err(TOO_MANY);
        }
        self.found.insert(text.to_owned(), wildcards);
        Ok(())
    }

    /// Adds `text` and every part of it that may be a path of its own: `--file=x`, `host:x`, `@x`,
    /// `-fx`, `open("x")`, `file://host/x`.
    pub(super) fn add_pieces(&mut self, text: &str, wildcards: Wildcards) -> Result<(), Unchecked> {
        let decoded = text.contains('%').then(|| percent_decoded(text));
        for text in std::iter::once(text).chain(decoded.as_deref()) {
            self.add_piece(text, wildcards)?;
            for piece in text.split(JOINTS) {
                self.add_piece(piece, wildcards)?;
            }
            for (at, joint) in text.match_indices(JOINTS).take(64) {
                self.add_piece(&text[at + joint.len()..], wildcards)?;
            }
        }
        Ok(())
    }

    fn add_piece(&mut self, piece: &str, wildcards: Wildcards) -> Result<(), Unchecked> {
        if piece.is_empty() {
            return Ok(());
        }
        if piece.len() > LONGEST {
            // A tool may shorten a path before the system sees it, and a pattern may match a short one.
            let short = lexical(Path::new(piece));
            let short = shortened(&short.to_string_lossy());
            if short.bytes().filter(|byte| *byte != b'*').count() > LONGEST {
                return Ok(());
            }
            self.add(if piece.starts_with('/') { &short } else { &short[1..] }, wildcards)?;
        }
        self.add(piece, wildcards)?;
        if piece.starts_with('-') {
            // The value of a short option may stand right behind it, and so may a variable's default.
            for (at, _) in piece.char_indices().skip(1).take(4) {
                self.add(&piece[at..], wildcards)?;
            }
        }
        if let Some((scheme, address)) = piece.split_at_checked("file:".len())
            && scheme.eq_ignore_ascii_case("file:")
        {
            self.add(address, wildcards)?;
            if let Some(at) = address.strip_prefix("//").and_then(|host| host.find('/')) {
                self.add(&address[at + 2..], wildcards)?;
            }
        }
        Ok(())
    }
}

/// Returns a pattern that matches what `pattern` does: a set matches any letter, and many `*` are two.
fn shortened(pattern: &str) -> String {
    let mut short = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let mut ends = rest.char_indices().skip(2).filter(|(_, end)| *end == ']');
        let set = if letter == '[' && rest.contains(']') { ends.next() } else { None };
        rest = &rest[set.map_or(letter.len_utf8(), |(end, _)| end + 1)..];
        if letter != '*' || !short.ends_with("**") {
            short.push(if set.is_some() { '?' } else { letter });
        }
    }
    short
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
