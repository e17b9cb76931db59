//! Patterns of commands: words with alternatives, read once.

use std::borrow::Cow;
use std::sync::OnceLock;

use hookexec::config::Groups as OwnGroups;
use hookexec_files::suggest;

use super::arguments::Arguments;
use super::groups::{Groups, is_group, shipped};
use super::listed::is_run_as;
use super::table::Row;
use crate::names::RUNNERS;
use hookexec_calls::{Hidden, Word};
use hookexec_files::glob::{glob, glob_any_case};

/// A pattern of a command, such as `git push -f|--mirror`.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) written: String,
    pub(super) programs: Vec<Cow<'static, str>>,
    /// Whether it is for every program but those.
    pub(super) other: bool,
    pub(super) words: Vec<PatternWord>,
    /// Words of which the command may have none: `!WORD`.
    pub(super) without: Vec<PatternWord>,
}

/// A word of a pattern behind the program.
#[derive(Debug)]
pub(super) struct PatternWord {
    pub(super) alternatives: Vec<Alternative>,
    /// The cluster that it is a part of. An allow takes it as it is written.
    pub(super) cluster: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Alternative {
    /// `*` alone: any words, or none.
    Any,
    /// A word, in which `*` stands for any letters.
    Word(Cow<'static, str>),
    /// An option, and its value if one is wanted.
    Option(Cow<'static, str>, Option<Cow<'static, str>>),
    /// A word that holds the value of a variable with such a name; `*` for every word of which a
    /// part is not known.
    Variable(String),
}

impl Alternative {
    fn of(text: Cow<'static, str>) -> Self {
        match &*text {
            "*" => Self::Any,
            option if option.starts_with('-') && option.len() > 1 => Self::Option(text, None),
            variable if variable.starts_with('$') && !variable.starts_with("$(") => {
                Self::Variable(variable[1..].to_owned())
            }
            _ => Self::Word(text),
        }
    }

    pub(super) fn is_option(&self) -> bool {
        matches!(self, Self::Option(..))
    }

    /// Returns whether it names an operand.
    fn is_operand(&self) -> bool {
        matches!(self, Self::Word(text) if !is_assignment(text))
    }
}

impl PatternWord {
    pub(super) fn is_any(&self) -> bool {
        matches!(self.alternatives[..], [Alternative::Any])
    }

    /// Returns whether it stands for all options of an allow, or none: `-*`.
    pub(super) fn is_any_option(&self) -> bool {
        matches!(&self.alternatives[..], [Alternative::Option(name, None)] if name == "-*")
    }

    /// Returns whether all its alternatives are words: it then names an operand.
    pub(super) fn is_operand(&self) -> bool {
        self.alternatives.iter().all(Alternative::is_operand)
    }
}

/// Beginnings of items of shipped groups that are words, and no patterns.
pub(super) const WORDS: [char; 2] = ['-', '$'];

/// A pattern of a list. One of a shipped group is read once a command may fit it.
#[derive(Debug)]
pub(super) struct ListedPattern {
    written: Cow<'static, str>,
    read: OnceLock<Box<Pattern>>,
}

impl ListedPattern {
    /// Reads an item of `commands`: a pattern, or a group of them.
    pub(super) fn list(written: &str, groups: &Groups<'_>) -> Result<Vec<Self>, Mistake> {
        if !is_group(written) {
            check(written)?;
        }
        let (mut patterns, are_replaced) = (Vec::new(), groups.replace_shipped_ones());
        for written in groups.of_kind(written, "commands")? {
            let read = OnceLock::new();
            // Shipped patterns have no mistakes, but there are also groups of words.
            let is_own = are_replaced || matches!(written, Cow::Owned(_));
            if is_own || written.starts_with(WORDS) {
                let pattern = Pattern::parse(&written, groups)?;
                pattern.check_subcommand()?;
                let _ = read.set(Box::new(pattern));
            }
            patterns.push(Self { written, read });
        }
        Ok(patterns)
    }

    /// Returns the pattern, unless it is for other programs than that of a command that hides nothing.
    pub(super) fn for_command(&self, given: &Arguments<'_>) -> Option<&Pattern> {
        if let Some(program) = &given.program
            && given.command.hidden == Hidden::Nothing
            && self.read.get().is_none()
            && !begins_with(&self.written, program)
        {
            return None;
        }
        #[expect(clippy::expect_used, reason = "a test reads all shipped patterns")]
        Some(self.read.get_or_init(|| {
            let groups = OwnGroups::default();
            Box::new(Pattern::parse(&self.written, &Groups(&groups)).expect("it is shipped"))
        }))
    }
}

/// Returns whether a pattern that is shipped may be for a program.
fn begins_with(written: &str, program: &str) -> bool {
    let first = written.split(' ').next().unwrap_or_default();
    for name in first.as_bytes().split(|byte| *byte == b'|') {
        let may_be = match name {
            [b'!', ..] => true,
            [b'@', ..] => {
                let name = std::str::from_utf8(name).unwrap_or_default();
                let mut items = shipped(name).unwrap_or_default().iter();
                items.any(|item| begins_with(item, program))
            }
            wild if wild.contains(&b'*') => {
                glob_any_case(std::str::from_utf8(wild).unwrap_or_default(), program)
            }
            plain => plain.eq_ignore_ascii_case(program.as_bytes()),
        };
        if may_be {
            return true;
        }
    }
    false
}

/// A mistake in a pattern: the message and the remedy.
pub(super) type Mistake = (String, String);

impl Pattern {
    pub(super) fn parse(written: &str, groups: &Groups<'_>) -> Result<Self, Mistake> {
        let mut written_words = written.split_whitespace();
        let Some(first) = written_words.next() else {
            let hint = "write a program and some of its words, such as `git push -f`";
            return mistake("the pattern is empty", hint);
        };
        let other = first.strip_prefix('!');
        let mut programs = Vec::new();
        for name in other.unwrap_or(first).split('|') {
            programs.extend(groups.expanded(name)?);
        }
        for name in &programs {
            if name.starts_with(['-', '$']) || name.contains('=') {
                let message = format!("a pattern begins with a program, not with `{name}`");
                let hint = format!("write it behind the program, or `* {name}` for every one");
                return mistake(message, hint);
            }
        }
        let written = written.to_owned();
        let (other, words, without) = (other.is_some(), Vec::new(), Vec::new());
        let mut parsed = Self { written, programs, other, words, without };
        // The words of statements are read in small letters.
        let is_sql = parsed.programs == ["sql"];
        for word in written_words {
            let is_small = is_sql && !is_assignment(word);
            let word = if is_small { word.to_lowercase() } else { word.to_owned() };
            parsed.add(&word, groups)?;
        }
        Ok(parsed)
    }

    fn add(&mut self, written: &str, groups: &Groups<'_>) -> Result<(), Mistake> {
        let excluded = written.strip_prefix('!').unwrap_or_default();
        let text = if excluded.is_empty() { written } else { excluded };
        let (mut alternatives, mut cluster) = (Vec::new(), None);
        for text in text.split('|') {
            if let Some((name, value)) = text.split_once('=')
                && name.starts_with('-')
                && self.letters(name).len() != 1
            {
                for value in groups.expanded(value)? {
                    let name = Cow::Owned(name.to_owned());
                    alternatives.push(Alternative::Option(name, Some(value)));
                }
                continue;
            }
            for text in groups.expanded(text)? {
                let mut letters = self.letters(&text);
                match letters.len() {
                    0 => alternatives.push(Alternative::of(text)),
                    1 => {
                        alternatives.append(&mut letters[0].alternatives);
                        cluster = letters[0].cluster.take();
                    }
                    _ if written.contains(['|', '@', '!']) => {
                        alternatives.push(Alternative::of(text));
                    }
                    _ => {
                        self.words.append(&mut letters);
                        return Ok(());
                    }
                }
            }
        }
        if !excluded.is_empty() {
            self.without.push(PatternWord { alternatives, cluster });
            return Ok(());
        }
        // A word behind an option that takes a value is the value: `curl -X DELETE`.
        if alternatives.iter().all(|one| matches!(one, Alternative::Word(_)))
            && let Some(name) = self.open_option()
        {
            for one in &mut alternatives {
                if let Alternative::Word(value) = one {
                    *one = Alternative::Option(name.clone(), Some(std::mem::take(value)));
                }
            }
            self.words.pop();
        }
        self.words.push(PatternWord { alternatives, cluster });
        Ok(())
    }

    /// Returns the words for the options that are written as one: those of `-r -f` for `-rf`. Behind a
    /// letter that takes a value the rest is the value: `-DskipTests` is also `-D skipTests=true`.
    fn letters(&self, cluster: &str) -> Vec<PatternWord> {
        let mut found = Vec::new();
        let (Some(program), Some(letters)) = (self.programs.first(), cluster.strip_prefix('-'))
        else {
            return found;
        };
        if letters.starts_with('-') || letters.len() < 2 {
            return found;
        }
        let row = self.row(program);
        if row.long || !row.is_known || row.names(cluster) {
            return found;
        }
        for (start, letter) in letters.char_indices() {
            if !letter.is_alphanumeric() {
                return Vec::new();
            }
            let (name, rest) = (format!("-{letter}"), &letters[start + letter.len_utf8()..]);
            let takes_value = row.takes_value(&name);
            let name = Cow::<str>::Owned(name);
            let (mut alternatives, cluster) = (Vec::new(), Some(cluster.to_owned()));
            if takes_value && !rest.is_empty() {
                for value in [rest.to_owned(), format!("{rest}=*")] {
                    alternatives.push(Alternative::Option(name.clone(), Some(Cow::Owned(value))));
                }
                found.push(PatternWord { alternatives, cluster });
                break;
            }
            alternatives.push(Alternative::Option(name, None));
            found.push(PatternWord { alternatives, cluster });
        }
        found
    }

    /// Returns the last word if it is an option that takes a value, and has none.
    fn open_option(&self) -> Option<Cow<'static, str>> {
        let last = self.words.last()?;
        let [Alternative::Option(name, None)] = &last.alternatives[..] else { return None };
        let mut programs = self.programs.iter();
        let takes_value = programs.any(|program| self.row(program).takes_value(name));
        if takes_value { Some(name.clone()) } else { None }
    }

    /// Returns the rows of a program, with those of the subcommand that the pattern names.
    pub(super) fn row(&self, program: &str) -> Row {
        if let Some(first) = self.words.iter().find(|word| word.is_operand())
            && let [Alternative::Word(name), ..] = &first.alternatives[..]
        {
            return Row::of(program, name);
        }
        Row::of(program, "")
    }

    /// Returns the pattern of the command that a runner with these words runs at its end: `pytest *` of
    /// `uv run pytest *`, if the runner has the words before it as they are written.
    pub(super) fn behind(&self, runner: &[Word], command: &[Word]) -> Option<Self> {
        let before = runner.len().checked_sub(command.len())?;
        let written: Vec<&str> = self.written.split_whitespace().collect();
        let (first, rest) = written.split_at_checked(before)?;
        // A group, a `!` and a `*` for the program can't be compared word by word.
        if rest.first()?.contains('*') || self.written.contains(['!', '@']) {
            return None;
        }
        for (word, given) in first.iter().zip(runner) {
            if !given.is_known() || !word.split('|').any(|one| one == given.text) {
                return None;
            }
        }
        if !is_run_as(&runner[before..], command) {
            return None;
        }
        let own = OwnGroups::default();
        Self::parse(&rest.join(" "), &Groups(&own)).ok()
    }

    /// Returns whether the pattern is for a program of this base name.
    pub(super) fn is_for(&self, program: &str) -> bool {
        self.is_named(program) != self.other
    }

    /// Returns whether it names a program of this base name, in whatever case.
    pub(super) fn is_named(&self, program: &str) -> bool {
        self.programs.iter().any(|name| glob_any_case(base(name), program))
    }

    /// Returns whether it is for every program, or for all but some.
    pub(super) fn is_for_many(&self) -> bool {
        self.other || self.programs.contains(&Cow::Borrowed("*"))
    }

    /// Returns whether a command has exactly the words of the pattern, if these stand for nothing else.
    pub(super) fn is_written_as(&self, command: &[Word]) -> bool {
        if self.written.contains(['|', '*', '!', '@', '$']) {
            return false;
        }
        let mut written = self.written.split_whitespace();
        command.iter().all(|word| word.is_known() && written.next() == Some(&word.text))
            && written.next().is_none()
    }

    /// Returns whether it names a file by a relative path, which is another file in another directory.
    pub(super) fn names_file(&self) -> bool {
        for word in &self.words {
            for one in &word.alternatives {
                if let Alternative::Word(text) | Alternative::Option(_, Some(text)) = one
                    && text.contains(['/', '.'])
                    && !text.starts_with(['/', '~', '*'])
                    && !matches!(&**text, "." | "./...")
                {
                    return true;
                }
            }
        }
        false
    }

    /// Returns the known option that an unknown one is nearly equal to.
    pub(super) fn nearly(&self, option: &str) -> Option<&'static str> {
        let name = option.split('=').next().unwrap_or_default();
        if !name.starts_with("--") {
            return None;
        }
        for program in &self.programs {
            if let Some(known) = self.row(program).nearly(name) {
                return Some(known);
            }
        }
        None
    }

