//! The texts of one call, bounded.

use std::collections::BTreeMap;
use std::path::Path;

use super::resolve::lexical;

/// How many texts of one call are looked at.
const MOST: usize = 100_000;
/// How many bytes they may have together.
const MOST_BYTES: usize = 16 << 20;
/// The longest path the system takes.
const LONGEST: usize = 4096;
/// What may stand right before or behind a path within a word.
const JOINTS: [char; 17] =
    ['=', ':', ',', '@', '(', ')', '[', ']', '{', '}', '"', '\'', '`', '+', ';', '#', '%'];

/// A call says more than can be checked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call names more paths than can be checked")]
pub(super) struct TooMany;

/// Texts, each once, in order.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The texts, and whether a wildcard in one matches a name that begins with a dot.
    found: BTreeMap<String, bool>,
    bytes: usize,
}

impl Texts {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        self.found.iter().map(|(text, dots)| (text.as_str(), *dots))
    }

    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    pub(super) fn add(&mut self, text: &str, dots: bool) -> Result<(), TooMany> {
        if let Some(known) = self.found.get_mut(text) {
            *known |= dots;
            return Ok(());
        }
        self.bytes += text.len();
        if self.found.len() == MOST || self.bytes > MOST_BYTES {
            return Err(TooMany);
        }
        self.found.insert(text.to_owned(), dots);
        Ok(())
    }

    /// Adds `text` and every part of it that may be a path of its own: `--file=x`, `host:x`, `@x`,
    /// `-fx`, `open("x")`, `file://host/x`.
    pub(super) fn add_pieces(&mut self, text: &str, dots: bool) -> Result<(), TooMany> {
        let decoded = text.contains('%').then(|| percent_decoded(text));
        for text in std::iter::once(text).chain(decoded.as_deref()) {
            self.add_piece(text, dots)?;
            for piece in text.split(JOINTS) {
                self.add_piece(piece, dots)?;
            }
            for (at, joint) in text.match_indices(JOINTS).take(64) {
                self.add_piece(&text[at + joint.len()..], dots)?;
            }
        }
        Ok(())
    }

    fn add_piece(&mut self, piece: &str, dots: bool) -> Result<(), TooMany> {
        // A tool may shorten a path before the system sees it.
        let too_long = |path: &str| path.len() > LONGEST;
        if piece.is_empty()
            || too_long(piece) && too_long(&lexical(Path::new(piece)).to_string_lossy())
        {
            return Ok(());
        }
        self.add(piece, dots)?;
        if piece.starts_with('-') {
            // The value of a short option may stand right behind it, and so may a variable's default.
            for (at, _) in piece.char_indices().skip(1).take(4) {
                self.add(&piece[at..], dots)?;
            }
        }
        if let Some((scheme, address)) = piece.split_at_checked("file:".len())
            && scheme.eq_ignore_ascii_case("file:")
        {
            self.add(address, dots)?;
            if let Some(at) = address.strip_prefix("//").and_then(|host| host.find('/')) {
                self.add(&address[at + 2..], dots)?;
            }
        }
        Ok(())
    }
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
