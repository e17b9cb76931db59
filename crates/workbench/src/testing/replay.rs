//! Tells how another configuration would have decided recorded events.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize as _, Serialize};

use super::keys::Stub;
use super::stand_in::{Answers, executor};
use crate::records::word;
use hookexec::config::{Config, Diagnostics, Hook, SideEffects};
use hookexec::executor::Executor;
use hookexec::handler::{Exited, Failure, HandlerError, HandlerResult};
use hookexec::registry::Registry;
use hookexec::wire::{Decision, HookReport, HookStatus, Input, Output, Verdict};
use hookexec_agents::Subject;
use hookexec_builtins::builtins::Shipped;
use hookexec_files::locks::locked;
use hookexec_project::log::{Record, rewritten};

/// Runs events of the past through a candidate configuration.
///
/// Hooks whose `side_effects` are `external`, the default, do not run: they give the answer that is
/// recorded of the hook of the same name. If none is recorded, or if that hook rewrote something, the
/// event could not run, unless it is denied without it. Builtins that only look run.
pub struct Replay {
    executor: Executor,
    answers: Arc<Mutex<Answers>>,
}

/// How a recorded event went.
#[derive(Debug, Clone, PartialEq)]
pub enum Replayed {
    /// The result is the same.
    Passed,
    /// Something else comes out.
    Failed {
        /// The change.
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
pub enum Change {
    /// The decision: `deny`, `allow`, `ask` or `none`, before and after.
    Decision(&'static str, &'static str),
    /// The decision is the same, and what is rewritten is not.
    Rewrite,
}

impl Replay {
    /// Returns a replay with the candidate `config`, whose hooks run in `working_dir` and whose own
    /// log is left alone. Those hooks run that `runs` names.
    ///
    /// # Errors
    /// When no executor can be built of it.
    pub fn new(
        config: Config,
        working_dir: &Path,
        registry: Registry,
        runs: fn(&Hook) -> bool,
    ) -> Result<Self, Diagnostics> {
        let answers = Arc::new(Mutex::new(Answers::default()));
        let builder = executor(config, working_dir, registry, &answers, move |hook| !runs(hook));
        Ok(Self { executor: builder.blocking().build()?, answers })
    }

    /// Runs one recorded event, and compares what comes out with the record.
    pub async fn run(&self, record: &Record) -> Replayed {
        let input = match input_of(record) {
            Ok(input) => input,
            Err(why) => return Replayed::CouldNotRun(vec![why.to_owned()]),
        };
        let subject = Subject::Own(record.event, Box::new(input));
        let (verdict, missing) = self.decide(&subject, answers_of(record)).await;
        let is_denied = verdict.decision == Some(Decision::Deny);
        if !missing.is_empty() && !is_denied {
            return Replayed::CouldNotRun(missing.iter().map(|hook| not_recorded(hook)).collect());
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

    /// Judges an event of which no answers are recorded. Returns the verdict, and the hooks that did not
    /// run.
    pub async fn judge(&self, subject: &Subject) -> (Verdict, BTreeSet<String>) {
        self.decide(subject, Answers::default()).await
    }

    async fn decide(&self, subject: &Subject, answers: Answers) -> (Verdict, BTreeSet<String>) {
        *locked(&self.answers) = answers;
        let verdict = subject.dispatch(&self.executor).await;
        (verdict, std::mem::take(&mut locked(&self.answers).missing))
    }
}

/// Returns whether a hook starts no program, has no side effects and sends nothing away.
pub fn is_self_contained(hook: &Hook) -> bool {
    match hook.kind.as_str() {
        "rule" => true,
        "builtin" => Shipped::of_hook(hook).is_some_and(Shipped::only_looks),
        _ => false,
    }
}

/// Returns whether a hook has no side effects and sends nothing away: what it is, and what the file
/// says of its program.
pub fn stays_here(hook: &Hook) -> bool {
    let is_program = matches!(hook.kind.as_str(), "command" | "process");
    is_self_contained(hook) || is_program && hook.side_effects != SideEffects::External
}

/// Returns whether a hook has no side effects.
pub fn only_looks(hook: &Hook) -> bool {
    let is_declared = hook.key_locations.get("side_effects").is_some();
    if hook.kind == "rule" || hook.kind == "builtin" && !is_declared {
        return is_self_contained(hook);
    }
    hook.side_effects != SideEffects::External
}

fn not_recorded(hook: &str) -> String {
    format!(
        "the answer of {hook} is not recorded, and it has side effects and did not run; declare `side_effects: none`, or use `--run-external`"
    )
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

/// Returns what each hook of a record answered.
fn answers_of(record: &Record) -> Answers {
    let mut answers = Answers::default();
    for report in &record.hooks {
        match report.status {
            HookStatus::Skipped => {}
            HookStatus::Failed => {
                let cause = report.error.clone().unwrap_or_default();
                let failure = Err(HandlerError::new(Failure::Other, cause));
                answers.add(&report.name, Some(&failure));
            }
            // The candidate's `on_error` judges it.
            HookStatus::Error => answers.add(&report.name, Some(&Ok(exited(report)))),
            _ => answers.add(&report.name, answer_of(report).as_ref()),
        }
    }
    answers
}

fn exited(report: &HookReport) -> HandlerResult {
    let code = report.exit_code.unwrap_or(1);
    let error = report.error.as_deref().unwrap_or_default();
    let stderr = error.strip_prefix(&format!("exit code {code}")).unwrap_or(error);
    Exited::new(code, Vec::new(), stderr.trim_start_matches([':', ' ']).into()).into()
}

/// Returns what a hook answered; `None` if it rewrote something, of which only the result of all hooks
/// together is recorded.
fn answer_of(report: &HookReport) -> Option<Stub> {
    if report.rewrote {
        return None;
    }
    let mut output = Output::default();
    (output.decision, output.reason) = (report.decision, report.reason.clone());
    Some(Ok(Some(output).into()))
}
