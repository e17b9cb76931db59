//! The contract of a log of decisions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::handler::BoxFuture;
use crate::wire::{Input, Verdict};

/// Records the verdicts of one executor, for example in the logs that its configuration names.
pub trait Recorder: Send + Sync + 'static {
    /// Returns whether it wants events that no hook is configured for.
    fn records_all(&self) -> bool;

    /// Records one verdict, and returns for the user what could not be recorded. The verdict waits for
    /// it, so it takes a small part of the time until the deadline at most. If the future is dropped,
    /// the verdict is recorded all the same.
    fn record<'a>(&'a self, recorded: Recorded<'a>) -> BoxFuture<'a, Vec<String>>;

    /// Waits until everything is recorded, and not much longer than `patience`.
    fn settle(&self, patience: Duration) -> BoxFuture<'_, ()>;
}

/// One verdict to be recorded.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Recorded<'a> {
    /// The input that the event came with.
    pub input: &'a Input,
    /// The verdict.
    pub verdict: &'a Verdict,
    /// Whether a hook is configured for the event.
    pub is_hooked: bool,
    /// How long the hooks took.
    pub took: Duration,
    /// When the caller needs the verdict.
    pub deadline: Option<Instant>,
}

impl<'a> Recorded<'a> {
    /// Returns a verdict at which a hook was asked, without a deadline.
    pub fn new(input: &'a Input, verdict: &'a Verdict) -> Self {
        Self { input, verdict, is_hooked: true, took: Duration::ZERO, deadline: None }
    }
}

/// Makes the recorder of an executor; `None` if its configuration asks for no log.
pub type MakeRecorder = fn(&Config, &BTreeMap<OsString, OsString>) -> Option<Arc<dyn Recorder>>;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::event::Event;
    use crate::executor::Executor;
    use crate::locks::locked;
    use crate::registry::Registry;

    static RECORDED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Remembers verdicts, and says so.
    struct Remembering;

    impl Recorder for Remembering {
        fn records_all(&self) -> bool {
            true
        }

        fn record<'a>(&'a self, recorded: Recorded<'a>) -> BoxFuture<'a, Vec<String>> {
            let Recorded { input, verdict, is_hooked, .. } = recorded;
            locked(&RECORDED).push(format!("{} {} {is_hooked}", verdict.event, input.session_id));
            Box::pin(async { vec!["the disk is full".to_owned()] })
        }

        fn settle(&self, _: Duration) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }
    }

    #[tokio::test]
    async fn a_program_records_verdicts_in_its_own_way() {
        let config = Config::from_yaml("audit: { path: a.jsonl }", "hooks.yaml").unwrap();
        let mut registry = Registry::empty();
        let builder = Executor::builder(config.clone()).registry(registry.clone());
        let problems = builder.build().err().unwrap().to_string();
        assert!(problems.contains("`audit`: nothing records verdicts in"), "{problems}");

        registry.record_by(|_, _| Some(Arc::new(Remembering)));
        let executor = Executor::builder(config).registry(registry).build().unwrap();
        let input = Input { session_id: "s".into(), ..Input::default() };
        let verdict = executor.dispatch(Event::Stop, &input).await;
        assert_eq!(*locked(&RECORDED), ["stop s false"]);
        assert_eq!(verdict.system_message.as_deref(), Some("the disk is full"));
    }
}
