//! How one event gets its verdict: select hooks, ask them, fold their answers.
//!
//! * **Moment**: one or more events that fire together, about one input.
//! * **Version**: one input of a moment: the one that came, or one that a hook made of it.
//! * **Turn**: a rewriter is asked, and its rewrite is applied.
//! * **Judge**: a hook that is asked about the final input.
//!
//! `evaluate` has the rules, in the order of the page "How hooks decide".

mod ask;
pub(crate) mod background;
pub(crate) mod build;
pub(crate) mod conclude;
pub(crate) mod dispatch;
mod evaluate;
pub(crate) mod explain;
mod filter;
mod fold;
mod interpret;
mod outcome;
mod parallel;
mod select;
mod spans;
#[cfg(test)]
mod tests;
pub(crate) mod time;
mod versions;

pub use ask::BEFORE_TOOL;
pub use background::HandedOver;
pub use conclude::Decided;
pub(crate) use dispatch::Executor;
pub use dispatch::{DispatchOptions, JudgedBefore};
pub use explain::{Course, Explanation, Role, Selection, Step};
pub use time::deadline_of_hooks;

pub use crate::handlers::process::processes::{ProcessCheck, ProcessStatistics};
