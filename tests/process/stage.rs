//! One stage of PicoClaw, with a child whose answers the test gives.

use hookexec::wire::StopScope;
use hookexec::{Decision, Event, Executor, Input, Verdict};
use serde_json::{Value, json};

use super::harness::{Project, dispatch, one};

/// A child that answers what a file says and notes what it was told.
const PARROT: &str = "
hello()
for message in messages():
    note('told', json.dumps(message))
    out('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}\\n' % (message['id'], open('answer').read()))
";

pub(crate) struct Stage {
    pub(crate) project: Project,
    pub(crate) executor: Executor,
    event: Event,
    input: Input,
}

impl Stage {
    pub(crate) fn new(event: Event, input: Input) -> Self {
        Self::with(event, input, ", provides: [weather]")
    }

    pub(crate) fn with(event: Event, input: Input, options: &str) -> Self {
        let project = Project::with(PARROT);
        let executor = project.executor(&one(&[event], options));
        Self { project, executor, event, input }
    }

    /// Dispatches, with `answer` as the child's.
    pub(crate) async fn answer(&self, answer: Value) -> Verdict {
        self.answer_text(&answer.to_string()).await
    }

    pub(crate) async fn answer_text(&self, answer: &str) -> Verdict {
        self.project.write("answer", answer);
        dispatch(&self.executor, self.event, &self.input).await
    }

    /// Dispatches and returns why the answer failed.
    pub(crate) async fn failure(&self, answer: Value) -> String {
        let verdict = self.answer(answer.clone()).await;
        let [hook] = &verdict.hooks[..] else { panic!("{verdict:#?}") };
        hook.error.clone().unwrap_or_else(|| panic!("{answer} was taken for {verdict:#?}"))
    }

    /// Expects each answer to fail with the words beside it.
    pub(crate) async fn failures<const N: usize>(&self, cases: [(Value, &str); N]) {
        for (answer, expected) in cases {
            let error = self.failure(answer.clone()).await;
            assert!(error.contains(expected), "{answer}: {error}");
        }
    }

    /// Expects each answer to mean nothing at all.
    pub(crate) async fn nothing<const N: usize>(&self, answers: [Value; N]) {
        for answer in answers {
            let verdict = self.answer(answer.clone()).await;
            assert_eq!(verdict.hooks[0].error, None, "{answer}");
            let mut plain = verdict.clone();
            plain.hooks.clear();
            assert_eq!(plain, Verdict::no_opinion(self.event), "{answer}");
        }
    }

    pub(crate) async fn told(&self) -> Value {
        let _ = self.answer(json!({})).await;
        serde_json::from_str(&self.project.noted("told").await).unwrap()
    }

    pub(crate) async fn stops(&self) {
        for (action, scope) in [("abort_turn", StopScope::Turn), ("hard_abort", StopScope::Session)]
        {
            let verdict =
                self.answer(json!({ "action": action, "reason": "enough", "oops": 1 })).await;
            let stop = verdict.stop.as_ref().unwrap_or_else(|| panic!("{verdict:#?}"));
            assert_eq!((stop.scope, stop.reason.as_str()), (scope, "enough"));
            assert_eq!((verdict.decision, verdict.allowed), (Some(Decision::Deny), false));
            assert_eq!(verdict.message.as_deref(), Some("enough"));
            assert_eq!(verdict.hooks[0].warnings, ["unknown key `oops`"]);
        }
    }
}

pub(crate) fn input(value: Value) -> Input {
    serde_json::from_value(value).unwrap()
}

pub(crate) fn call() -> Input {
    input(json!({
        "session_id": "s", "cwd": "/project", "agent_name": "main", "turn_id": "main-turn-1", "iteration": 2,
        "tool_name": "weather", "tool_use_id": "t1",
        "tool_input": { "city": "Rome", "id": 12_345_678_901_234_567_890_u64 },
        "channel": "cli", "chat_id": "chat-1", "context": { "inbound": { "channel": "cli" } },
    }))
}
