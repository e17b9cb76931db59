//! Nothing in a project's file changes what a hook of the user decides.
//!
//! A table: each kind of bad project file, with `run` and under an agent, beside a guard, a guard of
//! prompts and a redactor in the user's layer.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::support::{Done, Sandbox};

const USER: &str = "
processes: { shared: { command: [sh, -c, 'exec cat >/dev/null'] } }
pre_tool_use:
  - { matcher: 'Bash|shell', hooks: [{ type: command, command: 'echo GUARD >&2; exit 2', timeout: 30 }] }
user_prompt_submit:
  - { type: command, command: 'echo PROMPT >&2; exit 2', on_error: block }
tool_response_transform:
  - { hooks: [{ type: builtin, command: redact_secrets, mutates: true }] }
";
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// What a project does to its hooks file.
type Spoil = fn(&Sandbox);

fn text(sandbox: &Sandbox, text: &str) {
    sandbox.write("hooks.yaml", text);
}

const SPOILS: [(&str, Spoil); 19] = [
    ("no file", |_| {}),
    ("broken YAML", |it| text(it, "x: [")),
    ("empty", |it| text(it, "")),
    ("no text", |it| fs::write(it.project().join("hooks.yaml"), [0xff, 0xfe, 0]).unwrap()),
    ("a directory", |it| drop(it.write("hooks.yaml/x", ""))),
    ("a dangling link", |it| symlink("/nonexistent", it.project().join("hooks.yaml")).unwrap()),
    ("a link out of the project", |it| {
        symlink("/etc/passwd", it.project().join("hooks.yaml")).unwrap();
    }),
    ("a device", |it| symlink("/dev/zero", it.project().join("hooks.yaml")).unwrap()),
    ("writable by everyone", |it| {
        let path = it.write("hooks.yaml", "hooks: {}\n");
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
    }),
    ("too large", |it| text(it, &format!("hooks: {{}}\n#{}", "x".repeat(5 << 20)))),
    ("too many files", |it| {
        for number in 0..1_200 {
            it.write(format!(".hookexec/hooks.d/{number}.yaml"), "hooks: {}\n");
        }
    }),
    ("one large file by many names", |it| {
        let first = format!("stop: []\n#{}", "x".repeat(1_000_000));
        let first = it.write(".hookexec/hooks.d/a.yaml", &first);
        for number in 0..1_500 {
            fs::hard_link(&first, first.with_file_name(format!("{number}.yaml"))).unwrap();
        }
    }),
    ("more entries than are looked at", |it| {
        let first = it.write(".hookexec/hooks.d/a.txt", "");
        for number in 0..10_100 {
            fs::hard_link(&first, first.with_file_name(format!("{number}.txt"))).unwrap();
        }
    }),
    ("covered scripts that became large", |it| {
        text(
            it,
            "stop:\n- { type: command, command: ./1.sh }\n- { type: command, command: ./2.sh }\n",
        );
        for script in ["1.sh", "2.sh"] {
            it.write(script, "exit 0\n");
        }
        it.trust();
        for script in ["1.sh", "2.sh"] {
            let script = fs::OpenOptions::new().write(true).open(it.project().join(script));
            script.unwrap().set_len(60 << 20).unwrap();
        }
    }),
    ("a process of the user's name", |it| {
        text(it, "processes: { shared: { command: [x], intercept: [before_tool] } }\n");
    }),
    ("an unknown builtin", |it| text(it, "stop: { type: builtin, command: nonsense }\n")),
    ("slow patterns", |it| {
        let regex = "{ field: tool_response.stdout, regex: '(?s)[a-z].{7000}X1' }";
        let hook = |n| {
            format!("- {{ when: {regex}, hooks: [{{ type: command, command: 'true {n}' }}] }}\n")
        };
        let hooks: String = (0..6).map(hook).collect();
        text(it, &format!("tool_response_transform:\n{hooks}pre_tool_use:\n{hooks}"));
    }),
    ("an approved file that was changed to wait", |it| {
        text(it, "hooks: {}\n");
        it.trust();
        text(
            it,
            "defaults: { deadline: 1ms }\nuser_prompt_submit: { type: command, command: sleep 100 }\n",
        );
    }),
    ("an approved file with limits", |it| {
        let hook = "{ type: command, command: 'true' }";
        text(
            it,
            &format!(
                "defaults: {{ deadline: 1ms, max_parallel: 1 }}\nuser_prompt_submit: {hook}\ntool_response_transform: {{ hooks: [{hook}] }}\n"
            ),
        );
        it.trust();
    }),
];

