//! What a hook is told and what comes back.

use hookexec::Input;
use serde_json::json;

use super::harness::{Project, argv, shell, text};

#[tokio::test]
async fn a_shell_string_gets_the_input_and_answers_with_streams_and_a_code() {
    let input = Input::call("get_weather").with_session("s");
    let result = Project::new().run(&shell("cat; echo talk >&2; exit 3"), &input).await.unwrap();
    // The JSON, not a byte more: no newline either, just the end of the file.
    assert_eq!(result.stdout, serde_json::to_vec(&input).unwrap());
    assert_eq!((result.exit_code, text(&result.stderr)), (3, "talk\n"));
    assert_eq!(result.warnings, Vec::<String>::new());
}

#[tokio::test]
async fn a_list_runs_without_a_shell() {
    let project = Project::new();
    let hook = argv(["printf", "%s|", "$HOME", "a b", ";", "*"]);
    let result = project.run(&hook, &Input::default()).await.unwrap();
    assert_eq!(text(&result.stdout), "$HOME|a b|;|*|");
}

#[tokio::test]
async fn args_are_positional_parameters_of_a_shell_and_are_appended_to_a_list() {
    let project = Project::new();
    for mut hook in [shell(r#"printf '%s|' "$@"; echo "$0""#), argv(["printf", "%s|%s|\n"])] {
        hook.args = vec!["one two".to_owned(), "$HOME".to_owned()];
        let result = project.run(&hook, &Input::default()).await.unwrap();
        assert!(text(&result.stdout).starts_with("one two|$HOME|"), "{}", text(&result.stdout));
    }
}

#[tokio::test]
async fn the_input_never_reaches_a_command_line() {
    let project = Project::new();
    let mut input = Input::for_tool(
        "shell; touch hit",
        json!({"cmd": "$(touch hit)"}).as_object().unwrap().clone(),
    );
    input.session_id = "`touch hit`".to_owned();
    let result = project.sh("cat >/dev/null; echo $HOOKEXEC_TOOL_NAME $HOOKEXEC_SESSION_ID").await;
    assert_eq!(result.unwrap().exit_code, 0);
    let result = project.run(&shell("echo $HOOKEXEC_TOOL_NAME $HOOKEXEC_SESSION_ID"), &input).await;
    assert_eq!(text(&result.unwrap().stdout), "shell; touch hit `touch hit`\n");
    assert!(!project.path().join("hit").exists());
}

#[tokio::test]
async fn another_shell_may_be_named() {
    let project = Project::new();
    let mut hook = shell("printf '%s' \"${BASH_VERSION%%.*}\"; [[ -n $0 ]]");
    hook.shell = Some("bash".to_owned());
    let result = project.run(&hook, &Input::default()).await.unwrap();
    assert!(text(&result.stdout).parse::<u32>().is_ok(), "{}", text(&result.stdout));
    assert_eq!(result.exit_code, 0);

    let mut hook = shell("import sys; sys.stdout.write('from python'); sys.exit(2)");
    hook.shell = Some("python3".to_owned());
    let result = project.run(&hook, &Input::default()).await.unwrap();
    assert_eq!((text(&result.stdout), result.exit_code), ("from python", 2));
}

#[tokio::test]
async fn invalid_utf8_comes_back_as_it_was() {
    let result = Project::new().sh(r"printf '\377\376a'; printf '\200' >&2").await.unwrap();
    assert_eq!((&result.stdout[..], &result.stderr[..]), (&b"\xff\xfea"[..], &b"\x80"[..]));
}

#[test]
fn both_flavours_of_tokio_run_hooks() {
    let run = || async { Project::new().sh("cat >/dev/null; echo yes").await.unwrap().stdout };
    let current = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(current.block_on(run()), b"yes\n");
    let multi = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    assert_eq!(multi.block_on(run()), b"yes\n");
    assert_eq!(multi.block_on(async { tokio::spawn(run()).await.unwrap() }), b"yes\n");
}
