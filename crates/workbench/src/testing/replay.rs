//! Tells how another configuration would have decided recorded events. For each hook that does not run
//! an answer stands in.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize as _, Serialize};

use super::keys::Stub;
use crate::records::word;
use hookexec::config::{Diagnostics, Hook, SideEffects};
use hookexec::wire::{HookReport, HookStatus};
use hookexec::{
    BoxFuture, Call, Config, Decision, Event, Executor, ExecutorBuilder, Exited, Failure, Handler,
    HandlerError, HandlerResult, Input, Output, Registry, Verdict,
};
use hookexec_agents::Subject;
use hookexec_builtins::Shipped;
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
        let (verdict, _) = subject.try_out(&self.executor, false).await;
        (verdict, std::mem::take(&mut locked(&self.answers).missing))
    }
}

/// Returns whether a hook starts no program, has no side effects and sends nothing away.
pub fn is_self_contained(hook: &Hook) -> bool {
    match hook.kind.as_str() {
        "rule" => true,
        "builtin" => Shipped::of_hook(hook).is_some_and(|builtin| builtin.only_looks),
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

/// The answers that stand in for hooks.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By the name of the hook; `None` if several hooks of this name answered differently.
    known: HashMap<String, Option<Stub>>,
    /// The hooks that were asked and have no answer here.
    pub(super) missing: BTreeSet<String>,
}

impl Answers {
    /// Adds the answer of a hook.
    pub(super) fn add(&mut self, hook: &str, answer: Option<&Stub>) {
        let known = self.known.entry(hook.to_owned()).or_insert_with(|| answer.cloned());
        if known.as_ref() != answer {
            *known = None;
        }
    }

    fn take(&mut self, hook: &str) -> Stub {
        if let Some(Some(answer)) = self.known.get(hook) {
            return answer.clone();
        }
        self.missing.insert(hook.to_owned());
        Ok(HandlerResult::from(None))
    }
}

/// Returns the builder of an executor that builds and checks every hook, and takes the answer from `answers` for
/// each that `is_replaced` names. The hook types are those of `registry`. It leaves no records and no counts behind.
pub(super) fn executor(
    mut config: Config,
    working_dir: &Path,
    mut registry: Registry,
    answers: &Arc<Mutex<Answers>>,
    is_replaced: impl Fn(&Hook) -> bool + Send + Sync + 'static,
) -> ExecutorBuilder {
    // The log is for real decisions.
    config.audit.clear();
    let answers = Arc::clone(answers);
    registry.wrap_handlers(move |hook, real| {
        if !is_replaced(hook) {
            return real;
        }
        Arc::new(StandIn { name: hook.label(), answers: Arc::clone(&answers), real })
    });
    let builder = Executor::builder(config).registry(registry);
    builder.working_dir(working_dir).counts_in_memory()
}

/// Answers for a hook, with its rights.
struct StandIn {
    name: String,
    answers: Arc<Mutex<Answers>>,
    real: Arc<dyn Handler>,
}

impl Handler for StandIn {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { locked(&self.answers).take(&self.name) })
    }

    fn refuses_response(&self, input: &Input) -> Option<String> {
        self.real.refuses_response(input)
    }

    fn rewrites(&self) -> bool {
        self.real.rewrites()
    }

    fn on_failure(&self, event: Event) -> Option<Output> {
        self.real.on_failure(event)
    }
}
