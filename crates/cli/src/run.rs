//! `hookexec run`: one event in, one verdict out.

mod plain;

use clap::builder::{PossibleValue, TypedValueParser};
use hookexec::event::UnknownEvent;
use hookexec::internal::Explanation;
use hookexec::{Event, Executor, Input, Verdict};
use hookexec_agents::{Agent, NativeCall, UnknownAgent};

use super::config::{ConfigArgs, Notices, Purpose, not_too_deep};
use super::connect::{self, ConnectArgs};
use super::error::{CommandError, warn, warn_all};
use super::from::FromArgs;
use super::output::{self, PlainFormat};
use super::runtime::{PATIENCE, Runtime};
use super::server::{NoVerdict, Question};
use super::{Exit, input, log, report, system};

/// Runs the hooks of an event: its input on stdin, the verdict on stdout
///
/// Stdout is one line of JSON, or nothing without a verdict (exit codes from 64 on). The exit
/// code is the decision: 0 go on, 2 denied, 3 ask first. Treat any other as a denial. With `--from`
/// stdout and the exit code are the answer that the agent expects.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The event; `hookexec docs events` lists them
    #[arg(value_parser = EVENT, required_unless_present = "from")]
    event: Option<Event>,

    #[command(flatten)]
    from: FromArgs,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    connect: ConnectArgs,

    /// How to write the verdict [default: json]; with `--from`, `text` shows it on stderr beside
    /// the answer
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<PlainFormat>,

    #[command(flatten)]
    log: log::LogArgs,

    /// Starts the hooks in the background and no others, and says nothing
    #[arg(long, hide = true, conflicts_with = "from", requires = "event")]
    background: bool,
}

const EXAMPLE: &str = r#"Example: echo '{"tool_name": "shell", "tool_input": {"cmd": "rm -rf /"}}' | hookexec run pre_tool_use"#;

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        if let Some(agent) = self.from.from {
            self.log.start();
            let text = self.format == Some(PlainFormat::Text);
            let shown = Shown { hooks: self.log.verbose(), verdict: text };
            let server = self.connect.named();
            return Ok(self.from.execute(agent, self.event, &self.config, server, shown));
        }
        let Some(event) = self.event else {
            return Err(CommandError::usage("which event? `hookexec docs events` lists them"));
        };
        if self.background { self.in_background(event) } else { self.dispatch(event) }
    }

    fn format(&self) -> PlainFormat {
        self.format.unwrap_or(PlainFormat::Json)
    }

    /// Does what another `hookexec` had no time for.
    fn in_background(&self, event: Event) -> Result<Exit, CommandError> {
        // A signal to the caller's process group must not end these hooks.
        system::leave_session();
        let input = input::parse("run", event, &input::read_stdin()?)?;
        not_too_deep()?;
        let loaded = self.config.load(Purpose::Run)?;
        loaded.notices.warn();
        let executor = loaded.executor()?;
        let runtime = Runtime::new()?;
        runtime.run(async {
            executor.start_background(event, &input);
            executor.shutdown(PATIENCE).await;
        })?;
        Ok(Exit::Success)
    }

    fn dispatch(&self, event: Event) -> Result<Exit, CommandError> {
        let stdin = input::read_stdin()?;
        let input = input::parse("run", event, &stdin);
        let too_deep = not_too_deep().err();
        if let Ok(input) = &input
            && too_deep.is_none()
            && let Some(verdict) = self.ask_server(event, input)?
        {
            return self.answer(&verdict, &Notices::default(), Vec::new);
        }
        let mut loaded = self.config.load(Purpose::Run)?;
        let notices = std::mem::take(&mut loaded.notices);
        match self.format() {
            PlainFormat::Json => notices.warn(),
            PlainFormat::Text => warn_all(notices.absent.iter().cloned()),
        }
        let executor = loaded.executor()?;
        if let Some(why) = too_deep {
            let verdict = failed(&executor, event, input.as_ref().ok(), &why.to_string());
            return self.answer(&verdict, &Notices::default(), Vec::new);
        }
        let input = input?;
        let not_run = || executor.explain(event, &input);
        if !executor.concerns(event, &input) {
            let exit = self.answer(&Verdict::no_opinion(event), &notices, not_run);
            // Nothing was started, and the process ends: the system frees all at once.
            std::mem::forget((executor, input));
            return exit;
        }

        self.log.start();
        let runtime = Runtime::new()?;
        // Boxed, or its kilobytes would be moved from one place on the stack to the next.
        let verdict = runtime.run(Box::pin(async {
            let verdict = executor.dispatch(event, &input).await;
            executor.approve(verdict, &input).await
        }))?;
        let exit = self.answer(&verdict, &notices, not_run)?;
        // Hooks in the background end at their own timeouts. A signal ends them at once, and
        // changes nothing about the answer that was given.
        let _ = runtime.run(executor.shutdown(PATIENCE));
        // The process ends: the system frees all at once.
        std::mem::forget((executor, input));
        Ok(exit)
    }

    /// Returns the verdict of the server that is named; `None` when the hooks have to run here.
    fn ask_server(&self, event: Event, input: &Input) -> Result<Option<Verdict>, CommandError> {
        // Without a server the project is not looked for twice.
        let Some(socket) = self.connect.socket(&self.config) else { return Ok(None) };
        let options = self.config.options(Purpose::Run)?;
        let asked = connect::ask(&socket, &options, Question::own(event, input), None);
        match Runtime::new()?.block_on(asked)? {
            Ok(None) => {
                warn("this machine has managed hooks: no server is asked, all hooks run here");
                Ok(None)
            }
            Ok(verdict) => Ok(verdict),
            Err(NoVerdict::NotRun(problem) | NoVerdict::Failed(problem)) => {
                warn(&format!("{problem}; the hooks run without it"));
                Ok(None)
            }
        }
    }

    /// Answers, and warns about the `notices` that the verdict does not say. `not_run` explains the
    /// hooks that are not in the verdict.
    fn answer(
        &self,
        verdict: &Verdict,
        notices: &Notices,
        not_run: impl FnOnce() -> Vec<Explanation>,
    ) -> Result<Exit, CommandError> {
        if self.log.verbose() {
            output::talk(&report::hooks(&verdict.hooks));
            output::talk(&report::not_run(&not_run()));
        }
        match self.format() {
            PlainFormat::Json => output::print_json_line(verdict)?,
            PlainFormat::Text => {
                let text = report::verdict(verdict);
                notices.warn_untold(&text);
                output::print(&text)?;
            }
        }
        Ok(Exit::of(verdict))
    }
}

