//! `hookexec explain`: every hook of an event, what became of it and why.

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

const HOOKS: &str = r#"hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: command, name: no-rm, command: 'echo "not that" >&2; exit 2', when: { field: tool_input.cmd, regex: "^rm " } }
        - { type: command, name: fine, command: 'touch ran; echo "{\"decision\":\"allow\"}"' }
        - { type: command, name: off, command: "true", enabled: false }
        - { type: command, name: trial, command: "exit 2", mode: shadow }
    - matcher: edit_file
      hooks:
        - { type: command, name: edits, command: "true" }
    - matcher: "sh.*"
      hooks:
        - { type: command, name: fine, command: 'touch ran; echo "{\"decision\":\"allow\"}"' }
  stop:
    - { type: command, name: at-the-end, command: "true" }
"#;

fn explain(arguments: &[&str], command: &str) -> (Sandbox, Done) {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": command } }).to_string();
    let arguments = [&["explain", "pre_tool_use", "--config", "hooks.yaml"], arguments].concat();
    let done = sandbox.hookexec(arguments).stdin(input).run();
    (sandbox, done)
}

fn hook<'v>(explained: &'v Value, name: &str) -> &'v Value {
    explained["hooks"].as_array().unwrap().iter().find(|hook| hook["name"] == name).unwrap()
}

#[test]
fn every_hook_of_the_event_is_there_with_what_it_did_or_why_it_did_not_run() {
    let (sandbox, done) = explain(&["--format", "json"], "rm -r x");
    let explained: Value = serde_json::from_str(&done.exits(0).stdout).unwrap();
    assert!(sandbox.project().join("ran").exists());
    assert_eq!(explained["verdict"]["decision"], "deny");
    assert_eq!(explained["of_other_events"], 1);
    assert_eq!(explained["hooks"].as_array().unwrap().len(), 6);

    let guard = hook(&explained, "no-rm");
    assert_eq!(guard["effect"], "decides");
    assert_eq!(guard["report"]["decision"], "deny");
    assert_eq!(guard["source"], "hooks.yaml:5");
    assert_eq!(guard["condition"]["value"], "rm -r x");
    assert_eq!(hook(&explained, "fine")["effect"], "overruled");
    assert_eq!(hook(&explained, "trial")["effect"], "not_enforced");
    assert_eq!(hook(&explained, "off")["selection"], "disabled");
    assert_eq!(hook(&explained, "edits")["selection"], "not_matched");
    let twin = &explained["hooks"][5];
    assert_eq!(twin["selection"], json!({ "duplicate_of": "hooks.yaml:6" }));
    assert_eq!(twin.get("report"), None);
}

#[test]
fn the_tree_is_for_people() {
    let (_, done) = explain(&[], "ls");
    let done = done.exits(0);
    for line in [
        "pre_tool_use, tool `shell`",
        "├─ not run    no-rm command, hooks.yaml:5",
        "│  its `when` does not hold:",
        "│    no  tool_input.cmd regex \"^rm \"  (is \"ls\")",
        "│  it is switched off: `enabled: false`",
        "│  its matcher `edit_file` does not match the tool `shell`",
        "└─ not run    fine command, hooks.yaml:14",
        "   the same hook stands at hooks.yaml:6; it runs once",
        "1 hook is configured for other events",
        "verdict: allow (`run` exits 0)",
    ] {
        assert!(done.stdout.lines().any(|found| found == line), "{line}\n{}", done.stdout);
    }
    for part in [" ms, allow, which is the verdict\n", "which its `mode` keeps from counting\n"] {
        assert!(done.stdout.contains(part), "{part}\n{}", done.stdout);
    }
}

#[test]
fn a_prediction_runs_nothing() {
    let (sandbox, done) = explain(&["--no-run"], "rm x");
    let done = done.exits(0);
    assert!(!sandbox.project().join("ran").exists());
    assert!(done.stdout.contains("├─ would run  no-rm"), "{}", done.stdout);
    assert!(done.stdout.contains("nothing was run"), "{}", done.stdout);
    assert!(!done.stdout.contains("verdict"), "{}", done.stdout);
}

