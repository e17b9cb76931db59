//! The trust store: approvals, and what is no longer approved.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::diff::MAX_DIFF;
use super::*;
use crate::config::{Config, FileConfig};
use crate::files;

const HOOKS: &str = "pre_tool_use:\n  - hooks: [{type: command, command: sh ./check.sh --fast}]\n";

fn project() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("project/hooks.yaml");
    fs::create_dir(directory.path().join("project")).unwrap();
    fs::write(&path, HOOKS).unwrap();
    fs::write(path.with_file_name("check.sh"), "exit 0\n").unwrap();
    (directory, path)
}

fn bundle(path: &Path) -> Bundle {
    let Config { hooks, processes, .. } = Config::load_file(path).unwrap();
    let config = FileConfig { hooks, processes, ..FileConfig::default() };
    Bundle::read(
        config.hooks[0].location.file(),
        &config,
        path.parent().unwrap(),
        true,
        &mut (1 << 20),
    )
}

/// Returns why each hook of an approved `bundle` must not run.
fn refusals(store: &TrustStore, bundle: &Bundle) -> Vec<Option<String>> {
    let approved = store.approved_scripts(bundle);
    bundle.covered().map(|hook| approved.refusal(hook).map(|refusal| refusal.problem)).collect()
}

#[test]
fn a_path_has_one_record_where_case_does_not_count() {
    let mut store = TrustStore::at("/store");
    let [one, other] = ["/a/P/hooks.yaml", "/A/p/hooks.yaml"].map(Path::new);
    for case_counts in [true, false] {
        store.case_counts = case_counts;
        let same = store.record(one, "digest") == store.record(other, "digest");
        assert_eq!((same, store.is_same(one, other)), (!case_counts, !case_counts));
    }
}

#[test]
fn only_exactly_the_approved_bytes_are_trusted() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state/trust"));
    assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
    store.add(&bundle(&path)).unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Approved);

    assert_eq!(refusals(&store, &bundle(&path)), [None]);

    // The script is part of what was approved.
    fs::write(path.with_file_name("check.sh"), "curl evil\n").unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Approved);
    let expected = "`check.sh` changed after its approval";
    assert_eq!(refusals(&store, &bundle(&path)), [Some(expected.to_owned())]);
    let diff = store.diff(&bundle(&path));
    assert!(diff.contains("-exit 0") && diff.contains("+curl evil"), "{diff}");

    fs::write(path.with_file_name("check.sh"), "exit 0\n").unwrap();
    assert_eq!(refusals(&store, &bundle(&path)), [None]);
    assert_eq!(store.remove(&path).unwrap(), 1);
    assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
}

#[test]
fn a_file_that_was_approved_is_missed_when_it_is_gone() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&bundle(&path)).unwrap();
    let project = dunce::canonicalize(path.parent().unwrap()).unwrap();
    let gone = |directories: &[PathBuf]| store.approved_in(directories, false);
    assert_eq!(gone(std::slice::from_ref(&project)), Vec::<PathBuf>::new());
    let outside = store.approved_in(std::slice::from_ref(&project), true);
    assert_eq!(outside, [project.join("hooks.yaml")]);
    fs::remove_file(&path).unwrap();
    assert_eq!(gone(std::slice::from_ref(&project)), [project.join("hooks.yaml")]);
    assert_eq!(gone(&[directory.path().to_owned()]), Vec::<PathBuf>::new());
    assert_eq!(store.remove(&path).unwrap(), 1);
    assert_eq!(gone(&[project]), Vec::<PathBuf>::new());
}

#[test]
fn where_the_project_lies_does_not_matter() {
    let (first, path) = project();
    let (_second, elsewhere) = project();
    let store = TrustStore::at(first.path().join("state"));
    store.add(&bundle(&path)).unwrap();
    assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved);
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
    store.add(&bundle(&path)).unwrap();
    store.add(&bundle(&elsewhere)).unwrap();
    fs::write(path.with_file_name("check.sh"), "exit 1\n").unwrap();
    let expected = "`check.sh` changed after its approval";
    assert_eq!(refusals(&store, &bundle(&path)), [Some(expected.to_owned())]);
}

#[test]
fn a_version_that_was_replaced_is_approved_nowhere_else() {
    let (first, path) = project();
    let (_second, elsewhere) = clone("exit 0\n");
    let (_third, later) = clone("exit 0\n");
    let store = TrustStore::at(first.path().join("state"));
    store.add(&bundle(&path)).unwrap();
    assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved);
    store.remember(&bundle(&elsewhere));
    fs::write(&path, format!("{HOOKS}# stricter\n")).unwrap();
    store.add(&bundle(&path)).unwrap();
    assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved, "it was used there before");
    assert_eq!(store.status(&bundle(&later)), Trust::Unknown);
    assert_eq!(store.approvals().len(), 2);
}

