//! Select, run, fold: how one event gets its verdict.

mod matcher;

pub use matcher::{Matcher, MatcherError};
