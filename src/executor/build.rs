//! Builds an executor from a configuration: every handler is checked before anything runs.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::dispatch::Executor;
use super::select::{Bound, Plan};
use crate::config::{
    Command, Config, Diagnostics, FailedFile, Hook, Identity, InLayer as _, Layer, Location,
    OnError, RunLimit,
};
use crate::counts::Counts;
use crate::event::Event;
use crate::handler::{BoxFuture, Call, Capacity, Failure, Handler, HandlerError, HandlerResult};
use crate::handlers::process::Processes;
use crate::registry::{HandlerEnv, Registry};

/// The type of the hook that stands for a file that failed.
const FAILED_FILE: &str = "hooks_file";

/// Builds an [`Executor`].
#[derive(Debug, Default)]
#[must_use = "nothing is built before `build` is called"]
pub struct ExecutorBuilder {
    config: Config,
    registry: Registry,
    working_dir: Option<PathBuf>,
    env: Option<Arc<BTreeMap<OsString, OsString>>>,
    /// Where hooks count; the user's state directory when `None`.
    counts: Option<Arc<Counts>>,
    /// Whether work that blocks runs where the event is dispatched.
    blocks: bool,
}

impl Executor {
    /// Returns a builder for `config`.
    pub fn builder(config: Config) -> ExecutorBuilder {
        ExecutorBuilder { config, ..ExecutorBuilder::default() }
    }

    /// Returns the executor of another configuration, such as the next version of the file, with the
    /// registry, the directories and the environment of this one. Hooks in the background and
    /// processes whose definition did not change go on, with their state.
    ///
    /// Nothing changes for those who use this executor. A [`Session`](crate::lifecycle::Session) goes
    /// over by `replace_executor`. After an error it is the program's choice whether the old hooks stay
    /// in force.
    ///
    /// # Errors
    /// All mistakes of the configuration, as in [`ExecutorBuilder::build`].
    pub fn successor(&self, config: Config) -> Result<Self, Diagnostics> {
        let HandlerEnv { working_dir, env, registry, counts, .. } = self.environment.clone();
        let mut builder = Self::builder(config).registry(Arc::unwrap_or_clone(registry));
        builder.working_dir = Some(working_dir);
        (builder.env, builder.counts) = (Some(env), Some(counts));
        builder.blocks = self.capacity.blocks;
        let mut next = builder.build()?;
        next.take_over(self);
        Ok(next)
    }

    /// Returns an executor of which every event fails, because the hooks files can't be loaded for these
    /// `problems`.
    pub fn failing(problems: &Diagnostics) -> Self {
        let place = problems.iter().find_map(|problem| problem.location.clone());
        let place = place.unwrap_or_else(|| Location::of_file("hooks.yaml".as_ref()));
        let failed = vec![FailedFile::unloadable(place, problems.iter())];
        Self::builder(Config { failed, ..Config::default() }).build_partially(true).0
    }
}

