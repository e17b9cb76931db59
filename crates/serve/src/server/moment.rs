//! The subject of a dispatch: an event in our words, or an agent's call.

use std::time::Instant;

use hookexec::internal::DispatchOptions;
use hookexec::{Event, Executor, Input, Verdict};
use hookexec_agents::NativeCall;

/// An event in our words, or an agent's call.
#[derive(Debug, Clone)]
pub(super) enum Moment {
    /// An event, in our words.
    Own(Event, Box<Input>),
    /// A call of an agent.
    Native(Box<NativeCall>),
}

impl Moment {
    /// Runs the hooks, and asks a person what is left to ask. The caller needs the answer by `until`.
    pub(super) async fn answer(&self, executor: &Executor, until: Option<Instant>) -> Verdict {
        match self {
            Self::Own(event, input) => {
                let options = DispatchOptions { until, ..DispatchOptions::default() };
                let verdict = executor.run(*event, input, options).await;
                executor.approve_with(verdict, input, options).await
            }
            Self::Native(call) => {
                let mut moment = hookexec_agents::Moment::new(call);
                moment.run(executor, call, until).await;
                moment.into_verdict(call)
            }
        }
    }

    /// Returns the input, in our words.
    pub(super) fn input(&self) -> &Input {
        match self {
            Self::Own(_, input) => input,
            Self::Native(call) => &call.input,
        }
    }
}
