//! `hookexec check` and `hookexec explain`: what is configured, and what is wrong with it.

use serde_json::{Value, json};

use crate::support::Sandbox;

const HOOKS: &str = r#"
pre_tool_use:
  - matcher: shell|edit_file
    hooks:
      - { type: command, name: guard, command: ./guard.sh, timeout: 5, on_error: block }
      - { type: command, command: [./add-flag.sh, -l], mutates: true, on_error: block, when: { field: tool_input.cmd, equals: ls } }
session_start: { type: command, command: "echo hello\necho again", enabled: false }
stop: { type: command, name: tidy, command: ./tidy.sh, background: true, timeout: 1500ms }
"#;

/// One mistake for each step: the text, the hook, the hook's type.
const BROKEN: &str = "
stop: { type: command, command: touch ran, tiemout: 3 }
pre_tool_use:
  - { matcher: 'shell|*', hooks: { type: command, command: ./a.sh } }
session_start: { type: comand, command: ./b.sh }
";

#[test]
fn a_sound_configuration_is_counted() {
    let sandbox = Sandbox::new();
    for script in ["guard.sh", "add-flag.sh", "tidy.sh"] {
        sandbox.script(script, "");
    }
    let hooks = HOOKS.replace("./guard.sh", "'\"$HOOKEXEC_CONFIG_DIR\"/guard.sh'");
    let hooks = hooks.replace("[./add-flag.sh, -l]", "'\"$HOOKEXEC_CONFIG_DIR\"/add-flag.sh -l'");
    sandbox.write("hooks.yaml", &hooks);
    sandbox.trust();
    let done = sandbox.hookexec(["check"]).run().exits(0);
    assert_eq!(
        done.whole(),
        "exit 0\n-- stdout\n4 hooks in 1 file: 0 errors, 0 warnings\n-- stderr\n"
    );
}

