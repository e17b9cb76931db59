//! `hookexec replay`: what another configuration would have decided.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::records;
use crate::testing::{Change, Replay, Replayed};
use hookexec::Config;
use hookexec::internal::audit::Record;
use hookexec::internal::text::shortened;
use serde::Serialize;

use super::config::ConfigArgs;
use super::error::{CommandError, OrCommandError as _, warn};
use super::output::PlainFormat;
use super::report::{BAD, DIM, DOUBTFUL, GOOD, counted};
use super::runtime::Runtime;
use super::{Exit, decisions};

/// How many examples of each change are shown.
const EXAMPLES: usize = 3;

/// Runs the recorded events of an audit log through another configuration, and says what changes
///
/// The log must hold inputs: `audit: { path: FILE, input: redacted }`. Hooks run only when they
/// declare `side_effects: none` or `idempotent`; for the others the recorded answer counts. Exits with 0
/// if nothing changes, and with 1 if something changes or can't be predicted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec replay audit.jsonl --config new-hooks.yaml")]
pub(crate) struct Args {
    /// The log
    log: PathBuf,

    /// The candidate: a hooks file; may be given more than once
    #[arg(long, value_name = "FILE", required = true)]
    config: Vec<PathBuf>,

    /// Runs hooks with side effects, too
    #[arg(long)]
    run_external: bool,

    /// The project: where hooks run [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// How to write what changes
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,
}

/// Everything that came out.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
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

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let mut config = ConfigArgs::default().only(&self.config);
        config.cwd.clone_from(&self.cwd);
        let candidate = Config::load(&config.options()?).map_err(CommandError::config)?;
        let replay = Replay::new(candidate, &config.project()?, self.run_external);
        let replay = replay.map_err(CommandError::config)?;

        let summary = &Summary::of(&self.log, None, &replay)?;
        self.format.show(summary, || text(summary))?;
        let same = summary.changed == 0 && summary.unknown == 0;
        Ok(if same { Exit::Success } else { Exit::Negative })
    }
}

impl Summary {
    /// Replays a log with a candidate, and compares what comes out with the log, or with what another
    /// configuration makes of it.
    pub(super) fn of(
        path: &Path,
        other: Option<&Replay>,
        candidate: &Replay,
    ) -> Result<Self, CommandError> {
        let runtime = Runtime::new()?;
        let (mut summary, mut stopped) = (Self::default(), None);
        let replayed = async |record: Record| {
            let before = match other {
                Some(other) => match other.remade(&record).await {
                    Ok(before) => before,
                    Err(replayed) => return (record, replayed),
                },
                None => record.clone(),
            };
            let replayed = candidate.run(&record, &before).await;
            (before, replayed)
        };
        records::read(path, |line| {
            let Some(record) = line else {
                summary.unreadable += 1;
                return;
            };
            if stopped.is_none() {
                match runtime.run(replayed(*record)) {
                    Ok((record, replayed)) => summary.add(record, replayed),
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

pub(super) fn text(summary: &Summary) -> String {
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
