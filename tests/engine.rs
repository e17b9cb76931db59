//! The engine, seen from outside: its configuration files, its command and process hooks, what it makes of their
//! answers, and its drivers for hosts.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on has failed")]

mod answers;
mod command;
mod config;
mod lifecycle;
mod process;
#[path = "support/registry.rs"]
mod registry;
#[path = "support/state.rs"]
mod state;
#[path = "support/warnings.rs"]
mod warnings;
