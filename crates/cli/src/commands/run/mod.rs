//! `hookexec run`: one event in, one verdict out.

pub(crate) mod from;
mod plain;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hookexec::executor::DispatchOptions;
use hookexec::{Event, Executor, Input, Verdict};
use hookexec_agents::Agent;
use hookexec_files::depth;
use hookexec_serve::server::{self, Question, Reply};

use crate::commands::run::from::FromArgs;
use crate::config::{ConfigArgs, Notices, Purpose, not_too_deep};
use crate::console::output::{self, PlainFormat};
use crate::console::{report, verbose};
use crate::error::{CommandError, OrCommandError as _, warn, warn_all};
use crate::runtime::{Runtime, finish};
use crate::{Exit, input};

/// Runs the hooks of an event: its input on stdin, the verdict on stdout
///
/// Stdout is one line of JSON, or nothing without a verdict (exit codes from 64 on). The exit
/// code is the decision: 0 go on, 2 denied, 3 ask first. Treat any other as a denial. With `--from`
/// stdout and the exit code are the answer that the agent expects.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// The event; `hookexec docs events` lists them
    #[arg(value_parser = event_name(), required_unless_present = "from")]
    event: Option<Event>,

    #[command(flatten)]
    from: FromArgs,

    #[command(flatten)]
    config: ConfigArgs,

    /// Asks the `hookexec serve` that listens here, when it has the hooks of this project. Without an
    /// answer the hooks run in this process, and with `--from` the call is answered as one whose hooks
    /// failed. Beside managed hooks no server is asked
    #[arg(long, value_name = "PATH", conflicts_with_all = ["config", "isolated"], help_heading = "Server")]
    connect: Option<PathBuf>,

    /// How to write the verdict [default: json]; with `--from`, `text` shows it on stderr beside
    /// the answer
    #[arg(long, value_enum, help_heading = "Output")]
    format: Option<PlainFormat>,

    #[command(flatten)]
    log: verbose::LogArgs,

    /// Starts the hooks in the background and no others, and says nothing
    #[arg(long, hide = true, conflicts_with = "from", requires = "event")]
    background: bool,
}

const EXAMPLE: &str = r#"Example: echo '{"tool_name": "shell", "tool_input": {"cmd": "rm -rf /"}}' | hookexec run pre_tool_use"#;

impl Args {
    pub(crate) fn execute(self) -> Result<Exit, CommandError> {
        if let Some(agent) = self.from.from {
            self.log.start();
            return Ok(from::execute(self, agent));
        }
        let Some(event) = self.event else {
            return Err(CommandError::usage("which event? `hookexec docs events` lists them"));
        };
        if self.background { self.in_background(event) } else { self.dispatch(event) }
    }

    /// Does what another `hookexec` had no time for.
    fn in_background(&self, event: Event) -> Result<Exit, CommandError> {
        let input = input::parse("run", event, &input::read_stdin()?)?;
        not_too_deep()?;
        let loaded = self.config.load(Purpose::Run)?;
        loaded.notices.warn();
        let executor = loaded.executor()?;
        let runtime = Runtime::new()?;
        runtime.run(async {
            executor.start_background(event, &input);
            finish(&executor).await;
        })?;
        Ok(Exit::SUCCESS)
    }

