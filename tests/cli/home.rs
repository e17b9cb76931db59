//! Agents that work in the home directory, above it, or in the user's own directory of hooks.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support::{Done, Sandbox};

/// The user's hooks: one guard.
const GUARD: &str = "pre_tool_use:
- matcher: shell
  hooks: [{ type: command, when: { field: tool_input.command, regex: '^rm' }, command: 'echo GUARD >&2; exit 2' }]
";
/// The same guard in a project's file.
const OF_PROJECT: &str = "pre_tool_use:
- hooks: [{ type: command, command: 'echo PROJECT >&2; exit 2' }]
";

/// Runs an event of Claude Code in `cwd` with `HOME` and `XDG_CONFIG_HOME` set, and returns its answer;
/// `null` when it has nothing to say.
fn answer(sandbox: &Sandbox, home: &Path, config: &Path, cwd: &Path, command: &str) -> Value {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd,
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    let run = sandbox.hookexec(["run", "--from", "claude-code"]).stdin(payload.to_string());
    let run = run.env("HOME", home).env("XDG_CONFIG_HOME", config);
    let done = run.current_dir(cwd).run().exits(0);
    assert_eq!(done.stderr, "", "HOME={home:?} in {cwd:?}");
    if done.stdout.is_empty() { Value::Null } else { done.json_line() }
}

/// Returns whether the guard denies what it should and nothing else.
#[track_caller]
fn assert_guarded(sandbox: &Sandbox, home: &Path, config: &Path, cwd: &Path) {
    let denied = answer(sandbox, home, config, cwd, "rm -rf /");
    let reason = &denied["hookSpecificOutput"]["permissionDecisionReason"];
    assert_eq!(reason, "GUARD", "HOME={home:?} in {cwd:?}: {denied}");
    assert_eq!(answer(sandbox, home, config, cwd, "ls"), Value::Null, "HOME={home:?} in {cwd:?}");
}

/// Makes `home` a home directory with the user's hooks.
fn make_home(home: &Path) {
    fs::create_dir_all(home.join(".config/hookexec")).unwrap();
    fs::write(home.join(".config/hookexec/hooks.yaml"), GUARD).unwrap();
}

/// Runs the hooks of `pre_tool_use` for a call in `cwd`, below the home directory `home`.
fn run_in(sandbox: &Sandbox, home: &Path, cwd: &Path, command: &str) -> Done {
    let input = json!({ "tool_name": "shell", "tool_input": { "command": command } }).to_string();
    let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(input).current_dir(cwd);
    run.env("HOME", home).env("XDG_CONFIG_HOME", home.join(".config")).run()
}

// None of these home directories is that of the account, as in a container.
#[test]
fn an_agent_works_in_the_home_directory_and_above_it() {
    let sandbox = Sandbox::new();
    let outside = sandbox.home().join("outside");
    let checkout = sandbox.project();
    let (in_checkout, repository) = (checkout.join("home"), outside.join("repository"));
    fs::create_dir_all(repository.join(".git")).unwrap();
    for home in [&outside, &in_checkout, &repository] {
        make_home(home);
        fs::create_dir_all(home.join("work/deep")).unwrap();
        let places = ["", "work", "work/deep"].map(|place| home.join(place));
        let above = home.ancestors().skip(1).map(Path::to_owned);
        for cwd in places.into_iter().chain(above) {
            assert_guarded(&sandbox, home, Path::new(""), &cwd);
        }
    }
}

// Gemini CLI gives hooks the variables of a project's `.env`.
#[test]
fn a_variable_adds_a_directory_of_hooks_and_takes_none_away() {
    let sandbox = Sandbox::new();
    make_home(&sandbox.home());
    let other = sandbox.home().join("other");
    assert_guarded(&sandbox, &sandbox.home(), &other, &sandbox.project());
    fs::create_dir_all(other.join("hookexec")).unwrap();
    fs::write(other.join("hookexec/hooks.yaml"), OF_PROJECT).unwrap();
    let denied = answer(&sandbox, &sandbox.home(), &other, &sandbox.project(), "rm x");
    let reason = &denied["hookSpecificOutput"]["permissionDecisionReason"];
    assert_eq!(reason, "GUARD\nPROJECT");
}

#[test]
fn an_agent_works_where_the_home_directory_is_the_root() {
    let sandbox = Sandbox::new();
    make_home(&sandbox.home());
    let config = sandbox.home().join(".config");
    for cwd in [PathBuf::from("/"), sandbox.home(), sandbox.project()] {
        assert_guarded(&sandbox, Path::new("/"), &config, &cwd);
    }
}

