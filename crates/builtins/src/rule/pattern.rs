//! Patterns of commands: words with alternatives, read once.

use std::borrow::Cow;

use hookexec_files::suggest;

use super::glob::{glob, glob_any_case};
use super::groups::{Groups, ItemKind, is_group};
use super::table::Row;

/// A pattern of a command, such as `git push -f|--mirror`.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) written: String,
    pub(super) programs: Vec<Cow<'static, str>>,
    /// Whether each of them is a name without a directory and a `*`.
    has_plain_names: bool,
    /// Whether it is for every program but those.
    pub(super) other: bool,
    pub(super) words: Vec<PatternWord>,
}

/// A word of a pattern behind the program.
#[derive(Debug)]
pub(super) struct PatternWord {
    /// Whether no word of the command may be like it.
    pub(super) negated: bool,
    pub(super) alternatives: Vec<Alternative>,
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
    pub(super) fn is_option(&self) -> bool {
        matches!(self, Self::Option(..))
    }

    /// Returns whether it names an operand.
    fn is_word(&self) -> bool {
        matches!(self, Self::Word(text) if !is_assignment(text))
    }
}

impl PatternWord {
    pub(super) fn is_any(&self) -> bool {
        !self.negated && matches!(self.alternatives[..], [Alternative::Any])
    }

    /// Returns whether all its alternatives are words: it then names an operand.
    pub(super) fn is_operand(&self) -> bool {
        !self.negated && self.alternatives.iter().all(Alternative::is_word)
    }
}

/// A mistake in a pattern: the message and the remedy.
pub(super) type Mistake = (String, String);

impl Pattern {
    /// Reads an item of `commands`: a pattern, or a group of them.
    pub(super) fn list(written: &str, groups: &Groups<'_>) -> Result<Vec<Self>, Mistake> {
        if !is_group(written) {
            check(written)?;
            return Ok(vec![Self::parse(written, groups)?]);
        }
        let items = groups.of_kind(written, ItemKind::Commands)?;
        let mut patterns = Vec::new();
        for item in &items {
            patterns.push(Self::parse(item, groups)?);
        }
        Ok(patterns)
    }

    fn parse(written: &str, groups: &Groups<'_>) -> Result<Self, Mistake> {
        let mut words = written.split_whitespace();
        let Some(first) = words.next() else {
            let hint = "write a program and some of its words, such as `git push -f`";
            return Err(("the pattern is empty".to_owned(), hint.to_owned()));
        };
        let other = first.strip_prefix('!');
        let mut programs = Vec::new();
        for name in other.unwrap_or(first).split('|') {
            programs.extend(groups.expanded(name)?);
        }
        if let Some(name) =
            programs.iter().find(|name| name.starts_with(['-', '$']) || name.contains('='))
        {
            let message = format!("a pattern begins with a program, not with `{name}`");
            return Err((
                message,
                format!("write it behind the program, or `* {name}` for every one"),
            ));
        }
        let has_plain_names = !programs.iter().any(|name| name.contains(['/', '*']));
        let mut parsed = Self {
            written: written.to_owned(),
            programs,
            has_plain_names,
            other: other.is_some(),
            words: Vec::new(),
        };
        // The words of statements are read in small letters.
        let is_sql = parsed.programs == ["sql"];
        for word in words {
            if is_sql && !is_assignment(word) {
                parsed.add(&word.to_lowercase(), groups)?;
            } else {
                parsed.add(word, groups)?;
            }
        }
        parsed.check_subcommand()?;
        Ok(parsed)
    }

    fn add(&mut self, written: &str, groups: &Groups<'_>) -> Result<(), Mistake> {
        let negated = written.starts_with('!') && written.len() > 1;
        let mut alternatives = Vec::new();
        for text in written.strip_prefix('!').filter(|_| negated).unwrap_or(written).split('|') {
            match text.split_once('=').filter(|(name, _)| name.starts_with('-')) {
                Some((name, value)) => {
                    for value in groups.expanded(value)? {
                        alternatives
                            .push(Alternative::Option(Cow::Owned(name.to_owned()), Some(value)));
                    }
                }
                None => alternatives.extend(groups.expanded(text)?.into_iter().map(plain)),
            }
        }
        // A word behind an option that takes a value is the value: `curl -X DELETE`.
        if let Some(last) = self.words.last()
            && !negated
            && !matches!(alternatives[..], [Alternative::Any])
            && let [Alternative::Option(name, None)] = &last.alternatives[..]
            && !last.negated
            && self.programs.iter().any(|program| self.row(program).takes_value(name))
            && alternatives.iter().all(|one| matches!(one, Alternative::Word(_)))
        {
            let name = name.clone();
            for one in &mut alternatives {
                if let Alternative::Word(value) = one {
                    *one = Alternative::Option(name.clone(), Some(value.clone()));
                }
            }
            self.words.pop();
        }
        self.words.push(PatternWord { negated, alternatives });
        Ok(())
    }

