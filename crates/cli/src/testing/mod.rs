//! Tests of a hooks file: cases in YAML, what they expect, and what no case reached; and recorded
//! events against a candidate. Returns data and prints nothing.

mod cases;
mod compare;
mod coverage;
mod keys;
mod replay;
mod stand_in;
mod suite;

pub(crate) use cases::ENDING;
pub(crate) use coverage::{Coverage, Gap, GapKind};
pub(crate) use keys::{DecisionWord, cases_schema};
pub(crate) use replay::{Change, Replay, Replayed};
pub(crate) use suite::{CaseReport, Results, Suite};
