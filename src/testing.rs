//! A kit for authors of hook types: runs a hook as it is meant, and in the ways in which it can go wrong,
//! and says what breaks the contract of a [`Handler`](crate::Handler).
//!
//! ```
//! use hookexec::testing::ContractKit;
//! use hookexec::{Builtin, Input, Output, Registry};
//! use serde_json::json;
//!
//! fn guard(_: &Input, _: &[String]) -> Result<Option<Output>, std::io::Error> {
//!     Err(std::io::Error::other("the list is gone"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mut registry = Registry::new();
//! registry.register_builtin("guard", Builtin::inline(guard));
//! let kit = ContractKit::new(registry);
//! let hook = json!({ "type": "builtin", "command": "guard" });
//! kit.fails(&hook, "the list is gone").await.unwrap();
//! # }
//! ```

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::config::Config;
use crate::event::{Event, FailureMode};
use crate::executor::Executor;
use crate::registry::Registry;
use crate::wire::{Decision, HookStatus, Input, JsonObject, Verdict};

/// Events that differ in what a failure means for them.
const EVENTS: [Event; 3] = [Event::PreToolUse, Event::PermissionRequest, Event::Notification];

/// A breach of the contract.
#[derive(Debug, thiserror::Error)]
#[error("{event}: {problem}")]
#[non_exhaustive]
pub struct Breach {
    /// The event at which the hook ran.
    pub event: Event,
    /// The problem.
    pub problem: String,
}

/// Tries hooks: sixteen times at once, at three events, which deny, ask and go on when a hook fails.
#[derive(Debug)]
pub struct ContractKit {
    registry: Registry,
    input: Input,
}

impl ContractKit {
    /// Returns a kit for hooks of the types of `registry`.
    pub fn new(registry: Registry) -> Self {
        Self { registry, input: Input::for_tool("shell", JsonObject::new()) }
    }

    /// Sets the input of the events.
    #[must_use]
    pub fn with_input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Tries a hook that has an answer, or no opinion.
    ///
    /// # Errors
    /// When it does not run, or fails.
    pub async fn answers(&self, hook: &Value) -> Result<(), Breach> {
        for event in EVENTS {
            let executor = self.executor(event, hook)?;
            for verdict in self.dispatch_many(&executor, event).await {
                match verdict.hooks.first() {
                    Some(report) if report.status == HookStatus::Ok => {}
                    _ => return Err(breach(event, "it must answer", &verdict)),
                }
            }
        }
        Ok(())
    }

    /// Tries a hook that fails: it panics, or what it asks says too much or nothing that can be read. Its
    /// report must contain `cause`.
    ///
    /// # Errors
    /// When it answers, does not tell the cause, or the event does not do what its contract says.
    pub async fn fails(&self, hook: &Value, cause: &str) -> Result<(), Breach> {
        for event in EVENTS {
            let executor = self.executor(event, hook)?;
            for verdict in self.dispatch_many(&executor, event).await {
                check_failure(event, &verdict, cause)?;
            }
        }
        Ok(())
    }

    /// Tries a hook that is never done, with a short `timeout`, and with a caller that goes away.
    /// `running` counts what it has started.
    ///
    /// # Errors
    /// When it is not over in time, or leaves something running.
    pub async fn hangs(&self, hook: &Value, running: impl Fn() -> usize) -> Result<(), Breach> {
        let mut hook = hook.clone();
        hook["timeout"] = "300ms".into();
        for event in EVENTS {
            let executor = self.executor(event, &hook)?;
            let started = Instant::now();
            let verdicts = self.dispatch_many(&executor, event).await;
            let elapsed = started.elapsed();
            for verdict in verdicts {
                check_failure(event, &verdict, "")?;
            }
            if elapsed > Duration::from_secs(5) {
                let problem = format!("with a `timeout` of 300 ms it took {elapsed:.1?}");
                return Err(Breach { event, problem });
            }
            all_ends(event, &running, "its `timeout`").await?;
            let dispatch = executor.dispatch(event, &self.input);
            if timeout(Duration::from_millis(100), dispatch).await.is_ok() {
                let problem = "it must hang, and was done at once".to_owned();
                return Err(Breach { event, problem });
            }
            all_ends(event, &running, "its caller has gone away").await?;
        }
        Ok(())
    }

    fn executor(&self, event: Event, hook: &Value) -> Result<Executor, Breach> {
        let entry =
            if event.contract().tool_matched { json!({ "hooks": [hook] }) } else { hook.clone() };
        let mut hooks = JsonObject::new();
        hooks.insert(event.name().to_owned(), json!([entry]));
        let text = json!({ "hooks": hooks }).to_string();
        let config = Config::from_yaml(&text, "hooks.yaml");
        let built = config
            .and_then(|config| Executor::builder(config).registry(self.registry.clone()).build());
        built.map_err(|problems| Breach { event, problem: problems.to_string() })
    }

