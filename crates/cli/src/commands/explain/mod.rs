//! `hookexec explain`: which hooks there are, what became of each of them at an event, and why.

mod course;
mod list;
mod text;

use hookexec::internal::{Course, Explanation, Selection};
use hookexec::wire::{HookReport, Mode};
use hookexec::{Event, Executor, Verdict};
use hookexec_agents::{Agent, Subject};
use hookexec_workbench::explained::{reports_of, why_no_opinion};
use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use crate::commands::run::{agent_name, event_name};
use crate::config::{ConfigArgs, Purpose, not_too_deep};
use crate::console::output::PlainFormat;
use crate::console::verbose;
use crate::error::warn_all;
use crate::runtime::{PATIENCE, Runtime};
use crate::{CommandError, input};
use course::ExplainedCourse;
use hookexec_workbench::summary::rollout;

/// Lists the hooks; with an event, runs its hooks and shows what each decided, or why it did not run
///
/// The event's input is read on stdin, as `run` does; with `--from AGENT` the agent's payload.
/// Without an event it lists the configured hooks. The exit code is 0 whatever the verdict is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The event; `hookexec docs events` lists them
    #[arg(group = "subject", value_parser = event_name(), hide_possible_values = true)]
    event: Option<Event>,

    /// Reads the payload of this agent and judges as `run --from` does; `hookexec docs agents`
    /// lists them
    #[arg(long, group = "subject", value_name = "AGENT", value_parser = agent_name())]
    from: Option<Agent>,

    /// The agent's name for the event. Needed when the payload has none
    #[arg(long = "event", value_name = "NAME", requires = "from")]
    native: Option<String>,

    /// Predicts which hooks would run, and says why the others would not; runs none
    #[arg(long, requires = "subject")]
    no_run: bool,

    /// How to write the explanation
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,

    #[command(flatten)]
    log: verbose::LogArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

const EXAMPLE: &str = r#"Example: echo '{"tool_name": "shell", "tool_input": {"cmd": "ls"}}' | hookexec explain pre_tool_use --config hooks.yaml"#;

/// An event explained.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) event: Event,
    /// The agent's own event, and the events that fire with it.
    pub(crate) native: Option<&'static str>,
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "is_one")]
    pub(crate) events: Vec<Event>,
    pub(crate) tool: Option<String>,
    /// Every hook of the event, in config order.
    pub(crate) hooks: Vec<ExplainedHook>,
    /// How many hooks are configured for other events.
    pub(crate) of_other_events: usize,
    /// How the hooks decided. Missing when nothing was run.
    pub(crate) course: Option<ExplainedCourse>,
    /// Missing when nothing was run.
    pub(crate) verdict: Option<Verdict>,
}

fn is_one(events: &[Event]) -> bool {
    events.len() == 1
}

/// A hook explained.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub(crate) struct ExplainedHook {
    #[serde(flatten)]
    pub(crate) explanation: Explanation,
    /// Where its answer counts, if not everywhere.
    pub(crate) rollout: Option<String>,
    /// Its report, when it ran.
    pub(crate) report: Option<HookReport>,
    /// The effect of its answer on the verdict.
    pub(crate) effect: Option<Effect>,
    /// Why it had no opinion.
    pub(crate) no_opinion: Option<String>,
}

/// The effect of a hook's decision on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// It is the verdict.
    Decides,
    /// A stricter decision won.
    Overruled,
    /// The hook's mode keeps its answer from counting.
    NotEnforced,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        let Some(subject) = self.subject()? else {
            return list::show(&self.config, self.format);
        };
        let mut config = self.config.clone();
        if let Subject::Native(call) = &subject {
            config = config.in_project(&call.project);
        }
        not_too_deep()?;
        let mut loaded = config.load(Purpose::Run)?;
        warn_all(loaded.notices.absent.drain(..));
        let notices = std::mem::take(&mut loaded.notices);
        // An explanation is not a decision to record.
        loaded.found.config.audit.clear();
        let executor = loaded.explaining_executor()?;
        self.log.start();
        let mut ran = None;
        if !self.no_run {
            let runtime = Runtime::new()?;
            ran = Some(runtime.run(Box::pin(subject.dispatch_with_course(&executor)))?);
            let _ = runtime.run(executor.shutdown(PATIENCE));
        }
        let explained = Explained::new(&executor, &subject, ran);
        let text = match self.format {
            PlainFormat::Text => text::event(&explained),
            PlainFormat::Json => String::new(),
        };
        notices.warn_untold(&text);
        self.format.show(&explained, || text)
    }

    /// Reads what happened, in our words or in an agent's; `None` without an event.
    fn subject(&self) -> Result<Option<Subject>, CommandError> {
        let Some(agent) = self.from else {
            let Some(event) = self.event else { return Ok(None) };
            let input = input::parse("explain", event, &input::read_stdin()?)?;
            return Ok(Some(Subject::Own(event, Box::new(input))));
        };
        let stdin = input::read_stdin()?;
        let event = self.native.as_deref().or(self.event.map(Event::name));
        let call =
            match hookexec_agents::read(agent, event, &stdin, |name| std::env::var(name).ok()) {
                Ok(call) => call,
                Err(error) => return Err(CommandError::data(error.to_string())),
            };
        if call.event.is_none() {
            let (name, why) = (call.native.name, call.native.unmapped);
            let message = format!("no hook runs: hookexec has no event for `{name}`, {why}");
            return Err(CommandError::data(message));
        }
        Ok(Some(Subject::Native(Box::new(call))))
    }
}

impl Explained {
    fn new(executor: &Executor, subject: &Subject, ran: Option<(Verdict, Option<Course>)>) -> Self {
        let (event, native, agent) = match subject {
            Subject::Own(event, _) => (*event, None, None),
            Subject::Native(call) => {
                let event = call.event.unwrap_or(Event::Notification);
                (event, Some(call.native.name), Some(call.agent.to_string()))
            }
        };
        let (verdict, course) = ran.unzip();
        let explanations = subject.explain(executor);
        let mut reports = vec![None; explanations.len()];
        if let Some(verdict) = &verdict {
            reports = reports_of(&explanations, verdict);
        }
        let (mut hooks, mut of_other_events) = (Vec::new(), 0);
        for (explanation, report) in explanations.into_iter().zip(reports) {
            if matches!(explanation.selection, Selection::OtherEvent(_)) {
                of_other_events += 1;
                continue;
            }
            let rollout = rollout(&explanation.hook, &subject.input().session_id);
            let mut hook = ExplainedHook {
                explanation,
                rollout,
                report: None,
                effect: None,
                no_opinion: None,
            };
            if let (Some(report), Some(verdict)) = (report, &verdict) {
                hook.effect = effect(report, verdict);
                hook.no_opinion =
                    why_no_opinion(subject, executor, &hook.explanation, report, verdict);
                hook.report = Some(report.clone());
            }
            hooks.push(hook);
        }
        Self {
            event,
            native,
            agent,
            events: subject.events(),
            tool: subject.input().tool_name.clone(),
            hooks,
            of_other_events,
            course: course.flatten().map(ExplainedCourse::new),
            verdict,
        }
    }
}

fn effect(report: &HookReport, verdict: &Verdict) -> Option<Effect> {
    // What the report says of a failure's decision is what its failure means for the event.
    let decision = report.decision?;
    Some(if report.mode.is_some_and(|mode| mode != Mode::Enforce) {
        Effect::NotEnforced
    } else if Some(decision) == verdict.decision {
        Effect::Decides
    } else {
        Effect::Overruled
    })
}
