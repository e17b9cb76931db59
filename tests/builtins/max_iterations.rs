//! `max_iterations`.

use hookexec::wire::StopScope;
use hookexec::{Decision, Input};
use serde_json::json;

use crate::support::{builtin, input, nowhere, refused, run};

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
