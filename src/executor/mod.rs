//! Select, run, fold: how one event gets its verdict.

mod build;
mod check;
mod dispatch;
mod explain;
mod failure;
mod fold;
mod interpret;
mod keep;
mod moment;
mod outcome;
mod parallel;
mod phases;
mod rewrite;
mod run;
mod select;
mod stage;
#[cfg(test)]
mod tests;
mod time;
mod worst;

pub use build::ExecutorBuilder;
pub use check::Check;
pub use dispatch::{DispatchOptions, Executor, Observer};
pub use explain::{Explanation, Selection};
pub use moment::Standing;
pub use worst::WorstCase;
