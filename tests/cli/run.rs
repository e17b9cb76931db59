//! `hookexec run`: streams, exit codes, and what is refused.

use std::fs::File;
use std::io::{Read as _, Write};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{Done, Sandbox, wait};

const TOOL: &str = r#"{"session_id":"s","tool_name":"shell","tool_input":{"cmd":"ls"}}"#;

/// Returns a sandbox whose `hooks.yaml` has one command on `pre_tool_use`.
fn with_hook(command: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let hook = json!({ "type": "command", "name": "guard", "command": command });
    let hooks = json!({ "pre_tool_use": [{ "matcher": "*", "hooks": [hook] }] });
    sandbox.write("hooks.yaml", &hooks.to_string());
    sandbox
}

fn run(sandbox: &Sandbox, event: &str, input: impl Into<Vec<u8>>) -> Done {
    sandbox.hookexec(["run", event, "--config", "hooks.yaml"]).stdin(input).run()
}

#[test]
fn the_exit_code_is_the_answer_and_stdout_is_one_line() {
    let cases = [
        ("true", 0, json!(null)),
        (r#"echo '{"decision":"allow"}'"#, 0, json!("allow")),
        ("echo no >&2; exit 2", 2, json!("deny")),
        (r#"echo '{"hook_specific_output":{"permission_decision":"ask"}}'"#, 3, json!("ask")),
        ("echo oops >&2; exit 1", 0, json!(null)),
        ("exit 127", 2, json!("deny")),
    ];
    for (command, code, decision) in cases {
        let sandbox = with_hook(command);
        let done = run(&sandbox, "pre_tool_use", TOOL).exits(code);
        let verdict = done.json_line();
        assert_eq!(verdict["decision"], decision, "{command}");
        assert_eq!(verdict["allowed"], json!(code == 0), "{command}");
        assert_eq!(verdict["event"], "pre_tool_use");
        assert_eq!(done.stderr, "", "quiet by default: {command}");
    }
}

#[test]
fn an_event_without_hooks_may_go_on() {
    let sandbox = with_hook("exit 2");
    let done = run(&sandbox, "stop", "{}").exits(0);
    assert_eq!(
        done.stdout,
        "{\"event\":\"stop\",\"decision\":null,\"allowed\":true,\"hooks\":[]}\n"
    );
}

#[test]
fn numbers_of_any_length_pass_in_every_field() {
    let sandbox = with_hook("cat >seen");
    let input = br#"{"id":99999999999999999999999,"deep":{"n":-1.50e400},"tool_name":"a","tool_input":{"n":12345678901234567890123}}"#;
    let _ = run(&sandbox, "pre_tool_use", input).exits(0);
    let seen = sandbox.read("seen");
    for number in ["99999999999999999999999", "-1.50e+400", "12345678901234567890123"] {
        assert!(seen.contains(number), "{number}: {seen}");
    }
}

#[test]
fn an_input_of_too_many_values_is_refused() {
    let sandbox = with_hook("true");
    let input = format!(r#"{{"list":[{}1]}}"#, "1,".repeat(500_000));
    let done = run(&sandbox, "stop", input.as_bytes()).exits(65);
    assert!(done.stderr.contains("more than 500000 values and keys"), "{done:#?}");
}

#[test]
fn an_input_that_is_none_exits_65_and_says_nothing_on_stdout() {
    let sandbox = with_hook("true");
    let cases: [(&str, &[u8], &str); 11] = [
        ("stop", b"", "stdin is empty"),
        ("stop", b" \n\t", "stdin is empty"),
        ("stop", b"[]", "not a JSON object"),
        ("stop", b"{} {}", "not valid JSON"),
        ("pre_tool_use", b"{", "for example: echo '{\"tool_name\": \"shell\""),
        ("stop", b"{\"a\":1,\"a\":2}", "key `a` appears twice"),
        ("stop", b"{\"x\":\"\xff\"}", "not UTF-8"),
        ("pre_tool_use", b"{\"tool_name\":\"\"}", "no `tool_name`"),
        ("pre_tool_use", b"{}", "no `tool_name`"),
        ("pre_tool_use", br#"{"tool_name":"a","tool_input":"rm"}"#, "`tool_input` in the input"),
        ("stop", br#"{"hook_event_name":"Stop"}"#, "`hookexec run --from AGENT`"),
    ];
    for (event, input, message) in cases {
        let done = run(&sandbox, event, input).exits(65);
        assert_eq!(done.stdout, "");
        assert!(done.stderr.starts_with("error: ") && done.stderr.contains(message), "{done:#?}");
        assert!(done.stderr.contains("\nhint: "), "{done:#?}");
    }
}

#[test]
fn an_input_of_another_event_is_run_as_the_one_asked_for_with_a_warning() {
    let sandbox = with_hook("exit 2");
    let done = run(&sandbox, "stop", r#"{"hook_event_name":"pre_tool_use"}"#).exits(0);
    assert_eq!(done.json_line()["event"], "stop");
    assert!(done.stderr.starts_with("warning: the input says `pre_tool_use`"), "{}", done.stderr);
}

#[test]
fn an_event_that_nobody_knows_exits_64_with_the_one_meant() {
    let sandbox = with_hook("true");
    let done = run(&sandbox, "PreToolUse", TOOL).exits(64);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("a similar value exists: 'pre_tool_use'"), "{}", done.stderr);
}

#[test]
fn a_broken_or_missing_configuration_exits_78_and_runs_nothing() {
    let sandbox = with_hook("true");
    sandbox.write("broken.yaml", "stop: { type: command, command: touch ran, tiemout: 3 }\n");
    for file in ["broken.yaml", "missing.yaml", "."] {
        let done = sandbox
            .hookexec(["run", "stop", "--config", "hooks.yaml", "--config", file])
            .stdin("{}")
            .run()
            .exits(78);
        assert_eq!(done.stdout, "");
        assert!(done.stderr.contains(file), "{}", done.stderr);
    }
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn a_file_without_a_word_of_hooks_is_no_policy_unless_it_says_so() {
    let sandbox = Sandbox::new();
    for (text, code) in [
        ("", 78),
        ("# text\n", 78),
        ("hooks:\n", 78),
        ("hooks: ~\n", 78),
        ("hooks: { pre_tool_use: }\n", 78),
        ("{}\n", 0),
        ("hooks: {}\n", 0),
        ("pre_tool_use: []\n", 0),
    ] {
        sandbox.write("hooks.yaml", text);
        let done = run(&sandbox, "pre_tool_use", TOOL).exits(code);
        assert_eq!(done.stderr.contains("to configure no hooks, say so"), code == 78, "{text:?}");
    }
}

#[test]
fn stdin_is_read_to_its_end_even_when_nothing_can_run() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", "nonsense");
    let mut child = sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let input = format!(r#"{{"tool_name":"a","tool_input":{{"x":"{}"}}}}"#, "x".repeat(1 << 20));
    stdin.write_all(input.as_bytes()).expect("the pipe stays open");
    drop(stdin);
    assert_eq!(wait(child).status.code(), Some(78));
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_input() {
    let sandbox = with_hook("exit 2");
    let input = [b"\xef\xbb\xbf", TOOL.as_bytes()].concat();
    assert_eq!(run(&sandbox, "pre_tool_use", input).exits(2).json_line()["allowed"], false);
}

#[test]
fn a_rewrite_keeps_every_digit_of_the_other_arguments() {
    let sandbox = with_hook(r#"echo '{"hook_specific_output":{"updated_input":{"cmd":"ls -l"}}}'"#);
    let input =
        r#"{"tool_name":"t","tool_input":{"cmd":"ls","id":12345678901234567890123,"pi":3.140}}"#;
    let done = run(&sandbox, "pre_tool_use", input).exits(0);
    let expected = r#""updated_input":{"cmd":"ls -l","id":12345678901234567890123,"pi":3.140}"#;
    assert!(done.stdout.contains(expected), "{}", done.stdout);
}

#[test]
fn hooks_run_in_the_project() {
    let sandbox = with_hook("pwd >&2; exit 2");
    std::fs::create_dir(sandbox.project().join("inner")).unwrap();
    let done = run(&sandbox, "pre_tool_use", TOOL).exits(2);
    assert_eq!(done.json_line()["message"], "[SANDBOX]/project");
    let done = sandbox
        .hookexec(["run", "pre_tool_use", "--config", "hooks.yaml", "--cwd", "inner"])
        .stdin(TOOL)
        .run()
        .exits(2);
    assert_eq!(done.json_line()["message"], "[SANDBOX]/project/inner");
    for missing in ["nowhere", "hooks.yaml"] {
        let done = sandbox.hookexec(["run", "stop", "--cwd", missing]).stdin("{}").run().exits(64);
        assert!(done.stderr.contains(missing), "{}", done.stderr);
    }
}

#[test]
fn the_exit_code_is_the_answer_also_when_nobody_reads_the_line() {
    for (command, code) in [("exit 2", 2), ("true", 0)] {
        let sandbox = with_hook(command);
        let mut child = sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]).spawn();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(TOOL.as_bytes()).unwrap();
        let output = wait(child);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(code), "{command}");
    }
}

#[test]
fn a_line_that_can_t_be_written_is_no_permission() {
    let sandbox = with_hook("true");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookexec"));
    let mut child = sandbox
        .dress(&mut command)
        .args(["run", "pre_tool_use", "--config", "hooks.yaml"])
        .stdin(Stdio::piped())
        .stdout(File::options().write(true).open("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(TOOL.as_bytes()).unwrap();
    let output = wait(child);
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&output.stderr).contains("can't write to stdout"));
}

#[test]
fn hooks_in_the_background_are_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "stop: { type: command, background: true, command: 'until [ -e go ]; do sleep 0.01; done; touch ran' }",
    );
    let mut child = sandbox.hookexec(["run", "stop", "--config", "hooks.yaml"]).spawn();
    child.stdin.take().unwrap().write_all(b"{}").unwrap();
    // The verdict comes first: its line is there while the hook still waits.
    let mut line = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
    assert!(line.contains(r#""status":"background""#), "{line}");
    sandbox.write("go", "");
    assert_eq!(wait(child).status.code(), Some(0));
    assert!(sandbox.project().join("ran").exists());
}

#[test]
fn a_script_that_lies_beside_the_hooks_file_alone_is_pointed_at() {
    let sandbox = Sandbox::new();
    let script = sandbox.script("hooks/guard.sh", "#!/bin/sh\nexit 0\n");
    std::fs::create_dir(sandbox.project().join("below")).unwrap();
    let told = |command: &str| {
        let hooks =
            format!("pre_tool_use: [{{ hooks: [{{ type: command, command: {command} }}] }}]");
        let file = sandbox.write("hooks.yaml", &hooks);
        let file = file.to_str().unwrap();
        let run = sandbox.hookexec(["run", "pre_tool_use", "--config", file]);
        let run = run.current_dir(sandbox.project().join("below"));
        run.stdin(r#"{"tool_name": "shell"}"#).run().exits(2).stdout
    };
    let advice = r#"write the whole command as a text, with `\"$HOOKEXEC_CONFIG_DIR\"/"#;
    for command in [
        "python3 hooks/guard.sh",
        "./hooks/guard.sh",
        "[hooks/guard.sh]",
        "'sh \"hooks/guard.sh\"'",
    ] {
        let said = told(command);
        assert!(said.contains(advice), "{command}: {said}");
    }
    // Nothing is said of a hook that denies, nor of a file that is nowhere.
    std::fs::remove_file(script).unwrap();
    for command in ["exit 2", "python3 hooks/guard.sh"] {
        let said = told(command);
        assert!(!said.contains("HOOKEXEC_CONFIG_DIR"), "{command}: {said}");
    }
}

#[test]
fn verbose_says_on_stderr_what_ran_and_what_did_not() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "
pre_tool_use:
  - matcher: shell
    hooks:
      - { type: command, name: refuses, command: 'echo not today >&2; exit 2' }
      - { type: command, name: off, command: 'true', enabled: false }
      - { type: command, name: picky, command: 'true', when: { field: tool_input.cmd, equals: rm } }
  - { matcher: other, hooks: { type: command, name: elsewhere, command: 'true' } }
",
    );
    let done = sandbox
        .hookexec(["run", "pre_tool_use", "-v", "--config", "hooks.yaml"])
        .stdin(TOOL)
        .run()
        .exits(2);
    let filters = vec![(r"\d+\.\d ms", "[TIME] ms")];
    insta::with_settings!({ filters => filters.clone() }, {
        insta::assert_snapshot!(done.stderr, @r"
        blocked    refuses command, hooks.yaml:5 [TIME] ms, deny
                   reason: not today
        not run    off command, hooks.yaml:6: it is switched off: `enabled: false`
        not run    picky command, hooks.yaml:7: its `when` does not hold
        not run    elsewhere command, hooks.yaml:8: its matcher `other` does not match the tool
        ");
    });
    let text = sandbox
        .hookexec(["run", "pre_tool_use", "--format", "text", "--config", "hooks.yaml"])
        .stdin(TOOL)
        .run()
        .exits(2);
    insta::with_settings!({ filters => filters }, {
        insta::assert_snapshot!(text.whole(), @r"
        exit 2
        -- stdout
        deny: not today
          blocked    refuses command, hooks.yaml:5 [TIME] ms, deny
                     reason: not today
        -- stderr
        ");
    });
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let sandbox = with_hook("exit 2");
    let text = || {
        sandbox
            .hookexec(["run", "pre_tool_use", "-v", "--format", "text", "--config", "hooks.yaml"])
            .stdin(TOOL)
    };
    let coloured = |done: &Done| (done.stdout.contains('\x1b'), done.stderr.contains('\x1b'));
    assert_eq!(coloured(&text().run().exits(2)), (false, false));
    let forced = text().env("CLICOLOR_FORCE", "1").run().exits(2);
    assert_eq!(coloured(&forced), (true, true));
    let refused = text().env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").run().exits(2);
    assert_eq!(coloured(&refused), (false, false));
}

#[test]
fn what_a_hook_wrote_is_shown_without_what_a_terminal_would_obey() {
    let sandbox = with_hook(r"printf '\033[31mred\033[0m alert' >&2; exit 2");
    let done = sandbox
        .hookexec(["run", "pre_tool_use", "--format", "text", "--config", "hooks.yaml"])
        .stdin(TOOL)
        .env("CLICOLOR_FORCE", "1")
        .run()
        .exits(2);
    assert!(done.stdout.contains("\u{fffd}[31mred\u{fffd}[0m alert"), "{}", done.stdout);
}

#[test]
fn the_log_is_quiet_until_something_is_wrong_or_it_is_asked() {
    let sandbox = with_hook("true");
    let run = |more: &[&str]| {
        let run = ["run", "pre_tool_use", "--config", "hooks.yaml"];
        sandbox.hookexec([&run, more].concat()).stdin(TOOL).run().exits(0).stderr
    };
    assert_eq!(run(&[]), "");

    sandbox.write(
        "hooks.yaml",
        "
processes: { talker: { command: [cat] } }
stop:
  - { type: command, name: later, background: true, command: 'kill -9 $$' }
  - { type: process, command: talker }
",
    );
    let run = ["run", "stop", "--config", "hooks.yaml", "-vv"];
    let stderr = sandbox.hookexec(run).stdin("{}").run().exits(0).stderr;
    assert!(stderr.contains("WARN") && stderr.contains("later"), "{stderr}");
    assert!(stderr.contains("DEBUG") && stderr.contains("talker"), "{stderr}");
}

#[test]
fn an_input_without_end_is_refused() {
    let sandbox = with_hook("true");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookexec"));
    let child = sandbox
        .dress(&mut command)
        .args(["run", "pre_tool_use", "--config", "hooks.yaml"])
        .stdin(File::open("/dev/zero").unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = wait(child);
    assert_eq!(output.status.code(), Some(65));
    assert_eq!(output.stdout, b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than 64 MiB"));
}

#[test]
fn a_stderr_that_is_not_read_holds_up_no_verdict_however_much_is_wrong() {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(
        "pre_tool_use: [{ hooks: [{ type: command, command: 'echo GUARD >&2; exit 2' }] }]",
    );
    for number in 0..990 {
        let file = format!(".hookexec/hooks.d/{number:04}.yaml");
        sandbox.write(file, "stop: { type: command, command: a }");
        sandbox.write(format!(".hookexec/hooks.d/{number}.json"), "");
    }
    let input = r#"{"tool_name": "shell", "tool_input": {"cmd": "ls"}}"#;
    let mut child = sandbox.hookexec(["run", "pre_tool_use"]).spawn();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    // Both are read only after the end.
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(stdout.contains("GUARD"), "{stdout}");
    let warnings: Vec<&str> = stderr.lines().collect();
    assert_eq!(warnings.len(), 21, "{stderr}");
    assert!(warnings[20].contains("more; `hookexec check` shows all"), "{stderr}");
}

#[test]
fn a_tool_has_the_kinds_of_any_agents_tool_of_its_name() {
    let sandbox = Sandbox::new();
    let hook = "{ type: command, command: exit 2 }";
    sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ matcher: shell, hooks: [{hook}] }}]"));
    for (tool, agent, code) in [("Bash", None, 2), ("Bash", Some("mine"), 2), ("Read", None, 0)] {
        let mut input = json!({ "tool_name": tool, "tool_input": { "command": "ls" } });
        if let Some(agent) = agent {
            input["agent_name"] = agent.into();
        }
        let run = sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]);
        let _ = run.stdin(input.to_string()).run().exits(code);
    }
}