    /// Returns the rows of a program, with those of the subcommand that the pattern names.
    pub(super) fn row(&self, program: &str) -> Row {
        let first = self.words.iter().find(|word| word.is_operand());
        match first.map(|word| &word.alternatives[0]) {
            Some(Alternative::Word(name)) => Row::of(program, Some(name)),
            _ => Row::of(program, None),
        }
    }

    /// Returns whether the pattern is for a program of this base name.
    pub(super) fn is_for(&self, program: &str) -> bool {
        self.is_named(program) != self.other
    }

    /// Returns whether it names a program of this base name, in whatever case.
    pub(super) fn is_named(&self, program: &str) -> bool {
        self.programs.iter().any(|name| {
            if self.has_plain_names {
                name.eq_ignore_ascii_case(program)
            } else {
                glob_any_case(base(name), program)
            }
        })
    }

    /// Returns whether it is for every program, or for all but some.
    pub(super) fn is_for_many(&self) -> bool {
        self.other || self.programs.iter().any(|name| name == "*")
    }

    /// Refuses a subcommand that the program does not have.
    fn check_subcommand(&self) -> Result<(), Mistake> {
        let [program] = &self.programs[..] else { return Ok(()) };
        let Some(first) = self.words.iter().find(|word| word.is_operand() || word.is_any()) else {
            return Ok(());
        };
        let row = Row::of(program, None);
        for one in &first.alternatives {
            let Alternative::Word(name) = one else { continue };
            if row.subcommands.iter().any(|known| glob(name, known)) {
                continue;
            }
            // Any other name may be an alias.
            if let Some(hint) = suggest::hint(name, row.subcommands.iter().copied()) {
                return Err((format!("`{program}` has no subcommand `{name}`"), hint));
            }
        }
        Ok(())
    }
}

/// Returns whether a word of a pattern is an assignment before the program: `SKIP=*`.
fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

fn plain(text: Cow<'static, str>) -> Alternative {
    match &*text {
        "*" => Alternative::Any,
        option if option.starts_with('-') && option.len() > 1 => Alternative::Option(text, None),
        variable if variable.starts_with('$') && !variable.starts_with("$(") => {
            Alternative::Variable(variable[1..].to_owned())
        }
        _ => Alternative::Word(text),
    }
}

/// Returns the base name of a program in a pattern.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The remedy for a word that is not plain.
const PLAIN: &str = "write plain words; `*` in a word stands for any letters";

/// Refuses what no command can fit.
fn check(written: &str) -> Result<(), Mistake> {
    if let Some((tool, _)) = written.split_once('(')
        && tool.chars().all(|letter| letter.is_ascii_alphanumeric())
    {
        let hint = "write the words of the command: `git log *` for `Bash(git log:*)`";
        return mistake(&format!("`{tool}(...)` is a permission rule of an agent"), hint);
    }
    let words = written.split([' ', '\t', '\n', '|']);
    let bare = words.filter(|word| !matches!(*word, "[" | "[[" | "]" | "]]"));
    let quote = bare.flat_map(str::chars).find(|letter| "\"'`\\;&<>[]{}".contains(*letter));
    if let Some(letter) = quote {
        let message = format!("no command fits a pattern with `{letter}` in it");
        return mistake(&message, PLAIN);
    }
    if written.split_whitespace().any(|word| word.ends_with(',')) {
        return mistake("`,` ends a word", "write each pattern as an item of the list");
    }
    if written.starts_with('^') || written.ends_with('$') || written.contains(" (") {
        let message = "a pattern takes plain words, and this looks like a regular expression";
        return mistake(message, PLAIN);
    }
    if written.split_whitespace().any(|word| word.split('|').any(str::is_empty)) {
        let hint = "write `a|b` without blanks for one of two words, and one pattern for each command of a pipe";
        return mistake("`|` stands between two words", hint);
    }
    Ok(())
}

fn mistake(message: &str, hint: &str) -> Result<(), Mistake> {
    Err((message.to_owned(), hint.to_owned()))
}
