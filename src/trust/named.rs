//! Which files of a project the commands of a hooks file name.
//!
//! The rule is one for all: whatever could be a word, in any reading of a text, is looked for in every
//! place from which it could be meant. To cover a file too many costs an approval more; to miss one
//! lets a script change that somebody believes to have approved.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::written::without_written;
use crate::config::{Command, Hook, Process};
use crate::handlers::command::expand;

/// How often a file is looked for: a hooks file that names more means harm.
const MAX_LOOKUPS: usize = 100_000;
/// From how many directories that words name other words are looked for.
const MAX_DIRECTORIES: usize = 32;
/// What interpreters run of a directory that is their program.
const ENTRIES: [&str; 3] = ["__main__.py", "index.js", "package.json"];
/// What the names of programs begin with that run a directory.
const INTERPRETERS: [&str; 6] = ["python", "pypy", "node", "nodejs", "bun", "deno"];
/// What separates words whatever is quoted.
const SEPARATORS: &str = ";|&()<>`";
/// What may stand around a path inside a word.
const INNER: &str = "\"'=:,@{}";
/// What a shell does by itself.
const OF_THE_SHELL: [&str; 24] = [
    "case", "cd", "do", "done", "echo", "elif", "else", "esac", "exit", "export", "false", "fi",
    "for", "printf", "read", "return", "set", "shift", "test", "then", "trap", "true", "unset",
    "wait",
];
/// What only a shell can tell.
const EXPANSIONS: [char; 5] = ['$', '`', '*', '?', '['];

/// Where the words of a hooks file may lead.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The root of the project that the file belongs to.
    root: PathBuf,
    /// The directory of the hooks file.
    directory: PathBuf,
    /// Where its hooks run.
    working_dir: PathBuf,
}

/// A file that is named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    /// Its path without links from the root of the project; the whole path when it lies elsewhere.
    pub(crate) name: OsString,
    /// The word that leads to it.
    pub(crate) word: OsString,
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// Whether it lies in the project. One that does not is not the project's to change; where the link
    /// to it leads is.
    pub(crate) inside: bool,
}

/// What was found, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Sorted, each once.
    pub(crate) files: Vec<Named>,
    /// Where they were found, links not followed.
    pub(crate) places: Vec<PathBuf>,
    /// Programs called by a bare name, and words that only a shell can tell.
    pub(crate) uncovered: Vec<String>,
}

impl Places {
    /// Returns the places of the hooks file at `path`, whose hooks run in `working_dir`.
    pub(crate) fn new(path: &Path, working_dir: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let directory = real(match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        });
        Self { root: root(&directory), directory, working_dir: real(working_dir) }
    }

    fn contain(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || path.starts_with(&self.directory)
    }
}

/// Returns the directory of the project that the hooks file in `directory` is of: the one that
/// `.hookexec` lies in.
pub(crate) fn project_of(directory: &Path) -> &Path {
    let own = directory.ancestors().take(2).find(|place| place.ends_with(".hookexec"));
    own.and_then(Path::parent).unwrap_or(directory)
}

/// Returns the root of the project that the hooks file at `path` belongs to.
pub(super) fn root_of(path: &Path) -> PathBuf {
    Places::new(path, Path::new(".")).root
}

/// Returns the root of the repository that `directory` is in; without one, that of the project.
fn root(directory: &Path) -> PathBuf {
    let project = project_of(directory);
    let repository = project.ancestors().find(|place| place.join(".git").exists());
    repository.unwrap_or(project).to_owned()
}

/// Returns the files of the project that `hooks` and `processes` name.
///
/// # Errors
/// When they name too much.
pub(crate) fn named<'c>(
    hooks: impl IntoIterator<Item = &'c Hook>,
    processes: impl IntoIterator<Item = &'c Process>,
    places: &Places,
) -> io::Result<Found> {
    let mut search = Search {
        places,
        variables: std::env::vars_os().collect(),
        seen: HashSet::new(),
        files: BTreeSet::new(),
        found_at: BTreeSet::new(),
        lookups: 0,
    };
    let mut uncovered = BTreeSet::new();
    for hook in hooks {
        let mut texts: Vec<&str> = match &hook.command {
            Some(Command::Text(text)) if hook.kind == "command" => vec![text],
            Some(Command::Argv(argv)) => argv.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        match &hook.command {
            Some(Command::Text(text)) if hook.kind == "command" => programs(text, &mut uncovered),
            _ => uncovered.extend(
                texts.first().filter(|name| !name.contains('/')).map(|name| (*name).to_owned()),
            ),
        }
        texts.extend(hook.args.iter().map(String::as_str));
        texts.extend(hook.shell.as_deref());
        texts.extend(hook.env.values().map(String::as_str));
        search.look(&texts, hook.working_dir.as_deref(), &mut uncovered)?;
    }
    for process in processes {
        let mut texts: Vec<&str> = process.command.iter().map(String::as_str).collect();
        uncovered.extend(
            texts.first().filter(|name| !name.contains('/')).map(|name| (*name).to_owned()),
        );
        texts.extend(process.env.values().map(String::as_str));
        search.look(&texts, process.working_dir.as_deref(), &mut uncovered)?;
    }
    let covered =
        |word: &String| search.files.iter().any(|file| file.word.as_bytes() == word.as_bytes());
    let uncovered = uncovered.into_iter().filter(|word| !covered(word)).collect();
    let (files, places) =
        (search.files.into_iter().collect(), search.found_at.into_iter().collect());
    Ok(Found { files, places, uncovered })
}

fn runs_directories(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    INTERPRETERS.iter().any(|known| name.starts_with(known))
}

struct Search<'p> {
    places: &'p Places,
    variables: expand::Variables,
    /// What was looked for already, and from where.
    seen: HashSet<(PathBuf, OsString)>,
    files: BTreeSet<Named>,
    found_at: BTreeSet<PathBuf>,
    lookups: usize,
}