#[test]
fn a_program_that_is_not_there_is_warned_of() {
    let sandbox = Sandbox::new();
    sandbox.script("there.sh", "");
    sandbox.write("plain.txt", "");
    sandbox.write("sub/inner.py", "");
    let check = |hook: &str| {
        sandbox.write("hooks.yaml", &format!("stop:\n- {{ type: command, {hook} }}\n"));
        sandbox.hookexec(["check", "--isolated", "--config", "hooks.yaml"]).run().exits(0)
    };
    for (hook, what, hint) in [
        ("command: ./gone.sh", "project/gone.sh does not exist", "start at [SANDBOX]/project"),
        ("command: 'A=1 \"./gone.sh\" -x | jq'", "project/gone.sh does not exist", "start at"),
        ("command: '\"./my hooks/gone.sh\"'", "my hooks/gone.sh does not exist", "start at"),
        (
            "command: [/gone/guard]",
            "/gone/guard does not exist",
            "until the file exists, this hook fails\n",
        ),
        ("command: ['~/gone.sh']", "~/gone.sh does not exist", "start at [SANDBOX]/project"),
        (
            "command: [no-such-guard]",
            "the program `no-such-guard` is not on the search path",
            "install it",
        ),
        (
            "command: no-such-guard -x | cat",
            "the program `no-such-guard` is not on the search path",
            "install it",
        ),
        ("command: python3 ./gone.py", "the script ./gone.py does not exist", "start at"),
        ("command: python3 gone.py", "the script gone.py does not exist", "start at"),
        ("command: bash gone.sh -x", "the script gone.sh does not exist", "start at"),
        ("command: [python3], args: [sub/gone.py]", "the script sub/gone.py does not", "start at"),
        ("command: there.sh/, working_dir: sub", "sub/there.sh/ does not", "project/sub"),
        ("command: ./plain.txt", "project/plain.txt is not executable", "chmod +x [SANDBOX]"),
        ("command: ./sub", "project/sub is a directory", "name the program in it"),
    ] {
        let done = check(hook);
        assert!(done.stdout.ends_with("0 errors, 1 warning\n"), "{hook}: {done:?}");
        assert!(done.stderr.contains(what) && done.stderr.contains(hint), "{hook}: {done:?}");
        assert!(done.stderr.contains(" --> hooks.yaml:2:29\n"), "{hook}: {done:?}");
    }
    for (script, effect) in [
        ("./gone.sh", "this hook fails"),
        ("python3 ./gone.py", "this hook fails"),
        ("node ./gone.js", "this hook guards nothing"),
    ] {
        let hook = format!("{{ type: command, command: {script} }}");
        sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ hooks: [{hook}] }}]\n"));
        let done = sandbox.hookexec(["check", "--isolated", "--config", "hooks.yaml"]).run();
        assert!(done.stderr.contains(effect), "{script}: {done:?}");
    }
    for hook in [
        "command: ./there.sh && ./gone.sh",
        "command: cd sub && ./gone.sh",
        "command: 'test -x ./gone.sh && ./gone.sh'",
        "command: '[ -x ./gone.sh ] && ./gone.sh'",
        "command: '\"$DIR\"/gone.sh', env: { DIR: /opt }",
        "command: '${DIR:-.}/gone.sh'",
        "command: \"#!/gone\\ntrue\"",
        "command: no-such-guard, env: { PATH: /opt/bin }",
        "command: './*.sh'",
        "command: 'if then', shell: /usr/bin/python3",
        "command: 'f() { true; }; f'",
        "command: 'read -r line; echo \"$line\"'",
        "command: [no-such-guard], env: { PATH: /opt/bin }",
        "command: ./gone.sh, enabled: false",
        "command: ./gone.sh, working_dir: $DIR",
        "command: [sh, -c, './gone.sh -x']",
        "command: [python3, -c, 'print(1/2)']",
        "command: python3 sub/inner.py",
        "command: 'bash there.sh'",
        "command: 'bash git'",
        "command: 'deno run x.ts', env: { PATH: /opt/bin }",
        "command: 'python3 -m gone.py'",
        "command: [./inner.py], working_dir: sub, enabled: false",
        "command: 'import a/b', shell: python3",
    ] {
        let done = check(hook);
        assert!(done.stdout.ends_with("0 errors, 0 warnings\n"), "{hook}: {done:?}");
    }
}

