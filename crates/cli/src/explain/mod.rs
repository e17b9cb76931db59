//! `hookexec explain`: which hooks there are, what became of each of them at an event, and why.

mod course;
mod list;
mod text;

use crate::moment::reports_of;
use hookexec::internal::{Course, Explanation, Loaded, Selection};
use hookexec::wire::{HookReport, Mode};
use hookexec::{Decision, Event, Executor, Verdict};
use hookexec_agents::Agent;
use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use crate::config::{ConfigArgs, Purpose, not_too_deep};
use crate::error::warn_all;
use crate::moment::Moment;
use crate::output::PlainFormat;
use crate::records::is_wanted;
use crate::run::{agent_name, event_name};
use crate::runtime::{PATIENCE, Runtime};
use crate::summary::rollout;
use crate::{CommandError, input, log};
use course::ExplainedCourse;

/// Lists the hooks; with an event, runs its hooks and shows what each decided, or why it did not run
///
/// The event's input is read on stdin, as `run` does; with `--from AGENT` the agent's payload.
/// `--no-run` and `--why-not` run nothing. Without an event it lists the configured hooks. The exit code is 0 whatever the verdict is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The event; `hookexec docs events` lists them
    #[arg(group = "moment", value_parser = event_name(), hide_possible_values = true)]
    event: Option<Event>,

    /// Reads the payload of this agent and judges as `run --from` does; `hookexec docs agents`
    /// lists them
    #[arg(long, group = "moment", value_name = "AGENT", value_parser = agent_name())]
    from: Option<Agent>,

    /// The agent's name for the event. Needed when the payload has none
    #[arg(long = "event", value_name = "NAME", requires = "from")]
    native: Option<String>,

    /// Predicts which hooks would run, and runs none
    #[arg(long, requires = "moment")]
    no_run: bool,

    /// Says of one hook why it would not run; runs none. By its name, what it runs, or its file and
    /// line: `hooks.yaml:5`
    #[arg(long, value_name = "HOOK", requires = "moment")]
    why_not: Option<String>,

    /// How to write the explanation
    #[arg(long, value_enum, default_value_t)]
    format: PlainFormat,

    #[command(flatten)]
    log: log::LogArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

const EXAMPLE: &str = r#"Example: echo '{"tool_name": "shell", "tool_input": {"cmd": "ls"}}' | hookexec explain pre_tool_use --config hooks.yaml"#;

/// An event explained.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub(super) struct Explained {
    pub(super) event: Event,
    /// The agent's own event, and the events that fire with it.
    pub(super) native: Option<&'static str>,
    pub(super) agent: Option<String>,
    #[serde(skip_serializing_if = "is_one")]
    pub(super) events: Vec<Event>,
    pub(super) tool: Option<String>,
    /// Every hook of the event, in config order.
    pub(super) hooks: Vec<ExplainedHook>,
    /// How many hooks are configured for other events.
    pub(super) of_other_events: usize,
    /// How the hooks decided. Missing when nothing was run.
    pub(super) course: Option<ExplainedCourse>,
    /// Missing when nothing was run.
    pub(super) verdict: Option<Verdict>,
}

fn is_one(events: &[Event]) -> bool {
    events.len() == 1
}

/// A hook explained.
#[skip_serializing_none]
#[derive(Debug, Serialize)]
pub(super) struct ExplainedHook {
    #[serde(flatten)]
    pub(super) explanation: Explanation,
    /// Where its answer counts, if not everywhere.
    pub(super) rollout: Option<String>,
    /// What it did, when it ran.
    pub(super) report: Option<HookReport>,
    /// What its answer did to the verdict.
    pub(super) effect: Option<Effect>,
    /// Why it had no opinion.
    pub(super) no_opinion: Option<String>,
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
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        let Some(moment) = self.moment()? else {
            return list::show(&self.config, self.format);
        };
        let mut config = self.config.clone();
        if let Moment::Native(call) = &moment {
            config = config.in_project(&call.project);
        }
        not_too_deep()?;
        let mut loaded = config.load(Purpose::Run)?;
        warn_all(loaded.notices.absent.drain(..));
        let notices = std::mem::take(&mut loaded.notices);
        // An explanation is not a decision to record.
        loaded.found.config.audit.clear();
        let executor = loaded.explaining_executor()?;
        if let Some(wanted) = &self.why_not {
            notices.warn_untold("");
            return self.explain_one(&config, &executor, &moment, wanted);
        }