impl Search<'_> {
    /// Looks for all files that the texts of one command name.
    fn look(
        &mut self,
        texts: &[&str],
        working_dir: Option<&str>,
        uncovered: &mut BTreeSet<String>,
    ) -> io::Result<()> {
        let mut words: BTreeSet<String> = texts.iter().flat_map(|text| readings(text)).collect();
        // A full stop in a sentence is no program, unless there is one that runs directories.
        if !words.iter().any(|word| runs_directories(word)) {
            words.retain(|word| !matches!(word.as_str(), "." | ".."));
        }
        let Places { root, directory, working_dir: here } = self.places;
        let from = working_dir.and_then(|dir| expand::path(dir, &self.variables));
        let from = from.map_or_else(|| here.clone(), |dir| here.join(dir));
        let mut bases = vec![from, here.clone(), root.clone(), directory.clone()];
        bases.extend(project_of(directory).canonicalize());
        let mut at = 0;
        // A directory that a word names is one from which another word may be meant: `cd hooks`.
        while let Some(base) = bases.get(at).cloned() {
            at += 1;
            if bases[..at - 1].contains(&base) {
                continue;
            }
            for word in &words {
                for target in self.targets(word) {
                    let new = self.find(&base, word, &target)?;
                    bases.extend(new.filter(|_| bases.len() < MAX_DIRECTORIES));
                }
            }
        }
        uncovered.extend(words.into_iter().filter(|word| {
            word.contains('/')
                && word.contains(EXPANSIONS)
                && !word.contains(char::is_whitespace)
                && !self.files.iter().any(|file| file.word.as_bytes() == word.as_bytes())
        }));
        Ok(())
    }

    /// Returns the paths that a word may stand for.
    fn targets(&self, word: &str) -> Vec<OsString> {
        let mut targets = vec![word.into()];
        let Places { directory, working_dir, .. } = self.places;
        let mut own = word.to_owned();
        for (name, path) in [
            ("HOOKEXEC_CONFIG_DIR", directory),
            ("HOOKEXEC_PROJECT_DIR", working_dir),
            ("CLAUDE_PROJECT_DIR", working_dir),
            ("PWD", working_dir),
        ] {
            let path = path.to_string_lossy();
            own = own.replace(&format!("${{{name}}}"), &path).replace(&format!("${name}"), &path);
        }
        if own != word {
            targets.push(own.clone().into());
        }
        if own.contains('$') || own.starts_with('~') {
            targets.extend(expand::path(&own, &self.variables));
        }
        // Whatever the variable is, the rest may be a path from one of the places.
        if own.contains('$')
            && let Some((_, rest)) = own.rsplit('$').next().and_then(|last| last.split_once('/'))
        {
            targets.push(rest.into());
        }
        // `$(pwd)/check.sh` was cut behind the bracket.
        if let Some(rest) = own.strip_prefix('/') {
            targets.push(rest.into());
        }
        targets
    }

    /// Looks for what `target` leads to from `base`, and returns the directory that it is.
    fn find(&mut self, base: &Path, word: &str, target: &OsString) -> io::Result<Option<PathBuf>> {
        if target.is_empty() || !self.seen.insert((base.to_owned(), target.clone())) {
            return Ok(None);
        }
        self.lookups += 1;
        if self.lookups > MAX_LOOKUPS {
            return Err(io::Error::other("it names more files than can be looked for"));
        }
        let written = base.join(target);
        if target.as_bytes().iter().any(|byte| b"*?[{".contains(byte)) {
            self.find_all(&written, word);
        }
        let Ok(path) = written.canonicalize() else { return Ok(None) };
        if path.is_file() {
            self.add(&written, path, word);
        } else if path.is_dir() && self.places.contain(&path) {
            for entry in ENTRIES {
                let entry = path.join(entry);
                if entry.is_file() {
                    self.add(&written, entry, word);
                }
            }
            return Ok(Some(path));
        }
        Ok(None)
    }

    /// Adds every file whose name begins and ends as the pattern of the last part of `written` does. A
    /// pattern without a letter, as in `[ -f x ]` or `grep '.*'`, would be about all files there are.
    fn find_all(&mut self, written: &Path, word: &str) {
        let name = written.file_name().unwrap_or_default().as_bytes();
        let mut parts = name.split(|byte| b"*?[]{}".contains(byte));
        let beginning = parts.next().unwrap_or_default();
        let ending = parts.next_back().unwrap_or_default();
        if ![beginning, ending].concat().iter().any(u8::is_ascii_alphanumeric) {
            return;
        }
        let entries = written.parent().and_then(|parent| parent.read_dir().ok());
        for entry in entries.into_iter().flatten().flatten() {
            self.lookups += 1;
            let name = entry.file_name();
            if name.as_bytes().starts_with(beginning)
                && name.as_bytes().ends_with(ending)
                && let Ok(path) = entry.path().canonicalize()
                && path.is_file()
            {
                self.add(&entry.path(), path, word);
            }
        }
    }

    fn add(&mut self, written: &Path, path: PathBuf, word: &str) {
        let inside = self.places.contain(&path);
        // A link in the project that leads out of it is the project's to change.
        if !inside && !self.places.contain(&straight(written)) {
            return;
        }
        self.found_at.insert(straight(written));
        let name = path.strip_prefix(&self.places.root).unwrap_or(&path);
        let name = name.as_os_str().to_owned();
        self.files.insert(Named { name, word: word.into(), path, inside });
    }
}

