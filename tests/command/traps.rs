//! What real hooks do to whoever runs them. Nothing here waits for a time, only for conditions.

use std::time::Duration;

use hookexec::config::Hook;
use hookexec::{Failure, HandlerError, Input};
use serde_json::json;

use super::harness::{HANG, Project, argv, call, read_number, shell, text};
use crate::state::{state, until};

const MIB: usize = 1 << 20;

fn large_input() -> Input {
    let argument = json!({ "text": "x".repeat(MIB) });
    Input::for_tool("write", argument.as_object().unwrap().clone())
}

/// Lets a hook run into its timeout, after it has written the file `ready`: on a busy machine the
/// hook gets another, longer try.
async fn time_out(project: &Project, mut hook: Hook, input: &Input) -> HandlerError {
    let ready = project.path().join("ready");
    for seconds in [1, 4, 16, 64] {
        let _ = std::fs::remove_file(&ready);
        hook.timeout = Duration::from_secs(seconds);
        let error = project.run(&hook, input).await.unwrap_err();
        assert_eq!(error.failure, Failure::TimedOut, "{error}");
        if ready.exists() {
            return error;
        }
    }
    panic!("the hook never got ready");
}

#[tokio::test]
async fn a_hook_need_not_read_its_input() {
    let project = Project::new();
    for text in ["exit 0", "exec <&-; exit 0", "head -c 10 >/dev/null"] {
        let result = project.run(&shell(text), &large_input()).await.unwrap();
        assert_eq!(result.exit_code, 0, "{text}");
    }
}

#[tokio::test]
async fn a_hook_may_write_a_mebibyte_before_it_reads_one() {
    let mut hook = shell("head -c 1048576 /dev/zero; head -c 1048576 /dev/zero >&2; wc -c");
    hook.max_output = 2 * MIB;
    let result = Project::new().run(&hook, &large_input()).await.unwrap();
    assert_eq!(result.stderr.len(), MIB);
    let count: usize = text(&result.stdout[MIB..]).trim().parse().unwrap();
    assert!(count > MIB, "{count}");
}

#[tokio::test]
async fn a_background_job_that_holds_a_pipe_holds_nobody_up_and_lives_on() {
    let project = Project::new();
    for (job, streams) in [
        ("sleep 1000 &", Some("stdout and stderr")),
        ("sleep 1000 2>/dev/null &", Some("stdout")),
        ("sleep 1000 >/dev/null &", Some("stderr")),
        ("sleep 1000 >/dev/null 2>&1 &", None),
    ] {
        let result = project.sh(&format!("{job} echo $! >pid; echo answer; exit 2")).await.unwrap();
        assert_eq!((text(&result.stdout), result.exit_code), ("answer\n", 2), "{job}");
        let job_id = read_number(&project.path().join("pid"));
        assert!(matches!(state(job_id), Some('S' | 'R' | 'D')), "{job} is dead");
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(job_id).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        match streams {
            None => assert_eq!(result.warnings, Vec::<String>::new(), "{job}"),
            Some(streams) => {
                let expected = format!("a background process keeps its {streams} open");
                assert!(result.warnings[0].starts_with(&expected), "{:?}", result.warnings);
            }
        }
    }
}

#[tokio::test]
async fn nobody_of_a_tree_survives_the_timeout() {
    let project = Project::new();
    // The last one ignores SIGTERM, the second has closed its streams.
    let tree = "
        sh -c 'sh -c \"sleep 1000 & echo \\$! >one; wait\" & wait' &
        sh -c 'exec >/dev/null 2>&1 </dev/null; sleep 1000' & echo $! >two
        sh -c 'trap \"\" TERM; echo $$ >three; while :; do sleep 1000; done' &
        while ! [ -s one ] || ! [ -s two ] || ! [ -s three ]; do sleep 0.01; done
        echo $$ >four; echo talk >&2; echo >ready; wait";
    let error = time_out(&project, shell(tree), &Input::default()).await;
    assert_eq!(text(&error.stderr), "talk\n");
    assert!(error.message.contains("raise its `timeout`"), "{error}");
    for name in ["one", "two", "three", "four"] {
        let member = read_number(&project.path().join(name));
        until(&format!("the end of {name}"), || matches!(state(member), None | Some('Z'))).await;
    }
    // The leader is ours to reap: not even a zombie is left.
    assert_eq!(state(read_number(&project.path().join("four"))), None);
}

#[tokio::test]
async fn a_hook_that_ignores_sigterm_is_killed() {
    let project = Project::new();
    let stubborn = "trap '' TERM; echo begun >&2; echo >ready; while :; do sleep 0.01; done";
    let error = time_out(&project, shell(stubborn), &Input::default()).await;
    assert_eq!(text(&error.stderr), "begun\n");
}

