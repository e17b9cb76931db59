//! `hookexec run --from AGENT`: an agent's event in, an answer in its own dialect out.
//!
//! Every agent takes a hook that times out, is killed or says something unreadable for permission.
//! So there is always an answer, in time and in the dialect: wrong arguments, a broken payload or
//! configuration, a panic and a missed deadline are denials where the event decides.

use std::ffi::OsStr;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use hookexec::internal::{HandedOver, deadline_of_hooks, locked, state_directory};
use hookexec::{Event, Executor};
use hookexec_agents::{Agent, Answer, Moment, NativeCall};
use tokio::time::timeout_at;

use super::config::{ConfigArgs, not_too_deep};
use super::error::{CommandError, warn_all};
use super::run::Shown;
use super::runtime::Runtime;
use super::{Exit, input, output, stops, system};

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
    pub(crate) fn call(&self, event: Option<Event>, shown: Shown) -> Option<FromCall> {
        let agent = self.from?;
        let hint = self.native.clone().or_else(|| event.map(|event| event.name().to_owned()));
        Some(FromCall {
            caller: Caller { agent: Some(agent), hint },
            agent,
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
    within: Duration,
    shown: Shown,
    /// Whether the command line says what every entry that `install` writes says.
    as_installed: bool,
}

/// Hooks that are loaded, and the arguments that name their files.
type Hooks = (Executor, ConfigArgs);

/// What there is to say of the hooks files.
#[derive(Default)]
struct Absences {
    /// Once a session: hooks that are missing, or that will fail.
    once: Vec<String>,
    /// On stderr, if the agent reads no reason there: files that can't be loaded.
    failures: Vec<String>,
}

/// What is known by now, for the answer when the rest is missing.
#[derive(Default)]
struct Progress {
    native: Option<&'static str>,
    call: Option<NativeCall>,
    absences: Absences,
    hooks: Option<Hooks>,
    moment: Option<Moment>,
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
            warn_all(progress.absences.failures.drain(..));
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
        let Progress { native, call: read, absences, hooks, moment } = progress;
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
        let (absent, loaded) = self.load(config, &call.project).await;
        if loaded.is_some() {
            *hooks = loaded;
        }
        *absences = absent?;
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
    ) -> (Result<Absences, String>, Option<Hooks>) {
        // A project has half of the time.
        let until = Instant::now() + self.within / 2;
        let config = in_project(config, project, until).await;
        let problem = match load_until(config.clone(), until).await {
            Ok((hooks, absent)) => return (Ok(absent), Some(hooks)),
            Err(problem) => problem,
        };
        let others = load_until(config.in_any_directory(), until).await;
        (Err(problem), others.ok().map(|(hooks, _)| hooks))
    }

    /// Returns the answer from what is known. With a `problem`, hooks that have not answered fail.
    fn answer(&self, progress: &mut Progress, problem: Option<String>) -> Answer {
        let Progress { native, call, absences, hooks, moment } = progress;
        let executor = hooks.as_ref().map(|(executor, _)| executor);
        let failure =
            |problem: &str| hookexec_agents::failure(self.agent, *native, executor, problem);
        let (Some(call), Some(mut moment)) = (call.as_ref(), moment.take()) else {
            return failure(&problem.unwrap_or_else(|| self.late()));
        };
        match (problem, executor) {
            (None, _) => {}
            (Some(problem), Some(executor)) => {
                moment.give_up(executor, call, &problem);
            }
            (Some(problem), None) => return failure(&problem),
        }
        let mut verdict = moment.into_verdict(call);
        stops::limit(call, &mut verdict);
        if let Some(executor) = executor {
            self.shown.show(executor, call, &verdict);
        }
        if !absences.once.is_empty() && call.event == Some(Event::SessionStart) {
            // Once a session, not at each of its events; last, because an agent may cut what is long.
            let told = verdict.system_message.take().into_iter().chain(absences.once.drain(..));
            verdict.system_message = Some(told.collect::<Vec<_>>().join("\n"));
        }
        hookexec_agents::answer(call, &verdict)
    }

    fn late(&self) -> String {
        format!("no answer within {:?}", self.within)
    }
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
async fn load_until(config: ConfigArgs, until: Instant) -> Result<(Hooks, Absences), String> {
    let load = |config: ConfigArgs| {
        let loaded = config.load_to_judge()?;
        let once = loaded.absences().map(|absence| format!("hookexec: {absence}")).collect();
        let failures = loaded.failures().map(|failure| failure.line).collect();
        Ok(((loaded.executor()?, config), Absences { once, failures }))
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

/// Which agent to answer, and about which event, when nothing else is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Caller {
    /// `None` when no agent has the name on the command line.
    agent: Option<Agent>,
    hint: Option<String>,
}

impl Caller {
    /// Finds the calling agent in the arguments as they are: also when they are wrong, and the
    /// parser's exit code would let a tool through.
    pub(crate) fn of(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<Self> {
        let text = |argument: &OsStr| argument.to_string_lossy().into_owned();
        let arguments: Vec<String> =
            arguments.into_iter().map(|argument| text(argument.as_ref())).collect();
        let value = |flag: &str| {
            let joined = format!("{flag}=");
            let is_flag = |argument: &String| argument == flag || argument.starts_with(&joined);
            let place = arguments.iter().position(is_flag)?;
            let next = || arguments.get(place + 1).cloned().unwrap_or_default();
            Some(arguments[place].strip_prefix(&joined).map_or_else(next, str::to_owned))
        };
        let runs = arguments.iter().skip(1).find(|argument| !argument.starts_with('-'));
        if runs.map(String::as_str) != Some("run") {
            return None;
        }
        Some(Self { agent: value("--from")?.parse().ok(), hint: value("--event") })
    }

    /// Answers that hookexec could not decide.
    pub(crate) fn fail(&self, message: &str) -> Exit {
        give(&self.failure(message))
    }

    fn failure(&self, message: &str) -> Answer {
        // Exit code 2 with a reason on standard error is a denial for every agent.
        hookexec_agents::failure(
            self.agent.unwrap_or(Agent::ClaudeCode),
            self.native(),
            None,
            message,
        )
    }

    fn native(&self) -> Option<&'static str> {
        Some(self.agent?.native_event(self.hint.as_deref()?)?.name)
    }

    /// Answers in the last moment, if nothing else has by then.
    fn watch(self, last: Duration, standing: Standing) {
        let late = move || {
            std::thread::sleep(last);
            let exit = match GIVEN.try_lock() {
                // Another thread is blocked while it writes its answer.
                Err(TryLockError::WouldBlock) => Exit::Denied,
                given => {
                    drop(given);
                    let failure = || self.failure(&format!("no answer within {last:?}"));
                    give(&locked(&standing).take().unwrap_or_else(failure))
                }
            };
            std::process::exit(i32::from(exit.code()));
        };
        // Without a thread for it there is still the timer of the runtime.
        let _ = std::thread::Builder::new().name("last resort".to_owned()).spawn(late);
    }
}

/// The answer that is given if hookexec itself is stuck, once the hooks are known.
type Standing = Arc<Mutex<Option<Answer>>>;

/// The exit code that went with the answer; only one answer leaves the process.
static GIVEN: Mutex<Option<Exit>> = Mutex::new(None);

/// Writes an answer, unless one was written before, and returns what to exit with.
///
/// What stands on stdout comes first: an agent that leaves stderr unread still gets it. Where
/// stdout is lost, exit code 2 says no in its place.
fn give(answer: &Answer) -> Exit {
    let mut given = locked(&GIVEN);
    if let Some(exit) = *given {
        return exit;
    }
    let (exit, last_word) = match (output::answer(&answer.stdout), &answer.fallback) {
        (Ok(()), _) if answer.exit_code == 0 => (Exit::Success, String::new()),
        (Ok(()), _) => (Exit::Denied, String::new()),
        (Err(error), Some(reason)) => {
            (Exit::Denied, format!("{reason}\nhookexec: can't write to stdout: {error}\n"))
        }
        (Err(error), None) => {
            (Exit::Success, format!("hookexec: can't write to stdout: {error}\n"))
        }
    };
    *given = Some(exit);
    drop(given);
    output::talk(&last_word);
    output::talk(&answer.stderr);
    exit
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

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(arguments: &str) -> Option<(Option<Agent>, Option<String>)> {
        Caller::of(arguments.split(' ')).map(|caller| (caller.agent, caller.hint))
    }

    #[test]
    fn the_caller_is_found_in_arguments_that_are_wrong() {
        let pre = || Some("PreToolUse".to_owned());
        for (arguments, expected) in [
            ("hookexec run --from codex --event PreToolUse", Some((Some(Agent::Codex), pre()))),
            ("hookexec run --from=codex --nonsense", Some((Some(Agent::Codex), None))),
            ("hookexec run --event=PreToolUse --from codx", Some((None, pre()))),
            ("hookexec run --from", Some((None, None))),
            ("hookexec run pre_tool_use", None),
            ("hookexec explain --from codex", None),
        ] {
            assert_eq!(caller(arguments), expected, "{arguments}");
        }
    }
}