/// Returns `path` without `.` and `..`, no link followed.
fn straight(path: &Path) -> PathBuf {
    let mut straight = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                straight.pop();
            }
            part => straight.push(part),
        }
    }
    straight
}

/// Returns the words of a text in every reading: the text itself, its words with quotes understood,
/// with quotes taken out, and with quotes and what surrounds paths taken as the ends of words.
fn readings(text: &str) -> BTreeSet<String> {
    let text = text.replace("\\\n", "");
    let read = without_written(&text);
    let separates = |letter: char| letter.is_whitespace() || SEPARATORS.contains(letter);
    let mut words: BTreeSet<String> = quoted(&read).into_iter().collect();
    words.extend(
        read.split(|letter| separates(letter) || letter == '=')
            .map(|word| word.replace(['"', '\'', '\\'], "")),
    );
    words.extend(
        read.split(|letter| separates(letter) || INNER.contains(letter))
            .map(|word| word.replace('\\', "")),
    );
    words.insert(text);
    words.remove("");
    words
}

/// Returns the words of a text as a shell cuts them: what is quoted stays together.
fn quoted(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => word.extend(letters.next()),
            (letter, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            // A blank of another kind is a letter of a file's name.
            (letter, None) if " \t\n".contains(letter) || SEPARATORS.contains(letter) => {
                words.push(std::mem::take(&mut word));
            }
            (letter, _) => word.push(letter),
        }
    }
    words.push(word);
    words
}

/// Adds the programs that a shell text calls by a bare name.
fn programs(text: &str, found: &mut BTreeSet<String>) {
    for part in text.split([';', '|', '&', '(', '\n', '`']) {
        let words = part.split_whitespace();
        let mut words = words.skip_while(|word| {
            word.contains('=')
                || ["if", "elif", "then", "else", "do", "while", "until", "{", "!", "exec", "env"]
                    .contains(word)
        });
        let name = |letter: char| letter.is_ascii_alphanumeric() || "._-+".contains(letter);
        if let Some(word) = words.next()
            && word.chars().all(name)
            && word.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && !OF_THE_SHELL.contains(&word)
        {
            found.insert(word.to_owned());
        }
    }
}

