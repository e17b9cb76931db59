//! Select, run, fold: how one event gets its verdict.
//!
//! * **Moment**: one or more events that fire together, about one input.
//! * **Stage**: one event of a moment, with its hooks and their answers.
//! * **Phase**: when in a stage a hook runs: rewriters, then all others, then those that only observe.
//! * **Rewrite order**: the position of a layer among the rewriters. The highest layer comes last, so
//!   that it has the last word.
//! * **Generation**: how many rewrites led to an input. An answer about an older generation may have to
//!   be given again.

pub(crate) mod approval;
pub(crate) mod build;
pub(crate) mod dispatch;
pub(crate) mod explain;
mod failure;
mod filter;
mod fold;
mod interpret;
mod limit;
pub(crate) mod moment;
mod outcome;
mod parallel;
mod phases;
pub(crate) mod rewrite;
mod run;
mod select;
mod stage;
#[cfg(test)]
mod tests;
pub(crate) mod time;
pub(crate) mod worst;

pub use build::ExecutorBuilder;
pub(crate) use dispatch::DispatchOptions;
pub use dispatch::Executor;
pub(crate) use moment::Standing;
