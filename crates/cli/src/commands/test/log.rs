//! `hookexec test --log` and `--past`: what another configuration would have decided.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hookexec::config::Hook;
use hookexec::{Config, Event};
use hookexec_agents::Agent;
use hookexec_files::text::shortened;
use hookexec_project::log::Record;
use hookexec_workbench::records;
use hookexec_workbench::testing::{Change, Replay, Replayed, only_looks};
use jiff::Timestamp;
use serde::Serialize;

use super::Format;
use super::past::Survey;
use crate::commands::log;
use crate::commands::log::since;
use crate::commands::run::agent_name;
use crate::config::{ConfigArgs, Loaded, Purpose};
use crate::console::output::PlainFormat;
use crate::console::report::{BAD, DIM, DOUBTFUL, GOOD, counted};
use crate::error::{CommandError, OrCommandError as _, warn};
use crate::runtime::Runtime;
use crate::{Exit, registry};

/// How many examples of each change are shown.
const EXAMPLES: usize = 3;

/// Which recorded events are tested, and with which candidate.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Recorded events")]
pub(super) struct LogArgs {
    /// Runs the events that this log records through hooks files, and says what changes; without
    /// `--config`, those that count here. The log must hold inputs: `audit: { path: FILE, input: redacted }`
    #[arg(long, value_name = "FILE", group = "calls",
          conflicts_with_all = ["files", "filter", "min_coverage"])]
    log: Option<PathBuf>,

    /// Says what hooks files would have done with the calls in the transcripts of this agent; without
    /// `--config`, those that count here
    #[arg(long, value_name = "AGENT", value_parser = agent_name(), group = "calls",
          hide_possible_values = true, conflicts_with_all = ["files", "filter", "min_coverage"])]
    past: Option<Agent>,

    /// Only calls of transcripts from this time on: `2026-03-21`, or `12h`, `30d` ago
    #[arg(long, value_name = "TIME", requires = "past", value_parser = since,
          default_value = "30d")]
    since: Timestamp,

    /// Prints a rule that allows the commands which ran often, and which neither the hooks files nor
    /// the rules of `hookexec init --user` stop
    #[arg(long, requires = "past")]
    suggest: bool,

    /// Writes the same to one HTML file, drawn by day
    #[arg(long, value_name = "FILE", requires = "past", conflicts_with_all = ["suggest", "save_case", "format"])]
    html: Option<PathBuf>,

    /// Makes a test case of the example with this number, beside the hooks file
    #[arg(long, value_name = "N", requires = "past", conflicts_with = "suggest")]
    save_case: Option<usize>,

    /// The candidate: a hooks file; may be given more than once
    #[arg(long, value_name = "FILE", requires = "calls")]
    config: Vec<PathBuf>,

    /// Runs hooks with side effects, too: all others have `side_effects: none` or `idempotent`. For
    /// a hook that does not run, the recorded answer counts
    #[arg(long, requires = "log")]
    run_external: bool,
}

/// Everything that came out.
#[derive(Debug, Default, Serialize)]
struct Summary {
    passed: usize,
    failed: usize,
    could_not_run: usize,
    /// How many inputs had secrets taken out, which a hook may look for.
    redacted: usize,
    changes: Vec<Example>,
    /// Why events could not run, and how many for each reason.
    reasons: BTreeMap<String, usize>,
}

#[derive(Debug, Serialize)]
struct Example {
    change: Change,
    record: Record,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl LogArgs {
    /// Runs the recorded events, if some are named. The hooks run in `project`.
    pub(super) fn run(
        &self,
        project: Option<&Path>,
        format: Format,
    ) -> Result<Option<Exit>, CommandError> {
        if let Some(agent) = self.past {
            let mut survey = Survey::new(agent, self.since, &self.config, project)?;
            match self.save_case {
                _ if self.suggest => survey.suggest()?,
                Some(number) => survey.save_case(number)?,
                None if let Some(file) = &self.html => survey.draw(file)?,
                None => survey.show(format.plain()?)?,
            }
            return Ok(Some(Exit::SUCCESS));
        }
        let Some(log) = &self.log else { return Ok(None) };
        self.compare(log, project, format.plain()?).map(Some)
    }

