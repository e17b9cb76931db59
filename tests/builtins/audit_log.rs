//! `audit_log`, with several processes that write at once.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use hookexec::Input;
use hookexec_calls::Surroundings;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{args, builtin, input, nowhere, refused, run};

fn write(path: &Path, input: &Input) -> Result<(), String> {
    let prepared = builtin("audit_log").prepare(&nowhere(), &args(&[path.to_str().unwrap()]));
    prepared.unwrap()(input)
        .map(|answer| assert_eq!(answer, None))
        .map_err(|error| error.to_string())
}

fn records(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_record_is_the_input_with_its_time_and_without_secrets() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("state/agent/audit.jsonl");
    let token = format!("gh{}_16C7e42F292c6912E7710c838347Ae178B4a", 'p');
    let input = input(json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "before_llm_call", "tool_name": "shell",
        "tool_input": { "cmd": format!("echo {token}"), "password": "hunter2", "n": 1.50 },
        "messages": [{ "content": "long" }], "usage": { "input": 3 },
    }));
    write(&path, &input).unwrap();
    write(&path, &input).unwrap();
    let expected = json!({
        "time": "2026-03-20T18:30:00.250Z",
        "session_id": "s", "cwd": "/w", "hook_event_name": "before_llm_call", "tool_name": "shell",
        "tool_input": { "cmd": "echo [REDACTED:github-token]", "password": "[REDACTED:password]", "n": 1.50 },
        "messages_count": 1, "usage": { "input": 3 },
    });
    assert_eq!(records(&path), [expected.clone(), expected]);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_record_stays_small() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("audit.jsonl");
    write(&path, &input(json!({ "tool_response": "ä\n".repeat(100_000) }))).unwrap();
    let many: Vec<_> = (0..50).map(|_| "x".repeat(4000)).collect();
    write(&path, &input(json!({ "session_id": "s", "tool_name": "t", "tool_response": many })))
        .unwrap();
    let records = records(&path);
    assert!(records[0]["tool_response"].as_str().unwrap().ends_with("more bytes)"));
    assert_eq!(records[1]["tool_name"], "t");
    assert!(records[1]["left_out"].as_str().unwrap().starts_with("the record would take 2"));
    assert!(fs::metadata(&path).unwrap().len() < 2 * 64 * 1024);
}

#[test]
fn a_file_that_is_no_file_is_refused() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    symlink(at("elsewhere"), at("link")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    for (name, cause) in [("link", "it is a link"), ("pipe", ""), (".", "")] {
        let error = write(&at(name), &Input::default()).unwrap_err();
        assert!(error.contains("can't be written") && error.contains(cause), "{name}: {error}");
    }
    assert!(!at("elsewhere").exists());
    assert!(
        write(Path::new("/dev/null"), &Input::default())
            .unwrap_err()
            .contains("not a regular file")
    );
    let error = write(Path::new("/proc/none/audit"), &Input::default()).unwrap_err();
    assert!(error.contains("/proc/none/audit"), "{error}");
}

#[test]
fn a_file_of_others_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("audit.jsonl");
    fs::write(&path, "").unwrap();
    for (mode, taken) in
        [(0o600, true), (0o640, true), (0o644, true), (0o660, false), (0o602, false)]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let written = write(&path, &Input::default());
        assert_eq!(written.is_ok(), taken, "{mode:o}");
        assert!(taken || written.unwrap_err().contains("other users may write it"), "{mode:o}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    // Only root can give a file away.
    if chown(&path, Some(65_534), None).is_ok() {
        let error = write(&path, &Input::default()).unwrap_err();
        assert!(error.contains("belongs to another user (uid 65534)"), "{error}");
    }
}

#[test]
fn the_path_is_absolute_or_at_home() {
    let home = TempDir::new().unwrap();
    let surroundings = Surroundings::of_process().with_env([("HOME", home.path())]);
    let prepared = builtin("audit_log").prepare(&surroundings, &args(&["~/a.jsonl"])).unwrap();
    prepared(&Input::default()).unwrap();
    assert_eq!(records(&home.path().join("a.jsonl")).len(), 1);
    for path in ["audit.jsonl", "./a", "~", "/", ""] {
        assert!(refused("audit_log", &[path]).contains("must be a file, absolute"), "{path}");
    }
    assert_eq!(refused("audit_log", &["~/a"]), "`~/a`: the home directory is not known");
    assert_eq!(refused("audit_log", &[]), "it needs the file to write to, `PATH`");
    assert!(refused("audit_log", &["/a", "/b"]).contains("it takes one argument"));
}

/// How many processes write in the test below, and how many records each.
const WRITERS: usize = 4;
const EACH: usize = 200;
/// Tells this test's own program that it is one of the writers.
const WRITER: &str = "HOOKEXEC_TEST_AUDIT_WRITER";

#[test]
fn processes_that_write_at_once_do_not_mix_their_records() {
    if let Some(path) = std::env::var_os(WRITER) {
        return write_many(Path::new(&path));
    }
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "audit_log::processes_that_write_at_once_do_not_mix_their_records",
                ])
                .args(["--nocapture"])
                .env(WRITER, &path)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    // All are ready before the first writes.
    for writer in &mut writers {
        let mut lines = std::io::BufReader::new(writer.stdout.as_mut().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")));
    }
    for writer in &mut writers {
        writer.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    for mut writer in writers {
        drop(writer.stdout.take());
        writer.wait().unwrap();
    }
    let records = records(&path);
    assert_eq!(records.len(), WRITERS * EACH);
    for record in records {
        let text = record["tool_response"].as_str().unwrap();
        assert!(text.len() >= 3000 && text.chars().all(|letter| text.starts_with(letter)));
    }
}

fn write_many(path: &Path) {
    std::io::stdout().write_all(b"ready\n").unwrap();
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let letter = char::from(b'a' + u8::try_from(std::process::id() % 26).unwrap());
    for _ in 0..EACH {
        let text = letter.to_string().repeat(3000);
        write(path, &input(json!({ "tool_response": text }))).unwrap();
    }
}

#[test]
fn it_is_for_every_event_and_has_no_opinion() {
    let directory = TempDir::new().unwrap();
    assert_eq!(builtin("audit_log").events().count(), hookexec::Event::all().len());
    let path = directory.path().join("a");
    assert_eq!(run("audit_log", &[path.to_str().unwrap()], &Input::default()), None);
}
