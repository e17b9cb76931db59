//! `hookexec run --from AGENT`: an agent's event in, an answer in its own dialect out.
//!
//! Every agent takes a hook that times out, is killed or says something unreadable for permission.
//! So there is always an answer, in time and in the dialect: wrong arguments, a broken payload or
//! configuration, a panic and a missed deadline are denials where the event decides.

mod caller;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookexec::event::FailureMode;
use hookexec::internal::{HandedOver, deadline_of_hooks, locked, state_directory};
use hookexec::{Event, Executor, Verdict};
use hookexec_agents::{Agent, Answer, Moment, NativeCall};
use tokio::time::{timeout, timeout_at};

use super::config::{ConfigArgs, Notices, Purpose, not_too_deep, tell_absent};
use super::connect;
use super::error::{CommandError, warn_all};
use super::run::Shown;
use super::runtime::Runtime;
use super::server::{NoVerdict, Question};
use super::{Exit, input, output, stops, system};
pub(crate) use caller::Caller;
use caller::{Standing, give};

/// Which coding agent calls.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Under a coding agent")]
pub(crate) struct FromArgs {
    /// Reads the payload of this agent and answers in its dialect; `hookexec docs agents` lists them
    #[arg(long, value_name = "AGENT", value_parser = super::run::AGENT)]
    pub(super) from: Option<Agent>,

    /// The agent's name for the event. Needed when the payload has none
    #[arg(long = "event", value_name = "NAME", requires = "from")]
    pub(super) native: Option<String>,

    /// How long the answer may take; less than the agent waits [default: 25]
    #[arg(long, value_name = "SECONDS", requires = "from", value_parser = seconds)]
    pub(super) within: Option<Duration>,
}

/// Below the shortest timeout that any of the agents has by default.
const WITHIN: Duration = Duration::from_secs(25);

/// How much later than asked for the last resort answers: a stuck program, not a slow hook.
const LAST_RESORT: Duration = Duration::from_millis(500);

/// Reads a time on the command line.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "give it in seconds, more than none".to_owned())
}

impl FromArgs {
    /// Returns the agent's call, when an agent calls.
    pub(crate) fn call(
        &self,
        event: Option<Event>,
        shown: Shown,
        server: Option<&Path>,
    ) -> Option<FromCall> {
        let agent = self.from?;
        let hint = self.native.clone().or_else(|| event.map(|event| event.name().to_owned()));
        Some(FromCall {
            caller: Caller { agent: Some(agent), hint },
            agent,
            server: server.map(Path::to_owned),
            within: self.within.unwrap_or(WITHIN),
            shown,
            as_installed: self.native.is_some() && self.within.is_some(),
        })
    }
}

/// One call by an agent.
pub(crate) struct FromCall {
    caller: Caller,
    agent: Agent,
    /// The server to ask.
    server: Option<PathBuf>,
    within: Duration,
    shown: Shown,
    /// Whether the command line says what every entry that `install` writes says.
    as_installed: bool,
}

/// Hooks that are loaded, and the arguments that name their files.
type Hooks = (Executor, ConfigArgs);

/// Results so far, for the answer when the rest is missing.
#[derive(Default)]
struct Progress {
    native: Option<&'static str>,
    call: Option<NativeCall>,
    /// Guards that are missing. The agent reads of them once a session.
    absent: Vec<String>,
    /// Warnings for stderr, if the agent reads no reason there.
    warnings: Vec<String>,
    hooks: Option<Hooks>,
    moment: Option<Moment>,
    /// The server's verdict.
    verdict: Option<Verdict>,
    /// Why the server gave no verdict.
    no_answer: Option<String>,
}

impl FromCall {
    /// Answers the agent.
    pub(crate) fn execute(self, config: &ConfigArgs) -> Exit {
        let started = Instant::now();
        let standing = Standing::default();
        self.caller.clone().watch(self.within + LAST_RESORT, Arc::clone(&standing));
        let runtime = match Runtime::new() {
            Ok(runtime) => runtime,
            Err(error) => return self.caller.fail(&error.to_string()),
        };
        let mut progress = Progress { native: self.caller.native(), ..Progress::default() };
        let decided = runtime.run(async {
            let decide = self.decide(config, started, &mut progress, &standing);
            tokio::time::timeout(self.within, decide).await.unwrap_or_else(|_| Err(self.late()))
        });
        let problem = match decided {
            Ok(problem) => problem.err(),
            Err(signal) => Some(signal.to_string()),
        };
        let answer = self.answer(&mut progress, problem);
        let exit = give(&answer);
        if answer.exit_code == 0 {
            warn_all(progress.warnings.drain(..));
        }
        if let Some(call) = progress.call.filter(|_| self.is_from_settings()) {
            note_firing(&call);
        }
        if let Some((executor, config)) = progress.hooks {
            for hooks in executor.take_handed_over() {
                if let Err(error) = hand_over(&config, &hooks) {
                    output::talk(&format!("hookexec: hooks in the background: {error}\n"));
                }
            }
            let left = self.within.saturating_sub(started.elapsed());
            let _ = runtime.run(executor.shutdown(left));
        }
        exit
    }

