//! The registry: hook types and builtins by name, and the parts that a configuration may need.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::env::HandlerEnv;
use super::factory::HandlerFactory;
use crate::config::{BuildError, Config, Diagnostic, Hook, Phase, config_schema};
use crate::describe::DescribeCall;
use crate::dialect::Dialect;
use crate::handler::Handler;
use crate::handlers::builtin::Builtin;
use crate::recorder::MakeRecorder;
use crate::suggest;

/// Maps hook types to factories, and names to builtin functions.
#[derive(Clone)]
pub struct Registry {
    types: BTreeMap<Cow<'static, str>, HandlerFactory>,
    pub(crate) builtins: BTreeMap<Cow<'static, str>, Builtin>,
    dialects: Vec<&'static dyn Dialect>,
    /// Reads tool calls.
    pub(crate) describer: Option<&'static dyn DescribeCall>,
    pub(crate) make_recorder: Option<MakeRecorder>,
    /// The problem of each type and each builtin that was registered although there was one of the name.
    pub(crate) registered_twice: Vec<Diagnostic>,
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
    /// Returns a registry without hook types and builtins.
    pub const fn empty() -> Self {
        Self {
            types: BTreeMap::new(),
            builtins: BTreeMap::new(),
            dialects: Vec::new(),
            describer: None,
            make_recorder: None,
            registered_twice: Vec::new(),
        }
    }

    /// Maps a hook type to its factory. If there is one of this name, building an executor fails.
    pub fn register(
        &mut self,
        kind: impl Into<Cow<'static, str>>,
        factory: HandlerFactory,
    ) -> &mut Self {
        let kind = kind.into();
        if self.types.insert(kind.clone(), factory).is_some() {
            self.registered_twice.push(registered_twice("hook type", &kind));
        }
        self
    }

    /// Adds the words of an agent, for hooks with its name in `dialect`. An earlier one of the name is
    /// replaced.
    pub fn register_dialect(&mut self, dialect: &'static dyn Dialect) -> &mut Self {
        self.dialects.retain(|known| known.name() != dialect.name());
        self.dialects.push(dialect);
        self
    }

    /// Sets what reads tool calls: the commands that they run, and the files that they touch. Without it, a
    /// condition on them is an error, and a tool that a hook renames is of no kind.
    pub fn describe_calls_by(&mut self, describer: &'static dyn DescribeCall) -> &mut Self {
        self.describer = Some(describer);
        self
    }

    /// Sets what records the verdicts in the logs that a configuration names in `audit:`. Without it, such a
    /// log is an error.
    pub fn record_by(&mut self, make: MakeRecorder) -> &mut Self {
        self.make_recorder = Some(make);
        self
    }

    /// Returns the mistake of a configuration that names a log which nothing records.
    pub(crate) fn missing_recorder(&self, config: &Config) -> Option<Diagnostic> {
        let log = config.audit.first()?;
        if self.make_recorder.is_some() {
            return None;
        }
        let path = log.path.display();
        let problem = Diagnostic::error(format!("`audit`: nothing records verdicts in `{path}`"));
        Some(problem.hint("remove `audit`, or call `Registry::record_by` in the program"))
    }

