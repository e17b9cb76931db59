//! The trust store: approvals, and what is no longer approved.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::review::MAX_DIFF;
use super::*;
use hookexec::Config;
use hookexec::config::FileConfig;
use hookexec_files::files;
use hookexec_files::platform::system::canonical;

mod coverage;

const HOOKS: &str = "pre_tool_use:\n  - hooks: [{type: command, command: sh ./check.sh --fast}]\n";

fn project() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("project/hooks.yaml");
    fs::create_dir(directory.path().join("project")).unwrap();
    fs::write(&path, HOOKS).unwrap();
    fs::write(path.with_file_name("check.sh"), "exit 0\n").unwrap();
    (directory, path)
}

/// Reads the hooks file as `hookexec trust` does.
fn read(path: &Path) -> ProjectFile {
    let Config { hooks, processes, .. } = Config::load_file(path).unwrap();
    let mut config = FileConfig::default();
    (config.hooks, config.processes) = (hooks, processes);
    let text = fs::read_to_string(path).unwrap();
    let mut file = ProjectFile::new(path, &text, path.parent().unwrap());
    file.coverage = Coverage::read(&file, &config, false);
    file
}

/// Returns why the hooks file at `path` does not run, found out as at an event.
fn blocked(store: &TrustStore, path: &Path) -> Option<Blocked> {
    let text = fs::read_to_string(path).unwrap();
    let mut file = ProjectFile::new(path, &text, path.parent().unwrap());
    store.judge(&mut file, true)
}

/// Returns the name of the named file for which the hooks file at `path` does not run, and how it differs.
fn change(store: &TrustStore, path: &Path) -> Option<(String, FileChange)> {
    match blocked(store, path) {
        Some(Blocked::File { name, change, .. }) => Some((name, change)),
        None => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_exactly_the_approved_bytes_run() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state/trust"));
    assert_eq!(blocked(&store, &path), Some(Blocked::Unapproved));
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &path), None);

    let script = path.with_file_name("check.sh");
    fs::write(&script, "curl evil\n").unwrap();
    assert_eq!(change(&store, &path), Some(("check.sh".to_owned(), FileChange::Changed)));
    let diff = store.diff(&read(&path));
    assert!(diff.contains("-exit 0") && diff.contains("+curl evil"), "{diff}");
    fs::remove_file(&script).unwrap();
    assert_eq!(change(&store, &path), Some(("check.sh".to_owned(), FileChange::Gone)));

    fs::write(&script, "exit 0\n").unwrap();
    assert_eq!(blocked(&store, &path), None);
    fs::write(&path, format!("{HOOKS}# changed\n")).unwrap();
    assert_eq!(blocked(&store, &path), Some(Blocked::Changed));
    fs::write(&path, HOOKS).unwrap();
    store.remove(&path, None).unwrap();
    assert_eq!(blocked(&store, &path), Some(Blocked::Unapproved));
}

#[test]
fn a_file_that_appears_where_none_was_is_not_approved() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let script = path.with_file_name("check.sh");
    fs::remove_file(&script).unwrap();
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &path), None);
    fs::create_dir(&script).unwrap();
    assert_eq!(blocked(&store, &path), None);
    fs::remove_dir(&script).unwrap();
    fs::write(&script, "curl evil\n").unwrap();
    assert_eq!(change(&store, &path), Some(("check.sh".to_owned(), FileChange::Unapproved)));
}

#[test]
fn a_file_that_was_approved_is_missed_when_it_is_gone() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&read(&path)).unwrap();
    let project = canonical(path.parent().unwrap()).unwrap();
    let approved = || Vec::from_iter(store.approved_in(std::slice::from_ref(&project)));
    assert_eq!(approved(), [project.join("hooks.yaml")]);
    fs::remove_file(&path).unwrap();
    assert_eq!(approved(), [project.join("hooks.yaml")]);
    assert!(store.approved_in(&[directory.path().to_owned()]).is_empty());
    store.remove(&path, None).unwrap();
    assert!(approved().is_empty());
}

#[test]
fn where_the_project_lies_does_not_matter() {
    let (first, path) = project();
    let (_second, elsewhere) = project();
    let store = TrustStore::at(first.path().join("state"));
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &elsewhere), None);
}

/// A second project with the same hooks file.
fn clone(script: &str) -> (tempfile::TempDir, PathBuf) {
    let (directory, path) = project();
    fs::write(path.with_file_name("check.sh"), script).unwrap();
    (directory, path)
}

#[test]
fn a_script_that_was_approved_in_another_clone_is_not_approved_here() {
    let (first, path) = project();
    let (_second, elsewhere) = clone("exit 1\n");
    let store = TrustStore::at(first.path().join("state"));
    store.add(&read(&path)).unwrap();
    store.add(&read(&elsewhere)).unwrap();
    fs::write(path.with_file_name("check.sh"), "exit 1\n").unwrap();
    assert_eq!(change(&store, &path), Some(("check.sh".to_owned(), FileChange::Changed)));
}

#[test]
fn a_version_that_was_replaced_is_approved_nowhere_else() {
    let (first, path) = project();
    let (_second, elsewhere) = clone("exit 0\n");
    let (_third, later) = clone("exit 0\n");
    let store = TrustStore::at(first.path().join("state"));
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &elsewhere), None);
    fs::write(&path, format!("{HOOKS}# stricter\n")).unwrap();
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &elsewhere), None, "it was used there before");
    assert_eq!(blocked(&store, &later), Some(Blocked::Unapproved));
    let kept = fs::read_dir(store.directory()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(kept.filter(|path| path.is_file()).count(), 2);
}

