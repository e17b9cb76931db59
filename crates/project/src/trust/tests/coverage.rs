//! Which files an approval covers.

use std::fs;
use std::path::Path;

use super::super::{Coverage, Found, ProjectFile, TrustStore};
use super::{blocked, read};
use hookexec::Config;
use hookexec::config::FileConfig;

/// A project with files to be found.
fn project() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    for directory in [".git", ".hookexec", "hooks", "my hooks"] {
        fs::create_dir(project.path().join(directory)).unwrap();
    }
    for file in
        [".hookexec/own.sh", "a.sh", "b.py", "hooks/c.sh", "my hooks/d.sh", "TODO.md", "index.js"]
    {
        fs::write(project.path().join(file), "").unwrap();
    }
    project
}

/// Returns the names of the files that a hook with these keys names, and what is not covered.
fn covered(project: &Path, keys: &str, has_drives: bool) -> (Vec<String>, Vec<String>) {
    let path = project.join(".hookexec/hooks.yaml");
    let text = format!("stop: [{{ type: command, {keys} }}]\n");
    let Config { hooks, processes, .. } =
        Config::from_yaml(&text, &path).unwrap_or_else(|errors| panic!("{text}{errors}"));
    let mut config = FileConfig::default();
    (config.hooks, config.processes) = (hooks, processes);
    let file = ProjectFile::new(&path, &text, project);
    let coverage = Coverage::read(&file, &config, has_drives);
    let files = coverage.files.into_iter().filter(|file| file.found != Found::Nothing);
    (names(files.map(|file| file.name)), names(coverage.uncovered.into_iter()))
}

