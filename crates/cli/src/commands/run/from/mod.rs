//! `hookexec run --from AGENT`: an agent's event in, an answer in its own dialect out.
//!
//! Every agent takes a hook that times out, is killed or says something unreadable for permission.
//! So there is always an answer, in time and in the dialect: wrong arguments, a broken payload or
//! configuration, a panic and a missed deadline are denials where the event decides.

mod caller;

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookexec::executor::{HandedOver, deadline_of_hooks};
use hookexec::{Event, Executor, Verdict};
use hookexec_agents::{Agent, Answer, Moment, NativeCall};
use hookexec_files::locks::locked;
use hookexec_serve::server::{Question, tell_absent};
use hookexec_setup::doctor::firings;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{sleep_until, timeout, timeout_at};

use crate::commands::run::Args;
use crate::config::{ConfigArgs, Notices, Purpose, not_too_deep};
use crate::connect::{self, Reply};
use crate::console::output::{self, PlainFormat};
use crate::console::report;
use crate::error::{CommandError, warn_all};
use crate::runtime::{self, Runtime};
use crate::system::Signals;
use crate::{Exit, input, system};
pub(crate) use caller::Caller;
use caller::{Standing, give};

/// Which coding agent calls.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Under a coding agent")]
pub(crate) struct FromArgs {
    /// Reads the payload of this agent and answers in its dialect; `hookexec docs agents` lists them
    #[arg(long, value_name = "AGENT", value_parser = crate::commands::run::agent_name())]
    pub(crate) from: Option<Agent>,

    /// The agent's name for the event. Needed when the payload has none
    #[arg(long = "event", value_name = "NAME", requires = "from")]
    pub(crate) native: Option<String>,

    /// How long the answer may take; less than the agent waits [default: 25]
    #[arg(long, value_name = "SECONDS", requires = "from", value_parser = seconds)]
    pub(crate) within: Option<Duration>,
}

/// Reads a time on the command line.
pub(crate) fn seconds(text: &str) -> Result<Duration, &'static str> {
    if let Ok(seconds) = text.parse()
        && seconds > 0.0
        && let Ok(time) = Duration::try_from_secs_f64(seconds)
    {
        return Ok(time);
    }
    Err("give it in seconds, more than none")
}

/// Answers the `agent` about the call on stdin.
pub(super) fn execute(args: &Args, agent: Agent) -> Exit {
    let started = Instant::now();
    // Below the shortest timeout that any of the agents has by default.
    let within = args.from.within.unwrap_or(Duration::from_secs(25));
    let event = args.event.map(|event| event.name().to_owned());
    let hint = args.from.native.clone().or(event);
    let caller = Caller { agent: Some(agent), hint };
    let standing = Standing::default();
    // How much later than asked for the last resort answers: a stuck program, not a slow hook.
    caller.clone().watch(within + Duration::from_millis(500), Arc::clone(&standing));
    let mut work = Work {
        args,
        caller: &caller,
        agent,
        within,
        until: deadline_of_hooks(started, within),
        standing,
        call: None,
        hooks: None,
        absent: Vec::new(),
        warnings: Vec::new(),
    };
    let late = format!("no answer within {within:?}");
    let answered = Runtime::new().and_then(|runtime| {
        let answer = runtime.block_on(async {
            let signals = runtime::listen()?;
            let end = End { signals, at: started + within, late, reached: None };
            Ok(work.answer(end).await)
        });
        Ok((runtime, answer.flatten()?))
    });
    let (runtime, answer) = match answered {
        Ok(answered) => answered,
        Err(error) => return caller.fail(&error.to_string()),
    };
    let exit = give(&answer);
    if answer.exit_code == 0 {
        warn_all(work.warnings);
    }
    // A person who tries a call out reads the answer at a terminal, or leaves out what every entry
    // of `install` says.
    let is_as_installed = args.from.native.is_some() && args.from.within.is_some();
    if let Some(call) = work.call
        && is_as_installed
        && !std::io::stdout().is_terminal()
    {
        firings::note(&call);
    }
    if let Some((executor, config)) = work.hooks {
        for hooks in executor.take_handed_over() {
            if let Err(error) = hand_over(&config, &hooks) {
                output::talk(&format!("hookexec: hooks in the background: {error}\n"));
            }
        }
        let left = within.saturating_sub(started.elapsed());
        let _ = runtime.run(executor.shutdown(left));
    }
    exit
}

/// The end of the time for an answer: a signal, or the time that the agent gives.
struct End {
    signals: Signals,
    at: Instant,
    /// The text that says that the time is over.
    late: String,
    /// Why no more work is done, once the end is reached.
    reached: Option<CommandError>,
}