#[test]
fn the_users_hooks_may_be_in_the_project() {
    let sandbox = Sandbox::new();
    sandbox.write("config/hookexec/hooks.yaml", GUARD);
    sandbox.write("src/main.rs", "");
    let config = sandbox.project().join("config");
    for cwd in ["", "src", "config", "config/hookexec"] {
        assert_guarded(&sandbox, &sandbox.home(), &config, &sandbox.project().join(cwd));
    }
}

#[test]
fn what_init_and_install_make_works_in_the_home_directory() {
    let sandbox = Sandbox::new();
    let home = sandbox.home();
    for arguments in [&["init", "--user"][..], &["install", "claude-code"], &["check"]] {
        let _ = sandbox.hookexec(arguments).current_dir(&home).run().exits(0);
    }
    let doctor = sandbox.hookexec(["doctor"]).current_dir(&home).run();
    assert!(
        doctor.stdout.contains("ok       [SANDBOX]/home/.config/hookexec/hooks.yaml"),
        "{doctor:?}"
    );
    let config = home.join(".config");
    let denied = answer(&sandbox, &home, &config, &home, "rm -rf /");
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    assert_eq!(answer(&sandbox, &home, &config, &home, "ls"), Value::Null);
}

#[test]
fn the_users_own_file_is_not_taken_for_one_of_a_project_too() {
    // As a file, and as dotfile managers leave it.
    for is_link in [false, true] {
        let sandbox = Sandbox::new();
        let own = sandbox.home().join(".config/hookexec");
        let dotfiles = sandbox.home().join("dotfiles");
        fs::create_dir_all(own.join("hooks.d")).unwrap();
        fs::create_dir_all(dotfiles.join(".git")).unwrap();
        for name in ["hooks.yaml", "hooks.d/hooks.yaml"] {
            let text = GUARD.replace("GUARD", name);
            if is_link {
                let target = dotfiles.join(name);
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::write(&target, text).unwrap();
                symlink(target, own.join(name)).unwrap();
            } else {
                fs::write(own.join(name), text).unwrap();
            }
        }
        for cwd in [own.clone(), own.join("hooks.d"), dotfiles.clone()] {
            let denied = run_in(&sandbox, &sandbox.home(), &cwd, "rm x").exits(2);
            assert_eq!(denied.stderr, "", "{cwd:?}");
            let verdict = denied.json_line();
            assert_eq!(verdict["message"], "hooks.yaml\nhooks.d/hooks.yaml", "{cwd:?}: {verdict}");
            assert_eq!(verdict["hooks"].as_array().unwrap().len(), 2, "{cwd:?}: {verdict}");
            let _ = run_in(&sandbox, &sandbox.home(), &cwd, "ls").exits(0);
        }
    }
}

#[test]
fn a_file_that_is_named_nearly_like_the_users_is_reported_once() {
    let sandbox = Sandbox::new();
    let own = sandbox.home().join(".config/hookexec");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("hooks.yml"), GUARD).unwrap();
    let run = run_in(&sandbox, &sandbox.home(), &own, "ls").exits(0);
    assert_eq!(run.stderr.matches("hooks.yml").count(), 1, "{run:?}");
}

#[test]
fn a_projects_file_in_the_home_directory_or_above_it_runs_once_it_is_approved() {
    let sandbox = Sandbox::new();
    let home = sandbox.project().join("above/home");
    make_home(&home);
    for directory in [home.clone(), sandbox.project().join("above")] {
        fs::create_dir_all(directory.join(".git")).unwrap();
        let file = directory.join("hooks.yaml");
        fs::write(&file, OF_PROJECT).unwrap();
        let denied = run_in(&sandbox, &home, &directory, "ls").exits(2);
        assert!(denied.stdout.contains("is not approved"), "{denied:?}");
        // The approvals lie in the home directory, too.
        let added = sandbox.hookexec(["trust", "add", "--yes"]).current_dir(&directory);
        let state = home.join(".local/state");
        let _ = added.env("HOME", &home).env("XDG_STATE_HOME", &state).run().exits(0);
        let input =
            json!({ "tool_name": "shell", "tool_input": { "command": "rm x" } }).to_string();
        let run = sandbox.hookexec(["run", "pre_tool_use"]).stdin(input).current_dir(&directory);
        let run = run.env("HOME", &home).env("XDG_CONFIG_HOME", "").env("XDG_STATE_HOME", &state);
        let denied = run.run().exits(2);
        assert_eq!(denied.json_line()["message"], "GUARD\nPROJECT", "{directory:?}");
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn nothing_is_written_to_a_home_that_no_variable_names() {
    let sandbox = Sandbox::new();
    for arguments in [["init", "--user"], ["install", "claude-code"]] {
        let done = sandbox.hookexec(arguments).env("HOME", "").run().exits(64);
        assert!(done.stderr.contains("the home directory is not known: set HOME"), "{done:?}");
    }
}
