//! `hookexec check`: all that is wrong with the hooks files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookexec::config::{Diagnostic, Severity};
use hookexec::internal::{Check, ProcessCheck, WorstCase};
use hookexec::lifecycle::DeclaredEvents;
use hookexec::{Executor, Registry};
use hookexec_agents::{Agent, NativeEvent, events_of_host};
use serde_json::{Value, json};

use super::config::{ConfigArgs, Purpose, not_too_deep};
use super::error::NO_FILES;
use super::matchers;
use super::output::{self, PlainFormat};
use super::report::counted;
use super::runtime::{PATIENCE, Runtime};
use super::scripts::missing;
use super::{CommandError, Exit, from, install};

/// Checks the hooks files: every problem of every file at once
///
/// Exits with 0 when nothing is wrong or there are warnings only, and with 78 when there are errors
/// or no hooks file is found. Files with errors fail at every event. A file that is not approved is
/// a warning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec check hooks.yaml")]
pub(crate) struct Args {
    /// Only these hooks files, and the managed ones; does not look whether they are approved
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Warn about hooks that this host never calls, and about events that may take longer than it
    /// waits. HOST is a coding agent, `docker-agent` or `picoclaw`
    #[arg(long, value_name = "HOST", value_parser = events_of_host)]
    host: Option<DeclaredEvents>,

    /// Warn when the hooks of an event may take longer together [default: with a coding agent, what
    /// `install` sets]
    #[arg(long, value_name = "SECONDS", value_parser = from::seconds)]
    within: Option<Duration>,

    /// If nothing else is wrong, start every process and check that it completes the handshake
    #[arg(long)]
    start: bool,

    /// How to write the problems
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,
    #[command(flatten)]
    config: ConfigArgs,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let config = self.config.clone().only(&self.files);
        let options = config.options(Purpose::Run)?;
        let mut check = Executor::check(&options, Registry::with_shipped_builtins());
        if check.files.is_empty() && check.problems.is_empty() {
            return Err(CommandError::no_files());
        }
        if check.files.is_empty() && !check.problems.has_errors() {
            // All files are gone, or have another name: warnings alone would pass as checked.
            check.add([Diagnostic::error(NO_FILES)]);
        }
        if let Some(host) = &self.host {
            let unfired = host.unfired(check.configured());
            check.add(unfired);
        }
        let project = options.working_dir.unwrap_or_default();
        let commands = commands(&check, &project);
        check.add(commands);
        let misfits = self.misfits(&check, &project);
        check.add(misfits);
        check.add(late(&self.moments(&check.worst_cases), self.agent()));
        let mut processes = Vec::new();
        if self.start && !check.problems.has_errors() {
            processes = start(&config)?;
            check.add(processes.iter().filter_map(|process| {
                let problem = process.problem.as_ref()?;
                Some(Diagnostic::error(problem).at(process.location.clone()))
            }));
        }
        let count =
            |severity| check.problems.iter().filter(|problem| problem.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        match self.format {
            PlainFormat::Json => {
                output::print_json(&json(&check, errors, warnings, &processes))?;
            }
            PlainFormat::Text => {
                if !check.problems.is_empty() {
                    output::talk(&check.problems.render(true));
                }
                for process in processes.iter().filter(|process| process.problem.is_none()) {
                    let ProcessCheck { name, elapsed, .. } = process;
                    let text =
                        format!("process `{name}` completed the handshake within {elapsed:.0?}\n");
                    output::print(&text)?;
                }
                let (hooks, files) =
                    (counted(check.hooks, "hook"), counted(check.files.len(), "file"));
                let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
                output::print(&format!("{hooks} in {files}: {errors}, {warnings}\n"))?;
            }
        }
        Ok(if errors > 0 { Exit::Config } else { Exit::Success })
    }

    /// Returns the moments at which a caller waits, and how long.
    fn moments<'c>(&self, worst_cases: &'c [WorstCase]) -> Vec<Moment<'c>> {
        let Some(agent) = self.agent() else {
            let alone =
                |case| Some(Moment { native: None, cases: vec![case], limit: self.within? });
            return worst_cases.iter().filter_map(alone).collect();
        };
        let moment = |native: &'static NativeEvent| {
            // All of our events of one moment fire in turn, while the agent waits.
            let fires = native.fires(agent);
            let cases = worst_cases.iter().filter(|case| fires.contains(&case.event)).collect();
            let (_, usual) = install::limits(agent, native, install::TIMEOUT);
            let limit = self.within.unwrap_or(Duration::from_secs(usual));
            Moment { native: Some(native), cases, limit }
        };
        let mut moments: Vec<Moment<'_>> = agent.events().iter().map(moment).collect();
        // Some agents have an event for each kind of tool; the first stands for all.
        moments.dedup_by(|next, first| next.cases == first.cases);
        moments
    }

    /// Returns warnings of hooks whose matcher fits no tool of the host, or else of an agent in which
    /// hookexec is installed.
    fn misfits(&self, check: &Check, project: &Path) -> Vec<Diagnostic> {
        let agents: Vec<Agent> = match (&self.host, self.agent()) {
            (Some(_), agent) => agent.into_iter().collect(),
            (None, _) => matchers::installed(project).collect(),
        };
        let misfits = check.configured().filter_map(|hook| {
            let mut misfit = matchers::misfit(hook, &agents)?;
            misfit.message = format!("`{}`: {}", hook.label(), misfit.message);
            Some(misfit.at(hook.location.clone()))
        });
        misfits.collect()
    }

    /// Returns the coding agent that is the host.
    fn agent(&self) -> Option<Agent> {
        let host = self.host.as_ref()?;
        Agent::all().find(|agent| agent.title() == host.host())
    }
}

