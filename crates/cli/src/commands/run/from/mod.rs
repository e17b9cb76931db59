//! `hookexec run --from AGENT`: an agent's event in, an answer in its own dialect out.
//!
//! Every agent takes a hook that times out, is killed or says something unreadable for permission.
//! So there is always an answer, in time and in the dialect: wrong arguments, a broken payload or
//! configuration, a panic and a missed deadline are denials where the event decides.
//!
//! One thread works on the answer and gives it, while the main thread waits for signals and for the end of
//! the time. Each change between threads takes as long as a rule, so the work never leaves its thread.

mod caller;
mod work;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hookexec_agents::{Agent, Answer, NativeCall};
use hookexec_files::locks::locked;
use tokio::sync::{mpsc, watch};
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
    let (progress, stop) = (Mutex::new((0, Progress::Reading)), watch::Sender::default());
    let request = Arc::new(Request { args, agent, caller, started, within, progress, stop });
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
    /// The progress, and the attempt whose hooks run.
    progress: Mutex<(usize, Progress)>,
    /// Why the hooks are stopped.
    stop: watch::Sender<Option<CommandError>>,
}

/// How far the work on an answer has come.
enum Progress {
    Reading,
    /// A server is being asked.
    Asking(Arc<NativeCall>),
    /// The project is being found or loaded. A server may have failed before, for the reason given.
    Loading(Arc<NativeCall>, ConfigArgs, Option<String>),
    /// The hooks run. If one is stuck, this is the answer.
    Running(Answer),
}

impl Request {
    /// Has another thread answer, and answers itself if that one is stuck.
    async fn answer(self: &Arc<Self>) -> Result<Exit, CommandError> {
        let mut signals = runtime::listen()?;
        let (done, mut exits) = mpsc::unbounded_channel();
        start(Work::new(self, 0), &done)?;
        // A project has half of the time to be loaded, and the agent three quarters to write its call.
        let mut exit = self.exit_within(&mut exits, &mut signals, self.within / 2).await;
        for (may_read, until) in [(true, self.within / 4 * 3), (false, self.within)] {
            if !matches!(exit, Ok(None)) {
                break;
            }
            if let Some(work) = self.second_attempt(may_read) {
                // Without a thread for it the first attempt goes on.
                let _ = start(work, &done);
            }
            exit = self.exit_within(&mut exits, &mut signals, until).await;
        }
        let is_late = matches!(exit, Ok(None));
        let why = match exit {
            Ok(Some(exit)) => return Ok(exit),
            Ok(None) => self.late(),
            Err(signal) => signal,
        };
        // The hooks are stopped, and what the others have answered counts.
        self.stop.send_replace(Some(why.clone()));
        let is_running = matches!(*locked(&self.progress), (_, Progress::Running(_)));
        if (is_late || is_running)
            && let Ok(Some(exit)) = timeout(Duration::from_millis(500), exits.recv()).await
        {
            return Ok(exit);
        }
        match &*locked(&self.progress) {
            (_, Progress::Reading) => Err(why),
            (_, Progress::Asking(call) | Progress::Loading(call, ..)) => {
                Ok(give(&hookexec_agents::failure_of(call, None, &why.to_string())))
            }
            (_, Progress::Running(answer)) => Ok(give(answer)),
        }
    }

    /// Returns what to exit with, if the answer is given in this time.
    ///
    /// # Errors
    /// The signal that came first.
    async fn exit_within(
        &self,
        exits: &mut mpsc::UnboundedReceiver<Exit>,
        signals: &mut Signals,
        within: Duration,
    ) -> Result<Option<Exit>, CommandError> {
        tokio::select! {
            biased;
            (name, number) = signals.next() => Err(CommandError::interrupted(name, number)),
            exit = exits.recv() => Ok(exit),
            () = sleep_until((self.started + within).into()) => Ok(None),
        }
    }

    /// Returns the work again without the part that takes too long: the project, or the end of standard
    /// input unless the agent `may_read` on.
    fn second_attempt(self: &Arc<Self>, may_read: bool) -> Option<Work> {
        let mut work = Work::new(self, 1);
        match &locked(&self.progress).1 {
            Progress::Reading if !may_read => {
                let problem = format!("{}: the agent did not close standard input", self.late());
                work.read = Some(Err((CommandError::internal(problem), None)));
            }
            Progress::Loading(call, config, failure) => {
                work.config = config.clone().without_project();
                if work.config == *config {
                    return None;
                }
                work.read = Some(Ok(Arc::clone(call)));
                work.failure.clone_from(failure);
            }
            _ => return None,
        }
        Some(work)
    }

    /// Notes how far an attempt has come. Once the hooks of the other attempt run, this one stops for good.
    fn reach(&self, attempt: usize, reached: Progress) {
        let mut progress = locked(&self.progress);
        while matches!(&*progress, (other, Progress::Running(_)) if *other != attempt) {
            drop(progress);
            thread::park();
            progress = locked(&self.progress);
        }
        *progress = (attempt, reached);
    }

    /// Waits until the hooks are stopped, and returns why.
    async fn stopped(&self) -> CommandError {
        let mut stop = self.stop.subscribe();
        match stop.wait_for(Option::is_some).await.map(|why| why.clone()) {
            Ok(Some(why)) => why,
            _ => self.late(),
        }
    }

    fn late(&self) -> CommandError {
        CommandError::internal(format!("no answer within {:?}", self.within))
    }
}

/// Works on the answer in a thread of its own, which tells what to exit with.
fn start(work: Work, done: &mpsc::UnboundedSender<Exit>) -> Result<(), CommandError> {
    let (done, caller) = (done.clone(), work.request.caller.clone());
    // The stack of a main thread, on which all other commands work.
    let builder = thread::Builder::new().name("answer".to_owned()).stack_size(8 << 20);
    let started = builder.spawn(move || {
        let _ = done.send(guarded(Some(&caller), || work.finish()));
    });
    started.or_internal("can't start a thread")?;
    Ok(())
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
            stop: watch::Sender::default(),
        })
    }

    #[test]
    fn the_second_attempt_leaves_out_what_hangs() {
        let waiting = request(Progress::Reading);
        assert!(waiting.second_attempt(true).is_none());
        let second = waiting.second_attempt(false).unwrap();
        let (problem, _) = second.read.unwrap().unwrap_err();
        assert!(problem.to_string().ends_with("the agent did not close standard input"));

        let payload = br#"{"hook_event_name": "PreToolUse", "tool_name": "Bash"}"#;
        let call = || Arc::new(read(Agent::ClaudeCode, None, payload, |_| None).unwrap());
        let config = ConfigArgs::default();
        let failure = Some("the server died".to_owned());
        let loading = request(Progress::Loading(call(), config.clone(), failure.clone()));
        let second = loading.second_attempt(true).unwrap();
        assert!(second.read.unwrap().is_ok() && second.failure == failure);
        assert_eq!(second.config, config.clone().without_project());
        loading.reach(1, Progress::Loading(call(), second.config, failure));
        assert!(loading.second_attempt(false).is_none());

        let asking = request(Progress::Asking(call()));
        assert!(asking.second_attempt(false).is_none());
        let running = request(Progress::Running(Answer::default()));
        assert!(running.second_attempt(false).is_none());
    }
}
