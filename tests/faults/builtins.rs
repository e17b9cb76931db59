//! Builtins that go wrong.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use hookexec::registry::BuiltinError;
use hookexec::{Builtin, Input, Output, Registry};

/// What a builtin says when it panics.
const PANIC: &str = "boom";

type Answer = Result<Option<Output>, BuiltinError>;

/// Keeps plain functions waiting until it is dropped.
#[derive(Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Drop for Gate {
    fn drop(&mut self) {
        let (open, opened) = &*self.0;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        opened.notify_all();
    }
}

impl Gate {
    /// Returns a registry of builtins that go wrong, of which those that hang wait for the gate.
    pub(crate) fn registry(&self) -> Registry {
        let gate = Arc::clone(&self.0);
        let mut registry = Registry::new();
        hookexec_agents::register(&mut registry);
        hookexec_remote::register(&mut registry);
        registry
            .register_builtin("crash-inline", Builtin::inline(|_: &Input, _: &[String]| crash()))
            .register_builtin("crash-plain", Builtin::blocking(|_: &Input, _: &[String]| crash()))
            .register_builtin(
                "crash-async",
                Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async { crash() }),
            )
            .register_builtin(
                "hang-async",
                Builtin::future(|_: Arc<Input>, _: Arc<[String]>| std::future::pending::<Answer>()),
            )
            .register_builtin(
                "hang-plain",
                Builtin::blocking(move |_: &Input, _: &[String]| -> Answer {
                    let (open, opened) = &*gate;
                    let open = open.lock().unwrap_or_else(PoisonError::into_inner);
                    drop(opened.wait_while(open, |open| !*open));
                    Ok(Some(Output::allow()))
                }),
            )
            .register_builtin(
                "silent",
                Builtin::blocking(|_: &Input, _: &[String]| -> Answer { Ok(None) }),
            )
            .register_builtin(
                "slow-plain",
                Builtin::blocking(|_: &Input, _: &[String]| -> Answer {
                    std::thread::sleep(SLOW);
                    Ok(Some(Output::allow()))
                }),
            )
            .register_builtin(
                "slow-async",
                Builtin::future(|_: Arc<Input>, _: Arc<[String]>| async {
                    tokio::time::sleep(SLOW).await;
                    Answer::Ok(Some(Output::allow()))
                }),
            )
            .register_builtin(
                "full",
                Builtin::blocking(|_: &Input, _: &[String]| -> Answer {
                    std::fs::write("/dev/full", "noted")?;
                    Ok(Some(Output::allow()))
                }),
            );
        registry
    }
}

/// How long what is slow takes.
const SLOW: Duration = Duration::from_millis(200);

fn crash() -> Answer {
    std::panic::panic_any(PANIC);
}

/// Keeps the panics of this test out of its output; any other is shown.
pub(crate) fn keep_panics_quiet() {
    let shown = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload().downcast_ref() != Some(&PANIC) {
            shown(panic);
        }
    }));
}