    /// Returns the words that a hook reads and answers in, if they are an agent's.
    pub(crate) fn dialect_of(&self, hook: &Hook) -> Option<&'static dyn Dialect> {
        let name = hook.dialect.as_deref()?;
        self.dialects.iter().copied().find(|known| known.name() == name)
    }

    /// Returns the mistake in the `dialect` of a hook.
    fn dialect_mistake(&self, hook: &Hook) -> Option<BuildError> {
        let name = hook.dialect.as_deref()?;
        let Some(dialect) = self.dialect_of(hook) else {
            let names = self.dialects.iter().map(|known| known.name());
            let hint = suggest::hint_or_list(name, names, "known dialects:");
            return Some(
                BuildError::new(format!("unknown dialect `{name}`")).at("dialect").hint(hint),
            );
        };
        if dialect.knows(hook.event) {
            return None;
        }
        let message = format!("{} has no event for `{}`", dialect.title(), hook.event);
        let hint = "without `dialect` the hook reads the input of `hookexec docs events --page`";
        Some(BuildError::new(message).at("dialect").hint(hint))
    }

    /// Replaces each handler that will be built by what `wrap` makes of it: for example one that is measured.
    pub fn wrap_handlers(
        &mut self,
        wrap: impl Fn(&Hook, Arc<dyn Handler>) -> Arc<dyn Handler> + Send + Sync + 'static,
    ) -> &mut Self {
        let wrap = Arc::new(wrap);
        for factory in self.types.values_mut() {
            let (wrap, inner) = (Arc::clone(&wrap), Arc::clone(&factory.build));
            factory.build = Arc::new(move |env, hook| Ok(wrap(hook, inner(env, hook)?)));
        }
        self
    }

    /// Returns the factory of a hook type.
    pub fn factory(&self, kind: &str) -> Option<&HandlerFactory> {
        self.types.get(kind)
    }

    /// Returns the mistakes of a hook whose type or keys are wrong, without building its handler.
    pub fn mistakes_of(&self, hook: &Hook) -> Vec<Diagnostic> {
        let mut mistakes = Vec::new();
        if let Some(factory) = self.factory(&hook.kind) {
            mistakes.extend(factory.mistakes(hook));
            if factory.takes_dialect {
                mistakes.extend(self.dialect_mistake(hook));
            }
            if let Some(when) = &hook.when
                && when.looks_at_calls()
                && self.describer.is_none()
            {
                let message = "`when` looks at commands or files, which this program does not read";
                let hint =
                    "write a condition on `tool_input`, or call `Registry::describe_calls_by`";
                mistakes.push(BuildError::new(message).at("when").hint(hint));
            }
        } else {
            mistakes.push(self.unknown_type(&hook.kind));
            let of_types = self.types.values().flat_map(|factory| factory.own);
            let known: Vec<&str> = of_types.map(|key| key.name).collect();
            mistakes.extend(hook.unknown_own_keys(&known));
        }
        let mut found = Vec::new();
        for mistake in mistakes {
            found.extend(mistake.of_hook(hook));
        }
        found
    }

    /// Builds the handler of a hook.
    ///
    /// # Errors
    /// All mistakes of the hook.
    pub(crate) fn build(
        &self,
        env: &HandlerEnv,
        hook: &Hook,
    ) -> Result<Arc<dyn Handler>, Vec<Diagnostic>> {
        let mistakes = self.mistakes_of(hook);
        let factory = match self.factory(&hook.kind) {
            Some(factory) if mistakes.is_empty() => factory,
            _ => return Err(mistakes),
        };
        let handler = factory.build(env, hook).map_err(|error| error.of_hook(hook))?;
        if hook.phase == Phase::Judge && handler.rewrites() {
            let message = format!("`mutates: false` on `{}`, which rewrites", hook.label());
            let mistake = BuildError::new(message).at("mutates").hint("remove `mutates`");
            return Err(mistake.of_hook(hook));
        }
        Ok(handler)
    }

    /// Returns the error of a hook with a type that has no factory.
    fn unknown_type(&self, kind: &str) -> BuildError {
        let hint = match kind {
            "rule" => "register it: `hookexec_builtins::register(&mut registry)`".to_owned(),
            _ => suggest::hint_or_list(kind, self.types(), "known types:"),
        };
        BuildError::new(format!("unknown hook type `{kind}`")).at("type").hint(hint)
    }

    /// Returns the hook types, in alphabetical order.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(AsRef::as_ref)
    }

    /// Returns the JSON schema (draft 7) of a configuration file with hooks of these types.
    pub fn config_schema(&self) -> Value {
        let mut of_types = Vec::new();
        let mut schema = config_schema();
        let hook = &mut schema["definitions"]["hook"];
        let mut own_keys = Vec::new();
        for factory in self.types.values() {
            own_keys.extend(factory.own);
        }
        for key in &own_keys {
            hook["properties"][key.name] = true.into();
        }
        for (kind, factory) in &self.types {
            let mut keys = factory.schema();
            for key in &own_keys {
                if keys["properties"].get(key.name).is_none() {
                    keys["properties"][key.name] = false.into();
                }
            }
            of_types.push(json!({
                "if": { "properties": { "type": { "const": kind } } },
                "then": keys
            }));
        }
        hook["properties"]["type"]["examples"] = self.types().collect();
        let dialect = &mut hook["properties"]["dialect"];
        dialect["enum"] = self.dialects.iter().map(|dialect| dialect.name()).collect();
        hook["allOf"] = of_types.into();
        schema
    }

    /// Returns the names of the builtins.
    pub fn builtin_names(&self) -> BTreeSet<&str> {
        self.builtins.keys().map(AsRef::as_ref).collect()
    }

    /// Makes `builtin` callable as `{type: builtin, command: name}`. If there is one of this name,
    /// building an executor fails.
    pub fn register_builtin(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        builtin: Builtin,
    ) -> &mut Self {
        let name = name.into();
        if self.builtins.insert(name.clone(), builtin).is_some() {
            self.registered_twice.push(registered_twice("builtin", &name));
        }
        self
    }

    /// Returns the builtin of this name.
    pub fn builtin(&self, name: &str) -> Option<&Builtin> {
        self.builtins.get(name)
    }
}

fn registered_twice(what: &str, name: &str) -> Diagnostic {
    Diagnostic::error(format!("the {what} `{name}` is registered twice"))
        .hint("give that of your program another name")
}