#[test]
fn every_problem_is_shown_at_once_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", BROKEN);
    let done = sandbox.hookexec(["check"]).run().exits(78);
    insta::assert_snapshot!(done.whole(), @r"
    exit 78
    -- stdout
    3 hooks in 1 file: 3 errors, 1 warning
    -- stderr
    warning: this file is not approved: its hooks fail
    --> [SANDBOX]/project/hooks.yaml
     = help: review `hooks.yaml` with `hookexec trust show [SANDBOX]/project/hooks.yaml`, then run `hookexec trust add [SANDBOX]/project/hooks.yaml` in a terminal

    error: unknown key `tiemout` in a hook
     --> [SANDBOX]/project/hooks.yaml:2:44
      |
    2 | stop: { type: command, command: touch ran, tiemout: 3 }
      |                                            ^^^^^^^
      |
      = help: did you mean `timeout`?

    error: `matcher` is not a valid regular expression: repetition operator missing expression
     --> [SANDBOX]/project/hooks.yaml:4:16
      |
    4 |   - { matcher: 'shell|*', hooks: { type: command, command: ./a.sh } }
      |                ^^^^^^^^^
      |
      = help: a matcher is a regular expression: write `.*` for anything, or `*` alone

    error: unknown hook type `comand`
     --> [SANDBOX]/project/hooks.yaml:5:24
      |
    5 | session_start: { type: comand, command: ./b.sh }
      |                        ^^^^^^
      |
      = help: did you mean `command`?
    ");
    // No person approved the file, so `run` evaluates nothing of it.
    let run = sandbox.hookexec(["run", "stop"]).stdin("{}").run().exits(0);
    assert!(run.stdout.contains("is not approved"), "{run:?}");
    // Of a file that is named, `run` shows the same as `check`, and runs nothing.
    let named = ["--config", "hooks.yaml"];
    let check = sandbox.hookexec(["check"].iter().chain(&named)).run().exits(78);
    let run = sandbox.hookexec(["run", "stop"].iter().chain(&named)).stdin("{}").run().exits(78);
    assert_eq!((run.stdout.as_str(), &run.stderr), ("", &check.stderr));
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn what_else_is_wrong_with_a_hook_does_not_hide_its_type() {
    let sandbox = Sandbox::new();
    let hooks = "stop: { type: comand, command: ls, tiemout: 3 }
session_start: [ { type: 5, command: ls, timeout: x }, { type: [], command: ls } ]
pre_tool_use: { matcher: '*.sh', hooks: { type: biultin, command: ls } }
";
    sandbox.write("hooks.yaml", hooks);
    let done = sandbox.hookexec(["check", "--config", "hooks.yaml", "--format", "json"]).run();
    let report: Value = serde_json::from_str(&done.exits(78).stdout).unwrap();
    let problems = report["problems"].as_array().unwrap();
    let told: Vec<String> = problems
        .iter()
        .filter(|problem| problem["severity"] == "error")
        .map(|problem| format!("{}: {}", problem["line"], problem["message"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            "1: unknown hook type `comand`",
            "1: unknown key `tiemout` in a hook",
            "2: unknown hook type `5`",
            "2: `timeout` is not a valid duration: `x`",
            "2: `type` must be text, not a list",
            "3: `matcher` is not a valid regular expression: repetition operator missing expression",
            "3: unknown hook type `biultin`",
        ]
    );
}

#[test]
fn problems_are_data_for_programs() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", BROKEN);
    let done = sandbox.hookexec(["check", "--format", "json"]).run().exits(78);
    assert_eq!(done.stderr, "");
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["files"], json!(["[SANDBOX]/project/hooks.yaml"]));
    assert_eq!((&report["errors"], &report["warnings"]), (&json!(3), &json!(1)));
    assert_eq!(report["problems"][0]["message"], "this file is not approved: its hooks fail");
    assert_eq!(
        report["problems"][1],
        json!({
            "severity": "error",
            "message": "unknown key `tiemout` in a hook",
            "hint": "did you mean `timeout`?",
            "path": "[SANDBOX]/project/hooks.yaml",
            "line": 2,
            "column": 44,
            "end_line": 2,
            "end_column": 51,
        })
    );
}

#[test]
fn two_rules_that_answer_all_other_commands_are_warned_of() {
    let sandbox = Sandbox::new();
    let first = "{ type: rule, name: ls, allow: true, commands: [ls], otherwise: ask }";
    for (keys, warnings) in [
        ("commands: [pwd], otherwise: deny", 1),
        ("commands: [pwd]", 0),
        ("files: [docs], otherwise: deny", 1),
        ("files: [docs], tools: [edit], otherwise: deny", 0),
    ] {
        let second = format!("{{ type: rule, name: pwd, allow: true, {keys} }}");
        let rules = [first, &second].join(", ");
        sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ hooks: [{rules}] }}]"));
        let done = sandbox.hookexec(["check", "hooks.yaml"]).run().exits(0);
        let said = done.stderr.contains("`pwd` answers the calls that `ls` (hooks.yaml:1) allows");
        assert_eq!(said, warnings == 1, "{done:?}");
    }
}

/// Returns a hooks file with a rule about commands behind a matcher.
macro_rules! matched {
    ($matcher:literal) => {
        concat!(
            "pre_tool_use: [{ matcher: '",
            $matcher,
            "', hooks: [{ type: rule, deny: no, commands: [ls] }] }]"
        )
    };
}

