//! `allow_tools`, `deny_tools`, `max_iterations`.

use hookexec::wire::{Decision, Input, Output, StopScope};
use serde_json::json;

use crate::support::{builtin, input, nowhere, refused, run};

fn call(tool: &str) -> Input {
    Input::for_tool(tool, serde_json::Map::new())
}

fn decision(output: Option<Output>) -> Option<Decision> {
    output.and_then(|output| output.decision)
}

#[test]
fn allow_tools_denies_what_is_not_listed_and_approves_nothing() {
    let list = ["read_file|grep", "mcp__docs__.*"];
    for tool in ["read_file", "grep", "mcp__docs__search"] {
        assert_eq!(run("allow_tools", &list, &call(tool)), None, "{tool}");
    }
    for tool in ["shell", "read_file2", "Read_File", "xmcp__docs__a", ""] {
        assert_eq!(
            decision(run("allow_tools", &list, &call(tool))),
            Some(Decision::Deny),
            "{tool}"
        );
    }
    assert_eq!(
        run("allow_tools", &list, &call("shell")).unwrap().reason.unwrap(),
        "tool `shell` is not on the list of allowed tools: `read_file|grep`, `mcp__docs__.*`"
    );
}

#[test]
fn deny_tools_denies_what_is_listed_and_a_call_without_a_name() {
    let list = ["shell|bash", ".*__delete_.*"];
    for tool in [
        "shell", "mcp__x__delete_repo", "", "shell\n", " shell", "a\u{9b}b", "she\u{200b}ll",
        "shell\u{fe0f}", "mcp__x\n__delete_repo", "mcp__x__delete_repo\n",
    ] {
        assert_eq!(decision(run("deny_tools", &list, &call(tool))), Some(Decision::Deny), "{tool}");
    }
    assert_eq!(run("deny_tools", &list, &call("shell2")), None);
    assert_eq!(decision(run("deny_tools", &list, &Input::default())), Some(Decision::Deny));
}

#[test]
fn neutral_kinds_count_for_both_lists() {
    let call = |kinds: &[&str]| input(json!({ "tool_name": "Tool", "tool_kinds": kinds }));
    for (kinds, list, allowed, denied) in [
        (&["shell"][..], &["shell"][..], true, true),
        (&["edit", "write"], &["edit"], false, true),
        (&["edit", "write"], &["edit|write"], true, true),
        (&["mcp", "mcp__a__b"], &["mcp__a__.*"], true, true),
        (&["mcp", "mcp__a__b"], &["mcp"], true, true),
        // A name that can be cut in two ways.
        (&["mcp", "mcp__a__b_c", "mcp__a_b__c"], &["mcp__a__.*"], false, true),
        (&["mcp", "mcp__a__b_c", "mcp__a_b__c"], &["mcp__a__.*", "mcp__a_b__.*"], true, true),
        (&[], &["shell"], false, false),
    ] {
        assert_eq!(run("allow_tools", list, &call(kinds)).is_none(), allowed, "{kinds:?} {list:?}");
        assert_eq!(run("deny_tools", list, &call(kinds)).is_some(), denied, "{kinds:?} {list:?}");
    }
}

#[test]
fn a_list_that_lists_nothing_is_refused() {
    for name in ["allow_tools", "deny_tools"] {
        assert_eq!(refused(name, &[]), "it needs at least one tool name or pattern");
        assert_eq!(refused(name, &["a", " "]), "a pattern is empty; write `.*` for every tool");
        assert!(refused(name, &["a("]).contains("`a(` is not a valid regular expression"));
    }
}

#[test]
fn max_iterations_ends_the_turn_after_n_model_calls() {
    for iteration in [1, 3] {
        assert_eq!(run("max_iterations", &["3"], &input(json!({ "iteration": iteration }))), None);
    }
    let output = run("max_iterations", &["3"], &input(json!({ "iteration": 4 }))).unwrap();
    assert_eq!(output.decision, Some(Decision::Deny));
    assert_eq!(output.stop.unwrap().scope, StopScope::Turn);
    assert_eq!(output.reason.unwrap(), "the turn has made 3 model calls, which is the limit");
}

#[test]
fn max_iterations_that_cannot_count_says_so() {
    let prepared = builtin("max_iterations").prepare(&nowhere(), &["3".to_owned()]).unwrap();
    let error = prepared(&Input::default()).unwrap_err();
    assert!(error.to_string().contains("has no `iteration`"), "{error}");
    assert_eq!(refused("max_iterations", &[]), "it needs the number of model calls, `N`");
    for n in ["0", "-1", "x", "1.5"] {
        let error = refused("max_iterations", &[n]);
        assert_eq!(error, format!("N must be a whole number of at least 1, found `{n}`"));
    }
}

#[test]
fn a_tool_that_is_called_like_its_kind_is_not_allowed_by_its_other_kinds() {
    // Kiro's `write` also edits; its own name is not among its kinds.
    let call = input(json!({ "tool_name": "write", "tool_kinds": ["edit"] }));
    assert_eq!(decision(run("allow_tools", &["edit"], &call)), Some(Decision::Deny));
    assert_eq!(run("allow_tools", &["edit", "write"], &call), None);
}
