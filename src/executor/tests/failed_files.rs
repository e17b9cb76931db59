//! What comes of hooks files that can't be loaded, and of hooks that must not run.

use super::*;
use crate::config::{Diagnostic, FailedFile, Untrusted, file_of_layer};
use crate::event::Event::{PostToolUse, ToolResponseTransform, UserPromptSubmit};
use crate::handler::{BoxFuture, Call, Failure, Handler, HandlerError, HandlerResult};

/// A file of this layer that can't be loaded.
fn broken(layer: Layer) -> FailedFile {
    let place = file_of_layer(layer, Path::new("hooks.yaml"));
    FailedFile::unloadable(place, &[Diagnostic::error("it is broken")])
}

#[tokio::test]
async fn a_broken_file_is_a_failed_hook_of_its_layer_at_every_event() {
    let clean = json!({"hook_specific_output": {"updated_tool_response": "rewritten"}});
    for layer in [Layer::Managed, Layer::User, Layer::Project] {
        for (event, expected) in
            [(ToolResponseTransform, "[withheld by hookexec"), (PostToolUse, "rewritten")]
        {
            let hooks = vec![Hook { phase: Phase::Mutate, ..say(event, &clean) }];
            let config = Config { hooks, failed: vec![broken(layer)], ..Config::default() };
            let executor = Executor::builder(config).registry(registry()).build().unwrap();
            let input = Input { tool_response: Some(json!("secret")), ..call("ls") };
            let verdict = executor.dispatch(event, &input).await;
            let report = verdict.hooks.iter().find(|report| report.kind == "hooks_file").unwrap();
            assert!(report.error.as_ref().unwrap().contains("it is broken"), "{report:#?}");
            let response = verdict.updated_tool_response.as_ref().unwrap().to_string();
            assert!(response.contains(expected), "{layer:?} {event}: {verdict:#?}");
            let told = [verdict.message, verdict.system_message].map(Option::unwrap_or_default);
            let told = told.concat();
            assert!(told.contains("it is broken"), "{layer:?}: {told}");
        }
    }
}

#[tokio::test]
async fn a_hook_that_must_not_run_is_never_said_to_be_late() {
    let untrusted = Some(Untrusted::new("its script changed", "approve it".into()));
    let hooks = vec![Hook { untrusted, ..hook(UserPromptSubmit, "say", &["{}"]) }];
    let config = Config { hooks, failed: vec![broken(Layer::Project)], ..Config::default() };
    let executor = Executor::builder(config).registry(registry()).build().unwrap();
    let late = executor.run(UserPromptSubmit, &Input::default(), by(Instant::now())).await;
    let given_up = executor.failed(UserPromptSubmit, None, "it is late");
    for verdict in [late, given_up] {
        let causes: Vec<&str> =
            verdict.hooks.iter().map(|hook| hook.error.as_deref().unwrap()).collect();
        assert!(causes[0].contains("it is broken"), "{causes:?}");
        assert_eq!(causes[1], "its script changed");
    }
}

#[tokio::test]
async fn a_hook_of_a_hosts_own_type_is_never_taken_for_a_failed_file() {
    let mut registry = registry();
    registry.register("hooks_file", HandlerFactory::new(|_, _| Ok(Arc::new(Broken))));
    let hook = Hook::new(UserPromptSubmit, "hooks_file", Command::Text("mine".into()));
    let config =
        Config { hooks: vec![hook], failed: vec![broken(Layer::User)], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    assert_eq!(executor.failed_files(UserPromptSubmit), 1);
    let told = executor.dispatch(UserPromptSubmit, &Input::default()).await.system_message.unwrap();
    assert!(told.contains("hooks.yaml can't be loaded: it is broken"), "{told}");
    assert!(told.contains("hook `mine` (") && told.contains(") failed: on purpose"), "{told}");
}

struct Broken;

impl Handler for Broken {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { Err(HandlerError::new(Failure::Start, "on purpose")) })
    }
}
