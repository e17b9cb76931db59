//! What a rewrite means for who judged the input before it.

use futures_util::FutureExt as _;

use super::layered::in_layer;
use super::*;
use crate::config::Condition;

fn mutator(name: &str, args: &[&str]) -> Hook {
    Hook { phase: Phase::Mutate, ..hook(PreToolUse, name, args) }
}

pub(super) fn condition(written: &str) -> Option<Arc<Condition>> {
    let text = format!("stop: {{ type: command, command: x, when: {written} }}");
    Config::from_yaml(&text, "hooks.yaml").unwrap().hooks[0].when.clone()
}

/// Returns how often each hook was asked, by the text it was given first, and the verdict.
async fn counted(mut hooks: Vec<Hook>, event: Event) -> (Vec<(String, usize)>, Verdict) {
    for hook in &mut hooks {
        hook.name = Some(hook.args[0].clone());
    }
    let options = DispatchOptions { shows_course: true, ..DispatchOptions::default() };
    let decided = executor(hooks).run_moment(&[event], &call("ls"), options).await;
    let mut asked = std::collections::BTreeMap::new();
    for step in decided.course.unwrap().steps {
        if !step.kept {
            *asked.entry(step.hook).or_default() += 1;
        }
    }
    (asked.into_iter().collect(), decided.verdict)
}

#[tokio::test]
async fn a_condition_that_does_not_hold_for_a_long_input_leaves_its_hook_out() {
    let when = condition(r"{ field: tool_input.cmd, regex: 'x{300}y$' }");
    let hooks = vec![Hook { when, ..hook(PreToolUse, "say", &["{}"]) }];
    let verdict = verdict(hooks, PreToolUse, &call(&"x".repeat(30_000))).await;
    assert!(verdict.allowed && verdict.hooks.is_empty(), "{verdict:#?}");
}

#[tokio::test]
async fn the_condition_on_a_long_input_is_looked_at_on_another_thread() {
    let when = condition(r"{ field: tool_input.cmd, regex: 'x{300}y$' }");
    let guard = Hook { when, ..hook(PreToolUse, "deny_word", &["y"]) };
    let rank = guard.layer().rank();
    let executor = executor(vec![guard]);
    let threads = &executor.capacity.seats[rank];
    for (length, is_long) in [(300, false), (30_000, true)] {
        // A condition waits for a thread.
        let held = threads.acquire_many(160).await.unwrap();
        let input = call(&format!("{}y", "x".repeat(length)));
        let mut dispatch = std::pin::pin!(executor.dispatch(PreToolUse, &input));
        let at_once = dispatch.as_mut().now_or_never();
        assert_eq!(at_once.is_none(), is_long, "{length}");
        drop(held);
        let verdict = match at_once {
            Some(verdict) => verdict,
            None => dispatch.await,
        };
        assert_eq!(verdict.decision, Some(Decision::Deny), "{length}");
    }
}

#[tokio::test]
async fn no_hook_waits_for_the_condition_of_another() {
    let when = condition(r"{ field: prompt, regex: 'x{300}y$' }");
    let slow = Hook { when, ..hook(UserPromptSubmit, "say", &["{}"]) };
    let slow = in_layer(Layer::Project, slow);
    let rank = slow.layer().rank();
    let answer = json!({"decision": "block", "reason": "no"});
    let users = in_layer(Layer::User, say(UserPromptSubmit, &answer));
    let input = Input { prompt: Some(format!("{}y", "x".repeat(30_000))), ..Input::default() };
    let deadline = Instant::now() + Duration::from_millis(200);
    let executor = executor(vec![slow, users]);
    let _held = executor.capacity.seats[rank].acquire_many(32).await.unwrap();
    let verdict = executor.run(UserPromptSubmit, &input, by(deadline)).await;
    assert_eq!(verdict.message.as_deref(), Some("no"), "{verdict:#?}");
    assert!(verdict.hooks[0].error.as_ref().unwrap().contains("the time for an answer passed"));
}

