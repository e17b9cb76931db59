//! The texts of one call that may be paths, bounded.

use std::collections::BTreeSet;
use std::path::Path;

use super::expand::without_outputs;
use super::limits::{LONGEST_PATH, MOST_BYTES, TOO_MANY};
use super::part::{braces, simplified};
use super::place::Place;
use super::words::without_range;
use hookexec_files::paths::lexical;

/// Characters that may stand right before or behind a path within a word.
const JOINTS: [char; 18] =
    ['<', '=', ':', ',', '@', '(', ')', '[', ']', '{', '}', '"', '\'', '`', '+', ';', '#', '%'];

/// Texts, each once, in order.
#[derive(Debug, Default)]
pub(super) struct Texts {
    found: BTreeSet<String>,
    bytes: usize,
}

impl Texts {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(String::as_str)
    }

    pub(super) fn remove(&mut self, text: &str) {
        self.found.remove(text);
    }

    /// Adds everything that a text may mean with its variables replaced.
    pub(super) fn add_versions(
        &mut self,
        text: &str,
        place: &Place<'_>,
    ) -> Result<(), &'static str> {
        self.add_pieces(&without_outputs(text))?;
        for version in place.versions(text) {
            let lists = braces(&version);
            place.scene.make(lists.len())?;
            for version in lists {
                self.add_pieces(&version)?;
                self.add_pieces(&without_range(&version))?;
            }
        }
        Ok(())
    }

    /// Adds `text` and every part of it that may be a path of its own: `--file=x`, `host:x`, `@x`,
    /// `-fx`, `open("x")`, `file://host/x`.
    pub(super) fn add_pieces(&mut self, text: &str) -> Result<(), &'static str> {
        let decoded = if text.contains('%') { Some(percent_decoded(text)) } else { None };
        for text in std::iter::once(text).chain(decoded.as_deref()) {
            let behind = text.match_indices(JOINTS).take(64);
            let behind = behind.map(|(at, joint)| &text[at + joint.len()..]);
            for piece in std::iter::once(text).chain(text.split(JOINTS)).chain(behind) {
                self.add(piece)?;
                if piece.starts_with('-') {
                    // The value of a short option may stand right behind it.
                    for (at, _) in piece.char_indices().skip(1).take(4) {
                        self.add(&piece[at..])?;
                    }
                }
                if let Some((_, path)) =
                    piece.strip_prefix("//").and_then(|rest| rest.split_once('/'))
                {
                    self.add(&format!("/{path}"))?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<(), &'static str> {
        let short;
        let text = if text.len() > LONGEST_PATH {
            // A tool may shorten a path before the system sees it, and a pattern may match a short one.
            let plain = lexical(Path::new(text)).to_string_lossy().into_owned();
            short = simplified(if text.starts_with('/') { &plain } else { &plain[1..] });
            &short
        } else {
            text
        };
        if text.is_empty() || text.bytes().filter(|byte| *byte != b'*').count() > LONGEST_PATH {
            return Ok(());
        }
        if self.found.contains(text) {
            return Ok(());
        }
        self.bytes += text.len() + size_of::<String>();
        if self.bytes > MOST_BYTES {
            return Err(TOO_MANY);
        }
        self.found.insert(text.to_owned());
        Ok(())
    }
}

fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(b'%'));
        bytes.extend(&part.as_bytes()[if code.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
