//! What another configuration would have decided.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize as _, Serialize};

use super::stub::{self, executor};
use crate::records::word;
use hookexec::config::{Config, Diagnostics, Hook, SideEffects};
use hookexec::event::Event;
use hookexec::executor::Executor;
use hookexec::handler::{Failure, HandlerError, HandlerResult};
use hookexec::internal::audit::{Record, rewritten};
use hookexec::internal::builtins::Shipped;
use hookexec::internal::locked;
use hookexec::wire::{Decision, HookReport, HookStatus, Input, InputChange, Output, Verdict};

/// Runs recorded events through a candidate configuration.
///
/// Hooks whose `side_effects` are `external`, which they are when nothing is said, do not run: they
/// give the answer that is recorded of the hook of the same name. Where there is none, what would
/// come out is unknown, unless the event is denied without it. Builtins that only look run.
#[derive(Debug)]
pub(crate) struct Replay {
    executor: Executor,
    recorded: Arc<Recorded>,
}

/// What became of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Replayed {
    /// The same comes out.
    Same,
    /// Something else comes out.
    Changed {
        /// What.
        change: Change,
        /// The reasons now.
        message: Option<String>,
    },
    /// It can't be said without the answers of these hooks.
    Unknown(Vec<String>),
    /// Why the record can't be replayed: its input was not recorded, or cut.
    LeftOut(&'static str),
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
        let (verdict, unsaid) = match self.decide(record).await {
            Ok(decided) => decided,
            Err(replayed) => return replayed,
        };
        let change = if record.decision != verdict.decision {
            Change::Decision(word(record.decision), word(verdict.decision))
        } else if unsaid.is_empty() && rewrites_differ(record, &verdict) {
            Change::Rewrite
        } else if !unsaid.is_empty() && record.decision != Some(Decision::Deny) {
            return Replayed::Unknown(unsaid);
        } else {
            return Replayed::Same;
        };
        Replayed::Changed { change, message: verdict.message }
    }

    /// Returns the verdict, and the hooks that rewrote what is not recorded.
    async fn decide(&self, record: &Record) -> Result<(Verdict, Vec<String>), Replayed> {
        let unfit = |why| Err(Replayed::LeftOut(why));
        if record.event == Event::Approval {
            return unfit("a person is not asked again");
        }
        if record.input_cut {
            return unfit("its input was too long to be recorded whole");
        }
        let Some(input) = &record.input else { return unfit("its input was not recorded") };
        let Ok(input) = Input::deserialize(input) else {
            return unfit("its input can't be read");
        };
        self.recorded.load(record);
        let verdict = self.executor.dispatch(record.event, &input).await;
        let (unknown, unsaid) = self.recorded.used();
        if !unknown.is_empty() && verdict.decision != Some(Decision::Deny) {
            return Err(Replayed::Unknown(unknown));
        }
        Ok((verdict, unsaid))
    }
}

/// Returns whether the rewrites differ; those of a denied event do not count.
fn rewrites_differ(record: &Record, verdict: &Verdict) -> bool {
    if verdict.decision == Some(Decision::Deny) {
        return false;
    }
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
    /// By the name of the hook; `None` if two hooks of one name answered differently.
    answers: HashMap<String, Option<Answer>>,
    /// Hooks whose answers were wanted and are not recorded.
    unknown: BTreeSet<String>,
    /// Hooks that rewrote something, which is not recorded.
    unsaid: BTreeSet<String>,
}

/// What a hook answered, as far as a record tells. The candidate's `on_error` judges its errors and
/// failures.
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    given: Result<HandlerResult, HandlerError>,
    /// Whether it rewrote something that is not recorded.
    rewrote_more: bool,
}

impl Answer {
    fn of(report: &HookReport, record: &Record) -> Option<Self> {
        let error = report.error.clone().unwrap_or_default();
        let mut rewrote_more = false;
        let given = match report.status {
            HookStatus::Skipped => return None,
            HookStatus::Failed => Err(HandlerError::new(Failure::Other, error)),
            HookStatus::Error => {
                let code = report.exit_code.unwrap_or(1);
                let said = format!("exit code {code}");
                let stderr = error.strip_prefix(&said).unwrap_or(&error);
                let stderr = stderr.trim_start_matches([':', ' ']).into();
                Ok(HandlerResult::exited(code, Vec::new(), stderr))
            }
            _ => {
                let mut output = Output::default();
                (output.decision, output.reason) = (report.decision, report.reason.clone());
                output.updated_input = rewrite_of(report, record);
                let nobody = record.hooks.iter().all(|report| !report.rewrote);
                let rewrote = report.rewrote || (nobody && !record.rewritten.is_empty());
                rewrote_more = rewrote && output.updated_input.is_none();
                Ok(Some(output).into())
            }
        };
        Some(Self { given, rewrote_more })
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
        for report in &record.hooks {
            let Some(answer) = Answer::of(report, record) else { continue };
            let known = state.answers.entry(report.name.clone());
            let known = known.or_insert_with(|| Some(answer.clone()));
            if known.as_ref() != Some(&answer) {
                *known = None;
            }
        }
        *locked(&self.0) = state;
    }

    fn answer(&self, name: &str) -> Result<HandlerResult, HandlerError> {
        let mut state = locked(&self.0);
        let Some(Answer { given, rewrote_more }) = state.answers.get(name).cloned().flatten()
        else {
            state.unknown.insert(name.to_owned());
            return Ok(HandlerResult::from(None));
        };
        if rewrote_more {
            state.unsaid.insert(name.to_owned());
        }
        given
    }

    /// Returns the hooks whose answers were wanted and are not recorded, and those of whose answers
    /// a rewrite is not.
    fn used(&self) -> (Vec<String>, Vec<String>) {
        let state = locked(&self.0);
        (state.unknown.iter().cloned().collect(), state.unsaid.iter().cloned().collect())
    }
}