#[tokio::test]
async fn mutators_run_in_turn_and_guards_see_the_result() {
    let mut mutator = hook(PreToolUse, "set_cmd", &["rm -rf /"]);
    mutator.phase = Phase::Mutate;
    // The guard stands first in the file: it still judges what will be executed.
    let hooks = vec![hook(PreToolUse, "deny_word", &["rm"]), mutator];
    let verdict = verdict(hooks, PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    assert_eq!(verdict.message.as_deref(), Some("no rm"));
}

#[tokio::test]
async fn a_rewrite_by_a_guard_makes_the_others_judge_again() {
    let to_bad = vec![hook(PreToolUse, "deny_word", &["rm"]), hook(PreToolUse, "set_cmd", &["rm"])];
    let denied = verdict(to_bad, PreToolUse, &call("ls")).await;
    assert_eq!(denied.decision, Some(Decision::Deny));

    // And what a guard said of the first input stays: nothing takes back a denial.
    let to_good =
        vec![hook(PreToolUse, "deny_word", &["rm"]), hook(PreToolUse, "set_cmd", &["ls -l"])];
    let rewritten = verdict(to_good, PreToolUse, &call("rm")).await;
    assert_eq!(rewritten.decision, Some(Decision::Deny));
    assert_eq!(rewritten.hooks.len(), 2);
}

#[tokio::test]
async fn a_rewrite_that_a_denial_cost_its_turn_is_told() {
    let answer = json!({"hook_specific_output": {"updated_tool_response": "clean"}});
    let denial = json!({"decision": "block", "reason": "no"});
    let input = Input { tool_response: Some("secret".into()), ..call("ls") };
    for (mutates, response) in [(false, None), (true, Some(json!("clean")))] {
        let phase = if mutates { Phase::Mutate } else { Phase::Validate };
        let redactor = Hook { phase, ..say(PostToolUse, &answer) };
        let verdict = verdict(vec![redactor, say(PostToolUse, &denial)], PostToolUse, &input).await;
        assert_eq!(verdict.decision, Some(Decision::Deny));
        assert_eq!(verdict.updated_tool_response, response);
        let told = verdict.system_message.unwrap_or_default();
        assert_eq!(told.contains("no turn came in which its rewrite counts"), !mutates, "{told}");
    }
}

#[tokio::test]
async fn judges_that_rewrite_take_turns_in_the_next_round() {
    let settle = |key: &str| {
        let answer = json!({"hook_specific_output": {"updated_input": {key: 1}}});
        Hook { name: Some(key.to_owned()), ..say(PreToolUse, &answer) }
    };
    let settled = verdict(vec![settle("a"), settle("b")], PreToolUse, &call("ls")).await;
    assert!(settled.allowed);
    let expected = json!({"cmd": "ls", "cwd": "/tmp", "a": 1, "b": 1});
    assert_eq!(settled.updated_input, Some(object(expected)));
    let told = settled.system_message.unwrap();
    assert_eq!(told.matches("set `mutates: true`").count(), 2, "{told}");

    let endless = vec![hook(PreToolUse, "append", &[]), hook(PreToolUse, "append", &["again"])];
    let once_each = verdict(endless, PreToolUse, &call("ls")).await;
    assert_eq!(once_each.updated_input.unwrap()["cmd"], "lsxx");
}

#[tokio::test]
async fn the_rewrite_of_a_hook_with_mutates_false_is_ignored() {
    let hooks = vec![Hook { phase: Phase::Judge, ..hook(PreToolUse, "set_cmd", &["rm"]) }];
    let verdict = verdict(hooks, PreToolUse, &call("ls")).await;
    assert_eq!(verdict.updated_input, None);
    assert!(verdict.system_message.unwrap().contains("`mutates: false`"));
}

/// Returns a registry with the builtin `log`, and the inputs that it gets.
fn with_log() -> (Registry, Arc<Mutex<Vec<Input>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&told);
    let mut registry = layered::with_rewriters();
    registry.register_builtin(
        "log",
        Builtin::inline(move |input: &Input, _: &[String]| {
            log.lock().unwrap().push(input.clone());
            Ok::<_, String>(None)
        }),
    );
    (registry, told)
}

