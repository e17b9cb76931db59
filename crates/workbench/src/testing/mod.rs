//! Tests of a hooks file: cases in YAML, what they expect, and what no case reached; recorded
//! events and calls of the past, as a new hooks file judges them. Returns data and prints nothing.

mod cases;
mod coverage;
mod habits;
mod keys;
mod past;
mod replay;
mod suite;

pub use cases::{ENDING, with_case};
pub use coverage::{Coverage, Gap, GapKind};
pub use habits::{Habits, is_plain};
pub use keys::cases_schema;
pub use past::{Note, Past, PastGroup, PolicyOutcome};
pub use replay::{Change, Replay, Replayed, is_self_contained, only_looks, stays_here};
pub use suite::{CaseReport, Difference, FileResults, Results, Suite};
