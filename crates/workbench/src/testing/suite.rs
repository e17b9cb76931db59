//! Runs files of cases against the hooks files they are for, and compares each result with the expected one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::cases::{Case, CaseFile};
use super::coverage::{Coverage, Goals, note};
use super::keys::{DecisionWord, Expectation, ExpectedArguments, Names};
use super::replay::{Answers, executor};
use crate::explain::why_no_opinion;
use crate::records::word;
use hookexec::config::{Diagnostic, Diagnostics, Hook};
use hookexec::wire::{HookStatus, JsonObject};
use hookexec::{Config, Registry, Verdict};
use hookexec_files::{files, suggest};

/// Files of cases, and the configurations they are for.
#[derive(Default)]
pub struct Suite {
    benches: Vec<Bench>,
}

/// A configuration under test.
struct Bench {
    /// The real paths of its hooks files, by which the same files are recognized.
    identity: Vec<PathBuf>,
    /// Its hooks files, joined by commas.
    name: String,
    config: Config,
    /// The cases for it.
    files: Vec<CaseFile>,
    /// The goals that the cases reached, for each of its hooks.
    goals: Vec<Goals>,
}

/// Everything that came out.
#[derive(Debug, Default, Serialize)]
pub struct Results {
    /// How many cases passed.
    pub passed: usize,
    /// How many cases failed.
    pub failed: usize,
    /// The cases by file.
    pub files: Vec<FileResults>,
    /// The coverage of each configuration.
    pub coverage: Vec<Coverage>,
    /// Whether everything that was demanded was reached.
    pub enough_coverage: bool,
    /// The percentage that was demanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_coverage: Option<u8>,
}

/// The cases of one file.
#[derive(Debug, Serialize)]
pub struct FileResults {
    /// The file.
    pub path: PathBuf,
    /// The hooks file; several are joined by commas.
    pub config: String,
    /// The results, in the order of the file.
    pub cases: Vec<CaseReport>,
}

/// How a case went.
#[derive(Debug, Clone, Serialize)]
pub struct CaseReport {
    /// The case's name.
    pub name: String,
    /// Where it is written.
    pub source: String,
    /// Its line, from 1.
    #[serde(skip)]
    pub line: usize,
    /// Whether everything was as expected.
    pub passed: bool,
    /// The expectations that were not met.
    pub differences: Vec<Difference>,
    /// Errors of hooks, and why a builtin had no opinion, if something was not as expected.
    pub notes: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// The verdict.
    pub verdict: Verdict,
}

impl Suite {
    /// Loads files of cases, and each configuration once.
    ///
    /// # Errors
    /// All problems of all files.
    pub fn load(paths: &[PathBuf]) -> Result<Self, Diagnostics> {
        let (mut suite, mut problems) = (Self::default(), Diagnostics::default());
        for path in paths {
            if let Err(found) = CaseFile::load(path).and_then(|file| suite.add(file)) {
                problems.extend(found);
            }
        }
        if problems.has_errors() { Err(problems) } else { Ok(suite) }
    }

    fn add(&mut self, file: CaseFile) -> Result<(), Diagnostics> {
        let identity: Vec<PathBuf> = file.configs.iter().map(|path| files::real(path)).collect();
        let known = self.benches.iter().position(|bench| bench.identity == identity);
        let place = known.unwrap_or(self.benches.len());
        if known.is_none() {
            let config = Config::load_files(&file.configs)?;
            let names: Vec<_> = file.configs.iter().map(|path| path.to_string_lossy()).collect();
            let goals = vec![Goals::default(); config.hooks.len()];
            let (name, files) = (names.join(", "), Vec::new());
            self.benches.push(Bench { identity, name, config, files, goals });
        }
        let bench = &mut self.benches[place];
        let problems = bench.unknown_hooks(&file);
        bench.files.push(file);
        if problems.has_errors() { Err(problems) } else { Ok(()) }
    }

