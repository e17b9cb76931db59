//! `audit:` in a hooks file, `hookexec log`, `hookexec test --log`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

const HOOKS: &str = r#"audit: { path: logs/audit.jsonl, input: redacted }
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: command, name: no-rm, side_effects: none, command: 'echo "not that" >&2; exit 2', when: { field: tool_input.cmd, regex: "^rm " } }
        - { type: command, name: trial, side_effects: none, mode: shadow, command: "exit 2", when: { field: tool_input.cmd, regex: "^ls" } }
    - matcher: edit_file
      hooks:
        - { type: command, name: edits, command: "exit 1" }
        - { type: command, name: never, command: "true", when: { field: tool_input.path, equals: nowhere } }
"#;

fn sandbox(hooks: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", hooks);
    sandbox
}

fn event(sandbox: &Sandbox, tool: &str, key: &str, value: &str) -> Done {
    let input = json!({ "session_id": "s", "tool_name": tool, "tool_input": { key: value } });
    sandbox
        .hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"])
        .stdin(input.to_string())
        .run()
}

/// Records a denial, a shadow's denial, and a hook that fails open.
fn recorded() -> Sandbox {
    let sandbox = sandbox(HOOKS);
    let _ = event(&sandbox, "shell", "cmd", "rm -r x").exits(2);
    let _ = event(&sandbox, "shell", "cmd", "ls").exits(0);
    let _ = event(&sandbox, "edit_file", "path", "a").exits(0);
    let _ = event(&sandbox, "other", "x", "y").exits(0);
    sandbox
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    let log = sandbox.read("logs/audit.jsonl");
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn log(sandbox: &Sandbox, arguments: &[&str]) -> Done {
    sandbox.hookexec([&["log", "logs/audit.jsonl"], arguments].concat()).run()
}

#[test]
fn what_is_only_explained_is_not_recorded() {
    let sandbox = recorded();
    let before = records(&sandbox).len();
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" } }).to_string();
    let explain = sandbox.hookexec(["explain", "pre_tool_use", "--config", "hooks.yaml"]);
    let _ = explain.stdin(input).run().exits(0);
    assert_eq!(records(&sandbox).len(), before);
}

#[test]
fn the_page_replaces_nothing_but_a_page() {
    let sandbox = recorded();
    for file in ["logs/audit.jsonl", "hooks.yaml"] {
        let before = sandbox.read(file);
        let refused = log(&sandbox, &["--html", file]).exits(64);
        assert!(refused.stderr.contains("is not a page of"), "{}", refused.stderr);
        assert_eq!(sandbox.read(file), before);
    }
    let page = sandbox.project().join("report.html");
    for _ in 0..2 {
        let _ = log(&sandbox, &["--html", "report.html"]).exits(0);
        let mode = std::os::unix::fs::PermissionsExt::mode(&page.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn every_event_is_recorded_with_what_each_hook_did() {
    let sandbox = recorded();
    let records = records(&sandbox);
    assert_eq!(records.len(), 4, "also one that no hook matches");
    let denied = &records[0];
    assert_eq!((&denied["decision"], &denied["tool"]), (&json!("deny"), &json!("shell")));
    assert_eq!(denied["message"], "not that");
    assert_eq!(denied["session"], "s");
    assert_eq!(denied["hooks"][0]["name"], "no-rm");
    let place = sandbox.project().canonicalize().unwrap().join("hooks.yaml:6");
    assert_eq!(denied["hooks"][0]["source"], place.to_str().unwrap(), "a log is read elsewhere");
    assert_eq!(denied["hooks"][0].get("stderr"), None);
    assert_eq!(denied["input"]["tool_input"]["cmd"], "rm -r x");
    assert!(denied["config"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(records[2]["failed_open"], json!(["edits"]));
    let mode =
        |path: &str| sandbox.project().join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("logs/audit.jsonl"), mode("logs")), (0o600, 0o700));
}

#[test]
fn secrets_and_unwanted_inputs_are_not_recorded() {
    let sandbox = sandbox(&HOOKS.replace("\"not that\"", "\"password=hunter2secret\""));
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let _ = event(&sandbox, "shell", "cmd", &format!("rm {token}")).exits(2);
    let text = sandbox.read("logs/audit.jsonl");
    assert!(!text.contains(&token) && !text.contains("hunter2secret"), "{text}");
    assert_eq!(records(&sandbox)[0]["input_redacted"], true);

    sandbox.write("hooks.yaml", &HOOKS.replace(", input: redacted", ""));
    let _ = event(&sandbox, "shell", "cmd", "rm y").exits(2);
    assert_eq!(records(&sandbox)[1].get("input"), None);
}

#[test]
fn many_writers_share_a_log_and_lose_nothing_when_it_rotates() {
    let hooks = HOOKS.replace("input: redacted", "input: redacted, max_size: 3000B, keep: 50");
    let sandbox = sandbox(&hooks);
    let input = json!({ "tool_name": "other", "tool_input": { "text": "x".repeat(300) } });
    let input = input.to_string();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (sandbox, input) = (&sandbox, input.clone());
            scope.spawn(move || {
                for _ in 0..10 {
                    let session = format!("{{\"session_id\":\"{writer}\",{}", &input[1..]);
                    let run = sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]);
                    let _ = run.stdin(session).run().exits(0);
                }
            });
        }
    });
    let done = log(&sandbox, &["--format", "json"]).exits(0);
    assert_eq!(done.stdout.lines().count(), 40);
    assert_eq!(done.stderr, "");
    assert!(sandbox.project().join("logs/audit.jsonl.2").exists());
    let mut times: Vec<String> = Vec::new();
    for line in done.stdout.lines() {
        times.push(serde_json::from_str::<Value>(line).unwrap()["time"].to_string());
    }
    assert!(times[0] <= times[39], "the oldest file is read first");
}