#[tokio::test]
async fn hooks_in_the_background_get_the_final_input_and_the_verdict() {
    let (registry, told) = with_log();
    let event = PostToolUse;
    let logs = [Layer::Managed, Layer::User, Layer::Project].map(|layer| {
        let hook = Hook { phase: Phase::Background, ..hook(event, "log", &[]) };
        layered::in_layer(layer, hook)
    });
    let redactor = Hook { phase: Phase::Mutate, ..hook(event, "redact", &[]) };
    let denier = say(event, &json!({"decision": "block", "reason": "no"}));
    let mut hooks = logs.to_vec();
    hooks.extend([redactor, denier]);
    let input = Input { tool_response: Some(json!("a secret")), ..call("ls") };
    let config = Config { hooks, ..Config::default() };
    let build = || Executor::builder(config.clone()).registry(registry.clone()).build();
    // Here, and if another process starts them.
    for executor in [build().unwrap(), build().unwrap().handing_over_background()] {
        let _ = executor.dispatch(event, &input).await;
        executor.shutdown(Duration::from_mins(1)).await;
        let other = build().unwrap();
        for (event, input) in executor.take_handed_over() {
            other.start_background(event, &input);
        }
        other.shutdown(Duration::from_mins(1)).await;
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert_eq!(told.len(), 3);
        for input in told {
            assert_eq!(input.tool_response, Some(json!("a ***")));
            assert_eq!(input.verdict.unwrap()["decision"], json!("deny"));
        }
    }
}

#[tokio::test]
async fn a_call_that_its_agent_cant_rewrite_is_denied_for_hooks_in_the_background_too() {
    let (registry, told) = with_log();
    let logs = Hook { phase: Phase::Background, ..hook(PreToolUse, "log", &[]) };
    let rewrites =
        say(PreToolUse, &json!({"hook_specific_output": {"updated_input": {"cmd": "x"}}}));
    let config = Config { hooks: vec![logs, rewrites], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let options = DispatchOptions { stands: true, ..DispatchOptions::default() };
    let verdict = executor.run(PreToolUse, &call("ls"), options).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
    executor.shutdown(Duration::from_mins(1)).await;
    let told = std::mem::take(&mut *told.lock().unwrap());
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].tool_input, call("ls").tool_input);
    assert_eq!(told[0].verdict.as_ref().unwrap()["decision"], json!("deny"));
}

#[tokio::test]
async fn turn_end_follows_a_stop_that_another_hook_ends() {
    let events = [Stop, Event::TurnEnd];
    let keeps = say(Stop, &json!({"decision": "block", "reason": "go on"}));
    let ends = say(Stop, &json!({"continue": false, "stop_reason": "enough"}));
    let told = say(Event::TurnEnd, &json!({"system_message": "ended"}));
    for (hooks, is_told) in
        [(vec![keeps.clone(), told.clone()], false), (vec![keeps, ends, told], true)]
    {
        let executor = executor(hooks);
        let options =
            DispatchOptions { following: &[Event::TurnEnd], ..DispatchOptions::default() };
        let verdict = executor.run_moment(&events, &Input::default(), options).await.verdict;
        let said = verdict.system_message.unwrap_or_default();
        assert_eq!(said.contains("ended"), is_told, "{said}");
    }
}