impl End {
    /// Does `work`, unless the end comes first.
    ///
    /// # Errors
    /// Why it was not done, or not to its end.
    async fn before<T>(&mut self, work: impl Future<Output = T>) -> Result<T, CommandError> {
        if let Some(why) = &self.reached {
            return Err(why.clone());
        }
        let why = tokio::select! {
            biased;
            (name, number) = self.signals.next() => CommandError::interrupted(name, number),
            done = work => return Ok(done),
            () = sleep_until(self.at.into()) => self.late(),
        };
        self.reached = Some(why.clone());
        Err(why)
    }

    fn late(&self) -> CommandError {
        CommandError::internal(&*self.late)
    }
}

/// Hooks that are loaded, and the arguments that name their files.
type Hooks = (Executor, ConfigArgs);

/// The work on the answer to one call, and what is left to do after it.
struct Work<'c> {
    args: &'c Args,
    caller: &'c Caller,
    agent: Agent,
    within: Duration,
    /// When hooks must have answered.
    until: Option<Instant>,
    standing: Standing,
    call: Option<NativeCall>,
    /// The hooks, once they are loaded.
    hooks: Option<Hooks>,
    /// Guards that are missing. The agent reads of them once a session.
    absent: Vec<String>,
    /// Warnings for stderr, if the agent reads no reason there.
    warnings: Vec<String>,
}

impl Work<'_> {
    /// Returns the answer to the call on stdin.
    async fn answer(&mut self, mut end: End) -> Answer {
        let call = match self.read_call(&mut end).await {
            Ok(call) => call,
            Err((problem, native)) => {
                let _ = self.load(self.args.config.clone(), &mut end).await;
                let native = native.or_else(|| self.caller.native());
                let problem = problem.to_string();
                return hookexec_agents::failure(self.agent, native, self.executor(), &problem);
            }
        };
        let answer = match self.verdict(&call, &mut end).await {
            Ok(mut verdict) => {
                hookexec_agents::limit_stops(&call, &mut verdict);
                self.show(&call, &verdict);
                tell_absent(&self.absent, &mut verdict);
                hookexec_agents::answer(&call, &verdict)
            }
            Err(problem) => {
                hookexec_agents::failure_of(&call, self.executor(), &problem.to_string())
            }
        };
        self.call = Some(call);
        answer
    }

    /// Reads the call from stdin.
    async fn read_call(&self, end: &mut End) -> Result<NativeCall, Unreadable> {
        let (agent, hint) = (self.agent, self.caller.hint.clone());
        let reading = spawn_blocking(move || payload(agent, hint.as_deref()));
        // In the rest of the time the hooks are loaded, which say what a missing payload means.
        match end.before(timeout(self.within / 4 * 3, reading)).await {
            Ok(Ok(read)) => read.unwrap_or_else(|panic| Err((died(&panic), None))),
            Ok(Err(_)) => {
                let problem = format!("{}: the agent did not close standard input", end.late);
                Err((CommandError::internal(problem), None))
            }
            Err(problem) => Err((problem, None)),
        }
    }

    /// Returns the verdict of the server that is named, or of the hooks, which run here.
    ///
    /// # Errors
    /// Why neither has one.
    async fn verdict(&mut self, call: &NativeCall, end: &mut End) -> Result<Verdict, CommandError> {
        let mut moment = Moment::new(call);
        if call.event.is_none() {
            return Ok(moment.into_verdict(call));
        }
        let unknown = hookexec_agents::failure_of(call, None, &end.late);
        *locked(&self.standing) = Some(unknown);
        // A project has half of the time, to be found as to be loaded.
        let found = in_project(&self.args.config, &call.project, self.within / 2);
        let config = end.before(found).await?;
        if let Some(socket) = self.args.connect.socket()
            && let Ok(options) = config.options(Purpose::Judge)
        {
            let reply = connect::ask(socket, &options, Question::Native(call), self.until);
            match end.before(reply).await? {
                Reply::Verdict(verdict) => return Ok(*verdict),
                Reply::RunHere(why) => self.warnings.extend(why),
                Reply::Fail(problem) => {
                    // The hooks, if there is time to load them, say what their failure means.
                    let _ = self.load(config, end).await;
                    let Some(executor) = self.executor() else {
                        return Err(CommandError::internal(problem));
                    };
                    return Ok(without_server(executor, call, &problem));
                }
            }
        }
        let notices = self.load(config, end).await?;
        self.warnings.extend(notices.failures(""));
        self.absent = notices.absent;
        not_too_deep()?;
        let Some(executor) = self.executor() else { return Err(end.late()) };
        let last = hookexec_agents::unanswered(executor, call, &end.late);
        *locked(&self.standing) = Some(hookexec_agents::answer(call, &last));
        if let Err(problem) = end.before(moment.run(executor, call, self.until)).await {
            moment.give_up(executor, call, &problem.to_string());
        }
        Ok(moment.into_verdict(call))
    }

    /// Shows details on stderr, beside the answer to the agent, for a person who tries a hook out.
    fn show(&self, call: &NativeCall, verdict: &Verdict) {
        if self.args.log.verbose > 0 {
            output::talk(&report::hooks(&verdict.hooks, ""));
            if let Some(executor) = self.executor() {
                output::talk(&report::not_run(&hookexec_agents::explain(executor, call)));
            }
        }
        if self.args.format == Some(PlainFormat::Text) {
            output::talk(&report::verdict(verdict));
        }
    }

    fn executor(&self) -> Option<&Executor> {
        self.hooks.as_ref().map(|(executor, _)| executor)
    }

    /// Loads the hooks, and returns which files are missing.
    ///
    /// # Errors
    /// Why they can't be loaded in this directory. Then the hooks are those of other places, which judge
    /// the missing answer.
    async fn load(&mut self, config: ConfigArgs, end: &mut End) -> Result<Notices, CommandError> {
        let until = Instant::now() + self.within / 2;
        let problem = match end.before(load_until(config.clone(), until)).await? {
            Ok((hooks, notices)) => {
                self.hooks = Some(hooks);
                return Ok(notices);
            }
            Err(problem) => problem,
        };
        let others = load_until(config.in_usable_directory(), until);
        if let Ok((hooks, _)) = end.before(others).await? {
            self.hooks = Some(hooks);
        }
        Err(problem)
    }
}

