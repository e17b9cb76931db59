//! The factory and the handler of command hooks.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::launch::{Environment, Launch, Program, set_call_variables};
use hookexec_files::expand::Variables;

use super::exchange::{End, Exchange, stop_time};
use super::place;
use super::shells::{Invocation, Language};
use crate::answer::ExitCode;
use crate::config::{Command, Hook, Phase};
use crate::handler::{
    BACKGROUND_FULL, BoxFuture, BuildError, Call, Exited, Failure, Handler, HandlerError,
    HandlerResult, Place, in_milliseconds,
};
use crate::handlers::payloads::Words;
use crate::platform::Platform;
use crate::platform::system::{self, ending_signal};

/// Builds the handler of a command hook.
///
/// A string is run by a shell, as `/bin/sh -c STRING` or with the hook's `shell`, on Windows by Git
/// Bash; the hook's `args` are its `$1`, `$2`, ... A list is a program and its arguments, and runs without a shell; `args`
/// are appended. The event's data is on stdin as one JSON object, and never on a command line.
///
/// The child leads its own process group and has all of it, writing, reading and waiting, inside
/// the timeout. At the timeout, and when it writes more than `max_output` to a stream, the group
/// gets SIGTERM, half a second, and SIGKILL. When the handler's future is dropped it gets SIGKILL at
/// once. A job left in the background by a hook that ended on its own is left alone, also when it
/// holds the hook's stdout or stderr: those are read for another 100 ms. A process that leaves the
/// group (`setsid`) is never reached.
pub(crate) fn build(
    words: Words,
    working_dir: &Path,
    env: &Arc<Variables>,
    hook: &Hook,
) -> Result<Arc<dyn Handler>, BuildError> {
    let project: Arc<Path> = working_dir.into();
    let directory = place::working_dir(hook.working_dir.as_deref(), env, &project)?;
    let config_dir = place::config_dir(&hook.location, &project);
    let config = Arc::clone(&config_dir);
    let mut environment = Environment::new(env, &hook.inherit_env, &hook.env, config, &project)?;
    if let Some(dialect) = words.dialect
        && let Some(name) = dialect.project_variable()
        && !hook.env.contains_key(name)
    {
        environment.directories.push((name, place::claude_project(&config_dir, &project)));
    }
    let path = environment.get("PATH");
    let (program, invocation) = match &hook.command {
        Some(Command::Text(text)) if !text.trim().is_empty() => {
            let name = hook.shell.as_deref().unwrap_or(Platform::HERE.shell);
            // One at a fixed place is not asked for, hook by hook: without it no start would succeed.
            let (shell, file) = if hook.shell.is_none() && Platform::HERE.is_path(name) {
                (Program::new(name, None, &directory), Cow::Borrowed(name))
            } else {
                let own = system::shell_file(name, path);
                let shell = Program::new(own.as_deref().unwrap_or(name), path, &directory);
                let file = shell_file(&shell, name)?;
                (shell, Cow::Owned(file))
            };
            (shell, Language::of(name).run(text, &hook.args, &file)?)
        }
        Some(Command::Argv(argv)) if argv.first().is_some_and(|name| !name.is_empty()) => {
            let arguments = [&argv[1..], &hook.args].concat();
            (Program::new(&argv[0], path, &directory), Invocation { arguments, raw: None })
        }
        _ => return Err(BuildError::new("a command hook needs a command").at("command")),
    };
    let Invocation { arguments, raw } = invocation;
    let has_zero = arguments.iter().any(|argument| argument.contains('\0'));
    if has_zero || raw.as_ref().is_some_and(|raw| raw.contains('\0')) {
        return Err(BuildError::new("a command can't have a zero byte").at("command"));
    }
    Ok(Arc::new(CommandHandler {
        launch: Launch { program, arguments, raw, environment, directory },
        remedy: OnceLock::new(),
        max_output: hook.max_output,
        words,
        may_leave: hook.phase != Phase::Background && !hook.event.contract().may_block,
    }))
}

/// A command hook, resolved as far as it can be before an event comes.
struct CommandHandler {
    launch: Launch,
    /// The advice after a failure, once it was asked for.
    remedy: OnceLock<Option<String>>,
    max_output: usize,
    words: Words,
    /// Whether the event goes on without it when it asks for that.
    may_leave: bool,
}