#[test]
fn a_log_that_cannot_be_written_is_said_and_decides_nothing() {
    let sandbox = sandbox(HOOKS);
    std::fs::create_dir_all(sandbox.project().join("logs/audit.jsonl")).unwrap();
    let mut said = "slow".to_owned();
    // A verdict says only that the log is slow when a busy machine takes longer than it waits.
    for _ in 0..100 {
        if said.contains("slow") {
            let verdict = event(&sandbox, "shell", "cmd", "ls").exits(0).json_line();
            said = verdict["system_message"].as_str().unwrap().to_owned();
        }
    }
    assert!(said.contains("audit.jsonl can't be written"), "{said}");
    let verdict = event(&sandbox, "shell", "cmd", "rm x").exits(2).json_line();
    assert_eq!(verdict["decision"], "deny");
}

#[test]
fn the_log_is_read_filtered_and_counted() {
    let sandbox = recorded();
    let denials = log(&sandbox, &["--decision", "deny"]).exits(0);
    assert_eq!(denials.stdout.lines().count(), 1);
    let said = "deny  pre_tool_use shell  not that [no-rm]  rm -r x";
    assert!(denials.stdout.contains(said), "{}", denials.stdout);
    for (arguments, count) in [
        (&["--decision", "none"][..], 3),
        (&["--hook", "trial"], 1),
        (&["--hook", "hooks.yaml:10"], 1),
        (&["--event", "stop"], 0),
        (&["--since", "1h"], 4),
        (&["--since", "2999-01-01T00:00:00Z"], 0),
    ] {
        let arguments = [arguments, &["--format", "json"]].concat();
        let done = log(&sandbox, &arguments).exits(0);
        assert_eq!(done.stdout.lines().count(), count, "{arguments:?}\n{}", done.stdout);
        let says_none = done.stderr.contains("no record of the log matches");
        assert_eq!(says_none, count == 0, "{}", done.stderr);
    }
    let _ = log(&sandbox, &["--since", "yesterday"]).exits(64);

    let shadow = log(&sandbox, &["--shadow"]).exits(0);
    assert_eq!(shadow.stdout.lines().count(), 1, "{}", shadow.stdout);
    assert!(shadow.stdout.contains("would deny: trial (hooks.yaml:7)"), "{}", shadow.stdout);

    let done = log(&sandbox, &["--stats", "--format", "json", "--config", "hooks.yaml"]).exits(0);
    let numbers: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(numbers["records"], 4);
    assert_eq!(numbers["decisions"], json!({ "deny": 1, "none": 3 }));
    assert_eq!(numbers["failed_open"], 1);
    let hooks = numbers["hooks"].as_array().unwrap();
    let never: Vec<_> = hooks.iter().filter(|hook| hook["ran"] == 0).collect();
    assert!(never.len() == 1 && never[0]["name"] == "never", "{never:?}");
    let hook = numbers["hooks"].as_array().unwrap().iter().find(|hook| hook["name"] == "trial");
    assert_eq!(hook.unwrap()["would_change"], 1);
    let text = log(&sandbox, &["--stats", "--config", "hooks.yaml"]).exits(0).stdout;
    assert!(text.contains("trial (hooks.yaml:7) would have changed 1 verdict"), "{text}");
}

