//! The usual: a child that answers.

use hookexec::{Config, Decision, Event, Executor};

use super::harness::{HANG, Project, ask, dispatch, one, shell, shutdown, statistics};

const GUARD: &str = "
def answer(method, params):
    if 'rm' in params.get('arguments', {}).get('cmd', ''):
        return {'action': 'deny_tool', 'reason': 'no rm'}
    return {'action': 'continue'}
serve(answer)
";

#[tokio::test]
async fn one_child_answers_every_call() {
    let project = Project::with(GUARD);
    let executor = project.one(&[Event::PreToolUse], "");
    for _ in 0..3 {
        let verdict = ask(&executor, "ls").await;
        assert_eq!((verdict.decision, verdict.allowed), (None, true), "{verdict:#?}");
        let verdict = ask(&executor, "rm -rf /").await;
        assert_eq!(verdict.decision, Some(Decision::Deny));
        assert_eq!(verdict.message.as_deref(), Some("no rm"));
    }
    let statistics = statistics(&executor);
    assert_eq!(statistics.starts, 1);
    assert!(statistics.pid.is_some());
    shutdown(&executor).await;
}

#[tokio::test]
async fn an_event_of_ours_is_told_the_input_and_answers_an_output() {
    let project = Project::with(
        "serve(lambda method, params: {'additional_context': method + ' ' + params['session_id']})",
    );
    let executor = project.one(&[Event::SessionStart], "");
    let verdict = dispatch(&executor, Event::SessionStart, &shell("x")).await;
    assert_eq!(verdict.additional_context.as_deref(), Some("hook.session_start s"));
    shutdown(&executor).await;
}

#[tokio::test]
async fn all_hooks_of_one_entry_share_one_child() {
    let project = Project::with(
        "
import itertools
count = itertools.count(1)
serve(lambda method, params: {'system_message': f'{method} {next(count)}'})
",
    );
    let executor = project.one(&[Event::SessionStart, Event::TurnStart], "");
    let first = dispatch(&executor, Event::SessionStart, &shell("x")).await;
    let second = dispatch(&executor, Event::TurnStart, &shell("x")).await;
    assert_eq!(first.system_message.as_deref(), Some("hook.session_start 1"));
    assert_eq!(second.system_message.as_deref(), Some("hook.turn_start 2"));
    shutdown(&executor).await;
}

#[tokio::test]
async fn the_child_has_its_environment_and_its_directory() {
    let project = Project::with(
        "
hello()
for message in messages():
    told = [os.getcwd(), os.environ.get('KEY'), os.environ.get('HOME'), os.environ.get('PATH') is not None]
    reply(message, {'system_message': json.dumps(told)})
",
    );
    std::fs::create_dir(project.path("sub")).unwrap();
    let options = ", working_dir: sub, env: { KEY: v, PYTHONPATH: .. }, inherit_env: [PATH]";
    let yaml = one(&[Event::SessionStart], options).replace("p.py]", "../p.py]");
    let executor = project.executor(&yaml);
    let verdict = dispatch(&executor, Event::SessionStart, &shell("x")).await;
    let sub = project.path("sub").canonicalize().unwrap();
    let expected = serde_json::json!([sub, "v", null, true]);
    let told = verdict.system_message.unwrap_or_else(|| panic!("{:#?}", verdict.hooks));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), expected);
    shutdown(&executor).await;
}

#[test]
fn a_hook_that_names_no_process_is_refused_with_what_was_meant() {
    let yaml = "processes:\n  weather: { command: [python3, w.py] }\nhooks:\n  session_start:\n    - { type: process, command: wether }\n";
    let config = Config::from_yaml(yaml, "hooks.yaml").unwrap();
    let problems = Executor::builder(config).build().unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!(problem.message, "unknown process `wether`");
    assert_eq!(problem.hint.as_deref(), Some("did you mean `weather`?"));
    assert_eq!(problem.location.as_ref().unwrap().line(), 5);
}

#[test]
fn what_belongs_to_the_process_is_refused_on_the_hook() {
    let yaml = one(&[Event::SessionStart], "").replace("timeout: 60", "env: { A: b }");
    let config = Config::from_yaml(&yaml, "hooks.yaml").unwrap();
    let problems = Executor::builder(config).build().unwrap_err();
    let message = "`env` has no meaning for hooks of type `process`";
    assert!(problems.to_string().contains(message), "{problems}");
}

#[tokio::test]
async fn defaults_for_commands_do_not_concern_a_process_hook() {
    let yaml = one(&[Event::SessionStart], "");
    let yaml = format!("defaults: {{ shell: /bin/bash, max_output: 1KiB }}\n{yaml}");
    let config = Config::from_yaml(&yaml, "hooks.yaml").unwrap();
    Executor::builder(config).build().unwrap();
}

#[tokio::test]
async fn eager_processes_start_with_the_executor() {
    let project = Project::with("hello()\nnote('greeted', 1)\nsys.stdin.read()");
    let executor = project.one(&[Event::PreToolUse], ", start: eager");
    assert_eq!(statistics(&executor).starts, 0, "nothing starts by itself");
    executor.start_processes();
    project.noted("greeted").await;
    assert_eq!(statistics(&executor).starts, 1);
    shutdown(&executor).await;
}

#[tokio::test]
async fn a_check_starts_all_and_reports_each() {
    let project = Project::with("hello()\nsys.stdin.read()");
    project.script(
        "bad.py",
        "reply(json.loads(sys.stdin.readline()), {'ok': False, 'reason': 'no key'})",
    );
    let executor = project.executor(
        "processes:\n  good: { command: [python3, p.py] }\n  bad: { command: [python3, bad.py] }\n  gone: { command: [no-such-program] }\nhooks: {}\n",
    );
    let checks = tokio::time::timeout(HANG, executor.check_processes()).await.unwrap();
    let found: Vec<_> = checks.iter().map(|c| (c.name.as_str(), c.problem.as_deref())).collect();
    assert_eq!(
        found[0],
        ("bad", Some("process `bad` could not be started: it refused to serve: no key"))
    );
    assert_eq!(found[1].0, "gone");
    assert!(found[1].1.unwrap().contains("`no-such-program` was not found"), "{found:?}");
    assert_eq!(found[2], ("good", None));
    assert_eq!(checks[0].location.line(), 3);
    shutdown(&executor).await;
}