    /// Refuses a subcommand that the program does not have.
    pub(super) fn check_subcommand(&self) -> Result<(), Mistake> {
        let [program] = &self.programs[..] else { return Ok(()) };
        // `pnpm lint` runs a script of the project.
        if RUNNERS.contains(&&**program) {
            return Ok(());
        }
        let Some(first) = self.words.iter().find(|word| word.is_operand() || word.is_any()) else {
            return Ok(());
        };
        let known = Row::of(program, "").subcommands;
        for one in &first.alternatives {
            let Alternative::Word(name) = one else { continue };
            if known.iter().any(|known| glob(name, known)) {
                continue;
            }
            // Any other name may be an alias.
            if let Some(hint) = suggest::hint(name, known.iter().copied()) {
                return mistake(format!("`{program}` has no subcommand `{name}`"), hint);
            }
        }
        Ok(())
    }
}

/// Returns whether a word of a pattern is an assignment before the program: `SKIP=*`.
fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    name.starts_with(|letter: char| letter.is_ascii_uppercase() || letter == '_')
        && !name.contains(|letter: char| {
            !letter.is_ascii_uppercase() && !"_*0123456789".contains(letter)
        })
}

/// Returns the base name of a program in a pattern.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Letters with a meaning for a shell, which no word has.
const QUOTES: [char; 12] = ['"', '\'', '`', '\\', ';', '&', '<', '>', '[', ']', '{', '}'];
/// The remedy for a word that is not plain.
const PLAIN: &str = "write plain words; `*` in a word stands for any letters";

