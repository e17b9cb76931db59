//! Which scripts of a project a hook executes.
//!
//! Covered are the program of each command and, behind an interpreter or a wrapper, the first of its
//! words that names a file of the project. A relative word counts from where the hook runs and from
//! the directory of its hooks file. `scripts:` adds what the author lists. Everything else that a
//! hook names is reported as not covered.
//!
//! The rule knows no options: an option or its value that names a file of the project is covered
//! instead, and the hook fails because no approval names that file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::config::{Command, Hook, Process};
use crate::handlers::command::expand;
use crate::paths::{lexical, physical};
use crate::platform::{Platform, strip_base};
use crate::shell::{Word, read_script, unquoted};

/// Programs that run a file among their arguments; also with a version behind the name.
const INTERPRETERS: &str = "bun deno java julia lua node nodejs osascript perl php pypy python rscript ruby ts-node \
    tsx";
/// Shells and wrappers: they run a file or a command among their arguments, or a command text.
const LAUNCHERS: &str = ". ash bash builtin bunx busybox chroot chrt command coproc dash doas env eval exec fish \
    flock ionice ksh nice nohup npx parallel poetry powershell pwsh script setsid sh source stdbuf \
    strace su sudo taskset time timeout trap unbuffer uv uvx watch xargs zsh";
/// Words of a shell that stand before a command.
const KEYWORDS: &str = "! { do elif else if then until while";
/// What a shell does itself, and what starts no program.
const SHELL_WORDS: &str = ": [ [[ ]] break case cd continue done echo esac exit export false fi for function in \
    local popd printf pushd pwd read readonly return set shift sleep test true type umask unset \
    wait }";
/// The variables that hookexec or an agent sets, and the directory that each stands for.
const DIRECTORIES: [(&str, bool); 3] =
    [("CLAUDE_PROJECT_DIR", false), ("HOOKEXEC_PROJECT_DIR", false), ("HOOKEXEC_CONFIG_DIR", true)];
/// How deep `sh -c` may nest.
const MAX_DEPTH: usize = 4;

/// Where the words of a hooks file lead.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The root of the repository that the hooks file is in; without one, the project's directory.
    root: PathBuf,
    /// The directory of the hooks file.
    directory: PathBuf,
    /// Where its hooks run.
    project: PathBuf,
    variables: expand::Variables,
    case_counts: bool,
}

/// What a hook executes.
#[derive(Debug, Default)]
pub(crate) struct Executed {
    /// The scripts by name: the path from the root of the repository, links not followed.
    pub(crate) scripts: BTreeMap<String, PathBuf>,
    /// The names of scripts that run, or that `scripts:` lists. Other scripts only lie beside the hooks
    /// file, and the hook runs elsewhere.
    pub(crate) claimed: BTreeSet<String>,
    /// The names of scripts that `scripts:` lists and that no command text names.
    pub(crate) listed: BTreeSet<String>,
    /// Where a word leads and no file is. An approval that names one of these misses it.
    pub(crate) absent: BTreeMap<String, PathBuf>,
    /// Files that `scripts:` lists and that are not there.
    pub(crate) missing: Vec<String>,
    /// What the hook names or runs and an approval does not cover.
    pub(crate) uncovered: BTreeSet<String>,
}

/// Returns the directory of the project that the hooks file in `directory` is for: the one that
/// contains `.hookexec`.
pub(crate) fn project_of(directory: &Path) -> &Path {
    let own = directory.ancestors().take(2).find(|place| place.ends_with(".hookexec"));
    own.and_then(Path::parent).unwrap_or(directory)
}

