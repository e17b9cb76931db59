//! The subject of a verdict: an event in our words, or an agent's call.

use std::time::Instant;

use hookexec::executor::{Course, DispatchOptions, Explanation};
use hookexec::{Event, Executor, Input, Verdict};

use super::dispatch::{Moment, dispatch, explain, try_out};
use super::read::NativeCall;

/// An event in our words, or an agent's call.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "each caller handles both")]
pub enum Subject {
    /// An event, in our words.
    Own(Event, Box<Input>),
    /// A call of an agent.
    Native(Box<NativeCall>),
}

impl Subject {
    /// Runs the hooks, and asks a person what is left to ask. The caller needs the answer by `until`.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn answer(&self, executor: &Executor, until: Option<Instant>) -> Verdict {
        match self {
            Self::Own(event, input) => {
                let options = DispatchOptions { until, ..DispatchOptions::default() };
                let verdict = executor.run(*event, input, options).await;
                executor.approve(verdict, input, options).await
            }
            Self::Native(call) => {
                let mut moment = Moment::new(call);
                moment.run(executor, call, until).await;
                moment.into_verdict(call)
            }
        }
    }

    /// Says of each configured hook whether it runs, and why not.
    pub fn explain(&self, executor: &Executor) -> Vec<Explanation> {
        match self {
            Self::Own(event, input) => executor.explain(*event, input),
            Self::Native(call) => explain(executor, call),
        }
    }

    /// Runs the hooks.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn dispatch(&self, executor: &Executor) -> Verdict {
        match self {
            Self::Own(event, input) => executor.dispatch(*event, input).await,
            Self::Native(call) => dispatch(executor, call).await,
        }
    }

    /// Runs the hooks, and returns how they decided.
    ///
    /// # Panics
    /// When it is not called within a Tokio runtime that has time and I/O enabled.
    pub async fn dispatch_with_course(&self, executor: &Executor) -> (Verdict, Option<Course>) {
        let (event, input) = match self {
            Self::Own(event, input) => (*event, input),
            Self::Native(call) => return try_out(executor, call, true).await,
        };
        if !executor.concerns(event, input) {
            return (Verdict::no_opinion(event), None);
        }
        let options = DispatchOptions { shows_course: true, ..DispatchOptions::default() };
        let decided = executor.run_moment(&[event], input, options).await;
        (decided.verdict, decided.course)
    }

    /// Returns the events whose hooks run, in order.
    pub fn events(&self) -> Vec<Event> {
        match self {
            Self::Own(event, _) => vec![*event],
            Self::Native(call) => call.native.fires(call.agent),
        }
    }

    /// Returns the input, in our words.
    pub fn input(&self) -> &Input {
        match self {
            Self::Own(_, input) => input,
            Self::Native(call) => &call.input,
        }
    }
}
