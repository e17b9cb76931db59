//! The builtins that come with the crate, a file each, and the one table of them.
//!
//! Validation, `hookexec builtins` and `docs/builtins.md` read the table. A builtin is prepared
//! once from a hook's arguments: what is wrong with them is found when the file is loaded, and
//! what is right is not parsed again when the hook runs.

mod add_context;
mod add_git;
mod add_info;
mod add_prompt_files;
mod allow_tools;
mod arguments;
pub(crate) mod audit_log;
mod commands;
mod elide_repeated_tool_results;
mod git;
mod http_post;
mod limit_calls;
mod limit_large_tool_results;
mod max_iterations;
mod page;
mod protect_paths;
mod redact_secrets;
pub mod secrets;
mod spill;
mod surroundings;
mod text;
mod tool;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

pub use page::Argument;
pub use surroundings::Surroundings;

use crate::calls::Reading;
use crate::config::{Command, Hook};
use crate::counts::{CountingHook, Counts};
use crate::event::{ContextMode, Contract, Event};
use crate::handlers::builtin::{Asked, Builtin, BuiltinError, Counting, Function};
use crate::locks::locked;
use crate::registry::Registry;
use crate::wire::{Input, Output};

/// Every shipped builtin, in the order in which they are shown.
static SHIPPED: &[&Shipped] = &[
    &protect_paths::PROTECT_PATHS,
    &allow_tools::ALLOW_TOOLS,
    &allow_tools::DENY_TOOLS,
    &commands::ALLOW_COMMANDS,
    &commands::DENY_COMMANDS,
    &commands::ASK_COMMANDS,
    &limit_calls::LIMIT_CALLS,
    &limit_calls::LIMIT_SAME_CALLS,
    &limit_calls::LIMIT_FAILED_CALLS,
    &max_iterations::MAX_ITERATIONS,
    &audit_log::AUDIT_LOG,
    &redact_secrets::REDACT_SECRETS,
    &http_post::HTTP_POST,
    &limit_large_tool_results::LIMIT_LARGE_TOOL_RESULTS,
    &elide_repeated_tool_results::ELIDE_REPEATED_TOOL_RESULTS,
    &add_context::ADD_CONTEXT,
    &add_info::ADD_DATE,
    &add_info::ADD_ENVIRONMENT_INFO,
    &add_prompt_files::ADD_PROMPT_FILES,
    &add_git::ADD_GIT_STATUS,
    &add_git::ADD_GIT_DIFF,
    &add_git::ADD_RECENT_COMMITS,
    &add_info::ADD_DIRECTORY_LISTING,
    &add_info::ADD_USER_INFO,
];

/// A builtin that comes with the crate.
pub struct Shipped {
    /// The name that hooks call it by.
    pub name: &'static str,
    /// What it does and takes, for documentation.
    page: &'static str,
    /// Whether it can do its work on an event.
    suits: fn(&Contract) -> bool,
    /// Whether it is fast and never blocks.
    inline: bool,
    /// Whether it rewrites: it then runs before the hooks that only look, as with `mutates: true`.
    rewrites: bool,
    /// What counts when it fails and the event would go on.
    on_failure: fn(Event) -> Option<Output>,
    /// Whether it changes nothing outside of itself, so that a replay may run it.
    looks: bool,
    /// Why it had no opinion on an input with these arguments, where it can say that.
    why_silent: fn(&[String], &Input) -> Option<String>,
    prepare: fn(&Surroundings, &[String]) -> Result<Work, String>,
}

/// A builtin with its arguments understood, ready to run any number of times.
pub type Prepared = Box<dyn Fn(&Input) -> Result<Option<Output>, BuiltinError> + Send + Sync>;