/// Returns the names and the places of the files of the project that a configuration names; what is
/// too much is nothing.
pub(crate) fn scripts<'c>(
    hooks: impl IntoIterator<Item = &'c Hook>,
    processes: impl IntoIterator<Item = &'c Process>,
    places: &Places,
) -> Vec<(String, PathBuf)> {
    let found = named(hooks, processes, places).unwrap_or_default();
    let files = found.files.into_iter().filter(|file| file.inside);
    let scripts: BTreeMap<PathBuf, String> =
        files.map(|file| (file.path, file.name.to_string_lossy().into_owned())).collect();
    scripts.into_iter().map(|(path, name)| (name, path)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::Config;

    #[test]
    fn a_file_is_found_however_it_is_named() {
        let project = tempfile::tempdir().unwrap();
        let at = |path: &str| project.path().join(path);
        for directory in [".git", "my hooks", "hooks", "guard", "bin"] {
            fs::create_dir(at(directory)).unwrap();
        }
        let files = [
            "check.sh",
            "no\u{a0}break.sh",
            "my hooks/check.sh",
            "hooks/own.sh",
            "guard/__main__.py",
            "bin/tool",
        ];
        for file in files {
            fs::write(at(file), "").unwrap();
        }
        symlink("/bin/true", at("link")).unwrap();
        for (hook, file) in [
            ("command: ./check.sh", "check.sh"),
            ("command: '\"./my hooks/check.sh\" -x'", "my hooks/check.sh"),
            ("command: 'my\\ hooks/check.sh'", "my hooks/check.sh"),
            ("command: [./my hooks/check.sh]", "my hooks/check.sh"),
            ("command: \"./no\u{a0}break.sh -x\"", "no\u{a0}break.sh"),
            ("command: \"sh >\u{a0} ./check.sh\"", "check.sh"),
            ("command: [sh, -c, './check.sh --fast']", "check.sh"),
            ("command: [env, -S, './check.sh -x']", "check.sh"),
            ("command: \"sh -c 'exec ./check.sh -x'\"", "check.sh"),
            ("command: 'bash -c \"true;./check.sh\"'", "check.sh"),
            ("command: './check*'", "check.sh"),
            ("command: './*.sh'", "check.sh"),
            ("command: '$PWD/check.sh'", "check.sh"),
            ("command: '${PWD}/check.sh'", "check.sh"),
            ("command: '$(pwd)/check.sh'", "check.sh"),
            ("command: '`pwd`/check.sh'", "check.sh"),
            ("command: 'D=.; $D/check.sh'", "check.sh"),
            ("command: 'D=hooks; $D/own.sh'", "hooks/own.sh"),
            ("command: \"./che\\\\\\nck.sh\"", "check.sh"),
            ("command: 'sh <> ./check.sh'", "check.sh"),
            ("command: 'x --file=./check.sh'", "check.sh"),
            (r#"command: "perl -e \"%h=(a=>\\\"./check.sh\\\"); do $h{a}\"""#, "check.sh"),
            ("command: \"echo '1>./check.sh' | x\"", "check.sh"),
            ("command: 'cd hooks && ./own.sh'", "hooks/own.sh"),
            ("command: own.sh, working_dir: hooks", "hooks/own.sh"),
            ("command: python3 ./guard", "guard/__main__.py"),
            ("command: python3 ., working_dir: guard", "guard/__main__.py"),
            ("command: 'true', env: { BASH_ENV: ./check.sh }", "check.sh"),
            ("command: tool, env: { PATH: './bin:/usr/bin' }", "bin/tool"),
            ("command: x, shell: ./check.sh", "check.sh"),
            ("command: ./link", "/bin/true"),
            ("command: $HOOKEXEC_CONFIG_DIR/check.sh", "check.sh"),
        ] {
            let text = format!("stop: {{ type: command, {hook} }}");
            let config = Config::from_yaml(&text, at("hooks.yaml")).expect(hook);
            let places = Places::new(&at("hooks.yaml"), project.path());
            let found = named(&config.hooks, config.processes.values(), &places).unwrap();
            let names: Vec<OsString> = found.files.into_iter().map(|file| file.name).collect();
            let real = Path::new(file).canonicalize().unwrap_or_else(|_| file.into());
            assert!(names.contains(&real.into_os_string()), "{hook}: {names:?}");
        }
    }

    #[test]
    fn a_test_an_expression_or_a_full_stop_is_about_no_file() {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("check.sh"), "").unwrap();
        fs::write(project.path().join("package.json"), "").unwrap();
        let path = project.path().join("hooks.yaml");
        let text = "stop: { type: command, command: \"[ -n x ] && grep '.*' | sed 's/.*//' | jq '1 * 2'; echo say 'npm test'.\" }";
        let config = Config::from_yaml(text, &path).unwrap();
        let places = Places::new(&path, project.path());
        let found = named(&config.hooks, config.processes.values(), &places).unwrap();
        assert_eq!(found.files, []);
    }

    #[test]
    fn what_only_a_shell_can_tell_is_said() {
        let text = "stop: { type: command, command: 'if make -s guard; then echo x; fi && ./$X/y | sort' }";
        let config = Config::from_yaml(text, "hooks.yaml").unwrap();
        let places = Places::new(Path::new("/none/hooks.yaml"), Path::new("/none"));
        let found = named(&config.hooks, config.processes.values(), &places).unwrap();
        assert_eq!(found.uncovered, ["./$X/y", "make", "sort"]);
    }
}
