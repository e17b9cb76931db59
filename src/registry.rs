//! Hook types by name, and builtin functions by name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::config::Hook;
use crate::counts::Counts;
use crate::handler::{BuildError, Handler};
use crate::handlers;
use crate::handlers::builtin;
pub use crate::handlers::builtin::{Builtin, BuiltinError};
use crate::handlers::process::Processes;
use crate::handlers::{command, process, receiver};
use crate::locks::locked;

/// What a factory may need in addition to the hook's definition.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerEnv {
    /// The project: where commands run unless they say otherwise.
    pub working_dir: PathBuf,
    /// The environment that hooks inherit.
    pub env: Arc<BTreeMap<OsString, OsString>>,
    /// The processes of the configuration, shared by all hooks that call them.
    pub(crate) processes: Arc<Processes>,
    /// The registry: builtins by name.
    pub registry: Arc<Registry>,
    /// What builtins count.
    pub(crate) counts: Arc<Counts>,
}

impl HandlerEnv {
    /// Returns an environment without processes, with the shipped hook types.
    pub fn new(
        working_dir: impl Into<PathBuf>,
        env: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            working_dir: working_dir.into(),
            env: Arc::new(env.into_iter().collect()),
            processes: Arc::default(),
            registry: Arc::default(),
            counts: Arc::new(Counts::of_user()),
        }
    }
}

/// Checks the definition of a hook of one type and returns its handler, when the executor is built.
/// Nothing may be started here. An error is shown with file, line and column.
type Factory = dyn Fn(&HandlerEnv, &Hook) -> Result<Arc<dyn Handler>, BuildError> + Send + Sync;

/// Maps hook types to factories, and names to builtin functions.
#[derive(Clone)]
pub struct Registry {
    factories: BTreeMap<String, Arc<Factory>>,
    builtins: BTreeMap<String, Builtin>,
    shipped: Option<Arc<ShippedBuiltins>>,
}

/// The builtins that come with the crate. Each is made when a hook first names it: most programs use
/// none of them or two, and start for every event.
pub(crate) struct ShippedBuiltins {
    names: fn() -> Vec<&'static str>,
    make: fn(&str) -> Option<Builtin>,
    made: Mutex<BTreeMap<String, Builtin>>,
}

impl ShippedBuiltins {
    fn get(&self, name: &str) -> Option<Builtin> {
        let mut made = locked(&self.made);
        if let Some(builtin) = made.get(name) {
            return Some(builtin.clone());
        }
        let builtin = (self.make)(name)?;
        made.insert(name.to_owned(), builtin.clone());
        Some(builtin)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registry")
            .field("types", &self.factories.keys())
            .field("builtins", &self.builtin_names())
            .finish_non_exhaustive()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Returns a registry with the types `command`, `builtin`, `process`, `mcp`, `receiver`, `http` and
    /// `model`, without builtins. The last two need the feature `http`.
    pub fn new() -> Self {
        let mut registry = Self::empty();
        registry.register("builtin", |env: &HandlerEnv, hook: &Hook| {
            let registry = &env.registry;
            let find = |name: &str| registry.builtin(name);
            builtin::build(find, || registry.builtin_names(), &env.counts, hook)
        });
        registry.register("command", |env: &HandlerEnv, hook: &Hook| {
            command::build(&env.working_dir, &env.env, hook)
        });
        registry.register("process", |env: &HandlerEnv, hook: &Hook| {
            process::build(&env.processes, hook)
        });
        registry.register("mcp", |env: &HandlerEnv, hook: &Hook| {
            handlers::mcp::build(&env.env, &env.processes, hook)
        });
        registry.register("receiver", |_: &HandlerEnv, hook: &Hook| receiver::build(hook));
        #[cfg(feature = "http")]
        registry.register("http", |env: &HandlerEnv, hook: &Hook| {
            handlers::http::build(&env.env, hook)
        });
        #[cfg(feature = "http")]
        registry.register("model", |env: &HandlerEnv, hook: &Hook| {
            handlers::model::build(&env.env, &env.counts, hook)
        });
        #[cfg(not(feature = "http"))]
        for kind in ["http", "model"] {
            registry.register(kind, |_: &HandlerEnv, _: &Hook| {
                let message = "this hookexec was built without the feature `http`";
                Err(BuildError::new(message).at("type"))
            });
        }
        registry
    }

    /// Returns a registry without hook types and builtins.
    pub const fn empty() -> Self {
        Self { factories: BTreeMap::new(), builtins: BTreeMap::new(), shipped: None }
    }

    /// Maps a hook type to its factory; an earlier one of the same name is replaced.
    ///
    /// The factory checks each hook of the type, once, when the executor is built, and returns its
    /// handler. It must not start anything. Its error is shown with file, line and column.
    pub fn register(
        &mut self,
        kind: impl Into<String>,
        factory: impl Fn(&HandlerEnv, &Hook) -> Result<Arc<dyn Handler>, BuildError>
        + Send
        + Sync
        + 'static,
    ) -> &mut Self {
        self.factories.insert(kind.into(), Arc::new(factory));
        self
    }

    /// Returns the factory of a hook type.
    pub fn factory(&self, kind: &str) -> Option<&Factory> {
        self.factories.get(kind).map(AsRef::as_ref)
    }

    /// Returns the hook types, in alphabetical order.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.factories.keys().map(String::as_str)
    }

    /// Returns the names of the builtins.
    pub fn builtin_names(&self) -> BTreeSet<&str> {
        let shipped = self.shipped.iter().flat_map(|shipped| (shipped.names)());
        shipped.chain(self.builtins.keys().map(String::as_str)).collect()
    }

    /// Adds builtins that are made when a hook first names one.
    pub(crate) fn with_builtins_of(
        mut self,
        names: fn() -> Vec<&'static str>,
        make: fn(&str) -> Option<Builtin>,
    ) -> Self {
        self.shipped = Some(Arc::new(ShippedBuiltins { names, make, made: Mutex::default() }));
        self
    }

    /// Makes `builtin` callable as `{type: builtin, command: name}`; an earlier one of the same
    /// name is replaced.
    ///
    /// # Panics
    /// When `name` is empty.
    pub fn register_builtin(&mut self, name: impl Into<String>, builtin: Builtin) -> &mut Self {
        let name = name.into();
        assert!(!name.is_empty(), "a builtin needs a name");
        self.builtins.insert(name, builtin);
        self
    }

    /// Returns the builtin of this name.
    pub fn builtin(&self, name: &str) -> Option<Builtin> {
        let own = self.builtins.get(name).cloned();
        own.or_else(|| self.shipped.as_ref()?.get(name))
    }
}
