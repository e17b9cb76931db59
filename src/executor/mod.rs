//! Select, run, fold: how one event gets its verdict.

mod build;
mod dispatch;
mod fold;
mod interpret;
mod matcher;
mod outcome;
mod rewrite;
mod run;
mod select;
#[cfg(test)]
mod tests;

pub use build::ExecutorBuilder;
pub use dispatch::Executor;
pub use matcher::{Matcher, MatcherError};