/// Starts every process, and stops it again.
fn start(config: &ConfigArgs) -> Result<Vec<ProcessCheck>, CommandError> {
    not_too_deep()?;
    let loaded = config.load(Purpose::Run)?;
    loaded.notices.warn();
    let executor = loaded.executor()?;
    Runtime::new()?.run(async {
        let checks = executor.check_processes().await;
        executor.shutdown(PATIENCE).await;
        checks
    })
}

/// Returns which programs and scripts of hooks are not there (they may be when the hook runs).
fn commands(check: &Check, project: &Path) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for hook in check.configured() {
        let place = hook.key_locations.get("command").unwrap_or(&hook.location);
        for problem in missing(hook, project) {
            problems.push(problem.at(place.clone()));
        }
    }
    problems
}

/// A moment at which a caller waits.
struct Moment<'c> {
    /// What the agent calls it.
    native: Option<&'static NativeEvent>,
    cases: Vec<&'c WorstCase>,
    limit: Duration,
}

impl Moment<'_> {
    /// Returns how long its hooks may take by their own timeouts; one without has the time that is
    /// left.
    fn time(&self) -> Duration {
        self.cases.iter().map(|case| case.stated_until_verdict()).sum()
    }

    fn told(&self) -> String {
        let names: Vec<String> =
            self.cases.iter().map(|case| format!("`{}`", case.event)).collect();
        let at = self.native.map(|native| format!(" at {}", native.name)).unwrap_or_default();
        format!("{:?}{at} ({})", self.time(), names.join(", "))
    }
}

/// Returns warnings of moments whose hooks may take too long, one for each limit.
fn late(moments: &[Moment<'_>], agent: Option<Agent>) -> Vec<Diagnostic> {
    let mut by_limit: BTreeMap<Duration, Vec<&Moment<'_>>> = BTreeMap::new();
    for moment in moments.iter().filter(|moment| moment.time() > moment.limit) {
        by_limit.entry(moment.limit).or_default().push(moment);
    }
    let warning = |(limit, moments): (Duration, Vec<&Moment<'_>>)| {
        let told: Vec<String> = moments.iter().map(|moment| moment.told()).collect();
        let problem = Diagnostic::warning(format!(
            "an answer is due within {limit:?}, and hooks may take longer together: {}",
            told.join(", ")
        ));
        let wait = agent.and_then(|agent| Some((agent, longer_wait(agent, &moments)?)));
        let mut hint =
            "a late answer counts as none. Lower the `timeout`, set a `deadline`".to_owned();
        if let Some((agent, wait)) = wait {
            let raise = format!("`hookexec install {agent} --timeout {wait}`");
            hint = format!("{hint}, or raise the agent's timeout: {raise}");
        }
        let problem = problem.hint(hint);
        match moments.first().and_then(|moment| moment.cases.first()) {
            Some(case) => problem.at(case.location.clone()),
            None => problem,
        }
    };
    by_limit.into_iter().map(warning).collect()
}

/// Returns for which `install --timeout` the agent would wait long enough at all of `moments`, if
/// for any.
fn longer_wait(agent: Agent, moments: &[&Moment<'_>]) -> Option<u64> {
    let wait = install::timeout_for(moments.iter().map(|moment| moment.time()).max()?)?;
    let suffices = |moment: &&Moment<'_>| {
        moment.native.is_some_and(|native| {
            moment.time() <= Duration::from_secs(install::limits(agent, native, wait).1)
        })
    };
    moments.iter().all(suffices).then_some(wait)
}

/// Returns everything that was found, for programs.
fn json(check: &Check, errors: usize, warnings: usize, processes: &[ProcessCheck]) -> Value {
    let mut report = json!({
        "files": check.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "hooks": check.hooks,
        "errors": errors,
        "warnings": warnings,
        "problems": check.problems,
        "worst_cases": check.worst_cases,
    });
    if !processes.is_empty() {
        let started = processes.iter().map(|process| {
            let elapsed = u64::try_from(process.elapsed.as_millis()).unwrap_or(u64::MAX);
            json!({ "name": process.name, "ok": process.problem.is_none(), "elapsed_ms": elapsed })
        });
        report["processes"] = started.collect();
    }
    report
}
