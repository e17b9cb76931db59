//! `hookexec explain`: what became of every hook of an event, and why.

use hookexec::executor::{Explanation, Selection};
use hookexec::wire::{HookReport, Mode};
use hookexec::{Decision, Event, Executor, Input, Verdict};
use serde::Serialize;

use super::config::ConfigArgs;
use super::error::CommandError;
use super::exit::Exit;
use super::run::EventParser;
use super::runtime::{PATIENCE, Runtime};
use super::{explain_text, input, log, output};

/// Shows of every hook of an event whether it ran, why not, and how the verdict came about
///
/// The event's input is read on stdin, as `run` does. The hooks run, unless `--no-run` or
/// `--why-not` says otherwise. The exit code is 0 whatever the verdict is: this command explains an
/// answer, it does not give one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The event; `hookexec events` lists them
    #[arg(value_parser = EventParser)]
    event: Event,

    #[command(flatten)]
    config: ConfigArgs,

    /// Predicts which hooks would run, and runs none
    #[arg(long)]
    no_run: bool,

    /// Says of one hook why it would not run; runs none. By its name, what it runs, or its file and line: `hooks.yaml:5`
    #[arg(long, value_name = "HOOK")]
    why_not: Option<String>,

    /// How to write the explanation
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    log: log::LogArgs,
}

const EXAMPLE: &str = r#"Example: echo '{"tool_name": "shell", "tool_input": {"cmd": "ls"}}' | hookexec explain pre_tool_use --config hooks.yaml"#;

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// An event explained.
#[derive(Debug, Serialize)]
pub(super) struct Explained {
    pub(super) event: Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// Every hook of the event, in config order.
    pub(super) hooks: Vec<ExplainedHook>,
    /// How many hooks are configured for other events.
    pub(super) of_other_events: usize,
    /// Missing when nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<Verdict>,
}

/// A hook explained.
#[derive(Debug, Serialize)]
pub(super) struct ExplainedHook {
    #[serde(flatten)]
    pub(super) explanation: Explanation,
    /// What it did, when it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<HookReport>,
    /// What its answer did to the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<Effect>,
}

/// What a hook's decision did to the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Effect {
    /// It is the verdict.
    Decides,
    /// A stricter decision won.
    Overruled,
    /// The hook's mode keeps its answer from counting.
    NotEnforced,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let stdin = input::read_stdin()?;
        let executor = self.config.executor_unrecorded()?;
        let input = input::parse("explain", self.event, &stdin)?;
        if let Some(wanted) = &self.why_not {
            return self.explain_one(&executor, &input, wanted);
        }

        self.log.start();
        let mut verdict = None;
        if !self.no_run {
            let runtime = Runtime::new()?;
            verdict = Some(runtime.run(executor.dispatch(self.event, &input))?);
            let _ = runtime.run(executor.shutdown(PATIENCE));
        }
        let explained = explained(&executor, self.event, &input, verdict);
        self.print(&explained, || explain_text::event(&explained))
    }

    fn explain_one(
        &self,
        executor: &Executor,
        input: &Input,
        wanted: &str,
    ) -> Result<Exit, CommandError> {
        let all = executor.explain(self.event, input);
        let names =
            |explanation: &&Explanation| explanation.name == wanted || explanation.source == wanted;
        let found: Vec<&Explanation> = all.iter().filter(names).collect();
        if found.is_empty() {
            let known: Vec<String> =
                all.iter().map(|one| format!("  {} ({})", one.name, one.source)).collect();
            let hint = if known.is_empty() {
                "no hooks are configured; name a hooks file with `--config`".to_owned()
            } else {
                format!("configured are:\n{}", known.join("\n"))
            };
            let message = format!("no hook is called `{wanted}`");
            return Err(CommandError::usage(message).hint(hint));
        }
        self.print(&found, || explain_text::why_not(&found, self.event, input))
    }

    fn print(
        &self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<Exit, CommandError> {
        match self.format {
            Format::Json => output::print_json(value)?,
            Format::Text => output::print(&text())?,
        }
        Ok(Exit::Success)
    }
}

fn explained(
    executor: &Executor,
    event: Event,
    input: &Input,
    verdict: Option<Verdict>,
) -> Explained {
    let explanations = executor.explain(event, input);
    let reports = match &verdict {
        Some(verdict) => Explanation::pair(&explanations, verdict),
        None => vec![None; explanations.len()],
    };
    let (mut hooks, mut of_other_events) = (Vec::new(), 0);
    for (explanation, report) in explanations.into_iter().zip(reports) {
        if matches!(explanation.selection, Selection::OtherEvent(_)) {
            of_other_events += 1;
            continue;
        }
        let effect = report.zip(verdict.as_ref()).and_then(effect);
        hooks.push(ExplainedHook { explanation, report: report.cloned(), effect });
    }
    Explained { event, tool: input.tool_name.clone(), hooks, of_other_events, verdict }
}

fn effect((report, verdict): (&HookReport, &Verdict)) -> Option<Effect> {
    // What the report says of a failure's decision is what its failure means for the event.
    let decision: Decision = report.decision?;
    Some(if report.mode.is_some_and(|mode| mode != Mode::Enforce) {
        Effect::NotEnforced
    } else if Some(decision) == verdict.decision {
        Effect::Decides
    } else {
        Effect::Overruled
    })
}