#[test]
fn a_hook_counts_once_however_its_file_was_named() {
    let sandbox = recorded();
    let whole = sandbox.project().join("hooks.yaml");
    std::fs::create_dir(sandbox.project().join("below")).unwrap();
    let input = r#"{"tool_name": "shell", "tool_input": {"cmd": "rm x"}}"#;
    for (file, directory) in [(whole.to_str().unwrap(), "."), ("../hooks.yaml", "below")] {
        let run = sandbox.hookexec(["run", "pre_tool_use", "--config", file]);
        let _ = run.current_dir(sandbox.project().join(directory)).stdin(input).run().exits(2);
    }
    let done = log(&sandbox, &["--stats", "--format", "json", "--config", "hooks.yaml"]).exits(0);
    let numbers: Value = serde_json::from_str(&done.stdout).unwrap();
    let hooks = numbers["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), 4, "{hooks:?}");
    let guard = hooks.iter().find(|hook| hook["name"] == "no-rm").unwrap();
    assert_eq!((&guard["ran"], &guard["source"]), (&json!(3), &json!("hooks.yaml:6")));
    assert_eq!((&hooks[3]["name"], &hooks[3]["ran"]), (&json!("never"), &json!(0)));
    assert_eq!(hooks[3]["source"], "hooks.yaml:11");
}

#[test]
fn a_record_tells_which_hooks_files_it_rests_on() {
    let sandbox = sandbox(HOOKS);
    let digest = || {
        let _ = event(&sandbox, "shell", "cmd", "rm x");
        records(&sandbox).pop().unwrap()["config"].clone()
    };
    let first = digest();
    assert!(first.as_str().unwrap().starts_with("sha256:"), "{first:?}");
    assert_eq!(digest(), first);
    sandbox.write("hooks.yaml", &HOOKS.replace("not that", "not this"));
    assert_ne!(digest(), first);
    sandbox.write("hooks.yaml", HOOKS);
    assert_eq!(digest(), first);
}

#[test]
fn an_approved_project_does_not_rotate_the_log_of_the_user() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks("audit: { path: ~/log/audit.jsonl, events: all, keep: 5 }\n");
    std::fs::create_dir(sandbox.home().join("log")).unwrap();
    std::os::unix::fs::symlink(sandbox.home(), sandbox.project().join("link")).unwrap();
    sandbox.write("hooks.yaml", "audit: { path: link/log/audit.jsonl, max_size: 1, keep: 1 }\n");
    let done = sandbox.hookexec(["trust", "add", "--yes"]).run();
    let said = "`link/log/audit.jsonl` is not in the project";
    assert!(done.code() != Some(0) && done.stderr.contains(said), "{done:#?}");
    for _ in 0..3 {
        let _ = sandbox.hookexec(["run", "stop"]).stdin("{}").run().exits(0);
    }
    let log = std::fs::read_to_string(sandbox.home().join("log/audit.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 3, "{log}");
    assert!(!sandbox.home().join("log/audit.jsonl.1").exists());
}

#[test]
fn a_record_that_was_cut_is_said_and_the_next_is_read() {
    let sandbox = recorded();
    let text = sandbox.read("logs/audit.jsonl");
    let first = text.lines().next().unwrap();
    sandbox.write("logs/audit.jsonl", &first[..first.len() / 2]);
    let _ = event(&sandbox, "shell", "cmd", "rm z").exits(2);
    let done = log(&sandbox, &["--format", "json"]).exits(0);
    assert_eq!(done.stdout.lines().count(), 1);
    assert!(done.stderr.contains("can't be read"), "{}", done.stderr);
    let _ = sandbox.hookexec(["log", "nowhere.jsonl"]).run().exits(64);
}

#[test]
fn writers_that_are_killed_cost_their_own_records_alone() {
    // Records of many pages, so that a death may come in the middle of one.
    let hooks = HOOKS.replace("input: redacted", "input: redacted, max_size: 50MB");
    let sandbox = sandbox(&hooks);
    let texts: serde_json::Map<String, Value> =
        (0..12).map(|key| (format!("text{key}"), json!("x".repeat(4000)))).collect();
    let size = || sandbox.project().join("logs/audit.jsonl").metadata().map_or(0, |it| it.len());
    let write = |session: String, killed: bool| {
        let input = json!({ "session_id": session, "tool_name": "other", "tool_input": texts });
        let mut writer =
            sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]).spawn();
        let mut stdin = writer.stdin.take().unwrap();
        stdin.write_all(input.to_string().as_bytes()).unwrap();
        drop(stdin);
        // The moment in which somebody writes is a good one.
        let before = size();
        while killed && size() == before && writer.try_wait().unwrap().is_none() {}
        if killed {
            writer.kill().unwrap();
        }
        let done = crate::support::wait(writer).status.code();
        assert!(done == Some(0) || (killed && done.is_none()), "{done:?}");
        (session, done.is_some())
    };
    let written: Vec<(String, bool)> = std::thread::scope(|scope| {
        let write = &write;
        let writers = (0..4).map(|writer| {
            scope.spawn(move || -> Vec<_> {
                let sessions =
                    (0..15).map(|number| (format!("{writer}-{number}"), number % 3 != 0));
                sessions.map(|(session, killed)| write(session, killed)).collect()
            })
        });
        writers.collect::<Vec<_>>().into_iter().flat_map(|it| it.join().unwrap()).collect()
    });
    let died = written.iter().filter(|(_, done)| !done).count();
    assert!(died > 0, "nobody was killed");

    let done = log(&sandbox, &["--format", "json"]).exits(0);
    let read: Vec<Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut known = 0;
    for (session, done) in &written {
        let records = read.iter().filter(|record| record["session"] == session.as_str());
        let found: Vec<&Value> = records.collect();
        assert!(found.len() == 1 || (!done && found.is_empty()), "{session}: {}", found.len());
        known += found.len();
        for record in found {
            assert_eq!(record["input"]["tool_input"]["text11"].as_str().unwrap().len(), 4000);
        }
    }
    assert_eq!(read.len(), known, "records of nobody");
    // Each that was cut is said, and was nobody's who lived to the end.
    let whole = |line: &str| serde_json::from_str::<Value>(line).is_ok();
    let cut = sandbox.read("logs/audit.jsonl").lines().filter(|line| !whole(line)).count();
    assert!(cut <= died, "{cut} cut, {died} killed");
    let said = match cut {
        0 => String::new(),
        1 => "1 line of the log can't be read".to_owned(),
        many => format!("{many} lines of the log can't be read"),
    };
    assert!(done.stderr.contains(&said), "{cut} cut: {}", done.stderr);
    assert_eq!(done.stderr.contains("can't be read"), cut > 0, "{}", done.stderr);
}

