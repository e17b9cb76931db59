//! The builtins that make tool responses smaller.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookexec::Output;
use hookexec_builtins::Prepared;
use hookexec_calls::Surroundings;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{args, builtin, input, nowhere, refused, run_in};

const LIMIT: &str = "limit_large_tool_results";
const ELIDE: &str = "elide_repeated_tool_results";

fn surroundings(temp_dir: &Path) -> Surroundings {
    Surroundings::of_process().with_env([("TMPDIR", temp_dir)])
}

fn limit(temp_dir: &Path, arguments: &[&str], call: Value) -> Option<Output> {
    run_in(&surroundings(temp_dir), LIMIT, arguments, &input(call))
}

fn text(output: Option<Output>) -> String {
    output.unwrap().updated_tool_response.unwrap().as_str().unwrap().to_owned()
}

/// Returns every file below `directory`.
fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { files(&path) } else { vec![path] }
        })
        .collect()
}

#[test]
fn a_large_text_is_cut_and_kept_whole_in_a_private_file() {
    let temp = TempDir::new().unwrap();
    let whole: String = (0..3000).map(|n| n.to_string() + "\n").collect();
    let call = |tool: &str| json!({ "session_id": "s", "tool_name": tool, "tool_response": whole });

    let tail = text(limit(temp.path(), &[], call("shell")));
    assert!(
        tail.starts_with("[cut: the whole is 13890 bytes in 3000 lines and lies in "),
        "{tail}"
    );
    assert!(
        tail.ends_with("\n2998\n2999\n") && tail.lines().count() <= 2000,
        "{}",
        tail.lines().count()
    );
    let head = text(limit(temp.path(), &[], call("read_file")));
    assert!(head.starts_with("0\n1\n") && head.ends_with(".txt]") && head.lines().count() <= 2000);
    assert_eq!(
        text(limit(temp.path(), &["--keep=tail"], call("read_file"))).lines().last(),
        Some("2999")
    );

    let kept = files(temp.path());
    assert_eq!(kept.len(), 2, "one for each tool, however often: {kept:?}");
    for file in &kept {
        assert!(tail.contains(file.to_str().unwrap()) || head.contains(file.to_str().unwrap()));
        assert_eq!(fs::read_to_string(file).unwrap(), whole);
        assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    }
}

#[test]
fn what_was_cut_once_is_small_enough() {
    let temp = TempDir::new().unwrap();
    for (whole, limits) in [
        ("ä".repeat(100_000), &[][..]),
        ("x\n".repeat(5000), &["--max-lines=10"]),
        ("abc\n".repeat(5000), &["--max-bytes=1024"]),
    ] {
        let call = |response: &str| json!({ "tool_name": "x", "tool_response": response });
        let cut = text(limit(temp.path(), limits, call(&whole)));
        assert_eq!(limit(temp.path(), limits, call(&cut)), None, "{limits:?}");
    }
}

#[test]
fn what_is_small_or_no_text_stays() {
    let temp = TempDir::new().unwrap();
    let image = "A".repeat(100_000);
    for response in [
        json!("small"),
        json!(null),
        json!({ "n": 1 }),
        json!([{ "type": "image", "data": image, "mimeType": "image/png" }]),
        json!({ "type": "image", "source": { "data": image } }),
        json!({ "resource": { "blob": image } }),
    ] {
        assert_eq!(
            limit(temp.path(), &[], json!({ "tool_name": "x", "tool_response": response })),
            None
        );
    }
    assert_eq!(limit(temp.path(), &[], json!({ "tool_name": "x" })), None);
    assert_eq!(files(temp.path()), Vec::<PathBuf>::new());
}

#[test]
fn the_texts_of_a_structured_response_are_cut_one_by_one() {
    let temp = TempDir::new().unwrap();
    let response = json!({ "content": [{ "type": "text", "text": "x".repeat(60_000) }, { "text": "short" }], "n": 1.50 });
    let output = limit(temp.path(), &[], json!({ "tool_name": "x", "tool_response": response }));
    let cut = output.unwrap().updated_tool_response.unwrap();
    assert!(cut["content"][0]["text"].as_str().unwrap().starts_with("[cut: "));
    assert_eq!(cut["content"][1]["text"], "short");
    assert_eq!(cut["n"], response["n"]);
}

#[test]
fn the_end_of_a_session_deletes_its_files_and_no_others() {
    let temp = TempDir::new().unwrap();
    let whole = "x".repeat(60_000);
    for session in ["a", "b", "../../c", ""] {
        let _ = limit(
            temp.path(),
            &[],
            json!({ "session_id": session, "tool_name": "../t", "tool_response": whole }),
        )
        .unwrap();
    }
    let end = |session: &str| {
        let call = json!({ "session_id": session, "hook_event_name": "session_end" });
        assert_eq!(limit(temp.path(), &[], call), None);
    };
    assert_eq!(files(temp.path()).len(), 4);
    end("a");
    assert_eq!(files(temp.path()).len(), 3);
    end("../../c");
    assert_eq!(files(temp.path()).len(), 2);
    // Sessions without an id share one place.
    end("");
    end("never seen");
    assert_eq!(files(temp.path()).len(), 2);
    // Forgotten for eight days.
    let forgotten = files(temp.path()).remove(0).parent().unwrap().to_owned();
    let then = SystemTime::now() - Duration::from_hours(8 * 24);
    fs::File::open(&forgotten).unwrap().set_modified(then).unwrap();
    end("never seen");
    assert_eq!(files(temp.path()).len(), 1);
    assert!(!forgotten.exists());
}