/// A sandbox with the hooks of the user and a spoilt project.
fn sandbox(spoil: Spoil) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_users_hooks(USER);
    spoil(&sandbox);
    sandbox
}

fn run(sandbox: &Sandbox, event: &str, input: &Value) -> Done {
    sandbox.hookexec(["run", event]).stdin(input.to_string()).run()
}

fn under_claude(sandbox: &Sandbox, event: &str, mut payload: Value) -> Value {
    payload["hook_event_name"] = event.into();
    payload["cwd"] = json!(sandbox.project());
    let from = ["run", "--from", "claude-code", "--event", event, "--within", "60"];
    let done = sandbox.hookexec(from).stdin(payload.to_string()).run().exits(0);
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

/// Returns whether a response was redacted by the user's hook, or withheld for a file of the project.
fn is_clean(answer: &str) -> bool {
    let is_replaced = answer.contains("[REDACTED") || answer.contains("[withheld by hookexec");
    is_replaced && !answer.contains(TOKEN)
}

#[test]
fn no_file_of_a_project_changes_what_the_users_hooks_decide() {
    for (what, spoil) in SPOILS {
        let sandbox = sandbox(spoil);
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
        let denied = run(&sandbox, "pre_tool_use", &call).exits(2);
        assert!(denied.stdout.contains("GUARD"), "{what}: {denied:?}");
        let prompt = run(&sandbox, "user_prompt_submit", &json!({ "prompt": "x" })).exits(2);
        assert!(prompt.stdout.contains("PROMPT"), "{what}: {prompt:?}");
        let mut response = call.clone();
        response["tool_response"] = format!("{}{TOKEN}", "x ".repeat(30_000)).into();
        let redacted = run(&sandbox, "tool_response_transform", &response);
        assert!(is_clean(&redacted.stdout), "{what}: {redacted:?}");

        let answer = under_claude(&sandbox, "PreToolUse", call.clone());
        let answer = &answer["hookSpecificOutput"];
        assert_eq!(answer["permissionDecision"], "deny", "{what}: {answer}");
        let answer = under_claude(&sandbox, "UserPromptSubmit", json!({ "prompt": "x" }));
        assert_eq!(answer["decision"], "block", "{what}: {answer}");
        assert!(answer["reason"].to_string().contains("PROMPT"), "{what}: {answer}");
        let mut response = call;
        response["tool_response"] = json!({ "stdout": TOKEN, "stderr": "" });
        let answer = under_claude(&sandbox, "PostToolUse", response).to_string();
        assert!(is_clean(&answer), "{what}: {answer}");
    }
}

#[test]
fn a_bad_project_file_denies_the_tools_that_no_other_hook_denies() {
    for (what, spoil) in SPOILS {
        // These say nothing about tools, or are sound.
        let silent = [
            "no file",
            "an unknown builtin",
            "an approved file with limits",
            "covered scripts that became large",
        ];
        if silent.contains(&what) {
            continue;
        }
        let sandbox = sandbox(spoil);
        let call = json!({ "tool_name": "Read", "tool_input": {} });
        let denied = run(&sandbox, "pre_tool_use", &call).exits(2);
        assert!(denied.stdout.contains("\"hooks_file\""), "{what}: {denied:?}");
        let answer = under_claude(&sandbox, "PreToolUse", call);
        let decision = &answer["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(decision, "deny", "{what}: {answer}");
    }
}

#[test]
fn a_directory_that_is_too_deep_is_a_failure_of_the_project() {
    let sandbox = sandbox(|it| drop(it.write("hooks.yaml", "hooks: {}\n")));
    let deep = sandbox.project().join("d/".repeat(150));
    fs::create_dir_all(&deep).unwrap();
    let payload = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "cwd": deep,
        "tool_response": { "stdout": TOKEN, "stderr": "" },
    });
    let from = ["run", "--from", "claude-code", "--event", "PostToolUse", "--within", "60"];
    let done = sandbox.hookexec(from).stdin(payload.to_string()).run().exits(0);
    assert!(is_clean(&done.stdout), "{done:?}");
    assert!(done.stdout.contains("more than 100 levels deep"), "{done:?}");
}

