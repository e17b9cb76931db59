//! Texts for a shell: what expansions and lists in braces stand in them, and words quoted for it.
//!
//! The reader expands nothing: a word that a shell would expand keeps its text and is marked.

use hookexec_files::text::name_length;

pub use crate::is_interpreter;
use crate::{Hidden, SimpleCommand};

/// Stands in a word for the output of a command.
pub const SUBSTITUTED: &str = "$(...)";
/// Stands in a text for what only the shell knows.
pub const UNKNOWN: char = '\0';

/// Returns whether a program is a shell for POSIX texts, or runs the commands of a file like one.
pub fn is_shell(program: &str) -> bool {
    crate::is_shell(program) || matches!(program, "." | "source")
}

/// Returns `text` with all quotes and backslashes removed. No trick with them hides a name in it.
pub fn unquoted(text: &str) -> String {
    text.replace("$'", "'").replace("$\"", "\"").replace(['\'', '"', '\\'], "")
}

/// Quotes a word for a shell, when it needs it.
pub fn quoted(word: &str) -> String {
    // A shell expands a `~` only at the beginning; short names of Windows have one further on.
    if word.is_empty()
        || word.starts_with('~')
        || word.contains(|one: char| !one.is_ascii_alphanumeric() && !"/._-+@%:,~".contains(one))
    {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    word.to_owned()
}

/// Returns words as one command for a shell, which reads each of them as it is.
pub fn quoted_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    words.join(" ")
}

/// Returns whether each shell reads the whole text of these commands alike.
pub fn is_understood(commands: &[SimpleCommand]) -> bool {
    commands.iter().all(|one| one.hidden == Hidden::Nothing || !one.is_without_words())
}

/// Returns whether a command runs the one behind it.
pub fn runs_next(commands: &[SimpleCommand], at: usize) -> bool {
    let depth = commands[at].frame.wrappers.len();
    commands.get(at + 1).is_some_and(|next| next.frame.wrappers.len() > depth)
}

/// Returns a text with the mark of what is not known for each expansion in it.
pub fn hidden(text: &str) -> String {
    marked(text, |expansion| expansion != "$")
}

/// Returns a text with the mark of what is not known for the output of each command in it.
pub fn without_outputs(text: &str) -> String {
    marked(text, |expansion| expansion.starts_with("$(") || expansion.starts_with('`'))
}

/// Returns a text with the mark of what is not known for each expansion that is `meant`.
fn marked(text: &str, meant: fn(&str) -> bool) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, expansion, behind)) = next_expansion(rest) {
        plain.push_str(before);
        if meant(expansion) {
            plain.push(UNKNOWN);
        } else {
            plain.push_str(expansion);
        }
        rest = behind;
    }
    plain + rest
}

/// Returns what stands before the first expansion of a text, the expansion, and what follows.
pub fn next_expansion(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(['$', '`'])?;
    let (before, expansion) = text.split_at(start);
    let inside = &expansion[1..];
    let length = match inside.chars().next() {
        _ if expansion.starts_with('`') => inside.find('`').map_or(inside.len(), |end| end + 1),
        Some('(') => closed(inside, '(', ')'),
        Some('{') => closed(inside, '{', '}'),
        Some('\'') => inside[1..].find('\'').map_or(inside.len(), |end| end + 2),
        Some(first) if first.is_ascii_digit() || "@*?#$!-".contains(first) => 1,
        _ => name_length(inside),
    };
    let (expansion, behind) = expansion.split_at(1 + length);
    Some((before, expansion, behind))
}

/// Returns how long a part in brackets is that begins with `open`.
fn closed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

/// Returns the texts that one with `{a,b}` stands for. If they are longer together than a text may be, there
/// is one with the mark of what is not known for its lists.
pub fn braces(text: &str) -> Vec<String> {
    let (mut found, mut open, mut bytes) = (Vec::new(), vec![text.to_owned()], 0);
    while let Some(next) = open.pop() {
        let Some(marks) = first_list(&next) else {
            found.push(next);
            continue;
        };
        let (before, behind) = (&next[..marks[0]], &next[marks[marks.len() - 1] + 1..]);
        bytes += next.len() + (before.len() + behind.len()) * (marks.len() - 1);
        if bytes > crate::LONGEST {
            return vec![without_braces(text)];
        }
        for part in marks.windows(2).rev() {
            open.push(format!("{before}{}{behind}", &next[part[0] + 1..part[1]]));
        }
    }
    found
}