    /// Returns whether the agent seems to call, and not a person who tries it out: an agent calls
    /// as its settings say, and reads what is answered.
    fn is_from_settings(&self) -> bool {
        self.as_installed && !std::io::stdout().is_terminal()
    }

    /// Runs the hooks; `progress` has everything that is known, also when this is dropped.
    async fn decide(
        &self,
        config: &ConfigArgs,
        started: Instant,
        progress: &mut Progress,
        standing: &Standing,
    ) -> Result<(), String> {
        let Progress { native, call: read, hooks, moment, .. } = progress;
        let (agent, hint) = (self.agent, self.caller.hint.clone());
        let mut payload = tokio::task::spawn_blocking(move || payload(agent, hint.as_deref()));
        let early = tokio::time::timeout(self.within / 4, &mut payload).await;
        let waited = if let Ok(payload) = early {
            payload
        } else {
            *hooks = self.load(config, "").await.1;
            payload.await
        };
        let call = match waited.map_err(|error| error.to_string())? {
            Ok(call) => read.insert(call),
            Err((problem, named)) => {
                *native = named.or(*native);
                if hooks.is_none() {
                    *hooks = self.load(config, "").await.1;
                }
                return Err(problem);
            }
        };
        *native = Some(call.native.name);
        if call.event.is_none() {
            *moment = Some(Moment::new(call));
            return Ok(());
        }
        let until = deadline_of_hooks(started, self.within);
        if let Some(server) = &self.server {
            match ask(server, config, call, until).await {
                Ok(None) => {}
                Ok(verdict) => {
                    progress.verdict = verdict;
                    return Ok(());
                }
                Err(NoVerdict::NotRun(problem)) => {
                    progress.warnings.push(format!("{problem}; the hooks run without it"));
                }
                Err(NoVerdict::Failed(problem)) => {
                    // The hooks, if there is time to load them, say what their failure means.
                    progress.no_answer = Some(format!("{problem}; {}", remedy(server)));
                    if hooks.is_none() {
                        *hooks = self.load(config, &call.project).await.1;
                    }
                    return Ok(());
                }
            }
        }
        let (notices, loaded) = self.load(config, &call.project).await;
        if loaded.is_some() {
            *hooks = loaded;
        }
        let notices = notices?;
        progress.warnings.extend(notices.failures(""));
        progress.absent = notices.absent;
        not_too_deep().map_err(|error| error.to_string())?;
        let (executor, config) = hooks.take().ok_or_else(|| self.late())?;
        let (executor, _) = hooks.insert((executor.handing_over_background(), config));
        let last = hookexec_agents::unanswered(executor, call, &self.late());
        let last = hookexec_agents::answer(call, &last);
        *locked(standing) = Some(last);
        let moment = moment.insert(Moment::new(call));
        moment.run(executor, call, until).await;
        Ok(())
    }

    /// Loads the hooks for a `project`, and returns which files are missing, or why they can't be loaded
    /// in its directory. Then the hooks are those of other places, which judge the missing answer.
    async fn load(
        &self,
        config: &ConfigArgs,
        project: &str,
    ) -> (Result<Notices, String>, Option<Hooks>) {
        // A project has half of the time.
        let until = Instant::now() + self.within / 2;
        let config = in_project(config, project, until).await;
        let problem = match load_until(config.clone(), until).await {
            Ok((hooks, notices)) => return (Ok(notices), Some(hooks)),
            Err(problem) => problem,
        };
        let others = load_until(config.in_any_directory(), until).await;
        (Err(problem), others.ok().map(|(hooks, _)| hooks))
    }

    /// Returns the answer from what is known. With a `problem`, hooks that have not answered fail.
    fn answer(&self, progress: &mut Progress, problem: Option<String>) -> Answer {
        let executor = progress.hooks.as_ref().map(|(executor, _)| executor);
        let no_answer = progress.no_answer.take();
        let problem = no_answer.clone().or(problem);
        let failure = |problem: &str| {
            hookexec_agents::failure(self.agent, progress.native, executor, problem)
        };
        let Some(call) = progress.call.as_ref() else {
            return failure(&problem.unwrap_or_else(|| self.late()));
        };
        let mut verdict = match (progress.verdict.take(), progress.moment.take(), executor) {
            (Some(verdict), ..) => verdict,
            (None, Some(mut moment), Some(executor)) => {
                if let Some(problem) = problem {
                    moment.give_up(executor, call, &problem);
                }
                moment.into_verdict(call)
            }
            (None, Some(moment), None) if problem.is_none() => moment.into_verdict(call),
            (None, None, Some(executor)) if let Some(problem) = &no_answer => {
                without_server(executor, call, problem)
            }
            (None, ..) => return failure(&problem.unwrap_or_else(|| self.late())),
        };
        stops::limit(call, &mut verdict);
        self.shown.show(executor, call, &verdict);
        tell_absent(&progress.absent, &mut verdict);
        hookexec_agents::answer(call, &verdict)
    }