#[test]
fn links_that_take_long_to_follow_are_not_followed() {
    let sandbox = sandbox(|it| {
        // 38 links behind each other, each with 800 detours: each file costs milliseconds.
        let directory = it.write(".hookexec/hooks.d/.l38", "hooks: {}\n");
        let directory = directory.parent().unwrap();
        fs::create_dir(directory.join("a")).unwrap();
        let link = |target: usize, name: &str| {
            let target = format!("{}.l{target}", "a/../".repeat(800));
            symlink(target, directory.join(name)).unwrap();
        };
        (0..38).for_each(|number| link(number + 1, &format!(".l{number}")));
        (0..990).for_each(|number| link(0, &format!("{number}.yaml")));
    });
    let payload = json!({
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {},
        "tool_response": { "stdout": TOKEN, "stderr": "" }, "cwd": sandbox.project(),
    });
    let from = ["run", "--from", "claude-code", "--event", "PostToolUse", "--within", "20"];
    let done = sandbox.hookexec(from).stdin(payload.to_string()).run().exits(0);
    assert!(is_clean(&done.stdout), "{done:?}");
    assert!(done.stdout.contains("is a symbolic link"), "{done:?}");
    assert!(!done.stdout.contains("could not be read in time"), "{done:?}");
}

#[test]
fn a_payload_that_can_not_be_read_fails_the_hooks_of_its_event() {
    let sandbox = sandbox(|_| {});
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let twice = r#"{ "stdout": 1, "stdout": 2 }"#.to_owned();
    for value in [deep, twice, format!("[{}1]", "1,".repeat(600_000))] {
        for (event, key, expected) in [
            ("UserPromptSubmit", "prompt", r#""decision":"block""#),
            ("PostToolUse", "tool_response", "withheld"),
            ("PreToolUse", "tool_input", r#""permissionDecision":"deny""#),
        ] {
            let payload = format!(
                r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{{}},"{key}2":"{TOKEN}","{key}":{value}}}"#
            );
            let from = ["run", "--from", "claude-code", "--event", event, "--within", "60"];
            let done = sandbox.hookexec(from).stdin(payload).run().exits(0);
            assert!(done.stdout.contains(expected), "{event}: {done:?}");
        }
    }
}

#[test]
fn an_approved_file_that_a_git_directory_hides_is_reported_at_every_event() {
    let sandbox = Sandbox::new();
    text(&sandbox, "pre_tool_use: [{ hooks: [{ type: command, command: 'exit 2' }] }]");
    sandbox.write("sub/.git/HEAD", "");
    let input = r#"{"tool_name": "shell", "tool_input": {"cmd": "ls"}}"#;
    let said = || {
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(input);
        run.current_dir(sandbox.project().join("sub")).run().exits(0).stdout
    };
    let hidden = "above the root of the project";
    assert!(!said().contains(hidden), "it is not approved");
    sandbox.trust();
    assert!(said().contains(hidden), "{}", said());
    // Without any repository only the working directory counts.
    fs::remove_dir_all(sandbox.project().join("sub/.git")).unwrap();
    let git = sandbox.project().join(".git");
    if git.exists() {
        fs::rename(&git, sandbox.project().join("git")).unwrap();
    }
    assert!(said().contains(hidden), "{}", said());
    // Gone, it is reported as before, wherever a `.git` is.
    fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    assert!(said().contains("approved file is gone"), "{}", said());
    sandbox.write("sub/.git/HEAD", "");
    assert!(said().contains("approved file is gone"), "{}", said());
}