impl Places {
    /// Returns the places of the hooks file at `path`, whose hooks run in `project`.
    pub(crate) fn new(path: &Path, project: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let directory = real(match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        });
        let own = project_of(&directory);
        let repository = own.ancestors().find(|place| place.join(".git").exists());
        let root = repository.unwrap_or(own).to_owned();
        Self {
            root,
            directory,
            project: real(project),
            variables: std::env::vars_os().collect(),
            case_counts: Platform::HERE.case_counts,
        }
    }

    /// Returns what `hook` executes. With `look`, also the data files that it names.
    pub(crate) fn executed(
        &self,
        hook: &Hook,
        processes: &BTreeMap<String, Process>,
        look: bool,
    ) -> Executed {
        let process = hook.process().and_then(|name| processes.get(name));
        let (written, own) = match process {
            Some(process) => (process.working_dir.as_deref(), &process.env),
            None => (hook.working_dir.as_deref(), &hook.env),
        };
        let run_in = written.and_then(|path| expand::path(path, &self.variables));
        let run_in = run_in.map_or_else(|| self.project.clone(), |path| self.project.join(path));
        let command = match (process, &hook.command) {
            (Some(process), _) => process.command.join(" "),
            (None, Some(Command::Text(text))) => text.clone(),
            (None, Some(Command::Argv(argv))) => [argv.as_slice(), &hook.args].concat().join(" "),
            (None, None) => String::new(),
        };
        let mut search = Search {
            places: self,
            run_in,
            moves: changes_directory(&command),
            own,
            seen: BTreeSet::new(),
            executed: Executed::default(),
        };
        let literal = |texts: &[String]| texts.iter().map(Word::literal).collect::<Vec<_>>();
        match &hook.command {
            _ if process.is_some() => {
                search.command(&literal(process.map_or(&[], |process| &process.command)), 0);
            }
            Some(Command::Text(text)) if hook.kind == "command" => {
                search.text(text, 0);
                search.program(&Word::literal(hook.shell.as_deref().unwrap_or("/bin/sh")));
                search.seen.extend(literal(&hook.args));
            }
            Some(Command::Argv(argv)) if hook.kind == "command" => {
                search.command(&[literal(argv), literal(&hook.args)].concat(), 0);
            }
            _ => {}
        }
        for path in &hook.scripts {
            search.list(path);
        }
        if look {
            search.seen.extend(own.values().map(Word::literal));
            search.name_the_rest();
        }
        search.executed
    }

    /// Returns the name of a file of the project: its path from the root, links not followed.
    fn name(&self, path: &Path) -> Option<String> {
        let inside = |path: &Path| {
            let mut bases = [&self.root, &self.directory].into_iter();
            let name = bases.find_map(|base| strip_base(path, base, self.case_counts))?;
            // Two names that are not UTF-8 must not become one.
            Some(name.to_str().map_or_else(
                || name.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
                str::to_owned,
            ))
        };
        // A `..` leads up from where the link before it led.
        let parts: Vec<Component<'_>> = path.components().collect();
        let up =
            parts.iter().rposition(|part| *part == Component::ParentDir).map_or(0, |at| at + 1);
        let (resolved, kept) = parts.split_at(up);
        let start = physical(&resolved.iter().collect::<PathBuf>());
        let place = lexical(&start.join(kept.iter().collect::<PathBuf>()));
        inside(&place).or_else(|| inside(&physical(path)))
    }
}

struct Search<'p> {
    places: &'p Places,
    /// Where the hook runs.
    run_in: PathBuf,
    /// Whether its command may change the directory, so that relative words lead elsewhere.
    moves: bool,
    /// The variables that the hook sets.
    own: &'p BTreeMap<String, String>,
    /// Words that are not executed, as far as is known.
    seen: BTreeSet<Word>,
    executed: Executed,
}

