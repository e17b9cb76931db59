//! The work on the answer to one call, from standard input to the end of its hooks.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use hookexec::executor::{HandedOver, deadline_of_hooks};
use hookexec::{Executor, Verdict};
use hookexec_agents::{Agent, Answer, Moment, NativeCall};
use hookexec_serve::server::{self, Question, Reply, tell_absent};
use hookexec_setup::doctor::firings;

use super::caller::give;
use super::{Progress, Request};
use crate::config::{ConfigArgs, Notices, Purpose, not_too_deep};
use crate::console::output::{self, PlainFormat};
use crate::console::report;
use crate::error::{CommandError, warn_all};
use crate::runtime::Runtime;
use crate::{Exit, input, system};

/// One attempt to answer a call.
pub(super) struct Work {
    pub(super) request: Arc<Request>,
    attempt: usize,
    /// The call, if another attempt has read it.
    pub(super) read: Option<Result<Arc<NativeCall>, Unreadable>>,
    pub(super) config: ConfigArgs,
    /// Why the server has failed. It may have run the hooks, so here only their `on_error` counts.
    pub(super) failure: Option<String>,
    /// The hooks, once they are loaded.
    executor: Option<Executor>,
    /// Guards that are missing. The agent reads of them once a session.
    absent: Vec<String>,
    /// Warnings for stderr, if the agent reads no reason there.
    warnings: Vec<String>,
}

