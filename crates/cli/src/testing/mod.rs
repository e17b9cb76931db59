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

pub(crate) use bench::{Bench, CaseReport, NoOpinion};
pub(crate) use case::{CaseFile, Expected};
pub(crate) use cases_schema::cases_schema;
pub(crate) use coverage::{CoverageReport, Gap, GapKind};
pub(crate) use replay::{Change, Replay, Replayed};