#[test]
fn what_never_happens_is_warned_of() {
    let sandbox = Sandbox::new();
    let turns = "Gemini CLI sends no `turn_id`: the hook fails there";
    for (hooks, said) in [
        ("{ type: rule, deny: no, tools: [Bahs] }", "did you mean `Bash`?"),
        ("{ type: rule, deny: no, any: [{ tools: [edti] }] }", "mean `edit`?"),
        ("stop: { type: command, command: 'true', limit: { times: 1, per: turn } }", turns),
        ("{ type: builtin, command: limit_calls, args: ['1', --per=turn] }", turns),
        (
            "{ type: rule, deny: no, tools: [apply_patch] }",
            "`apply_patch` fits no tool of Gemini CLI",
        ),
        ("{ type: rule, deny: no, files: [secrets] }", "`secrets` is not the group `@secrets`"),
        ("{ type: rule, deny: no, any: [{ commands: [sends] }] }", "write `\"@sends\"`"),
        ("{ type: rule, deny: no, files: [secret] }", ""),
        ("{ type: rule, deny: no, commands: [git push --froce] }", "mean `--force`?"),
        ("{ type: rule, deny: no, commands: [git push --forc] }", ""),
        ("{ type: rule, deny: no, commands: [git push !--push-opt=x|--dry-urn] }", "`--dry-run`?"),
        (
            "{ type: rule, deny: no, commands: [curl -X=POST], except: { files: ['http://localhost'] } }",
            "takes nothing away",
        ),
        ("{ type: rule, deny: no, commands: [rm -r], except: { files: [/tmp] } }", ""),
        (
            "{ type: rule, deny: no, commands: [curl], files: ['http:/**'], except: { files: [/x] } }",
            "",
        ),
        ("{ type: rule, deny: no, files: ['**/secrets'] }", ""),
        ("{ type: rule, deny: no, except: { tools: [apply_patch] }, tools: ['*'] }", ""),
        ("{ type: rule, deny: no, tools: [bash, 'Ed*', mcp__bahs__x] }", ""),
        ("stop: { type: command, command: 'true', limit: 1 }", ""),
        (matched!("write_file|edit"), "its `commands` fit nothing: `matcher: write_file|edit`"),
        (matched!("read|shell"), ""),
        (matched!("read|my_own_tool"), ""),
    ] {
        let hooks = match hooks.strip_prefix('{') {
            Some(_) => format!("pre_tool_use: [{{ hooks: [{hooks}] }}]"),
            None => hooks.to_owned(),
        };
        sandbox.write("hooks.yaml", &hooks);
        let done = sandbox.hookexec(["check", "hooks.yaml", "--host", "gemini"]).run().exits(0);
        assert!(done.stderr.contains(said), "{hooks}: {done:?}");
        assert_eq!(said.is_empty(), done.stdout.contains("0 warnings"), "{hooks}: {done:?}");
    }
}

#[test]
fn warnings_are_no_errors() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "stop: [{ type: command, command: 'true' }, { type: command, command: 'true' }]\n",
    );
    sandbox.trust();
    let done = sandbox.hookexec(["check"]).run().exits(0);
    assert!(done.stdout.ends_with(": 0 errors, 1 warning\n"), "{}", done.stdout);
    assert!(done.stderr.contains("warning: this hook is the same as"), "{}", done.stderr);
}

