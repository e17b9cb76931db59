//! `hookexec test --log`: what another configuration would have decided.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::records;
use crate::testing::{Change, Replay, Replayed};
use hookexec::internal::audit::Record;
use hookexec::internal::text::shortened;
use serde::Serialize;

use crate::config::{ConfigArgs, Purpose};
use crate::error::{CommandError, OrCommandError as _, warn};
use crate::output::PlainFormat;
use crate::report::{BAD, DIM, DOUBTFUL, GOOD, counted};
use crate::runtime::Runtime;
use crate::{Exit, decisions};

/// How many examples of each change are shown.
const EXAMPLES: usize = 3;

/// Which recorded events are tested, and with which candidate.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Recorded events")]
pub(super) struct LogArgs {
    /// Runs the events that this log records through other hooks files, and says what changes. The
    /// log must hold inputs: `audit: { path: FILE, input: redacted }`
    #[arg(long, value_name = "FILE", requires = "config",
          conflicts_with_all = ["files", "filter", "min_coverage"])]
    pub(super) log: Option<PathBuf>,

    /// The candidate: a hooks file; may be given more than once
    #[arg(long, value_name = "FILE", requires = "log")]
    config: Vec<PathBuf>,

    /// Runs hooks with side effects, too: all others have `side_effects: none` or `idempotent`. For
    /// a hook that does not run, the recorded answer counts
    #[arg(long, requires = "log")]
    run_external: bool,
}

/// Everything that came out.
#[derive(Debug, Default, Serialize)]
struct Summary {
    replayed: usize,
    same: usize,
    changed: usize,
    unknown: usize,
    not_replayed: usize,
    unreadable: usize,
    /// How many inputs had secrets taken out, which a hook may look for.
    redacted: usize,
    changes: Vec<Example>,
    unknown_hooks: BTreeMap<String, usize>,
    reasons_not_replayed: BTreeMap<&'static str, usize>,
}

#[derive(Debug, Serialize)]
struct Example {
    change: Change,
    record: Record,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl LogArgs {
    /// Runs the events of `log` whose hooks run in `project`.
    pub(super) fn run(
        &self,
        log: &Path,
        project: Option<&Path>,
        format: PlainFormat,
    ) -> Result<Exit, CommandError> {
        let mut config = ConfigArgs::default().only(&self.config);
        config.cwd = project.map(Path::to_owned);
        let candidate = config.load(Purpose::Run)?.found.config;
        let replay = Replay::new(candidate, &config.project()?, self.run_external);
        let replay = replay.map_err(CommandError::config)?;

        let summary = &Summary::of(log, &replay)?;
        format.show(summary, || text(summary))?;
        let same = summary.changed == 0 && summary.unknown == 0;
        Ok(if same { Exit::Success } else { Exit::Negative })
    }
}

impl Summary {
    /// Replays a log with a candidate, and compares what comes out with the log.
    fn of(path: &Path, candidate: &Replay) -> Result<Self, CommandError> {
        let runtime = Runtime::new()?;
        let (mut summary, mut stopped) = (Self::default(), None);
        records::read(path, |line| {
            let Some(record) = line else {
                summary.unreadable += 1;
                return;
            };
            if stopped.is_none() {
                match runtime.run(candidate.run(&record)) {
                    Ok(replayed) => summary.add(*record, replayed),
                    Err(error) => stopped = Some(error),
                }
            }
        })
        .or_usage(decisions::unreadable(path))?;
        if let Some(error) = stopped {
            return Err(error);
        }
        if summary.unreadable > 0 {
            warn(&format!("{} of the log can't be read", counted(summary.unreadable, "line")));
        }
        if summary.replayed == 0 {
            let hint = "inputs are recorded with `audit: { path: FILE, input: redacted }`";
            return Err(CommandError::data("no record could be replayed").hint(hint));
        }
        Ok(summary)
    }

    fn add(&mut self, record: Record, replayed: Replayed) {
        let redacted = usize::from(record.input_redacted);
        match replayed {
            Replayed::LeftOut(why) => {
                self.not_replayed += 1;
                *self.reasons_not_replayed.entry(why).or_default() += 1;
                return;
            }
            Replayed::Changed { change, message } => {
                self.changed += 1;
                self.changes.push(Example { change, record, message });
            }
            Replayed::Unknown(hooks) => {
                self.unknown += 1;
                for hook in hooks {
                    *self.unknown_hooks.entry(hook).or_default() += 1;
                }
            }
            Replayed::Same => self.same += 1,
        }
        self.replayed += 1;
        self.redacted += redacted;
    }
}

fn text(summary: &Summary) -> String {
    let Summary { replayed, same, changed, unknown, .. } = summary;
    let mut text = format!(
        "{} replayed: {same} the same, {changed} changed, {unknown} unknown\n",
        counted(*replayed, "event")
    );
    let mut kinds: BTreeMap<&Change, Vec<&Example>> = BTreeMap::new();
    for example in &summary.changes {
        kinds.entry(&example.change).or_default().push(example);
    }
    for (change, examples) in kinds {
        let (style, title) = match change {
            Change::Decision(before, after) => {
                let style = if *before == "deny" { BAD } else { GOOD };
                (style, format!("{before} -> {after}"))
            }
            Change::Rewrite => (DOUBTFUL, "rewritten otherwise".to_owned()),
        };
        let _ = writeln!(text, "\n{style}{title}{style:#}: {}", examples.len());
        for example in examples.iter().take(EXAMPLES) {
            let record = &example.record;
            let tool = record.tool.as_deref().unwrap_or_default();
            let input = record.input.as_ref().and_then(|input| input.get("tool_input"));
            let input = input.map(ToString::to_string).unwrap_or_default();
            let input = shortened(&input, 200);
            let _ = writeln!(text, "  {DIM}{}{DIM:#} {} {tool} {input}", record.time, record.event);
            for (when, message) in [("was", &record.message), ("now", &example.message)] {
                if let Some(message) = message {
                    let _ = writeln!(text, "    {when}: {}", message.trim().replace('\n', " / "));
                }
            }
        }
        if examples.len() > EXAMPLES {
            let _ =
                writeln!(text, "  ... and {} more (`--format json`)", examples.len() - EXAMPLES);
        }
    }
    let blank = if summary.changed > 0 { "\n" } else { "" };
    text.push_str(blank);
    for (hook, count) in &summary.unknown_hooks {
        let _ = writeln!(
            text,
            "unknown for {count}: {hook} has side effects and did not run; declare `side_effects: none`, or use `--run-external`"
        );
    }
    for (why, count) in &summary.reasons_not_replayed {
        let _ = writeln!(text, "left out {count}: {why}");
    }
    if summary.redacted > 0 {
        let _ = writeln!(text, "{} had secrets taken out", counted(summary.redacted, "input"));
    }
    text
}