    async fn dispatch_many(&self, executor: &Executor, event: Event) -> Vec<Verdict> {
        let mut dispatches = Vec::new();
        for _ in 0..16 {
            dispatches.push(executor.dispatch(event, &self.input));
        }
        join_all(dispatches).await
    }
}

fn check_failure(event: Event, verdict: &Verdict, cause: &str) -> Result<(), Breach> {
    let wanted = match event.contract().failure {
        FailureMode::Open => None,
        FailureMode::Ask => Some(Decision::Ask),
        FailureMode::Closed => Some(Decision::Deny),
    };
    if let Some(report) = verdict.hooks.first()
        && report.status == HookStatus::Failed
        && report.error.as_ref().is_some_and(|error| error.contains(cause))
        && verdict.decision == wanted
    {
        return Ok(());
    }
    Err(breach(event, &format!("it must fail with {cause:?}"), verdict))
}

fn breach(event: Event, must: &str, verdict: &Verdict) -> Breach {
    let decision = verdict.decision;
    let said = match verdict.hooks.first() {
        None => "it did not run".to_owned(),
        Some(report) => format!("it is {:?}, {:?}", report.status, report.error),
    };
    Breach { event, problem: format!("{must}; {said}, and the decision is {decision:?}") }
}

/// Waits until nothing runs any more.
async fn all_ends(event: Event, running: impl Fn() -> usize, since: &str) -> Result<(), Breach> {
    let deadline = Instant::now() + Duration::from_secs(2);
    while running() > 0 {
        if Instant::now() > deadline {
            let problem = format!("{} of what it started still run 2 s after {since}", running());
            return Err(Breach { event, problem });
        }
        sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock};

    use super::*;
    use crate::Builtin;
    use crate::wire::Output;

    static LEFT: AtomicUsize = AtomicUsize::new(0);

    /// Leaves a task behind that nothing stops.
    async fn leak(_: Arc<Input>, _: Arc<[String]>) -> Result<Option<Output>, Infallible> {
        LEFT.fetch_add(1, Ordering::Relaxed);
        pending().await
    }

    async fn hang(_: Arc<Input>, _: Arc<[String]>) -> Result<Option<Output>, Infallible> {
        pending().await
    }

    #[expect(clippy::unnecessary_wraps, reason = "a builtin may fail")]
    fn quiet(_: &Input, _: &[String]) -> Result<Option<Output>, Infallible> {
        Ok(None)
    }

    fn crash(_: &Input, _: &[String]) -> Result<Option<Output>, Infallible> {
        panic!("boom")
    }

    static KIT: LazyLock<ContractKit> = LazyLock::new(|| {
        let mut registry = Registry::new();
        registry.register_builtin("leak", Builtin::future(leak));
        registry.register_builtin("hang", Builtin::future(hang));
        registry.register_builtin("quiet", Builtin::inline(quiet));
        registry.register_builtin("crash", Builtin::inline(crash));
        ContractKit::new(registry)
    });

    fn builtin(name: &str) -> Value {
        json!({ "type": "builtin", "command": name })
    }

    #[tokio::test]
    async fn a_hook_that_does_what_it_must_breaks_nothing() {
        KIT.answers(&builtin("quiet")).await.unwrap();
        KIT.fails(&builtin("crash"), "boom").await.unwrap();
        KIT.hangs(&builtin("hang"), || 0).await.unwrap();
    }

    #[tokio::test]
    async fn a_breach_is_named() {
        let breach = KIT.answers(&builtin("crash")).await.unwrap_err().to_string();
        assert!(breach.starts_with("pre_tool_use: it must answer; it is Failed"), "{breach}");
        let breach = KIT.fails(&builtin("crash"), "bang").await.unwrap_err().to_string();
        assert!(breach.contains("it must fail with \"bang\""), "{breach}");
        let breach = KIT.fails(&builtin("quiet"), "").await.unwrap_err().to_string();
        assert!(breach.contains("it is Ok, None, and the decision is None"), "{breach}");
        let breach = KIT.hangs(&builtin("quiet"), || 0).await.unwrap_err().to_string();
        assert!(breach.contains("it is Ok"), "{breach}");
        let left = || LEFT.load(Ordering::Relaxed);
        let breach = KIT.hangs(&builtin("leak"), left).await.unwrap_err().to_string();
        assert!(
            breach.contains("16 of what it started still run 2 s after its `timeout`"),
            "{breach}"
        );
        let breach = KIT.answers(&builtin("missing")).await.unwrap_err().to_string();
        assert!(breach.contains("unknown builtin `missing`"), "{breach}");
    }
}