#[test]
fn a_rule_that_says_nothing_or_everything_is_refused() {
    let sandbox = Sandbox::new();
    for (rule, said) in [
        ("deny: no", "a rule needs a condition"),
        ("deny: no, except: { commands: [ls] }", "a rule needs a condition"),
        ("allow: true, otherwise: ask", "a rule needs a condition"),
        ("deny: no, any: []", "`any` is empty"),
        ("deny: no, any: [{ files: [a] }, {}]", "a set of conditions is empty"),
        ("deny: true, commands: [rm]", "`true` is not a reason"),
        ("ask: '', commands: [rm]", "the value is the reason"),
        ("deny: no, files: ['!src', '!docs']", "a list of exceptions alone fits nothing"),
        ("deny: no, tools: ['!edit']", "`tools` takes no `!`"),
    ] {
        sandbox.write(
            "hooks.yaml",
            &format!("pre_tool_use: [{{ hooks: [{{ type: rule, {rule} }}] }}]"),
        );
        let done = sandbox.hookexec(["check", "hooks.yaml"]).run().exits(78);
        assert!(done.stderr.contains(said), "{rule}: {done:?}");
        assert_eq!(done.stdout, "1 hook in 1 file: 1 error, 0 warnings\n", "{rule}");
    }
    for event in ["post_tool_use", "tool_input_transform", "approval"] {
        let rule = "{ type: rule, deny: no, commands: [rm] }";
        sandbox.write("hooks.yaml", &format!("{event}: [{{ hooks: [{rule}] }}]"));
        let done = sandbox.hookexec(["check", "hooks.yaml"]).run().exits(78);
        assert!(done.stderr.contains("move it to `pre_tool_use`"), "{event}: {done:?}");
    }
}

#[test]
fn a_group_in_the_place_of_a_shipped_one_is_warned_of() {
    let sandbox = Sandbox::new();
    for (name, is_shipped) in [("@secrets", true), ("@ours", false)] {
        let rule = format!("{{ type: rule, deny: no, files: ['{name}'] }}");
        let text = format!(
            "groups: {{ '{name}': [x] }}\nhooks: {{ pre_tool_use: [{{ hooks: [{rule}] }}] }}"
        );
        sandbox.write("hooks.yaml", &text);
        let done = sandbox.hookexec(["check", "hooks.yaml"]).run().exits(0);
        let said = done.stderr.contains("is the group of this file");
        assert_eq!(said, is_shipped, "{done:?}");
    }
}

#[test]
fn check_knows_how_long_an_installed_agent_waits() {
    let sandbox = Sandbox::new();
    let hook = "{ type: command, command: 'true', timeout: 100, on_error: block }";
    sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ hooks: [{hook}] }}]"));
    let check = ["check", "hooks.yaml", "--host", "gemini"];
    let done = sandbox.hookexec(check).run().exits(0);
    assert!(done.stderr.contains("may take 100s"), "{done:?}");
    let _ = sandbox.hookexec(["install", "gemini", "--timeout", "120"]).run().exits(0);
    let done = sandbox.hookexec(check).run().exits(0);
    assert!(!done.stderr.contains("may take"), "{done:?}");
}

#[test]
fn check_names_fields_that_an_event_does_not_have() {
    let sandbox = Sandbox::new();
    let post = |event: &str, text: &str| {
        let hook = format!(
            "{{ type: builtin, command: http_post, args: ['https://x.io/${{a}}', '{text}', '--header=X: ${{HOME}}'] }}"
        );
        sandbox.write("hooks.yaml", &format!("{event}: [{hook}]"));
        sandbox.hookexec(["check", "hooks.yaml"]).run().exits(0)
    };
    for (event, text, said) in [
        (
            "stop",
            "${stop_respons}",
            "`stop` has no field `stop_respons`, so `${stop_respons}` fails",
        ),
        ("stop", "${stop_respons}", "did you mean `stop_response`?"),
        ("session_end", "x ${tool_input.command}", "`session_end` has no field `tool_input`"),
    ] {
        let done = post(event, text);
        assert!(done.stdout.contains("1 warning"), "{done:?}");
        assert!(format!("{}{}", done.stdout, done.stderr).contains(said), "{done:?}");
    }
    assert!(post("stop", "$x {{ ${stop_response} ${cwd}").stdout.contains("0 warnings"));
}

