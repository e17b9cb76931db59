//! Calls a shipped builtin as a hook would, in surroundings made for the test.

use hookexec::{Input, Output};
use hookexec_builtins::{Shipped, shipped};
use hookexec_calls::Surroundings;

/// Surroundings with nothing in them but a clock that stands still.
pub(crate) fn nowhere() -> Surroundings {
    Surroundings::of_process()
        .with_env::<&str, &str>([])
        .with_time("2026-03-21T03:30:00.25+09:00[+09:00]")
        .unwrap()
}

pub(crate) fn builtin(name: &str) -> &'static Shipped {
    shipped().find(|builtin| builtin.name == name).unwrap()
}

pub(crate) fn args(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// Runs a builtin once.
pub(crate) fn run(name: &str, arguments: &[&str], input: &Input) -> Option<Output> {
    run_in(&nowhere(), name, arguments, input)
}

pub(crate) fn run_in(
    surroundings: &Surroundings,
    name: &str,
    arguments: &[&str],
    input: &Input,
) -> Option<Output> {
    builtin(name).prepare(surroundings, &args(arguments)).unwrap()(input).unwrap()
}

/// Returns why a builtin refuses its arguments.
pub(crate) fn refused(name: &str, arguments: &[&str]) -> String {
    builtin(name).prepare(&nowhere(), &args(arguments)).err().unwrap().to_string()
}

/// Returns an input from its JSON.
pub(crate) fn input(json: serde_json::Value) -> Input {
    serde_json::from_value(json).unwrap()
}