/// Returns where the first list in braces has its `{`, each `,` and its `}`. `{}` and `{a}` are none, and
/// there is none in an expansion.
fn first_list(text: &str) -> Option<Vec<usize>> {
    let mut first: Option<Vec<usize>> = None;
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut expansion_end = 0;
    for (at, letter) in text.char_indices() {
        match (letter, open.last_mut()) {
            _ if at < expansion_end => {}
            ('$' | '`', _) => {
                let (_, expansion, _) = next_expansion(&text[at..])?;
                expansion_end = at + expansion.len();
            }
            ('{', _) => open.push(vec![at]),
            (',' | '}', Some(marks)) => {
                marks.push(at);
                let Some(marks) = open.pop_if(|_| letter == '}') else { continue };
                // One that begins before it is around it.
                if marks.len() > 2 && !matches!(&first, Some(first) if first[0] < marks[0]) {
                    first = Some(marks);
                }
            }
            _ => {}
        }
    }
    first
}

/// Returns a text with the mark of what is not known for everything from its first `{` to its last `}`.
pub fn without_braces(text: &str) -> String {
    match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{UNKNOWN}{}", &text[..start], &text[end + 1..])
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certainty, Word, commands_of_text};

    #[test]
    fn a_list_in_braces_is_read_as_a_shell_does() {
        let deep = format!("a{}{}/b", "{x,".repeat(500), "}".repeat(500));
        let wide = "{a,b}".repeat(20);
        for (text, expected) in [
            ("a{b,c}d{e,f}", &["abde", "abdf", "acde", "acdf"][..]),
            ("{a,{b,c}d}", &["a", "bd", "cd"]),
            ("{x,{b},c}", &["x", "{b}", "c"]),
            ("{a{b,c}}", &["{ab}", "{ac}"]),
            ("{a,b{c,d}", &["{a,bc", "{a,bd"]),
            ("{a,b}}", &["a}", "b}"]),
            ("{,a}", &["", "a"]),
            ("{a,${x:-b,c}}", &["a", "${x:-b,c}"]),
            ("{}{a} {1..3} }{", &["{}{a} {1..3} }{"]),
            (&deep, &["a\0/b"]),
            (&wide, &["\0"]),
        ] {
            assert_eq!(braces(text), expected, "{text}");
        }
    }

    /// Returns the commands of a text, words that are expanded in angle brackets.
    fn read(text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for command in commands_of_text(text) {
            let mut words = Vec::new();
            for Word { text, certainty, .. } in command.assignments.iter().chain(&command.words) {
                let is_known = *certainty == Certainty::Known;
                words.push(if is_known { text.clone() } else { format!("<{text}>") });
            }
            lines.push(words.join(" "));
        }
        lines
    }

    #[test]
    fn a_text_is_read_into_its_commands() {
        for (text, commands) in [
            ("sh ./a.sh >> out.log; ./b.sh", vec!["sh ./a.sh", "./b.sh"]),
            ("x 2>err.log <in.txt y", vec!["x y"]),
            ("x 2>&1 ./y", vec!["x ./y"]),
            ("a && b || c | d &", vec!["a", "b", "c", "d"]),
            ("(cd x; ./y) # z 'w", vec!["cd x", "./y"]),
            (r#""$CLAUDE_PROJECT_DIR"/a\ b 'c d'"#, vec!["<$CLAUDE_PROJECT_DIR/a b> c d"]),
            ("x=$(./get \"a b\") y", vec!["./get a b", "<x=$(./get \"a b\")> y"]),
            ("echo `./one` \"`./two`\"", vec!["./one", "./two", "echo <`./one`> <`./two`>"]),
            ("sh *.sh; x ./{a,b}; ~/x; a~b", vec!["sh <*.sh>", "x <./{a,b}>", "<~/x>", "a~b"]),
            ("{ ./a; }", vec!["./a"]),
            ("[[ -f x ]] && ./a", vec!["[[ -f x ]]", "./a"]),
            ("diff <(./a) <(./b)", vec!["./a", "./b", "diff <<(./a)> <<(./b)>"]),
            ("a \\\n b", vec!["a b"]),
        ] {
            assert_eq!(read(text), commands, "{text}");
            assert!(is_understood(&commands_of_text(text)), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_understood_is_reported() {
        for text in ["x $(y 'z", "x $(y", "(x", "x ${y", "x() { y; }", "((x))"] {
            assert!(!is_understood(&commands_of_text(text)), "{text}");
        }
        assert!(!is_understood(&commands_of_text(&"$(".repeat(100_000))));
        assert!(!is_understood(&commands_of_text(&"${".repeat(450_000))));
    }
}
