//! Process hooks, against real children that behave and misbehave.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on has failed")]

mod basics;
mod dying;
mod examples;
mod harness;
mod mcp;
mod pressure;
#[path = "../support/registry.rs"]
mod registry;
mod replies;
mod rewrites;
mod stage;
mod stages;
mod starting;
#[path = "../support/state.rs"]
mod state;
mod stopping;
mod transcript;
#[path = "../support/warnings.rs"]
mod warnings;
