use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;

/// Returns the counter of a hook.
fn counter(counts: Counts, hook: &str) -> Counter {
    Counter::new(&Arc::new(counts), hook.to_owned())
}

fn counted(most: usize) -> Counted<'static> {
    Counted { most, ..Counted::default() }
}

fn counts(directory: &Path) -> Counter {
    counter(Counts::Directory(Some(directory.join("counts"))), "ab")
}

/// Returns the files of sessions.
fn sessions(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("counts")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap() != "lock").collect()
}

#[test]
fn each_session_hook_key_and_window_is_counted_by_itself() {
    let directory = tempfile::tempdir().unwrap();
    for counts in [counts(directory.path()), Counter::in_memory()] {
        let other = Counter::new(&counts.counts, "abc".to_owned());
        let take = |session: &str, counted: &Counted<'_>| counts.count(session, counted).unwrap();
        assert!(take("s", &counted(2)));
        assert!(take("s", &counted(2)));
        assert!(!take("s", &counted(2)));
        assert!(!take("s", &counted(2)), "a refusal is not counted");
        assert!(take("s", &counted(3)), "the count is that of the things, not of the questions");
        assert!(take("other", &counted(1)));
        assert!(other.count("s", &counted(1)).unwrap());
        assert!(take("s", &Counted { key: "k", ..counted(1) }));
        assert!(!take("s", &Counted { key: "k", ..counted(1) }));
        assert!(take("s", &Counted { window: "turn 2", ..counted(1) }));
        assert!(!take("s", &Counted { window: "turn 2", ..counted(1) }));
        assert!(take("s", &Counted { window: "turn 3", key: "k", ..counted(1) }));
        let again = Counted { window: "turn 3", key: "k", again: true, ..counted(1) };
        assert!(take("s", &again) && take("s", &again), "it was allowed, and is not counted again");
        assert!(!take("s", &Counted { again: false, ..again.clone() }));
        assert!(!take("s", &again), "it was refused");
        counts.count_in_a_row("s", &counted(1), false).unwrap();
        assert!(take("s", &counted(1)));
        assert!(!other.count("s", &counted(1)).unwrap(), "that of another hook stays");
    }
}

#[test]
fn the_last_of_a_row_is_known_and_the_next_begins_a_row() {
    let counts = Counter::in_memory();
    let next = |again| {
        let counted = Counted { again, ..counted(3) };
        counts.count_in_a_row("s", &counted, true).unwrap()
    };
    assert_eq!([false; 7].map(next), [false, false, true, false, false, true, false]);
    assert!(!next(true));
    assert_eq!([false; 2].map(next), [false, true]);
    assert!(next(true), "the same failure once more");
    counts.count_in_a_row("s", &counted(1), false).unwrap();
    assert_eq!([false; 3].map(next), [false, false, true]);
    let one = |_| counts.count_in_a_row("t", &counted(1), true).unwrap();
    assert_eq!([0; 3].map(one), [true; 3]);
}

#[test]
fn a_run_that_only_reads_sees_the_counts_and_changes_none() {
    let directory = tempfile::tempdir().unwrap();
    let (counts, place) = (counts(directory.path()), directory.path().join("counts"));
    let reader = counter(Counts::OnlyRead(Some(place.clone())), "ab");
    assert!(reader.count("s", &counted(1)).unwrap());
    assert!(!place.exists());
    assert!(counts.count("s", &counted(2)).unwrap());
    assert!(reader.count("s", &counted(2)).unwrap());
    assert!(reader.count("s", &counted(2)).unwrap());
    assert!(!reader.count("s", &counted(1)).unwrap());
    assert!(counts.count("s", &counted(2)).unwrap());
}

#[test]
fn a_thing_counts_for_its_span_and_longer_when_the_clock_was_put_back() {
    let mut session = Session::default();
    let hour = Counted { span: Some(Duration::from_hours(1)), ..counted(1) };
    assert!(session.count("ab", &hour, 10_000).unwrap());
    assert!(!session.count("ab", &hour, 13_599).unwrap());
    assert!(!session.count("ab", &hour, 5).unwrap());
    assert!(session.count("ab", &hour, 13_600).unwrap());
}

#[test]
fn a_session_that_is_full_is_an_error_and_forgets_nothing() {
    let mut session = Session::default();
    let keys: Vec<String> = (0..1001).map(|number| number.to_string()).collect();
    for key in &keys[..1000] {
        assert!(session.count("ab", &Counted { key, ..counted(1) }, 1).unwrap());
    }
    assert!(session.count("ab", &Counted { key: &keys[1000], ..counted(1) }, 1).is_err());
    assert!(!session.count("ab", &Counted { key: "0", ..counted(1) }, 1).unwrap());
    // The counts of a turn that is over make room.
    assert!(session.count("ab", &Counted { window: "2", ..counted(1) }, 1).unwrap());
    assert_eq!(session.newest(), 1);
}

#[test]
fn a_session_never_becomes_a_path_and_an_input_without_one_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let counts = counts(directory.path());
    let long = "x".repeat(1 << 16);
    for id in ["../../x", "/etc/passwd", "a/b", "..", "\0", "lock", &long] {
        assert!(counts.count(id, &counted(1)).unwrap(), "{id:?}");
    }
    let names = sessions(directory.path());
    assert_eq!(names.len(), 7);
    for name in names {
        let name = name.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit()), "{name}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    assert!(counts.count("", &counted(1)).unwrap_err().to_string().contains("no `session_id`"));
    let homeless = counter(Counts::Directory(None), "ab");
    assert!(homeless.count("s", &counted(1)).unwrap_err().to_string().contains("HOME"));
}