    /// Runs the events of `log`, and compares what comes out with it.
    fn compare(
        &self,
        log: &Path,
        project: Option<&Path>,
        format: PlainFormat,
    ) -> Result<Exit, CommandError> {
        let (candidate, project) = load_candidate(&self.config, project)?;
        let runs = if self.run_external { |_: &Hook| true } else { only_looks };
        let replay = Replay::new(candidate, &project, registry::all(), runs)?;
        let runtime = Runtime::new()?;
        let (mut summary, mut unreadable) = (Summary::default(), 0);
        for line in records::read(log).or_usage(log::unreadable(log))? {
            match line.or_usage(log::unreadable(log))? {
                None => unreadable += 1,
                // An approval records what a person answered: no hook decides it.
                Some(record) if record.event == Event::Approval => {}
                Some(record) => {
                    let replayed = runtime.run(replay.run(&record))?;
                    summary.add(*record, replayed);
                }
            }
        }
        if unreadable > 0 {
            warn(&format!("{} of the log can't be read", counted(unreadable, "line")));
        }
        let failed = summary.failed + summary.could_not_run;
        if summary.passed + failed == 0 {
            let hint = "events are recorded with `audit: { path: FILE, input: redacted }`";
            return Err(CommandError::data("the log records no event").hint(hint));
        }
        format.show(&summary, || text(&summary))?;
        Ok(if failed == 0 { Exit::SUCCESS } else { Exit::NEGATIVE })
    }
}

/// Loads these hooks files, else those that count in `project`, and returns them with its directory.
///
/// # Errors
/// Also if a file fails at every event: nothing else would be seen.
pub(super) fn load_candidate(
    files: &[PathBuf],
    project: Option<&Path>,
) -> Result<(Config, PathBuf), CommandError> {
    let mut arguments = ConfigArgs::default().with_named_files(files);
    arguments.cwd = project.map(Path::to_owned);
    let Loaded { found, notices, .. } = arguments.load(Purpose::Run)?;
    // A file that is gone is a warning at each event.
    if let Some(file) = found.config.failed.iter().find(|file| file.on_error.is_none()) {
        let problem = format!("{}: it would deny each call", file.message());
        let hint = "or name the hooks files to try, approved or not, with `--config FILE`";
        return Err(CommandError::usage(problem).hint(format!("{}, {hint}", file.remedy)));
    }
    notices.warn();
    Ok((found.config, arguments.project()?))
}

impl Summary {
    fn add(&mut self, record: Record, replayed: Replayed) {
        self.redacted += usize::from(record.input_redacted);
        match replayed {
            Replayed::Passed => self.passed += 1,
            Replayed::Failed { change, message } => {
                self.failed += 1;
                self.changes.push(Example { change, record, message });
            }
            Replayed::CouldNotRun(reasons) => {
                self.could_not_run += 1;
                for reason in reasons {
                    *self.reasons.entry(reason).or_default() += 1;
                }
            }
        }
    }
}

fn text(summary: &Summary) -> String {
    let Summary { passed, failed, could_not_run, .. } = summary;
    let mut text = format!("{passed} passed, {failed} failed, {could_not_run} could not run\n");
    let mut kinds: BTreeMap<&Change, Vec<&Example>> = BTreeMap::new();
    for example in &summary.changes {
        kinds.entry(&example.change).or_default().push(example);
    }
    for (change, examples) in kinds {
        push_change(&mut text, change, &examples);
    }
    if summary.failed > 0 {
        text.push('\n');
    }
    for (reason, count) in &summary.reasons {
        let _ = writeln!(text, "could not run {count}: {reason}");
    }
    if summary.redacted > 0 {
        let _ = writeln!(text, "{} had secrets taken out", counted(summary.redacted, "input"));
    }
    text
}

fn push_change(text: &mut String, change: &Change, examples: &[&Example]) {
    let (style, title) = match change {
        Change::Decision("deny", after) => (BAD, format!("deny -> {after}")),
        Change::Decision(before, after) => (GOOD, format!("{before} -> {after}")),
        Change::Rewrite => (DOUBTFUL, "rewritten otherwise".to_owned()),
    };
    let _ = writeln!(text, "\n{style}{title}{style:#}: {}", examples.len());
    for Example { record, message, .. } in examples.iter().take(EXAMPLES) {
        let tool = record.tool.as_deref().unwrap_or_default();
        let arguments = record.input.as_ref().and_then(|input| input.get("tool_input"));
        let arguments = arguments.map(ToString::to_string).unwrap_or_default();
        let (time, event, arguments) = (&record.time, record.event, shortened(&arguments, 200));
        let _ = writeln!(text, "  {DIM}{time}{DIM:#} {event} {tool} {arguments}");
        for (when, message) in [("was", &record.message), ("now", message)] {
            if let Some(message) = message {
                let _ = writeln!(text, "    {when}: {}", message.trim().replace('\n', " / "));
            }
        }
    }
    if examples.len() > EXAMPLES {
        let more = examples.len() - EXAMPLES;
        let _ = writeln!(text, "  ... and {more} more (`--format json`)");
    }
}