impl Handler for CommandHandler {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async move {
            let _seat = call.seat_for_program().await?;
            self.words.each_payload(call, |stdin| self.run_once(call, stdin)).await
        })
    }

    fn grace(&self) -> Duration {
        // The margin is for a machine that is busy with other things.
        stop_time() + Duration::from_millis(500)
    }

    fn remedy(&self) -> Option<&str> {
        let remedy = self.remedy.get_or_init(|| {
            self.launch.path_from_config().or_else(|| self.launch.windows_line_ends())
        });
        remedy.as_deref()
    }
}

impl CommandHandler {
    /// Runs the command once.
    async fn run_once(&self, call: &Call<'_>, stdin: Arc<[u8]>) -> Result<Exited, HandlerError> {
        let start = Instant::now();
        let group = self.launch.start(call.deadline, |command| set_call_variables(call, command));
        let mut exchange = Exchange::new(group.await?, self.max_output);
        let end = exchange.run(&stdin, call.deadline, self.may_leave).await;
        let limit = call.deadline.saturating_duration_since(start);
        self.report(end, exchange, call, limit)
    }

    fn report(
        &self,
        end: End,
        mut exchange: Exchange,
        call: &Call<'_>,
        limit: Duration,
    ) -> Result<Exited, HandlerError> {
        let (stdout, stderr) = exchange.take_output();
        let (failure, message) = match end {
            End::Exited(status) => match status.code() {
                Some(code)
                    if ExitCode::of(code) == ExitCode::Blocks
                        && let Some(script) = self.launch.missing_script(&stderr) =>
                {
                    (Failure::Other, format!("its script `{}` does not exist", script.display()))
                }
                Some(code) => {
                    // A shell ends with the code of a denial itself if it can't read a script.
                    let mut warning = None;
                    if ExitCode::of(code) == ExitCode::Blocks {
                        warning = self.launch.windows_line_ends();
                    }
                    let warning = warning.or_else(|| leak_warning(&exchange.leaked()));
                    return Ok(Exited { warning, ..Exited::new(code, stdout, stderr) });
                }
                // Its text names the signal.
                None => (
                    Failure::Signal(ending_signal(status).unwrap_or_default()),
                    format!("it was ended by a {status}"),
                ),
            },
            // What it asked for stands on stdout.
            End::Left => {
                leave(exchange, call)?;
                return Ok(Exited::new(0, stdout, Vec::new()));
            }
            End::TimedOut => (
                Failure::TimedOut,
                format!(
                    "it was stopped after {:?} without an answer; if it needs longer, raise its `timeout` or the event's `deadline`",
                    in_milliseconds(limit)
                ),
            ),
            End::Overflowed(stream) => (
                Failure::OutputLimit,
                format!(
                    "it was stopped because it wrote more than {} bytes to {stream}; write less, or raise its `max_output`",
                    self.max_output
                ),
            ),
            End::Lost(error) => (
                Failure::Other,
                format!(
                    "the system does not say how it ended ({error}); does the host ignore SIGCHLD?"
                ),
            ),
        };
        Err(HandlerError::new(failure, message).with_stdout(stdout).with_stderr(stderr))
    }
}

/// Lets a child that asked not to be waited for run on, in the background or by itself.
fn leave(exchange: Exchange, call: &Call<'_>) -> Result<(), HandlerError> {
    let Place::Event { capacity, rank, may_leave: true, .. } = call.place else {
        exchange.abandon();
        return Ok(());
    };
    let deadline = call.deadline;
    // Without a place it is dropped, which stops it.
    if capacity.spawn_background(rank, |_| exchange.finish(deadline)) {
        return Ok(());
    }
    Err(HandlerError::new(Failure::Other, BACKGROUND_FULL))
}

/// Returns the path of the shell, which must be there now: a missing shell is a mistake in the
/// configuration, not something that comes and goes.
fn shell_file(shell: &Program, name: &str) -> Result<String, BuildError> {
    let problem = match shell.file() {
        Ok(file) if file.is_file() => return Ok(file.to_string_lossy().into_owned()),
        Ok(file) => format!("the shell `{}` does not exist", file.display()),
        Err(problem) => problem.to_string(),
    };
    let error = BuildError::new(problem).at("shell");
    if let Some(hint) = system::shell_hint(name) {
        return Err(error.hint(hint));
    }
    if name.contains(char::is_whitespace) {
        let hint = "name the program only; options belong into the command, such as `set -e`";
        return Err(error.hint(hint));
    }
    Err(error)
}

fn leak_warning(streams: &[&str]) -> Option<String> {
    if streams.is_empty() {
        return None;
    }
    Some(format!(
        "a background process keeps its {} open, and what it writes from now on is lost; redirect the output of what should outlive the hook, as in `job >/dev/null 2>&1 &`",
        streams.join(" and ")
    ))
}