#[test]
fn a_broken_file_is_an_error_and_not_a_count_of_zero() {
    let directory = tempfile::tempdir().unwrap();
    let counts = counts(directory.path());
    assert!(counts.count("s", &counted(1)).unwrap());
    let path = sessions(directory.path()).remove(0);
    let whole = fs::read(&path).unwrap();
    let large = vec![b' '; (1 << 20) + 1];
    let more = br#"{"counters":{},"version":2}"#;
    for broken in [&b""[..], b"{", &whole[..whole.len() - 1], b"[]", b"\xff", more, &large] {
        fs::write(&path, broken).unwrap();
        let error = counts.count("s", &counted(1)).unwrap_err().to_string();
        assert!(error.contains("remove the file to count from 0"), "{error}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(error.contains(name), "{error}");
        assert_eq!(fs::read(&path).unwrap(), broken, "it is left as it is");
    }
    fs::write(&path, whole).unwrap();
    assert!(!counts.count("s", &counted(1)).unwrap());
}

#[cfg(unix)]
#[test]
fn a_link_or_a_file_that_others_can_write_is_an_error() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let directory = tempfile::tempdir().unwrap();
    let counts = counts(directory.path());
    assert!(counts.count("s", &counted(2)).unwrap());
    let path = sessions(directory.path()).remove(0);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let fails = |cause: &str| {
        let error = counts.count("s", &counted(2)).unwrap_err().to_string();
        assert!(error.contains(cause), "{error}");
    };
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));

    set(&path, 0o666);
    fails("other users may write it");
    set(&path, 0o600);
    set(path.parent().unwrap(), 0o755);
    fails("only you can enter");
    set(path.parent().unwrap(), 0o700);

    let elsewhere = directory.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    fails("it is a link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fails("not a regular file");
    fs::remove_dir(&path).unwrap();
    fs::rename(&elsewhere, &path).unwrap();

    let lock = path.with_file_name("lock");
    fs::remove_file(&lock).unwrap();
    symlink(&elsewhere, &lock).unwrap();
    fails("it is a link");
    assert!(!elsewhere.exists());
    fs::remove_file(&lock).unwrap();
    assert!(counts.count("s", &counted(2)).unwrap());
}

#[test]
fn a_process_that_is_killed_before_its_rename_leaves_the_old_count() {
    let directory = tempfile::tempdir().unwrap();
    let counts = counts(directory.path());
    assert!(counts.count("s", &counted(2)).unwrap());
    let path = sessions(directory.path()).remove(0);
    let mut draft = path.clone().into_os_string();
    draft.push(".77.draft");
    fs::write(&draft, "{\"counters\":{\"ab").unwrap();
    assert!(counts.count("s", &counted(2)).unwrap());
    assert!(!counts.count("s", &counted(2)).unwrap());
    assert!(counts.count("another", &counted(1)).unwrap());
    assert!(!Path::new(&draft).exists(), "the next session removes it");
}

#[test]
fn of_ten_thousand_sessions_the_newest_stay() {
    let directory = tempfile::tempdir().unwrap();
    let counts = counts(directory.path());
    assert!(counts.count("s", &counted(1)).unwrap());
    let first = sessions(directory.path()).remove(0);
    let bytes = fs::read(&first).unwrap();
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    for number in 0..9_999_u32 {
        let name = digest(&number.to_le_bytes());
        let path = first.with_file_name(format!("{name}.json"));
        fs::write(&path, &bytes).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    for number in 0..150 {
        assert!(counts.count(&format!("new {number}"), &counted(1)).unwrap());
        assert!(sessions(directory.path()).len() <= MAX_COUNTED);
    }
    assert!(!counts.count("s", &counted(1)).unwrap(), "a newer session is not removed");
    assert!(!counts.count("new 7", &counted(1)).unwrap());

    let counts = Counter::in_memory();
    for number in 0..10_000 {
        counts.count(&number.to_string(), &counted(1)).unwrap();
    }
    let Counts::Memory(sessions) = &*counts.counts else { unreachable!() };
    assert_eq!(locked(sessions).len(), MAX_COUNTED);
}

const SHARED: &str = "HOOKEXEC_TEST_COUNTS";

#[test]
fn processes_that_count_at_once_count_each_thing_once() {
    if let Some(directory) = std::env::var_os(SHARED) {
        // One of the processes: prints how much it could count.
        let counts = counts(Path::new(&directory));
        let taken = (0..40).filter(|_| counts.count("s", &counted(100)).unwrap()).count();
        fs::write(Path::new(&directory).join(std::process::id().to_string()), taken.to_string())
            .unwrap();
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let name = "counts::tests::processes_that_count_at_once_count_each_thing_once";
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name]).env(SHARED, directory.path());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..4).map(|_| start()).collect();
    let mut taken = 0;
    for child in &mut children {
        assert!(child.wait().unwrap().success());
        let path = directory.path().join(child.id().to_string());
        taken += fs::read_to_string(path).unwrap().parse::<usize>().unwrap();
    }
    assert_eq!(taken, 100);
}

#[test]
fn two_turns_of_a_session_at_the_same_time_are_counted_apart() {
    let counts = Counter::in_memory();
    let take = |window| counts.count("s", &Counted { window, ..counted(2) }).unwrap();
    let taken: Vec<bool> = (0..3).flat_map(|_| [take("A"), take("B")]).collect();
    assert_eq!(taken, [true, true, true, true, false, false]);
    let rows = Counter::new(&counts.counts, "row".to_owned());
    let in_a_row = |row| rows.count("s", &Counted { row, ..counted(2) }).unwrap();
    let taken: Vec<bool> = ["x", "x", "x", "y", "x"].map(in_a_row).to_vec();
    assert_eq!(taken, [true, true, false, true, true]);
}