#[tokio::test]
async fn what_a_hook_withheld_nothing_brings_back() {
    let event = Event::ToolResponseTransform;
    let secret = json!({"hook_specific_output": {"updated_tool_response": "secret"}});
    let deny = json!({"decision": "block", "reason": "no"});
    for (withholds, did) in [(hook(event, "fail", &[]), "failed"), (say(event, &deny), "denied it")]
    {
        let label = withholds.label();
        let verdict = verdict(
            vec![withholds, say(event, &secret)],
            event,
            &Input { tool_response: Some(json!("secret")), ..call("ls") },
        )
        .await;
        let placeholder = format!("[withheld by hookexec: hook `{label}` {did}]");
        assert_eq!(verdict.updated_tool_response, Some(json!(placeholder)));
        assert_eq!(verdict.decision, Some(Decision::Deny));
    }
    // `on_error: warn` passes what could not be cleaned.
    let warns = Hook { on_error: Some(OnError::Warn), ..hook(event, "fail", &[]) };
    let input = Input { tool_response: Some(json!("secret")), ..call("ls") };
    let verdict = verdict(vec![warns], event, &input).await;
    assert_eq!((verdict.decision, verdict.updated_tool_response), (None, None));
    assert_eq!(verdict.failed_open, ["fail"]);
}

#[tokio::test]
async fn an_allow_for_an_earlier_input_permits_nothing() {
    let mut allow = say(PreToolUse, &json!({"decision": "allow"}));
    allow.phase = Phase::Mutate;
    let rewrite = mutator("set_cmd", &["rm"]);
    // Asked again, it allows again: now it is the input that will be executed.
    let both = verdict(vec![allow.clone(), rewrite.clone()], PreToolUse, &call("ls")).await;
    assert_eq!(both.decision, Some(Decision::Allow));

    allow.when = condition("{ field: tool_input.cmd, equals: ls }");
    let verdict = verdict(vec![allow, rewrite], PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, None);
    assert!(verdict.hooks[0].warnings[0].contains("an input that was rewritten"));
}

#[tokio::test]
async fn an_answer_in_the_place_of_a_tool_is_not_one_for_another() {
    let mut respond = hook(PreToolUse, "respond", &[]);
    respond.phase = Phase::Mutate;
    respond.matcher = Matcher::new("shell").unwrap();
    let rename = say(PreToolUse, &json!({"hook_specific_output": {"updated_tool_name": "danger"}}));
    let verdict = verdict(vec![respond, rename], PreToolUse, &call("ls")).await;
    assert_eq!(verdict.respond, None);
    assert!(verdict.hooks[0].warnings[0].contains("an input that was rewritten"), "{verdict:#?}");
}

