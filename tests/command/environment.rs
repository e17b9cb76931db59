//! Which variables a hook sees, and where it runs.

use std::collections::BTreeMap;

use hookexec::config::{Hook, InheritEnv, Location};
use hookexec::{Event, Input};
use hookexec_files::source::SourceFile;

use super::harness::{Project, argv, shell, text};

/// Returns all that `env` prints, by name.
async fn variables(project: &Project, hook: &Hook, input: &Input) -> BTreeMap<String, String> {
    let result = project.run(hook, input).await.unwrap();
    assert_eq!(result.exit_code, 0, "{}", String::from_utf8_lossy(&result.stderr));
    let entries = text(&result.stdout).split('\0').filter(|entry| !entry.is_empty());
    entries
        .map(|entry| entry.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A hook that prints its environment, without a shell that adds to it.
fn env_hook() -> Hook {
    argv(["/usr/bin/env", "-0"])
}

fn names(variables: &BTreeMap<String, String>) -> Vec<&str> {
    let ours = |name: &&str| !name.starts_with("HOOKEXEC_");
    variables.keys().map(String::as_str).filter(ours).collect()
}

#[tokio::test]
async fn everything_a_choice_or_nothing_is_inherited() {
    let mut project = Project::new();
    project.set("SECRET", "s3cret");
    let mut hook = env_hook();
    let seen = variables(&project, &hook, &Input::default()).await;
    assert_eq!(names(&seen), ["HOME", "PATH", "SECRET"]);

    hook.inherit_env = InheritEnv::Only(vec!["PATH".to_owned(), "MISSING".to_owned()]);
    let seen = variables(&project, &hook, &Input::default()).await;
    assert_eq!(names(&seen), ["PATH"]);

    hook.inherit_env = InheritEnv::None;
    let seen = variables(&project, &hook, &Input::default()).await;
    assert_eq!(names(&seen), Vec::<&str>::new());
    assert_eq!(seen["HOOKEXEC_EVENT"], "pre_tool_use");
}

#[tokio::test]
async fn the_hooks_own_variables_win_and_may_use_those_it_does_not_inherit() {
    let mut project = Project::new();
    project.set("SECRET", "s3cret");
    project.set("MODE", "inherited");
    let mut hook = env_hook();
    hook.inherit_env = InheritEnv::Only(vec!["MODE".to_owned()]);
    hook.env = [
        ("MODE", "own"),
        ("TOKEN", "Bearer ${env.SECRET}"),
        ("DOLLARS", "$SECRET ${SECRET} ~"),
        ("UNSET", "[${env.MISSING}]"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let seen = variables(&project, &hook, &Input::default()).await;
    assert_eq!(names(&seen), ["DOLLARS", "MODE", "TOKEN", "UNSET"]);
    assert_eq!(seen["MODE"], "own");
    assert_eq!(seen["TOKEN"], "Bearer s3cret");
    assert_eq!(seen["DOLLARS"], "$SECRET ${SECRET} ~");
    assert_eq!(seen["UNSET"], "[]");
}

#[tokio::test]
async fn a_hook_learns_from_its_environment_what_it_runs_for() {
    let mut project = Project::new();
    for stale in ["EVENT", "TOOL_NAME", "SESSION_ID", "CONFIG_DIR", "PROJECT_DIR"] {
        project.set(&format!("HOOKEXEC_{stale}"), "stale");
    }
    project.set("HOOKEXEC_CONFIG", "kept: not one of ours");
    let input = Input::for_tool("shell", serde_json::Map::new()).with_session("session-1");
    let mut hook = env_hook();
    let file = SourceFile::new("/etc/agent/hooks.yaml", "hooks: {}");
    hook.location = Location::new(file.into(), 0..5);
    let project_dir = project.path().to_str().unwrap().to_owned();

    let seen = variables(&project, &hook, &input).await;
    assert_eq!(seen["HOOKEXEC_EVENT"], "pre_tool_use");
    assert_eq!(seen["HOOKEXEC_TOOL_NAME"], "shell");
    assert_eq!(seen["HOOKEXEC_SESSION_ID"], "session-1");
    assert_eq!(seen["HOOKEXEC_CONFIG_DIR"], "/etc/agent");
    assert_eq!(seen["HOOKEXEC_PROJECT_DIR"], project_dir);
    assert_eq!(seen["HOOKEXEC_DEPTH"], "1");
    assert_eq!(seen["HOOKEXEC_CONFIG"], "kept: not one of ours");

    let mut hook = Hook::new(Event::SessionStart, "command", hook.command.unwrap());
    hook.working_dir = Some("/".to_owned());
    let seen = variables(&project, &hook, &Input::default()).await;
    assert_eq!(seen["HOOKEXEC_EVENT"], "session_start");
    assert_eq!(seen.get("HOOKEXEC_TOOL_NAME"), None);
    assert_eq!(seen["HOOKEXEC_SESSION_ID"], "");
    // No file holds this hook; the project is where it is at home.
    assert_eq!(seen["HOOKEXEC_CONFIG_DIR"], project_dir);
    assert_eq!(seen["HOOKEXEC_PROJECT_DIR"], project_dir);
}

#[tokio::test]
async fn a_relative_configuration_file_has_an_absolute_directory() {
    let project = Project::new();
    let mut hook = env_hook();
    for (path, tail) in [("hooks.yaml", ""), ("some/where/hooks.yaml", "some/where")] {
        let file = SourceFile::new(path, "");
        hook.location = Location::new(file.into(), 0..0);
        let seen = variables(&project, &hook, &Input::default()).await;
        let expected = std::env::current_dir().unwrap().join(tail);
        assert_eq!(std::path::Path::new(&seen["HOOKEXEC_CONFIG_DIR"]), expected);
    }
}

#[tokio::test]
async fn what_an_environment_can_not_carry_is_left_out_and_the_hook_runs() {
    let mut project = Project::new();
    project.set("HOOKEXEC_SESSION_ID", "stale");
    project.set("HUGE", &"x".repeat(128 * 1024));
    project.set("ZERO", "a\0b");
    let longest = 128 * 1024 - "HOOKEXEC_TOOL_NAME=".len() - 1;
    for (tool, session, length) in
        [("t".repeat(longest), "a\0b", Some(longest)), ("t".repeat(longest + 1), "\0", None)]
    {
        let input = Input::for_tool(tool, serde_json::Map::new()).with_session(session);
        let seen = variables(&project, &env_hook(), &input).await;
        assert_eq!(seen.get("HOOKEXEC_TOOL_NAME").map(String::len), length);
        assert_eq!(seen.get("HOOKEXEC_SESSION_ID"), None);
        assert_eq!(names(&seen), ["HOME", "PATH"]);
    }
}

#[test]
fn a_variable_that_can_not_be_set_is_a_mistake() {
    let project = Project::new();
    for (name, value) in
        [("", "x"), ("A=B", "x"), ("A", "\0"), ("A\0", "x"), ("HOOKEXEC_EVENT", "mine")]
    {
        let mut hook = env_hook();
        hook.env.insert(name.to_owned(), value.to_owned());
        let error = project.build(&hook).err().unwrap();
        assert_eq!(error.key, Some("env"), "{name:?}: {error}");
        assert!(error.hint.is_some());
    }
}

#[tokio::test]
async fn a_hook_runs_where_it_says() {
    let mut project = Project::new();
    project.set("PLACE", "deep/down");
    let deep = project.file("deep/down/file", "", 0o644).parent().unwrap().to_owned();
    let home = project.path().join("home");
    std::fs::create_dir(&home).unwrap();
    project.set("HOME", home.to_str().unwrap());
    for (written, expected) in [
        (None, project.path()),
        (Some("deep/down"), deep.clone()),
        (Some("./deep/../deep/down"), deep.clone()),
        (Some("$PLACE"), deep.clone()),
        (Some("${PLACE}"), deep.clone()),
        (Some("${env.PLACE}/.."), deep.parent().unwrap().to_owned()),
        (Some("~"), home.clone()),
        (Some("~/../deep"), deep.parent().unwrap().to_owned()),
        (Some("/"), "/".into()),
        (Some("$MISSING"), project.path()),
    ] {
        let mut hook = shell("pwd -P");
        hook.working_dir = written.map(str::to_owned);
        let result = project.run(&hook, &Input::default()).await.unwrap();
        assert_eq!(text(&result.stdout).trim_end(), expected.to_str().unwrap(), "{written:?}");
    }
}

#[tokio::test]
async fn a_relative_program_is_relative_to_the_working_directory() {
    let project = Project::new();
    project.file("tools/check.sh", "#!/bin/sh\necho checked\n", 0o755);
    let mut hook = argv(["./check.sh"]);
    hook.working_dir = Some("tools".to_owned());
    let result = project.run(&hook, &Input::default()).await.unwrap();
    assert_eq!(text(&result.stdout), "checked\n");
}

#[tokio::test]
async fn a_hook_finds_the_files_and_the_commands_of_the_call() {
    let project = Project::new();
    let mut edit = Input::call("Edit").arg("file_path", "src/a b.rs");
    edit.cwd = "/p".into();
    let seen = variables(&project, &env_hook(), &edit).await;
    assert_eq!(seen["HOOKEXEC_FILE"], "/p/src/a b.rs");
    assert_eq!(seen["HOOKEXEC_FILES"], "/p/src/a b.rs");
    assert!(!seen.contains_key("HOOKEXEC_COMMAND"));

    let two = Input::call("Bash").arg("command", "cat < /a | sort > /b > $c");
    let seen = variables(&project, &env_hook(), &two).await;
    assert_eq!(seen["HOOKEXEC_FILES"], "/a\n/b");
    assert_eq!(seen["HOOKEXEC_COMMAND"], "cat < /a | sort > /b > $c");
    assert!(!seen.contains_key("HOOKEXEC_FILE"));

    // A newline in a path would make two of it.
    let lines = Input::call("Write").arg("file_path", "/a\n/etc/passwd");
    let seen = variables(&project, &env_hook(), &lines).await;
    assert!(!seen.contains_key("HOOKEXEC_FILE") && !seen.contains_key("HOOKEXEC_FILES"));

    let stdin = project.run(&argv(["cat"]), &two).await.unwrap().stdout;
    let read: serde_json::Value = serde_json::from_slice(&stdin).unwrap();
    assert_eq!(
        read["commands"][1],
        serde_json::json!({
            "program": "sort", "args": [], "pipeline": 1, "piped": true, "assignments": [],
            "redirections": [
                { "operator": ">", "file": "/b", "certain": true },
                { "operator": ">", "file": "$c", "certain": false },
            ],
            "wrappers": [], "uncertain": true,
        })
    );
    assert_eq!(
        read["files"][0],
        serde_json::json!({ "path": "/a", "touched": "read", "certain": true })
    );
}

#[tokio::test]
async fn what_a_host_says_of_commands_and_files_is_not_shown() {
    let project = Project::new();
    let mut input = Input::call("Read").arg("file_path", "/a");
    input.extra.insert("commands".into(), serde_json::json!(["own"]));
    input.extra.insert("files".into(), serde_json::json!(["own"]));
    let stdin = project.run(&argv(["cat"]), &input).await.unwrap().stdout;
    assert_eq!(text(&stdin).matches("\"files\"").count(), 1);
    let read: serde_json::Value = serde_json::from_slice(&stdin).unwrap();
    assert_eq!(read["commands"], serde_json::Value::Null);
    assert_eq!(read["files"][0]["path"], "/a");
}