/// The same, for a hook: it shares with others what was read of the call, and what is counted.
type Work = Box<dyn Fn(&Asked<'_>) -> Result<Option<Output>, BuiltinError> + Send + Sync>;

/// Returns whether an event is about a tool call that can still be stopped.
fn guards_tools(contract: &Contract) -> bool {
    contract.tool_matched && contract.may_block && contract.event != Event::PostToolUse
}

/// Returns every shipped builtin, in the order in which they are shown.
pub fn shipped() -> impl ExactSizeIterator<Item = &'static Shipped> {
    SHIPPED.iter().copied()
}

impl Registry {
    /// Returns [`Registry::new`] with the builtins that come with the crate.
    pub fn with_shipped_builtins() -> Self {
        Self::new().with_builtins_of(
            || shipped().map(|it| it.name).collect(),
            |name| Shipped::named(name).map(Shipped::registered),
        )
    }
}

impl Shipped {
    /// A builtin that changes nothing outside of itself, has no arguments, gives the model context
    /// and may block.
    const LOOKS: Self = Self { looks: true, ..Self::ACTS };

    /// The same, but it writes, sends or counts something.
    const ACTS: Self = Self {
        name: "",
        page: "",
        suits: |contract| contract.context != ContextMode::None,
        inline: false,
        rewrites: false,
        on_failure: |_| None,
        looks: false,
        why_silent: |_, _| None,
        prepare: |_, _| Err(String::new()),
    };

    /// Returns the shipped builtin of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        shipped().find(|it| it.name == name)
    }

    /// Returns the shipped builtin that a hook calls, if it calls one.
    pub fn of_hook(hook: &Hook) -> Option<&'static Self> {
        let Some(Command::Text(name)) = &hook.command else { return None };
        Self::named(name).filter(|_| hook.kind == "builtin")
    }

    /// Returns whether it changes nothing outside of itself, so that a replay may run it.
    pub fn only_looks(&self) -> bool {
        self.looks
    }

    /// Returns why it had no opinion on `input` with these arguments, if it can say that.
    pub fn why_no_opinion(&self, args: &[String], input: &Input) -> Option<String> {
        (self.why_silent)(args, input)
    }

    /// Returns the events it is for.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        Event::all().filter(|event| (self.suits)(event.contract()))
    }

    /// Returns whether it is for `event`.
    pub(crate) fn is_for(&self, event: Event) -> bool {
        (self.suits)(event.contract())
    }

    /// Returns the builtin with its arguments understood.
    ///
    /// # Errors
    /// When the arguments can't work.
    pub fn prepare(
        &self,
        surroundings: &Surroundings,
        args: &[String],
    ) -> Result<Prepared, String> {
        let work = (self.prepare)(surroundings, args)?;
        let counts = Arc::new(Counts::in_memory());
        let counter = Counting { counts, hook: CountingHook::default() };
        let max_output = Hook::DEFAULT_MAX_OUTPUT;
        Ok(Box::new(move |input| {
            let reading = &Reading::default();
            let (original, args, counter) = (input, &[], &counter);
            work(&Asked { input, original, args, max_output, reading, counter })
        }))
    }

    /// Returns what the registry holds. Hooks with the same arguments share what was prepared, and so
    /// what it remembers.
    fn registered(&'static self) -> Builtin {
        let surroundings = Surroundings::of_process();
        let known: Mutex<HashMap<Vec<String>, Function>> = Mutex::default();
        let prepare = move |event, args: &[String]| {
            if !self.is_for(event) {
                let names: Vec<_> = self.events().map(Event::name).collect();
                let names = names.join(", ");
                return Err(format!("it can do nothing on `{event}`; it is for {names}"));
            }
            let mut known = locked(&known);
            if let Some(function) = known.get(args) {
                return Ok(function.clone());
            }
            let work = (self.prepare)(&surroundings, args)?.into();
            let function =
                if self.inline { Function::Inline(work) } else { Function::Blocking(work) };
            known.insert(args.to_vec(), function.clone());
            Ok(function)
        };
        Builtin::prepared(prepare)
            .with_about(self.about())
            .with_rewrites(self.rewrites)
            .with_on_failure(self.on_failure)
    }
}