/// Returns the verdict on a call that the server left without one. Where the event fails closed it is
/// denied, and each hook that matches has failed, by its own `on_error`.
fn without_server(executor: &Executor, call: &NativeCall, problem: &str) -> Verdict {
    let event = call.event.unwrap_or(Event::Notification);
    let mut verdict = Verdict::failed(event, &format!("hookexec: {problem}"));
    let mut moment = Moment::new(call);
    moment.give_up(executor, call, problem);
    verdict.absorb(moment.into_verdict(call));
    verdict
}

/// Has hookexec work in the directory of a project. One that can't be found in time counts like one that
/// does not exist: the hooks run in the current directory, and the project's files can't be read.
async fn in_project(config: &ConfigArgs, project: &str, within: Duration) -> ConfigArgs {
    let (found, project) = (config.clone(), project.to_owned());
    let finding = spawn_blocking(move || found.in_project(&project));
    match timeout(within, finding).await {
        Ok(Ok(config)) => config,
        _ => config.clone().without_project(),
    }
}

/// Loads the hooks. If a project's files take longer, this is a failure of the project's layer, and the
/// hooks of the others run.
async fn load_until(config: ConfigArgs, until: Instant) -> Result<(Hooks, Notices), CommandError> {
    let all = config.clone();
    let loading = spawn_blocking(move || load(all));
    match timeout_at(until.into(), loading).await {
        Ok(loaded) => loaded.unwrap_or_else(|panic| Err(died(&panic))),
        Err(_) => load(config.without_project()),
    }
}

fn load(config: ConfigArgs) -> Result<(Hooks, Notices), CommandError> {
    let mut loaded = config.load(Purpose::Judge)?;
    let notices = std::mem::take(&mut loaded.notices);
    Ok(((loaded.brief_executor()?.handing_over_background(), config), notices))
}

fn died(panic: &JoinError) -> CommandError {
    CommandError::internal(panic.to_string())
}

/// Why a call can't be read, and the agent's event as far as it is known.
pub(crate) type Unreadable = (CommandError, Option<&'static str>);

/// Reads the agent's call from stdin.
pub(crate) fn payload(agent: Agent, hint: Option<&str>) -> Result<NativeCall, Unreadable> {
    let stdin = input::read_stdin().map_err(|problem| (problem, None))?;
    match hookexec_agents::read(agent, hint, &stdin, |name| std::env::var(name).ok()) {
        Ok(call) => Ok(call),
        Err(error) => Err((CommandError::data(error.to_string()), error.native)),
    }
}

/// Leaves hooks in the background to a process of its own, which holds none of the pipes that the agent
/// waits for: it goes on with the turn once they are closed.
fn hand_over(config: &ConfigArgs, (event, input): &HandedOver) -> std::io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["run", event.name(), "--background"]).args(config.arguments());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = system::detach(&mut command).spawn()?;
    let mut stdin = child.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    stdin.write_all(&serde_json::to_vec(input)?)
}
