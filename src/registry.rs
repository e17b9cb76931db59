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
use crate::suggest;

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

/// The hook types that come with the crate.
const SHIPPED_TYPES: &[(&str, &Factory)] = &[
    ("command", &|env, hook| command::build(&env.working_dir, &env.env, hook)),
    ("builtin", &|env, hook| {
        let registry = &env.registry;
        let find = |name: &str| registry.builtin(name);
        builtin::build(find, || registry.builtin_names(), &env.counts, hook)
    }),
    ("process", &|env, hook| process::build(&env.processes, hook)),
    ("mcp", &|env, hook| handlers::mcp::build(&env.env, &env.processes, hook)),
    ("receiver", &|_, hook| receiver::build(hook)),
    #[cfg(feature = "http")]
    ("http", &|env, hook| handlers::http::build(&env.env, hook)),
    #[cfg(feature = "http")]
    ("model", &|env, hook| handlers::model::build(&env.env, &env.counts, hook)),
    #[cfg(not(feature = "http"))]
    ("http", &without_http),
    #[cfg(not(feature = "http"))]
    ("model", &without_http),
];

#[cfg(not(feature = "http"))]
fn without_http(_: &HandlerEnv, _: &Hook) -> Result<Arc<dyn Handler>, BuildError> {
    Err(BuildError::new("this hookexec was built without the feature `http`").at("type"))
}

/// Maps hook types to factories, and names to builtin functions.
#[derive(Clone)]
pub struct Registry {
    /// Those that come with the crate.
    shipped_types: &'static [(&'static str, &'static Factory)],
    /// Those of the program: they win.
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
            .field("types", &self.types().collect::<Vec<_>>())
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
        Self { shipped_types: SHIPPED_TYPES, ..Self::empty() }
    }

    /// Returns a registry without hook types and builtins.
    pub const fn empty() -> Self {
        Self {
            shipped_types: &[],
            factories: BTreeMap::new(),
            builtins: BTreeMap::new(),
            shipped: None,
        }
    }

    /// Maps a hook type to its factory; an earlier one of the same name is replaced. A hooks file may
    /// still give a hook of a shipped name only the keys that the shipped type takes.
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
        let shipped = || self.shipped_types.iter().find(|(name, _)| *name == kind);
        let own = self.factories.get(kind).map(AsRef::as_ref);
        own.or_else(|| shipped().map(|(_, factory)| *factory))
    }

    /// Builds the handler of a hook.
    pub(crate) fn build(
        &self,
        env: &HandlerEnv,
        hook: &Hook,
    ) -> Result<Arc<dyn Handler>, BuildError> {
        match self.factory(&hook.kind) {
            Some(factory) => factory(env, hook),
            None => Err(self.unknown_type(&hook.kind)),
        }
    }

    /// Returns the error of a hook with a type that has no factory.
    pub(crate) fn unknown_type(&self, kind: &str) -> BuildError {
        let hint = suggest::hint_or_list(kind, self.types(), "known types:");
        BuildError::new(format!("unknown hook type `{kind}`")).at("type").hint(hint)
    }

    /// Returns the hook types, in alphabetical order.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        let shipped = self.shipped_types.iter().map(|(name, _)| *name);
        shipped
            .chain(self.factories.keys().map(String::as_str))
            .collect::<BTreeSet<_>>()
            .into_iter()
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
