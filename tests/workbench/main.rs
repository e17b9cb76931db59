//! Explaining, testing, recording and replaying, from outside.
#![cfg(test)]

mod audit;
mod cases;
#[cfg(feature = "http")]
#[path = "../support/collector.rs"]
mod collector;
mod explain;
mod from;
mod page;
#[cfg(feature = "http")]
#[path = "../support/server.rs"]
mod server;
#[cfg(feature = "http")]
mod ship;
#[path = "../support/mod.rs"]
mod support;
mod walk;