#[test]
fn a_place_that_others_can_look_into_is_not_used() {
    let whole = "x".repeat(60_000);
    let name = format!("hookexec-{}", rustix::process::geteuid().as_raw());
    let elsewhere = TempDir::new().unwrap();
    let open = TempDir::new().unwrap();
    fs::create_dir(open.path().join(&name)).unwrap();
    fs::set_permissions(open.path().join(&name), fs::Permissions::from_mode(0o755)).unwrap();
    let linked = TempDir::new().unwrap();
    symlink(elsewhere.path(), linked.path().join(&name)).unwrap();
    for temp in [open.path(), linked.path(), Path::new("/does/not/exist")] {
        let output = limit(temp, &[], json!({ "tool_name": "x", "tool_response": whole })).unwrap();
        let warning = output.system_message.clone().unwrap();
        assert!(warning.contains("could not be kept in a file"), "{warning}");
        assert!(
            text(Some(output))
                .starts_with("[cut: the whole is 60000 bytes in 1 lines; its end is]")
        );
    }
    assert_eq!(files(elsewhere.path()), Vec::<PathBuf>::new());
    assert_eq!(files(open.path()), Vec::<PathBuf>::new());
}

#[test]
fn limits_that_cannot_work_are_refused() {
    assert!(refused(LIMIT, &["--max-bytes=1000"]).contains("of at least 1024, found `1000`"));
    assert!(refused(LIMIT, &["--max-lines=x"]).contains("--max-lines must be"));
    assert!(refused(LIMIT, &["--keep=middle"]).contains("`head` or `tail`, found `middle`"));
    assert!(refused(LIMIT, &["--max=1"]).contains("unknown option `--max`"));
    assert!(refused(LIMIT, &["100"]).contains("it takes options only, found `100`"));
}

/// A builtin that remembers, and what it says to one call after the other.
struct Elider(Prepared);

impl Elider {
    fn new(arguments: &[&str]) -> Self {
        Self(builtin(ELIDE).prepare(&nowhere(), &args(arguments)).unwrap())
    }

    fn elides(&self, call: &Value) -> bool {
        match self.0(&input(call.clone())).unwrap() {
            None => false,
            Some(output) => text(Some(output)).starts_with("[unchanged: "),
        }
    }
}

fn read(answer: &str) -> Value {
    json!({
        "session_id": "s", "hook_event_name": "tool_response_transform", "tool_name": "read_file",
        "tool_input": { "path": "a" }, "tool_response": answer.repeat(200),
    })
}

/// Returns `call` with one field set.
fn with(mut call: Value, field: &str, value: &str) -> Value {
    call[field] = value.into();
    call
}

#[test]
fn a_repeated_answer_is_elided_and_then_given_again() {
    let elider = Elider::new(&[]);
    let answers = [
        ("x", false),
        ("x", true),
        ("x", false),
        ("x", true),
        ("y", false),
        ("x", false),
        ("x", true),
    ];
    for (step, (answer, elided)) in answers.into_iter().enumerate() {
        assert_eq!(elider.elides(&read(answer)), elided, "step {step}");
    }
}

#[test]
fn only_the_same_call_of_the_same_agent_is_a_repetition() {
    let elider = Elider::new(&[]);
    assert!(!elider.elides(&read("x")));
    let mut other = read("x");
    other["tool_input"] = json!({ "path": "b" });
    assert!(!elider.elides(&other));
    assert!(!elider.elides(&with(read("x"), "session_id", "t")));
    assert!(!elider.elides(&with(read("x"), "agent_name", "helper")));
    assert!(!elider.elides(&with(read("x"), "tool_name", "grep")));
    assert!(elider.elides(&read("x")));
    // One call may pass twice.
    let elider = Elider::new(&[]);
    assert!(!elider.elides(&with(read("x"), "tool_use_id", "1")));
    assert!(!elider.elides(&with(read("x"), "tool_use_id", "1")));
    assert!(elider.elides(&with(read("x"), "tool_use_id", "2")));
}

#[test]
fn errors_short_answers_and_tools_that_write_are_never_elided() {
    let elider = Elider::new(&[]);
    let mut failed = read("x");
    failed["tool_error"] = json!(true);
    for call in
        [failed, with(read("x"), "tool_response", "short"), with(read("x"), "tool_name", "shell")]
    {
        assert!(!elider.elides(&call) && !elider.elides(&call), "{call}");
    }
    // Unless the configuration says which.
    let elider = Elider::new(&["shell|my_.*"]);
    let shell = with(read("x"), "tool_name", "shell");
    assert!(!elider.elides(&shell) && elider.elides(&shell));
    assert!(!elider.elides(&read("x")) && !elider.elides(&read("x")));
    assert!(refused(ELIDE, &["a("]).contains("not a valid regular expression"));
}

#[test]
fn what_makes_the_model_forget_makes_the_builtin_forget() {
    for event in [
        "after_compaction", "pre_compact", "session_start", "session_end", "on_session_resume",
        "on_agent_switch",
    ] {
        let elider = Elider::new(&[]);
        assert!(!elider.elides(&read("x")));
        assert!(!elider.elides(&json!({ "session_id": "other", "hook_event_name": event })));
        assert!(!elider.elides(&json!({ "session_id": "s", "hook_event_name": event })));
        assert!(!elider.elides(&read("x")), "{event}");
    }
}

#[test]
fn the_memory_is_bounded() {
    let elider = Elider::new(&[]);
    assert!(!elider.elides(&read("x")));
    for session in 0..63 {
        assert!(!elider.elides(&with(read("x"), "session_id", &session.to_string())));
    }
    assert!(elider.elides(&read("x")), "64 sessions are remembered");
    assert!(!elider.elides(&with(read("x"), "session_id", "new")));
    assert!(!elider.elides(&with(read("x"), "session_id", "0")), "all others are forgotten");
    assert!(elider.elides(&with(read("x"), "session_id", "new")));
}
