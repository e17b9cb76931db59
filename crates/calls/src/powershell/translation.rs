//! Writes a text for PowerShell as one for a POSIX shell.

use crate::is_number;
use crate::names::{POWERSHELL_KEYWORDS, POWERSHELL_METHODS};
use crate::shell::quoted;
use hookexec_files::text::name_length;

/// A text for PowerShell, as far as it is written as one for a POSIX shell: with a substitution for what stands
/// in brackets, `echo` before an expression, which prints its value, and `/` for a backslash.
pub(super) struct Translation<'t> {
    text: &'t str,
    at: usize,
    posix: String,
    /// Whether a command begins here.
    begins: bool,
    /// Whether an expression that begins here is not printed: a condition, or a value.
    is_quiet: bool,
    /// Where the expression begins that stands in the place of a command.
    expression: Option<usize>,
    /// Where the last keyword ends.
    keyword: Option<usize>,
    /// The brackets and quotes that are open.
    open: Vec<Open>,
}

/// A part of a text that ends with a certain letter.
struct Open {
    /// The letter: `@` for a text over lines, and a blank for one in quotes that has blanks.
    end: char,
    /// The expression that it stands in.
    expression: Option<usize>,
    is_table: bool,
    /// Whether a command may follow without a `;`.
    ends_command: bool,
}

