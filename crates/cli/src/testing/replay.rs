//! What another configuration would have decided.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize as _, Serialize};

use super::case::Stub;
use super::stub::{self, executor};
use crate::records::word;
use hookexec::config::{Config, Diagnostics, Hook, SideEffects};
use hookexec::executor::Executor;
use hookexec::handler::{Failure, HandlerError, HandlerResult};
use hookexec::internal::audit::{Record, rewritten};
use hookexec::internal::builtins::Shipped;
use hookexec::internal::locked;
use hookexec::wire::{Decision, HookReport, HookStatus, Input, InputChange, Output, Verdict};

/// Runs recorded events through a candidate configuration.
///
/// Hooks whose `side_effects` are `external`, which they are when nothing is said, do not run: they
/// give the answer that is recorded of the hook of the same name. If it is not recorded, the event
/// could not run, unless it is denied without it. Builtins that only look run.
#[derive(Debug)]
pub(crate) struct Replay {
    executor: Executor,
    recorded: Arc<Recorded>,
}

/// How a recorded event went.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Replayed {
    /// The same comes out.
    Passed,
    /// Something else comes out.
    Failed {
        /// What.
        change: Change,
        /// The reasons now.
        message: Option<String>,
    },
    /// Nothing can be said, for these reasons.
    CouldNotRun(Vec<String>),
}

/// How a verdict changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    /// The decision: `deny`, `allow`, `ask` or `none`, before and after.
    Decision(&'static str, &'static str),
    /// The decision is the same, and what is rewritten is not.
    Rewrite,
}

impl Replay {
    /// Returns a replay with the candidate `config`, whose hooks run in `working_dir` and whose own
    /// log is left alone. Hooks with side effects run only if `run_external` says so.
    ///
    /// # Errors
    /// When no executor can be built of it.
    pub(crate) fn new(
        config: Config,
        working_dir: &Path,
        run_external: bool,
    ) -> Result<Self, Diagnostics> {
        let recorded = Arc::new(Recorded::default());
        let source = Arc::clone(&recorded);
        let executor = executor(config, working_dir, move |hook| {
            let runs = run_external || only_looks(hook);
            let (name, recorded) = (hook.label(), Arc::clone(&source));
            (!runs).then(|| Box::new(move || recorded.answer(&name)) as stub::Answer)
        })?;
        Ok(Self { executor, recorded })
    }

    /// Runs one recorded event, and compares what comes out with the record.
    pub(crate) async fn run(&self, record: &Record) -> Replayed {
        let input = match input_of(record) {
            Ok(input) => input,
            Err(why) => return Replayed::CouldNotRun(vec![why.to_owned()]),
        };
        self.recorded.load(record);
        let verdict = self.executor.dispatch(record.event, &input).await;
        let missing = self.recorded.missing();
        let is_denied = verdict.decision == Some(Decision::Deny);
        if !missing.is_empty() && !is_denied {
            return Replayed::CouldNotRun(missing);
        }
        let change = if record.decision != verdict.decision {
            Change::Decision(word(record.decision), word(verdict.decision))
        } else if !is_denied && rewrites_differ(record, &verdict) {
            Change::Rewrite
        } else {
            return Replayed::Passed;
        };
        Replayed::Failed { change, message: verdict.message }
    }
}

/// Returns the recorded input, or why there is none to run.
fn input_of(record: &Record) -> Result<Input, &'static str> {
    if record.input_cut {
        return Err("the input was too long to be recorded whole");
    }
    let Some(input) = &record.input else {
        return Err(
            "the input was not recorded; record it with `audit: { path: FILE, input: redacted }`",
        );
    };
    Input::deserialize(input).map_err(|_| "the recorded input can't be read")
}

/// Returns whether the rewrites of an event that is not denied differ.
fn rewrites_differ(record: &Record, verdict: &Verdict) -> bool {
    record.rewritten != rewritten(verdict)
        || (record.updated_input.is_some() && record.updated_input != verdict.updated_input)
}

fn only_looks(hook: &Hook) -> bool {
    let said = hook.key_locations.contains_key("side_effects");
    if !said && hook.kind == "builtin" {
        return Shipped::of_hook(hook).is_some_and(Shipped::only_looks);
    }
    hook.side_effects != SideEffects::External
}

/// The answers of the record that is replayed.
#[derive(Debug, Default)]
struct Recorded(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// By the name of the hook; `None` if the record does not tell the answer of the hook of this name.
    answers: HashMap<String, Option<Stub>>,
    /// Hooks whose answers were wanted and are not recorded.
    missing: BTreeSet<String>,
}

/// Returns what a hook answered; `None` if it rewrote what is not recorded. The candidate's
/// `on_error` judges its errors and failures.
fn answer_of(report: &HookReport, record: &Record) -> Option<Stub> {
    let error = report.error.clone().unwrap_or_default();
    match report.status {
        HookStatus::Failed => Some(Err(HandlerError::new(Failure::Other, error))),
        HookStatus::Error => {
            let code = report.exit_code.unwrap_or(1);
            let said = format!("exit code {code}");
            let stderr = error.strip_prefix(&said).unwrap_or(&error);
            let stderr = stderr.trim_start_matches([':', ' ']).into();
            Some(Ok(HandlerResult::exited(code, Vec::new(), stderr)))
        }
        _ => {
            let mut output = Output::default();
            (output.decision, output.reason) = (report.decision, report.reason.clone());
            output.updated_input = rewrite_of(report, record);
            let is_told = record.hooks.iter().any(|report| report.rewrote);
            let rewrote = report.rewrote || (!is_told && !record.rewritten.is_empty());
            if rewrote && output.updated_input.is_none() {
                return None;
            }
            Some(Ok(Some(output).into()))
        }
    }
}

/// Returns what a hook rewrote, when it alone did and it was the arguments: what came out is
/// recorded for all hooks together.
fn rewrite_of(report: &HookReport, record: &Record) -> Option<InputChange> {
    let counts = |report: &&HookReport| report.rewrote && report.mode.is_none();
    let only = record.hooks.iter().filter(counts).count() == 1 && counts(&report);
    if !only || record.rewritten != ["updated_input"] {
        return None;
    }
    let after = record.updated_input.as_ref()?;
    let before = record.input.as_ref()?.get("tool_input")?.as_object()?;
    if before.keys().any(|key| !after.contains_key(key)) {
        return Some(InputChange::Replace(after.clone()));
    }
    let changed = after.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    Some(InputChange::Patch(changed.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

impl Recorded {
    fn load(&self, record: &Record) {
        let mut state = State::default();
        for report in record.hooks.iter().filter(|report| report.status != HookStatus::Skipped) {
            let answer = answer_of(report, record);
            let known = state.answers.entry(report.name.clone()).or_insert_with(|| answer.clone());
            // Two hooks of one name answered differently.
            if *known != answer {
                *known = None;
            }
        }
        *locked(&self.0) = state;
    }

    fn answer(&self, name: &str) -> Stub {
        let mut state = locked(&self.0);
        if let Some(Some(answer)) = state.answers.get(name) {
            return answer.clone();
        }
        state.missing.insert(name.to_owned());
        Ok(HandlerResult::from(None))
    }

    /// Returns a reason for each hook whose answer was wanted and is not recorded.
    fn missing(&self) -> Vec<String> {
        let reason = |hook: &String| {
            format!(
                "{hook} has side effects and did not run; declare `side_effects: none`, or use `--run-external`"
            )
        };
        locked(&self.0).missing.iter().map(reason).collect()
    }
}
