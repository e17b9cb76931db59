//! Text on its way to a model.

/// Replaces control characters: text from a repository or a directory must not steer a terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\n' | '\t' => letter,
            _ if letter.is_control() => char::REPLACEMENT_CHARACTER,
            _ => letter,
        })
        .collect()
}

/// Returns a name on one line.
pub(super) fn one_line(name: &str) -> String {
    plain(name).replace(['\n', '\t'], "\u{fffd}")
}

/// Returns the longest start of `text` that is at most `limit` bytes.
pub(super) fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Returns the longest end of `text` that is at most `limit` bytes.
pub(super) fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}

/// Returns `text`, or its start with a line that says how much is missing.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let start = head(text, limit);
    format!("{start}\n... ({} more bytes)", text.len() - start.len())
}
