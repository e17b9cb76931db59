//! Makes text from any source safe to show.
//!
//! Hooks repeat what a model said, and `trust` shows names and scripts of a project before a person
//! approves them. Nothing in them may move, colour, hide or reverse other text on the screen.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::text::is_invisible;

/// The parameters of colours that we use ourselves, of which none hides.
const COLOURS: [&str; 15] =
    ["", "0", "1", "2", "4", "31", "32", "33", "34", "35", "36", "91", "92", "94", "96"];

/// Returns `text`, of several lines, without what a terminal obeys or an eye is misled by.
pub fn plain(text: &str) -> String {
    text.replace(|letter| misleads(letter) && !matches!(letter, '\n' | '\t'), "\u{fffd}")
}

/// Returns `text` on one line, without what a terminal obeys or an eye is misled by.
pub fn line(text: &str) -> String {
    text.replace(misleads, "\u{fffd}")
}

/// Returns `text`, of several lines, with an escape such as `\u{1b}` for every character that is not
/// a visible letter, number, punctuation, symbol or U+0020: for texts of which nothing may be missed.
pub fn visible(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible_line).collect();
    lines.join("\n")
}

/// Returns `text` as [`visible`] does, on one line.
pub fn visible_line(text: &str) -> String {
    // Backslashes before an escape, and before what looks like one, are doubled: so an odd number of
    // them begins an escape, and an even number is what was written.
    HIDDEN.replace_all(text, escaped).into_owned()
}

fn escaped(found: &Captures<'_>) -> String {
    let (backslashes, then) = (&found[1], &found[2]);
    let then = if then == "u{" { then.to_owned() } else { then.escape_unicode().to_string() };
    format!("{backslashes}{backslashes}{then}")
}

/// Marks are among them: a mark draws over a letter. Some letters and symbols draw nothing.
#[expect(clippy::unwrap_used, reason = "a test reads it")]
static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    let hidden = r"[[^\ \p{L}\p{N}\p{P}\p{S}]\p{Default_Ignorable_Code_Point}\x{2800}]";
    Regex::new(&format!(r"(\\*)(u\{{|{hidden})")).unwrap()
});

/// Returns `text` as [`plain`] does, with our own colours left in: all that is shown passes here.
pub fn coloured(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut shown = plain(parts.next().unwrap_or_default());
    for part in parts {
        // Writing into memory can't fail.
        let _ = match part.strip_prefix('[').and_then(|rest| rest.split_once('m')) {
            Some((colours, rest)) if colours.split(';').all(|one| COLOURS.contains(&one)) => {
                write!(shown, "\u{1b}[{colours}m{}", plain(rest))
            }
            _ => write!(shown, "\u{fffd}{}", plain(part)),
        };
    }
    shown
}

/// Returns whether a letter is invisible, and not a part of another one: emoji have joiners and
/// variation selectors.
fn misleads(letter: char) -> bool {
    is_invisible(letter) && !matches!(letter, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_reach_a_terminal() {
        for (text, shown) in [
            ("\u{1b}[1m\u{1b}[31mdeny\u{1b}[0m: no", "\u{1b}[1m\u{1b}[31mdeny\u{1b}[0m: no"),
            ("a\u{1b}[2K\u{1b}[1Ab\r", "a\u{fffd}[2K\u{fffd}[1Ab\u{fffd}"),
            ("\u{1b}[8mhidden\u{1b}[38;5;0mm", "\u{fffd}[8mhidden\u{fffd}[38;5;0mm"),
            ("\u{1b}]0;owned\u{7}\u{9b}2J", "\u{fffd}]0;owned\u{fffd}\u{fffd}2J"),
            ("x\u{202e}y\u{200b}\n\tz", "x\u{fffd}y\u{fffd}\n\tz"),
        ] {
            assert_eq!(coloured(text), shown, "{text:?}");
        }
        assert_eq!(line("a\nb"), "a\u{fffd}b");
    }

    #[test]
    fn what_can_not_be_seen_is_an_escape() {
        assert_eq!(visible("a\n\tb\r\u{1b}[8m\u{202e}\n"), "a\n\\u{9}b\\u{d}\\u{1b}[8m\\u{202e}\n");
        assert_eq!(visible_line("a\nb"), "a\\u{a}b");
        let seen = r#"C:\users \n "é" жλ文한字🙂 €+½²…«» \d{2} \\x"#;
        assert_eq!(visible(seen), seen);
        // Invisible letters, symbols and formats, blanks, lone marks, and what no font need have.
        for hidden in "\u{200b}\u{200c}\u{200d}\u{34f}\u{3164}\u{2800}\u{fe0f}\u{115f}\u{1160}\u{17b4}\
                       \u{ffa0}\u{e0100}\u{e0041}\u{feff}\u{ad}\u{a0}\u{202f}\u{3000}\u{2028}\u{301}\
                       \u{20dd}\u{e000}\u{378}\u{85}\u{1d173}\u{fff9}"
            .chars()
        {
            let escape = hidden.escape_unicode();
            assert_eq!(visible(&format!("./a{hidden}.sh")), format!("./a{escape}.sh"));
        }
        // An escape is not what a model wrote.
        for (text, shown) in [
            (r"\u{202e}", r"\\u{202e}"),
            ("\\\u{202e}", r"\\\u{202e}"),
            (r"\\u{202e}", r"\\\\u{202e}"),
            ("u{1} \\", "u{1} \\"),
        ] {
            assert_eq!(visible_line(text), shown, "{text:?}");
        }
    }
}
