//! One word of a command: its text without quotes, and how sure it is.

use hookexec_files::text::is_invisible;

/// How much of a word is known before a shell reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sureness {
    /// The program gets exactly this text.
    Literal,
    /// A wildcard behind a first letter that is not `-`, or `~`: it becomes paths, and never an option.
    Path,
    /// It may become anything.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) sureness: Sureness,
}

impl Word {
    /// Returns a word that no shell reads.
    pub(super) fn literal(text: &str) -> Self {
        let sureness = if is_printable(text) { Sureness::Literal } else { Sureness::Unknown };
        Self { text: text.to_owned(), sureness }
    }

    pub(super) fn is_literal(&self) -> bool {
        self.sureness == Sureness::Literal
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.sureness == Sureness::Unknown
    }

    /// Returns whether a shell may put something else than paths in its place.
    pub(super) fn is_expanded(&self) -> bool {
        self.is_unknown() && self.text.contains(['$', '`', '<', '>'])
    }

    /// Removes the quotes of `raw`, which is a word as the parser found it.
    ///
    /// This is judged from the letters alone, and again what the parser says about expansions: a
    /// letter that is not known to be harmless makes the word unknown.
    pub(super) fn of_shell(raw: &str) -> Self {
        if raw == "[" {
            // The name of a program; a set of letters needs its other bracket.
            return Self::literal(raw);
        }
        let mut reader = Reader { text: String::new(), sureness: Sureness::Literal, brace: false };
        let known = reader.read(raw).is_some() && is_printable(raw);
        if !known {
            return Self { text: raw.to_owned(), sureness: Sureness::Unknown };
        }
        Self { text: reader.text, sureness: reader.sureness }
    }
}

/// Returns whether no letter of a text is invisible or ends a line for some program.
fn is_printable(text: &str) -> bool {
    !text.contains(|letter: char| !matches!(letter, '\n' | '\t') && is_invisible(letter))
}

struct Reader {
    text: String,
    sureness: Sureness,
    /// Whether a `{` stands before this place.
    brace: bool,
}

impl Reader {
    /// Reads a word; `None` when something in it can't be known.
    fn read(&mut self, raw: &str) -> Option<()> {
        let mut letters = raw.chars().peekable();
        let mut first = true;
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next()? {
                    '\n' => continue,
                    next => self.text.push(next),
                },
                '\'' => loop {
                    match letters.next()? {
                        '\'' => break,
                        next => self.text.push(next),
                    }
                },
                '"' => loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => match letters.next()? {
                            '\n' => {}
                            next if "$`\"\\".contains(next) => self.text.push(next),
                            next => self.text.extend(['\\', next]),
                        },
                        '`' => return None,
                        '$' if letters.peek().is_none_or(|next| expands(*next)) => return None,
                        next => self.text.push(next),
                    }
                },
                '$' if letters
                    .peek()
                    .is_none_or(|next| !expands(*next) && !"'\"".contains(*next)) =>
                {
                    self.text.push('$');
                }
                '$' | '`' | '<' | '>' | '(' | ')' | '|' | '&' | ';' => return None,
                // zsh replaces `=ls` by the path of `ls`.
                '=' if first => return None,
                '*' | '?' | '[' if self.may_be_option() => return None,
                '*' | '?' | '[' => self.is_path(letter),
                '~' if first => self.is_path(letter),
                '{' => {
                    self.brace = true;
                    self.text.push(letter);
                }
                ',' | '.' if self.brace && (letter == ',' || letters.peek() == Some(&'.')) => {
                    return None;
                }
                letter if letter.is_whitespace() => return None,
                letter => self.text.push(letter),
            }
            first = false;
        }
        Some(())
    }

    /// Returns whether a file that fits may have the name of an option.
    fn may_be_option(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('-')
    }

    fn is_path(&mut self, letter: char) {
        self.sureness = Sureness::Path;
        self.text.push(letter);
    }
}

/// Returns whether `$` before this letter stands for something else.
fn expands(letter: char) -> bool {
    letter.is_alphanumeric() || "_@*#?-$!({[".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_removed_and_what_a_shell_expands_is_not_literal() {
        use Sureness::{Literal, Path, Unknown};
        for (raw, text, sureness) in [
            ("status", "status", Literal),
            (r"st\atus", "status", Literal),
            ("st\\\natus", "status", Literal),
            (r#""a b"'c d'\ e"#, "a bc d e", Literal),
            (r#""a\"\$\x""#, r#"a"$\x"#, Literal),
            (r#""x$""#, "x$", Literal),
            ("HEAD~1", "HEAD~1", Literal),
            ("stash@{0}", "stash@{0}", Literal),
            ("--a=b", "--a=b", Literal),
            ("a.b,c", "a.b,c", Literal),
            ("src/*.rs", "src/*.rs", Path),
            ("~/x", "~/x", Path),
            ("*.rs", "*.rs", Unknown),
            ("--o*", "--o*", Unknown),
            ("'-'d[e]l", "'-'d[e]l", Unknown),
            ("''*", "''*", Unknown),
            ("./-*", "./-*", Path),
            ("[ab]", "[ab]", Unknown),
            ("{a,b}", "{a,b}", Unknown),
            ("{1..3}", "{1..3}", Unknown),
            ("$x", "$x", Unknown),
            ("\"$x\"", "\"$x\"", Unknown),
            ("`x`", "`x`", Unknown),
            ("$'x'", "$'x'", Unknown),
            ("$\"x\"", "$\"x\"", Unknown),
            ("<(x)", "<(x)", Unknown),
            ("@(x)", "@(x)", Unknown),
            ("=ls", "=ls", Unknown),
            ("a\r", "a\r", Unknown),
            ("a\u{200b}", "a\u{200b}", Unknown),
            ("a\u{a0}b", "a\u{a0}b", Unknown),
            ("'a", "'a", Unknown),
        ] {
            assert_eq!(Word::of_shell(raw), Word { text: text.into(), sureness }, "{raw}");
        }
    }
}
