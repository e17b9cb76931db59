//! The adapters of the coding agents, seen from outside.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking")]

mod dialect;
mod dispatch;
mod golden;
mod payloads;