    fn dispatch(&self, event: Event) -> Result<Exit, CommandError> {
        let stdin = input::read_stdin()?;
        let input = input::parse("run", event, &stdin);
        let too_deep = not_too_deep().err();
        if let Ok(input) = &input
            && too_deep.is_none()
            && let Some(verdict) = self.ask_server(event, input)?
        {
            return self.answer(&verdict, &Notices::default(), None);
        }
        let mut loaded = self.config.load(Purpose::Run)?;
        let notices = std::mem::take(&mut loaded.notices);
        match self.format {
            Some(PlainFormat::Text) => warn_all(notices.absent.iter().cloned()),
            _ => notices.warn(),
        }
        let executor = loaded.executor()?;
        if let Some(why) = too_deep {
            // The hooks must not run: each fails by its own `on_error`, and the event is denied where
            // it fails closed.
            let why = why.to_string();
            let mut verdict = Verdict::failed(event, &why);
            verdict.absorb(executor.failed(event, input.as_ref().ok(), &why));
            return self.answer(&verdict, &Notices::default(), None);
        }
        let input = input?;
        if !executor.concerns(event, &input) {
            let verdict = Verdict::no_opinion(event);
            let exit = self.answer(&verdict, &notices, Some((&executor, &input)));
            // Nothing was started, and the process ends: the system frees all at once.
            std::mem::forget((executor, input));
            return exit;
        }

        self.log.start();
        let runtime = Runtime::new()?;
        // Boxed, or its kilobytes would be moved from one place on the stack to the next.
        let verdict = runtime.run(Box::pin(async {
            let verdict = executor.dispatch(event, &input).await;
            executor.approve(verdict, &input, DispatchOptions::default()).await
        }))?;
        let exit = self.answer(&verdict, &notices, Some((&executor, &input)))?;
        // Hooks in the background end at their own timeouts. A signal ends them at once, and
        // changes nothing about the answer that was given.
        let _ = runtime.run(finish(&executor));
        // The process ends: the system frees all at once.
        std::mem::forget((executor, input));
        Ok(exit)
    }

    /// Returns the socket of the server that is named. There is none for a hook's own call: a server
    /// does not know how deep that is nested.
    fn socket(&self) -> Option<&Path> {
        if std::env::var_os(depth::VARIABLE).is_some() {
            return None;
        }
        self.connect.as_deref()
    }

    /// Returns the verdict of the server that is named; `None` when the hooks have to run here.
    fn ask_server(&self, event: Event, input: &Input) -> Result<Option<Verdict>, CommandError> {
        // Without a server the project is not looked for twice.
        let Some(socket) = self.socket() else { return Ok(None) };
        let options = self.config.options(Purpose::Run)?;
        let reply = server::ask(socket, &options, Question::Own(event, input), None);
        match Runtime::new()?.block_on(reply)? {
            Reply::Verdict(verdict) => return Ok(Some(*verdict)),
            Reply::RunHere(Some(why)) => warn(&why),
            Reply::RunHere(None) => {}
            Reply::Fail(problem) => return Err(CommandError::internal(problem)),
        }
        Ok(None)
    }

    /// Answers, and warns about the `notices` that the verdict does not say. With `loaded` hooks it
    /// explains those that are not in the verdict, if that is wanted.
    fn answer(
        &self,
        verdict: &Verdict,
        notices: &Notices,
        loaded: Option<(&Executor, &Input)>,
    ) -> Result<Exit, CommandError> {
        if self.log.verbose > 0 {
            output::talk(&report::hooks(&verdict.hooks, ""));
            if let Some((executor, input)) = loaded {
                output::talk(&report::not_run(&executor.explain(verdict.event, input)));
            }
        }
        if self.format == Some(PlainFormat::Text) {
            let text = report::verdict(verdict);
            warn_all(notices.failures(&text));
            output::print(&text)?;
        } else {
            let line = serde_json::to_string(verdict).or_internal("can't write JSON")?;
            output::print_data(&(line + "\n"))?;
        }
        Ok(Exit::of(verdict))
    }
}

/// Reads an agent's name. Offers those that are [installable](Agent::is_installable).
pub(crate) fn agent_name() -> impl TypedValueParser<Value = Agent> {
    let names =
        Agent::all().map(|agent| PossibleValue::new(agent.name()).hide(!agent.is_installable()));
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Agent>())
}

/// Reads an event's name.
pub(crate) fn event_name() -> impl TypedValueParser<Value = Event> {
    let names = Event::all().map(Event::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Event>())
}
