//! Programs that can't be started, and what is said about it.

use hookexec::config::Hook;
use hookexec::{Failure, HandlerError, Input};

use super::harness::{Project, argv, call, shell, text};

async fn start_error(project: &Project, hook: &Hook) -> HandlerError {
    let error = project.run(hook, &Input::default()).await.unwrap_err();
    assert_eq!(error.failure, Failure::Start, "{error}");
    error
}

#[track_caller]
fn assert_says(error: &HandlerError, parts: &[&str]) {
    for part in parts {
        assert!(error.message.contains(part), "`{part}` is not in: {error}");
    }
}

#[tokio::test]
async fn a_missing_program_is_named_with_the_path_that_was_searched() {
    let mut project = Project::new();
    project.set("PATH", "/nowhere:bin");
    project.file("bin/guard-program", "#!/bin/sh\n", 0o755);
    let error = start_error(&project, &argv(["guard-program"])).await;
    assert_says(&error, &["`guard-program`", "(/nowhere:bin)", "absolute path"]);
    let error = start_error(&project, &argv(["./guard-program"])).await;
    assert_says(&error, &["/./guard-program` does not exist", "working directory"]);
    let error = start_error(&project, &argv(["~/guard-program"])).await;
    assert_says(&error, &["only a shell expands `~`"]);
}

#[tokio::test]
async fn a_program_that_comes_later_is_found() {
    let mut project = Project::new();
    let bin = project.path().join("bin");
    project.set("PATH", &format!("{}:/usr/bin:/bin", bin.display()));
    let hook = argv(["late"]);
    let handler = project.build(&hook).unwrap();
    let error = call(&*handler, &hook, &Input::default()).await.unwrap_err();
    assert_eq!(error.failure, Failure::Start);
    project.file("bin/late", "#!/bin/sh\necho here\n", 0o755);
    let result = call(&*handler, &hook, &Input::default()).await.unwrap();
    assert_eq!(text(&result.stdout), "here\n");
}

#[tokio::test]
async fn the_hooks_own_path_is_the_one_that_counts() {
    let project = Project::new();
    let file = project.file("own/tool", "#!/bin/sh\necho own\n", 0o755);
    let mut hook = argv(["tool"]);
    hook.env.insert("PATH".to_owned(), file.parent().unwrap().to_str().unwrap().to_owned());
    let result = project.run(&hook, &Input::default()).await.unwrap();
    assert_eq!(text(&result.stdout), "own\n");
}

#[tokio::test]
async fn a_program_without_the_right_to_run_is_passed_over_and_named_when_it_is_the_only_one() {
    let mut project = Project::new();
    let barred = project.file("first/tool", "#!/bin/sh\n", 0o644);
    let path = project.path();
    project.set("PATH", &format!("{0}/first:{0}/second", path.display()));
    let error = start_error(&project, &argv(["tool"])).await;
    assert_says(&error, &[&format!("chmod +x {}", barred.display())]);
    project.file("second/tool", "#!/bin/sh\necho second\n", 0o755);
    let result = project.run(&argv(["tool"]), &Input::default()).await.unwrap();
    assert_eq!(text(&result.stdout), "second\n");
}

#[tokio::test]
async fn a_script_without_the_right_to_run() {
    let project = Project::new();
    let script = project.file("check.sh", "#!/bin/sh\n", 0o644);
    let error = start_error(&project, &argv(["./check.sh"])).await;
    assert_says(&error, &["may not be executed", "chmod +x"]);
    // The shell says it with a code of its own.
    let result = project.sh("./check.sh").await.unwrap();
    assert_eq!(result.exit_code, 126);
    std::fs::remove_file(script).unwrap();
    assert_eq!(project.sh("./check.sh").await.unwrap().exit_code, 127);
}

#[tokio::test]
async fn a_script_whose_interpreter_is_missing() {
    let project = Project::new();
    project.file("check.py", "#!/nowhere/python3 -u\n", 0o755);
    project.file("windows.sh", "#!/bin/sh\r\n", 0o755);
    let error = start_error(&project, &argv(["./check.py"])).await;
    assert_says(&error, &["`/nowhere/python3`", "first line"]);
    let error = start_error(&project, &argv(["./windows.sh"])).await;
    assert_says(&error, &[r"`/bin/sh\r`"]);
    let code = project.sh("./check.py").await.unwrap().exit_code;
    assert!(matches!(code, 126 | 127), "{code}");
}