#[tokio::test]
async fn a_hook_may_clean_up_at_its_timeout_and_has_timed_out_all_the_same() {
    let project = Project::new();
    let tidy = r#"trap 'echo "{}"; echo tidy >&2; exit 0' TERM; echo >ready; while :; do sleep 0.01; done"#;
    let error = time_out(&project, shell(tidy), &Input::default()).await;
    // Some shells also say that their `sleep` was terminated.
    assert!(text(&error.stderr).ends_with("tidy\n"), "{}", text(&error.stderr));
}

#[tokio::test]
async fn half_of_an_input_never_looks_like_the_whole() {
    let project = Project::new();
    let slow = "
        trap 'cat >/dev/null; echo the end of it >&2' TERM
        head -c 1 >/dev/null; echo >ready
        while :; do sleep 0.01; done";
    let error = time_out(&project, shell(slow), &large_input()).await;
    assert!(!text(&error.stderr).contains("the end of it"), "{}", text(&error.stderr));
}

#[tokio::test]
async fn endless_output_ends_the_hook_and_not_the_memory() {
    let project = Project::new();
    for (text, stream) in [("yes", "stdout"), ("yes >&2", "stderr")] {
        let error = project.sh(text).await.unwrap_err();
        assert_eq!(error.failure, Failure::OutputLimit);
        let expected = format!("wrote more than 1048576 bytes to {stream}");
        assert!(error.message.contains(&expected), "{error}");
        assert!(error.message.contains("`max_output`"), "{error}");
    }
}

#[tokio::test]
async fn the_limit_is_the_hooks_own_and_counts_for_each_stream() {
    let project = Project::new();
    let mut hook = shell("printf 12345; printf 12345 >&2");
    hook.max_output = 5;
    assert_eq!(project.run(&hook, &Input::default()).await.unwrap().stdout, b"12345");
    hook.max_output = 4;
    let error = project.run(&hook, &Input::default()).await.unwrap_err();
    assert_eq!(error.failure, Failure::OutputLimit);
    assert!(error.stderr.len() <= 4, "{:?}", error.stderr);
}

#[tokio::test]
async fn a_signal_is_no_exit_code() {
    let project = Project::new();
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("TERM", 15), ("PIPE", 13)] {
        let error = project.sh(&format!("echo why >&2; kill -{name} $$")).await.unwrap_err();
        assert_eq!(error.failure, Failure::Signal(number));
        assert!(error.message.contains(&format!("SIG{name}")), "{error}");
        assert_eq!(text(&error.stderr), "why\n");
    }
}

#[tokio::test]
async fn dropping_the_future_kills_the_group_and_leaves_no_zombie() {
    let project = Project::new();
    let hook = shell("trap '' TERM; echo $$ >leader; sleep 1000 & echo $! >job; wait; sleep 1000");
    let handler = project.build(&hook).unwrap();
    let input = Input::default();
    let files = ["leader", "job"].map(|name| project.path().join(name));
    {
        let run = call(&*handler, &hook, &input);
        tokio::select! {
            result = run => panic!("ended with {result:?}"),
            () = until("two pids", || files.iter().all(|file| file.metadata().is_ok_and(|data| data.len() > 0))) => {}
        }
    }
    let [leader, job] = files.map(|file| read_number(&file));
    until("no leader", || state(leader).is_none()).await;
    until("no job", || matches!(state(job), None | Some('Z'))).await;
}

#[tokio::test]
async fn two_hundred_hooks_run_at_once() {
    let project = Project::new();
    let hook = shell("cat >/dev/null; echo $$");
    let handler = project.build(&hook).unwrap();
    let input = Input::default();
    let runs = (0..200).map(|_| call(&*handler, &hook, &input));
    let results = futures_util::future::join_all(runs).await;
    let pids: std::collections::BTreeSet<_> =
        results.into_iter().map(|result| result.unwrap().stdout).collect();
    assert_eq!(pids.len(), 200);
}

#[tokio::test]
async fn the_group_is_the_hooks_own() {
    let project = Project::new();
    let result = project
        .sh("cut -d ' ' -f 5 /proc/$$/stat 2>/dev/null || ps -o pgid= -p $$; echo $$")
        .await
        .unwrap();
    let ids: Vec<_> = text(&result.stdout).split_whitespace().collect();
    assert_eq!(ids[0], ids[1]);
    let own = rustix::process::getpgrp().as_raw_pid().to_string();
    assert_ne!(ids[0], own);
}

#[tokio::test]
async fn an_argv_hook_is_stopped_like_a_shell_string() {
    let project = Project::new();
    let mut hook = argv(["sleep", "1000"]);
    hook.timeout = Duration::from_millis(50);
    let error = tokio::time::timeout(HANG, project.run(&hook, &Input::default())).await;
    assert_eq!(error.unwrap().unwrap_err().failure, Failure::TimedOut);
}