const ALLOWED: &str = r"hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: rule, name: safe, allow: true, commands: [ls *, git status] }
";

#[test]
fn a_list_of_commands_says_why_it_had_no_opinion() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", ALLOWED);
    let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml"];
    for (command, why) in [
        ("ls; git status -s", Some("no opinion: `git status -s` is not listed")),
        ("ls > b", Some("no opinion: `ls` has a redirection to `b`")),
        ("ls", None),
    ] {
        let input = json!({ "tool_name": "shell", "tool_input": { "cmd": command } }).to_string();
        let text = sandbox.hookexec(explain).stdin(input).run().exits(0).stdout;
        let said = text.lines().map(|line| line.trim_start_matches("│ ").trim());
        let said = said.filter(|line| line.starts_with("no opinion: `")).collect::<Vec<_>>();
        assert_eq!(said, why.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn a_rule_says_which_exception_took_it_away() {
    let sandbox = Sandbox::new();
    let rule = "{ type: rule, ask: sure?, any: [{ commands: [git clean, rm -r] }, { files: ['.env*'] }], \
                except: { commands: ['* -n'], files: ['*.example', './out'], tools: [read_file] } }";
    sandbox.write("hooks.yaml", &format!("hooks: {{ pre_tool_use: [{{ hooks: [{rule}] }}] }}"));
    let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml"];
    for (command, why) in [
        ("git clean -n", "no opinion: `git clean -n` is excepted by `* -n`"),
        ("rm -r out", "no opinion: `out` is excepted by `./out`"),
        ("cat .env.example", "no opinion: `.env.example` is excepted by `*.example`"),
    ] {
        let input = json!({ "tool_name": "shell", "tool_input": { "cmd": command } }).to_string();
        let text = sandbox.hookexec(explain).stdin(input).run().exits(0).stdout;
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn a_call_that_nothing_decides_is_shown_as_it_was_read() {
    let sandbox = Sandbox::new();
    let rule = "{ type: rule, deny: no, commands: [rm -r] }";
    sandbox.write("hooks.yaml", &format!("hooks: {{ pre_tool_use: [{{ hooks: [{rule}] }}] }}"));
    let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml"];
    let shown = "it runs `env A=1 sh -c rm x`, `env: A=1 sh -c rm x`, `env: sh: rm x`";
    for (command, is_shown) in [("env A=1 sh -c 'rm x'", true), ("env A=1 sh -c 'rm -r x'", false)]
    {
        let input = json!({ "tool_name": "shell", "tool_input": { "cmd": command } }).to_string();
        let text = sandbox.hookexec(explain).stdin(input).run().stdout;
        assert_eq!(text.contains("it runs `"), is_shown, "{text}");
        assert!(!is_shown || text.contains(shown), "{text}");
    }
}

#[test]
fn the_reason_is_about_the_call_that_was_judged() {
    let sandbox = Sandbox::new();
    let rewrite = r#"    - matcher: shell
      hooks:
        - { type: command, mutates: true, command: 'echo "{\"hook_specific_output\":{\"updated_input\":{\"cmd\":\"make x\"}}}"' }
"#;
    sandbox.write("hooks.yaml", &format!("{ALLOWED}{rewrite}"));
    let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml", "--format", "json"];
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" } }).to_string();
    let explained = sandbox.hookexec(explain).stdin(input).run().exits(0).stdout;
    let explained: Value = serde_json::from_str(&explained).unwrap();
    assert_eq!(hook(&explained, "safe")["report"]["reason"], "`make x` is not listed");
}

const REWRITES: &str = r#"hooks:
  pre_tool_use:
    - matcher: "*"
      hooks:
        - { type: command, name: pnpm, mutates: true, command: "sed 's/npm/pnpm/' | jq '{updated_input: .tool_input}'" }
        - { type: command, name: guard, command: "grep -q pnpm && { echo not here >&2; exit 2; } || exit 0" }
        - { type: command, name: nosy, mutates: false, command: "echo '{\"updated_input\":{\"x\":1}}'" }
"#;

#[test]
fn the_course_shows_each_input_who_judged_it_and_why_an_answer_does_not_count() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", REWRITES);
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "npm i" } }).to_string();
    let explain = |more: &[&str]| {
        let arguments = [&["explain", "pre_tool_use", "--config", "hooks.yaml"], more].concat();
        sandbox.hookexec(arguments).stdin(input.as_str()).run().exits(0).stdout
    };
    let text = explain(&[]);
    let mut from = 0;
    for line in [
        "how the hooks decided:",
        "turn on input 1: pnpm (hooks.yaml:5): made input 2",
        "- tool_input.cmd: npm i",
        "+ tool_input.cmd: pnpm i",
        "judged input 2: guard (hooks.yaml:6): said deny",
        "judged input 2: nosy (hooks.yaml:7): no opinion",
        "its rewrite is ignored, because it has `mutates: false`",
        "final: input 2",
    ] {
        let at = text[from..].find(line);
        from += at.unwrap_or_else(|| panic!("`{line}` is not there, in this order:\n{text}"));
    }
    let course: Value = serde_json::from_str(&explain(&["--format", "json"])).unwrap();
    let course = &course["course"];
    assert_eq!((&course["final_input"], course["steps"].as_array().unwrap().len()), (&json!(2), 3));
    assert_eq!(course["inputs"][1]["tool_input"]["cmd"], "pnpm i");
}