impl Work {
    pub(super) fn new(request: &Arc<Request>, attempt: usize) -> Self {
        Self {
            config: request.args.config.clone(),
            request: Arc::clone(request),
            attempt,
            read: None,
            failure: None,
            executor: None,
            absent: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Answers the call, and does what is left to do after it.
    pub(super) fn finish(mut self) -> Exit {
        let request = Arc::clone(&self.request);
        let read = self.read.take();
        let hint = request.caller.hint.as_deref();
        let read = read.unwrap_or_else(|| payload(request.agent, hint).map(Arc::new));
        let running = Runtime::new().and_then(|runtime| {
            let answer = runtime.block_on(self.answer(&read))?;
            Ok((runtime, answer))
        });
        let (runtime, answer) = match running {
            Ok(running) => running,
            Err(error) => return request.caller.fail(&error.to_string()),
        };
        self.reach(Progress::Running(answer.clone()));
        let exit = give(&answer);
        if answer.exit_code == 0 {
            warn_all(std::mem::take(&mut self.warnings));
        }
        // A person who tries a call out reads the answer at a terminal, or leaves out what every entry
        // of `install` says.
        let is_as_installed =
            request.args.from.native.is_some() && request.args.from.within.is_some();
        if let Ok(call) = read
            && is_as_installed
            && !std::io::stdout().is_terminal()
        {
            firings::note(&call);
        }
        if let Some(executor) = self.executor {
            for hooks in executor.take_handed_over() {
                if let Err(error) = hand_over(&self.config, &hooks) {
                    output::talk(&format!("hookexec: hooks in the background: {error}\n"));
                }
            }
            let left = request.within.saturating_sub(request.started.elapsed());
            let _ = runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = request.stopped() => {}
                    () = executor.shutdown(left) => {}
                }
            });
            // The process ends: the system frees all at once.
            std::mem::forget(executor);
        }
        exit
    }

    /// Returns the answer to a call, or to one that can't be read.
    async fn answer(&mut self, read: &Result<Arc<NativeCall>, Unreadable>) -> Answer {
        let request = Arc::clone(&self.request);
        let call = match read {
            Ok(call) => call,
            Err((problem, native)) => {
                // The hooks say what their failure means.
                let _ = self.load();
                let native = native.or_else(|| request.caller.native());
                let (executor, problem) = (self.executor.as_ref(), problem.to_string());
                return hookexec_agents::failure(request.agent, native, None, executor, &problem);
            }
        };
        let mut verdict = match self.verdict(call).await {
            Ok(verdict) => verdict,
            Err(problem) => {
                let (executor, problem) = (self.executor.as_ref(), problem.to_string());
                return hookexec_agents::failure_of(call, executor, &problem);
            }
        };
        hookexec_agents::limit_stops(call, &mut verdict);
        self.show(call, &verdict);
        tell_absent(&self.absent, &mut verdict);
        hookexec_agents::answer(call, &verdict)
    }

    /// Returns the verdict of the server that is named, or of the hooks, which run here.
    ///
    /// # Errors
    /// Why neither has one.
    async fn verdict(&mut self, call: &Arc<NativeCall>) -> Result<Verdict, CommandError> {
        let mut moment = Moment::new(call);
        if call.event.is_none() {
            return Ok(moment.into_verdict(call));
        }
        let request = Arc::clone(&self.request);
        let until = deadline_of_hooks(request.started, request.within);
        if self.attempt == 0 {
            self.note_loading(call);
            self.config = self.config.clone().in_project(&call.project);
            if let Some(verdict) = self.ask_server(call, until).await? {
                return Ok(verdict);
            }
        }
        self.note_loading(call);
        let loaded = self.load();
        if let Some(problem) = self.failure.take() {
            let Some(executor) = &self.executor else {
                return Err(CommandError::internal(problem));
            };
            return Ok(hookexec_agents::without_server(executor, call, &problem));
        }
        let notices = loaded?;
        self.warnings.extend(notices.failures(""));
        self.absent = notices.absent;
        not_too_deep()?;
        let Some(executor) = &self.executor else { return Err(request.late()) };
        let last = hookexec_agents::unanswered(executor, call, &request.late().to_string());
        self.reach(Progress::Running(hookexec_agents::answer(call, &last)));
        tokio::select! {
            biased;
            () = moment.run(executor, call, until) => {}
            why = request.stopped() => moment.give_up(executor, call, &why.to_string()),
        }
        Ok(moment.into_verdict(call))
    }

    /// Returns the verdict of the server that is named, unless the hooks decide, here.
    ///
    /// # Errors
    /// Why it was not waited for.
    async fn ask_server(
        &mut self,
        call: &Arc<NativeCall>,
        until: Option<Instant>,
    ) -> Result<Option<Verdict>, CommandError> {
        let request = Arc::clone(&self.request);
        let Some(socket) = request.args.socket() else { return Ok(None) };
        let Ok(options) = self.config.options(Purpose::Judge) else { return Ok(None) };
        self.reach(Progress::Asking(Arc::clone(call)));
        let reply = tokio::select! {
            biased;
            why = request.stopped() => return Err(why),
            reply = server::ask(socket, &options, Question::Native(call), until) => reply,
        };
        match reply {
            Reply::Verdict(verdict) => return Ok(Some(*verdict)),
            Reply::RunHere(why) => self.warnings.extend(why),
            Reply::Fail(problem) => self.failure = Some(problem),
        }
        Ok(None)
    }

    /// Notes that the project is being found or loaded.
    fn note_loading(&self, call: &Arc<NativeCall>) {
        let (call, config) = (Arc::clone(call), self.config.clone());
        self.reach(Progress::Loading(call, config, self.failure.clone()));
    }

    /// Notes how far this attempt has come.
    fn reach(&self, reached: Progress) {
        self.request.reach(self.attempt, reached);
    }

    /// Shows details on stderr, beside the answer to the agent, for a person who tries a hook out.
    fn show(&self, call: &NativeCall, verdict: &Verdict) {
        if self.request.args.log.verbose > 0 {
            output::talk(&report::hooks(&verdict.hooks, ""));
            if let Some(executor) = &self.executor {
                output::talk(&report::not_run(&hookexec_agents::explain(executor, call)));
            }
        }
        if self.request.args.format == Some(PlainFormat::Text) {
            output::talk(&report::verdict(verdict));
        }
    }

    /// Loads the hooks, and returns which files are missing.
    ///
    /// # Errors
    /// Why they can't be loaded in this directory. Then the hooks are those of other places, which judge
    /// the missing answer.
    fn load(&mut self) -> Result<Notices, CommandError> {
        let problem = match load(&self.config) {
            Ok((executor, notices)) => {
                self.executor = Some(executor);
                return Ok(notices);
            }
            Err(problem) => problem,
        };
        let config = self.config.clone().in_usable_directory();
        if let Ok((executor, _)) = load(&config) {
            (self.executor, self.config) = (Some(executor), config);
        }
        Err(problem)
    }
}

fn load(config: &ConfigArgs) -> Result<(Executor, Notices), CommandError> {
    let mut loaded = config.load(Purpose::Judge)?;
    let notices = std::mem::take(&mut loaded.notices);
    Ok((loaded.brief_executor()?.handing_over_background(), notices))
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
