//! Hooks that are not run: what stands in for them.

use std::sync::Arc;
use std::time::Duration;

use super::case::Stub;
use hookexec::config::Hook;
use hookexec::event::Event;
use hookexec::handler::{BoxFuture, BuildError, Call, Handler, HandlerError, HandlerResult};
use hookexec::registry::{HandlerEnv, Registry};
use hookexec::wire::Output;

/// Returns a registry that builds and checks every hook, and then runs in its place what `stand_in`
/// returns for it.
pub(super) fn substituting(
    stand_in: impl Fn(&Hook) -> Option<Arc<dyn Handler>> + Send + Sync + 'static,
) -> Registry {
    let stand_in = Arc::new(stand_in);
    let original = Arc::new(Registry::with_shipped_builtins());
    let mut substituting = Registry::clone(&original);
    for kind in original.types() {
        let (original, stand_in) = (Arc::clone(&original), Arc::clone(&stand_in));
        let factory = move |env: &HandlerEnv, hook: &Hook| {
            let factory = original.factory(&hook.kind).ok_or_else(|| {
                BuildError::new(format!("unknown hook type `{}`", hook.kind)).at("type")
            })?;
            let real = factory(env, hook)?;
            Ok(match stand_in(hook) {
                Some(handler) => Arc::new(StandIn { handler, real }) as Arc<dyn Handler>,
                None => real,
            })
        };
        substituting.register(kind, factory);
    }
    substituting
}

/// Runs in the place of a hook, with its rights.
struct StandIn {
    handler: Arc<dyn Handler>,
    real: Arc<dyn Handler>,
}

impl Handler for StandIn {
    fn run<'a>(&'a self, call: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        self.handler.run(call)
    }

    fn grace(&self) -> Duration {
        self.handler.grace()
    }

    fn may_respond(&self, tool: &str) -> bool {
        self.real.may_respond(tool)
    }

    fn rewrites(&self) -> bool {
        self.real.rewrites()
    }

    fn on_failure(&self, event: Event) -> Option<Output> {
        self.real.on_failure(event)
    }
}

impl Handler for Stub {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { self.0.clone() })
    }
}