const REWRITTEN: &str = r#"hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: command, name: tidy, mutates: true, command: 'echo "{\"hook_specific_output\":{\"updated_input\":{\"cmd\":\"ls -l\"}}}"' }
        - { type: command, name: late, command: 'echo "{\"hook_specific_output\":{\"updated_input\":{\"dry\":true}}}"' }
        - { type: command, name: fine, command: 'grep -q repeated || echo "{\"decision\":\"allow\"}"' }
        - { type: command, name: fixed, mutates: false, command: 'echo "{\"hook_specific_output\":{\"updated_input\":{\"cmd\":\"x\"}}}"' }
"#;

fn explain_rewritten(arguments: &[&str], input: &Value) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", REWRITTEN);
    let all = [&["explain", "--config", "hooks.yaml"], arguments].concat();
    sandbox.hookexec(all).stdin(input.to_string()).run().exits(0).stdout
}

#[test]
fn the_evaluation_is_told_from_the_top() {
    let input = json!({ "session_id": "s", "tool_name": "shell", "tool_input": { "cmd": "ls" } });
    let text = explain_rewritten(&["pre_tool_use"], &input);
    let course = "how the hooks decided:
  input 1: as it came
  turn on input 1: tidy (hooks.yaml:5): made input 2
      hook_event_name: pre_tool_use
      session_id: s
    - tool_input.cmd: ls
    + tool_input.cmd: ls -l
      tool_name: shell
  judged input 2: late (hooks.yaml:6): no opinion
    it rewrote the input without `mutates: true`, so it was made to take turns with the other rewriters; set `mutates: true`
  judged input 2: fine (hooks.yaml:7): said allow
    its allow is ignored: it is about an input that was rewritten
  judged input 2: fixed (hooks.yaml:8): no opinion
    its rewrite is ignored, because it has `mutates: false`; set `mutates: true` or let it leave the input alone
  round 2: the turns begin again with input 1
  turn on input 1: tidy (hooks.yaml:5): its answer from before, made input 2
  turn on input 2: late (hooks.yaml:6): its answer from before, made input 3
      session_id: s
      tool_input.cmd: ls -l
    + tool_input.dry: true
      tool_name: shell
  judged input 3: tidy (hooks.yaml:5): asked once more, no opinion
  judged input 3: fine (hooks.yaml:7): asked once more, no opinion
  judged input 3: fixed (hooks.yaml:8): asked once more, no opinion
    its rewrite is ignored, because it has `mutates: false`; set `mutates: true` or let it leave the input alone
  final: input 3
verdict: no opinion, it may go on (`run` exits 0)
";
    assert!(text.contains(course), "{text}");
    // The hook's line does not repeat what the course says.
    assert_eq!(text.matches("its allow is ignored").count(), 1, "{text}");
}