#[test]
fn a_redactor_that_crashes_does_not_repeat_the_response() {
    let sandbox = Sandbox::new();
    for crash in ["cat >&2; exit 1", "cat >&2; exit 127"] {
        let hook = json!({ "type": "command", "command": crash });
        sandbox.write_users_hooks(
            &json!({ "tool_response_transform": { "hooks": [hook] } }).to_string(),
        );
        let payload = json!({
            "tool_name": "Bash", "tool_input": {}, "tool_response": { "stdout": TOKEN },
        });
        let answer = under_claude(&sandbox, "PostToolUse", payload).to_string();
        assert!(answer.contains("exit code 1") && !answer.contains(TOKEN), "{answer}");
        assert!(answer.contains("shown with `--verbose` only"), "{answer}");
    }
}

#[test]
fn with_block_a_redactor_that_fails_withholds_the_response() {
    let sandbox = Sandbox::new();
    let hook = |keys: &str| format!("{{ type: command, name: redact, {keys} }}");
    for (defaults, hook) in [
        ("", hook("command: exit 1, on_error: block")),
        ("", hook("command: sleep 60, timeout: 100ms, on_error: block")),
        ("defaults: { on_error: block }\n", hook("command: echo no JSON >&2; exit 3")),
    ] {
        let hooks = format!("{defaults}tool_response_transform:\n- hooks: [{hook}]\n");
        sandbox.write_users_hooks(&hooks);
        let payload = json!({
            "tool_name": "Bash", "tool_input": {}, "tool_response": { "stdout": TOKEN },
        });
        let answer = under_claude(&sandbox, "PostToolUse", payload).to_string();
        assert!(answer.contains("[withheld by hookexec: hook `redact` failed]"), "{answer}");
        assert!(!answer.contains(TOKEN), "{answer}");
    }
}

#[test]
fn a_named_file_that_can_not_be_built_evaluates_no_file_of_a_project() {
    let sandbox = Sandbox::new();
    let unknown = "pre_tool_use: [{ hooks: [{ type: builtin, command: nosuch }] }]\n";
    let named = sandbox.write("../named.yaml", unknown);
    sandbox.write("hooks.yaml", "pre_tool_use: [{ hooks: [{ type: command, misspelt: a }] }]\n");
    let named = named.to_str().unwrap();
    for command in [&["run", "pre_tool_use"][..], &["explain", "pre_tool_use"]] {
        let input = json!({ "tool_name": "shell", "tool_input": {} }).to_string();
        let done = sandbox.hookexec([command, &["--config", named]].concat()).stdin(input).run();
        let done = done.exits(78);
        assert!(done.stderr.contains("nosuch"), "{done:?}");
        assert!(!done.stderr.contains("misspelt"), "{done:?}");
    }
}

#[test]
fn a_name_of_a_project_s_file_writes_no_line_of_its_own() {
    let sandbox = Sandbox::new();
    let name = ".hookexec/hooks.d/a\nwarning: all is well\u{1b}[31m.yaml";
    sandbox.write(name, "pre_tool_use: [{ hooks: [{ type: command, command: a }] }]\n");
    let payload = json!({ "cwd": sandbox.project(), "tool_name": "Bash", "tool_input": {} });
    let answer = under_claude(&sandbox, "PreToolUse", payload);
    let told = answer["systemMessage"].as_str().unwrap();
    assert!(told.contains("all is well") && !told.contains('\u{1b}'), "{told}");
    assert!(!told.lines().any(|line| line.starts_with("warning: all")), "{told}");
}
