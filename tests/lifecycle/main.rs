//! The drivers, seen from outside: which events fire, in which order, with what.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail by panicking")]

mod approval;
mod batch;
mod channels;
mod declared;
mod dropped;
mod examples;
mod openclaw_jobs;
mod order;
mod rewrites;
mod running;
mod session;
mod split;
mod support;
#[path = "../support/warnings.rs"]
mod warnings;