#[test]
fn an_approval_counts_when_the_clock_was_ahead_at_the_one_before() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let before = store.add(&bundle(&path)).unwrap();
    let ahead = Approval { approved_at: before.approved_at + 3_600_000_000, ..before };
    let record = store.record(&ahead.path, &ahead.digest);
    fs::write(record, serde_json::to_vec(&ahead).unwrap()).unwrap();
    fs::write(&path, format!("{HOOKS}# second\n")).unwrap();
    store.add(&bundle(&path)).unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Approved);
    fs::write(&path, HOOKS).unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Changed);
}

#[test]
fn a_record_that_can_not_be_read_brings_no_older_approval_back() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let first = store.add(&bundle(&path)).unwrap();
    let spoilt = store.record(&first.path, &files::digest(b"another version"));
    files::replace_private(&spoilt, b"{").unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Changed);
    store.add(&bundle(&path)).unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Approved);
}

// Windows has no modes.
#[cfg(unix)]
#[test]
fn a_store_that_others_can_write_approves_nothing() {
    let (directory, path) = project();
    let state = directory.path().join("state");
    let store = TrustStore::at(&state);
    store.add(&bundle(&path)).unwrap();
    assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(store.status(&bundle(&path)), Trust::Unsafe(_)));
    // Nor one below a directory in which others can put another in its place.
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(store.status(&bundle(&path)), Trust::Approved);
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(store.status(&bundle(&path)), Trust::Unsafe(_)));
    assert!(store.add(&bundle(&path)).is_err());
}

#[test]
fn a_store_in_the_project_approves_nothing() {
    let (_directory, path) = project();
    let store = TrustStore::at(path.with_file_name(".state"));
    let Trust::Unsafe(problem) = store.status(&bundle(&path)) else { panic!() };
    assert!(problem.to_string().contains("lies inside the project"), "{problem}");
}

#[test]
fn an_approval_is_taken_back_whoever_gave_it() {
    let (first, path) = project();
    let (_second, elsewhere) = project();
    let store = TrustStore::at(first.path().join("state"));
    store.add(&bundle(&path)).unwrap();
    assert!(store.remove_bundle(&bundle(&elsewhere)).unwrap());
    assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
    assert!(!store.remove_bundle(&bundle(&path)).unwrap());
}

#[test]
fn a_change_of_everything_is_shown_soon_and_in_part() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let script = |letter: &str| {
        let lines: Vec<String> = (0..60_000).map(|n| format!("{letter}{}", n * 7919)).collect();
        fs::write(path.with_file_name("check.sh"), lines.join("\n")).unwrap();
        bundle(&path)
    };
    store.add(&script("a")).unwrap();
    let diff = store.diff(&script("b"));
    assert!(diff.len() < 2 * MAX_DIFF && diff.contains("... and more"), "{}", diff.len());
}

// Windows lets few users make links.
#[cfg(unix)]
#[test]
fn a_script_behind_a_link_is_not_approved_and_one_that_became_a_link_has_changed() {
    let (directory, path) = project();
    let hooks = "stop: [{type: command, command: ./a}, {type: command, command: ./s/b}]\n";
    fs::write(&path, hooks).unwrap();
    let at = |name: &str| path.with_file_name(name);
    fs::create_dir(at("s")).unwrap();
    fs::write(at("a"), "exit 0\n").unwrap();
    fs::write(at("s/b"), "exit 0\n").unwrap();
    let store = TrustStore::at(directory.path().join("state"));
    store.add(&bundle(&path)).unwrap();
    assert_eq!(refusals(&store, &bundle(&path)), [None, None]);
    fs::rename(at("a"), at("real")).unwrap();
    fs::rename(at("s"), at("t")).unwrap();
    std::os::unix::fs::symlink("real", at("a")).unwrap();
    std::os::unix::fs::symlink("t", at("s")).unwrap();
    let is_link = |it: &Option<String>| it.as_ref().unwrap().contains("is a symbolic link");
    assert!(refusals(&store, &bundle(&path)).iter().all(is_link));
    assert!(store.add(&bundle(&path)).is_err());
}

#[test]
fn a_file_has_a_bounded_number_of_scripts() {
    let (_directory, path) = project();
    let names: Vec<String> = (0..101).map(|number| format!("s{number}")).collect();
    for name in &names {
        fs::write(path.with_file_name(name), "").unwrap();
    }
    let list = names.join(", ");
    let hooks = format!("stop: [{{type: command, command: 'true', scripts: [{list}]}}]\n");
    fs::write(&path, hooks).unwrap();
    let problems = &bundle(&path).hooks[0].problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].text.contains("more than 100 scripts"), "{problems:?}");
}

#[test]
fn a_forged_record_approves_nothing_else() {
    let (directory, path) = project();
    let store = TrustStore::at(directory.path().join("state"));
    let approval = store.add(&bundle(&path)).unwrap();
    fs::write(&path, format!("{HOOKS}# changed\n")).unwrap();
    let changed = bundle(&path);
    let other = Approval { digest: changed.digest.clone(), ..approval.clone() };
    let record = |approval: &Approval| store.record(&approval.path, &approval.digest);
    fs::copy(record(&approval), record(&other)).unwrap();
    assert_eq!(store.status(&changed), Trust::Changed);
}
