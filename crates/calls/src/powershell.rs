//! Reads texts for PowerShell.

use super::command::{Frame, Hidden, SimpleCommand, Word, are_known, line_of};
use super::names::{POWERSHELL_KEYWORDS, POWERSHELL_METHODS, POWERSHELL_RUNNERS};
use super::reader::commands_within;
use super::simple::base_name;
use crate::shell::quoted;
use hookexec_files::text::name_length;

/// Returns the commands of a text, each behind `powershell`, which runs it: those in blocks and brackets,
/// too. `None` if it runs a text or a method that is not read, or has a letter whose meaning is not known.
pub(super) fn commands_of_powershell(text: &str, outer: &Frame) -> Option<Vec<SimpleCommand>> {
    let mut commands = Vec::new();
    let text = text.replace("\r\n", "\n");
    let frame = outer.within("powershell");
    for mut command in commands_within(&Translation::of(&text)?, &frame) {
        if runs_anything(&command) {
            return None;
        }
        add_piped_items(&mut command, &commands);
        if command.frame.wrappers == frame.wrappers {
            let words = [&[Word::known("powershell")], &*command.words].concat();
            // PowerShell may know a function or an alias of this name: nothing is allowed for certain.
            let (is_certain, hidden) = (false, Hidden::Nothing);
            let mut whole = SimpleCommand { words, is_certain, hidden, ..command.clone() };
            whole.frame.wrappers.clone_from(&outer.wrappers);
            commands.push(whole);
        }
        commands.push(command);
    }
    Some(commands)
}

/// Returns the commands of a text behind `-Command` of PowerShell, or a beginning of it.
pub(super) fn commands_behind_powershell(
    words: &[Word],
    frame: &Frame,
) -> Option<Vec<SimpleCommand>> {
    if !matches!(frame.program(), "powershell" | "pwsh") || !are_known(words) {
        return None;
    }
    let at = words.iter().position(is_option_for_text)?;
    commands_of_powershell(&line_of(&words[at + 1..]), frame)
}

/// Returns whether a word is `-Command` or a beginning of it. All words behind it are the text.
fn is_option_for_text(word: &Word) -> bool {
    let option = word.text.to_ascii_lowercase();
    option.len() > 1 && "-command".starts_with(&option)
}

/// Returns whether a command runs a text or a method that is not read, or moves the shell within a block.
fn runs_anything(command: &SimpleCommand) -> bool {
    let Some((program, arguments)) = command.words.split_first() else { return false };
    match &*base_name(&program.text) {
        "cd" | "pushd" | "popd" => command.frame.substituted,
        // As another user.
        "start-process" => arguments.iter().any(|word| word.text.eq_ignore_ascii_case("-verb")),
        // A word that is no block is the name of a method.
        "foreach-object" => arguments.iter().any(|word| !word.text.starts_with(['$', '-'])),
        name => POWERSHELL_RUNNERS.contains(&name),
    }
}

/// Gives `Remove-Item` the items that a listing before it in the pipeline names: `-Include bin,obj`.
fn add_piped_items(command: &mut SimpleCommand, before: &[SimpleCommand]) {
    let Some((program, arguments)) = command.words.split_first() else { return };
    let has_operand = arguments.iter().any(|word| !word.text.starts_with('-'));
    let removes = matches!(&*base_name(&program.text), "remove-item" | "ri" | "rm" | "del");
    if !removes || has_operand {
        return;
    }
    for other in before {
        if other.frame.pipeline != command.frame.pipeline
            || other.frame.wrappers != command.frame.wrappers
        {
            continue;
        }
        let (mut directory, mut option) = (".", "");
        for word in other.words.get(1..).unwrap_or_default() {
            let is_name =
                ["-include", "-filter"].iter().any(|one| one.eq_ignore_ascii_case(option));
            if word.text.starts_with('-') {
                option = &word.text;
            } else if is_name {
                command.words.push(word.clone().behind(&format!("{directory}/")));
            } else {
                directory = &word.text;
            }
        }
    }
}

/// A text for PowerShell, as far as it is written as one for a POSIX shell: with a substitution for what stands
/// in brackets, `echo` before an expression, which prints its value, and `/` for a backslash.
struct Translation<'t> {
    text: &'t str,
    at: usize,
    posix: String,
    /// Whether a command begins here.
    begins: bool,
    /// Where the expression begins that stands in the place of a command.
    expression: Option<usize>,
    /// The brackets and quotes that are open: the letter that ends each, and the expression around it.
    open: Vec<(char, Option<usize>)>,
}

