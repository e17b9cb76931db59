//! Hooks that are not run: what stands in for them.

use std::path::Path;
use std::sync::Arc;

use hookexec::config::{Config, Diagnostics, Hook};
use hookexec::event::Event;
use hookexec::executor::Executor;
use hookexec::handler::{BoxFuture, Call, Handler, HandlerError, HandlerResult};
use hookexec::registry::Registry;
use hookexec::wire::{Input, Output};

/// Gives the answer in the place of a hook.
pub(super) type Answer = Box<dyn Fn() -> Result<HandlerResult, HandlerError> + Send + Sync>;

/// Returns an executor that builds and checks every hook, and then runs in its place what `stand_in`
/// returns for it. It leaves no records and no counts behind.
pub(super) fn executor(
    mut config: Config,
    working_dir: &Path,
    stand_in: impl Fn(&Hook) -> Option<Answer> + Send + Sync + 'static,
) -> Result<Executor, Diagnostics> {
    // The log is for real decisions.
    config.audit.clear();
    // The answer of a hook counts, on every machine.
    config.hooks.iter_mut().for_each(|hook| hook.rollout = None);
    let stand_in = Arc::new(stand_in);
    let mut substituting = Registry::with_shipped_builtins();
    substituting.wrap_factories(|factory| {
        let stand_in = Arc::clone(&stand_in);
        factory.wrapping(move |hook, real| match stand_in(hook) {
            Some(answer) => Arc::new(StandIn { answer, real }),
            None => real,
        })
    });
    let builder = Executor::builder(config).registry(substituting);
    builder.working_dir(working_dir).counts_in_memory().build()
}

/// Runs in the place of a hook, with its rights.
struct StandIn {
    answer: Answer,
    real: Arc<dyn Handler>,
}

impl Handler for StandIn {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { (self.answer)() })
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
