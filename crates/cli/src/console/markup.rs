//! Texts in HTML and XML.

/// The style of every page.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Returns a text that is nothing but text in HTML and XML, attributes included: what is logged was
/// written by models. Characters that no document may hold become U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(letter),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if letter.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_document_is_escaped() {
        assert_eq!(
            escaped("a<b> & \"c\" 'd'\u{1b}[0m\r\n\u{ffff}"),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\u{fffd}[0m\u{fffd}\n\u{fffd}"
        );
    }
}