impl<'t> Translation<'t> {
    fn of(text: &'t str) -> Option<String> {
        let (posix, open) = (String::new(), Vec::new());
        let mut new = Self { text, at: 0, posix, begins: true, expression: None, open };
        while let Some(letter) = new.rest().chars().next() {
            if matches!(new.open.last(), Some(('"' | '@', _))) {
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

    fn before(&self) -> char {
        self.text[..self.at].chars().next_back().unwrap_or(' ')
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

    fn begin_command(&mut self) {
        (self.begins, self.expression) = (true, None);
    }

    fn begin_expression(&mut self) {
        (self.begins, self.expression) = (false, Some(self.posix.len()));
        self.posix.push_str("echo ");
    }

    /// Begins what stands in the place of a command. Returns whether its first word was read.
    fn begin(&mut self, letter: char) -> bool {
        let rest = self.rest();
        if letter.is_whitespace() || "#;|)}]`".contains(letter) {
            return false;
        }
        self.begins = false;
        if rest.starts_with("& ") {
            self.at += 2;
            return true;
        }
        if "$'\"({[@-!".contains(letter) || letter.is_ascii_digit() {
            self.begin_expression();
            return false;
        }
        let word = rest.split([' ', '\t', '\n', '(', '{', ';', '|']).next().unwrap_or_default();
        let name = word.to_ascii_lowercase();
        let is_piped = self.posix.trim_end().ends_with('|');
        if POWERSHELL_KEYWORDS.contains(&&*name) && !is_piped {
            // A condition, a block or a command follows.
            self.write(word.len(), "echo;");
            self.begins = true;
            return true;
        }
        if let Some(program) = program_of_alias(&name) {
            self.write(word.len(), program);
            self.posix.push(' ');
            return true;
        }
        false
    }

    /// Reads what begins with a letter outside of quotes.
    fn plain(&mut self, letter: char) -> Option<()> {
        let rest = self.rest();
        match letter {
            ' ' if self.expression.is_some() && rest.starts_with(" in ") => {
                // A command may print the items of a loop.
                self.write(" in ".len(), ";");
                self.begin_command();
            }
            ' ' | '\t' => self.copy(1),
            '`' if rest.starts_with("`\n") => self.write(2, " "),
            '#' if self.is_before_word() => self.at += rest.find('\n').unwrap_or(rest.len()),
            '&' if rest.starts_with("&&") => {
                self.copy(2);
                self.begin_command();
            }
            '&' if rest.starts_with("&1") && self.posix.ends_with("2>") => self.copy(1),
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
            '(' | '{' | '[' => self.open(letter)?,
            ')' | '}' | ']' => {
                let (end, expression) = self.open.pop()?;
                if end != letter {
                    return None;
                }
                self.write(1, ")");
                (self.begins, self.expression) = (false, expression);
            }
            '\'' if self.is_before_word() => {
                let (text, _) = rest[1..].split_once('\'')?;
                self.literal(text, text.len() + 2)?;
            }
            '"' if self.is_before_word() => {
                // It expands a `~` also in quotes.
                if rest.starts_with("\"~") {
                    self.write(1, "~");
                }
                self.write(1, "\"");
                self.open.push(('"', self.expression));
            }
            // `-Path:x` is `-Path x`.
            ':' if self.is_behind_option() => self.write(1, " "),
            _ if letter.is_ascii_alphanumeric() || "_-./:=+*?~!%@>".contains(letter) => {
                self.copy(1);
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns whether a word, or a part of one that may have quotes, begins here.
    fn is_before_word(&self) -> bool {
        self.before().is_ascii_whitespace() || "=,;|([{:!+".contains(self.before())
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
        if text.is_empty() {
            self.posix.push_str("''");
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
        let is_document = matches!(self.open.last(), Some(('@', _)));
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
            '$' if self.rest().starts_with("$ ") || self.rest().starts_with("$\"") => {
                self.write(1, "\\$");
            }
            '$' => self.variable()?,
            '`' => {
                let escaped = self.rest()[1..].chars().next()?;
                let meant = match escaped {
                    'n' | 'r' => "\n",
                    't' => "\t",
                    '"' => "\\\"",
                    '$' => "\\$",
                    _ => return None,
                };
                self.write(2, meant);
            }
            '\\' => self.write(1, "/"),
            // PowerShell expands a wildcard also in quotes.
            _ if is_wildcard(letter) => {
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
        if let Some(inside) = rest.strip_prefix("@'\n") {
            let (text, _) = inside.split_once("\n'@")?;
            return self.literal(text, text.len() + 6);
        }
        if rest.starts_with("@\"\n") {
            self.write(3, "\"");
            self.open.push(('@', self.expression));
            return Some(());
        }
        match rest[1..].chars().next()? {
            '(' | '{' => self.at += 1,
            letter if letter.is_ascii_alphabetic() => self.write(1, "$"),
            _ => return None,
        }
        Some(())
    }

    /// Opens a bracket, behind the name of a method only if that is in the list.
    fn open(&mut self, letter: char) -> Option<()> {
        let before = &self.text[..self.at];
        let plain = before.trim_end_matches(|one: char| one.is_ascii_alphanumeric() || one == '_');
        let name = before[plain.len()..].to_ascii_lowercase();
        let is_method = letter == '(' && !name.is_empty() && plain.ends_with(['.', ':']);
        if is_method && !POWERSHELL_METHODS.contains(&&*name) {
            return None;
        }
        // Only in an expression it belongs to what stands before it.
        if self.expression.is_none() && !name.is_empty() {
            self.posix.push(' ');
        }
        let end = match letter {
            '(' => ')',
            '{' => '}',
            _ => ']',
        };
        self.open.push((end, self.expression));
        self.write(1, "$(");
        self.begin_command();
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
        let name = self.posix[start..].trim_start_matches("echo ").trim().trim_start_matches('$');
        let is_plain = name.bytes().all(|one| one.is_ascii_uppercase() || one == b'_');
        let value = self.rest().trim_start();
        if is_plain && value.starts_with(|one: char| one.is_ascii_digit() || "$'\"".contains(one)) {
            let export = format!("export {name}=");
            self.posix.truncate(start);
            self.write(self.rest().len() - value.len(), &export);
        } else {
            self.posix.push(';');
            self.begins = true;
        }
    }

    /// Reads a variable, or what stands in `$(...)`. Case does not matter to PowerShell, so the variables of the
    /// environment have large letters, and its own small ones.
    fn variable(&mut self) -> Option<()> {
        let behind = &self.rest()[1..];
        if behind.starts_with('(') {
            self.at += 1;
            return self.open('(');
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
            ("env", name) => format!("${}", name.to_ascii_uppercase()),
            ("" | "script" | "global" | "local" | "private" | "using", name) => format!("${name}"),
            _ => return None,
        };
        self.write(length, &variable);
        Some(())
    }
}

/// Returns the program that a name of PowerShell stands for, if it is known by another one.
fn program_of_alias(name: &str) -> Option<&'static str> {
    Some(match name {
        "%" | "foreach" => "foreach-object",
        "?" => "where-object",
        "select" => "select-object",
        "start" | "saps" => "start-process",
        "cd.." => "cd ..",
        "sl" | "set-location" => "cd",
        "push-location" => "pushd",
        "pop-location" => "popd",
        "copy-item" | "copy" | "cpi" => "cp",
        "move-item" | "move" | "mi" | "rename-item" | "ren" | "rni" => "mv",
        _ => return None,
    })
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
            ("if (a b) { c } else { d }", "echo; echo $(a b) $( c ) else $( d )"),
            ("foreach ($x in a b) { return c }", "echo; echo $(echo $x;a b) $( echo; c )"),
            (
                "a | ? { $_ -eq 1 } | %{b}",
                "a | where-object  $( echo $_ -eq 1 ) | foreach-object $(b)",
            ),
            ("(a b).AddDays(-1)[0]", "echo $(a b).AddDays$(echo -1)$(echo 0)"),
            ("a(b) @{c='d'}", "a $(b) $(c=d)"),
            ("[a.b]::c", "echo $(echo a.b)::c"),
            ("a `\nb && c # d 'e", "a  b && c "),
            ("a '*.b' \"c*~d\" '~/e' \"~/f\"", "a *.b \"c\"*\"\"~\"d\" ~/e ~\"/f\""),
            ("a \"b `\"c`\" $(d \"e\") `$f\"", "a \"b \\\"c\\\" $(d \"e\") \\$f\""),
            ("a @'\n'b' $c\n'@", "a ''\\''b'\\'' $c'"),
            ("a @\"\n\"b\" $(c)\n\"@ d", "a \"\\\"b\\\" $(c)\" d"),
            ("sl a; cd..; copy b c", "cd  a; cd .. ; cp  b c"),
            ("a @b c@d 2>&1", "a $b c@d 2>&1"),
        ] {
            assert_eq!(Translation::of(text).unwrap_or_default(), posix, "{text}");
        }
        for text in [
            "$x.a()", "[a]::b(c)", "a & b", "a )", "a (b", "a (b}", "'a''b'", "a'b'", "'a'b", "'a",
            "\"a\"\"b\"", "\"$a:b\"", "\"`a\"", "a <b", "a *>&1", "\u{2018}a\u{2019}",
            "'a\u{201c}'", "a \u{2013}b", "a @'\nb",
        ] {
            assert_eq!(Translation::of(text), None, "{text}");
        }
    }
}
