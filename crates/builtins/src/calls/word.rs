//! Letters that no program shows.

use hookexec_files::text::is_invisible;

/// Returns whether no letter of a text is invisible or ends a line for some program.
pub(super) fn is_printable(text: &str) -> bool {
    !text.contains(|letter: char| !matches!(letter, '\n' | '\t') && is_invisible(letter))
}