impl Search<'_> {
    /// Reads a text for a shell.
    fn text(&mut self, text: &str, depth: usize) {
        let script = read_script(text);
        if !script.understood || depth > MAX_DEPTH {
            self.uncovered("a part of the command text, which only a shell can read");
        }
        for command in &script.commands {
            self.command(command, depth);
        }
    }

    /// Reads one simple command.
    fn command(&mut self, words: &[Word], depth: usize) {
        self.seen.extend(words.iter().cloned());
        let is_before = |word: &&Word| is_assignment(word) || has_word(KEYWORDS, &word.text);
        let before = words.iter().take_while(is_before).count();
        let [program, arguments @ ..] = &words[before..] else { return };
        if is_one_of(INTERPRETERS, program) || is_one_of(LAUNCHERS, program) {
            self.launch(program, arguments, depth);
        } else if !has_word(SHELL_WORDS, &program.text) {
            self.program(program);
        }
    }

    /// Covers the first of `arguments` that names a file of the project, behind an interpreter or a
    /// wrapper, and reads the command texts before it.
    fn launch(&mut self, program: &Word, arguments: &[Word], depth: usize) {
        self.cover(program);
        let is_shell = base_name(program).ends_with("sh");
        let runs_commands = is_one_of(LAUNCHERS, program);
        let mut is_reported = arguments.is_empty() && runs_commands && !is_shell;
        for (index, word) in arguments.iter().enumerate().filter(|(_, word)| !is_assignment(word)) {
            if self.cover(word) {
                self.passed_over(program, &arguments[..index]);
                return;
            }
            if runs_commands && (is_one_of(INTERPRETERS, word) || is_one_of(LAUNCHERS, word)) {
                self.passed_over(program, &arguments[..index]);
                self.launch(word, &arguments[index + 1..], depth);
                return;
            }
            if runs_commands && word.literal && !is_name(&word.text) {
                self.text(&word.text, depth + 1);
                // The words behind the text of `sh -c` are its arguments.
                if is_shell {
                    return;
                }
                is_reported = true;
            } else if !word.literal || word.text.contains('/') && !word.text.starts_with('-') {
                self.uncovered(&word.text);
                is_reported = true;
            }
        }
        if !is_reported {
            // It runs something all the same: its standard input, a module, or a name of its own.
            self.uncovered_words(program, arguments);
        }
    }

    /// Reports the words between a program and the file that it runs when one of them may be a module,
    /// a program or code.
    fn passed_over(&mut self, program: &Word, words: &[Word]) {
        let may_run = |word: &Word| {
            let starts = |letter: char| letter == '-' || letter.is_ascii_digit();
            word.literal && !word.text.starts_with(starts) && !is_assignment(word)
        };
        if words.iter().any(may_run) {
            self.uncovered_words(program, words);
        }
    }

    fn uncovered_words(&mut self, program: &Word, words: &[Word]) {
        let words = std::iter::once(program).chain(words);
        let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
        self.uncovered(&words.join(" "));
    }

    /// Covers the script that a program word is; one that is found by name, or that only a shell can
    /// find, is not covered.
    fn program(&mut self, word: &Word) {
        let by_name = word.literal && !word.text.contains('/');
        let outside = word.literal && word.text.starts_with('/');
        if by_name || !(self.cover(word) || outside) {
            self.uncovered(&word.text);
        }
    }

    /// Covers the file of the project that `word` leads to, and returns whether there is one.
    fn cover(&mut self, word: &Word) -> bool {
        let path = self.path(word).filter(|path| path.is_absolute() || !self.moves);
        let run = path.map(|path| self.run_in.join(path));
        let found = self.locate(word);
        let runs = found.iter().filter(|(_, path)| Some(path) == run.as_ref());
        let claimed: Vec<String> = runs.map(|(name, _)| name.clone()).collect();
        // A file beside the hooks file is not the one that runs elsewhere, and behind `cd` no file is.
        if claimed.is_empty() && !found.is_empty() {
            self.uncovered(&word.text);
        }
        self.executed.claimed.extend(claimed);
        !found.is_empty()
    }

    /// Covers a file that `scripts:` lists.
    fn list(&mut self, path: &str) {
        let before = self.executed.scripts.keys().chain(self.executed.absent.keys());
        let before: BTreeSet<String> = before.cloned().collect();
        let word = Word::literal(path);
        if self.locate(&word).is_empty() {
            self.executed.missing.push(path.to_owned());
        }
        for (name, _) in self.candidates(&word) {
            if !before.contains(&name) {
                self.executed.listed.insert(name.clone());
            }
            self.executed.claimed.insert(name);
        }
    }

    /// Covers the files of the project that `word` leads to and returns them. Remembers the places
    /// that it leads to where no file is.
    fn locate(&mut self, word: &Word) -> Vec<(String, PathBuf)> {
        let (found, absent): (Vec<_>, Vec<_>) =
            self.candidates(word).into_iter().partition(|(_, path)| path.is_file());
        self.executed.scripts.extend(found.iter().cloned());
        self.executed.absent.extend(absent);
        found
    }

    fn uncovered(&mut self, what: &str) {
        self.executed.uncovered.insert(what.to_owned());
    }

    /// Returns the places in the project that `word` leads to, by name, whether a file is there or not.
    fn candidates(&self, word: &Word) -> Vec<(String, PathBuf)> {
        let Some(path) = self.path(word) else { return Vec::new() };
        let places = [&self.run_in, &self.places.directory].map(|base| base.join(&path));
        places.into_iter().filter_map(|path| Some((self.places.name(&path)?, path))).collect()
    }

    /// Returns the path that a word is, when nothing but a known directory is expanded in it.
    fn path(&self, word: &Word) -> Option<PathBuf> {
        if word.literal {
            return Some(PathBuf::from(&word.text)).filter(|_| !word.text.is_empty());
        }
        DIRECTORIES.into_iter().find_map(|(name, is_config)| {
            let plain = word.text.strip_prefix(&format!("${name}/"));
            let rest = plain.or_else(|| word.text.strip_prefix(&format!("${{{name}}}/")))?;
            let known =
                !rest.contains(['$', '`', '*', '?', '[', '{']) && !self.own.contains_key(name);
            let directory = if is_config { &self.places.directory } else { &self.places.project };
            known.then(|| directory.join(rest))
        })
    }

    /// Reports the files that are named and that nothing executes, as far as the rule tells.
    fn name_the_rest(&mut self) {
        for word in std::mem::take(&mut self.seen) {
            let value =
                word.text.split_once('=').map(|(_, value)| Word { text: value.into(), ..word });
            for word in [Some(word), value].into_iter().flatten() {
                let places = self.candidates(&word).into_iter();
                let new = places.filter(|(_, path)| path.is_file()).map(|(name, _)| name);
                let new = new.filter(|name| !self.executed.scripts.contains_key(name));
                self.executed.uncovered.extend(new.collect::<Vec<_>>());
            }
        }
    }
}

