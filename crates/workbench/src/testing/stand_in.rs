//! Hooks that do not run: an answer stands in for each.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::keys::Stub;
use hookexec::config::{Config, Hook};
use hookexec::event::Event;
use hookexec::executor::{Executor, ExecutorBuilder};
use hookexec::handler::{BoxFuture, Call, Handler, HandlerError, HandlerResult};
use hookexec::registry::Registry;
use hookexec::wire::{Input, Output};
use hookexec_files::locks::locked;

/// The answers that stand in for hooks.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By the name of the hook; `None` if several hooks of this name answered differently.
    known: HashMap<String, Option<Stub>>,
    /// The hooks that were asked and have no answer here.
    pub(super) missing: BTreeSet<String>,
}

impl Answers {
    /// Adds the answer of a hook.
    pub(super) fn add(&mut self, hook: &str, answer: Option<&Stub>) {
        let known = self.known.entry(hook.to_owned()).or_insert_with(|| answer.cloned());
        if known.as_ref() != answer {
            *known = None;
        }
    }

    fn take(&mut self, hook: &str) -> Stub {
        if let Some(Some(answer)) = self.known.get(hook) {
            return answer.clone();
        }
        self.missing.insert(hook.to_owned());
        Ok(HandlerResult::from(None))
    }
}

/// Returns the builder of an executor that builds and checks every hook, and takes the answer from `answers` for
/// each that `is_replaced` names. The hook types are those of `registry`. It leaves no records and no counts behind.
pub(super) fn executor(
    mut config: Config,
    working_dir: &Path,
    mut registry: Registry,
    answers: &Arc<Mutex<Answers>>,
    is_replaced: impl Fn(&Hook) -> bool + Send + Sync + 'static,
) -> ExecutorBuilder {
    // The log is for real decisions.
    config.audit.clear();
    let is_replaced = Arc::new(is_replaced);
    registry.wrap_factories(|factory| {
        let (is_replaced, answers) = (Arc::clone(&is_replaced), Arc::clone(answers));
        factory.wrapping(move |hook, real| {
            if !is_replaced(hook) {
                return real;
            }
            Arc::new(StandIn { name: hook.label(), answers: Arc::clone(&answers), real })
        })
    });
    let builder = Executor::builder(config).registry(registry);
    builder.working_dir(working_dir).counts_in_memory()
}

/// Answers for a hook, with its rights.
struct StandIn {
    name: String,
    answers: Arc<Mutex<Answers>>,
    real: Arc<dyn Handler>,
}

impl Handler for StandIn {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { locked(&self.answers).take(&self.name) })
    }

    fn refuses_response(&self, input: &Input) -> Option<String> {
        self.real.refuses_response(input)
    }

    fn rewrites(&self) -> bool {
        self.real.rewrites()
    }

    fn on_failure(&self, event: Event) -> Option<Output> {
        self.real.on_failure(event)
    }
}
