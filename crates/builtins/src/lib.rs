//! The builtins that come with the crate, a file each, and the one table of them.
//!
//! Validation, `hookexec docs builtins` and `docs/builtins.md` read the table. A builtin is prepared
//! once from a hook's arguments: what is wrong with them is found when the file is loaded, and
//! what is right is not parsed again when the hook runs.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "packages of this workspace use it"
)]

mod add_context;
mod add_info;
mod add_prompt_files;
mod arguments;
pub mod audit_log;
mod elide_repeated_tool_results;
mod git;
#[cfg(feature = "http")]
mod http_post;
mod limit_calls;
mod limit_large_tool_results;
mod page;
mod redact_secrets;
pub mod secrets;
mod spill;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use add_info::told;

use hookexec::config::{Command, Hook};
use hookexec::counts::Counter;
use hookexec::registry::{BuiltinError, BuiltinFunction};
use hookexec::{Builtin, Call, ContextMode, Contract, Event, Input, Output, Registry, Rewrite};
use hookexec_calls::{KnownTools, Surroundings};
use hookexec_files::locks::locked;

/// Names that builtins know; `names.txt` says what each list is.
mod names {
    include!(concat!(env!("OUT_DIR"), "/names.rs"));
}

#[cfg(not(feature = "http"))]
mod http_post {
    use super::{BuiltinError, Surroundings, Work};

    pub(super) fn prepare(_: &Surroundings, _: &[String]) -> Result<Work, BuiltinError> {
        Err("this hookexec was built without the feature `http`".into())
    }
}

/// Gives the name of a builtin, and its page.
macro_rules! named {
    ($name:literal) => {
        ($name, include_str!(concat!("pages/", $name, ".md")))
    };
}

/// Every shipped builtin, in the order in which they are shown.
static SHIPPED: [Shipped; 18] = [
    acts(named!("limit_calls"), limit_calls::prepare_calls).at(guards_tools),
    acts(named!("limit_same_calls"), limit_calls::prepare_same_calls).at(guards_tools),
    acts(named!("limit_failed_calls"), limit_calls::prepare_failed_calls)
        .at(|contract| matches!(contract.event, Event::PreToolUse | Event::PostToolUse)),
    looks(named!("max_iterations"), limit_calls::prepare_iterations)
        .at(|contract| contract.event == Event::BeforeLlmCall)
        .inline(),
    acts(named!("audit_log"), audit_log::prepare).at(|_| true),
    Shipped {
        on_failure: redact_secrets::withheld,
        ..looks(named!("redact_secrets"), redact_secrets::prepare)
    }
    .at(|contract| contract.rewrite != Rewrite::None)
    .rewrites(),
    acts(named!("http_post"), http_post::prepare).at(|_| true),
    acts(named!("limit_large_tool_results"), limit_large_tool_results::prepare)
        .at(|contract| {
            contract.rewrite == Rewrite::ToolResponse || contract.event == Event::SessionEnd
        })
        .rewrites(),
    acts(named!("elide_repeated_tool_results"), elide_repeated_tool_results::prepare)
        .at(elide_repeated_tool_results::suits)
        .rewrites(),
    looks(named!("add_context"), add_context::prepare),
    looks(named!("add_date"), |all, args| told(all, args, |all, _| Ok(Some(add_info::date(all)))))
        .inline(),
    looks(named!("add_environment_info"), |all, args| told(all, args, add_info::environment)),
    looks(named!("add_prompt_files"), add_prompt_files::prepare),
    looks(named!("add_git_status"), add_info::status),
    looks(named!("add_git_diff"), add_info::diff),
    looks(named!("add_recent_commits"), add_info::commits),
    looks(named!("add_directory_listing"), |all, args| told(all, args, add_info::listing)),
    looks(named!("add_user_info"), |all, args| {
        told(all, args, |all, _| Ok(Some(add_info::user(all))))
    })
    .inline(),
];

/// A builtin that comes with the crate.
pub struct Shipped {
    /// The name that hooks call it by.
    pub name: &'static str,
    /// The page of documentation: its purpose and arguments.
    page: &'static str,
    /// Whether it can do its work on an event.
    suits: fn(&Contract) -> bool,
    /// Whether it is fast and never blocks.
    inline: bool,
    /// Whether it rewrites: it then runs before the hooks that only look, as with `mutates: true`.
    rewrites: bool,
    /// The answer that counts when it fails and the event would go on.
    on_failure: fn(Event) -> Option<Output>,
    /// Whether it changes nothing outside of itself, so that a replay may run it.
    pub only_looks: bool,
    prepare: Prepare,
}

/// The name of a builtin, and its page.
type Named = (&'static str, &'static str);

