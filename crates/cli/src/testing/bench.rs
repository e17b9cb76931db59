//! Runs cases against a configuration.

use crate::moment::reports_of;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::case::Case;
use super::compare::{Difference, differences};
use super::coverage::{Coverage, CoverageReport};
use super::stub::executor;
use hookexec::Executor;
use hookexec::config::{Config, Diagnostic, Diagnostics, Hook};
use hookexec::internal::{Explanation, suggest};
use hookexec::wire::Verdict;

/// How long hooks in the background may go on after a case.
const PATIENCE: Duration = Duration::from_mins(2);

/// A configuration under test.
#[derive(Debug)]
pub(crate) struct Bench {
    config: Config,
    working_dir: PathBuf,
    coverage: Coverage,
}

/// How a case went.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CaseReport {
    /// The case's name.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) source: String,
    /// Whether everything was as expected.
    pub(crate) passed: bool,
    /// What was not.
    pub(crate) differences: Vec<Difference>,
    /// The builtins that had no opinion, and why, if something was not as expected.
    pub(crate) no_opinions: Vec<NoOpinion>,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: f64,
    /// What came out.
    pub(crate) verdict: Verdict,
}

/// A builtin that had no opinion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NoOpinion {
    /// Its name.
    pub(crate) hook: String,
    /// Where it is configured.
    pub(crate) source: String,
    /// Why it had none.
    pub(crate) why: String,
}

impl Bench {
    /// Returns a bench for `config`, whose hooks run in `working_dir`.
    ///
    /// # Errors
    /// When no executor can be built of it.
    pub(crate) fn new(
        config: Config,
        working_dir: impl Into<PathBuf>,
    ) -> Result<Self, Diagnostics> {
        let working_dir = working_dir.into();
        let executor = executor(config.clone(), &working_dir, |_| None)?;
        let coverage = Coverage::of(executor.hooks());
        Ok(Self { config, working_dir, coverage })
    }

    /// Returns what is wrong with a case: hooks that are named and not configured.
    pub(crate) fn problems(&self, case: &Case) -> Diagnostics {
        let known: Vec<String> = self.config.hooks.iter().map(Hook::label).collect();
        let stubs = case.stubs.iter().map(|(name, location, _)| (name, location));
        let expected = case.expect.named_hooks().map(|(name, location)| (name, location));
        let mut problems = Diagnostics::default();
        for (name, location) in stubs.chain(expected).filter(|(name, _)| !known.contains(name)) {
            let configured = known.iter().map(String::as_str);
            let hint = suggest::hint_or_list(name, configured, "configured are:");
            let message = format!("no hook is called `{name}`");
            problems.push(Diagnostic::error(message).at(location.clone()).hint(hint));
        }
        problems
    }

    /// Runs one case that has no [`problems`](Self::problems).
    ///
    /// # Errors
    /// When no executor can be built.
    pub(crate) async fn run(&mut self, case: &Case) -> Result<CaseReport, Diagnostics> {
        let stubs = case.stubs.clone();
        let executor = executor(self.config.clone(), &self.working_dir, move |hook| {
            let (.., stub) = stubs.iter().find(|(name, ..)| *name == hook.label())?.clone();
            Some(Box::new(move || stub.clone()))
        })?;
        let started = Instant::now();
        let verdict = case.moment.dispatch(&executor).await;
        let duration = started.elapsed();
        executor.shutdown(PATIENCE).await;

        let explanations = case.moment.explain(&executor);
        self.coverage.observe(&explanations, &verdict);
        let differences = differences(&case.expect, &verdict);
        let no_opinions = match &*differences {
            [] => Vec::new(),
            _ => no_opinions(case, &executor, &explanations, &verdict),
        };
        Ok(CaseReport {
            name: case.name.clone(),
            source: case.location.to_string(),
            passed: differences.is_empty(),
            differences,
            no_opinions,
            duration_ms: (duration.as_secs_f64() * 1e6).round() / 1e3,
            verdict,
        })
    }

    /// Returns what the cases reached so far.
    pub(crate) fn coverage(&self) -> CoverageReport {
        self.coverage.report()
    }
}

/// Returns which builtins had no opinion, and why; those in whose place a stub answered are left
/// out.
fn no_opinions(
    case: &Case,
    executor: &Executor,
    explanations: &[Explanation],
    verdict: &Verdict,
) -> Vec<NoOpinion> {
    let reports = reports_of(explanations, verdict);
    let answered = explanations.iter().zip(reports).filter_map(|(it, report)| Some((it, report?)));
    let is_stub = |hook: &str| case.stubs.iter().any(|(name, ..)| name == hook);
    let found = answered.filter(|(it, _)| !is_stub(&it.name)).filter_map(|(it, report)| {
        let why = case.moment.why_no_opinion(executor, it, report, verdict)?;
        Some(NoOpinion { hook: it.name.clone(), source: it.source.clone(), why })
    });
    found.collect()
}