        self.log.start();
        let mut ran = None;
        if !self.no_run {
            let runtime = Runtime::new()?;
            ran = Some(runtime.run(Box::pin(moment.dispatch_with_course(&executor)))?);
            let _ = runtime.run(executor.shutdown(PATIENCE));
        }
        let explained = explained(&executor, &moment, ran);
        let text = match self.format {
            PlainFormat::Text => text::event(&explained),
            PlainFormat::Json => String::new(),
        };
        notices.warn_untold(&text);
        self.format.show(&explained, || text)
    }

    /// Reads what happened, in our words or in an agent's; `None` without an event.
    fn moment(&self) -> Result<Option<Moment>, CommandError> {
        let agent = match (self.from, self.event) {
            (Some(agent), _) => agent,
            (None, Some(event)) => {
                let input = input::parse("explain", event, &input::read_stdin()?)?;
                return Ok(Some(Moment::Own(event, Box::new(input))));
            }
            (None, None) => return Ok(None),
        };
        let stdin = &input::read_stdin()?;
        let hint = self.native.as_deref().or(self.event.map(Event::name));
        let call = hookexec_agents::read(agent, hint, stdin, |name| std::env::var(name).ok())
            .map_err(|error| CommandError::data(error.to_string()))?;
        if call.event.is_none() {
            let (name, why) = (call.native.name, call.native.unmapped);
            let message = format!("no hook runs: hookexec has no event for `{name}`, {why}");
            return Err(CommandError::data(message));
        }
        Ok(Some(Moment::Native(Box::new(call))))
    }

    fn explain_one(
        &self,
        config: &ConfigArgs,
        executor: &Executor,
        moment: &Moment,
        wanted: &str,
    ) -> Result<(), CommandError> {
        let all = moment.explain(executor);
        let is_named = |it: &&Explanation| is_wanted(&it.name, &it.source, wanted);
        let found: Vec<&Explanation> = all.iter().filter(is_named).collect();
        if found.is_empty() {
            if let Some(error) = unapproved(config, wanted) {
                return Err(error);
            }
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
        self.format.show(&found, || text::why_not(&found, moment))
    }
}

/// Returns the error for a hook of a file that no person approved: the file fails as a whole, and
/// its hooks are not explained.
fn unapproved(config: &ConfigArgs, wanted: &str) -> Option<CommandError> {
    let Loaded { config, project_files, .. } = config.load(Purpose::Show).ok()?.found;
    let hook = config
        .hooks
        .iter()
        .find(|hook| is_wanted(&hook.label(), &hook.location.to_string(), wanted))?;
    let path = hook.location.path();
    let file = project_files.iter().find(|file| file.path == path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let problem = file.problem()?.replacen("this file", &name, 1);
    // A warning has said what to do about the file.
    Some(CommandError::usage(format!("{problem}, so none of its hooks runs")))
}

fn explained(
    executor: &Executor,
    moment: &Moment,
    ran: Option<(Verdict, Option<Course>)>,
) -> Explained {
    let (verdict, course) = ran.unzip();
    let course = course.flatten().map(ExplainedCourse::new);
    let explanations = moment.explain(executor);
    let reports = match &verdict {
        Some(verdict) => reports_of(&explanations, verdict),
        None => vec![None; explanations.len()],
    };
    let (mut hooks, mut of_other_events) = (Vec::new(), 0);
    for (explanation, report) in explanations.into_iter().zip(reports) {
        if matches!(explanation.selection, Selection::OtherEvent(_)) {
            of_other_events += 1;
            continue;
        }
        let answered = report.zip(verdict.as_ref());
        let effect = answered.and_then(effect);
        let no_opinion = answered.and_then(|(report, verdict)| {
            moment.why_no_opinion(executor, &explanation, report, verdict)
        });
        let rollout = rollout(&explanation.hook, &moment.input().session_id);
        let report = report.cloned();
        hooks.push(ExplainedHook { explanation, rollout, report, effect, no_opinion });
    }
    let (event, native, agent) = match moment {
        Moment::Own(event, _) => (*event, None, None),
        Moment::Native(call) => {
            let event = call.event.unwrap_or(Event::Notification);
            (event, Some(call.native.name), Some(call.agent.to_string()))
        }
    };
    let (events, tool) = (moment.events(), moment.input().tool_name.clone());
    Explained { event, native, agent, events, tool, hooks, of_other_events, course, verdict }
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