impl<'t> Translation<'t> {
    /// Returns the text for a POSIX shell; `None` if it calls a method that is not in the list, or has a letter
    /// whose meaning is not known.
    pub(super) fn of(text: &'t str) -> Option<String> {
        let (posix, open) = (String::new(), Vec::new());
        let (begins, is_quiet, expression, keyword) = (true, false, None, None);
        let mut new = Self { text, at: 0, posix, begins, is_quiet, expression, keyword, open };
        while let Some(letter) = new.rest().chars().next() {
            if matches!(new.open.last(), Some(Open { end: '"' | ' ' | '@', .. })) {
                new.quoted(letter)?;
            } else if !new.begins || !new.begin(letter) {
                new.plain(letter)?;
            }
        }
        if new.open.is_empty() { Some(new.posix) } else { None }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips so many bytes, for which another text stands.
    fn write(&mut self, length: usize, posix: &str) {
        self.at += length;
        self.posix.push_str(posix);
    }

    /// Writes letters that mean the same in both shells.
    fn copy(&mut self, length: usize) {
        self.write(length, &self.rest()[..length]);
    }

    fn push(&mut self, end: char, is_table: bool, ends_command: bool) {
        let expression = self.expression;
        self.open.push(Open { end, expression, is_table, ends_command });
    }

    fn begin_command(&mut self) {
        (self.begins, self.is_quiet, self.expression) = (true, false, None);
    }

    fn begin_expression(&mut self) {
        (self.begins, self.expression) = (false, Some(self.posix.len()));
        self.posix.push_str(if self.is_quiet { ": " } else { "echo " });
        self.is_quiet = false;
    }

    /// Begins what stands in the place of a command. Returns whether its first word was read.
    fn begin(&mut self, letter: char) -> bool {
        let rest = self.rest();
        if letter.is_whitespace() || "#;|)}]`".contains(letter) {
            return false;
        }
        self.begins = false;
        // The operator that runs what the next word names.
        if rest.starts_with(['&', '.']) && rest[1..].starts_with([' ', '\'', '"']) {
            self.at += 1 + rest[1..].len() - rest[1..].trim_start_matches(' ').len();
            self.begins = self.rest().starts_with(|one: char| one.is_ascii_alphanumeric());
            return true;
        }
        if matches!(self.open.last(), Some(open) if open.is_table)
            && let Some((key, value)) = rest.split_once('=')
            && !key.contains(|one: char| !one.is_alphanumeric() && !" _-.'\"".contains(one))
        {
            // A text in quotes may name a file. Any other value is read as a command.
            let value = value.trim_start();
            self.at += rest.len() - value.len();
            self.begins = !value.starts_with(['\'', '"']);
            if !self.begins {
                self.posix.push_str("value ");
            }
            return true;
        }
        if "$'\"({[@-+!".contains(letter) || letter.is_ascii_digit() {
            self.begin_expression();
            return false;
        }
        self.is_quiet = false;
        let word = rest.split([' ', '\t', '\n', '(', '{', ';', '|']).next().unwrap_or_default();
        let name = word.to_ascii_lowercase();
        let is_piped = self.posix.trim_end().ends_with('|');
        if POWERSHELL_KEYWORDS.contains(&&*name) && !is_piped {
            // A condition, a block or a command follows.
            self.write(word.len(), "echo;");
            self.keyword = Some(self.posix.len());
            self.begins = true;
            return true;
        }
        if let Some(program) = program_of_name(&name) {
            self.write(word.len(), program);
            self.posix.push(' ');
            return true;
        }
        false
    }

    /// Reads what begins with a letter outside of quotes.
    fn plain(&mut self, letter: char) -> Option<()> {
        let (before, rest) = self.text.split_at(self.at);
        match letter {
            ' ' if self.expression.is_some()
                && matches!(rest.get(..4), Some(word) if word.eq_ignore_ascii_case(" in ")) =>
            {
                // A command may print the items of a loop.
                self.write(" in ".len(), ";");
                self.begin_command();
            }
            ' ' | '\t' => self.copy(1),
            '`' if rest.starts_with("`\n") => self.write(2, " "),
            // Behind it quotes mean nothing.
            '-' if rest.starts_with("--%") => return None,
            '-' if self.is_before_word()
                && let Some((length, option)) = self.parameter() =>
            {
                self.write(length, option);
            }
            '*' if rest.starts_with("*>&1") => self.write(4, "2>&1"),
            // `*> x` is `> x`.
            '*' if rest.starts_with("*>") => self.at += 1,
            // Within a word it is a letter.
            '#' if before.is_empty() || before.ends_with([' ', '\t', '\n', ';', '|', '(', '{']) => {
                self.at += rest.find('\n').unwrap_or(rest.len());
            }
            '&' if rest.starts_with("&&") => {
                self.copy(2);
                self.begin_command();
            }
            '&' if rest.starts_with("&1") && self.posix.ends_with("2>") => self.copy(1),
            ';' if self.begins => self.at += 1,
            ';' | '|' | '\n' => {
                self.copy(1);
                self.begin_command();
            }
            '=' if self.expression.is_some() => self.assign(),
            ',' => {
                let behind = rest[1..].trim_start();
                self.write(rest.len() - behind.len(), " ");
            }
            '\\' => self.write(1, "/"),
            '$' => self.variable()?,
            '@' if self.is_before_word() => self.at_sign()?,
            '[' if self.is_wildcard() => {
                let length = rest.find(']')?;
                if rest[1..length]
                    .contains(|one: char| !one.is_ascii_alphanumeric() && !"-._".contains(one))
                {
                    return None;
                }
                self.copy(length + 1);
            }
            '(' | '{' | '[' => self.open(letter)?,
            ')' | '}' | ']' => {
                let open = self.open.pop()?;
                if open.end != letter {
                    return None;
                }
                self.write(1, ")");
                (self.begins, self.expression) = (false, open.expression);
                if open.ends_command && self.is_before_command() {
                    self.posix.push(';');
                    self.begin_command();
                }
            }
            '\'' if self.is_before_word() => {
                // Two quotes are one letter.
                let mut length = rest[1..].find('\'')?;
                while rest[length + 2..].starts_with('\'') {
                    length += 2 + rest[length + 3..].find('\'')?;
                }
                self.literal(&rest[1..=length].replace("''", "'"), length + 2)?;
            }
            '"' if self.is_before_word() => {
                // It expands a `~` also in quotes.
                if rest.starts_with("\"~") {
                    self.write(1, "~");
                }
                // A text with a blank is no wildcard.
                let inside = rest[1..].split('"').next().unwrap_or_default();
                let end = if inside.contains(' ') { ' ' } else { '"' };
                self.write(1, "\"");
                self.push(end, false, false);
            }
            // `-Path:x` is `-Path x`, and a switch has no value.
            ':' if self.is_behind_option() => {
                let value =
                    rest[1..].split([' ', ';', '\n', ')', '}', '|']).next().unwrap_or_default();
                match &*value.to_ascii_lowercase() {
                    "$false" => self.posix.truncate(self.posix.rfind('-').unwrap_or(0)),
                    "$true" => {}
                    _ => {
                        self.write(1, " ");
                        return Some(());
                    }
                }
                self.at += 1 + value.len();
            }
            _ if letter.is_ascii_alphanumeric() || "_-./:=+*?~!%@>^".contains(letter) => {
                self.copy(1);
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a word follows that is neither an option nor an operator.
    fn is_before_command(&self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        rest.starts_with(|one: char| one.is_ascii_alphanumeric() || "$&({@\"'%?".contains(one))
    }

    /// Returns the length of a parameter that a POSIX shell calls otherwise, and its name there.
    fn parameter(&self) -> Option<(usize, &'static str)> {
        let name = self.rest().split([' ', '\t', '\n', ':']).next()?;
        let posix = match &*name.to_ascii_lowercase() {
            "-path" | "-literalpath" | "-filepath" | "-argumentlist" | "-args" => "",
            "-destination" | "-newname" => "-t",
            _ => return None,
        };
        Some((name.len(), posix))
    }

    /// Returns whether a word, or a part of one that may have quotes, begins here.
    fn is_before_word(&self) -> bool {
        let before = self.posix.chars().next_back().unwrap_or(' ');
        before.is_ascii_whitespace() || "=;|(!+".contains(before)
    }

    /// Returns whether a `[` here is a part of an argument, and no index.
    fn is_wildcard(&self) -> bool {
        let before = &self.text[..self.at];
        let plain = before.trim_end_matches(|one: char| one.is_ascii_alphanumeric() || one == '_');
        self.expression.is_none() && !plain.ends_with('$') && !before.ends_with([')', ']', '}'])
    }

    fn is_behind_option(&self) -> bool {
        let before = &self.text[..self.at];
        before.trim_end_matches(|one: char| one.is_ascii_alphabetic()).ends_with(" -")
    }

    /// Returns whether a word goes on here, which began with a quote. In PowerShell that is another word.
    fn goes_on(&self) -> bool {
        self.rest().starts_with(|one: char| one.is_alphanumeric() || "_$'\"/\\".contains(one))
    }

    /// Reads a text in which nothing is expanded.
    fn literal(&mut self, text: &str, length: usize) -> Option<()> {
        self.at += length;
        if self.goes_on() || text.contains(is_odd) {
            return None;
        }
        if text.is_empty() || text.contains(' ') {
            self.posix.push_str(&quoted(&text.replace('\\', "/")));
            return Some(());
        }
        for part in text.split_inclusive(is_wildcard) {
            let plain = part.trim_end_matches(is_wildcard);
            if !plain.is_empty() {
                self.posix.push_str(&quoted(&plain.replace('\\', "/")));
            }
            self.posix.push_str(&part[plain.len()..]);
        }
        Some(())
    }

    /// Reads what begins with a letter in double quotes.
    fn quoted(&mut self, letter: char) -> Option<()> {
        let end = self.open.last()?.end;
        let is_document = end == '@';
        match letter {
            '\n' if is_document && self.rest().starts_with("\n\"@") => {
                self.write(3, "\"");
                self.open.pop();
            }
            '"' if is_document => self.write(1, "\\\""),
            '"' => {
                self.copy(1);
                self.open.pop();
                if self.goes_on() {
                    return None;
                }
            }
            '$' => self.variable()?,
            '`' => {
                let escaped = self.rest()[1..].chars().next()?;
                let meant = match escaped {
                    'n' | 'r' | 't' => " ",
                    '"' => "\\\"",
                    '$' => "\\$",
                    _ => return None,
                };
                self.write(2, meant);
            }
            '\\' => self.write(1, "/"),
            // PowerShell expands a wildcard also in quotes.
            _ if is_wildcard(letter) && end == '"' => {
                self.posix.push('"');
                self.copy(1);
                self.posix.push('"');
            }
            _ if is_odd(letter) => return None,
            _ => self.copy(letter.len_utf8()),
        }
        Some(())
    }

    /// Reads a list, a table, a text over lines, or a variable whose value are several words.
    fn at_sign(&mut self) -> Option<()> {
        let rest = self.rest();
        if rest.starts_with("@'\n'@") || rest.starts_with("@\"\n\"@") {
            self.write(5, "''");
            return Some(());
        }
        if let Some(inside) = rest.strip_prefix("@'\n") {
            let (text, _) = inside.split_once("\n'@")?;
            return self.literal(text, text.len() + 6);
        }
        if rest.starts_with("@\"\n") {
            self.write(3, "\"");
            self.push('@', false, false);
            return Some(());
        }
        match rest[1..].chars().next()? {
            '(' | '{' => self.at += 1,
            letter if letter.is_ascii_alphabetic() => self.write(1, "$"),
            _ => return None,
        }
        Some(())
    }

    /// Opens a bracket. A method whose name stands before it must be in the list.
    fn open(&mut self, letter: char) -> Option<()> {
        let before = &self.text[..self.at];
        let plain = before.trim_end_matches(|one: char| one.is_ascii_alphanumeric() || one == '_');
        let name = before[plain.len()..].to_ascii_lowercase();
        let is_variable = plain.ends_with('$');
        let object = plain.trim_end_matches('$');
        let is_method = letter == '(' && (object.ends_with('.') || object.ends_with("::"));
        if is_method && (is_variable || !POWERSHELL_METHODS.contains(&&*name)) {
            return None;
        }
        // In a command it begins a word of its own.
        if self.expression.is_none() && !name.is_empty() {
            self.posix.push(' ');
        }
        let end = match letter {
            '(' => ')',
            '{' => '}',
            _ => ']',
        };
        // Behind `param(...)` and `[CmdletBinding()]`, as behind a block, a command may follow in the line.
        let start = self.expression.unwrap_or(self.posix.len());
        let is_behind_keyword = self.keyword == Some(self.posix[..start].trim_end().len());
        let is_table = letter == '{' && before.ends_with('@');
        let ends_command = match letter {
            '{' => !is_table,
            '[' => &self.posix[start..] == "echo ",
            _ => is_behind_keyword,
        };
        self.push(end, is_table, ends_command);
        self.write(1, "$(");
        self.begin_command();
        self.is_quiet = is_behind_keyword;
        // An index, or the name of a type.
        if letter == '[' {
            self.begin_expression();
        }
        Some(())
    }

    /// Reads `=` behind an expression. What follows is a command, or a value, which a variable of the
    /// environment takes to the commands behind it.
    fn assign(&mut self) {
        self.at += 1;
        let start = self.expression.take().unwrap_or_default();
        let written = self.posix[start..].split_once(' ').unwrap_or_default().1.to_owned();
        let value = self.rest().trim_start();
        (self.begins, self.is_quiet) = (true, true);
        let mut names = Vec::new();
        for word in written.split_whitespace() {
            names.extend(variable_of_environment(word));
        }
        if names.is_empty() {
            self.posix.push(';');
            return;
        }
        self.posix.truncate(start);
        let is_plain = is_one_literal(value) && written.trim_end() == format!("${}", names[0]);
        let set = if is_plain {
            format!("export {}=", names[0])
        } else {
            format!("unset {};", names.join(" "))
        };
        self.write(self.rest().len() - value.len(), &set);
        (self.begins, self.is_quiet) = (!is_plain, !is_plain);
    }

    /// Reads a variable, or what stands in `$(...)`. Case does not matter to PowerShell, so the variables of the
    /// environment have large letters, and its own small ones.
    fn variable(&mut self) -> Option<()> {
        let behind = &self.rest()[1..];
        if behind.starts_with('(') {
            self.at += 1;
            return self.open('(');
        }
        if behind.starts_with('?') {
            self.copy(2);
            return Some(());
        }
        let bare = behind.strip_prefix('{').unwrap_or(behind);
        let end = bare.find(|one: char| !one.is_ascii_alphanumeric() && !"_:".contains(one));
        let written = &bare[..end.unwrap_or(bare.len())];
        let mut length = 1 + written.len();
        if bare.len() < behind.len() {
            length += 2;
            if !bare[written.len()..].starts_with('}') {
                return None;
            }
        }
        let lower = written.to_ascii_lowercase();
        let (scope, name) = lower.split_once(':').unwrap_or(("", &lower));
        if name.is_empty() || name_length(name) < name.len() {
            return None;
        }
        let variable = match (scope, name) {
            ("", "null") => "/dev/null".to_owned(),
            ("", "home") | ("env", "userprofile") => "$HOME".to_owned(),
            ("", "pwd") => "$PWD".to_owned(),
            ("", "profile") => "$HOME/Documents/PowerShell/profile.ps1".to_owned(),
            ("env", name) => format!("${}", name.to_ascii_uppercase()),
            ("" | "script" | "global" | "local" | "private" | "using", name) => format!("${name}"),
            _ => return None,
        };
        self.write(length, &variable);
        Some(())
    }
}

/// Returns the name to write for one that the reader takes for something else, or does not know as a step to
/// another directory.
fn program_of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "%" | "foreach" => "foreach-object",
        "?" => "where-object",
        "select" => "select-object",
        "start" | "saps" => "start-process",
        "cd.." => "cd ..",
        "sl" | "set-location" => "cd",
        "push-location" => "pushd",
        "pop-location" => "popd",
        _ => return None,
    })
}

/// Returns the name of a variable of the environment, which has large letters.
fn variable_of_environment(word: &str) -> Option<&str> {
    let name = word.strip_prefix('$')?.trim_end_matches(['+', '?']);
    let is_large = |one: u8| one.is_ascii_uppercase() || one.is_ascii_digit() || one == b'_';
    if name.is_empty() || !name.bytes().all(is_large) { None } else { Some(name) }
}

/// Returns whether a text begins with a text in quotes or a number, and nothing is added to it.
fn is_one_literal(text: &str) -> bool {
    let value = text.split(['\n', ';', '}', ')']).next().unwrap_or_default().trim();
    for quote in ['\'', '"'] {
        if let Some(behind) = value.strip_prefix(quote) {
            return behind.find(quote) == behind.len().checked_sub(1);
        }
    }
    is_number(value)
}

fn is_wildcard(letter: char) -> bool {
    matches!(letter, '*' | '?' | '[' | '~')
}

/// Returns whether a letter may be another quote for PowerShell, or is no text.
fn is_odd(letter: char) -> bool {
    let is_text = letter.is_alphanumeric() || letter.is_ascii_punctuation();
    !is_text && !matches!(letter, ' ' | '\t' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_one_for_a_posix_shell() {
        for (text, posix) in [
            ("a .\\b, 'c d' -e:f; g", "a ./b 'c d' -e f; g"),
            ("& 'c:\\x y' b", "'c:/x y' b"),
            ("a $x $env:y ${z} $null \"$HOME b\"", "a $x $Y $z /dev/null \"$HOME b\""),
            ("$env:X = 'a'; $Y = b c", "export X=a; echo $y ; b c"),
            ("if (a b) { c } else { d } e", "echo; echo $(a b); echo $( c ); echo; echo $( d ); e"),
            ("a { param($b) c } -d; e {f}.g", "a $( echo;echo $(: $b); c ) -d; e $(f).g"),
            (
                "[a()] param($b) c; [d]$e = f",
                "echo $(echo a$()); echo;echo $(: $b); c; echo $(echo d);echo $e ; f",
            ),
            ("a @{ b = c; d = 'e' }", "a $( c; value e )"),
            ("foreach ($x in a b) { return c }", "echo; echo $(: $x;a b); echo $( echo; c )"),
            (
                "a | ? { $_ -eq 1 } | %{b}",
                "a | where-object  $( echo $_ -eq 1 ) | foreach-object $(b)",
            ),
            ("(a b).AddDays(-1)[0]", "echo $(a b).AddDays$(echo -1)$(echo 0)"),
            ("a(b) (c) d 'e *' \"f *\" *> g", "a $(b) $(c) d 'e *' \"f *\" > g"),
            ("[a.b]::c", "echo $(echo a.b)::c"),
            ("a `\nb && c # d 'e", "a  b && c "),
            ("a '*.b' \"c*~d\" '~/e' \"~/f\"", "a *.b \"c\"*\"\"~\"d\" ~/e ~\"/f\""),
            ("a \"b `\"c`\" $(d \"e\") `$f\"", "a \"b \\\"c\\\" $(d \"e\") \\$f\""),
            ("a @'\n'b' $c\n'@", "a ''\\''b'\\'' $c'"),
            ("a @\"\n\"b\" $(c)\n\"@ d", "a \"\\\"b\\\" $(c)\" d"),
            ("sl a; cd..; copy -Path b -Destination c", "cd  a; cd .. ; copy  b -t c"),
            ("a @b c@d $? e^ 'f''g' 2>&1", r"a $b c@d $? e^ 'f'\''g' 2>&1"),
            ("if ($env:A) { return; }", "echo; echo $(: $A); echo $( echo; )"),
            ("$env:A = 'b' + c; $x = $env:A", "unset A;: b + c; echo $x ; : $A"),
            ("ri a -Confirm:$false -b:$True; c -d:e", "ri a  -b; c -d e"),
            (". a; & 'b c' d; .\"e\" f; .\\g; . $h; &  sl", "a; 'b c' d; \"e\" f; ./g; $h; cd "),
            (
                "foreach ($x IN a) { $env:A1 ??= 'b'; $A, $env:B = 1, 2 }",
                "echo; echo $(: $x;a); echo $( unset A1;: b; unset B;: 1 2 )",
            ),
            ("a @'\n'@; b @\"\n\"@", "a ''; b ''"),
            ("a b[c-d] [.]e $f[0] *>&1;#g", "a b[c-d] [.]e $f $(echo 0) 2>&1;"),
            ("echo; (a) b; echo [c] d", "echo; echo $(a) b; echo [c] d"),
        ] {
            assert_eq!(Translation::of(text).unwrap_or_default(), posix, "{text}");
        }
        for text in [
            "$x.a()", "[a]::b(c)", "a & b", "a )", "a (b", "a (b}", "a'b'", "'a'b", "'a",
            "\"a\"\"b\"", "\"$a:b\"", "\"`a\"", "a <b", "\u{2018}a\u{2019}", "'a\u{201c}'",
            "a \u{2013}b", "a @'\nb", "a b=#c", "a --% '", "$a.('b')()", "a [b c]",
        ] {
            assert_eq!(Translation::of(text), None, "{text}");
        }
    }
}