    fn late(&self) -> String {
        format!("no answer within {:?}", self.within)
    }
}

/// Asks the server for the verdict on `call`; `None` if the hooks must run in this process: beside
/// managed hooks, and where the project can't be found.
async fn ask(
    server: &Path,
    config: &ConfigArgs,
    call: &NativeCall,
    until: Option<Instant>,
) -> Result<Option<Verdict>, NoVerdict> {
    let (config, project) = (config.clone(), call.project.clone());
    let find = move || config.in_project(&project).options(Purpose::Judge);
    let finding = timeout(FIND_PROJECT, tokio::task::spawn_blocking(find));
    let Ok(Ok(Ok(options))) = finding.await else { return Ok(None) };
    connect::ask(server, &options, Question::native(call), until).await
}

/// Returns the verdict on a call that the server left without one. Where the event fails closed it is
/// denied, and each hook that matches has failed, by its own `on_error`.
fn without_server(executor: &Executor, call: &NativeCall, problem: &str) -> Verdict {
    let event = call.event.unwrap_or(Event::Notification);
    let mut verdict = match event.contract().failure {
        FailureMode::Open => Verdict::no_opinion(event),
        _ => Verdict::failed(event, &format!("hookexec: {problem}")),
    };
    let mut moment = Moment::new(call);
    moment.give_up(executor, call, problem);
    verdict.absorb(moment.into_verdict(call));
    verdict
}

/// How long finding the project may take before a server is asked.
const FIND_PROJECT: Duration = Duration::from_secs(1);

/// Returns what to do about a server that gives no verdict.
pub(crate) fn remedy(server: &Path) -> String {
    let server = server.display();
    format!(
        "start it anew with `hookexec serve --socket {server}` in the project, or take `--connect` \
         out of the agent's settings"
    )
}

/// Has hookexec work in the directory of a project. One that can't be found in time counts like one that
/// does not exist: the hooks run in the current directory, and the project's files can't be read.
async fn in_project(config: &ConfigArgs, project: &str, until: Instant) -> ConfigArgs {
    let (found, project) = (config.clone(), project.to_owned());
    let finding = tokio::task::spawn_blocking(move || found.in_project(&project));
    match timeout_at(until.into(), finding).await {
        Ok(Ok(config)) => config,
        _ => config.clone().without_project(),
    }
}

/// Loads the hooks. If a project's files take longer, this is a failure of the project's layer, and the
/// hooks of the others run.
async fn load_until(config: ConfigArgs, until: Instant) -> Result<(Hooks, Notices), String> {
    let load = |config: ConfigArgs| {
        let mut loaded = config.load(Purpose::Judge)?;
        let notices = std::mem::take(&mut loaded.notices);
        Ok(((loaded.executor()?, config), notices))
    };
    let load = move |config| load(config).map_err(|error: CommandError| error.to_string());
    let all = config.clone();
    let loading = tokio::task::spawn_blocking(move || load(all));
    match timeout_at(until.into(), loading).await {
        Ok(Ok(loaded)) => loaded,
        Ok(Err(panic)) => Err(panic.to_string()),
        Err(_) => load(config.without_project()),
    }
}

/// Reads the agent's call from stdin; an error comes with the agent's event, as far as it is known.
fn payload(agent: Agent, hint: Option<&str>) -> Result<NativeCall, (String, Option<&'static str>)> {
    let stdin = input::read_stdin().map_err(|error| (error.to_string(), None))?;
    hookexec_agents::read(agent, hint, &stdin, |name| std::env::var(name).ok())
        .map_err(|error| (error.to_string(), error.native))
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

/// Where it is noted when an agent last called: a file for each of its events.
pub(crate) fn firings(agent: Agent) -> Option<PathBuf> {
    Some(state_directory()?.join("hookexec/agents").join(agent.name()))
}

/// Notes that an agent called, for `hookexec doctor`; an answer never waits for it.
fn note_firing(call: &NativeCall) {
    let Some(directory) = firings(call.agent) else { return };
    let mut cwd = call.input.cwd.clone();
    if cwd.is_empty() {
        // Some payloads name no directory; the agent then started hookexec where it works.
        cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    }
    let write = || std::fs::write(directory.join(call.native.name), format!("{cwd}\n"));
    if write().is_err() && std::fs::create_dir_all(&directory).is_ok() {
        let _ = write();
    }
}
