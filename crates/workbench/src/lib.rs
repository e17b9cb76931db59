//! Tests of hooks files, replays of recorded events, explanations, and the records of the decision
//! log. Returns data and prints nothing.
//!
//! This package is for the packages of hookexec alone: its interface may change with any version.
#![forbid(unsafe_code)]
#![allow(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::missing_errors_doc,
    reason = "only packages of hookexec use it"
)]

pub mod explain;
pub mod records;
pub mod testing;