    /// Runs the cases whose name contains `filter`. The hooks run in `working_dir`; their types are those
    /// of `registry`.
    ///
    /// # Errors
    /// When no executor can be built.
    pub async fn run(
        self,
        filter: Option<&str>,
        working_dir: &Path,
        registry: &Registry,
    ) -> Result<Results, Diagnostics> {
        let mut results = Results { enough_coverage: true, ..Results::default() };
        for mut bench in self.benches {
            for file in std::mem::take(&mut bench.files) {
                let mut cases = Vec::new();
                for case in &file.cases {
                    if filter.is_some_and(|part| !case.name.contains(part)) {
                        continue;
                    }
                    let report = bench.run(case, working_dir, registry).await?;
                    results.passed += usize::from(report.passed);
                    results.failed += usize::from(!report.passed);
                    cases.push(report);
                }
                let (path, config) = (file.path, bench.name.clone());
                results.files.push(FileResults { path, config, cases });
            }
            let coverage = Coverage::new(&bench.name, &bench.config.hooks, &bench.goals);
            results.coverage.push(coverage);
        }
        Ok(results)
    }
}

impl Results {
    /// Demands that the cases reached at least this many percent of each configuration.
    pub fn demand(&mut self, percent: u8) {
        self.min_coverage = Some(percent);
        self.enough_coverage = true;
        for coverage in &self.coverage {
            self.enough_coverage &= coverage.percent >= f64::from(percent);
        }
    }
}

impl Bench {
    /// Returns an error for each hook that a case names and that is not configured.
    fn unknown_hooks(&self, file: &CaseFile) -> Diagnostics {
        let known: Vec<String> = self.config.hooks.iter().map(Hook::label).collect();
        let mut problems = Diagnostics::default();
        for (name, location) in file.cases.iter().flat_map(Case::named_hooks) {
            if known.contains(name) {
                continue;
            }
            let configured = known.iter().map(String::as_str);
            let hint = suggest::hint_or_list(name, configured, "configured are:");
            let problem = Diagnostic::error(format!("no hook is called `{name}`"));
            problems.push(problem.at(location.clone()).hint(hint));
        }
        problems
    }

    async fn run(
        &mut self,
        case: &Case,
        working_dir: &Path,
        registry: &Registry,
    ) -> Result<CaseReport, Diagnostics> {
        let mut answers = Answers::default();
        let mut stubbed = Vec::new();
        for (name, _, stub) in &case.stubs.0 {
            answers.add(name, Some(stub));
            stubbed.push(name.clone());
        }
        let answers = Arc::new(Mutex::new(answers));
        let (config, registry) = (self.config.clone(), registry.clone());
        let executor = executor(config, working_dir, registry, &answers, move |hook| {
            stubbed.contains(&hook.label())
        });
        let executor = executor.build()?;
        let started = Instant::now();
        let (verdict, _) = case.subject.try_out(&executor, false).await;
        let duration = started.elapsed();
        // How long hooks in the background may go on after a case.
        executor.shutdown(Duration::from_mins(2)).await;

        note(&mut self.goals, &case.subject.explain(&executor), &verdict);
        let differences = differences(&case.expect, &verdict);
        let passed = differences.is_empty();
        Ok(CaseReport {
            name: case.name.clone(),
            source: case.location.to_string(),
            line: case.location.line(),
            passed,
            differences,
            notes: if passed { Vec::new() } else { notes(case, &verdict) },
            duration_ms: (duration.as_secs_f64() * 1e6).round() / 1e3,
            verdict,
        })
    }
}

/// Returns the errors and silences of hooks, which often say why a case failed.
fn notes(case: &Case, verdict: &Verdict) -> Vec<String> {
    let mut notes = Vec::new();
    for hook in &verdict.hooks {
        let is_stubbed = case.stubs.0.iter().any(|(name, ..)| *name == hook.name);
        if let Some(error) = &hook.error {
            notes.push(format!("hook {} ({}): {error}", hook.name, hook.source));
        } else if let Some(why) = why_no_opinion(hook)
            && !is_stubbed
        {
            notes.push(format!("hook {} ({}): no opinion: {why}", hook.name, hook.source));
        }
    }
    notes
}

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// A key of `expect`.
    pub what: &'static str,
    /// The expected value.
    pub expected: String,
    /// The value that was found.
    pub found: String,
}