#[tokio::test]
async fn an_allow_of_a_turn_that_a_later_round_replaced_permits_nothing() {
    let mut registry = registry();
    registry.register_builtin(
        "allow_shell",
        Builtin::inline(|input: &Input, _: &[String]| {
            if input.tool() != "shell" {
                return Ok::<_, String>(None);
            }
            let renamed = Some("danger".to_owned());
            let allow = Some(Decision::Allow);
            Ok(Some(Output { decision: allow, updated_tool_name: renamed, ..Output::default() }))
        }),
    );
    let allows = in_layer(Layer::Managed, mutator("allow_shell", &[]));
    let mut renames =
        say(PreToolUse, &json!({"hook_specific_output": {"updated_tool_name": "danger"}}));
    renames.matcher = Matcher::new("shell").unwrap();
    let config = Config { hooks: vec![allows, renames], ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let verdict = executor.dispatch(PreToolUse, &call("ls")).await;
    assert_eq!(verdict.updated_tool_name.as_deref(), Some("danger"));
    assert_eq!(verdict.decision, None, "{verdict:#?}");
}

#[tokio::test]
async fn a_renamed_tool_meets_the_guards_of_its_new_name() {
    let rename = say(PreToolUse, &json!({"hook_specific_output": {"updated_tool_name": "danger"}}));
    let mut guard = say(PreToolUse, &json!({"decision": "deny", "reason": "danger"}));
    guard.matcher = Matcher::new("danger").unwrap();
    let verdict = verdict(vec![guard, rename], PreToolUse, &call("ls")).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
}

#[tokio::test]
async fn a_mutator_judges_again_what_others_made_of_the_input_after_it() {
    let guard = || mutator("deny_word", &["rm"]);
    for rewriter in [hook(PreToolUse, "set_cmd", &["rm -rf /"]), mutator("set_cmd", &["rm -rf /"])]
    {
        let denied = verdict(vec![guard(), rewriter.clone()], PreToolUse, &call("ls")).await;
        assert_eq!(denied.decision, Some(Decision::Deny), "{rewriter:?}");
        assert_eq!(denied.message.as_deref(), Some("no rm"));
        assert_eq!(denied.hooks.len(), 2, "one report a hook: {denied:#?}");
    }
    // Chosen only by what the input became, and on events that fail open, as well.
    let mut by_name = guard();
    by_name.matcher = Matcher::new("danger").unwrap();
    let mut by_condition = guard();
    by_condition.when = condition("{ field: tool_input.cmd, regex: rm }");
    let rename = json!({"hook_specific_output": {"updated_tool_name": "danger"}});
    let rename = Hook { phase: Phase::Mutate, ..say(PreToolUse, &rename) };
    for guard in [by_name, by_condition] {
        let hooks = vec![guard, mutator("set_cmd", &["rm"]), rename.clone()];
        let denied = verdict(hooks, PreToolUse, &call("ls")).await;
        assert_eq!(denied.message.as_deref(), Some("no rm"));
    }
    let transform = |hook| Hook { event: Event::ToolInputTransform, ..hook };
    let hooks = vec![transform(guard()), transform(mutator("set_cmd", &["rm"]))];
    let denied = verdict(hooks, Event::ToolInputTransform, &call("ls")).await;
    assert_eq!(denied.decision, Some(Decision::Deny));
}

#[tokio::test]
async fn only_who_did_not_see_the_last_input_is_asked_again() {
    let looks = |word| mutator("deny_word", &[word]);
    let guard = |word| hook(PreToolUse, "deny_word", &[word]);
    let sets = |command| mutator("set_cmd", &[command]);
    for (hooks, expected) in [
        (vec![sets("a"), guard("guard")], vec![("a", 1), ("guard", 1)]),
        (vec![looks("look"), guard("guard")], vec![("guard", 1), ("look", 1)]),
        (vec![sets("a"), looks("look")], vec![("a", 1), ("look", 1)]),
        (vec![looks("look"), sets("a"), guard("guard")], vec![("a", 1), ("guard", 1), ("look", 2)]),
        // What it sets is what is there.
        (vec![looks("look"), sets("ls")], vec![("look", 1), ("ls", 1)]),
        (vec![looks("look"), hook(PreToolUse, "set_cmd", &["a"])], vec![("a", 1), ("look", 2)]),
        (vec![looks("look"), sets("a"), guard("a")], vec![("a", 2), ("look", 2)]),
    ] {
        let (asked, verdict) = counted(hooks, PreToolUse).await;
        let expected: Vec<_> =
            expected.into_iter().map(|(name, times)| (name.to_owned(), times)).collect();
        assert_eq!(asked, expected, "{verdict:#?}");
    }
    // The first is asked once more about what the second made of the response.
    let response = |text: &str| {
        let answer = json!({"hook_specific_output": {"updated_tool_response": text}});
        Hook { phase: Phase::Mutate, ..say(Event::ToolResponseTransform, &answer) }
    };
    let (asked, verdict) =
        counted(vec![response("a"), response("b")], Event::ToolResponseTransform).await;
    let times: Vec<usize> = asked.iter().map(|(_, times)| *times).collect();
    assert_eq!(times, [2, 1], "{asked:?}");
    assert_eq!(verdict.updated_tool_response, Some(json!("b")));
}

#[tokio::test]
async fn rewriters_compose_and_the_last_has_the_last_word() {
    let transform =
        |hook: Hook| Hook { event: Event::ToolInputTransform, phase: Phase::Validate, ..hook };
    for (hooks, expected) in [
        (vec![mutator("append", &["a"]), mutator("append", &["b"])], "lsxx"),
        (vec![mutator("set_cmd", &["sandbox ls"]), mutator("append", &["b"])], "sandbox lsx"),
        (vec![mutator("set_cmd", &["one"]), mutator("set_cmd", &["two"])], "two"),
        (
            vec![mutator("set_cmd", &["one"]), mutator("append", &[]), mutator("set_cmd", &["x"])],
            "x",
        ),
    ] {
        let composed = verdict(hooks.clone(), PreToolUse, &call("ls")).await;
        assert_eq!((composed.decision, composed.allowed), (None, true), "{composed:#?}");
        assert_eq!(composed.updated_input.unwrap()["cmd"], expected);
        assert!(composed.hooks[0].warnings[0].contains("only to judge what others made"));
        assert!(composed.hooks[0].rewrote);

        let hooks = hooks.into_iter().map(transform).collect();
        let composed = verdict(hooks, Event::ToolInputTransform, &call("ls")).await;
        assert_eq!(
            composed.updated_input.unwrap()["cmd"],
            expected,
            "every hook is a rewriter there"
        );
    }
    // What it allowed together with a rewrite that is ignored is not allowed.
    let allow =
        json!({"decision": "allow", "hook_specific_output": {"updated_input": {"cmd": "a"}}});
    let allow = Hook { phase: Phase::Mutate, ..say(PreToolUse, &allow) };
    let verdict = verdict(vec![allow, mutator("set_cmd", &["b"])], PreToolUse, &call("x")).await;
    assert_eq!(
        (verdict.decision, verdict.updated_input.unwrap()["cmd"].clone()),
        (None, json!("b"))
    );
}

#[tokio::test]
async fn a_hook_that_is_asked_again_is_told_so() {
    let seen: Arc<Mutex<Vec<(String, String, bool)>>> = Arc::default();
    let mut registry = registry();
    let notes = Arc::clone(&seen);
    registry.register_builtin(
        "note",
        Builtin::inline(move |input: &Input, args: &[String]| {
            let command =
                input.lookup(&["tool_input", "cmd"]).unwrap().as_str().unwrap().to_owned();
            notes.lock().unwrap().push((args[0].clone(), command, input.repeated));
            Ok::<_, String>(None)
        }),
    );
    let first = mutator("note", &["first"]);
    let mut counter = mutator("note", &["counter"]);
    counter.when = condition("{ field: repeated, exists: false }");
    let guard = hook(PreToolUse, "note", &["guard"]);
    let hooks = vec![first, counter, mutator("append", &[]), guard];
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    // What the caller says of it means nothing.
    let input = Input { repeated: true, ..call("ls") };
    let _ = executor.dispatch(PreToolUse, &input).await;
    let note =
        |name: &str, command: &str, repeated| (name.to_owned(), command.to_owned(), repeated);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            note("first", "ls", false),
            note("counter", "ls", false),
            note("first", "lsx", true),
            note("guard", "lsx", false)
        ]
    );
}