#[test]
fn an_older_version_counts_no_longer() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&read(&path)).unwrap();
    fs::write(&path, format!("{HOOKS}# second\n")).unwrap();
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &path), None);
    fs::write(&path, HOOKS).unwrap();
    assert_eq!(blocked(&store, &path), Some(Blocked::Changed));
}

#[test]
fn of_several_approvals_of_the_same_bytes_the_one_counts_whose_files_are_here() {
    let (first, path) = project();
    let (_second, elsewhere) = clone("exit 1\n");
    let store = TrustStore::at(first.path().join("state"));
    store.add(&read(&path)).unwrap();
    store.add(&read(&elsewhere)).unwrap();
    for script in ["exit 0\n", "exit 1\n"] {
        let (_third, later) = clone(script);
        assert_eq!(blocked(&store, &later), None, "{script}");
    }
    let (_third, later) = clone("exit 2\n");
    assert_eq!(change(&store, &later), Some(("check.sh".to_owned(), FileChange::Changed)));
}

#[test]
fn a_record_that_can_not_be_read_approves_nothing() {
    let (directory, path) = project();
    let (_second, elsewhere) = clone("exit 0\n");
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&read(&elsewhere)).unwrap();
    let approval = store.add(&read(&path)).unwrap();
    let record = store.record(&approval.path, &approval.digest);
    files::replace_private(&record, b"{").unwrap();
    assert_eq!(blocked(&store, &path), Some(Blocked::Changed));
    store.add(&read(&path)).unwrap();
    assert_eq!(blocked(&store, &path), None);
}

// Windows has no modes.
#[cfg(unix)]
#[test]
fn a_store_that_others_can_write_approves_nothing() {
    let (directory, path) = project();
    let state = directory.path().join("state");
    let store = TrustStore::at(&state);
    store.add(&read(&path)).unwrap();
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(blocked(&store, &path), Some(Blocked::Unsafe(_))));
    // Nor one below a directory in which others can put another in its place.
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(blocked(&store, &path), None);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(blocked(&store, &path), Some(Blocked::Unsafe(_))));
    assert!(store.add(&read(&path)).is_err());
}

#[test]
fn a_store_in_the_project_approves_nothing() {
    let (_directory, path) = project();
    let store = TrustStore::at(path.with_file_name(".state"));
    let Some(Blocked::Unsafe(problem)) = blocked(&store, &path) else { panic!() };
    assert!(problem.to_string().contains("lies inside the project"), "{problem}");
}

#[test]
fn an_approval_is_taken_back_wherever_it_was_given() {
    let (first, path) = project();
    let (_second, elsewhere) = project();
    let store = TrustStore::at(first.path().join("state"));
    store.add(&read(&path)).unwrap();
    store.remove(&elsewhere, Some(&read(&elsewhere).digest)).unwrap();
    assert_eq!(blocked(&store, &path), Some(Blocked::Unapproved));
}

#[test]
fn a_change_of_everything_is_shown_soon_and_in_part() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let script = |letter: &str| {
        let lines: Vec<String> = (0..60_000).map(|n| format!("{letter}{}", n * 7919)).collect();
        fs::write(path.with_file_name("check.sh"), lines.join("\n")).unwrap();
        read(&path)
    };
    store.add(&script("a")).unwrap();
    let diff = store.diff(&script("b"));
    assert!(diff.len() < 2 * MAX_DIFF && diff.contains("... and more"), "{}", diff.len());
}

// Windows lets few users make links.
#[cfg(unix)]
#[test]
fn a_script_behind_a_link_counts_by_the_bytes_that_it_leads_to() {
    let (directory, path) = project();
    let hooks = "stop: [{type: command, command: ./a}, {type: command, command: ./s/b}]\n";
    fs::write(&path, hooks).unwrap();
    let at = |name: &str| path.with_file_name(name);
    fs::create_dir(at("s")).unwrap();
    for name in ["a", "other", "s/b"] {
        fs::write(at(name), format!("echo {name}\n")).unwrap();
    }
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&read(&path)).unwrap();
    fs::rename(at("a"), at("real")).unwrap();
    fs::rename(at("s"), at("t")).unwrap();
    std::os::unix::fs::symlink("real", at("a")).unwrap();
    std::os::unix::fs::symlink("t", at("s")).unwrap();
    assert_eq!(blocked(&store, &path), None);
    store.add(&read(&path)).unwrap();
    // Another approved file in its place is a change.
    fs::remove_file(at("a")).unwrap();
    std::os::unix::fs::symlink("s/b", at("a")).unwrap();
    assert_eq!(change(&store, &path), Some(("a".to_owned(), FileChange::Changed)));
    fs::write(at("real"), "curl evil\n").unwrap();
    fs::remove_file(at("a")).unwrap();
    std::os::unix::fs::symlink("real", at("a")).unwrap();
    assert_eq!(change(&store, &path), Some(("a".to_owned(), FileChange::Changed)));
}

// Windows has no pipes in directories.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_script_is_a_change_and_can_not_be_approved() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&read(&path)).unwrap();
    let script = path.with_file_name("check.sh");
    fs::remove_file(&script).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&script).status().unwrap().success());
    assert_eq!(change(&store, &path), Some(("check.sh".to_owned(), FileChange::Changed)));
    let refused = store.add(&read(&path)).unwrap_err().to_string();
    assert!(refused.contains("can't approve `check.sh`: it is not a regular file"), "{refused}");
}

#[test]
fn a_forged_record_approves_nothing_else() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let approval = store.add(&read(&path)).unwrap();
    fs::write(&path, format!("{HOOKS}# changed\n")).unwrap();
    let forged = store.record(&approval.path, &read(&path).digest);
    fs::copy(store.record(&approval.path, &approval.digest), forged).unwrap();
    assert_eq!(blocked(&store, &path), Some(Blocked::Changed));
}
