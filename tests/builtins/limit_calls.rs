//! `limit_calls`, `limit_same_calls`, `limit_failed_calls`, as hooks of an executor.

use std::path::Path;

use hookexec::wire::HookStatus;
use hookexec::{Config, Decision, Event, Executor, Input, Verdict};
use serde_json::json;

use crate::registry::everything;
use crate::support::{input, refused};

/// One hook, with counts in a directory.
struct Place {
    directory: tempfile::TempDir,
    hooks: String,
}

impl Place {
    fn new(hooks: &str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), hooks: hooks.to_owned() }
    }

    /// Judges a call as a process of its own would.
    async fn judge(&self, event: Event, input: &Input) -> Verdict {
        let config = Config::from_yaml(&self.hooks, "hooks.yaml").unwrap();
        let builder = Executor::builder(config).registry(everything());
        let executor = builder.counts_in(self.counts()).build().unwrap();
        executor.dispatch(event, input).await
    }

    async fn decide(&self, input: &Input) -> Option<Decision> {
        self.judge(Event::PreToolUse, input).await.decision
    }

    fn counts(&self) -> std::path::PathBuf {
        self.directory.path().join("counts")
    }
}

fn guard(hooks: &str) -> Place {
    Place::new(&format!("hooks: {{ pre_tool_use: [{{ matcher: fetch, hooks: [{hooks}] }}] }}"))
}

fn fetch(session: &str, turn: &str, url: &str) -> Input {
    input(json!({
        "session_id": session, "turn_id": turn, "tool_name": "fetch", "tool_input": { "url": url }
    }))
}

const DENY: Option<Decision> = Some(Decision::Deny);
const ASK: Option<Decision> = Some(Decision::Ask);

#[tokio::test]
async fn calls_beyond_the_number_are_denied_for_the_session_or_the_turn() {
    let place = guard("{ type: builtin, command: limit_calls, args: [\"2\"] }");
    for (session, turn, decision) in
        [("s", "1", None), ("s", "2", None), ("s", "3", DENY), ("s", "3", DENY), ("t", "1", None)]
    {
        assert_eq!(place.decide(&fetch(session, turn, "u")).await, decision, "{session} {turn}");
    }
    let verdict = place.judge(Event::PreToolUse, &fetch("s", "9", "u")).await;
    assert_eq!(verdict.message.unwrap(), "2 such calls in this session: that is the limit");

    let args = r#"["2", --per=turn, --by=tool_input.url, --decision=ask]"#;
    let place = guard(&format!("{{ type: builtin, command: limit_calls, args: {args} }}"));
    for (turn, url, decision) in [
        ("1", "a", None),
        ("1", "a", None),
        ("1", "b", None),
        ("1", "a", ASK),
        ("2", "a", None),
        ("2", "a", None),
        ("2", "a", ASK),
    ] {
        assert_eq!(place.decide(&fetch("s", turn, url)).await, decision, "{turn} {url}");
    }
    let verdict = place.judge(Event::PreToolUse, &fetch("s", "2", "a")).await;
    let expected = "2 such calls with the same `tool_input.url` in this turn: that is the limit";
    assert_eq!(verdict.message.unwrap(), expected);
}

#[tokio::test]
async fn two_hooks_count_by_themselves_and_a_call_for_neither_does_not_count() {
    let hook = |url: &str| {
        format!(
            "{{ type: builtin, command: limit_calls, args: [\"1\"], when: {{ field: \
             tool_input.url, equals: {url} }} }}"
        )
    };
    let place = guard(&format!("{}, {}", hook("a"), hook("b")));
    for (url, decision) in
        [("a", None), ("b", None), ("c", None), ("c", None), ("a", DENY), ("b", DENY)]
    {
        assert_eq!(place.decide(&fetch("s", "", url)).await, decision, "{url}");
    }
}

#[tokio::test]
async fn a_guard_that_can_not_count_denies() {
    let place = guard("{ type: builtin, command: limit_calls, args: [\"5\"] }");
    assert_eq!(place.decide(&fetch("s", "", "u")).await, None);
    let is_session = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    let mut entries = std::fs::read_dir(place.counts()).unwrap().map(|entry| entry.unwrap().path());
    let file = entries.find(|path| is_session(path)).unwrap();
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let verdict = place.judge(Event::PreToolUse, &fetch("s", "", "u")).await;
    assert_eq!((verdict.decision, verdict.hooks[0].status), (DENY, HookStatus::Failed));
    let said = verdict.message.unwrap();
    assert!(said.contains("remove the file to count from 0"), "{said}");
    assert!(said.contains("limit_calls") && said.contains("hooks.yaml:1"), "{said}");

    assert_eq!(place.decide(&fetch("", "", "u")).await, DENY);
    let by_turn = guard("{ type: builtin, command: limit_calls, args: [\"5\", --per=turn] }");
    assert_eq!(by_turn.decide(&fetch("s", "", "u")).await, DENY);
    assert_eq!(by_turn.decide(&fetch("s", "1", "u")).await, None);
    let same = guard("{ type: builtin, command: limit_same_calls, args: [\"5\"] }");
    std::fs::write(same.counts(), "").unwrap();
    assert_eq!(same.decide(&fetch("s", "", "u")).await, DENY);
}