#[tokio::test]
async fn a_rename_takes_no_guard_out_of_the_event() {
    let rename = |name: &str, phase| {
        let answer = json!({"hook_specific_output": {"updated_tool_name": name}});
        Hook { phase, ..say(PreToolUse, &answer) }
    };
    let guard = |matcher: &str| {
        let mut guard = say(PreToolUse, &json!({"decision": "deny", "reason": "guarded"}));
        guard.matcher = Matcher::new(matcher).unwrap();
        guard
    };
    let mut input = Input::for_tool("Bash", JsonObject::new());
    input.tool_kinds = vec!["shell".into()];
    for phase in [Phase::Mutate, Phase::Validate] {
        for (name, matcher) in [
            ("PowerShell", "shell"),
            ("mcp__kit__say", "mcp"),
            // It matched before.
            ("danger", "shell"),
            ("danger", "Bash"),
        ] {
            let hooks = vec![rename(name, phase), guard(matcher)];
            let denied = verdict(hooks, PreToolUse, &input).await;
            assert_eq!(denied.message.as_deref(), Some("guarded"), "{name} {matcher} {phase:?}");
        }
        // No tool has such a name.
        for name in ["", "B\0", "a\nb"] {
            let denied = verdict(vec![rename(name, phase)], PreToolUse, &input).await;
            assert_eq!(denied.decision, Some(Decision::Deny), "{name:?} {denied:?}");
            assert_eq!(denied.updated_tool_name, None);
        }
    }
    // A denial of the first round stays, whatever its hook says of the new name.
    let mut of_the_old_name = hook(PreToolUse, "deny_tool", &["Bash"]);
    of_the_old_name.matcher = Matcher::new("*").unwrap();
    let verdict =
        verdict(vec![rename("ls", Phase::Validate), of_the_old_name], PreToolUse, &input).await;
    assert_eq!(verdict.decision, Some(Decision::Deny));
}

