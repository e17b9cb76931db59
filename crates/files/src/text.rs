//! Texts of any kind and length, made fit to be shown or handed on.

use std::borrow::Cow;

/// The characters that any program treats as the end of a line, as Python's `splitlines` does.
pub const LINE_ENDS: [char; 10] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns a text of at most `most` characters as it is, else its beginning with an ellipsis.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Returns how many there are of something.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns where the line begins that the byte `at` is in.
pub fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the number of the line that the byte `at` is in, from 1.
pub fn line_number(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Returns how many spaces a line begins with.
pub fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the longest start of `text` that is at most `limit` bytes.
pub fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

/// Returns the longest end of `text` that is at most `limit` bytes.
pub fn tail(text: &str, limit: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(limit))..]
}

/// Returns `text`, or its start with a line that says how much is missing.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return text.into();
    }
    let start = head(text, limit);
    format!("{start}\n... ({} more bytes)", text.len() - start.len()).into()
}

/// Returns whether a character is invisible: a name with it looks like another name without it.
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns how many bytes at the beginning of `text` are the name of a variable.
pub fn name_length(text: &str) -> usize {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return 0;
    }
    text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len())
}

/// Returns a text without the escape sequences that set colours.
pub fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.strip_prefix('[').unwrap_or_default();
        let behind =
            behind.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        plain.push_str(behind.strip_prefix('m').unwrap_or(part));
    }
    plain
}

/// Returns the cause in what a program wrote to stderr: the last line whose first word ends in
/// `Error:`, as Node.js and Python write it, else the last line that is not empty.
pub fn cause_line(stderr: &str) -> &str {
    let mut last = "";
    for line in stderr.lines().rev() {
        let line = line.trim();
        if last.is_empty() {
            last = line;
        }
        if line.split_whitespace().next().unwrap_or_default().ends_with("Error:") {
            return line;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöü", 2), "äö…");
        assert_eq!(shortened("", 0), "");
        assert_eq!(cut("äöü", 6), "äöü");
        assert_eq!(cut("äöü", 5), "äö\n... (2 more bytes)");
    }
}
