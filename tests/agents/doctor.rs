//! `hookexec doctor`: what it finds, and what that does to its exit code.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

const GUARD: &str = "
pre_tool_use: [ { matcher: shell, hooks: { type: command, command: ./guard.sh, timeout: 5 } } ]
session_start: { type: command, command: 'echo hello' }
";

/// A sandbox with one sound guard, in the user's hooks file.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.script("guard.sh", "#!/bin/sh\nexit 0\n");
    sandbox.write_users_hooks(GUARD);
    sandbox
}

fn hookexec(sandbox: &Sandbox, args: &[&str]) -> Done {
    sandbox.hookexec(args).run()
}

fn fire(sandbox: &Sandbox, agent: &str, event: &str, payload: &str) {
    let args = ["run", "--from", agent, "--event", event, "--within", "54"];
    let _ = sandbox.hookexec(args).stdin(payload).run().exits(0);
}

#[test]
fn a_guard_that_is_installed_and_seen_firing_is_live() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    let before = hookexec(&sandbox, &["doctor", "claude-code"]).exits(0).stdout;
    let never = "pre_tool_use (PreToolUse), session_start (SessionStart): never seen firing yet";
    assert!(before.contains(never), "{before}");

    let payload = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    fire(&sandbox, "claude-code", "PreToolUse", payload);
    let after = hookexec(&sandbox, &["doctor", "claude-code"]).exits(0).stdout;
    assert!(after.contains("ok       pre_tool_use (PreToolUse): last seen "), "{after}");
    assert!(after.contains("0 problems, 1 warning"), "{after}");
}

#[test]
fn a_call_in_another_project_is_told_as_such() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code", "--scope", "project"]).exits(0);
    let elsewhere = sandbox.home();
    let payload = json!({
        "hook_event_name": "PreToolUse", "cwd": elsewhere, "tool_name": "Bash", "tool_input": {}
    });
    fire(&sandbox, "claude-code", "PreToolUse", &payload.to_string());
    let said = hookexec(&sandbox, &["doctor", "claude-code"]).stdout;
    let other =
        "warning  pre_tool_use (PreToolUse): never seen in this project; last in [SANDBOX]/home, ";
    assert!(said.contains(other), "{said}");
}

#[test]
fn a_project_only_installation_is_mended_in_the_project() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code", "--scope", "project"]).exits(0);
    let path = sandbox.project().join(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("--event PreToolUse ", "--event Stop ")).unwrap();
    let said = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1).stdout;
    let advice = "remove it and run `hookexec install claude-code --scope project` again";
    assert!(said.contains(advice), "{said}");
}

#[test]
fn an_approved_file_that_is_gone_is_a_problem() {
    let sandbox = sandbox();
    sandbox.write("hooks.yaml", "hooks: { stop: { type: command, command: 'true' } }");
    sandbox.trust();
    fs::remove_file(sandbox.project().join("hooks.yaml")).unwrap();
    let said = hookexec(&sandbox, &["doctor"]).exits(1).stdout;
    assert!(said.contains("project/hooks.yaml: this approved file is gone"), "{said}");
}

#[test]
fn a_script_that_changed_after_its_approval_is_named() {
    let sandbox = sandbox();
    sandbox.write("check.py", "pass");
    let hook = "hooks: { stop: { name: check, type: command, command: python3 check.py } }";
    sandbox.write("hooks.yaml", hook);
    sandbox.trust();
    sandbox.write("check.py", "print()");
    let said = hookexec(&sandbox, &["doctor"]).exits(1).stdout;
    assert!(said.contains("project/hooks.yaml: `check.py` changed after its approval"), "{said}");
}

#[test]
fn a_call_by_hand_is_no_call_of_the_agent() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    let payload = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    let by_hand = ["run", "--from", "claude-code", "--event", "PreToolUse"];
    let _ = sandbox.hookexec(by_hand).stdin(payload).run().exits(0);
    // The very command of the settings, its answer to a terminal.
    let in_terminal = "import os, subprocess, sys
master, terminal = os.openpty()
sys.exit(subprocess.run(sys.argv[2:], input=sys.argv[1].encode(), stdout=terminal).returncode)";
    let mut command = Command::new("python3");
    let program = env!("CARGO_BIN_EXE_hookexec");
    let _ = command.args(["-c", in_terminal, payload, program]).args(by_hand);
    let status = sandbox.dress(command.args(["--within", "54"])).status().unwrap();
    assert!(status.success(), "{status}");
    let said = hookexec(&sandbox, &["doctor", "claude-code"]).exits(0).stdout;
    assert!(said.contains("never seen firing yet") && !said.contains("last seen"), "{said}");
}

#[test]
fn what_is_not_live_is_a_problem_with_its_way_out() {
    type Spoil = fn(&Sandbox);
    let cases: [(&str, Spoil, &str); 9] = [
        (
            "not installed",
            |sandbox| drop(hookexec(sandbox, &["uninstall", "claude-code"])),
            "not installed: `hookexec install claude-code`",
        ),
        (
            "a broken file",
            |sandbox| drop(sandbox.write_users_hooks("pre_tool_usee: []")),
            "`hookexec check`",
        ),
        (
            "no file",
            |sandbox| fs::remove_file(sandbox.home().join(".config/hookexec/hooks.yaml")).unwrap(),
            "nothing is guarded",
        ),
        (
            "no script",
            |sandbox| fs::remove_file(sandbox.project().join("guard.sh")).unwrap(),
            "guard.sh does not exist",
        ),
        (
            "a script that can't be run",
            |sandbox| not_executable(sandbox),
            "guard.sh is not executable",
        ),
        (
            "an event that is not registered",
            |sandbox| {
                settings(sandbox, |text| text.replace("--event PreToolUse ", "--event Stop "));
            },
            "PreToolUse: the entry is not as `install` writes it",
        ),
        (
            "a program that is gone",
            |sandbox| {
                settings(sandbox, |text| text.replace("/hookexec run", "/gone run"));
            },
            "is not a program any more",
        ),
        (
            "an agent that gives up first",
            |sandbox| {
                settings(sandbox, |text| text.replace("\"timeout\": 60", "\"timeout\": 5"));
            },
            "PermissionRequest, PreToolUse: the entry is not as `install` writes it",
        ),
        (
            "hooks switched off",
            |sandbox| {
                settings(sandbox, |text| text.replacen('{', "{ \"disableAllHooks\": true,", 1));
            },
            "`disableAllHooks: true` turns every hook off",
        ),
    ];
    for (what, spoil, expected) in cases {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
        spoil(&sandbox);
        let done = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1);
        let found = done
            .stdout
            .lines()
            .any(|line| line.trim_start().starts_with("PROBLEM") && line.contains(expected));
        assert!(found, "{what}: {}", done.stdout);
    }
}

