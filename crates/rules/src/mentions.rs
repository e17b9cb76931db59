//! The files that a call mentions: in the words of its commands, or in the arguments of its tool.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use super::arguments::Arguments;
use super::implied::is_awk;
use super::judge::Checked;
use super::texts::{Texts, add_words};
use super::uses::{Touch, UsedWord, uses};
use crate::names::{CHANGING_CODE, SINKS};
use hookexec_calls::place::{Place, is_dir};
use hookexec_calls::tools::patch;
use hookexec_calls::{Certainty, Hidden, Redirection, Word, is_interpreter};
use hookexec_files::glob::has_part;

/// A word of a call that may be a file.
#[derive(Debug, Default)]
pub(super) struct Mention {
    /// The word, for people.
    pub(super) shown: String,
    pub(super) touch: Touch,
    /// Whether it is deleted or changed by a command.
    pub(super) is_target: bool,
    /// The number of its command.
    pub(super) command: Option<usize>,
    /// The absolute paths that it may be, with their wildcards.
    pub(super) paths: Vec<PathBuf>,
    /// The last part, if it may be a path that is not known; empty if that is not known either.
    pub(super) open: Option<String>,
    /// Everything that the word may mean.
    pub(super) texts: Texts,
    /// Whether it stands in a text that can't be read.
    pub(super) unsure: bool,
    /// How far the shell gives the program the text as it is. A known `.*` is for a program, and finds no files.
    pub(super) certainty: Certainty,
    /// Whether what lies below a directory is touched with it.
    pub(super) descends: bool,
    /// The name of what is touched below it, if not everything is: `id_*`.
    pub(super) wanted: Option<String>,
    /// Whether it is among all words that another program adds: what `find` gives to `xargs` as it is.
    pub(super) is_added: bool,
}

