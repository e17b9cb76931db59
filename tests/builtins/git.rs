//! The builtins that ask git, in real repositories, hostile ones included.

use std::fs;
use std::path::Path;
use std::process::Command;

use hookexec::Input;
use hookexec_calls::Surroundings;
use tempfile::TempDir;

use crate::support::{input, refused, run_in};

/// A repository with one commit on `main`, and the surroundings of a user with nothing configured.
struct Repository {
    directory: TempDir,
    home: TempDir,
}

impl Repository {
    fn new() -> Self {
        let repository = Self::empty();
        repository.write("kept.txt", "one\n");
        repository.git(&["add", "."]);
        repository.git(&["commit", "-q", "-m", "Say one"]);
        repository
    }

    fn empty() -> Self {
        let repository = Self { directory: TempDir::new().unwrap(), home: TempDir::new().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn git(&self, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .unwrap();
        assert!(done.success(), "git {args:?}");
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings::of_process().with_env([
            ("PATH", std::env::var_os("PATH").unwrap()),
            ("HOME", self.home.path().as_os_str().to_owned()),
        ])
    }

    fn input(&self) -> Input {
        input(serde_json::json!({ "cwd": self.path() }))
    }

    fn context(&self, name: &str, args: &[&str]) -> Option<String> {
        run_in(&self.surroundings(), name, args, &self.input())
            .map(|output| output.additional_context.unwrap())
    }
}

#[test]
fn status_shows_the_branch_and_what_changed() {
    let repository = Repository::new();
    assert_eq!(repository.context("add_git_status", &[]).unwrap(), "Git status:\n## main");
    repository.write("kept.txt", "two\n");
    repository.write("ünew\u{7}.txt", "");
    assert_eq!(
        repository.context("add_git_status", &[]).unwrap(),
        "Git status:\n## main\n M kept.txt\n?? \"ünew\\a.txt\""
    );
}

#[test]
fn diff_shows_what_is_not_committed() {
    let repository = Repository::new();
    assert_eq!(repository.context("add_git_diff", &[]), None);
    repository.write("kept.txt", "two\n");
    repository.write("staged.txt", "three\n");
    repository.git(&["add", "staged.txt"]);
    let stat = repository.context("add_git_diff", &[]).unwrap();
    assert!(stat.contains("kept.txt") && stat.contains("staged.txt"), "{stat}");
    assert!(stat.contains("2 files changed, 2 insertions(+), 1 deletion(-)"), "{stat}");
    let full = repository.context("add_git_diff", &["full"]).unwrap();
    assert!(full.contains("-one\n+two"), "{full}");
    assert!(full.contains("+three"), "{full}");
}

#[test]
fn a_large_diff_is_cut_where_a_character_ends() {
    let repository = Repository::new();
    repository.write("kept.txt", &"ä\n".repeat(400_000));
    let full = repository.context("add_git_diff", &["full"]).unwrap();
    assert!(full.len() < 4300, "{}", full.len());
    assert!(full.ends_with(" more bytes)"), "{full}");
}

#[test]
fn recent_commits_are_the_last_ones() {
    let repository = Repository::new();
    for n in 2..=12 {
        repository.git(&["commit", "-q", "--allow-empty", "-m", &format!("Say {n}")]);
    }
    let ten = repository.context("add_recent_commits", &[]).unwrap();
    assert_eq!(ten.lines().count(), 11, "{ten}");
    assert!(
        ten.starts_with("Recent commits:\n") && ten.lines().nth(1).unwrap().ends_with("Say 12")
    );
    let two = repository.context("add_recent_commits", &["2"]).unwrap();
    assert_eq!(two.lines().count(), 3, "{two}");
    assert!(refused("add_recent_commits", &["many"]).starts_with("N must be a whole number"));
    assert!(refused("add_recent_commits", &["1", "2"]).starts_with("it takes one argument"));
    assert_eq!(refused("add_git_diff", &["ful"]), "the argument can only be `full`, found `ful`");
}

#[test]
fn a_repository_without_a_commit_has_a_status_and_nothing_else() {
    let repository = Repository::empty();
    repository.write("new.txt", "x\n");
    repository.git(&["add", "."]);
    let status = repository.context("add_git_status", &[]).unwrap();
    assert_eq!(status, "Git status:\n## No commits yet on main\nA  new.txt");
    assert_eq!(repository.context("add_recent_commits", &[]), None);
}

#[test]
fn without_a_repository_or_git_or_a_directory_there_is_nothing() {
    let plain = TempDir::new().unwrap();
    let repository = Repository::new();
    let no_git = repository.surroundings().with_env([("PATH", plain.path())]);
    for name in ["add_git_status", "add_git_diff", "add_recent_commits"] {
        let surroundings = repository.surroundings();
        for cwd in [plain.path().to_str().unwrap(), "", "relative", "/does/not/exist"] {
            let input = input(serde_json::json!({ "cwd": cwd }));
            assert_eq!(run_in(&surroundings, name, &[], &input), None, "{name} in {cwd:?}");
        }
        assert_eq!(run_in(&no_git, name, &[], &repository.input()), None, "{name}");
    }
}

#[test]
fn variables_of_git_do_not_lead_elsewhere() {
    let here = Repository::new();
    let elsewhere = Repository::empty();
    let surroundings = here.surroundings().with_env([
        ("PATH", std::env::var_os("PATH").unwrap()),
        ("HOME", here.home.path().as_os_str().to_owned()),
        ("GIT_DIR", elsewhere.path().join(".git").into_os_string()),
        ("GIT_EXTERNAL_DIFF", "false".into()),
    ]);
    let status = run_in(&surroundings, "add_git_status", &[], &here.input()).unwrap();
    assert_eq!(status.additional_context.unwrap(), "Git status:\n## main");
}

#[test]
fn a_hostile_repository_runs_no_program() {
    let repository = Repository::new();
    let trap = repository.home.path().join("sprung");
    let program = repository.home.path().join("trap");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", trap.display());
    fs::write(&program, script).unwrap();
    make_executable(&program);
    let program = program.to_str().unwrap();

    repository.write(".gitattributes", "*.txt filter=x diff=x\n*.bin filter=a=b diff=x\n");
    repository.write("data.bin", "one\n");
    repository.git(&["add", "."]);
    repository.git(&["commit", "-q", "-m", "Add attributes"]);
    let hooks = repository.path().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in ["post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction"] {
        fs::copy(program, hooks.join(hook)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", program),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("core.pager", program),
        ("core.sshCommand", program),
        ("core.editor", program),
        ("pager.status", program),
        ("pager.diff", program),
        ("pager.log", program),
        ("diff.external", program),
        ("diff.x.command", program),
        ("diff.x.textconv", program),
        ("filter.x.clean", program),
        ("filter.x.smudge", program),
        ("filter.x.required", "true"),
        ("filter.a=b.process", program),
        ("filter.a=b.clean", program),
        ("gpg.program", program),
        ("log.showSignature", "true"),
        ("status.submoduleSummary", "true"),
    ] {
        repository.git(&["config", key, value]);
    }
    // The same length and another time stamp: only the content tells that it changed.
    repository.write("kept.txt", "two\n");
    repository.write("data.bin", "two\n");

    for (name, args) in [
        ("add_git_status", &[][..]),
        ("add_git_diff", &[][..]),
        ("add_git_diff", &["full"][..]),
        ("add_recent_commits", &[][..]),
        ("add_environment_info", &[][..]),
    ] {
        let context = repository.context(name, args);
        assert!(context.is_some(), "{name}");
        assert!(!trap.exists(), "{name}: {}", fs::read_to_string(&trap).unwrap());
    }
    let full = repository.context("add_git_diff", &["full"]).unwrap();
    assert!(full.contains("-one\n+two"), "{full}");

    // The trap works: plain git falls into it.
    let _ = Command::new("git").args(["status"]).current_dir(repository.path()).output().unwrap();
    assert!(trap.exists());
}

#[test]
fn a_repository_shows_no_files_outside_of_it() {
    let repository = Repository::new();
    let home = repository.home.path().to_str().unwrap();
    fs::write(repository.home.path().join("kept.txt"), "PRIVATE\n").unwrap();
    repository.write("kept.txt", "two\n");
    repository.git(&["config", "core.worktree", home]);
    for (name, args) in
        [("add_git_diff", &["full"][..]), ("add_git_diff", &[]), ("add_git_status", &[])]
    {
        let context = repository.context(name, args).unwrap();
        assert!(context.contains("kept.txt") && !context.contains("PRIVATE"), "{context}");
    }
    assert!(repository.context("add_git_diff", &["full"]).unwrap().contains("-one\n+two"));

    // A submodule and a linked directory have their files where their `.git` is.
    let whole = Repository::new();
    let part = Repository::new();
    let url = part.path().to_str().unwrap();
    whole.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "part"]);
    whole.git(&["worktree", "add", "--quiet", "linked"]);
    for place in ["part", "linked", "part/deeper"] {
        let place = whole.path().join(place);
        fs::create_dir_all(&place).unwrap();
        let file = place.ancestors().find(|place| place.join(".git").exists()).unwrap();
        fs::write(file.join("kept.txt"), "two\n").unwrap();
        let input = input(serde_json::json!({ "cwd": place }));
        let diff = run_in(&whole.surroundings(), "add_git_diff", &["full"], &input).unwrap();
        assert!(diff.additional_context.unwrap().contains("-one\n+two"), "{place:?}");
    }
}

#[test]
fn asking_leaves_the_repository_as_it_was() {
    let repository = Repository::new();
    // A stale time stamp makes git want to refresh the index.
    let file = fs::File::options().write(true).open(repository.path().join("kept.txt")).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_mins(1)).unwrap();
    let index = repository.path().join(".git/index");
    let before = fs::read(&index).unwrap();
    repository.context("add_git_status", &[]).unwrap();
    repository.context("add_git_diff", &["full"]);
    assert_eq!(fs::read(&index).unwrap(), before);
    assert!(!repository.path().join(".git/index.lock").exists());
}

#[test]
fn environment_info_tells_where_the_model_works() {
    let repository = Repository::new();
    let text = repository.context("add_environment_info", &[]).unwrap();
    let path = repository.path().display();
    assert_eq!(
        text,
        format!(
            "Working directory: {path}\nGit repository: yes\nOperating system: {}\nArchitecture: {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        )
    );
    let plain = TempDir::new().unwrap();
    let surroundings = repository.surroundings().with_env([("SHELL", "/bin/zsh")]);
    let input = input(serde_json::json!({ "cwd": plain.path() }));
    let output = run_in(&surroundings, "add_environment_info", &[], &input).unwrap();
    let text = output.additional_context.unwrap();
    assert!(text.contains("Git repository: no") && text.ends_with("Shell: /bin/zsh"), "{text}");
    assert_eq!(run_in(&surroundings, "add_environment_info", &[], &Input::default()), None);
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
