//! `hookexec run --from AGENT`: an agent's event in, an answer in its own dialect out.
//!
//! Every agent takes a hook that times out, is killed or says something unreadable for permission.
//! So there is always an answer, in time and in the dialect: wrong arguments, a broken payload or
//! configuration, a panic and a missed deadline are denials where the event decides.
//!
//! One thread does the work on the answer, and gives it. This one waits for signals and for the end of the
//! time. Each change between threads takes as long as a rule, so the work never leaves its thread.

mod caller;
mod work;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hookexec_agents::{Agent, Answer, NativeCall};
use hookexec_files::locks::locked;
use tokio::sync::oneshot;
use tokio::time::{sleep_until, timeout};

use crate::commands::run::Args;
use crate::config::ConfigArgs;
use crate::error::{CommandError, OrCommandError as _};
use crate::runtime::{self, Runtime};
use crate::system::Signals;
use crate::{Exit, guarded};
pub(crate) use caller::Caller;
use caller::give;
use work::Work;
pub(crate) use work::payload;

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
pub(super) fn execute(args: Args, agent: Agent) -> Exit {
    let started = Instant::now();
    // Below the shortest timeout that any of the agents has by default.
    let within = args.from.within.unwrap_or(Duration::from_secs(25));
    let event = args.event.map(|event| event.name().to_owned());
    let hint = args.from.native.clone().or(event);
    let caller = Caller { agent: Some(agent), hint };
    let progress = Mutex::new((0, Progress::Reading));
    let request = Arc::new(Request { args, agent, caller, started, within, progress });
    let answered = Runtime::new().and_then(|runtime| runtime.block_on(request.answer())?);
    answered.unwrap_or_else(|error| request.caller.fail(&error.to_string()))
}

/// A call of an agent, and how far the work on it has come.
struct Request {
    args: Args,
    agent: Agent,
    caller: Caller,
    started: Instant,
    within: Duration,
    /// The number of the attempt that counts, and its progress.
    progress: Mutex<(usize, Progress)>,
}

/// How far the work on an answer has come.
enum Progress {
    Reading,
    /// The hooks of these files are loaded.
    Loading(Box<NativeCall>, ConfigArgs),
    /// The hooks run, here or in a server. If one is stuck, this is the answer.
    Running(Answer),
}

impl Request {
    /// Has another thread answer, and answers itself if that one is stuck.
    async fn answer(self: &Arc<Self>) -> Result<Exit, CommandError> {
        let mut signals = runtime::listen()?;
        let mut worker = Worker::start(Work::new(self))?;
        let mut exit = worker.exit(&mut signals, self.started + self.within / 2).await;
        if matches!(exit, Ok(None)) {
            if let Some(work) = self.second_attempt() {
                worker = Worker::start(work)?;
            }
            exit = worker.exit(&mut signals, self.started + self.within).await;
        }
        let why = match exit {
            Ok(Some(exit)) => return Ok(exit),
            Ok(None) => self.late(),
            Err(signal) => signal,
        };
        // The hooks are stopped, and what the others have answered counts.
        let _ = worker.stop.send(why.clone());
        if matches!(*locked(&self.progress), (_, Progress::Running(_)))
            && let Ok(Ok(exit)) = timeout(Duration::from_millis(500), worker.done).await
        {
            return Ok(exit);
        }
        match &*locked(&self.progress) {
            (_, Progress::Reading) => Err(why),
            (_, Progress::Loading(call, _)) => {
                Ok(give(&hookexec_agents::failure_of(call, None, &why.to_string())))
            }
            (_, Progress::Running(answer)) => Ok(give(answer)),
        }
    }

    /// Returns the work again without what takes too long: the end of standard input, or the project.
    fn second_attempt(self: &Arc<Self>) -> Option<Work> {
        let mut progress = locked(&self.progress);
        let mut work = Work::new(self);
        match &progress.1 {
            Progress::Running(_) => return None,
            Progress::Reading => {
                let problem = format!("{}: the agent did not close standard input", self.late());
                work.read = Some(Err((CommandError::internal(problem), None)));
            }
            Progress::Loading(call, config) => {
                work.read = Some(Ok((**call).clone()));
                work.config = config.clone().without_project();
            }
        }
        progress.0 += 1;
        work.attempt = progress.0;
        Some(work)
    }

    /// Notes how far an attempt has come. One that counts no more ends here.
    fn reach(&self, attempt: usize, reached: Progress) {
        let mut progress = locked(&self.progress);
        while progress.0 != attempt {
            drop(progress);
            thread::park();
            progress = locked(&self.progress);
        }
        progress.1 = reached;
    }

    fn late(&self) -> CommandError {
        CommandError::internal(format!("no answer within {:?}", self.within))
    }
}

/// A thread that works on the answer.
struct Worker {
    done: oneshot::Receiver<Exit>,
    /// Stops the hooks, and says why.
    stop: oneshot::Sender<CommandError>,
}

impl Worker {
    fn start(work: Work) -> Result<Self, CommandError> {
        let ((send, done), (stop, stopped)) = (oneshot::channel(), oneshot::channel());
        // The stack of a main thread, on which all other commands work.
        let builder = thread::Builder::new().name("answer".to_owned()).stack_size(8 << 20);
        let caller = work.request.caller.clone();
        let started = builder.spawn(move || {
            let _ = send.send(guarded(Some(&caller), || work.finish(stopped)));
        });
        started.or_internal("can't start a thread")?;
        Ok(Self { done, stop })
    }

    /// Returns what to exit with, if the answer is given before `until`.
    ///
    /// # Errors
    /// The signal that came first.
    async fn exit(
        &mut self,
        signals: &mut Signals,
        until: Instant,
    ) -> Result<Option<Exit>, CommandError> {
        tokio::select! {
            biased;
            (name, number) = signals.next() => Err(CommandError::interrupted(name, number)),
            done = &mut self.done => Ok(Some(done.unwrap_or(Exit::DENIED))),
            () = sleep_until(until.into()) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use hookexec_agents::read;

    use super::*;

    fn request(progress: Progress) -> Arc<Request> {
        Arc::new(Request {
            args: Args::default(),
            agent: Agent::ClaudeCode,
            caller: Caller { agent: Some(Agent::ClaudeCode), hint: None },
            started: Instant::now(),
            within: Duration::from_secs(2),
            progress: Mutex::new((0, progress)),
        })
    }

    #[test]
    fn the_second_attempt_leaves_out_what_hangs_and_the_first_counts_no_more() {
        let waiting = request(Progress::Reading);
        let second = waiting.second_attempt().unwrap();
        let (problem, _) = second.read.unwrap().unwrap_err();
        assert!(problem.to_string().ends_with("the agent did not close standard input"));

        let payload = br#"{"hook_event_name": "PreToolUse", "tool_name": "Bash"}"#;
        let call = || read(Agent::ClaudeCode, None, payload, |_| None).unwrap();
        let config = ConfigArgs::default();
        let loading = request(Progress::Loading(Box::new(call()), config.clone()));
        let second = loading.second_attempt().unwrap();
        assert!(second.read.unwrap().is_ok());
        assert_eq!(second.config, config.clone().without_project());
        assert_eq!((second.attempt, locked(&loading.progress).0), (1, 1));

        let running = request(Progress::Running(Answer::default()));
        assert!(running.second_attempt().is_none());
    }
}