#[test]
fn a_log_on_stdin_is_shown_as_it_grows() {
    let sandbox = recorded();
    let log = sandbox.read("logs/audit.jsonl");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hookexec"));
    sandbox.dress(&mut command).args(["log", "-", "--decision", "deny"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(log.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("deny  pre_tool_use shell  not that"), "{line}");
    drop(stdin);
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
}

#[test]
fn the_page_holds_everything_and_nothing_of_it_is_markup() {
    let hooks = HOOKS.replace("not that", "<script>alert(1)</script> & no");
    let sandbox = sandbox(&hooks);
    let _ = event(&sandbox, "shell", "cmd", "rm </pre><img src=x>").exits(2);
    let _ = event(&sandbox, "edit_file", "path", "a").exits(0);
    let done = log(&sandbox, &["--html", "page.html", "--config", "hooks.yaml"]).exits(0);
    assert_eq!(done.stdout, "");
    let page = sandbox.read("page.html");
    let data = page.split("<script type=\"application/json\" id=\"data\">").nth(1).unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    assert_eq!(
        (&data["numbers"]["records"], &data["numbers"]["events"]["pre_tool_use"]),
        (&json!(2), &json!(2))
    );
    let hooks = data["numbers"]["hooks"].as_array().unwrap();
    let never = hooks.iter().find(|hook| hook["ran"] == 0 && hook["name"] == "never").unwrap();
    assert_eq!(never["source"], "hooks.yaml:11");
    assert_eq!(
        data["reasons"],
        json!([["<script>alert(1)</script> & no", { "events": 1, "hooks": ["no-rm"] }]])
    );
    let denied = &data["records"][1];
    assert_eq!(denied["about"], "rm </pre><img src=x>");
    assert_eq!(denied["sources"][0], "hooks.yaml:6");
    let record: Value = serde_json::from_str(denied["json"].as_str().unwrap()).unwrap();
    let (decision, status) = (&record["decision"], &record["hooks"][0]["status"]);
    assert_eq!((decision, status), (&json!("deny"), &json!("blocked")));
    assert_eq!(record["tool"], "shell");
    for part in ["<script>alert", "<img", "http://", "https://", "<link", "{{"] {
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(part), "{part}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    let mode = sandbox.project().join("page.html").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn replay(sandbox: &Sandbox, arguments: &[&str]) -> Done {
    let base = ["test", "--log", "logs/audit.jsonl", "--config", "new.yaml"];
    sandbox.hookexec([&base, arguments].concat()).run()
}

#[test]
fn the_same_configuration_changes_nothing_and_runs_nothing_external() {
    let sandbox = sandbox(&HOOKS.replace("exit 1", "touch edited; exit 1"));
    let _ = event(&sandbox, "shell", "cmd", "rm -r x").exits(2);
    let _ = event(&sandbox, "edit_file", "path", "a").exits(0);
    std::fs::remove_file(sandbox.project().join("edited")).unwrap();
    sandbox.write("new.yaml", &sandbox.read("hooks.yaml"));
    let done = replay(&sandbox, &[]).exits(0);
    let said = "2 passed, 0 failed, 0 could not run\n";
    assert!(done.stdout.starts_with(said), "{}", done.stdout);
    assert!(!sandbox.project().join("edited").exists());
    assert_eq!(records(&sandbox).len(), 2, "a replay is not recorded");
    let _ = replay(&sandbox, &["--run-external"]).exits(0);
    assert!(sandbox.project().join("edited").exists());
}

#[test]
fn what_a_candidate_changes_is_counted_with_examples() {
    let sandbox = recorded();
    let new = HOOKS.replace("\"^rm \"", "\"^ls\"").replace("not that", "not this");
    sandbox.write("new.yaml", &new);
    let done = replay(&sandbox, &[]).exits(1);
    for line in [
        "2 passed, 2 failed, 0 could not run",
        "deny -> none: 1",
        "none -> deny: 1",
        "    was: not that",
        "    now: not this",
    ] {
        assert!(done.stdout.lines().any(|found| found == line), "{line}\n{}", done.stdout);
    }
    let done = replay(&sandbox, &["--format", "json"]).exits(1);
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(summary["changes"][0]["change"], json!({ "decision": ["deny", "none"] }));
}

#[test]
fn an_event_can_not_run_without_the_recorded_answer_of_a_hook_with_side_effects() {
    let sandbox = recorded();
    let new = HOOKS.replace("name: edits", "name: renamed");
    sandbox.write("new.yaml", &new);
    let done = replay(&sandbox, &[]).exits(1);
    assert!(done.stdout.contains("1 could not run"), "{}", done.stdout);
    assert!(
        done.stdout.contains("could not run 1: the answer of renamed is not recorded"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_changed_on_error_is_seen_although_the_hook_does_not_run() {
    let sandbox = recorded();
    let new = |on_error: &str| {
        let text = HOOKS.replace("\"exit 1\"", &format!("\"exit 1\", on_error: {on_error}"));
        sandbox.write("new.yaml", &text);
    };
    new("block");
    let done = replay(&sandbox, &[]).exits(1);
    assert!(done.stdout.contains("3 passed, 1 failed, 0 could not run"), "{}", done.stdout);
    assert!(done.stdout.contains("none -> deny: 1"), "{}", done.stdout);
    assert!(done.stdout.contains("failed: exit code 1"), "{}", done.stdout);
    new("warn");
    let _ = replay(&sandbox, &[]).exits(0);

    // And the other way round: a denial that was the hook's `on_error`.
    let blocks = "\"echo why >&2; exit 1\", on_error: block";
    let sandbox = self::sandbox(&HOOKS.replace("\"exit 1\"", blocks));
    let _ = event(&sandbox, "edit_file", "path", "a").exits(2);
    sandbox.write("new.yaml", HOOKS);
    let done = replay(&sandbox, &[]).exits(1);
    assert!(done.stdout.contains("deny -> none: 1"), "{}", done.stdout);
    sandbox.write("new.yaml", &sandbox.read("hooks.yaml"));
    let _ = replay(&sandbox, &[]).exits(0);
}

#[test]
fn a_rewrite_is_replayed_only_by_a_hook_that_runs() {
    let answer = json!({ "hook_specific_output": { "updated_input": { "cmd": "ls -l" } } });
    let command = json!(format!("touch ran; echo '{answer}'"));
    let head = "audit: { path: logs/audit.jsonl, input: redacted }\nhooks:\n  pre_tool_use:\n    - hooks:\n";
    let rewriter = format!(
        "        - {{ type: command, name: flag, mutates: true, on_error: block, command: {command} }}\n"
    );
    let sandbox = sandbox(&format!("{head}{rewriter}"));
    let _ = event(&sandbox, "shell", "cmd", "ls").exits(0);
    std::fs::remove_file(sandbox.project().join("ran")).unwrap();
    sandbox.write("new.yaml", &format!("{head}{rewriter}"));
    let done = replay(&sandbox, &[]).exits(1);
    assert!(done.stdout.contains("could not run 1: the answer of flag is"), "{}", done.stdout);
    assert!(!sandbox.project().join("ran").exists());
    let _ = replay(&sandbox, &["--run-external"]).exits(0);

    let guard = "        - { type: command, name: guard, side_effects: none, on_error: block, \
                 when: { field: tool_input.cmd, regex: ' -l' }, command: exit 2 }\n";
    for (hooks, said) in [
        // The guard sees what the rewriter made of it.
        (format!("{rewriter}{guard}"), "none -> deny: 1"),
        (guard.to_owned(), "rewritten otherwise: 1"),
    ] {
        sandbox.write("new.yaml", &format!("{head}{hooks}"));
        let done = replay(&sandbox, &["--run-external"]).exits(1);
        assert!(done.stdout.contains(said), "{said}\n{}", done.stdout);
    }
}

#[test]
fn a_log_without_inputs_cannot_be_replayed() {
    let sandbox = sandbox(&HOOKS.replace(", input: redacted", ""));
    let _ = event(&sandbox, "shell", "cmd", "ls").exits(0);
    sandbox.write("new.yaml", HOOKS);
    let done = replay(&sandbox, &[]).exits(1);
    assert!(done.stdout.starts_with("0 passed, 0 failed, 1 could not run\n"), "{}", done.stdout);
    assert!(done.stdout.contains("input: redacted"), "{}", done.stdout);
    // What a person answered is not a case.
    let approval = sandbox.read("logs/audit.jsonl").replace("pre_tool_use", "approval");
    for log in [&*approval, ""] {
        sandbox.write("logs/audit.jsonl", log);
        let done = replay(&sandbox, &[]).exits(65);
        assert!(done.stderr.contains("the log records no event"), "{}", done.stderr);
        assert!(!done.stderr.contains("can't be read"), "{}", done.stderr);
    }
}

#[test]
fn mistakes_in_audit_are_named() {
    let sandbox = sandbox("audit: { pat: x, keep: 0, input: all }\nhooks: {}\n");
    let done = event(&sandbox, "shell", "cmd", "ls").exits(78);
    for said in ["unknown key `pat` in `audit`", "did you mean `path`?"] {
        assert!(done.stderr.contains(said), "{said}\n{}", done.stderr);
    }
    sandbox.write("hooks.yaml", "audit: { path: x, keep: 0, input: all }\n");
    let done = event(&sandbox, "shell", "cmd", "ls").exits(78);
    for said in ["`keep` must be a number from 1 to 100", "unknown value `all` for `input`"] {
        assert!(done.stderr.contains(said), "{said}\n{}", done.stderr);
    }
}

#[test]
fn rules_run_in_a_replay() {
    let sandbox = recorded();
    for hook in [
        "{ type: rule, deny: no, commands: [ls] }",
        "{ type: rule, allow: true, commands: [rm *], otherwise: deny }",
    ] {
        let new = format!("hooks: {{ pre_tool_use: [{{ matcher: shell, hooks: [{hook}] }}] }}\n");
        sandbox.write("new.yaml", &new);
        let done = replay(&sandbox, &[]).exits(1);
        assert!(done.stdout.contains("-> deny: 1"), "{}", done.stdout);
        assert!(done.stdout.contains(" 0 could not run"), "{}", done.stdout);
    }
}

#[test]
fn a_file_that_is_not_a_log_is_neither_appended_to_nor_renamed() {
    let sandbox = sandbox(&HOOKS.replace("jsonl,", "jsonl, max_size: 1, keep: 1,"));
    for (name, wrong) in [("logs/audit.jsonl", "notes\n"), ("logs/audit.jsonl.1", "{\"v\":1}\n")] {
        sandbox.write(name, wrong);
        let mut done = event(&sandbox, "shell", "cmd", "ls").exits(0);
        if name.ends_with('1') {
            done = event(&sandbox, "shell", "cmd", "ls").exits(0);
        }
        let said = "does not begin with a record of hookexec";
        assert!(done.whole().contains(said), "{}", done.whole());
        assert_eq!(sandbox.read(name), wrong);
        std::fs::remove_file(sandbox.project().join(name)).unwrap();
    }
    let _ = event(&sandbox, "shell", "cmd", "ls").exits(0);
    assert!(sandbox.project().join("logs/audit.jsonl.1").exists());
}