/// Returns everything about `verdict` that is not as expected.
pub(super) fn differences(expect: &Expectation, verdict: &Verdict) -> Vec<Difference> {
    let mut pairs = Vec::new();
    if let Some(DecisionWord(decision)) = expect.decision {
        pairs.push(("decision", word(decision).to_owned(), word(verdict.decision).to_owned()));
    }
    if let Some(allowed) = expect.allowed {
        pairs.push(("allowed", allowed.to_string(), verdict.allowed.to_string()));
    }
    if let Some(ExpectedArguments(expected)) = &expect.updated_input {
        let updated = arguments(verdict.updated_input.as_ref());
        pairs.push(("updated_input", arguments(expected.as_ref()), updated));
    }
    let mut ran = Vec::new();
    for report in &verdict.hooks {
        if report.status != HookStatus::Skipped {
            ran.push(report.name.clone());
        }
    }
    for name in expect.not_run.iter().flat_map(names) {
        if ran.contains(&name) {
            pairs.push(("not_run", format!("`{name}` does not run"), format!("`{name}` ran")));
        }
    }
    for (what, expected, found) in
        [("ran", &expect.ran, &ran), ("failed_open", &expect.failed_open, &verdict.failed_open)]
    {
        if let Some(expected) = expected {
            pairs.push((what, listed(names(expected)), listed(found.clone())));
        }
    }
    pairs.retain(|(_, expected, found)| expected != found);
    for (what, expected, found) in [
        ("message", &expect.message, &verdict.message),
        ("additional_context", &expect.additional_context, &verdict.additional_context),
        ("system_message", &expect.system_message, &verdict.system_message),
    ] {
        if let Some(expected) = expected
            && !expected.holds(found.as_deref())
        {
            let found = found.as_deref().unwrap_or("nothing").to_owned();
            pairs.push((what, expected.to_string(), found));
        }
    }
    let mut differences = Vec::new();
    for (what, expected, found) in pairs {
        differences.push(Difference { what, expected, found });
    }
    differences
}

fn arguments(value: Option<&JsonObject>) -> String {
    match value {
        None => "not changed".to_owned(),
        Some(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}

fn names(names: &Names) -> Vec<String> {
    names.0.iter().map(|(name, _)| name.clone()).collect()
}

fn listed(mut names: Vec<String>) -> String {
    names.sort_unstable();
    if names.is_empty() { "no hook".to_owned() } else { names.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::super::keys::ExpectedText;
    use super::*;
    use hookexec::{Decision, Event};

    #[test]
    fn what_is_as_expected_is_not_named() {
        let mut verdict = Verdict::denied(Event::PreToolUse, "one\ntwo");
        verdict.additional_context = Some("context\n".into());
        let expect = Expectation {
            decision: Some(DecisionWord(Some(Decision::Deny))),
            allowed: Some(true),
            message: Some(ExpectedText::Is("one\nthree\n".into())),
            additional_context: Some(ExpectedText::Is("context".into())),
            system_message: Some(ExpectedText::Absent),
            ..Expectation::default()
        };
        let found = differences(&expect, &verdict);
        let what: Vec<&str> = found.iter().map(|difference| difference.what).collect();
        assert_eq!(what, ["allowed", "message"]);
        assert_eq!((&*found[1].expected, &*found[1].found), ("one\nthree\n", "one\ntwo"));
    }

    #[test]
    fn the_order_of_keys_is_no_difference_and_a_missing_rewrite_is_one() {
        let object = |text: &str| serde_json::from_str::<JsonObject>(text).unwrap();
        let mut verdict = Verdict::no_opinion(Event::PreToolUse);
        let expect = Expectation {
            updated_input: Some(ExpectedArguments(Some(object(
                r#"{"b": {"y": 1, "x": 2}, "a": 1}"#,
            )))),
            ..Expectation::default()
        };
        assert_eq!(differences(&expect, &verdict)[0].found, "not changed");
        verdict.updated_input = Some(object(r#"{"a": 1, "b": {"x": 2, "y": 1}}"#));
        assert_eq!(differences(&expect, &verdict), []);
    }
}
