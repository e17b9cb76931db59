//! Command hooks against real programs, below the executor: the handler alone.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod basics;
mod environment;
mod harness;
mod starting;
#[path = "../support/state.rs"]
mod state;
mod traps;