#[tokio::test]
async fn a_script_without_a_first_line_needs_one_or_a_shell() {
    let project = Project::new();
    project.file("check.sh", "echo ran\n", 0o755);
    let error = start_error(&project, &argv(["./check.sh"])).await;
    assert_says(&error, &["`#!/bin/sh`"]);
    assert_eq!(text(&project.sh("./check.sh").await.unwrap().stdout), "ran\n");
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_program_is_no_wait() {
    let project = Project::new();
    let pipe = project.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg("-m").arg("755").arg(&pipe).status();
    assert!(made.unwrap().success());
    let hang = std::time::Duration::from_mins(1);
    let error = tokio::time::timeout(hang, start_error(&project, &argv(["./pipe"]))).await;
    assert_says(&error.unwrap(), &["pipe", "is not a regular file"]);
}

#[tokio::test]
async fn a_directory_is_no_program() {
    let project = Project::new();
    project.file("dir/file", "", 0o644);
    let error = start_error(&project, &argv(["./dir"])).await;
    assert_says(&error, &["is a directory"]);
}

#[tokio::test]
async fn a_working_directory_that_is_missing_is_named() {
    let project = Project::new();
    project.file("file", "", 0o644);
    for (written, parts) in [
        ("gone", ["/gone`", "does not exist"]),
        ("file", ["/file`", "is not a directory"]),
        ("file/below", ["/file/below`", "does not exist"]),
    ] {
        for mut hook in [shell("echo ran"), argv(["true"]), argv(["./true"])] {
            hook.working_dir = Some(written.to_owned());
            assert_says(&start_error(&project, &hook).await, &parts);
        }
    }
    let mut hook = shell("echo ran");
    hook.working_dir = Some("late".to_owned());
    let handler = project.build(&hook).unwrap();
    assert!(call(&*handler, &hook, &Input::default()).await.is_err());
    std::fs::create_dir(project.path().join("late")).unwrap();
    assert!(call(&*handler, &hook, &Input::default()).await.is_ok());
}

#[tokio::test]
async fn a_script_that_is_being_written_to_is_tried_again() {
    let project = Project::new();
    let script = project.file("busy.sh", "#!/bin/sh\necho ran\n", 0o755);
    let writer = std::fs::OpenOptions::new().append(true).open(&script).unwrap();
    let error = start_error(&project, &argv(["./busy.sh"])).await;
    assert_says(&error, &["is being written to"]);
    drop(writer);
    let result = project.run(&argv(["./busy.sh"]), &Input::default()).await.unwrap();
    assert_eq!(text(&result.stdout), "ran\n");
}

#[tokio::test]
async fn arguments_that_are_too_large_are_a_failure_that_says_so() {
    let project = Project::new();
    let mut hook = argv(["true"]);
    hook.args = vec!["x".repeat(200 * 1024)];
    assert_says(&start_error(&project, &hook).await, &["too large"]);
}

#[test]
fn a_shell_must_be_there_when_the_hook_is_built() {
    let project = Project::new();
    for (name, hint) in
        [("no-such-shell", false), ("/nowhere/sh", false), ("./sh", false), ("bash -eu", true)]
    {
        let mut hook = shell("true");
        hook.shell = Some(name.to_owned());
        let error = project.build(&hook).err().unwrap();
        assert_eq!(error.key, Some("shell"), "{error}");
        assert!(error.message.contains(name.trim_start_matches("./")), "{error}");
        assert_eq!(error.hint.is_some(), hint, "{name}");
    }
}

#[test]
fn a_hook_without_a_command_is_a_mistake() {
    let project = Project::new();
    let mut nothing = shell("");
    nothing.command = None;
    for hook in [nothing, shell(""), shell(" \n"), argv([]), argv([""]), shell("a\0b")] {
        let error = project.build(&hook).err().unwrap();
        assert_eq!(error.key, Some("command"), "{error}");
    }
}