fn not_executable(sandbox: &Sandbox) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = sandbox.project().join("guard.sh");
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
}

fn settings(sandbox: &Sandbox, change: impl Fn(String) -> String) {
    let path = sandbox.home().join(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let changed = change(text.clone());
    assert_ne!(changed, text);
    fs::write(path, changed).unwrap();
}

/// Changes the entry for the event before a tool call.
fn entry(sandbox: &Sandbox, from: &str, to: &str) {
    settings(sandbox, |text| {
        let at = text.find("\"PreToolUse\"").unwrap();
        [&text[..at], &text[at..].replacen(from, to, 1)].concat()
    });
}

/// Says what the doctor says as a problem.
fn problems(sandbox: &Sandbox) -> String {
    let said = hookexec(sandbox, &["doctor", "claude-code"]).exits(1).stdout;
    let problems = said.lines().filter(|line| line.trim_start().starts_with("PROBLEM"));
    problems.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_entry_that_would_not_be_called_or_not_be_heard_is_a_problem() {
    const HOOKS: &str = "\"hooks\": [";
    const END: &str = "--within 54\"";
    const STRICT: &str = "Claude Code ignores all hooks in a file with comments or trailing commas";
    const DIFFERS: &str = "PreToolUse: the entry is not as `install` writes it";
    for (from, to, expected) in [
        ("[", "[ // mine", STRICT),
        ("]\n  }", "],\n  }", STRICT),
        ("]\n  }", "]\n  }, \"hooks\": {}", "`hooks` appears twice"),
        ("\"PreToolUse\": [", "\"PostToolBatch\": [", DIFFERS),
        ("\"PreToolUse\": [", "\"off\": [", "PreToolUse, off: the entry is not as"),
        (HOOKS, "\"hooks\": [], \"off\": [", DIFFERS),
        (HOOKS, "\"matcher\": \"Edit\", \"hooks\": [", DIFFERS),
        ("\"command\",", "\"prompt\",", DIFFERS),
        ("\"timeout\": 60", "\"timeout\": 60, \"async\": true", DIFFERS),
        (",\n            \"onFailure\": \"block\"", "", DIFFERS),
        (END, "--within 54 || true\"", DIFFERS),
        (END, "--within 54 >/dev/null\"", DIFFERS),
        (END, "--within 54 --isolated\"", DIFFERS),
        (END, "--within 54 --cwd /tmp\"", DIFFERS),
        (END, "--within 54 --config /gone.yaml\"", "/gone.yaml does not exist"),
        ("\"command\": \"", "\"command\": \"! ", DIFFERS),
        ("\"command\": \"", "\"command\": \"timeout 30 ", DIFFERS),
        ("--event PreToolUse", "--event PostToolUse", DIFFERS),
    ] {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
        entry(&sandbox, from, to);
        let problems = problems(&sandbox);
        assert!(problems.contains(expected), "{to}: {problems}");
    }
}

#[test]
fn another_program_is_not_hookexec() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_hookexec")).canonicalize().unwrap();
    settings(&sandbox, |text| text.replace(program.to_str().unwrap(), "/bin/true"));
    let problems = problems(&sandbox);
    assert!(problems.contains("/bin/true is not hookexec"), "{problems}");
}

#[test]
fn a_program_that_may_be_deleted_or_has_another_version_is_named() {
    const WARNING: &str = "and the one that you run is ";
    let this = env!("CARGO_BIN_EXE_hookexec");
    for (program, expected) in [
        ("node_modules/.bin/hookexec", "is in a directory of npm's, which may be deleted: run"),
        (".local/share/hookexec/bin/hookexec-0.0.1", "is hookexec 0.0.1, and the one"),
    ] {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
        let path = sandbox.script(sandbox.home().join(program), "#!/bin/sh\necho hookexec 0.0.2\n");
        let real = std::path::Path::new(this).canonicalize().unwrap();
        settings(&sandbox, |text| text.replace(real.to_str().unwrap(), path.to_str().unwrap()));
        let said = hookexec(&sandbox, &["doctor", "claude-code"]).stdout;
        let line =
            said.lines().find(|line| line.contains(expected)).unwrap_or_else(|| panic!("{said}"));
        assert!(line.contains("run `hookexec install claude-code` again"), "{line}");
        let grade = if expected.contains("npm") { "PROBLEM" } else { "warning" };
        assert!(line.trim_start().starts_with(grade), "{line}");
        assert_eq!(line.contains(WARNING), grade == "warning", "{line}");
        // `install` mends it.
        let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
        let said = hookexec(&sandbox, &["doctor", "claude-code"]).stdout;
        assert!(!said.contains(expected), "{said}");
    }
}

#[test]
fn a_switch_counts_in_whichever_file_it_stands() {
    for file in [".claude/settings.json", ".claude/settings.local.json"] {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
        sandbox.write(file, r#"{"disableAllHooks": true}"#);
        let problems = problems(&sandbox);
        assert!(problems.contains(&format!("{file}: `disableAllHooks: true`")), "{problems}");
    }
}

// Each was measured: the client ran a tool call that hookexec denies.
#[test]
fn an_entry_for_which_the_agent_reads_no_hook_is_a_problem_with_its_place() {
    const HOOK: &str = r#"{"type": "command", "command": "true"}"#;
    let hooks = |agent: &str, entry: &str| match agent {
        "droid" => format!(r#"{{"PreToolUse": [{entry}]}}"#),
        "gemini" => format!(r#"{{"hooks": {{"BeforeTool": [{entry}]}}}}"#),
        _ => format!(r#"{{"hooks": {{"PreToolUse": [{entry}]}}}}"#),
    };
    let group = |hook: &str| format!(r#"{{"hooks": [{hook}]}}"#);
    let timed = |timeout: &str| HOOK.replace('}', &format!(r#", "timeout": {timeout}}}"#));
    let matched = format!(r#"{{"matcher": {{"type": "always"}}, "hooks": [{HOOK}]}}"#);
    let strict = [
        ("\"true\"".to_owned(), "PreToolUse[0]` is not an object with a list `hooks`"),
        (HOOK.to_owned(), "PreToolUse[0]` is not an object with a list `hooks`"),
        (matched.clone(), "PreToolUse[0].matcher` is not a text"),
        (group(r#"{"command": "true"}"#), "PreToolUse[0].hooks[0].type` is not a text"),
        (group(r#"{"type": "command"}"#), "PreToolUse[0].hooks[0].command` is not a text"),
        (group(&timed("\"30\"")), "PreToolUse[0].hooks[0].timeout` is not a number"),
        (group(&timed("0")), "PreToolUse[0].hooks[0].timeout` is not a number"),
    ];
    let mut cases = Vec::new();
    for (entry, expected) in &strict {
        for (agent, file) in [
            ("claude-code", ".claude/settings.json"),
            ("codex", ".codex/hooks.json"),
            ("droid", ".factory/hooks.json"),
        ] {
            // Codex takes a group without a list for one without hooks.
            if agent != "codex" || entry != HOOK {
                cases.push((agent, file, hooks(agent, entry), *expected));
            }
        }
    }
    cases.push((
        "gemini",
        ".gemini/settings.json",
        hooks("gemini", &matched),
        "BeforeTool[0].matcher`",
    ));
    cases.push(("qwen", ".qwen/settings.json", hooks("qwen", &matched), "PreToolUse[0].matcher`"));
    for (entry, expected) in [
        ("event = \"PreToolUse\"", "hooks[0]` is not a table with `command` and its event"),
        ("command = \"true\"\nevent = \"PreToolUsee\"", "hooks[0].event` is not"),
        ("command = \"true\"\nevent = \"Stop\"\ntimeout = 601", "hooks[0].timeout` is not"),
        ("command = \"true\"\nevent = \"Stop\"\ntimeout = 0", "hooks[0].timeout` is not"),
        ("command = \"true\"\nevent = \"Stop\"\nmatcher = 5", "hooks[0].matcher` is not"),
        (
            "command = \"true\"\nevent = \"Stop\"\nfoo = 1",
            "hooks[0].foo` is a key that it does not know",
        ),
    ] {
        let text = format!("[[hooks]]\n{entry}\n");
        cases.push(("kimi", ".kimi-code/config.toml", text, expected));
    }
    for (agent, file, text, expected) in cases {
        let sandbox = sandbox();
        let path = sandbox.home().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
        let done = hookexec(&sandbox, &["install", agent]).exits(64);
        assert!(done.stderr.contains(expected), "{agent} {text}: {}", done.stderr);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let said = hookexec(&sandbox, &["doctor", agent]).exits(1).stdout;
        assert!(said.contains(expected), "{agent} {text}: {said}");
        let lost = if ["gemini", "qwen"].contains(&agent) { "event" } else { "file" };
        assert!(said.contains(&format!("then reads no hook of this {lost}")), "{said}");
    }
    // Gemini CLI and Qwen Code skip such an entry, and read the others.
    let sandbox = sandbox();
    let path = sandbox.home().join(".qwen/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, hooks("qwen", HOOK)).unwrap();
    let _ = hookexec(&sandbox, &["install", "qwen"]).exits(0);
}

#[test]
fn a_plugin_that_is_gone_or_turned_off_is_a_problem() {
    for (agent, file, settings, package) in [
        (
            "opencode",
            ".config/opencode/plugin/hookexec.js",
            ".config/opencode/opencode.json",
            r#"{"plugin": ["@hookexec/opencode"]}"#,
        ),
        ("kilo", ".config/kilo/plugin/hookexec.js", ".config/kilo/kilo.json", ""),
        (
            "pi",
            ".pi/agent/extensions/hookexec.ts",
            ".pi/agent/settings.json",
            r#"{"packages": ["../../clone/plugins/pi"]}"#,
        ),
    ] {
        let sandbox = sandbox();
        let bin = sandbox.script("bin/hookexec", "#!/bin/sh\nexit 1\n");
        let path =
            format!("{}:{}", bin.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let doctor = || sandbox.hookexec(["doctor", agent]).env("PATH", &path).run();
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        let event = if agent == "pi" { "tool_call" } else { "tool.execute.before" };
        let payload = json!({"hook_event_name": event, "tool_name": "bash", "tool_input": {}});
        fire(&sandbox, agent, event, &payload.to_string());
        let said = doctor().exits(0).stdout;
        assert!(said.contains("its plugin: last seen "), "{said}");
        fs::rename(sandbox.home().join(file), sandbox.home().join("moved")).unwrap();
        let said = doctor().exits(1).stdout;
        assert!(said.contains(" ago, and is gone: not installed: "), "{said}");
        let said = hookexec(&sandbox, &["doctor"]).exits(1).stdout;
        assert!(said.contains(" ago, and is gone: not installed: "), "{said}");
        let settings = sandbox.home().join(settings);
        if !package.is_empty() {
            fs::write(&settings, package).unwrap();
            let said = doctor().exits(0).stdout;
            assert!(said.contains("ok       installed as its own package: "), "{said}");
            fs::remove_file(&settings).unwrap();
        }
        fs::rename(sandbox.home().join("moved"), sandbox.home().join(file)).unwrap();
        if agent == "pi" {
            for off in ["-extensions/hookexec.ts", "!extensions/hookexec.ts", "!extensions/*"] {
                fs::write(&settings, json!({"extensions": [off]}).to_string()).unwrap();
                let said = doctor().exits(1).stdout;
                assert!(said.contains("turns the plugin of hookexec off"), "{said}");
            }
            fs::write(&settings, r#"{"extensions": ["-other.ts"]}"#).unwrap();
            let _ = doctor().exits(0);
        }
        let _ = hookexec(&sandbox, &["uninstall", agent]).exits(0);
        let said = hookexec(&sandbox, &["doctor"]).exits(0).stdout;
        assert!(!said.contains("gone"), "{said}");
    }
}

#[test]
fn a_plugin_of_openclaw_is_live_if_its_settings_enable_it() {
    let sandbox = sandbox();
    let bin = sandbox.script("bin/hookexec", "#!/bin/sh\nexit 1\n");
    let path = format!("{}:{}", bin.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let settings = sandbox.home().join(".openclaw/openclaw.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let payload = r#"{"hook_event_name":"before_tool_call","tool_name":"exec","tool_input":{}}"#;
    let on =
        json!({"enabled": true, "allow": ["hookexec"], "entries": {"hookexec": {"enabled": true}}});
    let with = |key: &str, value: Value| {
        let mut plugins = on.clone();
        plugins[key] = value;
        fs::write(&settings, json!({ "plugins": plugins }).to_string()).unwrap();
        sandbox.hookexec(["doctor", "openclaw"]).env("PATH", &path).run()
    };
    // The package is installed, and did not call yet.
    let _ = with("enabled", json!(true)).exits(0);
    fire(&sandbox, "openclaw", "before_tool_call", payload);
    let _ = with("deny", json!(["other"])).exits(0);
    for (key, value) in [
        ("enabled", json!(false)),
        ("entries", json!({"hookexec": {"enabled": false}})),
        ("entries", json!({})),
        ("deny", json!(["hookexec"])),
        ("allow", json!(["other"])),
    ] {
        let done = with(key, value).exits(1);
        assert!(done.stdout.contains("PROBLEM"), "{}", done.stdout);
    }
}

// Measured: of two entries with one name Mistral Vibe takes that of the project.
#[test]
fn an_entry_of_a_project_with_the_name_of_ours_is_a_problem() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "vibe"]).exits(0);
    let _ = hookexec(&sandbox, &["doctor", "vibe"]).exits(0);
    let entry =
        "[[hooks]]\nname = \"hookexec pre_tool\"\ntype = \"pre_tool\"\ncommand = \"true\"\n";
    sandbox.write(".vibe/hooks.toml", entry);
    let said = hookexec(&sandbox, &["doctor", "vibe"]).exits(1).stdout;
    assert!(said.contains("the entry `hookexec pre_tool` is not hookexec"), "{said}");
}

#[test]
fn what_was_seen_before_the_settings_changed_may_be_off_now() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    let payload = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    fire(&sandbox, "claude-code", "PreToolUse", payload);
    let path = sandbox.home().join(".claude/settings.json");
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    let said = hookexec(&sandbox, &["doctor", "claude-code"]).exits(0).stdout;
    assert!(said.contains("warning  pre_tool_use (PreToolUse): last seen "), "{said}");
    assert!(said.contains("and not since [SANDBOX]/home/.claude/settings.json changed"), "{said}");
}

#[test]
fn a_matcher_of_every_tool_may_stand_beside_the_hooks() {
    for fine in ["\"matcher\": \"*\", ", "\"matcher\": \"\", "] {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
        entry(&sandbox, "\"hooks\": [", &format!("{fine}\"hooks\": ["));
        let done = hookexec(&sandbox, &["doctor", "claude-code"]).exits(0);
        assert!(!done.stdout.contains("the entry is not as"), "{}", done.stdout);
    }
}

#[test]
fn an_approval_is_not_known_where_codex_cannot_be_asked() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "codex"]).exits(0);
    let said = sandbox.hookexec(["doctor"]).env("PATH", "/nowhere").run().stdout;
    let line = "warning  not known whether Codex runs its hooks (`codex` is not on the PATH): run \
                `hookexec install codex --approve`";
    assert!(said.contains(line), "{said}");
}

#[test]
fn codex_itself_says_whether_it_still_means_its_approval() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "codex"]).exits(0);
    let hooks = sandbox.home().join(".codex/hooks.json");
    // Answers as Codex 0.169 does.
    let codex = sandbox.script(
        "bin/codex",
        r#"#!/bin/sh
[ "$1" = app-server ] || exit 1
read -r initialize; echo '{"id":1,"result":{}}'; echo '{"method":"x"}'
read -r initialized; read -r list
case $list in *hooks/list*) cat answer.json; echo;; esac
cat >/dev/null
"#,
    );
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", codex.parent().unwrap().display());
    let doctor = |answer: Value| {
        let data = json!({"id": 2, "result": {"data": [{"hooks": answer}]}});
        sandbox.write("answer.json", &data.to_string());
        sandbox.hookexec(["doctor", "codex"]).env("PATH", &path).run()
    };
    let hook = |trust: &str, enabled: bool| {
        json!({"sourcePath": hooks, "command": "x run --from codex --event PreToolUse",
            "trustStatus": trust, "enabled": enabled})
    };
    for (answer, code, said) in [
        (json!([hook("trusted", true)]), 0, "ok       approved in Codex\n"),
        (json!([hook("untrusted", true)]), 1, "PROBLEM  not approved in Codex"),
        (
            json!([hook("trusted", true), hook("modified", true)]),
            1,
            "PROBLEM  changed since it was",
        ),
        (json!([hook("trusted", false)]), 1, "PROBLEM  disabled in Codex"),
        (json!([]), 1, "PROBLEM  Codex does not see these hooks"),
    ] {
        let done = doctor(answer).exits(code);
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    fs::write(sandbox.home().join(".codex/config.toml"), "[features]\nhooks = false\n").unwrap();
    let done = doctor(json!([hook("trusted", true)])).exits(1);
    assert!(
        done.stdout.contains("`features.hooks: false` turns every hook off"),
        "{}",
        done.stdout
    );
}

#[test]
fn an_event_that_an_agent_does_not_have_is_named() {
    let sandbox = sandbox();
    sandbox.write_users_hooks("worktree_create: { type: command, command: 'true' }");
    let _ = hookexec(&sandbox, &["install", "kiro"]).exits(0);
    let done = hookexec(&sandbox, &["doctor", "kiro"]).exits(0);
    assert!(done.stdout.contains("worktree_create: Kiro has no such event"), "{}", done.stdout);
}

#[test]
fn a_hook_that_may_take_longer_than_the_agent_waits_is_warned_of() {
    const LATE: &str = "hooks.yaml:2): stopped before its `timeout` is over: run `hookexec install \
                        gemini` again";
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "gemini"]).exits(0);
    sandbox.write_users_hooks(&GUARD.replace("timeout: 5", "timeout: 90"));
    let done = hookexec(&sandbox, &["doctor", "gemini"]).exits(0);
    assert!(done.stdout.contains(LATE), "{}", done.stdout);
    let _ = hookexec(&sandbox, &["install", "gemini"]).exits(0);
    let text = fs::read_to_string(sandbox.home().join(".gemini/settings.json")).unwrap();
    assert!(text.contains("--within 90"), "{text}");
    let done = hookexec(&sandbox, &["doctor", "gemini"]).exits(0);
    assert!(!done.stdout.contains(LATE), "{}", done.stdout);
}

#[test]
fn an_entry_for_hooks_of_a_file_that_only_the_entries_name_is_as_it_should_be() {
    let sandbox = sandbox();
    let policy = "before_llm_call: { type: command, command: 'true' }";
    let policy = sandbox.write("policy.yaml", policy);
    let args = ["install", "gemini", "--config", policy.to_str().unwrap()];
    let _ = hookexec(&sandbox, &args).exits(0);
    let text = fs::read_to_string(sandbox.home().join(".gemini/settings.json")).unwrap();
    assert!(text.contains("--event BeforeModel "), "{text}");
    let said = hookexec(&sandbox, &["doctor", "gemini"]).exits(0).stdout;
    assert!(!said.contains("the entry is not as"), "{said}");
}

#[test]
fn an_agent_that_is_found_and_not_installed_is_only_mentioned() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.home().join(".qwen")).unwrap();
    let done = hookexec(&sandbox, &["doctor"]).exits(0);
    assert!(done.stdout.contains("Qwen Code\n  warning  not installed"), "{}", done.stdout);
    assert!(!done.stdout.contains("Gemini"), "{}", done.stdout);
    let _ = hookexec(&sandbox, &["doctor", "gemini"]).exits(1);
}

#[test]
fn a_file_is_sound_when_nothing_in_it_is_a_problem() {
    let sandbox = sandbox();
    let sound = "ok       [SANDBOX]/home/.config/hookexec/hooks.yaml\n";
    let doctor = || hookexec(&sandbox, &["doctor"]).stdout;
    assert!(doctor().contains(sound), "{}", doctor());
    fs::remove_file(sandbox.project().join("guard.sh")).unwrap();
    let said = doctor();
    assert!(said.contains("hooks.yaml:2): [SANDBOX]/project/guard.sh does not exist"), "{said}");
    assert!(!said.contains("  ok "), "{said}");
    sandbox.write_users_hooks("stop: { type: command, command: 'true', tiemout: 3 }");
    let said = doctor();
    assert!(said.contains("PROBLEM  1 error in the hooks files"), "{said}");
    assert!(!said.contains("  ok "), "{said}");
}

#[test]
fn a_projects_hooks_must_be_approved() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".hookexec/hooks.yaml",
        "pre_tool_use: [ { hooks: { type: command, command: 'true' } } ]",
    );
    let done = hookexec(&sandbox, &["doctor"]).exits(1);
    assert!(done.stdout.contains("hooks.yaml: this file is not approved"), "{}", done.stdout);
}

#[test]
fn a_switch_of_gemini_counts_by_its_name_and_qwen_has_none() {
    for (agent, file) in [
        ("gemini", "home/.gemini/settings.json"),
        ("gemini", "project/.gemini/settings.json"),
        ("qwen", "project/.qwen/settings.json"),
    ] {
        for (switch, said) in [
            (json!({"disabled": ["x", "hookexec"]}), r#"`hooksConfig.disabled: ["x","hookexec"]`"#),
            (json!({"enabled": false}), "`hooksConfig.enabled: false`"),
        ] {
            let sandbox = sandbox();
            let _ = hookexec(&sandbox, &["install", agent]).exits(0);
            let path = sandbox.home().with_file_name(file);
            let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
            let mut settings: Value = serde_json::from_str(&text).unwrap();
            settings["hooksConfig"] = switch;
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, settings.to_string()).unwrap();
            let done = hookexec(&sandbox, &["doctor", agent]);
            assert_eq!(done.stdout.contains(said), agent == "gemini", "{file}: {}", done.stdout);
            let _ = done.exits(i32::from(agent == "gemini"));
        }
    }
}

#[test]
fn copilot_loads_the_hooks_of_a_trusted_project_only() {
    let sandbox = sandbox();
    let path = std::env::var("PATH").unwrap();
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_hookexec")).parent().unwrap();
    let path = format!("{}:{path}", own.display());
    let doctor = || sandbox.hookexec(["doctor", "copilot"]).env("PATH", &path);
    let untrusted = "`copilot -p` loads no hooks of this project";
    let _ = hookexec(&sandbox, &["install", "copilot"]).exits(0);
    let done = doctor().run().exits(0);
    assert!(!done.stdout.contains(untrusted), "the user's hooks need no trust: {}", done.stdout);
    let _ = hookexec(&sandbox, &["uninstall", "copilot"]).exits(0);

    let _ = hookexec(&sandbox, &["install", "copilot", "--scope", "project"]).exits(0);
    let done = doctor().run().exits(1);
    assert!(done.stdout.contains(untrusted), "{}", done.stdout);
    let variable = "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS";
    let _ = doctor().env(variable, "true").run().exits(0);
    let config = sandbox.home().join(".copilot/config.json");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    for folder in [sandbox.project(), sandbox.project().parent().unwrap().to_owned()] {
        fs::write(&config, json!({"trusted_folders": [folder]}).to_string()).unwrap();
        let _ = doctor().run().exits(0);
    }
    fs::write(&config, json!({"trusted_folders": ["/elsewhere"]}).to_string()).unwrap();
    let _ = doctor().run().exits(1);
    // As version 1.0.102 writes it.
    let trusted = json!({"trustedFolders": [sandbox.project()]});
    fs::write(&config, format!("// User settings belong in settings.json.\n{trusted}")).unwrap();
    let _ = doctor().run().exits(0);
}

// Each was measured with the client in `sub/deep`: which of these files it reads.
#[test]
fn a_switch_above_the_working_directory_counts_where_the_agent_looks_for_it() {
    for (agent, file, text, is_read) in [
        ("copilot", ".github/copilot/settings.json", r#"{"disableAllHooks": true}"#, true),
        ("copilot", ".claude/settings.json", r#"{"disableAllHooks": true}"#, true),
        ("droid", ".factory/hooks.json", r#"{"hooksDisabled": true}"#, true),
        ("droid", "sub/.factory/hooks.json", r#"{"hooksDisabled": true}"#, true),
        ("droid", ".factory/settings.json", r#"{"hooks": {"hooksDisabled": true}}"#, true),
        ("droid", "../.factory/hooks.json", r#"{"hooksDisabled": true}"#, false),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", true),
        ("claude-code", ".claude/settings.local.json", r#"{"disableAllHooks": true}"#, true),
        ("claude-code", ".claude/settings.json", r#"{"disableAllHooks": true}"#, false),
        ("gemini", ".gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#, false),
        ("qwen", ".qwen/settings.json", r#"{"disableAllHooks": true}"#, false),
    ] {
        let sandbox = sandbox();
        let deep = sandbox.project().join("sub/deep");
        fs::create_dir_all(&deep).unwrap();
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        sandbox.write(file, text);
        let said = sandbox.hookexec(["doctor", agent]).current_dir(&deep).run().stdout;
        assert_eq!(said.contains("turns every hook off"), is_read, "{file}: {said}");
    }
}

// Copilot CLI reads the hooks at the repository's root alone, Droid all of them up to it, Claude Code
// those of the working directory.
#[test]
fn hooks_of_a_project_count_in_the_directories_where_the_agent_reads_them() {
    for (agent, place, is_read) in [
        ("copilot", ".", true),
        ("copilot", "sub", true),
        ("droid", ".", true),
        ("droid", "sub", true),
        ("claude-code", ".", false),
        ("claude-code", "sub", false),
    ] {
        let sandbox = sandbox();
        let deep = sandbox.project().join("sub/deep");
        fs::create_dir_all(&deep).unwrap();
        let place = sandbox.project().join(place);
        let install = ["install", agent, "--scope", "project"];
        let _ = sandbox.hookexec(install).current_dir(&place).run().exits(0);
        let said = sandbox.hookexec(["doctor", agent]).current_dir(&deep).run().stdout;
        assert_eq!(said.contains("ok       installed for the project"), is_read, "{said}");
        assert_eq!(said.contains("not installed"), !is_read, "{said}");
    }
}

// Each was measured, also those that do no harm.
#[test]
fn a_switch_counts_as_the_agent_reads_its_value() {
    let enabled = |value: Value| json!({"hooksConfig": {"enabled": value}});
    let disable = |value: Value| json!({"disableAllHooks": value});
    let mut cases = vec![
        ("gemini", ".gemini/settings.json", enabled(Value::Null), false),
        ("gemini", ".gemini/settings.json", enabled(json!(true)), false),
        ("gemini", ".gemini/settings.json", json!({"hooks": {"BeforeTool": null}}), false),
        ("qwen", ".qwen/settings.json", json!({"hooks": null}), false),
        ("qwen", ".qwen/settings.json", disable(json!(false)), false),
        ("droid", ".factory/settings.json", json!({"hooksDisabled": true}), false),
        ("droid", ".factory/hooks.json", json!({"hooks": {"hooksDisabled": true}}), false),
        (
            "claude-code",
            ".claude/settings.json",
            json!({"env": {"CLAUDE_CODE_SIMPLE": "1"}}),
            false,
        ),
        ("droid", ".factory/hooks.json", json!({"hooksDisabled": "true"}), true),
    ];
    for value in [json!(0), json!("false"), json!("")] {
        cases.push(("gemini", ".gemini/settings.json", enabled(value), true));
    }
    for value in [json!(1), json!("$HOME"), json!("true")] {
        cases.push(("qwen", ".qwen/settings.json", disable(value), true));
    }
    for hooks in [json!(null), json!("x"), json!([]), json!(0), json!(false)] {
        cases.push(("gemini", ".gemini/settings.json", json!({ "hooks": hooks }), true));
    }
    for (agent, file, settings, is_off) in cases {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        sandbox.write(file, &settings.to_string());
        let done = hookexec(&sandbox, &["doctor", agent]);
        let is_said = done.stdout.contains("turns every hook off");
        assert_eq!(is_said, is_off, "{agent} {settings}: {}", done.stdout);
    }
}

#[test]
fn variables_move_the_users_directory_and_turn_hooks_off() {
    let sandbox = sandbox();
    let other = sandbox.home().join("other");
    for (agent, variable, file) in [
        ("qwen", "QWEN_HOME", "settings.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("droid", "FACTORY_HOME_OVERRIDE", ".factory/hooks.json"),
        ("pi", "PI_CODING_AGENT_DIR", "extensions/hookexec.ts"),
    ] {
        let call = |command: &str| sandbox.hookexec([command, agent]).env(variable, &other).run();
        let _ = call("install").exits(0);
        assert!(other.join(file).exists(), "{agent}");
        let _ = call("doctor").exits(0);
        let _ = hookexec(&sandbox, &["doctor", agent]).exits(1);
        let _ = call("uninstall").exits(0);
        assert!(!other.join(file).exists(), "{agent}");
    }
    let switch = sandbox.write("system.json", r#"{"disableAllHooks": true}"#);
    for (agent, variable, value) in [
        ("qwen", "QWEN_CODE_SYSTEM_SETTINGS_PATH", switch.to_str().unwrap()),
        ("qwen", "QWEN_CODE_SYSTEM_DEFAULTS_PATH", switch.to_str().unwrap()),
        ("claude-code", "CLAUDE_CODE_SIMPLE", "1"),
        ("opencode", "OPENCODE_PURE", "1"),
        ("kilo", "KILO_PURE", "true"),
    ] {
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        let doctor = |value: &str| sandbox.hookexec(["doctor", agent]).env(variable, value).run();
        let said = doctor(value).exits(1).stdout;
        assert!(said.contains("turns every hook off"), "{agent}: {said}");
        let _ = doctor("").exits(0);
    }
}

// Measured: there the denial is lost.
#[test]
fn a_hook_after_hookexec_is_warned_of_where_the_last_one_wins() {
    let other = json!({"hooks": [{"type": "command", "command": "mine"}]});
    for (agent, is_last, is_warned) in
        [("qwen", true, true), ("qwen", false, false), ("droid", true, false)]
    {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        let file = if agent == "qwen" { ".qwen/settings.json" } else { ".factory/hooks.json" };
        let path = sandbox.home().join(file);
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let events = if agent == "qwen" { &mut settings["hooks"] } else { &mut settings };
        for event in ["PreToolUse", "SessionEnd"] {
            let hooks = events[event].as_array_mut().unwrap();
            hooks.insert(if is_last { hooks.len() } else { 0 }, other.clone());
        }
        fs::write(&path, settings.to_string()).unwrap();
        let said = hookexec(&sandbox, &["doctor", agent]).exits(0).stdout;
        let warning = format!(
            "warning  PreToolUse: [SANDBOX]/home/{file}: another hook comes after hookexec"
        );
        assert_eq!(said.contains(&warning), is_warned, "{said}");
    }
}

#[test]
fn a_plugin_that_is_not_as_install_writes_it_is_a_problem() {
    for (agent, file) in [
        ("opencode", ".config/opencode/plugin/hookexec.js"),
        ("kilo", ".config/kilo/plugin/hookexec.js"),
        ("pi", ".pi/agent/extensions/hookexec.ts"),
    ] {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", agent, "--timeout", "90"]).exits(0);
        let _ = hookexec(&sandbox, &["doctor", agent]).exits(0);
        let path = sandbox.home().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let (_, program) = text.split_once("HOOKEXEC ?? \"").unwrap();
        let (program, _) = program.split_once('"').unwrap();
        for (changed, problem) in [
            (format!("{text}\n}}{{\n"), "the plugin is not as `install` writes it"),
            (text.replace("?? 81", "?? 0x1"), "the plugin is not as `install` writes it"),
            (text.replace(program, "/bin/true"), "/bin/true is not hookexec"),
        ] {
            assert_ne!(changed, text);
            fs::write(&path, changed).unwrap();
            let said = hookexec(&sandbox, &["doctor", agent]).exits(1).stdout;
            assert!(said.contains(problem), "{said}");
        }
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        let _ = hookexec(&sandbox, &["doctor", agent]).exits(0);
    }
}

// Measured: with another version Copilot CLI reads no hook of the file.
#[test]
fn a_file_of_another_version_is_a_problem() {
    for version in [json!(2), json!("1")] {
        let sandbox = sandbox();
        let _ = hookexec(&sandbox, &["install", "copilot"]).exits(0);
        let path = sandbox.home().join(".copilot/hooks/hookexec.json");
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        settings["version"] = version;
        fs::write(&path, settings.to_string()).unwrap();
        let said = hookexec(&sandbox, &["doctor", "copilot"]).exits(1).stdout;
        assert!(said.contains("`version` is not the one that it knows"), "{said}");
        let _ = hookexec(&sandbox, &["uninstall", "copilot"]).exits(0);
    }
}

#[test]
fn one_cause_is_one_line() {
    let sandbox = sandbox();
    let hook = "{ type: command, command: ./gone.sh }";
    let hooks: Vec<String> = (0..9).map(|n| hook.replace("./", &format!("./{n}/../"))).collect();
    sandbox.write_users_hooks(&format!("pre_tool_use: [ {{ hooks: [ {} ] }} ]", hooks.join(", ")));
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    settings(&sandbox, |text| text.replace("\"timeout\": 60", "\"timeout\": 5"));
    let said = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1).stdout;
    assert_eq!(said.matches(" and 7 more: the entry is not as").count(), 1, "{said}");
}

#[test]
fn programs_read_what_the_doctor_finds() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "codex"]).exits(0);
    fs::write(sandbox.home().join(".codex/config.toml"), "[features]\nhooks = false\n").unwrap();
    let said = hookexec(&sandbox, &["doctor", "codex", "--format", "json"]).exits(1).stdout;
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["problems"], 1, "{said}");
    let findings = found["sections"][1]["findings"].as_array().unwrap();
    let problem = findings.iter().find(|finding| finding["grade"] == "problem").unwrap();
    assert!(problem["text"].as_str().unwrap().contains("turns every hook off"), "{said}");
    let row = &found["agents"][0];
    let settings = sandbox.home().join(".codex/hooks.json");
    let expected = json!({ "agent": "codex", "scope": "user", "hooks": 12, "sockets": [],
        "settings": settings, "error": null });
    let said = sandbox.plain(&row.to_string());
    assert_eq!(said, sandbox.plain(&expected.to_string()));
}

#[test]
fn in_the_home_directory_settings_of_the_user_are_not_those_of_a_project_as_well() {
    let sandbox = sandbox();
    for agent in ["claude-code", "gemini", "opencode"] {
        let in_home = |args: &[&str]| sandbox.hookexec(args).current_dir(sandbox.home()).run();
        let _ = in_home(&["install", agent]).exits(0);
        let said = in_home(&["doctor", agent]).stdout;
        assert_eq!(said.matches("ok       installed").count(), 1, "{said}");
        assert!(!said.contains("twice"), "{said}");
        let said = in_home(&["doctor", agent, "--format", "json"]).stdout;
        let found: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(found["agents"].as_array().unwrap().len(), 1, "{said}");
    }
}

#[test]
fn an_agents_own_package_counts_as_installed() {
    let sandbox = sandbox();
    let put = |path: &str, text: &str| {
        let path = sandbox.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let bin = sandbox.script("bin/hookexec", "#!/bin/sh\nexit 1\n");
    let path = format!("{}:{}", bin.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let doctor = |agent: &str| sandbox.hookexec(["doctor", agent]).env("PATH", &path).run();
    let claude = ".claude/settings.json";
    put(claude, r#"{"enabledPlugins": {"hookexec@anywhere": false, "other@hookexec": true}}"#);
    let said = doctor("claude-code").exits(1).stdout;
    assert!(said.contains("PROBLEM  not installed"), "{said}");
    put(claude, r#"{"enabledPlugins": {"hookexec@anywhere": true}}"#);
    put(".codex/config.toml", "[plugins.\"hookexec@anywhere\"]\nenabled = true\n");
    put(".gemini/extensions/hookexec/gemini-extension.json", "{}");
    for agent in ["claude-code", "codex", "gemini"] {
        let said = doctor(agent).exits(0).stdout;
        assert!(said.contains("ok       installed as its own package: "), "{said}");
        assert!(said.contains("its package: never seen firing yet"), "{said}");
        let _ = hookexec(&sandbox, &["install", agent]).exits(0);
        let said = doctor(agent).stdout;
        assert!(
            said.contains("warning  installed in 2 places: every hook runs as often"),
            "{said}"
        );
        let _ = hookexec(&sandbox, &["uninstall", agent]).exits(0);
    }
    let payload = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    fire(&sandbox, "claude-code", "PreToolUse", payload);
    let said = doctor("claude-code").exits(0).stdout;
    assert!(said.contains("its package: last seen "), "{said}");
    let without_program = hookexec(&sandbox, &["doctor", "claude-code"]).exits(1).stdout;
    assert!(without_program.contains("`hookexec` is not on the PATH"), "{without_program}");
    put(claude, r#"{"enabledPlugins": {"hookexec@anywhere": true}, "disableAllHooks": true}"#);
    let said = doctor("claude-code").exits(1).stdout;
    assert!(said.contains("turns every hook off"), "{said}");
}

#[test]
fn a_matcher_that_fits_no_tool_of_an_installed_agent_is_warned_of() {
    let sandbox = sandbox();
    let guard = |matcher: &str| {
        let hook = "{ name: guard, type: command, command: exit 2 }";
        let hooks = format!("pre_tool_use:\n- hooks: {hook}\n  matcher: '{matcher}'");
        sandbox.write_users_hooks(&hooks);
        let doctor = hookexec(&sandbox, &["doctor"]).stdout;
        let check = hookexec(&sandbox, &["check"]).exits(0);
        let said = format!("{}{}", check.stdout, check.stderr);
        assert_eq!(
            doctor.contains("fits no tool"),
            said.contains("fits no tool"),
            "{doctor}{said}"
        );
        (doctor, said)
    };
    // Nothing is installed.
    assert!(!guard("write_file|edit_file").0.contains("fits no tool"));
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    let (doctor, check) = guard("write_file|edit_file");
    let what =
        "its matcher `write_file|edit_file` fits no tool of Claude Code: it never runs there";
    let hint = "write kinds of tools, which fit under every agent: `write|edit`";
    let line = "warning  `guard` (";
    assert!(doctor.contains(line), "{doctor}");
    assert!(doctor.contains(&format!("): {what}; {hint}")), "{doctor}");
    assert!(check.contains(&format!("warning: `guard`: {what}")), "{check}");
    // It is reported where the matcher is, and not where its hook is.
    assert!(doctor.contains("hooks.yaml:3): its matcher"), "{doctor}");
    assert!(check.contains("hooks.yaml:3:12"), "{check}");
    assert!(check.contains(&format!("help: {hint}")), "{check}");
    // It fits, or may fit.
    for matcher in [
        "write_file|Write", "write_file|write", "write_file|mcp", "write_file|mcp__a__b",
        "write_file|NewTool", "write_.*", "",
    ] {
        assert!(!guard(matcher).0.contains("fits no tool"), "{matcher}");
    }
    // A matcher that nearly is a kind.
    let (doctor, check) = guard("shel");
    assert!(doctor.contains("`shel` is not a kind of tools"), "{doctor}");
    assert!(check.contains("did you mean `shell`?"), "{check}");
    // The name of an MCP server is that of no tool.
    let (_, check) = guard("Bash|mcp__github");
    assert!(check.contains("its matcher `mcp__github` fits no tool"), "{check}");
    assert!(check.contains("write `mcp__github__.*` for all of its tools"), "{check}");
    let _ = hookexec(&sandbox, &["install", "gemini"]).exits(0);
    // Claude Code's names fit in its dialect, under every agent.
    let hook = "{ type: command, command: exit 2, dialect: claude-code }";
    sandbox.write_users_hooks(&format!("pre_tool_use: [ {{ matcher: Bash, hooks: {hook} }} ]"));
    let check = hookexec(&sandbox, &["check", "--host", "gemini"]).exits(0);
    assert!(!check.stderr.contains("fits no tool"), "{}", check.stderr);
    let (_, check) = guard("bash|execute_bash");
    assert!(check.contains("fits no tool of Claude Code, Gemini CLI: "), "{check}");
    // What a host is said to be counts more than what is installed.
    let host = |host: &str| hookexec(&sandbox, &["check", "--host", host]).exits(0).stderr;
    assert!(!host("kiro").contains("fits no tool"), "{}", host("kiro"));
    assert!(host("codex").contains("fits no tool of Codex"), "{}", host("codex"));
    // A tool of OpenCode's MCP servers may have such a name.
    assert!(!host("opencode").contains("fits no tool"), "{}", host("opencode"));
}

// A tool that is newer than hookexec, as Qwen Code's `monitor` was.
#[test]
fn a_tool_in_no_table_that_takes_a_command_is_a_shell_and_is_named() {
    let sandbox = Sandbox::new();
    let rule = "{ type: rule, deny: no, commands: [touch] }";
    sandbox.write_users_hooks(&format!("pre_tool_use: [ {{ matcher: shell, hooks: {rule} }} ]"));
    let _ = hookexec(&sandbox, &["install", "qwen"]).exits(0);
    let answered = |tool: &str, arguments: Value| {
        let payload = json!({"hook_event_name": "PreToolUse", "cwd": sandbox.project(), "tool_name": tool,
            "tool_input": arguments});
        let args = ["run", "--from", "qwen", "--event", "PreToolUse", "--within", "54"];
        sandbox.hookexec(args).stdin(payload.to_string()).run().exits(0).stdout
    };
    for tool in ["monitor", "brand_new"] {
        assert!(answered(tool, json!({"command": "touch x"})).contains("\"deny\""), "{tool}");
        assert!(!answered(tool, json!({"command": "ls"})).contains("\"deny\""), "{tool}");
    }
    for (tool, arguments) in [
        ("send_file", json!({"file_path": "x"})),
        ("look", json!({"url": "https://example.com"})),
        ("todo_write", json!({"command": "x"})),
        ("mcp__a__b", json!({"command": "x"})),
        ("think", json!({"thought": "x"})),
    ] {
        let _ = answered(tool, arguments);
    }
    let said = hookexec(&sandbox, &["doctor", "qwen"]).exits(0).stdout;
    for (tool, is_named) in [
        ("monitor", false),
        ("brand_new", true),
        ("send_file", true),
        ("look", true),
        ("todo_write", false),
        ("mcp__a__b", false),
        ("think", false),
    ] {
        let warning = format!("warning  `{tool}` was called, a tool that hookexec does not know");
        assert_eq!(said.matches(&warning).count(), usize::from(is_named), "{tool}: {said}");
    }
}

#[test]
fn redactions_that_an_agent_drops_are_said_before() {
    let sandbox = Sandbox::new();
    for (event, hook) in [
        ("tool_response_transform", "{ name: mine, type: command, command: 'true' }"),
        ("tool_response_transform", "{ name: mine, type: builtin, command: redact_secrets }"),
        ("post_tool_use", "{ name: mine, type: builtin, command: redact_secrets }"),
    ] {
        sandbox.write_users_hooks(&format!("{event}: [ {{ hooks: {hook} }} ]"));
        for (agent, expected) in [
            ("claude-code", "no response of a failed tool (`PostToolUseFailure`)"),
            ("copilot", "no response of a failed tool (`PostToolUseFailure`)"),
            ("qwen", "no response"),
            ("droid", "no response"),
            ("kimi", "no response"),
            ("openclaw", "no response"),
            ("cursor", "the responses of MCP tools alone"),
            ("codex", ""),
            ("opencode", ""),
        ] {
            let said = hookexec(&sandbox, &["check", "--host", agent]).exits(0).stderr;
            let warning = format!("replaces {expected}: its redactions are lost there");
            assert_eq!(
                said.contains("its redactions are lost"),
                !expected.is_empty(),
                "{agent}: {said}"
            );
            assert!(expected.is_empty() || said.contains(&warning), "{agent}: {said}");
        }
    }
    let _ = hookexec(&sandbox, &["install", "qwen"]).exits(0);
    let said = hookexec(&sandbox, &["doctor", "qwen"]).exits(0).stdout;
    assert!(
        said.contains("Qwen Code replaces no response: its redactions are lost there"),
        "{said}"
    );
    // What answers nothing about a response loses none.
    sandbox.write_users_hooks("post_tool_use: [ { hooks: { type: command, command: 'true' } } ]");
    let said = hookexec(&sandbox, &["check", "--host", "qwen"]).exits(0).stderr;
    assert!(!said.contains("redactions"), "{said}");
}

// It prints what Claude Code 2.1.329 prints.
#[test]
fn the_agent_itself_says_its_version_and_what_it_cannot_read() {
    let sandbox = sandbox();
    let _ = hookexec(&sandbox, &["install", "claude-code"]).exits(0);
    let settings = sandbox.home().join(".claude/settings.json");
    let script = |version: &str, invalid: &str| {
        let text = format!(
            "#!/bin/sh\n[ $1 = --version ] && echo '{version} (Claude Code)' || printf '%s\\n' 'Claude Code doctor' '' \
             'Invalid settings' '- {invalid}: Expected array, but received string'\n"
        );
        sandbox.script("bin/claude", &text)
    };
    let doctor = |program: &std::path::Path| {
        let path =
            format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        sandbox.hookexec(["doctor", "claude-code"]).env("PATH", &path).run()
    };
    let other = "/elsewhere/settings.json › permissions.allow";
    let said = doctor(&script("2.1.329", other)).exits(0).stdout;
    assert!(!said.contains("newer") && !said.contains("reads nothing"), "{said}");
    let said = doctor(&script("99.0.1", other)).exits(0).stdout;
    assert!(said.contains("ok       claude 99.0.1 is newer than 2.1."), "{said}");
    let own = format!("{} › permissions.allow", settings.display());
    let said = doctor(&script("2.1.329", &own)).exits(1).stdout;
    let problem = "Claude Code reads nothing of this file: permissions.allow: Expected array";
    assert!(said.contains(problem), "{said}");
}