#[test]
fn where_no_file_is_there_is_nothing_to_check_and_a_run_says_so() {
    let sandbox = Sandbox::new();
    for command in ["check", "explain"] {
        let done = sandbox.hookexec([command]).run().exits(78);
        assert_eq!(done.stdout, "");
        assert!(done.stderr.contains("no hooks file was found"), "{}", done.stderr);
    }
    let done = sandbox.hookexec(["run", "stop"]).stdin("{}").run().exits(0);
    assert_eq!(done.json_line()["allowed"], true);
    assert!(done.stderr.starts_with("warning: no hooks file was found"), "{}", done.stderr);
}

#[test]
fn a_list_says_where_each_hook_comes_from() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.write("more.yaml", "stop: { type: builtin, command: anything }\n");
    let done = sandbox.hookexec(["explain", "--config", "more.yaml"]).run().exits(0);
    insta::assert_snapshot!(done.whole(), @r"
    exit 0
    -- stdout
    pre_tool_use
        matches: shell|edit_file; type: command; name: guard; timeout: 5s; settings:
        on_error; layer: project; source: [SANDBOX]/project/hooks.yaml:5
    pre_tool_use
        matches: shell|edit_file; type: command; name: ./add-flag.sh -l; timeout:
        60s; settings: mutates, on_error, when; layer: project; source:
        [SANDBOX]/project/hooks.yaml:6
    session_start
        type: command; name: echo hello…; timeout: 60s; settings: disabled; layer:
        project; source: [SANDBOX]/project/hooks.yaml:7
    stop
        type: command; name: tidy; timeout: 1.5s; settings: background; layer:
        project; source: [SANDBOX]/project/hooks.yaml:8
    stop
        type: builtin; name: anything; timeout: 60s; layer: command line; source:
        more.yaml:1
    -- stderr
    warning: [SANDBOX]/project/hooks.yaml is not approved; review `hooks.yaml` with `hookexec trust show [SANDBOX]/project/hooks.yaml`, then run `hookexec trust add [SANDBOX]/project/hooks.yaml` in a terminal
    warning: more.yaml:1: unknown builtin `anything`
    ");
    let done =
        sandbox.hookexec(["explain", "--format", "json", "--config", "more.yaml"]).run().exits(0);
    let rows: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(
        rows[3],
        json!({
            "event": "stop", "name": "tidy", "type": "command", "command": "./tidy.sh",
            "timeout_ms": 1500, "also": ["background"],
            "file": "[SANDBOX]/project/hooks.yaml", "line": 8, "layer": "project",
        })
    );
    assert_eq!(rows[4]["layer"], "command_line");
    assert_eq!(rows.as_array().map(Vec::len), Some(5));
    let alone = sandbox.hookexec(["explain", "--isolated", "--config", "more.yaml"]).run().exits(0);
    assert_eq!(alone.stdout.lines().count(), 2, "{}", alone.stdout);
}

#[test]
fn a_file_that_is_left_out_is_told_by_all_who_might_count_on_it() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yml", HOOKS);
    let said = "hooks.yml: a file of this name is not read";
    let run = sandbox.hookexec(["run", "stop"]).stdin("{}").run().exits(0);
    assert!(run.stderr.contains(said) && run.stderr.contains("rename it"), "{}", run.stderr);
    let from = |event: &str| {
        let payload = json!({"hook_event_name": event, "session_id": "s", "cwd": "."});
        let run = sandbox.hookexec(["run", "--from", "claude-code"]).stdin(payload.to_string());
        run.run().exits(0).stdout
    };
    let message: Value = serde_json::from_str(&from("SessionStart")).unwrap();
    assert!(message["systemMessage"].as_str().unwrap().contains(said), "{message}");
    assert!(!from("Stop").contains(said));
    let doctor = sandbox.hookexec(["doctor"]).run().exits(1);
    assert!(doctor.stdout.contains("PROBLEM") && doctor.stdout.contains(said), "{doctor:?}");
    let check = sandbox.hookexec(["check"]).run().exits(78);
    assert!(check.stderr.contains("a file of this name is not read"), "{check:?}");
    assert!(check.stderr.contains("error: no hooks file was found"), "{check:?}");
}