/// Refuses what no command can fit.
fn check(written: &str) -> Result<(), Mistake> {
    if let Some((tool, _)) = written.split_once('(')
        && !tool.contains(|letter: char| !letter.is_ascii_alphanumeric())
    {
        let hint = "write the words of the command: `git log *` for `Bash(git log:*)`";
        return mistake(format!("`{tool}(...)` is a permission rule of an agent"), hint);
    }
    for word in written.split([' ', '\t', '\n', '|']) {
        if !matches!(word, "[" | "[[" | "]" | "]]")
            && let Some(letter) = word.matches(QUOTES).next()
        {
            let message = format!("no command fits a pattern with `{letter}` in it");
            let is_list = written.starts_with('[') && written.ends_with(']');
            let hint = if is_list { "remove the quotes around the list" } else { PLAIN };
            return mistake(message, hint);
        }
    }
    if written.starts_with('^') || written.ends_with('$') || written.contains(" (") {
        let message = "a pattern takes plain words, and this looks like a regular expression";
        return mistake(message, PLAIN);
    }
    for word in written.split_whitespace() {
        if let Some((option, value)) = word.split_once('|')
            && option.starts_with('-')
            && let Some((name, _)) = option.split_once('=')
            && !value.contains(['-', '=', '@', '$'])
        {
            let hint = format!("write `{option}|{name}={value}` for another value of the option");
            return mistake(format!("`{value}` is an operand in `{word}`"), hint);
        }
        if word.ends_with(',') {
            return mistake("`,` ends a word", "write each pattern as an item of the list");
        }
        if word.starts_with('|') || word.ends_with('|') || word.contains("||") {
            let hint = "write `a|b` without blanks for one of two words, and one pattern for each command of a pipe";
            return mistake("`|` stands between two words", hint);
        }
    }
    Ok(())
}

/// Returns a mistake in the place of what was to be read.
pub(super) fn mistake<T>(
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Result<T, Mistake> {
    Err((message.into(), hint.into()))
}