impl ExecutorBuilder {
    /// Sets the hook types and builtins (default: [`Registry::new`]).
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the project's directory, in which commands run (default: that of the process).
    pub fn working_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.working_dir = Some(directory.into());
        self
    }

    /// Sets the environment that hooks inherit (default: that of the process).
    pub fn env(mut self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env = Some(Arc::new(env.into_iter().collect()));
        self
    }

    /// Sets the directory in which hooks count what happens in a session (default:
    /// `$XDG_STATE_HOME/hookexec/counts`). Only the user may be able to enter it.
    pub fn counts_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.counts = Some(Arc::new(Counts::Directory(Some(directory.into()))));
        self
    }

    /// Lets hooks see what was counted, and changes nothing of it.
    pub fn counts_only_read(mut self) -> Self {
        self.counts = Some(Arc::new(Counts::only_read()));
        self
    }

    /// Lets hooks count in the memory of this executor, which leaves nothing behind.
    pub fn counts_in_memory(mut self) -> Self {
        self.counts = Some(Arc::new(Counts::in_memory()));
        self
    }

    /// Lets the work of rules and builtins block the caller unless the input is long: it costs less than a
    /// thread of its own, and no deadline holds for it.
    pub fn blocking(mut self) -> Self {
        self.blocks = true;
        self
    }

    /// Builds every handler, logs the warnings of the configuration, and returns the executor. Nothing
    /// is started.
    ///
    /// Each of [`Config::failed`] becomes one hook that always fails, and so does each file of the
    /// managed, the user's and the project's layer with a hook that can't be built.
    ///
    /// # Errors
    /// When a hook of another file, or of the program itself, can't be built: its type or builtin is
    /// unknown, or a handler refuses its definition. All such problems come at once, each with its place.
    pub fn build(mut self) -> Result<Executor, Diagnostics> {
        self.config.processes.retain(|_, process| !process.untrusted);
        let warnings = std::mem::take(&mut self.config.warnings);
        let (executor, diagnostics) = self.build_partially(true);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        for warning in warnings.iter().chain(diagnostics.iter()) {
            tracing::warn!("{warning}");
        }
        Ok(executor)
    }

    /// Builds what can be built, and returns all hooks in config order, disabled ones included, and the
    /// problems of those that can't be built. Hooks that wait for an approval are built, to show what an
    /// approval would bring. Nothing is started.
    pub fn inspect(self) -> (Vec<Arc<Hook>>, Diagnostics) {
        let (executor, problems) = self.build_partially(false);
        (executor.configured, problems)
    }

    /// Builds what can be built, and returns the problems of the rest. Unless the executor `runs`, approvals
    /// and failed files are ignored, to show what an approval would bring.
    fn build_partially(self, runs: bool) -> (Executor, Diagnostics) {
        let working_dir = self.working_dir.or_else(|| std::env::current_dir().ok());
        let working_dir = working_dir.unwrap_or_else(|| PathBuf::from("/"));
        let working_dir = std::path::absolute(&working_dir).unwrap_or(working_dir);
        let env = self.env.unwrap_or_else(|| Arc::new(std::env::vars_os().collect()));
        let registry = Arc::new(self.registry);
        let recorder = registry.make_recorder.and_then(|make| make(&self.config, &env));
        let missing_recorder = registry.missing_recorder(&self.config);
        let counts = self.counts.unwrap_or_else(|| Arc::new(Counts::of_user()));
        let Config { hooks, mut processes, mut failed, files, .. } = self.config;
        let mut configured: Vec<Arc<Hook>> = hooks.into_iter().map(Arc::new).collect();

        // Without the hooks and the processes of a broken file, hooks of other files may lack their
        // process. So it repeats until no more files are broken.
        let (environment, handlers, mut problems) = loop {
            let environment = HandlerEnv {
                working_dir: working_dir.clone(),
                env: Arc::clone(&env),
                processes: Arc::new(Processes::new(processes.clone(), &working_dir, &env)),
                registry: Arc::clone(&registry),
                counts: Arc::clone(&counts),
            };
            let (handlers, problems) = build_handlers(&environment, &configured, runs);
            let broken =
                broken_files(&problems, |layer| runs && layer.may_fail(self.config.named_may_fail));
            if broken.is_empty() {
                break (environment, handlers, problems);
            }
            for file in &broken {
                configured.retain(|hook| !is_in(&file.location, &hook.location));
                processes.retain(|_, process| !is_in(&file.location, &process.location));
            }
            failed.extend(broken);
        };
        let mut hooks_of: Vec<Vec<Bound>> = Event::all().map(|_| Vec::new()).collect();
        if runs {
            bind_failed(&failed, configured.len(), &mut hooks_of);
        }
        bind(&configured, handlers, &environment, &mut hooks_of);
        problems.extend(registry.registered_twice.iter().cloned().chain(missing_recorder));
        let plans =
            Event::all().zip(hooks_of).map(|(event, hooks)| Plan::new(event.contract(), hooks));
        let executor = Executor {
            plans: plans.collect(),
            configured,
            environment,
            describer: registry.describer,
            max_parallel: self.config.max_parallel.unwrap_or(Config::DEFAULT_MAX_PARALLEL),
            recorder,
            capacity: Arc::new(Capacity::new(self.blocks)),
            is_replaced: AtomicBool::new(false),
            unfired_told: AtomicBool::new(false),
            handed_over: None,
        };
        problems.sort(&files);
        (executor, problems)
    }
}