/// Understands the arguments of a hook.
type Prepare = fn(&Surroundings, &[String]) -> Result<Work, BuiltinError>;

/// A builtin with its arguments understood, ready to run any number of times.
pub type Prepared = Box<dyn Fn(&Input) -> Result<Option<Output>, BuiltinError> + Send + Sync>;

/// Works for each hook that has the arguments.
type Work = Arc<dyn Fn(&Asked<'_>) -> Result<Option<Output>, BuiltinError> + Send + Sync>;

/// One call of a builtin, and the hook that calls it.
struct Asked<'a> {
    call: &'a Call<'a>,
    counter: &'a Counter,
    /// The most bytes of context that it may give.
    max_output: usize,
}

impl Deref for Asked<'_> {
    type Target = Input;

    fn deref(&self) -> &Input {
        self.call.input
    }
}

/// Returns whether an event is about a tool call that can still be stopped.
fn guards_tools(contract: &Contract) -> bool {
    contract.tool_matched && contract.may_block && contract.event != Event::PostToolUse
}

/// Returns every shipped builtin, in the order in which they are shown.
pub fn shipped() -> impl ExactSizeIterator<Item = &'static Shipped> {
    SHIPPED.iter()
}

/// Registers the shipped builtins, the rules and the reader of tool calls.
pub fn register(registry: &mut Registry) {
    hookexec_rules::register(registry);
    for builtin in shipped() {
        registry.register_builtin(builtin.name, builtin.registered());
    }
}

/// Returns a builtin that changes nothing outside of itself, gives the model context and may block.
const fn looks(named: Named, prepare: Prepare) -> Shipped {
    Shipped { only_looks: true, ..acts(named, prepare) }
}

/// Returns one that writes, sends or counts something.
const fn acts((name, page): Named, prepare: Prepare) -> Shipped {
    Shipped {
        name,
        page,
        suits: |contract| contract.context != ContextMode::None,
        inline: false,
        rewrites: false,
        on_failure: |_| None,
        only_looks: false,
        prepare,
    }
}

impl Shipped {
    const fn at(self, suits: fn(&Contract) -> bool) -> Self {
        Self { suits, ..self }
    }

    const fn inline(self) -> Self {
        Self { inline: true, ..self }
    }

    const fn rewrites(self) -> Self {
        Self { rewrites: true, ..self }
    }

    /// Returns the shipped builtin of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        shipped().find(|builtin| builtin.name == name)
    }

    /// Returns the shipped builtin that a hook calls, if it calls one.
    pub fn of_hook(hook: &Hook) -> Option<&'static Self> {
        let Some(Command::Text(name)) = &hook.command else { return None };
        if hook.kind == "builtin" { Self::named(name) } else { None }
    }

    /// Returns the events it is for.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        Event::all().filter(|event| (self.suits)(event.contract()))
    }

    /// Returns the builtin with its arguments understood.
    ///
    /// # Errors
    /// When the arguments can't work.
    pub fn prepare(
        &self,
        surroundings: &Surroundings,
        args: &[String],
    ) -> Result<Prepared, BuiltinError> {
        let work = (self.prepare)(surroundings, args)?;
        let counter = Counter::in_memory();
        let max_output = Hook::DEFAULT_MAX_OUTPUT;
        Ok(Box::new(move |input| {
            let event = input.hook_event_name.unwrap_or(Event::PreToolUse);
            let call = Call::new(event, input, Instant::now()).described_by(&KnownTools);
            work(&Asked { call: &call, counter: &counter, max_output })
        }))
    }

    /// Returns what the registry holds. Hooks with the same arguments share what was prepared, and so
    /// what it remembers.
    fn registered(&'static self) -> Builtin {
        let known: Mutex<HashMap<Vec<String>, Work>> = Mutex::default();
        Builtin::prepared(move |hook, counter| {
            if !(self.suits)(hook.event.contract()) {
                let names: Vec<_> = self.events().map(Event::name).collect();
                let (event, names) = (hook.event, names.join(", "));
                let problem = format!("it can do nothing on `{event}`; it is for {names}");
                return Err(BuiltinError::from(problem));
            }
            let mut known = locked(&known);
            if !known.contains_key(&hook.args) {
                let work = (self.prepare)(&Surroundings::of_process(), &hook.args)?;
                known.insert(hook.args.clone(), work);
            }
            let work = Arc::clone(&known[&hook.args]);
            let max_output = hook.max_output;
            let function = Arc::new(move |call: &Call<'_>| {
                work(&Asked { call, counter: &counter, max_output })
            });
            Ok(if self.inline {
                BuiltinFunction::Inline(function)
            } else {
                BuiltinFunction::Blocking(function)
            })
        })
        .with_rewrites(self.rewrites)
        .with_on_failure(self.on_failure)
    }
}
