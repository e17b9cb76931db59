//! Process hooks from the command line: `hookexec run` and `hookexec check --start`.

use crate::support::Sandbox;

const GUARD: &str = r#"
import json, sys
open("started", "w").close()
for line in iter(sys.stdin.readline, ""):
    message = json.loads(line)
    programs = [command["program"] for command in message["params"].get("commands", [])]
    deny = {"action": "deny_tool", "reason": "no " + " or ".join(programs)}
    hello = message["method"] == "hook.hello"
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {} if hello else deny}), flush=True)
open("stopped", "w").close()
"#;

const HOOKS: &str = "
processes:
  guard: { command: [python3, guard.py] }
hooks:
  pre_tool_use:
    - hooks: [{ type: process, command: guard }]
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("guard.py", GUARD);
    sandbox.write("hooks.yaml", HOOKS);
    sandbox
}

#[test]
fn a_run_starts_the_process_calls_it_and_stops_it() {
    let sandbox = sandbox();
    sandbox.trust();
    let input = r#"{"tool_name":"shell","tool_input":{"cmd":"cd x && rm -rf /"}}"#;
    let done = sandbox.hookexec(["run", "pre_tool_use"]).stdin(input).run().exits(2);
    assert_eq!(done.json_line()["message"], "no cd or rm");
    assert!(sandbox.project().join("stopped").exists());
}

#[test]
fn a_second_reply_to_one_call_is_reported() {
    let sandbox = sandbox();
    let reply = r#"print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {} if hello else deny}), flush=True)"#;
    let twice = r#"answers = [{}] if hello else [{"action": "continue"}, deny]
    lines = [json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": it}) + "\n" for it in answers]
    sys.stdout.write("".join(lines))
    sys.stdout.flush()"#;
    assert!(GUARD.contains(reply));
    sandbox.write("guard.py", &GUARD.replace(reply, twice));
    sandbox.trust();
    let done = sandbox.hookexec(["run", "pre_tool_use"]).stdin(r#"{"tool_name":"shell"}"#).run();
    assert!(done.stderr.contains("dropped a reply: its call was answered before"), "{done:?}");
}

#[test]
fn a_check_starts_processes_only_when_it_is_told_to() {
    let sandbox = sandbox();
    sandbox.trust();
    let done = sandbox.hookexec(["check"]).run().exits(0);
    assert!(done.stdout.starts_with("1 hook"), "{done:?}");
    assert!(!sandbox.project().join("started").exists());

    let done = sandbox.hookexec(["check", "--start"]).run().exits(0);
    assert!(done.stdout.starts_with("process `guard` completed the handshake within "), "{done:?}");
    assert!(done.stdout.ends_with("1 hook in 1 file: 0 errors, 0 warnings\n"), "{done:?}");
    assert!(sandbox.project().join("stopped").exists());

    let done = sandbox.hookexec(["check", "--start", "--format", "json"]).run().exits(0);
    let report: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        (&report["processes"][0]["name"], &report["processes"][0]["ok"]),
        (&"guard".into(), &true.into())
    );
}

#[test]
fn a_process_that_does_not_return_the_greeting_is_an_error() {
    let sandbox = sandbox();
    sandbox.write("guard.py", "import sys\nsys.exit('no key')");
    sandbox.trust();
    let done = sandbox.hookexec(["check", "--start"]).run().exits(78);
    assert!(done.stderr.contains("process `guard` could not be started"), "{done:?}");
    assert!(done.stderr.contains("it last said: no key"), "{done:?}");
    assert!(done.stderr.contains("hooks.yaml:3:3"), "{done:?}");
}

#[test]
fn a_process_of_a_file_that_nobody_approved_is_not_started() {
    let sandbox = sandbox();
    let done = sandbox.hookexec(["check", "--start"]).run();
    assert!(!sandbox.project().join("started").exists(), "{done:?}");
}