/// Builds the handler of each hook. A hook that can't be built becomes `None` and a problem. If the
/// executor `runs`, hooks that must not run always fail.
fn build_handlers(
    environment: &HandlerEnv,
    hooks: &[Arc<Hook>],
    runs: bool,
) -> (Vec<Option<Arc<dyn Handler>>>, Diagnostics) {
    let (mut handlers, mut problems) = (Vec::with_capacity(hooks.len()), Diagnostics::default());
    for hook in hooks {
        if runs && hook.untrusted.is_some() {
            handlers.push(Some(Arc::new(Refusal) as Arc<dyn Handler>));
            continue;
        }
        match environment.registry.build(environment, hook) {
            Ok(handler) => handlers.push(Some(handler)),
            Err(mistakes) => {
                handlers.push(None);
                problems.extend(mistakes);
            }
        }
    }
    (handlers, problems)
}

/// Returns the files with problems of the layers that may fail. The other problems are the caller's.
fn broken_files(problems: &Diagnostics, may_fail: impl Fn(Layer) -> bool) -> Vec<FailedFile> {
    let mut broken: Vec<FailedFile> = Vec::new();
    for problem in problems.iter() {
        let Some(place) = &problem.location else { continue };
        if may_fail(place.file().layer()) && !broken.iter().any(|file| is_in(&file.location, place))
        {
            broken.push(FailedFile::unloadable(place.clone(), [problem]));
        }
    }
    broken
}

/// Returns whether two places are in the same file.
fn is_in(one: &Location, other: &Location) -> bool {
    Arc::ptr_eq(one.file(), other.file())
}

/// Adds each enabled hook that has a handler to the hooks of its event.
#[expect(clippy::mutable_key_type, reason = "what a pattern compiles on first use is not compared")]
fn bind(
    configured: &[Arc<Hook>],
    handlers: Vec<Option<Arc<dyn Handler>>>,
    environment: &HandlerEnv,
    hooks_of: &mut [Vec<Bound>],
) {
    // Hooks that do the same in the same place get the same number.
    let mut identities = HashMap::with_capacity(configured.len());
    for (hook, handler) in configured.iter().zip(handlers) {
        let Some(handler) = handler.filter(|_| hook.enabled) else { continue };
        let next = identities.len();
        let identity = *identities.entry(Identity(hook)).or_insert(next);
        let hooks = &mut hooks_of[hook.event.index()];
        let hook = Arc::clone(hook);
        // A program may have moved the hook to an event where a limit would switch a guard off.
        let has_limit = hook.limit.is_some() && RunLimit::is_for(hook.event.contract());
        let counter = if has_limit { Some(Arc::new(environment.counter(&hook))) } else { None };
        let dialect = environment.registry.dialect_of(&hook);
        hooks.push(Bound { hook, handler, identity, counter, dialect });
    }
}

/// Adds one hook that always fails for each failed file, at each event. The files are
/// numbered from `identity` on, which must be beyond the numbers of the configured hooks.
fn bind_failed(failed: &[FailedFile], mut identity: usize, hooks_of: &mut [Vec<Bound>]) {
    for file in failed {
        let handler: Arc<dyn Handler> = Arc::new(Refusal);
        for event in Event::all() {
            // Where it only warns, no person waits for its answer.
            if event == Event::Approval && file.on_error == Some(OnError::Warn) {
                continue;
            }
            let name = file.location.path().file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let mut hook = Hook::new(event, FAILED_FILE, Command::Text(name));
            hook.location = file.location.clone();
            hook.on_error = file.on_error;
            hook.untrusted = Some(file.untrusted());
            hooks_of[event.index()].push(Bound {
                hook: Arc::new(hook),
                handler: Arc::clone(&handler),
                identity,
                counter: None,
                dialect: None,
            });
        }
        identity += 1;
    }
}

/// Replaces a hook that must not run, or the hooks of a file that can't be loaded. It always fails,
/// so that a missing guard never counts as permission. Its [`Hook::untrusted`] says why.
struct Refusal;

impl Handler for Refusal {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { Err(HandlerError::new(Failure::Start, "it must not run")) })
    }
}