/// Returns whether a command has a word that changes the directory: `cd`, `pushd`, `env -C hooks`.
fn changes_directory(command: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "-_./".contains(letter);
    let plain = unquoted(command);
    let mut words = plain.split(|letter| !is_part(letter));
    words.any(|word| {
        let is_option = word.starts_with('-') && !word.starts_with("--") && word.contains('C');
        is_option
            || ["cd", "chdir", "popd", "pushd"].contains(&word)
            || ["--chdir", "--cwd", "--directory"].iter().any(|option| word.starts_with(option))
    })
}

/// Returns whether the file name of a program is in `names`, a version behind it left out.
fn is_one_of(names: &str, program: &Word) -> bool {
    let name = base_name(program);
    let version = |letter: char| letter.is_ascii_digit() || letter == '.';
    let plain = name.trim_end_matches(version).to_ascii_lowercase();
    has_word(names, name) || has_word(names, &plain)
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Returns whether a word is a name, a number, a path or an option, and no command text.
fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || "/._-+@%:,=".contains(letter))
}

/// Returns whether a word sets a variable for the command behind it.
fn is_assignment(word: &Word) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    word.text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the last part of a program's path.
fn base_name(word: &Word) -> &str {
    word.text.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Config;

    /// A project with files to be found.
    fn project() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        for directory in [".git", ".hookexec", "hooks", "my hooks"] {
            fs::create_dir(project.path().join(directory)).unwrap();
        }
        for file in [
            ".hookexec/own.sh",
            "a.sh",
            "b.py",
            "hooks/c.sh",
            "my hooks/d.sh",
            "TODO.md",
            "index.js",
        ] {
            fs::write(project.path().join(file), "").unwrap();
        }
        project
    }

    fn executed(project: &Path, keys: &str) -> (Vec<String>, Vec<String>) {
        let path = project.join(".hookexec/hooks.yaml");
        let text = format!("stop: [{{ type: command, {keys} }}]\n");
        let config = Config::from_yaml(&text, &path).unwrap_or_else(|it| panic!("{text}{it}"));
        let places = Places::new(&path, project);
        let executed = places.executed(&config.hooks[0], &config.processes, true);
        (executed.scripts.into_keys().collect(), executed.uncovered.into_iter().collect())
    }

    #[test]
    fn a_script_has_one_name_where_case_does_not_count() {
        let project = project();
        let root = project.path().canonicalize().unwrap();
        let mut places = Places::new(&root.join(".hookexec/hooks.yaml"), &root);
        let shouted = PathBuf::from(root.to_str().unwrap().to_uppercase()).join("a.sh");
        for (case_counts, expected) in [(true, None), (false, Some("a.sh"))] {
            places.case_counts = case_counts;
            assert_eq!(places.name(&shouted).as_deref(), expected);
        }
    }

    #[test]
    fn what_a_hook_executes_is_covered() {
        let project = project();
        for (keys, scripts) in [
            ("command: ./a.sh", vec!["a.sh"]),
            ("command: [./a.sh, TODO.md]", vec!["a.sh"]),
            ("command: [python3, -u, b.py, a.sh]", vec!["b.py"]),
            ("command: python3.12 -W ignore b.py", vec!["b.py"]),
            ("command: '\"$CLAUDE_PROJECT_DIR\"/hooks/c.sh'", vec!["hooks/c.sh"]),
            ("command: 'sh \"${HOOKEXEC_PROJECT_DIR}/my hooks/d.sh\"'", vec!["my hooks/d.sh"]),
            ("command: $HOOKEXEC_CONFIG_DIR/own.sh", vec![".hookexec/own.sh"]),
            ("command: sh own.sh", vec![".hookexec/own.sh"]),
            ("command: cat TODO.md | ./a.sh && exec ./hooks/c.sh", vec!["a.sh", "hooks/c.sh"]),
            ("command: 'A=1 timeout -k 5 60s env B=2 ./a.sh'", vec!["a.sh"]),
            ("command: if ./a.sh; then . ./hooks/c.sh; fi", vec!["a.sh", "hooks/c.sh"]),
            ("command: bash -euc './a.sh; sh hooks/c.sh'", vec!["a.sh", "hooks/c.sh"]),
            ("command: 'x=$(./a.sh)'", vec!["a.sh"]),
            ("command: ./c.sh, working_dir: hooks", vec!["hooks/c.sh"]),
            ("command: ./a.sh, scripts: [b.py, hooks/c.sh]", vec!["a.sh", "b.py", "hooks/c.sh"]),
            ("command: exit 0, shell: ./a.sh", vec!["a.sh"]),
            ("command: node -r ./a.sh index.js", vec!["a.sh"]),
            ("command: sh -e ./a.sh", vec!["a.sh"]),
            ("command: bash -ue a.sh", vec!["a.sh"]),
            ("command: bash -m -o pipefail ./a.sh", vec!["a.sh"]),
            ("command: python3 -Wignore b.py", vec!["b.py"]),
            ("command: [timeout, -s, KILL, 5, ./a.sh]", vec!["a.sh"]),
            ("command: timeout --signal KILL 5 sh -c './a.sh -x'", vec!["a.sh"]),
            ("command: env -u FOO ./a.sh", vec!["a.sh"]),
            ("command: until ./a.sh; do ! ./hooks/c.sh; done", vec!["a.sh", "hooks/c.sh"]),
            ("command: setsid ./a.sh | stdbuf -oL ./hooks/c.sh", vec!["a.sh", "hooks/c.sh"]),
            ("command: printf x | xargs -n 1 ./a.sh", vec!["a.sh"]),
            ("command: uv run --script b.py", vec!["b.py"]),
            ("command: trap './a.sh; true' EXIT", vec!["a.sh"]),
            ("command: trap ./a.sh EXIT", vec!["a.sh"]),
            ("command: eval './a.sh x'", vec!["a.sh"]),
            ("command: env -S './a.sh -x'", vec!["a.sh"]),
            ("command: hooks/../a.sh", vec!["a.sh"]),
            ("command: make", vec![]),
            ("command: cat TODO.md", vec![]),
            ("command: 'node .'", vec![]),
        ] {
            assert_eq!(executed(project.path(), keys).0, scripts, "{keys}");
        }
    }

    #[test]
    fn what_is_not_covered_is_listed() {
        let project = project();
        for (keys, uncovered) in [
            ("command: cat TODO.md", vec!["TODO.md", "cat"]),
            ("command: [./a.sh, --config=TODO.md]", vec!["TODO.md"]),
            ("command: ./a.sh, env: { BASH_ENV: hooks/c.sh }", vec!["hooks/c.sh"]),
            ("command: node -r ./a.sh index.js", vec!["index.js"]),
            ("command: make guard", vec!["make"]),
            ("command: cd hooks && sh c.sh", vec!["sh c.sh"]),
            ("command: sh < hooks/c.sh", vec!["sh"]),
            ("command: node --run guard", vec!["node --run guard"]),
            ("command: perl -Mx -e1", vec!["perl -Mx -e1"]),
            (
                "command: ': \"${x:-$(./a.sh)}\"'",
                vec!["a part of the command text, which only a shell can read"],
            ),
            ("command: python3 -m guard", vec!["python3 -m guard"]),
            ("command: python3 -m guard b.py", vec!["python3 -m guard"]),
            ("command: timeout 5 make guard", vec!["timeout 5 make guard"]),
            ("command: trap guard EXIT", vec!["trap guard EXIT"]),
            ("command: cd hooks && ./c.sh", vec!["./c.sh"]),
            ("command: cd hooks && ./a.sh", vec!["./a.sh"]),
            ("command: 'f() { ./a.sh; }; pushd hooks; f'", vec!["./a.sh", "f"]),
            ("command: (cd hooks; . ./a.sh)", vec!["./a.sh"]),
            ("command: env --chdir=hooks ./a.sh", vec!["./a.sh"]),
            ("command: [env, -iC, hooks, ./a.sh]", vec!["./a.sh", "env -iC hooks"]),
            ("command: sh -c 'cd hooks; ./a.sh'", vec!["./a.sh"]),
            ("command: 'cd \"$CLAUDE_PROJECT_DIR\" && \"$CLAUDE_PROJECT_DIR\"/a.sh'", vec![]),
            ("command: ~+/a.sh", vec!["~+/a.sh"]),
            ("command: X=./a; $X.sh", vec!["$X.sh"]),
            ("command: a=a; sh $a.sh", vec!["$a.sh"]),
            ("command: sh $'a\\x2esh'", vec!["$'a\\x2esh'"]),
            ("command: sh *", vec!["*"]),
            ("command: eval $a$b", vec!["$a$b"]),
            ("command: 'sh -c \"$X\"'", vec!["$X"]),
            ("command: 'sh \"$(printf ./g)\"'", vec!["$(...)"]),
            (
                "command: '$CLAUDE_PROJECT_DIR/a.sh', env: { CLAUDE_PROJECT_DIR: x }",
                vec!["$CLAUDE_PROJECT_DIR/a.sh"],
            ),
            (
                "command: \"echo 'x\"",
                vec!["a part of the command text, which only a shell can read"],
            ),
        ] {
            assert_eq!(executed(project.path(), keys).1, uncovered, "{keys}");
        }
    }

    #[test]
    fn a_path_with_two_dots_is_the_file_that_a_link_before_them_leads_to() {
        let project = project();
        let keys = "command: 'sub/../a.sh; ./a.sh'";
        fs::create_dir(project.path().join("sub")).unwrap();
        assert_eq!(executed(project.path(), keys).0, ["a.sh"]);
        fs::remove_dir(project.path().join("sub")).unwrap();
        fs::create_dir(project.path().join("hooks/sub")).unwrap();
        fs::write(project.path().join("hooks/a.sh"), "").unwrap();
        std::os::unix::fs::symlink("hooks/sub", project.path().join("sub")).unwrap();
        assert_eq!(executed(project.path(), keys).0, ["a.sh", "hooks/a.sh"]);
    }

    #[test]
    fn a_file_outside_of_the_project_is_not_its_script_but_a_link_in_it_is() {
        let project = project();
        let outside = tempfile::tempdir().unwrap();
        let guard = outside.path().join("guard.sh");
        fs::write(&guard, "").unwrap();
        let keys = format!("command: {}", guard.display());
        assert_eq!(executed(project.path(), &keys), (vec![], vec![]));
        std::os::unix::fs::symlink(&guard, project.path().join("link.sh")).unwrap();
        assert_eq!(executed(project.path(), "command: ./link.sh").0, ["link.sh"]);
    }
}
