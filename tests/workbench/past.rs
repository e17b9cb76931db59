//! `hookexec test --past`: an agent's transcripts, in the form that the real clients write.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

const HOOKS: &str = r"hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { name: no-push, type: rule, deny: people push, commands: [git push] }
        - { name: outside, type: command, command: touch it-ran, when: { any: commands, field: program, in: [npm] } }
        - { name: unmet, type: rule, ask: sure?, commands: [mkfs] }
    - { hooks: [{ name: secrets, type: rule, ask: it holds secrets, files: [.env] }] }
  post_tool_use:
    - { hooks: [{ name: redact, type: builtin, command: redact_secrets }] }
    - { hooks: [{ name: sender, type: http, with: { url: https://x.invalid }, side_effects: none }] }
";

const ANY_CASE: &str = "cases:\n  - { name: any, event: stop, expect: { allowed: true } }\n";

fn past(sandbox: &Sandbox, agent: &str, arguments: &[&str]) -> Done {
    let base = ["test", "--past", agent, "--config", "hooks.yaml"];
    sandbox.hookexec([&base, arguments].concat()).run()
}

/// Returns a line of Claude Code.
fn line(kind: &str, part: &Value, more: &Value) -> String {
    let mut line = json!({
        "parentUuid": null, "isSidechain": false, "type": kind, "cwd": "/work/app",
        "sessionId": "s", "version": "9.0.0", "timestamp": "2999-01-02T10:00:00.000Z",
        "message": { "role": kind, "content": [part] },
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

fn bash(id: &str, command: &str) -> String {
    let call =
        json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
    line("assistant", &call, &json!({}))
}

fn bash_result(id: &str, is_error: bool) -> String {
    let result =
        json!({ "type": "tool_result", "tool_use_id": id, "content": "x", "is_error": is_error });
    line("user", &result, &json!({}))
}

/// Returns a sandbox with transcripts of Claude Code.
fn claude_code() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let mut first = bash("a", "git push") + &bash("b", "cd x && git push -f") + &bash("c", "ls");
    first += &line(
        "assistant",
        &json!({ "type": "tool_use", "id": "d", "name": "Read", "input": { "file_path": "/work/app/.env" } }),
        &json!({ "version": "2.0.1" }),
    );
    let secret = format!("key {}", ["AKIA", "IOSFODNN7", "EXAMPLQ"].concat());
    let result = json!({ "type": "tool_result", "tool_use_id": "c", "content": secret });
    let more = json!({ "toolUseResult": { "stdout": secret, "stderr": "" } });
    let result = line("user", &result, &more);
    first += &result;
    first += "{\"type\": \"assistant\", \"mess\n";
    let projects = sandbox.home().join(".claude/projects/-work-app");
    sandbox.write(projects.join("s.jsonl"), &first);
    // A resumed session repeats the calls; its own line is longer than any that is read.
    let huge = format!("{{\"type\": \"assistant\", \"x\": \"{}\"}}\n", "x".repeat(17 << 20));
    sandbox.write(projects.join("t.jsonl"), &(bash("a", "git push") + &result + &huge));
    sandbox.write(projects.join("s/subagents/agent-1.jsonl"), &bash("e", "git push origin x"));
    let old = line(
        "assistant",
        &json!({ "type": "tool_use", "id": "f", "name": "Bash", "input": { "command": "git push" } }),
        &json!({ "timestamp": "2020-01-01T10:00:00.000Z" }),
    );
    sandbox.write(projects.join("u.jsonl"), &old);
    sandbox.write(projects.join("v.jsonl"), "{\"kind\": \"of another form\"}\n");
    sandbox
}

#[test]
fn the_past_of_claude_code_is_judged_and_nothing_else_runs() {
    let sandbox = claude_code();
    let done = past(&sandbox, "claude-code", &[]).exits(0);
    for part in [
        "5 calls in 5 transcripts of Claude Code since ",
        "would be denied 3, asked 1, rewritten 0, redacted 1, allowed 0",
        "  1. denied 3  hooks.yaml:5 no-push: people push: `git push",
        "     2999-01-02 Bash: ",
        "asked 1  hooks.yaml:8 secrets: it holds secrets: ",
        "redacted 1  hooks.yaml:10 redact: ",
        "never had an opinion (1): unmet (hooks.yaml:7)\n",
        "not run, since they have side effects or send what they see (2): outside (hooks.yaml:6), sender (hooks.yaml:11)",
        "can't be read (2): ",
        "s.jsonl:6: ",
        "t.jsonl:3: it is longer than 16 MiB",
        "v.jsonl\n",
        "of an unknown form (1): ",
        "newer than 2.1.332, whose form is known (4): 9.0.0 (",
    ] {
        assert!(done.stdout.contains(part), "{part}\n{}", done.stdout);
    }
    assert_eq!(done.stderr, "");
    assert!(!sandbox.project().join("it-ran").exists());
    let page = sandbox.project().join("past.html");
    let _ = past(&sandbox, "claude-code", &["--html", page.to_str().unwrap()]).exits(0);
    let page = std::fs::read_to_string(page).unwrap();
    for part in ["past of Claude Code", "\"deny\":3", "people push: `git push`", "\"shown\":5"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let done = past(&sandbox, "claude-code", &["--format", "json"]).exits(0);
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(summary["groups"][0]["payload"]["cwd"], "/work/app");
    assert_eq!((&summary["denied"], &summary["calls"]), (&json!(3), &json!(5)));
}

#[test]
fn programs_run_in_this_project_alone_and_nothing_is_sent() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let hooks = format!(
        "hooks:
  pre_tool_use:
    - hooks:
        - {{ name: check, type: command, command: ./check, side_effects: none }}
        - {{ name: asks, type: mcp, with: {{ url: \"{url}\", tool: t, allow_private: true }}, side_effects: none }}
        - {{ name: posts, type: builtin, command: http_post, args: [\"{url}\"], side_effects: idempotent }}
"
    );
    sandbox.write("hooks.yaml", &hooks);
    let other = sandbox.home().join("other");
    let projects = sandbox.home().join(".claude/projects/-work-app");
    for (name, directory) in [("ours", sandbox.project()), ("other", other.clone())] {
        sandbox.script(directory.join("check"), "echo $PWD >> \"$HOME/ran\"");
        let text = bash(name, "ls").replace("/work/app", &directory.display().to_string());
        sandbox.write(projects.join(format!("{name}.jsonl")), &text);
    }
    let said = past(&sandbox, "claude-code", &[]).exits(0).stdout;
    assert!(said.contains("2 calls in 2 transcripts"), "{said}");
    let elsewhere = format!("of another project, so that no program ran (1): {}", other.display());
    assert!(said.contains("asks (hooks.yaml:5), posts (hooks.yaml:6)\n"), "{said}");
    assert!(said.contains("see (2): asks"), "{said}");
    assert_eq!(sandbox.read(sandbox.home().join("ran")).lines().count(), 1);
    assert!(said.contains(&sandbox.plain(&elsewhere)), "{said}");
    assert!(listener.accept().is_err());
}

#[test]
fn the_text_of_a_call_does_not_choose_its_group_and_a_denied_call_has_no_result() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let mut text = bash("a", "git push") + &bash("b", "git push 'x` fits `y'");
    text += &bash("c", "git push '` is in `'");
    let secret = ["AKIA", "IOSFODNN7", "EXAMPLQ"].concat();
    let result = json!({ "type": "tool_result", "tool_use_id": "b", "content": secret });
    text += &line("user", &result, &json!({}));
    sandbox.write(sandbox.home().join(".claude/projects/-work-app/s.jsonl"), &text);
    let said = past(&sandbox, "claude-code", &[]).exits(0).stdout;
    assert!(said.contains("denied 3, asked 0, rewritten 0, redacted 0, "), "{said}");
    assert!(
        said.contains("\n  1. denied 3  hooks.yaml:5 no-push: people push: `git push "),
        "{said}"
    );
}

/// Returns what is said of a transcript at `path` below the home directory.
fn judged(agent: &str, path: &str, text: &str) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.write(sandbox.home().join(path), text);
    past(&sandbox, agent, &[]).exits(0).stdout
}

#[test]
fn the_past_of_codex_is_judged_by_what_its_hooks_would_have_seen() {
    let secret = ["AKIA", "IOSFODNN7", "EXAMPLQ"].concat();
    let mut text = String::new();
    for (kind, payload) in [
        ("session_meta", json!({ "id": "s", "cwd": "/work/app", "cli_version": "0.169.0" })),
        (
            "response_item",
            json!({ "type": "function_call", "name": "exec_command", "call_id": "a", "arguments": "{\"cmd\": \"ls\"}" }),
        ),
        (
            "event_msg",
            json!({ "type": "item_completed", "item": { "type": "CommandExecution", "id": "a", "source": "unified_exec_startup", "command": ["/bin/bash", "-lc", "ls"], "aggregated_output": secret } }),
        ),
        (
            "response_item",
            json!({ "type": "function_call_output", "call_id": "a", "output": secret }),
        ),
        (
            "response_item",
            json!({ "type": "custom_tool_call", "name": "exec", "call_id": "b", "input": "await tools.apply_patch(x)" }),
        ),
        (
            "event_msg",
            json!({ "type": "item_completed", "item": { "type": "FileChange", "id": "exec-1", "changes": { "/work/app/.env": { "type": "add", "content": "A=1\n" } }, "stdout": "" } }),
        ),
        (
            "response_item",
            json!({ "type": "function_call", "name": "do_it", "namespace": "mcp__my_kit", "call_id": "c", "arguments": "{}" }),
        ),
        (
            "event_msg",
            json!({ "type": "item_completed", "item": { "type": "McpToolCall", "id": "c", "server": "my-kit", "tool": "do-it", "arguments": {}, "result": {} } }),
        ),
        (
            "response_item",
            json!({ "type": "function_call", "name": "shell", "call_id": "d", "arguments": "{\"command\": [\"git\", \"push\"]}" }),
        ),
        (
            "response_item",
            json!({ "type": "function_call", "name": "shell", "call_id": "f", "arguments": "{\"command\": [\"psql\", \"-c\", \"git push\"]}" }),
        ),
        (
            "event_msg",
            json!({ "type": "item_completed", "item": { "type": "CommandExecution", "id": "e", "source": "user_shell", "command": ["bash", "-c", "git push"] } }),
        ),
    ] {
        let line =
            json!({ "timestamp": "2999-01-02T10:00:00.000Z", "type": kind, "payload": payload });
        text += &line.to_string();
        text.push('\n');
    }
    let path = ".codex/sessions/2999/01/02/rollout-2999-01-02T10-00-00-s.jsonl";
    let said = judged("codex", path, &text);
    for part in [
        "5 calls in 1 transcript of Codex since ",
        "would be denied 1, asked 1, rewritten 0, redacted 1, allowed 0",
        "asked 1  hooks.yaml:8 secrets: ",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(!said.contains("form"), "{said}");
}

#[test]
fn the_past_of_gemini_cli_is_judged_in_both_of_its_forms() {
    let call = json!({
        "id": "run_shell_command__1", "name": "run_shell_command", "status": "success",
        "args": { "command": "git push" }, "resultDisplay": "ok",
        "result": [{ "functionResponse": { "response": { "output": "ok" } } }],
    });
    let time = "2999-01-02T10:00:00.000Z";
    let message = json!({ "id": "m", "type": "gemini", "timestamp": time, "toolCalls": [call] });
    let first = json!({ "sessionId": "s", "projectHash": "x", "startTime": time });
    let changed = json!({ "$set": { "messages": [message] } });
    let lines = format!("{first}\n{message}\n{changed}\n");
    let whole = json!({ "sessionId": "s", "projectHash": "x", "messages": [message] });
    let whole = serde_json::to_string_pretty(&whole).unwrap();
    for (file, text) in [("session-1.jsonl", lines), ("session-1.json", whole)] {
        let said = judged("gemini", &format!(".gemini/tmp/app/chats/{file}"), &text);
        assert!(said.starts_with("1 call in 1 transcript of Gemini CLI since "), "{said}");
        assert!(said.contains("would be denied 1, asked 0, "), "{said}");
        assert!(!said.contains("form"), "{said}");
    }
}

#[test]
fn a_file_that_waits_for_a_person_is_named_and_nothing_is_judged() {
    let sandbox = claude_code();
    let done = sandbox.hookexec(["test", "--past", "claude-code"]).run().exits(64);
    assert!(done.stderr.contains("is not approved"), "{done:?}");
    assert!(done.stderr.contains("would deny each call"), "{done:?}");
    assert!(!done.stderr.contains("can't be loaded"), "{done:?}");
    assert!(
        done.stderr.contains("hint: review `hooks.yaml` with `hookexec trust show"),
        "{done:?}"
    );
    assert_eq!(done.stdout, "");
}

#[test]
fn a_past_that_is_not_there_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let done = past(&sandbox, "claude-code", &[]).exits(64);
    assert!(done.stderr.starts_with("error: no transcripts of Claude Code since "), "{done:?}");
    let told = "[SANDBOX]/home/.claude/projects\n\nhint: look further back with `--since 90d`";
    assert!(done.stderr.contains(told), "{}", done.stderr);
    let done = past(&sandbox, "cursor", &[]).exits(64);
    assert!(done.stderr.contains("they can be read of claude-code"), "{}", done.stderr);
}

#[test]
fn a_call_becomes_a_case_that_passes_and_an_exception_is_only_shown() {
    let sandbox = claude_code();
    let done = past(&sandbox, "claude-code", &["--save-case", "1"]).exits(0);
    for part in ["added a case to ", "hooks.test.yaml", "  except: { commands: [\"git push"] {
        assert!(done.stdout.contains(part), "{part}\n{}", done.stdout);
    }
    let done = past(&sandbox, "claude-code", &["--save-case", "2"]).exits(0);
    assert!(done.stdout.contains("  except: { files: [\""), "{}", done.stdout);
    assert_eq!(sandbox.read("hooks.yaml"), HOOKS);
    let done = sandbox.hookexec(["test", "hooks.test.yaml"]).run().exits(0);
    assert!(done.stdout.contains("2 passed, 0 failed"), "{}", done.stdout);
    let done = past(&sandbox, "claude-code", &["--save-case", "1"]).exits(78);
    for part in ["hooks.test.yaml:2:5", "the case `no-push: deny git push", "is there already"] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.stderr);
    }
    sandbox.write("hooks.test.yaml", &format!("config: other.yaml\n{ANY_CASE}"));
    let done = past(&sandbox, "claude-code", &["--save-case", "1"]).exits(78);
    assert!(done.stderr.contains("its `config` names other hooks files"), "{}", done.stderr);
    sandbox.write("hooks.test.yaml", &ANY_CASE.replace("\n  ", "\n"));
    let done = past(&sandbox, "claude-code", &["--save-case", "1"]).exits(78);
    for part in ["in the form that the file has", "add these lines", "    from: claude-code\n"] {
        assert!(done.stderr.contains(part), "{part}\n{}", done.stderr);
    }
    let _ = past(&sandbox, "claude-code", &["--save-case", "9"]).exits(64);
    sandbox.write("hooks.d/more.yaml", HOOKS);
    let arguments = ["test", "--past", "claude-code", "--config", "hooks.d/more.yaml"];
    let done = sandbox.hookexec([&arguments[..], &["--save-case", "1"]].concat()).run().exits(64);
    assert!(done.stderr.contains("no cases can be put beside "), "{}", done.stderr);
}

#[test]
fn a_new_policy_says_what_it_would_have_stopped() {
    let sandbox = claude_code();
    let done = sandbox.hookexec(["init", "--user"]).run().exits(0);
    let said = "would have stopped 2 of 5 calls of Claude Code: `hookexec test --past claude-code`";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    assert_eq!(done.stderr, "");
}

#[test]
fn what_ran_often_and_is_stopped_by_no_rule_is_suggested() {
    let sandbox = Sandbox::new();
    let later = "  permission_request:
    - { hooks: [{ name: later, type: rule, deny: no, commands: [later] }] }
  pre_tool_use:
    - { hooks: [{ name: shadow, type: rule, deny: no, commands: [doubted], mode: shadow }] }
";
    let hooks = HOOKS.replacen("  pre_tool_use:\n", later, 1);
    sandbox.write("hooks.yaml", &hooks);
    let mut text = String::new();
    for at in 0..5 {
        let secret = ["ghp_", "0123456789abcdefghij0123456789abcdef"].concat();
        let mut commands = vec!["tool all -k".to_owned(), "git -C x status".to_owned()];
        commands
            .extend([format!("tool {secret}"), if at < 2 { "ls" } else { "ls -la" }.to_owned()]);
        let others = ["cargo test -p x", "git status", "git push", "rm -r x", "sh x", "npm i"];
        let left_out = ["later", "doubted", "make", "kubectl -n * get", "y; A=1 z"];
        for other in others.iter().chain(&left_out) {
            commands.push(format!("{other} {at}"));
        }
        for command in commands {
            let id = format!("{at}{command}");
            text += &(bash(&id, &command) + &bash_result(&id, false));
        }
        text += &bash(&format!("{at}never"), "never ran");
        text += &(bash(&format!("{at}no"), "refused it") + &bash_result(&format!("{at}no"), true));
    }
    sandbox.write(sandbox.home().join(".claude/projects/-work-app/s.jsonl"), &text);
    let done = past(&sandbox, "claude-code", &["--suggest"]).exits(0);
    let left_out = "# 10 calls left out: a hook did not run, failed, or had doubts.\n";
    assert!(done.stdout.starts_with(left_out), "{}", done.stdout);
    let (_, rule) = done.stdout.split_once("  commands:\n").unwrap();
    let expected = ["cargo test *", "git -C x status", "git status *", "ls *", "tool all -k", "y"]
        .map(|one| format!("    - \"{one}\"  # 5 times\n"));
    assert_eq!(rule, expected.concat());
}

#[test]
fn an_exception_that_lets_more_through_is_not_shown_and_a_bad_time_is_broken() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let secret = ["AKIA", "IOSFODNN7", "EXAMPLQ"].concat();
    let call = bash("a", &format!("git push -f '`*' {secret}"));
    let fake = bash("b", "git push").replace("2999-01-02T10:00:00.000Z", "3\\n1. fake");
    let path = sandbox.home().join(".claude/projects/-work-app/s.jsonl");
    sandbox.write(&path, &(call + &fake));
    let done = past(&sandbox, "claude-code", &["--save-case", "1"]).exits(0);
    assert!(!done.stdout.contains("except:"), "{}", done.stdout);
    assert!(!sandbox.read("hooks.test.yaml").contains(&secret));
    let done = past(&sandbox, "claude-code", &[]).exits(0);
    assert!(done.stdout.contains("can't be read (1): "), "{}", done.stdout);
    assert!(!done.stdout.contains("\n1. fake"), "{}", done.stdout);
    // An exception for the first lets no more through than that.
    let hooks = HOOKS.replace("[git push]", "[git push origin, git push]");
    sandbox.write("hooks.yaml", &hooks);
    sandbox.write(
        &path,
        &(bash("a", "git push") + &bash("c", "git push") + &bash("b", "git push origin")),
    );
    let done = past(&sandbox, "claude-code", &["--save-case", "1"]).exits(0);
    let except = "  except: { commands: [\"git push !* !-*\"] }\n";
    assert!(done.stdout.contains(except), "{}", done.stdout);
    let done = past(&sandbox, "claude-code", &["--save-case", "2"]).exits(0);
    let except = "  except: { commands: [\"git push origin !* !-*\"] }\n";
    assert!(done.stdout.contains(except), "{}", done.stdout);
}