/// What a person who tries a hook out wants to see on stderr beside the answer to the agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    /// What each hook did, or why it did not run.
    pub(super) hooks: bool,
    /// The verdict.
    pub(super) verdict: bool,
}

impl Shown {
    /// Shows the verdict on `call`. The `executor` knows why hooks did not run.
    pub(super) fn show(self, executor: Option<&Executor>, call: &NativeCall, verdict: &Verdict) {
        if self.hooks {
            output::talk(&report::hooks(&verdict.hooks));
            let not_run = executor.map(|executor| hookexec_agents::explain(executor, call));
            output::talk(&report::not_run(&not_run.unwrap_or_default()));
        }
        if self.verdict {
            output::talk(&report::verdict(verdict));
        }
    }
}

/// Returns the verdict on an event whose hooks must not run: each fails by its own `on_error`, and the
/// event is denied where it fails closed.
fn failed(executor: &Executor, event: Event, input: Option<&Input>, why: &str) -> Verdict {
    let mut verdict = Verdict::failed(event, why);
    verdict.absorb(executor.failed(event, input, why));
    verdict
}

/// Reads one name of a table; completions offer all of them.
#[derive(Debug, Clone)]
pub(crate) struct NameParser<T> {
    parse: fn(&str) -> Result<T, String>,
    names: fn() -> Vec<&'static str>,
}

impl<T> NameParser<T> {
    /// Returns the names that it offers.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        (self.names)()
    }
}

/// Reads an agent's name.
pub(crate) const AGENT: NameParser<Agent> = NameParser {
    parse: |name| name.parse().map_err(|error: UnknownAgent| error.to_string()),
    names: || Agent::all().map(Agent::name).collect(),
};

/// Reads the name of an agent to install in. Offers only those for which `install` can write something;
/// for the others it says what to do instead.
pub(crate) const INSTALLABLE: NameParser<Agent> = NameParser {
    names: || {
        let writes_file = |agent: &Agent| agent.plugin().is_none_or(|plugin| plugin.file.is_some());
        Agent::all().filter(writes_file).map(Agent::name).collect()
    },
    ..AGENT
};

/// Reads an event's name.
pub(crate) const EVENT: NameParser<Event> = NameParser {
    parse: |name| name.parse().map_err(|error: UnknownEvent| error.to_string()),
    names: || Event::all().map(Event::name).collect(),
};

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NameParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        TypedValueParser::parse_ref(&self.parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}