#[test]
fn an_agents_own_event_is_told_with_the_event_of_each_hook() {
    let input = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/",
        "tool_name": "Bash", "tool_input": { "cmd": "ls" } });
    let text = explain_rewritten(&["--from", "claude-code"], &input);
    let turn = "  turn on input 1: tidy (hooks.yaml:5, pre_tool_use): made input 2\n";
    assert!(text.contains(turn), "{text}");
}

#[test]
fn programs_read_the_evaluation_answer_by_answer() {
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" } });
    let text = explain_rewritten(&["pre_tool_use", "--format", "json"], &input);
    let explained: Value = serde_json::from_str(&text).unwrap();
    let course = &explained["course"];
    assert_eq!(course["final_input"], 3);
    assert_eq!(course["steps"].as_array().unwrap().len(), 9);
    let step = json!({ "round": 2, "role": "turn", "hook": "late", "source": "hooks.yaml:6",
        "event": "pre_tool_use", "input": 2, "repeated": false, "kept": true, "made": 3,
        "remarks": [] });
    assert_eq!(course["steps"][5], step);
    assert_eq!(course["steps"][6]["repeated"], true);
}

#[test]
fn an_evaluation_without_rewrites_takes_one_line() {
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" } }).to_string();
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", ALLOWED);
    let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml"];
    let text = sandbox.hookexec(explain).stdin(input).run().exits(0).stdout;
    assert!(text.contains("\nall hooks judged the input as it came\nverdict: allow"), "{text}");
}

#[test]
fn a_name_that_a_hook_gives_is_told_with_the_input_under_the_first_name() {
    let sandbox = Sandbox::new();
    let hooks = r#"hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: command, name: rename, mutates: true, command: 'echo "{\"hook_specific_output\":{\"updated_tool_name\":\"edit\",\"updated_input\":{\"a\":2}}}"' }
        - { type: command, name: first, command: "true" }
    - matcher: edit
      hooks:
        - { type: command, name: last, command: "true" }
"#;
    sandbox.write("hooks.yaml", hooks);
    let input = json!({ "tool_name": "shell", "tool_input": { "a": 1 } }).to_string();
    let explain = ["explain", "pre_tool_use", "--config", "hooks.yaml"];
    let text = sandbox.hookexec(explain).stdin(input).run().exits(0).stdout;
    let course = "    - tool_input.a: 1
    - tool_name: shell
    + tool_input.a: 2
    + tool_name: edit
  input 3: the final input under the tool's first name
";
    assert!(text.contains(course), "{text}");
    assert!(text.contains("  judged input 2: last (hooks.yaml:9): no opinion\n"), "{text}");
    assert!(text.contains("  judged input 3: first (hooks.yaml:6): no opinion\n"), "{text}");
}

#[test]
fn a_question_to_a_person_is_explained_with_its_digest() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "hooks:\n  approval:\n    - hooks: [{ type: command, name: ask, command: \"true\" }]\n",
    );
    let input = json!({ "tool_name": "shell", "tool_input": { "cmd": "ls" } }).to_string();
    let explain = ["explain", "approval", "--config", "hooks.yaml", "--format", "json"];
    let text = sandbox.hookexec(explain).stdin(input).run().exits(0).stdout;
    let explained: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(explained["verdict"]["decision"], "deny", "{text}");
    assert!(explained["verdict"]["approval"]["digest"].is_string(), "{text}");
    assert_eq!(explained["course"]["steps"][0]["hook"], "ask", "{text}");
}
