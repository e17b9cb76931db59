//! From a configuration to an executor: every handler is built and checked before anything runs.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::task::JoinSet;

use super::dispatch::Executor;
use super::parallel::DEFAULT_MAX_PARALLEL;
use super::select::{Bound, Plan};
use crate::audit::Auditor;
use crate::config::{Alike, Config, Diagnostic, Diagnostics, Hook};
use crate::event::Event;
use crate::handlers::process::Processes;
use crate::registry::{
    BoxFuture, BuildError, Call, Failure, Handler, HandlerEnv, HandlerError, HandlerResult,
    Registry,
};
use crate::suggest;
use crate::wire::Mode;

/// Builds an [`Executor`].
#[derive(Debug)]
#[must_use = "nothing is built before `build` is called"]
pub struct ExecutorBuilder {
    config: Config,
    registry: Registry,
    working_dir: Option<PathBuf>,
    env: Option<BTreeMap<OsString, OsString>>,
    heeds_trust: bool,
}

impl Executor {
    /// Returns a builder of an executor for `config`.
    pub fn builder(config: Config) -> ExecutorBuilder {
        ExecutorBuilder {
            config,
            registry: Registry::new(),
            working_dir: None,
            env: None,
            heeds_trust: false,
        }
    }
}

impl ExecutorBuilder {
    /// Sets the hook types and builtins; [`Registry::new`] when not called.
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the project's directory, in which commands run; the process's own when not called.
    pub fn working_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.working_dir = Some(directory.into());
        self
    }

    /// Sets the environment that hooks inherit; the process's own when not called.
    pub fn env(mut self, env: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.env = Some(env.into_iter().collect());
        self
    }

    /// Builds every handler and returns the executor. Nothing is started.
    ///
    /// # Errors
    /// When a hook's type or builtin is unknown or a handler refuses its definition: all such
    /// problems at once, each with its place.
    pub fn build(self) -> Result<Executor, Diagnostics> {
        let mut this = self;
        this.heed_trust();
        let (executor, diagnostics) = this.build_partially();
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(executor) }
    }

    /// Makes every hook whose file was not approved one that fails.
    fn heed_trust(&mut self) {
        self.heeds_trust = true;
        for hook in self.config.hooks.iter_mut().filter(|hook| hook.untrusted.is_some()) {
            // What the file says of its own failures counts no more than the rest of it.
            (hook.on_error, hook.mode) = (None, Mode::Enforce);
            (hook.background, hook.observe, hook.mutates) = (false, false, false);
        }
        self.config.processes.retain(|_, process| !process.untrusted);
    }

    /// Builds what can be built, and returns the problems of the rest. Without regard to trust: who
    /// only looks at an executor may see what an approval would bring.
    pub(crate) fn build_partially(self) -> (Executor, Diagnostics) {
        let working_dir = self.working_dir.or_else(|| std::env::current_dir().ok());
        let working_dir = working_dir.unwrap_or_else(|| PathBuf::from("/"));
        let env = Arc::new(self.env.unwrap_or_else(|| std::env::vars_os().collect()));
        let auditor = Auditor::of(&self.config, &env, &working_dir);
        let processes = Processes::new(self.config.processes, &working_dir, &env);
        let processes = Arc::new(processes);
        let environment = HandlerEnv {
            working_dir: working_dir.clone(),
            env,
            processes: Arc::clone(&processes),
            registry: Arc::new(self.registry),
        };

        let mut diagnostics = Diagnostics::default();
        let mut hooks_of: Vec<Vec<Bound>> = (0..Event::COUNT).map(|_| Vec::new()).collect();
        let configured: Vec<_> = self.config.hooks.into_iter().map(Arc::new).collect();
        let mut identities = Identities::of(&configured);
        for hook in &configured {
            let refusal = hook.untrusted.as_ref().filter(|_| self.heeds_trust);
            match build_handler(&environment, hook, refusal) {
                Err(error) => diagnostics.push(diagnostic(hook, error)),
                Ok(handler) if hook.enabled => {
                    let identity = identities.number(hook);
                    let hooks = &mut hooks_of[hook.event.index()];
                    let hook = Arc::clone(hook);
                    hooks.push(Bound { index: hooks.len(), hook, handler, identity });
                }
                Ok(_) => {}
            }
        }
        let plans =
            Event::all().zip(hooks_of).map(|(event, hooks)| Plan::new(event.contract(), hooks));
        let executor = Executor {
            plans: plans.collect(),
            configured,
            working_dir,
            processes,
            max_parallel: self.config.max_parallel.unwrap_or(DEFAULT_MAX_PARALLEL),
            deadline: self.config.deadline,
            auditor,
            background: Mutex::new(JoinSet::new()),
            handed_over: None,
        };
        diagnostics.sort(&self.config.files);
        (executor, diagnostics)
    }
}

fn build_handler(
    env: &HandlerEnv,
    hook: &Hook,
    refusal: Option<&Arc<str>>,
) -> Result<Arc<dyn Handler>, BuildError> {
    if let Some(why) = refusal {
        return Ok(Arc::new(Refusal(Arc::clone(why))));
    }
    match env.registry.factory(&hook.kind) {
        Some(factory) => factory.build(env, hook),
        None => Err(unknown(&env.registry, &hook.kind)),
    }
}

fn unknown(registry: &Registry, kind: &str) -> BuildError {
    let hint = suggest::closest(kind, registry.types()).map_or_else(
        || format!("known types: {}", registry.types().collect::<Vec<_>>().join(", ")),
        |meant| format!("did you mean `{meant}`?"),
    );
    BuildError::new(format!("unknown hook type `{kind}`")).at("type").hint(hint)
}

/// Returns the problem of a hook whose type nobody registered.
pub(super) fn unknown_type(registry: &Registry, hook: &Hook) -> Option<Diagnostic> {
    let is_known = registry.factory(&hook.kind).is_some();
    (!is_known).then(|| diagnostic(hook, unknown(registry, &hook.kind)))
}

/// Stands in for a hook whose file was not approved: it always fails, so that the absence of a guard
/// is never taken for its permission.
struct Refusal(Arc<str>);

impl Handler for Refusal {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { Err(HandlerError::new(Failure::Start, &*self.0)) })
    }
}

fn diagnostic(hook: &Hook, error: BuildError) -> Diagnostic {
    let place = error.key.and_then(|key| hook.key_locations.get(key)).unwrap_or(&hook.location);
    let mut diagnostic = Diagnostic::error(error.message).at(place.clone());
    diagnostic.hint = error.hint;
    diagnostic
}

/// Numbers hooks so that those that do the same in the same place have the same number.
struct Identities<'h> {
    alike: Alike<'h>,
    /// The numbers of those that run the same for the same event.
    numbers: HashMap<String, usize>,
    next: usize,
}

impl<'h> Identities<'h> {
    fn of(hooks: &'h [Arc<Hook>]) -> Self {
        let alike = Alike::of(hooks.iter().map(AsRef::as_ref));
        Self { alike, numbers: HashMap::new(), next: 0 }
    }

    fn number(&mut self, hook: &Hook) -> usize {
        let next = self.next;
        self.next += 1;
        if !self.alike.may_repeat(hook) {
            return next;
        }
        *self.numbers.entry(hook.identity()).or_insert(next)
    }
}
