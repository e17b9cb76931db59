//! `hookexec explain`: which hooks there are, what became of each of them at an event, and why.

mod text;

use hookexec::config::Hook;
use hookexec::{Event, ExecutorBuilder};
use hookexec_agents::{Agent, Subject};
use hookexec_workbench::explain::{Explained, configured, other_keys};

use crate::commands::run::{agent_name, event_name, from};
use crate::config::{ConfigArgs, Purpose, not_too_deep};
use crate::console::output::PlainFormat;
use crate::console::table::Table;
use crate::console::verbose;
use crate::error::warn_all;
use crate::runtime::{Runtime, finish};
use crate::{CommandError, input, registry};

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

impl Args {
    pub(crate) fn execute(&self) -> Result<(), CommandError> {
        let Some(subject) = self.subject()? else {
            return list(&self.config, self.format);
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
        let executor = loaded.build(ExecutorBuilder::counts_only_read)?;
        self.log.start();
        let mut ran = None;
        if !self.no_run {
            let runtime = Runtime::new()?;
            ran = Some(runtime.run(Box::pin(subject.try_out(&executor, true)))?);
            let _ = runtime.run(finish(&executor));
        }
        let explained = Explained::new(&executor, &subject, ran);
        let text = match self.format {
            PlainFormat::Text => text::event(&explained),
            PlainFormat::Json => String::new(),
        };
        warn_all(notices.failures(&text));
        self.format.show(&explained, || text)
    }

    /// Reads what happened, in our words or in an agent's; `None` without an event.
    fn subject(&self) -> Result<Option<Subject>, CommandError> {
        let Some(agent) = self.from else {
            let Some(event) = self.event else { return Ok(None) };
            let input = input::parse("explain", event, &input::read_stdin()?)?;
            return Ok(Some(Subject::Own(event, Box::new(input))));
        };
        let event = self.native.as_deref().or(self.event.map(Event::name));
        let call = from::payload(agent, event).map_err(|(problem, _)| problem)?;
        if call.event.is_none() {
            let (name, why) = (call.native.name, call.native.unmapped);
            let message = format!("no hook runs: hookexec has no event for `{name}`, {why}");
            return Err(CommandError::data(message));
        }
        Ok(Some(Subject::Native(Box::new(call))))
    }
}

/// Lists the configured hooks: event, matcher, name (or else what it runs), file and line.
fn list(config: &ConfigArgs, format: PlainFormat) -> Result<(), CommandError> {
    let check = hookexec_project::check(&config.options(Purpose::Show)?, registry::all());
    let config = config.shown()?;
    if config.files.is_empty() {
        return Err(CommandError::no_files());
    }
    // A file that waits for a person is listed, with its errors or not.
    warn_all(check.problems.iter().filter(|one| one.is_error()).map(ToString::to_string));
    let mut rows = Vec::new();
    let mut table =
        Table::new(["event", "matches", "type", "name", "timeout", "settings", "layer", "source"]);
    for hook in &config.hooks {
        rows.push(configured(hook));
        let Hook { event, kind, timeout, location, .. } = hook;
        let (also, is_matched) = (other_keys(hook), event.contract().tool_matched);
        table.row([
            event.to_string(),
            if is_matched { hook.matcher.to_string() } else { "-".to_owned() },
            kind.clone(),
            hook.label(),
            format!("{timeout:?}"),
            if also.is_empty() { "-".to_owned() } else { also.join(", ") },
            hook.layer().name().replace('_', " "),
            format!("{}:{}", location.path().display(), location.line()),
        ]);
    }
    format.show(&rows, || table.text())
}