/// Returns the files that commands mention.
pub(super) fn of_commands(
    commands: &[Arguments<'_>],
    places: &[Rc<Place<'_>>],
) -> Checked<Vec<Mention>> {
    let (mut mentions, mut search) = (Vec::new(), None);
    for (at, given) in commands.iter().enumerate() {
        let (place, own) = (&places[at], Search::of(given, at));
        let descends = descends(given);
        let (before, own_search, mentions) = (search.as_ref(), own.as_ref(), &mut mentions);
        let outer = commands[..at].last();
        Finder { given, outer, at, place, before, own_search, descends, mentions }.add_all()?;
        search = own.or(search);
    }
    Ok(mentions)
}

/// A `find`.
struct Search<'f, 'c> {
    given: &'f Arguments<'c>,
    /// The number of its command.
    at: usize,
    /// The patterns of what it acts on.
    patterns: Vec<String>,
    /// Whether it names `.git`, to leave it out.
    leaves_git_out: bool,
}

impl<'f, 'c> Search<'f, 'c> {
    /// Returns the search that a command is.
    fn of(given: &'f Arguments<'c>, at: usize) -> Option<Self> {
        if given.program.as_deref() != Some("find") {
            return None;
        }
        let words = &given.command.words[1..];
        let leaves_git_out = words.iter().any(names_git);
        Some(Self { given, at, patterns: acted_on(words), leaves_git_out })
    }

    /// Returns the directories that it begins in: the operands before its first test.
    fn starts(&self) -> Vec<&str> {
        let Arguments { options, operands, .. } = self.given;
        let mut tests = options.iter();
        let count = match tests.find(|option| !matches!(&*option.name, "-H" | "-L" | "-P")) {
            Some(test) => test.operands_before,
            None => operands.len(),
        };
        let starts: Vec<&str> = operands[..count].iter().map(|word| &*word.text).collect();
        if starts.is_empty() { vec!["."] } else { starts }
    }
}

struct Finder<'f, 'c> {
    given: &'f Arguments<'c>,
    /// The command before it, which may run it.
    outer: Option<&'f Arguments<'c>>,
    at: usize,
    place: &'f Place<'f>,
    /// The `find` before it, which may run it, or from which `xargs` may get words for it.
    before: Option<&'f Search<'f, 'c>>,
    /// The command itself, if it is a `find`.
    own_search: Option<&'f Search<'f, 'c>>,
    /// Whether it goes through the directories that it names.
    descends: bool,
    mentions: &'f mut Vec<Mention>,
}

impl Mention {
    /// Returns what a word may be as a file; `words` are the texts in it that may be one.
    pub(super) fn of(word: &Word, words: &BTreeSet<String>, place: &Place<'_>) -> Checked<Self> {
        let mut texts = Texts::default();
        for one in words {
            texts.add_versions(one, place)?;
        }
        let expanded = place.expansions(word);
        place.scene.look(expanded.len())?;
        let (mut paths, mut open) = place.named(&expanded);
        // An address is in no directory.
        if word.text.contains("://") {
            (paths, open) = (vec![PathBuf::from(&word.text)], None);
        }
        let (shown, certainty) = (word.text.clone(), word.certainty);
        Ok(Self { shown, paths, open, texts, certainty, ..Self::default() })
    }
}

impl Finder<'_, '_> {
    fn add_all(&mut self) -> Checked<()> {
        let command = self.given.command;
        let program = self.given.program.as_deref().unwrap_or_default();
        // Any text in code may be a file.
        let is_code = is_interpreter(program) || is_awk(program);
        let is_run = matches!(command.frame.wrappers.last(), Some(name) if name == "find");
        if let Some(word) = command.words.first()
            && word.text.contains('/')
        {
            self.add(&UsedWord::of(word, Touch::READ), false)?;
        }
        for mut used in uses(self.given) {
            match (self.before, self.own_search) {
                (Some(search), _) if is_run && used.text == "{}" => {
                    self.add_found(search, &used.with_text(""))?;
                }
                (_, Some(search)) if used.is_target => self.add_found(search, &used)?,
                _ => {
                    // A loop over what `find` prints: `cat "$file"`.
                    if let Some(search) = self.before
                        && matches!(used.word.certainty, Certainty::OneWord | Certainty::Unknown)
                    {
                        self.add_found(search, &used.with_text(""))?;
                    }
                    if is_code {
                        used.touch = used.touch.with(touch_of_code(&used.text));
                    }
                    self.add(&used, is_code)?;
                }
            }
        }
        if self.given.file_operands().is_empty()
            && let Some(word) = command.words.first()
        {
            let used = UsedWord { is_target: true, ..UsedWord::of(word, Touch::DELETE) };
            let here = used.with_text(".");
            match self.own_search {
                Some(search) if self.given.has("-delete") => self.add_found(search, &here)?,
                None if self.given.is_git_clean() => self.add(&here, false)?,
                _ => {}
            }
        }
        if let Some(search) = self.before
            && command.frame.more
            && command.frame.pipeline == search.given.command.frame.pipeline
        {
            // `xargs` adds what was found at the end.
            let start = self.mentions.len();
            let mut whole = command.clone();
            whole.words.push(Word::unknown("{}"));
            for used in uses(&Arguments::of(&whole)) {
                if used.text == "{}" {
                    self.add_found(search, &used.with_text(""))?;
                }
            }
            // Nothing but `xargs` stands between the two, which reads no file.
            let are_all = self.at == search.at + 2
                && prints_only_names(&search.given.command.words)
                && !command.redirections.iter().any(Redirection::is_input)
                && self.outer.is_some_and(|xargs| !xargs.command.words.iter().any(may_read_file));
            for mention in &mut self.mentions[start..] {
                mention.is_added = are_all;
            }
        }
        if program == "apply_patch" {
            self.patches()?;
        }
        self.implied()?;
        for redirection in &command.redirections {
            let word = &redirection.word;
            match &*redirection.operator {
                "<" | "<&" => self.add(&UsedWord::of(word, Touch::READ), false)?,
                operator if !operator.starts_with("<<") => {
                    self.add(&UsedWord::of(word, Touch::WRITE), false)?;
                }
                _ if is_code => self.add(&UsedWord::of(word, touch_of_code(&word.text)), true)?,
                _ => {}
            }
        }
        if let Hidden::Words(words) = &command.hidden {
            for text in words {
                self.add(&UsedWord::of(&Word::known(text), Touch::ANY), true)?;
                if let Some(last) = self.mentions.last_mut() {
                    (last.unsure, last.certainty) = (true, Certainty::Unknown);
                }
            }
        }
        Ok(())
    }

    /// Adds the files of patches, which stand in an operand or a here-document.
    fn patches(&mut self) -> Checked<()> {
        let mut texts = self.given.operands.clone();
        texts.extend(self.given.command.documents());
        for text in texts {
            for edit in patch::edits(&text.text).unwrap_or_default() {
                let word = Word::known(&edit.path);
                self.add(&UsedWord::of(&word, Touch::of_patch(edit.touched)), false)?;
            }
        }
        Ok(())
    }

    /// Adds the files that no word names: the directory of a search without one, and what a copy is
    /// called in a directory.
    fn implied(&mut self) -> Checked<()> {
        let (given, command) = (self.given, self.given.command);
        let program = given.program.as_deref().unwrap_or_default();
        let Some(first) = command.words.first() else { return Ok(()) };
        let searches =
            matches!(program, "rg" | "ag" | "ack") || given.has("-r") && program == "grep";
        let has_pattern = given.has("-e") || given.has("-f");
        if searches && !command.frame.piped && given.operands.len() + usize::from(has_pattern) < 2 {
            self.add(&UsedWord::of(first, Touch::READ).with_text("."), false)?;
        }
        if let ("cp" | "mv" | "install" | "ln", [sources @ .., to]) = (program, &*given.operands)
            && (to.text.ends_with('/')
                || self.place.paths(&to.text).iter().flatten().any(|path| is_dir(path)))
        {
            for source in sources {
                let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                let copy = format!("{}/{name}", to.text);
                self.add(&UsedWord::of(to, Touch::WRITE).with_text(copy), false)?;
            }
        }
        Ok(())
    }

    /// Adds the files that `find` finds: below the text of a use, or below all its operands if that is
    /// empty. Where they lie is not known, so only the start and the name count as files.
    fn add_found(&mut self, search: &Search<'_, '_>, used: &UsedWord<'_>) -> Checked<()> {
        let starts = if used.text.is_empty() { search.starts() } else { vec![&*used.text] };
        for start in starts {
            for pattern in &search.patterns {
                let open = Word::unknown(&used.word.text);
                let found =
                    UsedWord { word: &open, text: format!("{start}/{pattern}").into(), ..*used };
                self.add(&found, false)?;
                let Some(mention) = self.mentions.last_mut() else { continue };
                mention.texts = Texts::default();
                mention.texts.add_versions(start, self.place)?;
                let name = pattern.rsplit('/').next().unwrap_or_default();
                if name != "*" {
                    mention.wanted = Some(name.to_owned());
                    mention.texts.add_pieces(name)?;
                }
                mention.descends = !search.leaves_git_out;
            }
        }
        Ok(())
    }

    /// Adds a file, or the files in code.
    fn add(&mut self, used: &UsedWord<'_>, is_code: bool) -> Checked<()> {
        let text = &*used.text;
        if text.is_empty() || SINKS.contains(&text) {
            return Ok(());
        }
        let mut words = BTreeSet::new();
        let mut divides = false;
        if is_code && text.contains([' ', '\n', '(', '"', '\'', ';', '`']) {
            add_words(text, &mut words);
            // A `/` divides, or ends a mark such as `[/]`, if it is not all that stands in quotes.
            divides = !text.contains("'/'") && !text.contains("\"/\"");
        }
        // A text of several lines names no path as a whole. Its lines are among the words.
        let is_path = !is_code || !text.contains('\n');
        if is_path {
            words.insert(text.to_owned());
        } else {
            words.retain(|word| !word.contains('\n'));
        }
        let meant = Word { text: text.to_owned(), ..used.word.clone() };
        let mut mention = Mention::of(&meant, &words, self.place)?;
        if divides {
            mention.texts.remove("/");
            mention.texts.remove("//");
        }
        if !is_path {
            (mention.paths, mention.open) = (Vec::new(), None);
        }
        mention.shown.clone_from(&used.word.text);
        (mention.touch, mention.is_target) = (used.touch, used.is_target);
        mention.command = Some(self.at);
        // Nothing of what a destination holds is touched.
        let may_descend = used.touch != Touch::WRITE && !is_remote(text);
        mention.descends = may_descend && self.descends || is_code && text.contains("tree(");
        self.mentions.push(mention);
        Ok(())
    }
}

/// Returns whether a `find` prints the names of what it finds and nothing else, and asks for no name with a
/// blank, at which `xargs` may divide it.
fn prints_only_names(words: &[Word]) -> bool {
    let others = ["print", "-ls", "-fls", "files0", "exec"];
    for word in words {
        let prints = matches!(&*word.text, "-print" | "-print0");
        if !prints && (has_part(&word.text, &others) || word.text.contains(char::is_whitespace)) {
            return false;
        }
    }
    true
}

/// Returns whether a word may be the option `-a FILE` of `xargs`.
fn may_read_file(word: &Word) -> bool {
    word.text.starts_with('-') && word.text.contains('a') || !word.is_known()
}

/// Returns whether a part of a word is `.git`, and not only begins so, as `.github` does.
fn names_git(word: &Word) -> bool {
    word.text.split('/').any(|part| part.trim_end_matches('*') == ".git")
}

/// Returns what code may do with the files that it names.
fn touch_of_code(code: &str) -> Touch {
    if has_part(code, CHANGING_CODE) || code.contains("> \"") { Touch::ANY } else { Touch::READ }
}

/// Returns whether a text is a path on another machine: `host:/x`.
fn is_remote(text: &str) -> bool {
    matches!(text.split_once(':'), Some((host, _)) if host.len() > 1 && !host.contains('/'))
}

/// Returns whether a command goes through the directories that it names.
fn descends(given: &Arguments<'_>) -> bool {
    given.row.deep || given.has("-r") || given.has("-R") || given.has("--recursive")
}

/// Returns the patterns of what the actions of a `find` are for. Where not every alternative of the
/// tests before them names something, that is everything.
fn acted_on(words: &[Word]) -> Vec<String> {
    let (mut names, mut acted) = (Vec::new(), Vec::new());
    // Whether this alternative names something, and whether one before it does not.
    let (mut is_named, mut is_open) = (false, false);
    let mut is_negated = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" => {
                if let Some(name) = rest.next()
                    && !is_negated
                {
                    names.push(format!("**/{}", name.text.trim_start_matches("./")));
                    is_named = true;
                }
            }
            "(" => is_open |= is_negated,
            "-o" | "-or" | "," => {
                is_open |= !is_named;
                is_named = false;
            }
            action @ ("-delete" | "-print" | "-print0" | "-ls" | "-exec" | "-execdir" | "-ok"
            | "-okdir") => {
                is_open |= !is_named;
                acted.clone_from(&names);
                if action.starts_with("-exec") || action.starts_with("-ok") {
                    // The words of its command are not tests.
                    rest.find(|word| word.text == ";" || word.text == "+");
                }
            }
            _ => {}
        }
        is_negated = matches!(word.text.as_str(), "!" | "-not");
    }
    // Without an action it prints what it finds.
    if acted.is_empty() && is_named {
        acted = names;
    }
    if is_open || acted.is_empty() { vec!["*".to_owned()] } else { acted }
}
