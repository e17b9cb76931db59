//! Which scripts of a project a hook executes.
//!
//! Covered are the program of each command and, behind an interpreter or a wrapper, the first of its
//! words that names a file of the project. A relative word counts from where the hook runs and from
//! the directory of its hooks file. `scripts:` adds what the author lists. Everything else that a
//! hook names is reported as not covered.
//!
//! Options are not understood. If an option or its value names a file of the project, that file
//! counts as the script, and the hook fails until a person approves it.

use std::collections::{BTreeMap, BTreeSet};

use super::bases::Bases;
use super::command_words::{Executed, Search};
use super::programs::changes_directory;
use crate::config::{Command, Hook, Process};
use crate::handlers::command::expand;
use crate::handlers::command::shells::Language;
use crate::shell::Word;

impl Bases {
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
        let command = command_of(hook, processes);
        let text = match &command {
            Some(Command::Text(text)) => text.clone(),
            Some(Command::Argv(words)) => words.join(" "),
            None => String::new(),
        };
        let mut search = Search {
            bases: self,
            run_in,
            moves: changes_directory(&text),
            own,
            seen: BTreeSet::new(),
            executed: Executed::default(),
        };
        match &command {
            Some(Command::Argv(words)) if process.is_some() || hook.kind == "command" => {
                search.command(&literal(words, self.has_drives), 0);
            }
            Some(Command::Text(text)) if hook.kind == "command" => {
                match Language::of(hook.shell.as_deref().unwrap_or_default()) {
                    Language::Posix => search.text(text, 0),
                    Language::Cmd | Language::PowerShell => search.foreign_text(text),
                }
                if let Some(shell) = &hook.shell {
                    search.program(&Word::literal(shell));
                }
                search.seen.extend(literal(&hook.args, self.has_drives));
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
}

/// Returns what a hook runs: a command text, or the words of a command with its arguments.
pub(super) fn command_of(hook: &Hook, processes: &BTreeMap<String, Process>) -> Option<Command> {
    let process = hook.process().and_then(|name| processes.get(name));
    match (process, &hook.command) {
        (Some(process), _) => Some(Command::Argv(process.command.clone())),
        (None, Some(Command::Argv(words))) => {
            Some(Command::Argv([words.as_slice(), &hook.args].concat()))
        }
        (None, command) => command.clone(),
    }
}

fn literal(texts: &[String], has_drives: bool) -> Vec<Word> {
    let slashed = |text: &String| if has_drives { text.replace('\\', "/") } else { text.clone() };
    texts.iter().map(slashed).map(Word::literal).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::config::Config;

    /// A project with files to be found.
    fn project() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        for directory in [".git", ".hookexec", "hooks", "my hooks"] {
            fs::create_dir(project.path().join(directory)).unwrap();
        }
        for file in [
            ".hookexec/own.sh", "a.sh", "b.py", "hooks/c.sh", "my hooks/d.sh", "TODO.md",
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
        let bases = Bases::new(&path, project);
        let executed = bases.executed(&config.hooks[0], &config.processes, true);
        (names(executed.scripts.into_keys()), names(executed.uncovered.into_iter()))
    }

    /// Returns names of files as Unix writes them.
    fn names(names: impl Iterator<Item = String>) -> Vec<String> {
        let slashed = |name: String| name.replace(r"hooks\", "hooks/").replace(r"exec\", "exec/");
        names.map(slashed).collect()
    }

    // Windows finds the file in either case.
    #[cfg(unix)]
    #[test]
    fn a_script_has_one_name_where_case_does_not_count() {
        let project = project();
        let root = project.path().canonicalize().unwrap();
        let mut bases = Bases::new(&root.join(".hookexec/hooks.yaml"), &root);
        let shouted = PathBuf::from(root.to_str().unwrap().to_uppercase()).join("a.sh");
        for (case_counts, expected) in [(true, None), (false, Some("a.sh"))] {
            bases.case_counts = case_counts;
            assert_eq!(bases.name(&shouted).as_deref(), expected);
        }
    }

    #[test]
    fn scripts_in_texts_for_windows_are_covered() {
        let project = project();
        let path = project.path().join(".hookexec/hooks.yaml");
        for (keys, scripts) in [
            (r"command: ['hooks\c.sh']", vec!["hooks/c.sh"]),
            (r"command: ['PowerShell.exe', '-File', '.\a.sh']", vec!["a.sh"]),
            (r"command: [cmd, /c, 'hooks\c.sh']", vec!["hooks/c.sh"]),
            (r#"command: 'call "hooks\c.sh" & a.sh', shell: cmd"#, vec!["a.sh", "hooks/c.sh"]),
            (r"command: '& .\a.sh; . hooks\c.sh', shell: pwsh", vec!["a.sh", "hooks/c.sh"]),
        ] {
            let text = format!("stop: [{{ type: command, {keys} }}]\n");
            let config = Config::from_yaml(&text, &path).unwrap_or_else(|it| panic!("{text}{it}"));
            let mut bases = Bases::new(&path, project.path());
            bases.has_drives = true;
            let executed = bases.executed(&config.hooks[0], &config.processes, true);
            assert_eq!(names(executed.scripts.into_keys()), scripts, "{keys}");
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

    // Windows lets few users make links.
    #[cfg(unix)]
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

    // Windows lets few users make links.
    #[cfg(unix)]
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