/// Returns names of files as Unix writes them, in order.
fn names(names: impl Iterator<Item = String>) -> Vec<String> {
    let slashed = |name: String| name.replace(r"hooks\", "hooks/").replace(r"exec\", "exec/");
    let mut names: Vec<String> = names.map(slashed).collect();
    names.sort();
    names
}

#[test]
fn scripts_in_texts_for_windows_are_covered() {
    let project = project();
    for (keys, scripts) in [
        (r"command: ['hooks\c.sh']", vec!["hooks/c.sh"]),
        (r"command: ['PowerShell.exe', '-File', '.\a.sh']", vec!["a.sh"]),
        (r"command: [cmd, /c, 'hooks\c.sh']", vec!["hooks/c.sh"]),
        (r#"command: 'call "hooks\c.sh" & a.sh', shell: cmd"#, vec!["a.sh", "hooks/c.sh"]),
        (r"command: '& .\a.sh; . hooks\c.sh', shell: pwsh", vec!["a.sh", "hooks/c.sh"]),
    ] {
        assert_eq!(covered(project.path(), keys, true).0, scripts, "{keys}");
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
        ("command: sh < ./a.sh", vec!["a.sh"]),
        ("command: python3 -u < b.py", vec!["b.py"]),
        ("command: bash -s x < a.sh", vec!["a.sh"]),
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
        assert_eq!(covered(project.path(), keys, false).0, scripts, "{keys}");
    }
}

#[test]
fn what_is_not_covered_is_listed() {
    let project = project();
    for (keys, uncovered) in [
        ("command: cat TODO.md", vec!["TODO.md", "cat"]),
        ("command: 'while read l; do eval \"$l\"; done < a.sh'", vec!["$l", "eval $l"]),
        ("command: [python3, -m, a.sh]", vec!["python3 -m"]),
        ("command: python3 -mmymod b.py", vec!["python3 -mmymod"]),
        ("command: ruby -I. -rx a.sh", vec!["ruby -I. -rx"]),
        ("command: [./a.sh, --config=TODO.md]", vec!["TODO.md"]),
        ("command: ./a.sh, env: { BASH_ENV: hooks/c.sh }", vec!["hooks/c.sh"]),
        ("command: node -r ./a.sh index.js", vec!["index.js", "node -r"]),
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
        ("command: timeout 5 make guard", vec!["make"]),
        ("command: trap guard EXIT", vec!["guard"]),
        ("command: cd hooks && ./c.sh", vec!["./c.sh"]),
        ("command: cd hooks && ./a.sh", vec!["./a.sh"]),
        ("command: cd hooks && ./gone.sh", vec!["./gone.sh"]),
        // It is missing, which is no gap: if it appears, the hooks file waits.
        ("command: ./gone.sh", vec![]),
        ("command: sh ./gone.sh", vec![]),
        ("command: '\"$HOOKEXEC_CONFIG_DIR\"/gone.sh'", vec![]),
        ("command: timeout 0.5 ./gone.sh", vec![]),
        ("command: env A=./x ./gone.sh", vec![]),
        ("command: ./hooks", vec!["./hooks"]),
        ("command: 'pushd hooks; ./a.sh'", vec!["./a.sh"]),
        (
            "command: 'f() { ./a.sh; }; f'",
            vec!["a part of the command text, which only a shell can read"],
        ),
        ("command: (cd hooks; . ./a.sh)", vec!["./a.sh"]),
        ("command: env --chdir=hooks ./a.sh", vec!["./a.sh"]),
        ("command: [env, -iC, hooks, ./a.sh]", vec!["./a.sh"]),
        ("command: sh -c 'cd hooks; ./a.sh'", vec!["./a.sh"]),
        ("command: 'cd \"$CLAUDE_PROJECT_DIR\" && \"$CLAUDE_PROJECT_DIR\"/a.sh'", vec![]),
        ("command: ~+/a.sh", vec!["~+/a.sh"]),
        ("command: X=./a; $X.sh", vec!["$X.sh"]),
        ("command: a=a; sh $a.sh", vec!["sh $a.sh"]),
        ("command: sh $'a\\x2esh'", vec!["sh $'a\\x2esh'"]),
        ("command: sh *", vec!["sh *"]),
        ("command: eval $a$b", vec!["$a$b", "eval $a$b"]),
        ("command: 'sh -c \"$X\"'", vec!["$X", "sh -c $X"]),
        ("command: 'sh \"$(printf ./g)\"'", vec!["sh $(...)"]),
        (
            "command: '$CLAUDE_PROJECT_DIR/a.sh', env: { CLAUDE_PROJECT_DIR: x }",
            vec!["$CLAUDE_PROJECT_DIR/a.sh"],
        ),
        ("command: echo (x", vec!["a part of the command text, which only a shell can read"]),
    ] {
        let found = covered(project.path(), keys, false);
        assert_eq!(found.1, uncovered, "{keys} {:?}", found.0);
    }
}

#[test]
fn a_command_of_many_wrappers_is_read_only_so_deep() {
    let project = project();
    let deep = |times: usize| format!("command: {}./a.sh", "nice ".repeat(times));
    assert_eq!(covered(project.path(), &deep(10), false).0, ["a.sh"]);
    let (files, uncovered) = covered(project.path(), &deep(100_000), false);
    assert_eq!((files.len(), uncovered.len()), (1, 1));
}

// Windows lets few users make links.
#[cfg(unix)]
#[test]
fn a_path_with_two_dots_is_the_file_that_a_link_before_them_leads_to() {
    let project = project();
    let keys = "command: 'sub/../a.sh; ./a.sh'";
    fs::create_dir(project.path().join("sub")).unwrap();
    assert_eq!(covered(project.path(), keys, false).0, ["a.sh", "a.sh"]);
    fs::remove_dir(project.path().join("sub")).unwrap();
    fs::create_dir(project.path().join("hooks/sub")).unwrap();
    fs::write(project.path().join("hooks/a.sh"), "").unwrap();
    std::os::unix::fs::symlink("hooks/sub", project.path().join("sub")).unwrap();
    let path = project.path().join("hooks.yaml");
    let text = format!("stop: [{{ type: command, {keys} }}]\n");
    fs::write(&path, text).unwrap();
    let state = tempfile::tempdir().unwrap();
    let store = TrustStore::at(state.path());
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &path), None);
    fs::write(project.path().join("hooks/a.sh"), "curl evil").unwrap();
    assert!(blocked(&store, &path).is_some());
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
    let (files, uncovered) = covered(project.path(), &keys, false);
    assert_eq!((files.len(), uncovered), (0, vec![guard.to_str().unwrap().to_owned()]));
    std::os::unix::fs::symlink(&guard, project.path().join("link.sh")).unwrap();
    assert_eq!(covered(project.path(), "command: ./link.sh", false).0, ["link.sh"]);
}
