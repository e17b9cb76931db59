//! Tests of a hooks file: cases in YAML, what they expect, and what no case reached.
//!
//! A [`CaseFile`] is read from `hooks.test.yaml`; a [`Bench`] runs its cases against a
//! configuration, each with an executor of its own, and keeps count of what was reached.

mod bench;
mod case;
mod case_keys;
mod cases;
mod cases_schema;
mod compare;
mod coverage;
mod replay;
mod stub;

pub use crate::moment::Moment;
pub use bench::{Bench, CaseReport, NoOpinion};
pub use case::{Case, CaseFile, Expectation, Expected, Stub, TextExpectation};
pub use cases_schema::cases_schema;
pub use compare::Difference;
pub use coverage::{CoverageReport, Gap, GapKind};
pub use replay::{Change, Replay, ReplayOptions, Replayed};
pub use stub::substituting;