#[tokio::test]
async fn the_same_call_is_denied_after_so_many_in_a_row() {
    let place = guard("{ type: builtin, command: limit_same_calls, args: [\"2\"] }");
    for (url, decision) in [
        ("a", None),
        ("b", None),
        ("a", None),
        ("a", None),
        ("a", DENY),
        ("a", DENY),
        ("b", None),
        ("a", None),
    ] {
        assert_eq!(place.decide(&fetch("s", "", url)).await, decision, "{url}");
    }
}

#[tokio::test]
async fn a_call_that_is_judged_again_counts_once() {
    // The second hook rewrites the input, so the first is asked again.
    let rewrite = r#"{ type: command, command: 'echo "{\"updated_input\":{\"url\":\"b\"}}"' }"#;
    for (builtin, results) in [
        ("limit_calls, args: [\"2\"]", [None, None, DENY]),
        ("limit_calls, args: [\"1\", --decision=ask]", [None, ASK, ASK]),
        ("limit_same_calls, args: [\"1\", --decision=ask]", [None, ASK, ASK]),
    ] {
        let place = guard(&format!("{{ type: builtin, command: {builtin} }}, {rewrite}"));
        for decision in results {
            assert_eq!(place.decide(&fetch("s", "", "a")).await, decision, "{builtin}");
        }
    }
}

#[tokio::test]
async fn calls_count_as_the_agent_made_them() {
    let rewrite = r#"{ type: command, mutates: true, command: 'echo "{\"updated_input\":{\"url\":\"$PPID-$$\"}}"' }"#;
    for builtin in
        ["limit_same_calls, args: [\"1\"]", "limit_calls, args: [\"1\", --by=tool_input.url]"]
    {
        let place = guard(&format!("{rewrite}, {{ type: builtin, command: {builtin} }}"));
        for (url, decision) in [("a", None), ("a", DENY), ("b", None)] {
            assert_eq!(place.decide(&fetch("s", "", url)).await, decision, "{builtin} {url}");
        }
    }
}

#[tokio::test]
async fn failures_in_a_row_end_the_turn() {
    let place = Place::new(
        "hooks: { post_tool_use: [{ hooks: [{ type: builtin, command: limit_failed_calls, \
         args: [\"2\"] }] }] }",
    );
    let call = |failed: Option<bool>| {
        input(json!({ "session_id": "s", "tool_name": "t", "tool_error": failed }))
    };
    for (failed, stops) in [
        (true, false),
        (false, false),
        (true, false),
        (true, true),
        (true, false),
        (true, true),
        (false, false),
        (true, false),
    ] {
        let verdict = place.judge(Event::PostToolUse, &call(Some(failed))).await;
        assert_eq!(verdict.stop.is_some(), stops);
        assert_eq!(verdict.decision == DENY, stops);
    }
    let verdict = place.judge(Event::PostToolUse, &call(None)).await;
    assert!(verdict.system_message.unwrap().contains("no `tool_error`"));
}

#[tokio::test]
async fn the_call_after_the_last_failure_is_denied_once() {
    let hook = "{ hooks: [{ type: builtin, command: limit_failed_calls, args: [\"2\"] }] }";
    let rewrite =
        r#"{ matcher: r, hooks: [{ type: command, command: 'echo "{\"updated_input\":{}}"' }] }"#;
    let hooks = format!("hooks: {{ pre_tool_use: [{hook}, {rewrite}], post_tool_use: [{hook}] }}");
    let place = Place::new(&hooks);
    let call = |tool: &str, turn: &str| {
        input(json!({
            "session_id": "s", "turn_id": turn, "tool_name": tool, "tool_input": { "a": 1 },
            "tool_error": true
        }))
    };
    for _ in 0..2 {
        assert_eq!(place.decide(&call("t", "1")).await, None);
        let _ = place.judge(Event::PostToolUse, &call("t", "1")).await;
    }
    assert_eq!(place.decide(&call("t", "2")).await, None);
    // Another hook rewrites it, so it is judged twice.
    let verdict = place.judge(Event::PreToolUse, &call("r", "1")).await;
    assert_eq!((verdict.decision, verdict.stop.is_some()), (DENY, true));
    assert_eq!(place.decide(&call("t", "1")).await, None);
}

#[test]
fn arguments_that_can_not_work_are_refused() {
    for (name, args, problem) in [
        ("limit_calls", &[][..], "it needs a number"),
        ("limit_calls", &["0"], "from 1 to 1000, found `0`"),
        ("limit_calls", &["1001"], "from 1 to 1000"),
        ("limit_calls", &["x"], "found `x`"),
        ("limit_calls", &["1", "2"], "found a second: `2`"),
        ("limit_calls", &["1", "--per=day"], "found `day`"),
        ("limit_calls", &["1", "--decision=allow"], "found `allow`"),
        ("limit_calls", &["1", "--by=nothing"], "no field `nothing`"),
        ("limit_same_calls", &["1", "--per=turn"], "unknown option"),
        ("limit_failed_calls", &["-1"], "found `-1`"),
    ] {
        let error = refused(name, args);
        assert!(error.contains(problem), "{name} {args:?}: {error}");
    }
}