#[tokio::test]
async fn what_a_mutator_told_with_its_rewrite_stays_told() {
    // It wants to be asked about what it changed, and has nothing to say of what is changed already.
    let first = mutator("trash", &["ask"]);
    let second = say(
        PreToolUse,
        &json!({"hook_specific_output": {"updated_input": {"n": 1}, "additional_context": "b"}}),
    );
    let verdict = verdict(vec![first, second], PreToolUse, &call("rm x")).await;
    assert_eq!(verdict.decision, Some(Decision::Ask));
    assert_eq!(verdict.message.as_deref(), Some("changed"));
    assert_eq!(verdict.additional_context.as_deref(), Some("moved to the trash\nb"));
    assert!(verdict.system_message.unwrap().starts_with("look\n"));
    let expected = json!({"cmd": "trash x", "cwd": "/tmp", "n": 1});
    assert_eq!(verdict.updated_input, Some(object(expected)));
}

#[tokio::test]
async fn a_redactor_that_fails_only_when_it_judges_redacts_again_in_the_next_round() {
    let event = Event::ToolResponseTransform;
    let mut registry = registry();
    // As `grep` does: it fails where there is nothing to find.
    let redact = |input: &Input, _: &[String]| match input.tool_response.as_ref() {
        Some(Value::String(text)) if text.contains("SECRET") => {
            Ok(Some(Output::tool_response(text.replace("SECRET", "***"))))
        }
        _ => Err("nothing found".to_owned()),
    };
    let adds = |input: &Input, args: &[String]| {
        let text = input.tool_response.as_ref().and_then(Value::as_str).unwrap_or_default();
        let is_new = !text.contains(&args[0]);
        Ok::<_, String>(is_new.then(|| Output::tool_response(format!("{text} {}", args[0]))))
    };
    registry.register_builtin("redact", Builtin::inline(redact));
    registry.register_builtin("adds", Builtin::inline(adds));
    let redactor = Hook { on_error: Some(OnError::Warn), ..hook(event, "redact", &[]) };
    let hooks = vec![redactor, hook(event, "adds", &["note"]), hook(PostToolUse, "adds", &["fmt"])];
    let config = Config { hooks, ..Config::default() };
    let executor = Executor::builder(config).registry(registry).build().unwrap();
    let input = Input { tool_response: Some(json!("SECRET")), ..call("ls") };
    let decided =
        executor.run_moment(&[event, PostToolUse], &input, DispatchOptions::default()).await;
    let response = decided.verdict.updated_tool_response.unwrap();
    assert_eq!(response, json!("*** fmt note"));
}
